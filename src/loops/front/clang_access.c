/*
 * clang_access.c - from an lvalue to an array and a byte offset.
 *
 * a[i][j], p->x[i], *(p + i), s.rows[i]: subscripts, members and dereferences are
 * followed down to a variable. A pointer stored in memory at a fixed place
 * (grid->data) is a separate array; one at a varying place (rows[i]) is not an affine
 * access.
 */
#include <stdio.h>
#include <string.h>

#include "base/grow.h"
#include "loops/front/clang_front.h"

static void opaque(struct place *place, const char *reason) {
    place->opaque = 1;
    snprintf(place->reason, sizeof place->reason, "%s", reason);
}

/* The pointer value of an expression; arrays decay. */
static void pointer_of(struct front *front, CXCursor cursor, struct place *place) {
    CXCursor inner = front_strip(front, cursor);
    struct value value;
    if (type_is_array(front_type(front, inner)) && front_kind(front, inner) != CXCursor_CStyleCastExpr) {
        front_place_of(front, inner, place);
        return;
    }
    front_eval(front, cursor, &value);
    *place = (struct place){.is_memory = 1, .array = UINT32_MAX};
    if (value.kind != VALUE_POINTER) {
        opaque(place, value.kind == VALUE_OPAQUE ? value.reason : "a number is used as a pointer");
        return;
    }
    place->array = value.array;
    place->offset = value.offset;
    place->shape = value.shape;
}

void front_step_in(struct front *front, struct place *place, CXCursor *index) {
    int64_t row = front_row_bytes(&place->shape);
    struct rsc_affine affine;
    struct value value;
    if (index) {
        front->in_subscript++;
        front_eval(front, *index, &value); /* even if the base is opaque: the index may read memory itself */
        front->in_subscript--;
    }
    if (place->opaque) return;
    if (!place->shape.rank) return opaque(place, "a subscript or dereference of something that is not an array");
    if (row < 0) return opaque(place, "a row is larger than 2^56 bytes");
    if (index) {
        if (value_affine(front, &value, &affine)) {
            char reason[REASON_BYTES];
            snprintf(reason, sizeof reason, "subscript %.50s is not affine: %.80s", front_source(front, *index),
                     value.reason);
            return opaque(place, reason);
        }
        if (rsc_affine_add(&place->offset, &affine, row)) return opaque(place, "an offset passes 2^56 bytes");
    }
    place->is_memory = 1;
    place->shape.rank--;
    memmove(place->shape.extent, place->shape.extent + 1, place->shape.rank * sizeof *place->shape.extent);
}

/* The structure or class that has a field: of the fields of an anonymous one, the one around it. */
static CXCursor holder_of(struct front *front, CXCursor field) {
    CXCursor holder = front->clang.getCanonicalCursor(front->clang.getCursorSemanticParent(field));
    while (front->clang.Cursor_isAnonymousRecordDecl(holder)) {
        CXCursor around = front->clang.getCanonicalCursor(front->clang.getCursorSemanticParent(holder));
        if (front->clang.getCanonicalType(front->clang.getCursorType(around)).kind != CXType_Record) break;
        holder = around;
    }
    return holder;
}

/* The object of a member: s of s.x, *p of p->x. Anonymous structures between the two have no name: s.(nameless).x. */
static struct kids object_of(struct front *front, CXCursor member) {
    struct kids kids = front_kids(front, member);
    while (kids.count) {
        CXCursor base = front_strip(front, kids.item[0]);
        CXCursor declared = front->clang.getTypeDeclaration(front->clang.getCursorType(base));
        if (front_kind(front, base) != CXCursor_MemberRefExpr || !front->clang.Cursor_isAnonymousRecordDecl(declared))
            break;
        kids = front_kids(front, base);
    }
    return kids;
}

void front_object_place(struct front *front, CXCursor cursor, int points, struct place *place) {
    if (!points) return front_place_of(front, cursor, place);
    pointer_of(front, cursor, place);
    front_step_in(front, place, NULL);
}

