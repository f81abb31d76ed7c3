/*
 * clang_method.c - calls of methods, of functions that return references, and structures that are passed by value.
 *
 * A method whose body is in the source is inlined as a function is, with the object as the place that its members are in.
 * What a virtual method runs is not known, and neither is what a lambda saw when it was made: these are not followed.
 */
#include <stdio.h>
#include <string.h>

#include "loops/front/clang_front.h"

CXCursor front_followed(struct front *front, CXCursor callee) {
    CXCursor none = front->clang.getNullCursor();
    if (front->clang.Cursor_isNull(callee)) return none;
    CXCursor definition = front->clang.getCursorDefinition(callee);
    enum CXCursorKind kind =
        front->clang.Cursor_isNull(definition) ? CXCursor_InvalidFile : front_kind(front, definition);
    if (kind != CXCursor_FunctionDecl && kind != CXCursor_CXXMethod) return none;
    if (front_is_library(front, definition)) return none;
    if (kind == CXCursor_FunctionDecl) return definition;
    CXCursor holder = front->clang.getCursorSemanticParent(definition);
    CXString name = front->clang.getCursorSpelling(holder);
    const char *text = front->clang.getCString(name);
    int is_lambda = !text || !*text || strstr(text, "(lambda");
    front->clang.disposeString(name);
    return is_lambda || front->clang.CXXMethod_isVirtual(definition) || front->clang.CXXMethod_isDefaulted(definition)
               ? none
               : definition;
}

int front_returns_reference(struct front *front, CXCursor function) {
    CXType result = front->clang.getCanonicalType(front->clang.getResultType(front->clang.getCursorType(function)));
    return result.kind == CXType_LValueReference;
}

int front_object_first(struct front *front, CXCursor call, CXCursor method) {
    return front_kind(front, method) == CXCursor_CXXMethod && !front->clang.CXXMethod_isStatic(method) &&
           front->clang.Cursor_getNumArguments(call) == front->clang.Cursor_getNumArguments(method) + 1;
}

/* The pointer or object before the name of a method; a null cursor: it is the caller's own. */
static CXCursor written_object(struct front *front, CXCursor call, CXCursor method) {
    struct kids kids = front_kids(front, call);
    if (front_object_first(front, call, method)) return front->clang.Cursor_getArgument(call, 0); /* an operator */
    if (!kids.count || front_kind(front, front_strip(front, kids.item[0])) != CXCursor_MemberRefExpr)
        return front->clang.getNullCursor();
    kids = front_kids(front, front_strip(front, kids.item[0]));
    return kids.count && front->clang.isExpression(front_kind(front, kids.item[0])) ? kids.item[0]
                                                                                    : front->clang.getNullCursor();
}

/* this or *this */
static int is_this(struct front *front, CXCursor cursor) {
    cursor = front_strip(front, cursor);
    struct kids kids = front_kids(front, cursor);
    if (front_kind(front, cursor) == CXCursor_UnaryOperator && kids.count == 1)
        cursor = front_strip(front, kids.item[0]);
    return front_kind(front, cursor) == CXCursor_CXXThisExpr;
}

int front_object_of_call(struct front *front, CXCursor call, CXCursor method, struct front_object *object) {
    if (front_kind(front, method) != CXCursor_CXXMethod || front->clang.CXXMethod_isStatic(method)) return 0;
    CXCursor written = written_object(front, call, method);
    if (front->clang.Cursor_isNull(written) || is_this(front, written)) {
        if (front->object) *object = *front->object;
        return front->object != NULL;
    }
    written = front_strip(front, written);
    int points = front_type(front, written).kind == CXType_Pointer;
    front_object_place(front, written, points, &object->place);
    char text[100];
    snprintf(text, sizeof text, "%.90s%s", front_text(front, written), points ? "->" : ".");
    object->text = rsc_arena_strdup(&front->arena, text);
    if (!object->text) front_no_memory(front);
    CXType owner = front->clang.getCursorType(front->clang.getCursorSemanticParent(method));
    if (!object->place.opaque && !front_same_start(front, object->place.shape.element, owner)) {
        object->place.opaque = 1;
        snprintf(object->place.reason, sizeof object->place.reason,
                 "a method of a base class whose place in the object is not known");
    }
    return 1;
}

