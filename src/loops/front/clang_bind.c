/*
 * clang_bind.c - variables and their values, arrays and their shapes.
 *
 * Changes of a variable are kept in a list, so that the paths of a statement can
 * all start from the same state.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "loops/front/clang_front.h"

int front_setting(struct front *front, const char *name, int64_t *value) {
    for (size_t i = 0; i < front->options->setting_count; i++)
        if (!strcmp(front->options->settings[i].name, name)) {
            front->options->settings[i].used = 1;
            *value = front->options->settings[i].value;
            return 1;
        }
    return 0;
}

/* The size expressions of a declarator, innermost first: all expressions before the initial value. */
static unsigned size_expressions(struct front *front, CXCursor variable, CXCursor *sizes, unsigned room) {
    struct kids kids = front_kids(front, variable);
    CXCursor start = front->clang.Cursor_getVarDeclInitializer(variable);
    unsigned count = 0;
    for (unsigned i = 0; i < kids.count && count < room; i++)
        if (front->clang.isExpression(front_kind(front, kids.item[i])) &&
            !front->clang.equalCursors(kids.item[i], start))
            sizes[count++] = kids.item[i];
    return count;
}

static int evaluate_shape(struct front *front, CXCursor variable, struct shape *shape, char *reason, size_t room) {
    CXType type = front_type(front, variable);
    CXCursor sizes[RSC_LOOP_RANK_MAX + 2];
    *shape = (struct shape){0};
    if (type.kind == CXType_Pointer) {
        shape->rank = 1;
        type = front->clang.getCanonicalType(front->clang.getPointeeType(type));
    }
    unsigned size_count = size_expressions(front, variable, sizes, RSC_LOOP_RANK_MAX + 2), levels = 0;
    for (CXType t = type; type_is_array(t); t = front->clang.getCanonicalType(front->clang.getArrayElementType(t)))
        levels += t.kind != CXType_IncompleteArray;
    for (unsigned level = levels; type_is_array(type);
         type = front->clang.getCanonicalType(front->clang.getArrayElementType(type))) {
        if (shape->rank == RSC_LOOP_RANK_MAX) return snprintf(reason, room, "an array of more than 16 dimensions"), -1;
        uint64_t *extent = &shape->extent[shape->rank++];
        if (type.kind == CXType_IncompleteArray) continue;
        level--;
        if (type.kind == CXType_ConstantArray) {
            *extent = (uint64_t)front->clang.getArraySize(type);
            continue;
        }
        struct value value;
        int64_t number;
        if (level >= size_count)
            return snprintf(reason, room, "an extent of %s is hidden in a typedef", front_name(front, variable)), -1;
        front_eval(front, sizes[level], &value);
        if (value_is_constant(&value, &number) && number > 0) *extent = (uint64_t)number;
        else if (shape->rank > 1)
            return snprintf(reason, room, "an extent of %s is not known: %.100s", front_name(front, variable),
                            value.kind == VALUE_OPAQUE ? value.reason : "it is not a positive number"),
                   -1;
    }
    shape->element = type;
    long long bytes = front->clang.Type_getSizeOf(type);
    shape->element_bytes = bytes > 0 ? bytes : 1; /* void *: counted in bytes, as gcc does */
    return 0;
}

static struct front_extents *extents_of(struct front *front, CXCursor variable) {
    variable = front->clang.getCanonicalCursor(variable);
    for (size_t i = 0; i < front->extents_count; i++)
        if (front->clang.equalCursors(front->extents[i].variable, variable)) return &front->extents[i];
    return NULL;
}

int front_shape_of_variable(struct front *front, CXCursor variable, struct shape *shape, char *reason, size_t room) {
    const struct front_extents *extents = extents_of(front, variable);
    if (!extents) return evaluate_shape(front, variable, shape, reason, room);
    *shape = extents->shape;
    snprintf(reason, room, "%s", extents->reason);
    return *reason ? -1 : 0;
}