CXCursor front_owner(struct front *front, struct place *place) {
    CXCursor owner = front->clang.getCanonicalCursor(front->clang.getCursorSemanticParent(front->calls[0]));
    enum CXCursorKind kind = front_kind(front, owner);
    struct shape shape;
    if (kind != CXCursor_ClassDecl && kind != CXCursor_StructDecl) return front->clang.getNullCursor();
    *place = (struct place){.is_memory = 1, .array = UINT32_MAX};
    if (!front_shape_of_type(front, front->clang.getCursorType(owner), &shape)) {
        place->array = front_array_of_variable(front, owner, &shape);
        place->shape = shape;
    }
    if (place->array == UINT32_MAX) opaque(place, "a member without an object");
    return owner;
}

static void member_of(struct front *front, CXCursor cursor, struct place *place) {
    static const char elsewhere[] = "a member of a base class whose place in the object is not known";
    struct kids kids = object_of(front, cursor);
    CXCursor field = front->clang.getCursorReferenced(cursor);
    struct rsc_affine offset;
    struct shape shape;
    int of_this = !kids.count || front_kind(front, front_strip(front, kids.item[0])) == CXCursor_CXXThisExpr;
    CXCursor base = kids.count ? kids.item[0] : cursor;
    CXCursor holder = holder_of(front, field);
    CXType type = front->clang.getCursorType(holder);
    long long bits = front->clang.Type_getOffsetOf(type, front_name(front, field));
    if (of_this && front->object) { /* of a method that is inlined */
        *place = front->object->place;
        if (!place->opaque && !front_same_start(front, place->shape.element, type)) return opaque(place, elsewhere);
    } else if (of_this) {
        CXCursor owner = front_owner(front, place);
        if (front->clang.Cursor_isNull(owner)) { /* not in a method */
            *place = (struct place){.is_memory = 1, .array = UINT32_MAX};
            if (!front_shape_of_type(front, type, &shape))
                place->array = front_array_of_variable(front, holder, &shape);
            if (place->array == UINT32_MAX) return opaque(place, "a member without an object");
        } else if (!front_same_start(front, front->clang.getCursorType(owner), type)) {
            return opaque(place, elsewhere);
        }
    } else {
        front_object_place(front, base, front_type(front, front_strip(front, base)).kind == CXType_Pointer, place);
    }
    if (place->opaque) return;
    if (!of_this && !front_same_start(front, place->shape.element, type)) return opaque(place, elsewhere);
    if (bits < 0 || front_shape_of_type(front, front->clang.getCursorType(field), &shape))
        return opaque(place, "the layout of the structure is not known");
    if (front_type(front, field).kind == CXType_Pointer) { /* the member itself is one element: the pointer */
        shape = (struct shape){.element = front_type(front, field),
                               .element_bytes = front->clang.Type_getSizeOf(front_type(front, field))};
    }
    offset = rsc_affine_number(bits / 8);
    if (rsc_affine_add(&place->offset, &offset, 1)) return opaque(place, "an offset passes 2^56 bytes");
    place->shape = shape;
}

static void variable_place(struct front *front, CXCursor cursor, struct place *place) {
    CXCursor variable = front->clang.getCursorReferenced(cursor);
    enum CXCursorKind kind = front_kind(front, variable);
    if (kind != CXCursor_VarDecl && kind != CXCursor_ParmDecl) return opaque(place, "it is not a variable");
    struct binding *binding = front_variable(front, variable);
    if (!binding) return opaque(place, "out of memory");
    CXType type = front_type(front, variable);
    place->variable = binding->variable;
    place->is_memory = 0;
    if (binding->is_reference) {
        struct value value = binding->value;
        if (value.kind != VALUE_POINTER) return opaque(place, value.reason);
        place->array = value.array;
        place->offset = value.offset;
        place->shape = value.shape;
        return front_step_in(front, place, NULL);
    }
    if (type_is_array(type) || type.kind == CXType_Record) {
        struct value value = binding->value;
        if (value.kind != VALUE_POINTER)
            return opaque(place, value.kind == VALUE_OPAQUE ? value.reason : "it is not an array");
        place->shape = value.shape;
        place->offset = value.offset;
        place->array =
            value.array != UINT32_MAX ? value.array : front_array_of_variable(front, place->variable, &value.shape);
        return;
    }
    place->array = UINT32_MAX;
    place->shape = (struct shape){.element = type, .element_bytes = front->clang.Type_getSizeOf(type)};
}