static void pointers_change(struct front *front, CXCursor object, int points) {
    struct place place;
    struct value any;
    object = front_strip(front, object);
    if (!points && front_type(front, object).kind != CXType_Record) return;
    size_t made = front->pending_count;
    front_object_place(front, object, points, &place);
    front->pending_count = made; /* read where the call was evaluated */
    value_opaque(&any, "it changes");
    if (!place.opaque && place.array != UINT32_MAX)
        front_stored(front, place.array, INT64_MIN, place.shape.element, &any);
}

void front_object_changes(struct front *front, CXCursor call) {
    CXCursor callee = front->clang.getCursorReferenced(call);
    if (!front->is_cxx || front->clang.Cursor_isNull(callee) ||
        front->clang.Location_isInSystemHeader(front->clang.getCursorLocation(callee)))
        return;
    int at = front_object_first(front, call, callee);
    if (front_kind(front, callee) == CXCursor_CXXMethod && !front->clang.CXXMethod_isStatic(callee) &&
        !front->clang.CXXMethod_isConst(callee)) {
        CXCursor written = written_object(front, call, callee);
        if (!front->clang.Cursor_isNull(written) && !is_this(front, written))
            pointers_change(front, written, front_type(front, front_strip(front, written)).kind == CXType_Pointer);
    }
    for (int i = 0; i < front->clang.Cursor_getNumArguments(callee); i++) {
        CXType type = front->clang.getCanonicalType(
            front->clang.getCursorType(front->clang.Cursor_getArgument(callee, (unsigned)i)));
        if (type.kind == CXType_LValueReference &&
            !front->clang.isConstQualifiedType(front->clang.getPointeeType(type)) &&
            i + at < front->clang.Cursor_getNumArguments(call))
            pointers_change(front, front->clang.Cursor_getArgument(call, (unsigned)(i + at)), 0);
    }
}

const char *front_text(struct front *front, CXCursor cursor) {
    const char *text = front_source(front, cursor);
    char qualified[200];
    CXCursor base = front_strip(front, cursor);
    struct kids kids = front_kids(front, base);
    if (!front->object || front_kind(front, base) != CXCursor_MemberRefExpr ||
        (kids.count && front_kind(front, front_strip(front, kids.item[0])) != CXCursor_CXXThisExpr))
        return text;
    snprintf(qualified, sizeof qualified, "%.90s%.90s", front->object->text, front_name(front, base));
    text = rsc_arena_strdup(&front->arena, qualified);
    return text ? text : (front_no_memory(front), "");
}

void front_eval_this(struct front *front, struct value *value) {
    struct place own = {.opaque = 1};
    const struct place *place = front->object ? &front->object->place : &own;
    value_opaque(value, "this as a pointer is not followed");
    if (!front->object) front_owner(front, &own);
    if (place->opaque || place->array == UINT32_MAX || place->shape.rank) return;
    *value =
        (struct value){.kind = VALUE_POINTER, .array = place->array, .offset = place->offset, .shape = place->shape};
    value->shape.rank = 1;
    value->shape.extent[0] = 0;
}

/* Uses of a parameter in a function: all of them, those of its members, and whether one of these may change. */
struct uses {
    CXCursor parameter;
    unsigned all, members;
    int changes;
};

static int is_use(struct front *front, CXCursor cursor, CXCursor parameter) {
    return front_kind(front, cursor) == CXCursor_DeclRefExpr &&
           front->clang.equalCursors(front->clang.getCanonicalCursor(front->clang.getCursorReferenced(cursor)),
                                     parameter);
}