void front_declare_shape(struct front *front, CXCursor variable) {
    struct front_extents now = {.variable = front->clang.getCanonicalCursor(variable)};
    CXType type = front_type(front, variable);
    if (type.kind == CXType_Pointer) type = front->clang.getCanonicalType(front->clang.getPointeeType(type));
    while (type_is_array(type) && type.kind != CXType_VariableArray)
        type = front->clang.getCanonicalType(front->clang.getArrayElementType(type));
    if (type.kind != CXType_VariableArray) return;
    evaluate_shape(front, variable, &now.shape, now.reason, sizeof now.reason);
    struct front_extents *extents = extents_of(front, variable);
    if (!extents) {
        if (RSC_GROW(front->extents, front->extents_room, front->extents_count + 1)) {
            front_no_memory(front);
            return;
        }
        extents = &front->extents[front->extents_count++];
    }
    *extents = now;
}

int front_shape_of_type(struct front *front, CXType type, struct shape *shape) {
    type = front->clang.getCanonicalType(type);
    *shape = (struct shape){0};
    if (type.kind == CXType_Pointer) {
        shape->rank = 1;
        type = front->clang.getCanonicalType(front->clang.getPointeeType(type));
    }
    for (; type_is_array(type); type = front->clang.getCanonicalType(front->clang.getArrayElementType(type))) {
        if (shape->rank == RSC_LOOP_RANK_MAX || (type.kind == CXType_VariableArray && shape->rank)) return -1;
        shape->extent[shape->rank++] =
            type.kind == CXType_ConstantArray ? (uint64_t)front->clang.getArraySize(type) : 0;
    }
    shape->element = type;
    long long bytes = front->clang.Type_getSizeOf(type);
    shape->element_bytes = bytes > 0 ? bytes : 1;
    return 0;
}

void front_reshape(struct front *front, struct value *pointer, const struct shape *shape) {
    if (front_same_start(front, pointer->shape.element, shape->element)) {
        pointer->shape = *shape;
        return;
    }
    value_opaque(pointer, "a pointer to a base class whose place in the object is not known");
}

int64_t front_row_bytes(const struct shape *shape) {
    __int128 bytes = shape->element_bytes;
    for (uint32_t i = 1; i < shape->rank; i++) {
        bytes *= shape->extent[i];
        if (bytes > RSC_LOOP_VALUE_MAX) return -1;
    }
    return (int64_t)bytes;
}

/* threadprivate, or thread_local: one per thread for as long as the program runs. */
static int is_thread_storage(struct front *front, CXCursor variable, const char *name) {
    if (front_kind(front, variable) != CXCursor_VarDecl) return 0;
    if (front->clang.getCursorTLSKind(variable) != CXTLS_None) return 1;
    for (size_t i = 0; i < front->omp.count; i++)
        if (front->omp.item[i].is_threadprivate && rsc_omp_is_private(&front->omp.item[i], name) &&
            front_means(front, &front->omp.item[i], name, variable))
            return 1;
    return 0;
}

/* Of a pointer: what it points to (is_target), which a copy of the pointer points to as well. */
static int is_private_variable(struct front *front, CXCursor variable, int is_target) {
    const char *name = front_name(front, variable);
    if (is_thread_storage(front, variable, name)) return 1;
    if (is_target) return 0;
    for (unsigned i = 0; i < front->omp_depth; i++)
        if (rsc_omp_is_private(front->omp_stack[i], name) && front_means(front, front->omp_stack[i], name, variable))
            return 1;
    for (size_t i = 0; i < front->binding_count; i++)
        if (front->clang.equalCursors(front->binding[i].variable, variable)) return front->binding[i].in_parallel;
    return 0;
}