/* C++: c ? a : b */
static void place_of_choice(struct front *front, CXCursor cursor, struct place *place) {
    struct kids kids = front_kids(front, cursor);
    char reason[REASON_BYTES];
    if (!front->is_cxx || kids.count != 3) return opaque(place, "it is not a variable, subscript or member");
    int holds = front_condition(front, kids.item[0], reason, sizeof reason);
    if (holds < 0) return opaque(place, reason);
    front_place_of(front, kids.item[holds ? 1 : 2], place);
}

/* C++: b of (a, b), and a of a = b and a += b once that is done. */
static void place_of_operation(struct front *front, CXCursor cursor, struct place *place) {
    struct kids kids = front_kids(front, cursor);
    int comma = front->clang.getCursorBinaryOperatorKind(cursor) == CXBinaryOperator_Comma;
    int assigns = front_kind(front, cursor) == CXCursor_CompoundAssignOperator ||
                  front->clang.getCursorBinaryOperatorKind(cursor) == CXBinaryOperator_Assign;
    struct value value;
    if (!front->is_cxx || kids.count != 2 || !(comma || assigns) ||
        (assigns && front_assigns_counters(front, kids.item[0])))
        return opaque(place, "it is not a variable, subscript or member");
    front_eval(front, comma ? kids.item[0] : cursor, &value);
    size_t made = front->pending_count;
    front_place_of(front, kids.item[comma], place);
    if (assigns) front->pending_count = made; /* its subscripts are read once */
}

void front_place_of(struct front *front, CXCursor cursor, struct place *place) {
    cursor = front_strip(front, cursor);
    *place = (struct place){.array = UINT32_MAX};
    if (++front->nesting > FRONT_NESTING_MAX) {
        front->nesting--;
        return opaque(place, "it is nested too deep");
    }
    enum CXCursorKind kind = front_kind(front, cursor);
    struct kids kids;
    switch ((int)kind) {
    case CXCursor_DeclRefExpr: variable_place(front, cursor, place); break;
    case CXCursor_MemberRefExpr: member_of(front, cursor, place); break;
    case CXCursor_ArraySubscriptExpr: {
        kids = front_kids(front, cursor);
        if (kids.count != 2) {
            opaque(place, "a subscript that cannot be read");
            break;
        }
        int swapped = type_is_integer(front_type(front, front_strip(front, kids.item[0]))); /* 2[a] */
        pointer_of(front, kids.item[swapped], place);
        front_step_in(front, place, &kids.item[!swapped]);
        break;
    }
    case CXCursor_CallExpr:
        if (!front_cxx_place(front, cursor, place) && !front_call_place(front, cursor, place))
            opaque(place, "it is the result of a call");
        break;
    case CXCursor_ConditionalOperator: place_of_choice(front, cursor, place); break;
    case CXCursor_BinaryOperator:
    case CXCursor_CompoundAssignOperator: place_of_operation(front, cursor, place); break;
    case CXCursor_UnaryOperator:
        kids = front_kids(front, cursor);
        if (kids.count == 1 && front->clang.getCursorUnaryOperatorKind(cursor) == CXUnaryOperator_Deref) {
            pointer_of(front, kids.item[0], place);
            front_step_in(front, place, NULL);
            break;
        } /* fall through */
    default: opaque(place, "it is not a variable, subscript or member"); break;
    }
    front->nesting--;
}

static int add_pending(struct front *front, const struct pending *pending) {
    if (RSC_GROW(front->pending, front->pending_room, front->pending_count + 1)) return front_no_memory(front);
    front->pending[front->pending_count++] = *pending;
    front->touches++;
    return 0;
}

/*
 * Structures of 1, 2, 4 and so on to 64 bytes are accessed as a whole, others, which would cross lines, in words of up to
 * 8 bytes. Large ones stay whole, and are refused.
 */
static uint32_t word_of(const struct shape *shape, uint32_t bytes) {
    uint32_t word = 8;
    if (shape->element.kind != CXType_Record || (bytes <= 64 && !(bytes & (bytes - 1))) || bytes > 256) return bytes;
    while (bytes % word) word /= 2;
    return word;
}

