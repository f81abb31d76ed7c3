/*
 * clang_vector.c - how many elements a std::vector has.
 *
 * The size of a variable is known from its declaration, resize(), assign() and assignments outside of loops. Whatever
 * else may change it (other methods, a call that takes it by reference, code that may not run) makes it unknown until it
 * is set again. Of a vector whose address is taken, or that a lambda changes, it is never known.
 */
#include <string.h>

#include "base/grow.h"
#include "loops/front/clang_front.h"

#define CALLS_MAX 6u /* followed, one in another, for changes of an argument */

/* The variable that an expression names; auto &w = v: w is v. A null cursor for other expressions. */
static CXCursor vector_of(struct front *front, CXCursor expression) {
    for (int links = 0; links < 16; links++) {
        expression = front_strip(front, expression);
        if (front_kind(front, expression) != CXCursor_DeclRefExpr ||
            !type_is_vector(front, front_type(front, expression)))
            break;
        CXCursor variable = front->clang.getCanonicalCursor(front->clang.getCursorReferenced(expression));
        CXType type = front->clang.getCanonicalType(front->clang.getCursorType(variable));
        if (type.kind != CXType_LValueReference || front_kind(front, variable) != CXCursor_VarDecl) return variable;
        expression = front->clang.Cursor_getVarDeclInitializer(variable);
        if (front->clang.Cursor_isNull(expression)) break;
    }
    return front->clang.getNullCursor();
}

static struct front_size *size_of(struct front *front, CXCursor variable) {
    variable = front->clang.getCanonicalCursor(variable);
    for (size_t i = 0; i < front->size_count; i++)
        if (front->clang.equalCursors(front->sizes[i].variable, variable)) return &front->sizes[i];
    if (RSC_GROW(front->sizes, front->size_room, front->size_count + 1)) return front_no_memory(front), NULL;
    front->sizes[front->size_count] = (struct front_size){.variable = variable, .count = -1};
    return &front->sizes[front->size_count++];
}

int64_t front_vector_count(struct front *front, CXCursor object) {
    CXCursor variable = vector_of(front, object);
    if (front->clang.Cursor_isNull(variable)) return -1;
    struct front_size *size = size_of(front, variable);
    return size && !size->escapes ? size->count : -1;
}

static void set_count(struct front *front, CXCursor variable, int64_t count) {
    struct front_size *size = front->clang.Cursor_isNull(variable) ? NULL : size_of(front, variable);
    if (size) size->count = front->at ? -1 : count;
}

static int64_t number_of(struct front *front, CXCursor expression) {
    struct value value;
    int64_t count;
    if (!type_is_integer(front_type(front, front_strip(front, expression)))) return -1;
    front_eval(front, expression, &value);
    return value_is_constant(&value, &count) ? count : -1;
}

/* Elements of a vector that an expression makes: another one, {a, b}, std::vector<double>(n). -1: not known. */
static int64_t count_of(struct front *front, CXCursor expression) {
    expression = front_strip(front, expression);
    struct kids kids = front_kids(front, expression);
    enum CXCursorKind kind = front_kind(front, expression);
    if (kind == CXCursor_DeclRefExpr) return front_vector_count(front, expression);
    if (kind == CXCursor_InitListExpr) return kids.count;
    if (kind == CXCursor_CXXFunctionalCastExpr && kids.count) return count_of(front, kids.item[kids.count - 1]);
    if (kind != CXCursor_CallExpr || !type_is_vector(front, front_type(front, expression))) return -1;
    int count = front->clang.Cursor_getNumArguments(expression);
    if (count < 1) return -1;
    const char *name = front_name(front, expression);
    CXCursor first = front->clang.Cursor_getArgument(expression, 0);
    if (!strcmp(name, "move") && count == 1) return count_of(front, first);
    if (strcmp(name, "vector")) return -1;
    int64_t elements = count_of(front, first);
    return elements >= 0 ? elements : number_of(front, first);
}

void front_vector_declare(struct front *front, CXCursor variable, CXCursor start) {
    set_count(front, variable, count_of(front, start));
}

