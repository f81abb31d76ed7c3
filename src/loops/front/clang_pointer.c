/*
 * clang_pointer.c - what pointers may point to: allocations, initial values, and pointers that are stored in memory.
 *
 * A pointer whose value is not known is a separate array only if nothing else can point there: it was just allocated, or
 * it comes from outside of what is analysed (a parameter, a global variable, grid->data). All others are opaque.
 */
#include <string.h>

#include "loops/front/clang_front.h"

/* Whether a call passes numbers that it may change: what pool_alloc(pool, n) returns may be in the pool. */
static int passes_data(struct front *front, CXCursor call) {
    CXCursor callee = front->clang.getCursorReferenced(call);
    for (int i = 0; i < front->clang.Cursor_getNumArguments(call); i++) {
        CXType type = front_type(front, front_strip(front, front->clang.Cursor_getArgument(call, (unsigned)i)));
        CXType to = front_type(front, front->clang.Cursor_getArgument(callee, (unsigned)i));
        if (to.kind == CXType_Pointer && front->clang.isConstQualifiedType(front->clang.getPointeeType(to))) continue;
        if (type.kind == CXType_Pointer) type = front->clang.getCanonicalType(front->clang.getPointeeType(type));
        else if (!type_is_array(type)) continue;
        while (type_is_array(type)) type = front->clang.getCanonicalType(front->clang.getArrayElementType(type));
        if (type_is_integer(type) || type_is_floating(type)) return 1;
    }
    return 0;
}

int front_allocates(struct front *front, CXCursor call, CXCursor callee, const char *name) {
    struct kids kids = front_kids(front, callee);
    int again = strstr(name, "realloc") || strstr(name, "Realloc"); /* what it is passed is freed */
    if ((strstr(name, "alloc") || strstr(name, "Alloc") || !strcmp(name, "mmap")) &&
        (again || !passes_data(front, call)))
        return 1;
    for (unsigned i = 0; i < kids.count; i++) {
        enum CXCursorKind kind = front_kind(front, kids.item[i]);
        if (kind >= CXCursor_FirstAttr && kind <= CXCursor_LastAttr &&
            strstr(front_source(front, kids.item[i]), "malloc"))
            return 1;
    }
    return 0;
}

void front_return_fresh(struct front *front, CXCursor definition, struct value *value) {
    if (value->kind != VALUE_POINTER || value->array == UINT32_MAX) return;
    const struct origin *origin = &front->origin[value->array];
    if (origin->holder != UINT32_MAX || front_type(front, origin->variable).kind != CXType_Pointer ||
        front->clang.Cursor_getStorageClass(origin->variable) == CX_SC_Static ||
        !front->clang.equalCursors(front->clang.getCursorSemanticParent(origin->variable), definition))
        return;
    for (size_t i = 0; i < front->binding_count; i++) { /* a pointer that stays may have it too */
        const struct binding *binding = &front->binding[i];
        if (binding->value.kind == VALUE_POINTER && binding->value.array == value->array &&
            !front->clang.equalCursors(front->clang.getCursorSemanticParent(binding->variable), definition))
            return;
    }
    value_opaque(value, "the result of %.60s is not known", front_name(front, definition));
    value->is_fresh = 1;
}

void front_new_memory(struct front *front, CXCursor variable) {
    for (uint32_t i = front->function_arrays; i < front->program->array_count; i++)
        if (front->origin[i].holder == UINT32_MAX && !front->origin[i].is_pointer &&
            front->clang.equalCursors(front->origin[i].variable, variable))
            front->origin[i].variable = front->clang.getNullCursor();
}

static int is_fresh(const struct value *value) { return value->kind == VALUE_OPAQUE && value->is_fresh; }

/* Whether a stored value has pointers in it; NULL is none. */
static int has_pointers(CXType type, const struct value *value) {
    return type.kind == CXType_Record || value->kind == VALUE_POINTER ||
           (type.kind == CXType_Pointer && value->kind != VALUE_NUMBER);
}

void front_store_anywhere(struct front *front, CXType type, const struct value *value) {
    if (!has_pointers(type, value) || is_fresh(value) || front->stored_any) return;
    if (type.kind == CXType_Pointer && front_may_be_stored(front, type)) return;
    front->stores++;
    if (type.kind != CXType_Pointer || front->stored_count == sizeof front->stored / sizeof *front->stored)
        front->stored_any = 1;
    else front->stored[front->stored_count++] = front->clang.getUnqualifiedType(type);
}

int front_may_be_stored(struct front *front, CXType type) {
    for (unsigned i = 0; i < front->stored_count; i++)
        if (front->clang.equalTypes(front->stored[i], front->clang.getUnqualifiedType(type))) return 1;
    return front->stored_any;
}

void front_stored(struct front *front, uint32_t array, int64_t offset, CXType type, const struct value *value) {
    if (!has_pointers(type, value)) return;
    if (array == UINT32_MAX) return; /* there was no memory for it */
    for (uint32_t i = front->function_arrays; is_fresh(value) && i < front->program->array_count; i++)
        if (front->origin[i].holder == array && front->origin[i].holder_offset == offset)
            front->origin[i].holder_offset = INT64_MIN; /* other pointers to the old memory keep it */
    if (is_fresh(value)) return;
    front->stores += !front->origin[array].pointers_stored;
    front->origin[array].pointers_stored = 1;
}