/* Adds an array under a unique name: with the function's name as prefix, then a number. */
static struct rsc_loop_array *add_named(struct front *front, const char *name) {
    char other[300];
    for (unsigned attempt = 0; attempt < 1000; attempt++) {
        const char *wish = name;
        if (attempt) {
            if (attempt == 1)
                snprintf(other, sizeof other, "%.100s.%.150s", front->function ? front->function : "", name);
            else
                snprintf(other, sizeof other, "%.100s.%.150s.%u", front->function ? front->function : "", name,
                         attempt);
            wish = other;
        }
        uint32_t i = 0;
        while (i < front->program->array_count && strcmp(front->program->array[i].name, wish)) i++;
        if (i == front->program->array_count) return rsc_loop_add_array(front->program, wish);
    }
    return NULL;
}

static uint32_t add_array(struct front *front, const char *name, const struct shape *shape,
                          const struct origin *origin) {
    if (RSC_GROW(front->origin, front->origin_room, front->program->array_count + 1))
        return front_no_memory(front), UINT32_MAX;
    struct rsc_loop_array *array = add_named(front, name);
    if (!array) return front_no_memory(front), UINT32_MAX;
    array->element_bytes = (uint64_t)shape->element_bytes;
    array->rank = shape->rank;
    memcpy(array->extent, shape->extent, sizeof array->extent);
    for (uint32_t i = 1; i < array->rank; i++)
        if (!array->extent[i]) array->extent[i] = 1;
    array->is_private = origin->is_private;
    front->origin[front->program->array_count - 1] = *origin;
    return front->program->array_count - 1;
}

uint32_t front_array_of_variable(struct front *front, CXCursor variable, const struct shape *shape) {
    struct origin origin = {.variable = variable,
                            .is_pointer = !shape->rank && shape->element.kind == CXType_Pointer,
                            .holder = UINT32_MAX};
    char name[200];
    origin.is_private =
        is_private_variable(front, variable, !origin.is_pointer && front_type(front, variable).kind == CXType_Pointer);
    for (uint32_t i = 0; i < front->program->array_count; i++)
        if (front->origin[i].holder == UINT32_MAX && front->origin[i].is_private == origin.is_private &&
            front->origin[i].is_pointer == origin.is_pointer &&
            front->clang.equalCursors(front->origin[i].variable, variable))
            return i;
    front->clang.getSpellingLocation(front->clang.getCursorLocation(variable), NULL, NULL, NULL, &origin.declared_at);
    const char *own = front_name(front, variable);
    snprintf(name, sizeof name, "%s%.190s", origin.is_pointer ? "&" : "", *own ? own : "nameless");
    return add_array(front, name, shape, &origin);
}

uint32_t front_array_of_pointer(struct front *front, uint32_t holder, int64_t offset, const char *name,
                                const struct shape *shape) {
    struct origin origin = {
        .holder = holder, .holder_offset = offset, .declared_at = front->origin[holder].declared_at};
    for (uint32_t i = 0; i < front->program->array_count; i++)
        if (front->origin[i].holder == holder && front->origin[i].holder_offset == offset) return i;
    return add_array(front, name, shape, &origin);
}

static int passed_number(struct front *front, CXCursor variable, int64_t *value) {
    for (unsigned i = 0; i < front->passed_count && !front->collecting; i++)
        if (front->clang.equalCursors(front->passed[i].parameter, variable)) return *value = front->passed[i].value, 1;
    return 0;
}

static void first_value(struct front *front, CXCursor variable, struct value *value) {
    CXType type = front_type(front, variable);
    const char *name = front_name(front, variable);
    int64_t number;
    if (type_is_integer(type)) {
        if (front_setting(front, name, &number) || passed_number(front, variable, &number))
            value_constant(value, number);
        else if (front->clang.isConstQualifiedType(front->clang.getCursorType(variable)) &&
                 front_constant(front, variable, &number))
            value_constant(value, number);
        else value_opaque(value, "%.60s is not known (--set %.60s=NUMBER gives it)", name, name);
        return;
    }
    if (type.kind == CXType_Pointer && front_first_pointer(front, variable, value)) {
        struct shape shape;
        if (value->kind != VALUE_POINTER) return;
        if (front_shape_of_variable(front, variable, &shape, value->reason, sizeof value->reason))
            value->kind = VALUE_OPAQUE;
        else front_reshape(front, value, &shape);
        return;
    }
    if (type.kind == CXType_Pointer || type_is_array(type) || type.kind == CXType_Record) {
        value->kind = VALUE_POINTER;
        value->offset = rsc_affine_number(0);
        if (front_shape_of_variable(front, variable, &value->shape, value->reason, sizeof value->reason)) {
            value->kind = VALUE_OPAQUE;
            return;
        }
        value->array = UINT32_MAX; /* found when it is used: whether it is private depends on where */
        return;
    }
    value_opaque(value, "%.60s is not an integer", name);
}

