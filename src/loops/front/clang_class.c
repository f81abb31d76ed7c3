/*
 * clang_class.c - what structures and classes hold, where the bases of a C++ class are in its objects, and code that runs
 * without a call in the source: copies and destructors.
 *
 * libclang 19 does not report it. The first base is at the start of an object, unless only the class itself has virtual
 * functions, and so is one after empty bases. All others, and virtual bases, are somewhere else: members and pointers that
 * lead there are refused.
 */
#include <string.h>

#include "loops/front/clang_front.h"

#define BASES_DEEP 32

enum base_place { BASE_NONE, BASE_AT_START, BASE_ELSEWHERE };

/* What is declared in a class: in an instance of a template, with the parameters in it. */
static struct kids class_kids(struct front *front, CXType type) {
    CXCursor definition = front->clang.getCursorDefinition(front->clang.getTypeDeclaration(type));
    if (front->clang.Cursor_isNull(definition)) return (struct kids){0};
    CXCursor template = front->clang.getSpecializedCursorTemplate(definition);
    struct kids kids = front_kids(front, definition);
    return kids.count || front->clang.Cursor_isNull(template) ? kids : front_kids(front, template);
}

struct member_search {
    struct front *front;
    int (*wanted)(struct front *front, CXType type, int deep);
    int deep, found;
};

static enum CXVisitorResult look_at_field(CXCursor field, CXClientData data) {
    struct member_search *search = data;
    CXType type = search->front->clang.getCanonicalType(search->front->clang.getCursorType(field));
    search->found |= search->wanted(search->front, type, search->deep);
    return search->found ? CXVisit_Break : CXVisit_Continue;
}

/* Whether a member or a base is wanted; a base whose type depends on a template's parameters may be. */
static int any_part(struct front *front, CXType type, int deep, int (*wanted)(struct front *, CXType, int)) {
    struct member_search search = {front, wanted, deep + 1, 0};
    struct kids kids = class_kids(front, type);
    if (deep >= BASES_DEEP) return 1;
    front->clang.Type_visitFields(type, look_at_field, &search);
    for (unsigned i = 0; i < kids.count && !search.found; i++) {
        if (front_kind(front, kids.item[i]) != CXCursor_CXXBaseSpecifier) continue;
        CXType base = front->clang.getCanonicalType(front->clang.getCursorType(kids.item[i]));
        search.found = base.kind != CXType_Record || wanted(front, base, deep + 1);
    }
    return search.found;
}

static CXType base_type(struct front *front, CXCursor base) {
    return front->clang.getCanonicalType(front->clang.getCursorType(base));
}

static int is_polymorphic(struct front *front, CXType type, int deep) {
    struct kids kids = class_kids(front, type);
    for (unsigned i = 0; i < kids.count; i++) {
        enum CXCursorKind kind = front_kind(front, kids.item[i]);
        if ((kind == CXCursor_CXXMethod || kind == CXCursor_Destructor) &&
            front->clang.CXXMethod_isVirtual(kids.item[i]))
            return 1;
        if (kind == CXCursor_CXXBaseSpecifier && (front->clang.isVirtualBase(kids.item[i]) || deep >= BASES_DEEP ||
                                                  is_polymorphic(front, base_type(front, kids.item[i]), deep + 1)))
            return 1;
    }
    return 0;
}

static int is_empty(struct front *front, CXType type) {
    struct kids kids = class_kids(front, type);
    for (unsigned i = 0; i < kids.count; i++) {
        enum CXCursorKind kind = front_kind(front, kids.item[i]);
        if (kind == CXCursor_FieldDecl || kind == CXCursor_CXXBaseSpecifier ||
            front->clang.Cursor_isAnonymousRecordDecl(kids.item[i]))
            return 0;
    }
    CXCursor definition = front->clang.getCursorDefinition(front->clang.getTypeDeclaration(type));
    return !front->clang.Cursor_isNull(definition) && !is_polymorphic(front, type, 0);
}

static enum base_place place_of_base(struct front *front, CXType derived, CXType base, int deep) {
    struct kids kids = class_kids(front, derived);
    int first = 1, polymorphic = deep >= BASES_DEEP || is_polymorphic(front, derived, 0);
    for (unsigned i = 0; i < kids.count && deep < BASES_DEEP; i++) {
        if (front_kind(front, kids.item[i]) != CXCursor_CXXBaseSpecifier) continue;
        CXType type = base_type(front, kids.item[i]);
        enum base_place place =
            front->clang.equalTypes(type, base) ? BASE_AT_START : place_of_base(front, type, base, deep + 1);
        int at_start =
            first && !front->clang.isVirtualBase(kids.item[i]) && (!polymorphic || is_polymorphic(front, type, 0));
        if (place != BASE_NONE) return at_start ? place : BASE_ELSEWHERE;
        if (!is_empty(front, type)) first = 0;
    }
    return BASE_NONE;
}

