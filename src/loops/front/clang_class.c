/*
 * clang_class.c - what structures and classes hold, and where the bases of a C++ class are in its objects.
 *
 * libclang 19 does not report it. The first base is at the start of an object, unless only the class itself has virtual
 * functions, and so is one after empty bases. All others, and virtual bases, are somewhere else: members and pointers that
 * lead there are refused.
 */
#include "loops/front/clang_front.h"

#define BASES_DEEP 32

enum base_place { BASE_NONE, BASE_AT_START, BASE_ELSEWHERE };

static struct kids class_kids(struct front *front, CXType type) {
    CXCursor definition = front->clang.getCursorDefinition(front->clang.getTypeDeclaration(type));
    return front->clang.Cursor_isNull(definition) ? (struct kids){0} : front_kids(front, definition);
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
    struct kids kids = class_kids(front, type);
    for (unsigned i = 0; i < kids.count && deep < BASES_DEEP; i++) {
        enum CXCursorKind kind = front_kind(front, kids.item[i]);
        if (kind != CXCursor_FieldDecl && kind != CXCursor_CXXBaseSpecifier &&
            !front->clang.Cursor_isAnonymousRecordDecl(kids.item[i]))
            continue;
        CXType member = base_type(front, kids.item[i]);
        if (type_is_array(member) || (member.kind == CXType_Record && holds_array(front, member, deep + 1))) return 1;
    }
    return 0;
}

int front_holds_array(struct front *front, CXType type) {
    return type.kind == CXType_Record && holds_array(front, type, 0);
}