struct binding *front_variable(struct front *front, CXCursor variable) {
    variable = front->clang.getCanonicalCursor(variable);
    for (size_t i = front->binding_count; i-- > 0;)
        if (front->clang.equalCursors(front->binding[i].variable, variable)) return &front->binding[i];
    struct value value = {0};
    first_value(front, variable, &value); /* may bind others: the list can move */
    if (RSC_GROW(front->binding, front->binding_room, front->binding_count + 1)) return front_no_memory(front), NULL;
    front->binding[front->binding_count] = (struct binding){.variable = variable, .value = value};
    return &front->binding[front->binding_count++];
}

void front_bind(struct front *front, struct binding *binding, const struct value *value) {
    size_t index = (size_t)(binding - front->binding);
    int64_t number;
    if (RSC_GROW(front->undo, front->undo_room, front->undo_count + 1)) {
        front_no_memory(front);
        return;
    }
    front->undo[front->undo_count++] = (struct undo){.index = index, .value = binding->value};
    binding->value = *value;
    if (binding->address_taken) {
        const char *name = front_name(front, binding->variable);
        if (type_is_integer(front_type(front, binding->variable)))
            value_opaque(&binding->value, "%.45s may change through its address (--set %.45s=NUMBER gives it)", name,
                         name);
        else value_opaque(&binding->value, "%.60s may change through its address", name);
    }
    if (binding->value.kind == VALUE_OPAQUE && type_is_integer(front_type(front, binding->variable)) &&
        front_setting(front, front_name(front, binding->variable), &number))
        value_constant(&binding->value, number);
}

void front_undo_to(struct front *front, size_t mark) {
    while (front->undo_count > mark) {
        struct undo *undo = &front->undo[--front->undo_count];
        if (!front->binding[undo->index].address_taken) front->binding[undo->index].value = undo->value;
    }
}

/* The variable that an expression assigns to directly; a null cursor for any other expression. */
static CXCursor assigned_variable(struct front *front, CXCursor cursor) {
    CXCursor none = {0};
    enum CXCursorKind kind = front_kind(front, cursor);
    int assigns = kind == CXCursor_CompoundAssignOperator;
    none.kind = CXCursor_InvalidFile;
    if (kind == CXCursor_BinaryOperator)
        assigns = front->clang.getCursorBinaryOperatorKind(cursor) == CXBinaryOperator_Assign;
    if (kind == CXCursor_UnaryOperator) {
        enum CXUnaryOperatorKind op = front->clang.getCursorUnaryOperatorKind(cursor);
        assigns = op == CXUnaryOperator_PostInc || op == CXUnaryOperator_PostDec || op == CXUnaryOperator_PreInc ||
                  op == CXUnaryOperator_PreDec || op == CXUnaryOperator_AddrOf;
    }
    if (!assigns) return none;
    struct kids kids = front_kids(front, cursor);
    if (!kids.count) return none;
    CXCursor target = front_strip(front, kids.item[0]);
    if (front_kind(front, target) != CXCursor_DeclRefExpr) return none;
    CXCursor variable = front->clang.getCursorReferenced(target);
    enum CXCursorKind declared = front_kind(front, variable);
    return declared == CXCursor_VarDecl || declared == CXCursor_ParmDecl ? front->clang.getCanonicalCursor(variable)
                                                                         : none;
}

