/*
 * clang_cxx.c - what C++ adds: std::vector and std::array, references, range-for loops and members of *this.
 *
 * A std::array is its elements. A std::vector is a pointer at a fixed place, like grid->data in C: its elements are an
 * array of their own. Its size is what clang_vector.c knows of it, or comes from --set 'v.size()=NUMBER'. A reference is bound as a pointer to what it refers to; a use of it is a use of that.
 */
#include <stdio.h>
#include <string.h>

#include "loops/front/clang_loop.h"

enum container { CONTAINER_NONE, CONTAINER_VECTOR, CONTAINER_ARRAY };

static enum container container_of(struct front *front, CXType type) {
    type = front->clang.getCanonicalType(type);
    if (!front->is_cxx || type.kind != CXType_Record) return CONTAINER_NONE;
    CXString spelling = front->clang.getTypeSpelling(type);
    const char *name = front->clang.getCString(spelling);
    enum container found = CONTAINER_NONE;
    if (!strncmp(name, "const ", 6)) name += 6;
    if (!strncmp(name, "std::vector<bool", 16)) found = CONTAINER_NONE; /* bits */
    else if (!strncmp(name, "std::vector<", 12)) found = CONTAINER_VECTOR;
    else if (!strncmp(name, "std::array<", 11)) found = CONTAINER_ARRAY;
    front->clang.disposeString(spelling);
    return found;
}

int type_is_vector(struct front *front, CXType type) { return container_of(front, type) == CONTAINER_VECTOR; }

int front_is_reference(struct front *front, CXCursor variable) {
    CXType type = front->clang.getCanonicalType(front->clang.getCursorType(variable));
    return type.kind == CXType_LValueReference || type.kind == CXType_RValueReference;
}

static void opaque(struct place *place, const char *reason) {
    place->opaque = 1;
    snprintf(place->reason, sizeof place->reason, "%s", reason);
}

/* The first element of a container, as an array of one dimension. */
static void elements_of(struct front *front, CXCursor object, struct place *place) {
    CXType type = front_type(front, object);
    enum container container = container_of(front, type);
    CXType element = front->clang.getCanonicalType(front->clang.Type_getTemplateArgumentAsType(type, 0));
    struct shape shape;
    front_place_of(front, object, place);
    if (place->opaque) return;
    if (front_shape_of_type(front, element, &shape) || shape.rank == RSC_LOOP_RANK_MAX)
        return opaque(place, "the layout of the elements is not known");
    if (element.kind == CXType_Pointer) /* an element is one pointer */
        shape = (struct shape){.element = element, .element_bytes = front->clang.Type_getSizeOf(element)};
    memmove(shape.extent + 1, shape.extent, shape.rank * sizeof *shape.extent);
    shape.rank++;
    shape.extent[0] = 0;
    if (container == CONTAINER_ARRAY) {
        long long bytes = front->clang.Type_getSizeOf(type);
        if (bytes > 0) shape.extent[0] = (uint64_t)(bytes / shape.element_bytes);
    } else {
        if (place->array == UINT32_MAX || !rsc_affine_is_number(&place->offset))
            return opaque(place,
                          "which vector it is depends on data: its elements are at a pointer loaded from memory");
        uint32_t holder = place->array;
        place->array =
            front_array_of_pointer(front, holder, place->offset.constant, front_source(front, object), &shape);
        if (place->array == UINT32_MAX) return opaque(place, "out of memory");
        front->program->array[place->array].is_private = front->origin[holder].is_private;
        front->origin[place->array].is_private = front->origin[holder].is_private;
        place->offset = rsc_affine_number(0);
    }
    place->is_memory = 1;
    place->shape = shape;
}

int front_elements_of_type(struct front *front, CXType type, CXType *element, int64_t *count) {
    CXType inner;
    type = front->clang.getCanonicalType(type);
    if (type.kind == CXType_ConstantArray) inner = front->clang.getArrayElementType(type);
    else if (container_of(front, type) == CONTAINER_ARRAY) inner = front->clang.Type_getTemplateArgumentAsType(type, 0);
    else return 0;
    inner = front->clang.getCanonicalType(inner);
    long long bytes = front->clang.Type_getSizeOf(inner);
    if (bytes < 1) return 0;
    if (element) *element = inner;
    if (count) *count = front->clang.Type_getSizeOf(type) / bytes;
    return 1;
}