int front_same_start(struct front *front, CXType from, CXType to) {
    from = front->clang.getUnqualifiedType(front->clang.getCanonicalType(from));
    to = front->clang.getUnqualifiedType(front->clang.getCanonicalType(to));
    if (!front->is_cxx || from.kind != CXType_Record || to.kind != CXType_Record || front->clang.equalTypes(from, to))
        return 1;
    return place_of_base(front, from, to, 0) != BASE_ELSEWHERE && place_of_base(front, to, from, 0) != BASE_ELSEWHERE;
}

static int holds_array(struct front *front, CXType type, int deep) {
    return type_is_array(type) || (type.kind == CXType_Record && any_part(front, type, deep, holds_array));
}

int front_holds_array(struct front *front, CXType type) {
    return type.kind == CXType_Record && holds_array(front, type, 0);
}

/* Whether code runs at the end of an object: a destructor that is written out, of the class or of what it holds. */
static int has_destructor(struct front *front, CXType type, int deep) {
    while (type_is_array(type)) type = front->clang.getCanonicalType(front->clang.getArrayElementType(type));
    if (type.kind != CXType_Record) return 0;
    struct kids kids = class_kids(front, type);
    for (unsigned i = 0; i < kids.count; i++)
        if (front_kind(front, kids.item[i]) == CXCursor_Destructor && !front->clang.CXXMethod_isDefaulted(kids.item[i]))
            return 1;
    return any_part(front, type, deep, has_destructor);
}

static CXType own_type(struct front *front, CXCursor cursor) {
    return front->clang.getCanonicalType(front->clang.getCursorType(cursor));
}

/* An object that ends in a statement: a variable, or what an expression makes. Lambdas run elsewhere, `new` is refused. */
static enum CXChildVisitResult look_for_end(struct front *front, CXCursor cursor, void *context) {
    CXCursor *found = context, callee = front->clang.getNullCursor();
    enum CXCursorKind kind = front_kind(front, cursor);
    int is_static = kind == CXCursor_VarDecl &&
                    front->clang.Cursor_getStorageClass(cursor) == CX_SC_Static; /* ends with the program */
    if (kind == CXCursor_LambdaExpr || kind == CXCursor_CXXNewExpr || is_static) return CXChildVisit_Continue;
    if (kind == CXCursor_CallExpr) callee = front->clang.getCursorReferenced(cursor);
    int makes = kind == CXCursor_CallExpr || kind == CXCursor_InitListExpr || kind == CXCursor_CXXFunctionalCastExpr ||
                kind == CXCursor_VarDecl;
    if (!front->clang.Cursor_isNull(callee)) { /* what a reference refers to stays */
        CXType result = front->clang.getCanonicalType(front->clang.getResultType(front->clang.getCursorType(callee)));
        makes = result.kind != CXType_LValueReference && result.kind != CXType_RValueReference;
    }
    if (!makes || !has_destructor(front, own_type(front, cursor), 0)) return CXChildVisit_Recurse;
    *found = cursor;
    return CXChildVisit_Break;
}

void front_note_ends(struct front *front, CXCursor statement) {
    CXCursor found = statement;
    if (!front->is_cxx || !front->at || !front_finds(front, statement, look_for_end, &found)) return;
    CXString type = front->clang.getTypeSpelling(own_type(front, found));
    front_gap(front, found, "the destructor of %.80s, which is not followed", front->clang.getCString(type));
    front->clang.disposeString(type);
}

CXCursor front_copied(struct front *front, CXCursor call) {
    CXCursor none = front->clang.getNullCursor();
    if (!front->is_cxx || front_kind(front, call) != CXCursor_CallExpr) return none;
    int assigns = !strcmp(front_name(front, call), "operator=");
    if (front->clang.Cursor_getNumArguments(call) != 1 + assigns) return none;
    CXCursor callee = front->clang.getCursorReferenced(call),
             from = front->clang.Cursor_getArgument(call, (unsigned)assigns);
    if (front->clang.Cursor_isNull(callee) ||
        front_kind(front, callee) != (assigns ? CXCursor_CXXMethod : CXCursor_Constructor) ||
        front->clang.Cursor_getNumArguments(callee) != 1)
        return none;
    CXType type = front->clang.getUnqualifiedType(front_type(front, call)),
           taken = front_type(front, front->clang.Cursor_getArgument(callee, 0));
    int copies = type.kind == CXType_Record && front->clang.isPODType(type) &&
                 front->clang.equalTypes(type, front->clang.getUnqualifiedType(taken));
    return copies ? from : none;
}