static int is_tracked(struct front *front, CXCursor variable) {
    CXType type = front_type(front, variable);
    return type_is_integer(type) || type.kind == CXType_Pointer;
}

#define FUNCTIONS_SEEN 64u

struct search {
    struct front *front;
    const char *why;   /* forget assigned variables, for this reason */
    CXCursor variable; /* or search for this one */
    int counters;      /* or for any integer or pointer, not inside loops */
    unsigned calls;    /* calls followed so far, one in another */
    CXCursor seen[FUNCTIONS_SEEN]; /* functions whose bodies were searched: once is enough */
    unsigned seen_count;
    int found;
};

/* `cursor` assigns to a variable. */
static enum CXChildVisitResult take_assigned(struct search *search, CXCursor cursor, CXCursor variable) {
    struct front *front = search->front;
    if (search->why) {
        struct binding *binding = is_tracked(front, variable) ? front_variable(front, variable) : NULL;
        if (binding && !binding->counter) {
            struct value value;
            unsigned line;
            const char *file;
            front_place(front, cursor, &file, &line);
            value_opaque(&value, "%.60s %s at line %u", front_name(front, variable), search->why, line);
            front_bind(front, binding, &value);
        }
        return CXChildVisit_Recurse;
    }
    search->found =
        search->counters ? is_tracked(front, variable) : (int)front->clang.equalCursors(variable, search->variable);
    return search->found ? CXChildVisit_Break : CXChildVisit_Recurse;
}

static int first_sight(struct search *search, CXCursor function) {
    for (unsigned i = 0; i < search->seen_count; i++)
        if (search->front->clang.equalCursors(search->seen[i], function)) return 0;
    if (search->seen_count < FUNCTIONS_SEEN) search->seen[search->seen_count++] = function;
    return 1;
}

static enum CXChildVisitResult look(CXCursor cursor, CXCursor parent, CXClientData data) {
    struct search *search = data;
    struct front *front = search->front;
    const enum CXCursorKind kind = front_kind(front, cursor);
    (void)parent;
    if (search->counters && front_is_for(front, cursor)) return CXChildVisit_Continue;
    if (kind == CXCursor_CallExpr && search->calls < FRONT_CALLS_MAX) { /* the called function assigns too */
        CXCursor definition = front->clang.getCursorDefinition(front->clang.getCursorReferenced(cursor));
        enum CXCursorKind called = front->clang.Cursor_isNull(definition) ? kind : front_kind(front, definition);
        if ((called == CXCursor_FunctionDecl || called == CXCursor_CXXMethod) && first_sight(search, definition)) {
            search->calls++;
            front->clang.visitChildren(definition, look, search);
            search->calls--;
            if (search->found) return CXChildVisit_Break;
        }
    }
    for (int i = 0; kind == CXCursor_CallExpr && i < front->clang.Cursor_getNumArguments(cursor); i++) {
        CXCursor argument = front_changed_argument(front, cursor, i);
        if (front->clang.Cursor_isNull(argument) || front_kind(front, argument) != CXCursor_DeclRefExpr) continue;
        CXCursor passed = front->clang.getCanonicalCursor(front->clang.getCursorReferenced(argument));
        if (take_assigned(search, cursor, passed) == CXChildVisit_Break) return CXChildVisit_Break;
    }
    CXCursor variable = assigned_variable(front, cursor);
    if (front->clang.Cursor_isNull(variable) || front_kind(front, variable) == CXCursor_InvalidFile)
        return CXChildVisit_Recurse;
    return take_assigned(search, cursor, variable);
}

static int search(struct front *front, CXCursor tree, struct search *search) {
    search->front = front;
    if (look(tree, tree, search) == CXChildVisit_Recurse && !search->found)
        front->clang.visitChildren(tree, look, search);
    return search->found;
}

void front_forget_assigned(struct front *front, CXCursor tree, const char *why) {
    struct search forget = {.why = why};
    search(front, tree, &forget);
    front_vector_forget(front, tree);
}