int front_is_local(struct front *front, CXCursor variable) {
    enum CXCursorKind parent = front_kind(front, front->clang.getCursorSemanticParent(variable));
    return parent == CXCursor_FunctionDecl || parent == CXCursor_CXXMethod || parent == CXCursor_Constructor ||
           parent == CXCursor_Destructor || parent == CXCursor_ConversionFunction ||
           parent == CXCursor_FunctionTemplate || parent == CXCursor_LambdaExpr;
}

/* An array or pointer that is not the function's own. */
static enum CXChildVisitResult look_for_foreign(struct front *front, CXCursor cursor, void *function) {
    if (front_kind(front, cursor) != CXCursor_DeclRefExpr) return CXChildVisit_Recurse;
    CXCursor variable = front->clang.getCursorReferenced(cursor);
    CXType type = front_type(front, variable);
    return (type_is_array(type) || type.kind == CXType_Pointer) && front_kind(front, variable) == CXCursor_VarDecl &&
                   !front->clang.equalCursors(front->clang.getCursorSemanticParent(variable), *(CXCursor *)function)
               ? CXChildVisit_Break
               : CXChildVisit_Recurse;
}

/* A constructor that is given no pointers has them from outside, as a parameter has: matrix m(n, n); */
static int constructs_alone(struct front *front, CXCursor start) {
    if (front_kind(front, start) != CXCursor_CallExpr ||
        front_kind(front, front->clang.getCursorReferenced(start)) != CXCursor_Constructor)
        return 0;
    for (int i = 0; i < front->clang.Cursor_getNumArguments(start); i++) {
        CXType type = front_type(front, front->clang.Cursor_getArgument(start, (unsigned)i));
        if (!type_is_integer(type) && !type_is_floating(type)) return 0;
    }
    CXCursor definition = front->clang.getCursorDefinition(front->clang.getCursorReferenced(start));
    return front->clang.Cursor_isNull(definition) || !front_finds(front, definition, look_for_foreign, &definition);
}

static void store_values(struct front *front, uint32_t array, CXCursor start) {
    struct kids kids = front_kids(front, front_strip(front, start));
    struct value value;
    if (front_kind(front, front_strip(front, start)) == CXCursor_InitListExpr) {
        for (unsigned i = 0; i < kids.count; i++) store_values(front, array, front_designated(front, kids.item[i]));
        return;
    }
    front_eval(front, start, &value);
    if (!constructs_alone(front, front_strip(front, start)))
        front_stored(front, array, INT64_MIN, front_type(front, start), &value);
}

void front_store_values(struct front *front, CXCursor variable, CXCursor start) {
    struct binding *binding = front_variable(front, variable);
    if (!binding || binding->value.kind != VALUE_POINTER) return;
    struct value value = binding->value;
    uint32_t array = value.array;
    if (array == UINT32_MAX) array = front_array_of_variable(front, binding->variable, &value.shape);
    if (array != UINT32_MAX) store_values(front, array, start);
}

void front_check_initial(struct front *front, uint32_t array) {
    struct origin *origin = &front->origin[array];
    if (origin->initial_checked || origin->holder != UINT32_MAX ||
        front_kind(front, origin->variable) != CXCursor_VarDecl)
        return;
    origin->initial_checked = 1;
    CXCursor variable = origin->variable, definition = front->clang.getCursorDefinition(variable);
    if (!front->clang.Cursor_isNull(definition)) variable = definition;
    CXCursor start = front->clang.Cursor_getVarDeclInitializer(variable);
    int local = front_is_local(front, variable) && front->clang.Cursor_getStorageClass(variable) != CX_SC_Static;
    if (!local && !front->clang.Cursor_isNull(start)) store_values(front, array, start);
}

int front_first_pointer(struct front *front, CXCursor variable, struct value *value) {
    CXCursor definition = front->clang.getCursorDefinition(variable);
    CXCursor start =
        front->clang.Cursor_getVarDeclInitializer(front->clang.Cursor_isNull(definition) ? variable : definition);
    if (front_kind(front, variable) != CXCursor_VarDecl || front->clang.Cursor_isNull(start) ||
        front->clang.Cursor_getStorageClass(variable) == CX_SC_Auto || front_is_local(front, variable))
        return 0;
    front_eval(front, start, value);
    if (value->kind == VALUE_NUMBER || is_fresh(value)) return 0;
    if (!front->clang.isConstQualifiedType(front->clang.getCursorType(variable)))
        value_opaque(value, "%.60s may have another value than its first: it is not const",
                     front_name(front, variable));
    return 1;
}

void front_pointer_plus(struct front *front, struct value *pointer, struct value *number, int sign) {
    struct rsc_affine affine;
    int64_t row = front_row_bytes(&pointer->shape);
    if (row < 0 || !pointer->shape.rank) value_opaque(pointer, "a pointer to data of unknown size");
    else if (value_affine(front, number, &affine)) value_opaque(pointer, "%s", number->reason);
    else if (rsc_affine_add(&pointer->offset, &affine, sign * row))
        value_opaque(pointer, "an offset passes 2^56 bytes");
}

void front_pointer_difference(struct front *front, struct value *left, const struct value *right) {
    struct value number;
    int64_t row = front_row_bytes(&left->shape);
    value_number(&number, &left->offset);
    if (left->array == UINT32_MAX || left->array != right->array || row < 1 ||
        rsc_affine_add(&number.term[0].value, &right->offset, -1)) {
        value_opaque(left, "a difference of pointers");
        return;
    }
    *left = number;
    value_floor_divide(front, left, row);
}
