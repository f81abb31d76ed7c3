/*
 * clang_init.c - the initial values of local arrays: double w[4] = {1, 2}, std::array<double, 4> w{}, and copies of one.
 *
 * Values are evaluated and written one after the other, in the order of the list; elements without a value are then
 * set to zero as memset() would. Braces inside may be left out, as the language allows.
 */
#include <string.h>

#include "loops/front/clang_front.h"

#define VALUES_MAX 4096u

struct list {
    struct kids kids;
    unsigned at;
};

struct filled {
    struct front *front;
    CXCursor variable;
    struct place place; /* of the whole array */
    int64_t end;        /* bytes that have their values */
    unsigned values;
};

static int is_designated(struct front *front, CXCursor cursor) {
    unsigned start, end;
    front_extent(front, cursor, &start, &end);
    return start < front->bytes && front->text[start] == '[';
}

static struct rsc_affine offset_of(const struct filled *filled, int64_t offset) {
    struct rsc_affine whole = filled->place.offset;
    whole.constant += offset;
    return whole;
}

/* Elements that no value was given for, up to `end`. */
static int fill_rest(struct filled *filled, int64_t end) {
    struct front_span span = {filled->place.array, 1, offset_of(filled, filled->end)};
    struct rsc_affine bytes = rsc_affine_number(end - filled->end);
    if (end <= filled->end) return 0;
    filled->end = end;
    return front_copy(filled->front, filled->variable, front_name(filled->front, filled->variable), &span, 1, &bytes);
}

static int fill(struct filled *filled, CXType type, int64_t offset, struct list *list);

/* The elements of an array, while the list has values. */
static int fill_elements(struct filled *filled, CXType element, int64_t count, int64_t offset, struct list *list) {
    int64_t step = filled->front->clang.Type_getSizeOf(element);
    for (int64_t i = 0; i < count && list->at < list->kids.count; i++)
        if (fill(filled, element, offset + i * step, list)) return -1;
    return 0;
}

/* An object with braces of its own. */
static int fill_from_braces(struct filled *filled, CXType type, int64_t offset, CXCursor braces) {
    struct front *front = filled->front;
    struct list list = {.kids = front_kids(front, braces)};
    CXType element;
    int64_t count;
    if (!list.kids.count) return 0;
    if (!front_elements_of_type(front, type, &element, &count)) return fill(filled, type, offset, &list);
    CXCursor only = front_strip(front, list.kids.item[0]);
    if (!type_is_array(type) && list.kids.count == 1 && front_kind(front, only) == CXCursor_InitListExpr)
        list.kids = front_kids(front, only); /* a std::array has an array inside, whose braces may be there */
    return fill_elements(filled, element, count, offset, &list) || list.at < list.kids.count ? -1 : 0;
}

/* One object of `type` at `offset` from the next values of the list; -1 for what is not read. */
static int fill(struct filled *filled, CXType type, int64_t offset, struct list *list) {
    struct front *front = filled->front;
    CXType element;
    int64_t count, bytes = front->clang.Type_getSizeOf(type);
    if (bytes < 1 || list->at >= list->kids.count || is_designated(front, list->kids.item[list->at])) return -1;
    CXCursor item = front_strip(front, list->kids.item[list->at]);
    enum CXCursorKind kind = front_kind(front, item);
    if (kind == CXCursor_InitListExpr) {
        list->at++;
        return fill_from_braces(filled, type, offset, item) || fill_rest(filled, offset + bytes) ? -1 : 0;
    }
    if (front_elements_of_type(front, type, &element, &count)) {
        if (kind == CXCursor_StringLiteral) {
            list->at++;
            return fill_rest(filled, offset + bytes);
        }
        if (front_elements_of_type(front, front_type(front, item), NULL, NULL)) return -1;
        return fill_elements(filled, element, count, offset, list);
    }
    if (type.kind == CXType_Record || ++filled->values > VALUES_MAX) return -1;
    struct value value;
    struct place place = filled->place;
    front_eval(front, list->kids.item[list->at++], &value);
    place.is_memory = 1;
    place.offset = offset_of(filled, offset);
    place.shape = (struct shape){.element = type, .element_bytes = bytes};
    front_touch(front, filled->variable, &place, 1);
    front_stored(front, place.array, place.offset.constant, type, &value);
    filled->end = offset + bytes;
    return 0;
}

/* std::array<double, 4> w = z: the same bytes. */
static int copy(struct filled *filled, CXCursor from, int64_t bytes) {
    struct place place;
    struct rsc_affine length = rsc_affine_number(bytes);
    front_place_of(filled->front, from, &place);
    if (place.opaque || place.array == UINT32_MAX || bytes < 1) return -1;
    front_stored(filled->front, filled->place.array, INT64_MIN, front_type(filled->front, filled->variable),
                 &(struct value){.kind = VALUE_POINTER});
    struct front_span span[2] = {{place.array, 0, place.offset}, {filled->place.array, 1, filled->place.offset}};
    return front_copy(filled->front, filled->variable, front_source(filled->front, filled->variable), span, 2, &length);
}

void front_initialise(struct front *front, CXCursor variable, CXCursor start) {
    struct filled filled = {.front = front, .variable = variable};
    struct binding *binding = front_variable(front, variable);
    CXType type = front_type(front, variable);
    int status = -1;
    if (!front->at || !binding || front->clang.Cursor_getStorageClass(variable) == CX_SC_Static) return;
    if (binding->value.kind == VALUE_POINTER) {
        struct value value = binding->value;
        start = front_strip(front, start);
        struct kids kids = front_kids(front, start);
        enum CXCursorKind kind = front_kind(front, start);
        if (kind == CXCursor_CallExpr && !kids.count && front->clang.isPODType(type)) return; /* without a value */
        filled.place = (struct place){.array = value.array, .offset = value.offset, .shape = value.shape};
        if (value.array == UINT32_MAX) filled.place.array = front_array_of_variable(front, variable, &value.shape);
        if (filled.place.array == UINT32_MAX) return;
        if (kind == CXCursor_InitListExpr || kind == CXCursor_StringLiteral) {
            struct list list = {.kids = {&start, 1}};
            status = fill(&filled, type, 0, &list);
        } else if (kind != CXCursor_CallExpr || kids.count == 1) {
            status = copy(&filled, kind == CXCursor_CallExpr ? kids.item[0] : start, front->clang.Type_getSizeOf(type));
        }
    }
    if (status) front_gap(front, variable, "the initial values of %.60s", front_name(front, variable));
}