/* p.x and p.x.y; not p.x[i] of a pointer. */
static int is_part(struct front *front, CXCursor cursor, CXCursor parameter) {
    cursor = front_strip(front, cursor);
    while (front_kind(front, cursor) == CXCursor_MemberRefExpr) {
        struct kids kids = front_kids(front, cursor);
        if (!kids.count || front_type(front, front_strip(front, kids.item[0])).kind == CXType_Pointer) return 0;
        cursor = front_strip(front, kids.item[0]);
    }
    return is_use(front, cursor, parameter);
}

static enum CXChildVisitResult look_for_use(struct front *front, CXCursor cursor, void *context) {
    struct uses *uses = context;
    enum CXCursorKind kind = front_kind(front, cursor);
    enum CXUnaryOperatorKind op = front->clang.getCursorUnaryOperatorKind(cursor);
    int assigns = kind == CXCursor_CompoundAssignOperator ||
                  (kind == CXCursor_BinaryOperator &&
                   front->clang.getCursorBinaryOperatorKind(cursor) == CXBinaryOperator_Assign) ||
                  (kind == CXCursor_UnaryOperator &&
                   ((op >= CXUnaryOperator_PostInc && op <= CXUnaryOperator_PreDec) || op == CXUnaryOperator_AddrOf));
    struct kids kids = front_kids(front, cursor);
    uses->all += is_use(front, cursor, uses->parameter);
    if (kind == CXCursor_MemberRefExpr && kids.count &&
        front_kind(front, front->clang.getCursorReferenced(cursor)) == CXCursor_FieldDecl)
        uses->members += is_use(front, front_strip(front, kids.item[0]), uses->parameter);
    uses->changes |= assigns && kids.count && is_part(front, kids.item[0], uses->parameter);
    CXCursor callee = kind == CXCursor_CallExpr ? front->clang.getCursorReferenced(cursor) : cursor;
    for (int i = 0; kind == CXCursor_CallExpr && i < front->clang.Cursor_getNumArguments(cursor); i++) {
        CXCursor changed = front_changed_argument(front, cursor, i);
        CXCursor argument = front_strip(front, front->clang.Cursor_getArgument(cursor, (unsigned)i));
        uses->changes |= !front->clang.Cursor_isNull(changed) && is_part(front, changed, uses->parameter);
        if (!front->clang.Cursor_isNull(callee) && i < front->clang.Cursor_getNumArguments(callee) &&
            front->clang.Cursor_getNumArguments(callee) == front->clang.Cursor_getNumArguments(cursor) &&
            front_kind(front, callee) == CXCursor_FunctionDecl &&
            !front_is_reference(front, front->clang.Cursor_getArgument(callee, (unsigned)i)))
            uses->members += is_use(front, argument, uses->parameter); /* a copy of it */
    }
    return CXChildVisit_Recurse;
}

void front_same_structure(struct front *front, CXCursor definition, unsigned i, CXCursor argument,
                          struct value *value) {
    CXCursor parameter = front->clang.Cursor_getArgument(definition, i);
    struct uses uses = {.parameter = front->clang.getCanonicalCursor(parameter)};
    struct place place;
    CXType type = front_type(front, parameter);
    argument = front_strip(front, argument);
    struct kids kids = front_kids(front, argument);
    int points = front_kind(front, argument) == CXCursor_UnaryOperator && kids.count == 1 &&
                 front->clang.getCursorUnaryOperatorKind(argument) == CXUnaryOperator_Deref;
    CXCursor named = points ? front_strip(front, kids.item[0]) : argument;
    if (type.kind != CXType_Record || front_is_reference(front, parameter) || front_holds_array(front, type) ||
        front_kind(front, named) != CXCursor_DeclRefExpr)
        return;
    front_finds(front, front_body(front, definition), look_for_use, &uses);
    if (uses.changes || uses.all != uses.members) return;
    front_place_of(front, argument, &place);
    if (place.opaque || place.array == UINT32_MAX || place.shape.rank) return;
    *value = (struct value){.kind = VALUE_POINTER, .array = place.array, .offset = place.offset, .shape = place.shape};
}