int front_assigns_variable(struct front *front, CXCursor tree, CXCursor variable) {
    struct search find = {.variable = front->clang.getCanonicalCursor(variable)};
    return search(front, tree, &find);
}

int front_assigns_counters(struct front *front, CXCursor statement) {
    struct search find = {.counters = 1};
    return search(front, statement, &find);
}

void front_forget_references(struct front *front, CXCursor call) {
    struct search forget = {.front = front, .why = "may change in a call"};
    for (int i = 0; i < front->clang.Cursor_getNumArguments(call); i++) {
        CXCursor argument = front_changed_argument(front, call, i);
        if (!front->clang.Cursor_isNull(argument) && front_kind(front, argument) == CXCursor_DeclRefExpr)
            take_assigned(&forget, call, front->clang.getCanonicalCursor(front->clang.getCursorReferenced(argument)));
    }
}

void front_forget_globals(struct front *front, CXCursor call) {
    front_forget_assigned(front, call, "may change in a call");
    front_vector_forget_globals(front);
    for (size_t i = 0; i < front->binding_count; i++) {
        struct binding *binding = &front->binding[i];
        struct value value;
        int known = binding->value.kind == VALUE_POINTER && binding->value.array != UINT32_MAX;
        if (front_is_local(front, binding->variable) || binding->counter ||
            (!known && !type_is_integer(front_type(front, binding->variable))) ||
            front->clang.isConstQualifiedType(front->clang.getCursorType(binding->variable)))
            continue;
        value_opaque(&value, "%.60s may change in a call", front_name(front, binding->variable));
        front_bind(front, binding, &value);
    }
}

static void lose_track(struct front *front, CXCursor variable) {
    struct binding *binding = front_kind(front, variable) != CXCursor_InvalidFile && is_tracked(front, variable)
                                  ? front_variable(front, variable)
                                  : NULL;
    if (binding && !binding->address_taken) {
        struct value value = binding->value;
        binding->address_taken = 1;
        front_bind(front, binding, &value);
    }
}

/* Variables from outside of a lambda that it assigns to. */
static enum CXChildVisitResult look_for_captured(struct front *front, CXCursor cursor, void *lambda) {
    CXCursor variable = assigned_variable(front, cursor);
    unsigned start, end, at;
    if (front_kind(front, variable) == CXCursor_InvalidFile) return CXChildVisit_Recurse;
    front_extent(front, *(CXCursor *)lambda, &start, &end);
    front->clang.getSpellingLocation(front->clang.getCursorLocation(variable), NULL, NULL, NULL, &at);
    if (at < start || at >= end) lose_track(front, variable);
    return CXChildVisit_Recurse;
}

static enum CXChildVisitResult look_for_address(struct front *front, CXCursor cursor, void *context) {
    (void)context;
    if (front_kind(front, cursor) == CXCursor_CallExpr && front_is_aligned_allocation(front, cursor))
        return CXChildVisit_Continue; /* it does not keep the address */
    if (front_kind(front, cursor) == CXCursor_LambdaExpr) front_finds(front, cursor, look_for_captured, &cursor);
    if (front_kind(front, cursor) == CXCursor_UnaryOperator &&
        front->clang.getCursorUnaryOperatorKind(cursor) == CXUnaryOperator_AddrOf)
        lose_track(front, assigned_variable(front, cursor));
    if (front_kind(front, cursor) == CXCursor_VarDecl && front_is_reference(front, cursor)) { /* int &r = k; */
        CXCursor start = front->clang.Cursor_getVarDeclInitializer(cursor);
        if (!front->clang.Cursor_isNull(start)) start = front_strip(front, start);
        if (front_kind(front, start) == CXCursor_DeclRefExpr &&
            front_kind(front, front->clang.getCursorReferenced(start)) != CXCursor_FunctionDecl)
            lose_track(front, front->clang.getCanonicalCursor(front->clang.getCursorReferenced(start)));
    }
    return CXChildVisit_Recurse;
}