/* v[i] and v.at(i): the object and the index; 0 if the call is neither. */
static int element_call(struct front *front, CXCursor call, CXCursor *object, CXCursor *index) {
    struct kids kids = front_kids(front, call);
    const char *name = front_name(front, call);
    if (!strcmp(name, "operator[]") && kids.count == 3) {
        *object = front_strip(front, kids.item[0]);
        *index = kids.item[2];
    } else if (!strcmp(name, "at") && kids.count == 2) {
        struct kids member = front_kids(front, kids.item[0]);
        if (!member.count) return 0;
        *object = front_strip(front, member.item[0]);
        *index = kids.item[1];
    } else return 0;
    return container_of(front, front_type(front, *object)) != CONTAINER_NONE;
}

int front_cxx_place(struct front *front, CXCursor call, struct place *place) {
    CXCursor object, index;
    if (!front->is_cxx || !element_call(front, call, &object, &index)) return 0;
    elements_of(front, object, place);
    front_step_in(front, place, &index);
    return 1;
}

/* How many elements a container has; -1 if not known. */
static int64_t count_elements(struct front *front, CXCursor object, const char *text) {
    CXType type = front_type(front, object);
    int64_t count;
    if (front_setting(front, text, &count)) return count;
    if (container_of(front, type) == CONTAINER_ARRAY)
        return front_elements_of_type(front, type, NULL, &count) ? count : -1;
    return front_vector_count(front, object);
}

static const char *size_text(struct front *front, CXCursor object) {
    char text[120];
    snprintf(text, sizeof text, "%.100s.size()", front_text(front, object));
    const char *copy = rsc_arena_strdup(&front->arena, text);
    return copy ? copy : (front_no_memory(front), "");
}

int front_cxx_call(struct front *front, CXCursor call, const char *name, struct value *value) {
    CXCursor object, index;
    struct kids kids = front_kids(front, call);
    if (!front->is_cxx) return 0;
    if (element_call(front, call, &object, &index)) return front_load(front, call, value), 1;
    if (!kids.count || front_kind(front, kids.item[0]) != CXCursor_MemberRefExpr) return 0;
    struct kids member = front_kids(front, kids.item[0]);
    if (!member.count) return 0;
    object = front_strip(front, member.item[0]);
    if (container_of(front, front_type(front, object)) == CONTAINER_NONE) return 0;
    if (!strcmp(name, "size")) {
        const char *text = size_text(front, object);
        int64_t count = count_elements(front, object, text);
        if (count >= 0) value_constant(value, count);
        else value_opaque(value, "%.60s is not known (--set '%.60s=NUMBER' gives it)", text, text);
        return 1;
    }
    if (!strcmp(name, "data")) {
        struct place place;
        elements_of(front, object, &place);
        if (place.opaque) value_opaque(value, "%s", place.reason);
        else
            *value = (struct value){
                .kind = VALUE_POINTER, .array = place.array, .offset = place.offset, .shape = place.shape};
        return 1;
    }
    return 0;
}

/* ---- references ---- */

void front_bind_reference(struct front *front, CXCursor variable, CXCursor to) {
    struct place place;
    struct value value;
    front_place_of(front, to, &place);
    if (place.opaque) value_opaque(&value, "%s", place.reason);
    else if (place.array == UINT32_MAX) value_opaque(&value, "%.60s refers to a variable", front_name(front, variable));
    else if (place.shape.rank == RSC_LOOP_RANK_MAX) value_opaque(&value, "an array of more than 16 dimensions");
    else {
        value =
            (struct value){.kind = VALUE_POINTER, .array = place.array, .offset = place.offset, .shape = place.shape};
        memmove(value.shape.extent + 1, value.shape.extent, value.shape.rank * sizeof *value.shape.extent);
        value.shape.extent[0] = 0;
        value.shape.rank++;
    }
    struct binding *binding = front_variable(front, variable);
    if (!binding) return;
    binding->is_reference = 1;
    front_bind(front, binding, &value);
}

int front_cxx_declare(struct front *front, CXCursor variable, CXCursor start) {
    enum container container = container_of(front, front_type(front, variable));
    if (!front->is_cxx) return 0;
    if (front_is_reference(front, variable)) return front_bind_reference(front, variable, start), 1;
    if (container == CONTAINER_ARRAY) return front_initialise(front, variable, start), 1;
    if (container != CONTAINER_VECTOR || front->at) return 0;
    front_vector_declare(front, variable, start);
    return 1;
}

int front_takes_reference(struct front *front, CXCursor parameter) {
    if (!front->is_cxx || !front_is_reference(front, parameter)) return 0;
    CXType type = front_type(front, parameter);
    return !type_is_integer(type) && !type_is_floating(type); /* numbers that are not changed: their values */
}