/* The object of a call of a method, v.resize(9); a null cursor for other calls. */
static CXCursor object_of(struct front *front, CXCursor call) {
    struct kids kids = front_kids(front, call);
    CXCursor callee = front->clang.getNullCursor();
    if (kids.count && front_kind(front, kids.item[0]) == CXCursor_MemberRefExpr) callee = kids.item[0];
    if (front->clang.Cursor_isNull(callee)) return callee;
    kids = front_kids(front, callee);
    return kids.count ? kids.item[0] : front->clang.getNullCursor();
}

static int keeps_size(const char *method) {
    static const char *const names[] = {"size",   "data",          "at",       "begin",        "end",
                                        "rbegin", "rend",          "cbegin",   "cend",         "crbegin",
                                        "crend",  "front",         "back",     "capacity",     "reserve",
                                        "empty",  "shrink_to_fit", "max_size", "get_allocator"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i], method)) return 1;
    return 0;
}

/* What a search for changes does with them. */
struct changes {
    int escape;        /* they may happen at any time */
    CXCursor variable; /* not null: only finds those of this one, and forgets nothing */
    const struct changes *caller; /* the search that this one is part of; NULL: none */
};

static enum CXChildVisitResult look_for_change(struct front *front, CXCursor cursor, void *context);

/* Whether a call may change the vector that is its argument i. */
static int may_change(struct front *front, CXCursor call, int i, const struct changes *caller) {
    CXCursor callee = front->clang.getCursorReferenced(call);
    int count = front->clang.Cursor_getNumArguments(call);
    if (front->clang.Cursor_isNull(callee)) return 1;
    int parameters = front->clang.Cursor_getNumArguments(callee);
    /* an operator that is a method has its object as the first argument: v = w changes it, v[i] does not */
    if (count > parameters && parameters >= 0) i -= count - parameters;
    if (i < 0) return strcmp(front_name(front, call), "operator[]") != 0;
    if (i >= parameters) return 1;
    CXCursor parameter = front->clang.Cursor_getArgument(callee, (unsigned)i);
    CXType type = front->clang.getCanonicalType(front->clang.getCursorType(parameter));
    if (type.kind != CXType_LValueReference && type.kind != CXType_RValueReference) return 0;
    if (front->clang.isConstQualifiedType(front->clang.getPointeeType(type))) return 0;
    CXCursor definition = front->clang.getCursorDefinition(callee);
    if (front->clang.Cursor_isNull(definition) || front_kind(front, definition) != CXCursor_FunctionDecl ||
        front->clang.Location_isInSystemHeader(front->clang.getCursorLocation(definition)))
        return 1;
    struct changes of = {.variable =
                             front->clang.getCanonicalCursor(front->clang.Cursor_getArgument(definition, (unsigned)i)),
                         .caller = caller};
    unsigned calls = 0;
    for (; caller; caller = caller->caller, calls++)
        if (front->clang.equalCursors(caller->variable, of.variable)) return 0; /* being searched: it calls itself */
    return calls > CALLS_MAX || front_finds(front, front_body(front, definition), look_for_change, &of);
}

/* Pointers into elements of a vector that may be others now: v.swap(w), v = ..., v.resize(9). */
static void forget_pointers_into(struct front *front, uint32_t holder, CXCursor variable) {
    struct value value;
    for (size_t i = 0; i < front->binding_count; i++) {
        struct binding *binding = &front->binding[i];
        uint32_t array = binding->value.kind == VALUE_POINTER ? binding->value.array : UINT32_MAX;
        uint32_t held_by = array == UINT32_MAX ? UINT32_MAX : front->origin[array].holder;
        if (held_by == UINT32_MAX ||
            (held_by != holder && !front->clang.equalCursors(front->origin[held_by].variable, variable)))
            continue;
        value_opaque(&value, "%.60s points to elements that were exchanged or replaced",
                     front_name(front, binding->variable));
        front_bind(front, binding, &value);
    }
}

static void exchanged(struct front *front, CXCursor object) {
    struct place place;
    if (front->clang.Cursor_isNull(object) || !type_is_vector(front, front_type(front, front_strip(front, object))))
        return;
    size_t made = front->pending_count;
    front_place_of(front, object, &place);
    front->pending_count = made;
    if (!place.opaque && place.array != UINT32_MAX)
        forget_pointers_into(front, place.array, front->clang.getNullCursor());
}