void front_find_addresses(struct front *front, CXCursor body) {
    front_finds(front, body, look_for_address, NULL);
    front_vector_escapes(front, body);
}

static enum CXChildVisitResult look_for_escape(struct front *front, CXCursor cursor, void *context) {
    (void)context;
    enum CXCursorKind kind = front_kind(front, cursor);
    if ((kind == CXCursor_FunctionDecl || kind == CXCursor_VarDecl || kind == CXCursor_Namespace) &&
        front->clang.Location_isInSystemHeader(front->clang.getCursorLocation(cursor)))
        return CXChildVisit_Continue;
    if (kind == CXCursor_CallExpr && front_is_aligned_allocation(front, cursor)) return CXChildVisit_Continue;
    if (kind != CXCursor_UnaryOperator || front->clang.getCursorUnaryOperatorKind(cursor) != CXUnaryOperator_AddrOf)
        return CXChildVisit_Recurse;
    CXCursor variable = assigned_variable(front, cursor);
    if (front_kind(front, variable) == CXCursor_InvalidFile || front_is_local(front, variable) ||
        !is_tracked(front, variable))
        return CXChildVisit_Recurse;
    if (RSC_GROW(front->escaped, front->escaped_room, front->escaped_count + 1)) front_no_memory(front);
    else front->escaped[front->escaped_count++] = variable;
    return CXChildVisit_Recurse;
}

void front_find_escaped(struct front *front) { front_finds(front, front->tree, look_for_escape, NULL); }

void front_lose_escaped(struct front *front, CXType type) {
    for (size_t i = 0; i < front->escaped_count; i++)
        if (front->clang.equalTypes(front->clang.getUnqualifiedType(front_type(front, front->escaped[i])),
                                    front->clang.getUnqualifiedType(type)))
            lose_track(front, front->escaped[i]);
}

static struct front *sorting; /* qsort passes no context; the front end runs in a separate process, on one thread */

static int earlier(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const struct rsc_loop_array *arrays = sorting->program->array;
    if (arrays[x].is_private != arrays[y].is_private) return arrays[x].is_private - arrays[y].is_private;
    unsigned p = sorting->origin[x].declared_at, q = sorting->origin[y].declared_at;
    if (p != q) return p < q ? -1 : 1;
    return x < y ? -1 : x > y;
}

static void each_reference(struct rsc_loop_node *node, uint32_t *map, int renumber) {
    if (node->kind == RSC_NODE_REFERENCE) {
        if (renumber) node->array = map[node->array];
        else map[node->array] = 1;
    }
    for (uint32_t i = 0; i < node->child_count; i++) each_reference(node->child[i], map, renumber);
}

/* Sorts arrays in the order of their declarations and drops those without references. */
void front_sort_arrays(struct front *front) {
    uint32_t count = front->program->array_count, kept = 0;
    uint32_t *map = calloc(count + 1, sizeof *map), *order = calloc(count + 1, sizeof *order);
    struct rsc_loop_array *arrays = rsc_arena_alloc(&front->program->arena, (count + 1) * sizeof *arrays);
    if (!map || !order || !arrays) {
        front_no_memory(front);
    } else {
        for (uint32_t r = 0; r < front->program->region_count; r++)
            each_reference(front->program->region[r].root, map, 0);
        for (uint32_t i = 0; i < count; i++)
            if (map[i]) order[kept++] = i;
        sorting = front;
        qsort(order, kept, sizeof *order, earlier);
        for (uint32_t i = 0; i < kept; i++) {
            arrays[i] = front->program->array[order[i]];
            map[order[i]] = i;
        }
        for (uint32_t r = 0; r < front->program->region_count; r++)
            each_reference(front->program->region[r].root, map, 1);
        front->program->array = arrays;
        front->program->array_count = kept;
        front->program->array_room = count + 1;
    }
    free(map);
    free(order);
}