void front_touch(struct front *front, CXCursor cursor, const struct place *place, int is_write) {
    struct pending pending = {.is_write = is_write, .array = place->array, .offset = place->offset};
    if (!front->at) return;
    if (place->opaque) {
        front_gap(front, cursor, "%s", place->reason);
        return;
    }
    if (!place->is_memory && front_holds_array(front, place->shape.element)) { /* as a whole it is not a scalar */
        if (pending.array == UINT32_MAX) pending.array = front_array_of_variable(front, place->variable, &place->shape);
    } else if (!place->is_memory) {
        if (!front->options->count_scalars || front->in_subscript) return;
        struct binding *binding = front_variable(front, place->variable);
        if (!binding || binding->counter || binding->is_argument) return;
        if (pending.array == UINT32_MAX) pending.array = front_array_of_variable(front, place->variable, &place->shape);
    }
    __int128 size = place->shape.element_bytes;
    for (uint32_t i = 0; i < place->shape.rank; i++) size *= place->shape.extent[i];
    if (size < 1 || size > UINT32_MAX || pending.array == UINT32_MAX) {
        front_gap(front, cursor, "an access whose size is not known");
        return;
    }
    pending.size_bytes = (uint32_t)size;
    pending.text =
        front_kind(front, cursor) == CXCursor_VarDecl ? front_name(front, cursor) : front_source(front, cursor);
    front_place(front, cursor, &pending.file, &pending.line);
    uint32_t word = word_of(&place->shape, pending.size_bytes);
    for (uint32_t done = 0; done < (uint32_t)size; done += word, pending.offset.constant += word) {
        pending.size_bytes = word;
        if (add_pending(front, &pending)) return;
    }
}

/* The pointer that is stored at a place. */
static void stored_pointer(struct front *front, CXCursor cursor, const struct place *place, struct value *value) {
    if (place->array != UINT32_MAX) front_check_initial(front, place->array);
    if (place->array == UINT32_MAX || !rsc_affine_is_number(&place->offset) ||
        front->origin[place->array].pointers_stored || front_may_be_stored(front, front_type(front, cursor))) {
        value_opaque(value, "the pointer %.60s is loaded from memory", front_source(front, cursor));
        return;
    }
    value->kind = VALUE_POINTER;
    value->offset = rsc_affine_number(0);
    if (front_shape_of_type(front, front_type(front, cursor), &value->shape)) {
        value_opaque(value, "the rows that %.60s points at have no known size", front_source(front, cursor));
        return;
    }
    value->array =
        front_array_of_pointer(front, place->array, place->offset.constant, front_source(front, cursor), &value->shape);
}

void front_load(struct front *front, CXCursor cursor, struct value *value) {
    struct place place;
    CXType type = front_type(front, cursor);
    front_place_of(front, cursor, &place);
    if (type_is_array(type)) {
        if (place.opaque) {
            value_opaque(value, "%s", place.reason);
            return;
        }
        value->kind = VALUE_POINTER;
        value->array = place.array;
        value->offset = place.offset;
        value->shape = place.shape;
        return;
    }
    if (!place.opaque && !place.is_memory && place.array == UINT32_MAX) { /* a variable by itself */
        struct binding *binding = front_variable(front, place.variable);
        front_touch(front, cursor, &place, 0);
        if (!binding) {
            value_opaque(value, "out of memory");
            return;
        }
        *value = binding->value;
        if (value->kind == VALUE_POINTER && value->array == UINT32_MAX)
            value->array = front_array_of_variable(front, binding->variable, &value->shape);
        return;
    }
    int64_t number;
    if (type_is_integer(type) && !place.opaque && rsc_affine_is_number(&place.offset) &&
        front_setting(front, front_text(front, cursor),
                      &number)) { /* grid->width, a size that stays: as a variable is */
        value_constant(value, number);
        return;
    }
    int fixed_pointer = type.kind == CXType_Pointer && !place.opaque && rsc_affine_is_number(&place.offset);
    if (!fixed_pointer || front->options->count_scalars) front_touch(front, cursor, &place, 0);
    if (place.opaque) value_opaque(value, "%s", place.reason);
    else if (type.kind == CXType_Pointer) stored_pointer(front, cursor, &place, value);
    else if (type_is_integer(type) && rsc_affine_is_number(&place.offset) && place.shape.rank == 0)
        value_opaque(value, "%.45s is loaded from memory (--set '%.45s=NUMBER' gives it)", front_text(front, cursor),
                     front_text(front, cursor));
    else value_opaque(value, "%.60s is loaded from memory", front_source(front, cursor));
}

