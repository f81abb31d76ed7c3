/*
 * clang_method.c - calls of methods and of functions that return references.
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