CXCursor front_changed_argument(struct front *front, CXCursor call, int i) {
    CXCursor none = front->clang.getNullCursor(), callee = front->clang.getCursorReferenced(call);
    int count = front->clang.Cursor_getNumArguments(call), parameters;
    if (!front->is_cxx || front->clang.Cursor_isNull(callee)) return none;
    parameters = front->clang.Cursor_getNumArguments(callee);
    /* an operator that is a method has its object as the first argument */
    int at = parameters >= 0 && count > parameters ? i - (count - parameters) : i;
    if (at < 0 || at >= parameters) return none;
    CXCursor parameter = front->clang.Cursor_getArgument(callee, (unsigned)at);
    CXType type = front->clang.getCanonicalType(front->clang.getCursorType(parameter));
    if (type.kind != CXType_LValueReference) return none;
    CXType of = front->clang.getPointeeType(type);
    if (front->clang.isConstQualifiedType(of)) return none;
    if (!type_is_integer(of) && !type_is_floating(of) && of.kind != CXType_Pointer) return none;
    return front_strip(front, front->clang.Cursor_getArgument(call, (unsigned)i));
}

/* std::swap(a, b) of numbers and pointers: t = a; a = b; b = t. Returns 1 if it is that. */
int front_exchange(struct front *front, CXCursor call, const char *name) {
    CXCursor callee = front->clang.getCursorReferenced(call);
    if (!front->is_cxx || strcmp(name, "swap") || front->clang.Cursor_getNumArguments(call) != 2 ||
        front->clang.Cursor_isNull(callee) || front_kind(front, callee) != CXCursor_FunctionDecl ||
        !front->clang.Location_isInSystemHeader(front->clang.getCursorLocation(callee)))
        return 0;
    CXCursor a = front->clang.Cursor_getArgument(call, 0), b = front->clang.Cursor_getArgument(call, 1);
    CXType type = front_type(front, a);
    struct value first, second;
    if (!type_is_integer(type) && !type_is_floating(type) && type.kind != CXType_Pointer) return 0;
    front_eval(front, a, &first);
    front_eval(front, b, &second);
    front_store(front, a, &second, 0);
    front_store(front, b, &first, 0);
    return 1;
}

/* ---- for (T x : v) ---- */

int header_read_range(struct front *front, struct header *header) {
    struct kids kids = front_kids(front, header->statement);
    struct place place;
    int64_t count = -1;
    if (kids.count < 3 || front_kind(front, kids.item[0]) != CXCursor_VarDecl)
        return refuse(header, "a range that cannot be read");
    CXCursor range = front_strip(front, kids.item[kids.count - 2]);
    CXType type = front_type(front, range);
    header->variable = kids.item[0];
    header->body = kids.item[kids.count - 1];
    if (type_is_array(type)) {
        front_place_of(front, range, &place);
        if (!place.opaque && place.shape.rank) count = (int64_t)place.shape.extent[0];
        if (!count) count = -1;
    } else if (container_of(front, type) != CONTAINER_NONE) {
        elements_of(front, range, &place);
        count = count_elements(front, range, size_text(front, range));
    } else return refuse(header, "a range over something that is not an array, std::vector or std::array");
    if (place.opaque) return refuse(header, "%.150s", place.reason);
    if (count < 0)
        return refuse(header, "%.60s is not known (--set '%.60s=NUMBER' gives it)", size_text(front, range),
                      size_text(front, range));
    value_constant(&header->first, 0);
    value_constant(&header->last, count - 1);
    header->has_last = 1;
    header->step = 1;
    header->is_pointer = 1;
    header->pointer =
        (struct value){.kind = VALUE_POINTER, .array = place.array, .offset = place.offset, .shape = place.shape};
    return 0;
}

void header_start_range(struct front *front, struct header *header) {
    struct binding *binding = front_variable(front, header->variable);
    struct place place;
    if (!binding) return;
    binding->is_reference = 1;
    if (front_is_reference(front, header->variable)) return;
    front_note_ends(front, header->variable);
    /* A copy: read once, then in a register. */
    struct value element = binding->value, copy;
    place = (struct place){.is_memory = 1, .array = element.array, .offset = element.offset, .shape = element.shape};
    front_step_in(front, &place, NULL);
    front_touch(front, header->variable, &place, 0);
    front_flush(front);
    value_opaque(&copy, "%.60s is loaded from memory", front_name(front, header->variable));
    front_copied_structure(front, header->variable, &copy);
    if (!(binding = front_variable(front, header->variable))) return;
    binding->is_reference = 0;
    front_bind(front, binding, &copy);
}