static void first_pointer(struct front *front, CXCursor variable, struct value *value) {
    value->kind = VALUE_POINTER;
    value->array = UINT32_MAX; /* found when it is used */
    value->offset = rsc_affine_number(0);
    if (front_shape_of_variable(front, variable, &value->shape, value->reason, sizeof value->reason))
        value->kind = VALUE_OPAQUE;
}

void front_copied_structure(struct front *front, CXCursor variable, struct value *value) {
    CXType type = front_type(front, variable);
    struct shape shape = {.element = type, .element_bytes = front->clang.Type_getSizeOf(type)};
    if (type.kind != CXType_Record || front_holds_array(front, type) ||
        front_elements_of_type(front, type, NULL, NULL) || type_is_vector(front, type))
        return;
    uint32_t array = front_array_of_variable(front, front->clang.getCanonicalCursor(variable), &shape);
    if (array == UINT32_MAX) return;
    *value = (struct value){.kind = VALUE_POINTER, .array = array, .shape = shape};
    front_stored(front, array, INT64_MIN, type, value); /* its pointers may be any */
}

/* Whether a member shares its bytes with others: z->bits of struct { union { double *p; long bits; }; }. */
static int is_in_union(struct front *front, CXCursor target) {
    target = front_strip(front, target);
    while (front_kind(front, target) == CXCursor_MemberRefExpr) {
        CXCursor around = front->clang.getCursorSemanticParent(front->clang.getCursorReferenced(target));
        int anonymous = 1;
        while (anonymous && front_kind(front, around) != CXCursor_UnionDecl) {
            anonymous = front->clang.Cursor_isAnonymousRecordDecl(around) != 0;
            around = front->clang.getCursorSemanticParent(around);
        }
        if (anonymous) return 1;
        struct kids kids = object_of(front, target);
        if (!kids.count) return 0;
        target = front_strip(front, kids.item[0]);
    }
    return 0;
}

void front_note_store(struct front *front, CXCursor target, const struct place *place, const struct value *value) {
    CXType type = front_type(front, target);
    if (type_is_integer(type) && value->kind == VALUE_OPAQUE && is_in_union(front, target))
        type.kind = CXType_Pointer; /* its bytes may be those of a pointer */
    if (place->array != UINT32_MAX) front_stored(front, place->array, place->offset.constant, type, value);
    else if (place->opaque) front_store_anywhere(front, type, value);
}

void front_store(struct front *front, CXCursor target, const struct value *value, int read_first) {
    struct place place;
    front_place_of(front, target, &place);
    if (read_first) front_touch(front, target, &place, 0);
    if (place.opaque && read_first) front->gaps_muted++; /* report it only once */
    front_touch(front, target, &place, 1);
    if (place.opaque && read_first) front->gaps_muted--;
    front_note_store(front, target, &place, value);
    if (place.opaque || place.is_memory || place.array != UINT32_MAX) return;
    struct binding *binding = front_variable(front, place.variable);
    if (!binding) return;
    if (binding->counter) {
        front_gap(front, target, "the loop's variable %.60s is changed in the loop", front_name(front, place.variable));
        return;
    }
    struct value now = *value;
    CXType type = front_type(front, place.variable);
    if (type.kind == CXType_Pointer && now.kind == VALUE_POINTER) {
        struct shape shape;
        char reason[REASON_BYTES];
        if (front_shape_of_variable(front, place.variable, &shape, reason, sizeof reason))
            value_opaque(&now, "%s", reason);
        else front_reshape(front, &now, &shape); /* use the pointer type of the variable */
    } else if (type.kind == CXType_Pointer && now.kind == VALUE_OPAQUE && !front->at && now.is_fresh) {
        front_new_memory(front, place.variable);
        first_pointer(front, place.variable, &now); /* a separate array, like a pointer parameter */
    } else if (type.kind == CXType_Pointer ? now.kind == VALUE_NUMBER
                                           : !type_is_integer(type) || now.kind == VALUE_POINTER) {
        value_opaque(&now, "%.60s is not an integer", front_name(front, place.variable));
    }
    if ((binding = front_variable(front, place.variable)))
        front_bind(front, binding, &now); /* the list may have moved */
}