void front_vector_exchange(struct front *front, CXCursor call, const char *name) {
    if (!front->is_cxx || (strcmp(name, "swap") && strcmp(name, "operator="))) return;
    exchanged(front, object_of(front, call));
    for (int i = 0; i < front->clang.Cursor_getNumArguments(call); i++)
        exchanged(front, front->clang.Cursor_getArgument(call, (unsigned)i));
}

static int take_change(struct front *front, CXCursor variable, const struct changes *changes) {
    if (front->clang.Cursor_isNull(variable)) return 0;
    if (!front->clang.Cursor_isNull(changes->variable))
        return front->clang.equalCursors(changes->variable, variable) != 0;
    struct front_size *size = size_of(front, variable);
    if (size) {
        size->count = -1;
        size->escapes |= changes->escape;
    }
    if (!changes->escape) forget_pointers_into(front, UINT32_MAX, variable);
    return 0;
}

static int is_address(struct front *front, CXCursor cursor) {
    return front_kind(front, cursor) == CXCursor_UnaryOperator &&
           front->clang.getCursorUnaryOperatorKind(cursor) == CXUnaryOperator_AddrOf;
}

static enum CXChildVisitResult look_for_change(struct front *front, CXCursor cursor, void *context) {
    const struct changes *changes = context;
    int found = 0;
    if (is_address(front, cursor)) {
        struct kids kids = front_kids(front, cursor);
        if (kids.count == 1) found = take_change(front, vector_of(front, kids.item[0]), changes);
    }
    if (front_kind(front, cursor) == CXCursor_CallExpr) {
        CXCursor object = object_of(front, cursor);
        if (!front->clang.Cursor_isNull(object) && !keeps_size(front_name(front, cursor)))
            found |= take_change(front, vector_of(front, object), changes);
        for (int i = 0; i < front->clang.Cursor_getNumArguments(cursor); i++) {
            CXCursor passed = vector_of(front, front->clang.Cursor_getArgument(cursor, (unsigned)i));
            if (!front->clang.Cursor_isNull(passed) && may_change(front, cursor, i, changes))
                found |= take_change(front, passed, changes);
        }
    }
    return found ? CXChildVisit_Break : CXChildVisit_Recurse;
}

void front_vector_forget(struct front *front, CXCursor tree) {
    struct changes all = {.variable = front->clang.getNullCursor()};
    if (front->is_cxx) front_finds(front, tree, look_for_change, &all);
}

static enum CXChildVisitResult look_for_escape(struct front *front, CXCursor cursor, void *context) {
    if (front_kind(front, cursor) != CXCursor_LambdaExpr && !is_address(front, cursor)) return CXChildVisit_Recurse;
    front_finds(front, cursor, look_for_change, context);
    return CXChildVisit_Continue;
}

void front_vector_escapes(struct front *front, CXCursor tree) {
    struct changes always = {.escape = 1, .variable = front->clang.getNullCursor()};
    if (front->is_cxx) front_finds(front, tree, look_for_escape, &always);
}

void front_vector_forget_globals(struct front *front) {
    for (size_t i = 0; i < front->size_count; i++)
        if (!front_is_local(front, front->sizes[i].variable)) front->sizes[i].count = -1;
}

void front_vector_run(struct front *front, CXCursor statement) {
    if (!front->is_cxx) return;
    CXCursor call = front_strip(front, statement), target = front->clang.getNullCursor();
    int64_t count = -1;
    if (front_kind(front, call) == CXCursor_CallExpr) { /* counted before anything is moved away */
        const char *name = front_name(front, call);
        int arguments = front->clang.Cursor_getNumArguments(call);
        int sizes = (!strcmp(name, "resize") && arguments) || (!strcmp(name, "assign") && arguments == 2);
        if (!strcmp(name, "operator=") && arguments == 2) {
            target = front->clang.Cursor_getArgument(call, 0);
            count = count_of(front, front->clang.Cursor_getArgument(call, 1));
        } else if (!strcmp(name, "clear")) {
            target = object_of(front, call);
            count = 0;
        } else if (sizes) {
            target = object_of(front, call);
            count = number_of(front, front->clang.Cursor_getArgument(call, 0));
        }
        if (!front->clang.Cursor_isNull(target)) target = vector_of(front, target);
    }
    front_vector_forget(front, statement);
    set_count(front, target, count);
}
