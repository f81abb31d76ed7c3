/*
 * clang_call.c - calls: functions whose body is in the source are inlined, those of
 * the math library touch no memory, all others are gaps.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "loops/front/clang_front.h"

/* Functions without side effects or memory references, each with a blank after it; a suffix f or l is allowed. */
static const char pure[] =
    "abs acos acosh asin asinh atan atan2 atanh cabs carg cbrt ceil cexp cimag clog conj copysign cos cosh cpow cproj "
    "creal csqrt erf erfc exp exp2 expm1 fabs "
    "fdim floor fma fmax fmin fmod hypot isnan isinf labs ldexp lgamma log log10 log1p log2 lrint lround "
    "nearbyint omp_get_max_threads omp_get_num_threads omp_get_thread_num omp_get_wtime pow rint round "
    "sin sinh sqrt tan tanh tgamma trunc ";

static int is_pure(const char *name) {
    size_t length = strlen(name), bare = length && strchr("fl", name[length - 1]) ? length - 1 : length;
    for (const char *at = pure, *end; (end = strchr(at, ' ')); at = end + 1) {
        size_t known = (size_t)(end - at);
        if ((known == length || known == bare) && !strncmp(name, at, known)) return 1;
    }
    return 0;
}

/* The standard library's inline functions are known by name, not followed. */
int front_is_library(struct front *front, CXCursor definition) {
    return front->is_cxx && front->clang.Location_isInSystemHeader(front->clang.getCursorLocation(definition));
}

/* The function that is called: also that of the branch which _Generic chooses, _Generic(x, double: f)(x). */
static CXCursor callee_of(struct front *front, CXCursor call) {
    CXCursor callee = front->clang.getCursorReferenced(call);
    struct kids kids = front_kids(front, call);
    if (!front->clang.Cursor_isNull(callee) || !kids.count) return callee;
    CXCursor function = front_strip(front, kids.item[0]);
    return front_kind(front, function) == CXCursor_DeclRefExpr ? front->clang.getCursorReferenced(function) : callee;
}

static int takes_only_numbers(struct front *front, CXCursor function) {
    for (int i = 0; i < front->clang.Cursor_getNumArguments(function); i++) {
        CXType type = front_type(front, front->clang.Cursor_getArgument(function, (unsigned)i));
        if (!type_is_integer(type) && !type_is_floating(type)) return 0;
    }
    return 1;
}

int front_is_known(struct front *front, CXCursor call, int takes_pointers) {
    CXCursor callee = callee_of(front, call);
    if (front->clang.Cursor_isNull(callee) || !strncmp(front_name(front, callee), "__builtin_", 10)) return 1;
    if (front_kind(front, callee) != CXCursor_FunctionDecl) return 0; /* a method, or a pointer to a function */
    CXCursor definition = front->clang.getCursorDefinition(callee);
    if (!front->clang.Cursor_isNull(definition)) return front_is_library(front, definition);
    if (front->clang.Location_isInSystemHeader(front->clang.getCursorLocation(callee))) return 1;
    enum CXCursorKind holder = front_kind(front, front->clang.getCursorSemanticParent(callee));
    return (holder == CXCursor_TranslationUnit || holder == CXCursor_LinkageSpec) &&
           (takes_pointers || takes_only_numbers(front, callee));
}

/* A prefetch is not counted as a reference; loading its address may be some. */
static int is_prefetch(const char *name) {
    return !strcmp(name, "__builtin_prefetch") || !strcmp(name, "_mm_prefetch");
}

int front_call_is_pure(struct front *front, CXCursor call) {
    const char *name = front_name(front, call);
    if (is_prefetch(name)) return front_is_known(front, call, 1);
    return is_pure(strncmp(name, "__builtin_", 10) ? name : name + 10) && front_is_known(front, call, 0);
}

/* Strips casts and parentheses down to an integer expression. */
static CXCursor integer_inside(struct front *front, CXCursor cursor) {
    for (;;) {
        cursor = front_strip(front, cursor);
        if (front_kind(front, cursor) != CXCursor_CStyleCastExpr) return cursor;
        struct kids kids = front_kids(front, cursor);
        if (!kids.count) return cursor;
        cursor = kids.item[kids.count - 1];
    }
}

static void divide_rounded(struct front *front, struct value *value, const struct value *divisor, int up) {
    struct value more;
    int64_t by;
    if (!value_is_constant(divisor, &by) || by < 1) {
        value_opaque(value, "the divisor is not a positive number");
        return;
    }
    value_constant(&more, by - 1);
    if (up) value_add(front, value, &more, 1);
    value_floor_divide(front, value, by);
}

/* floor((double)(n) / (double)(d)), as polyhedral compilers write floord. Returns 1 if it matches. */
static int rounded_quotient(struct front *front, CXCursor argument, int up, struct value *value) {
    CXCursor division = integer_inside(front, argument);
    struct kids kids = front_kids(front, division);
    struct value divisor;
    if (front_kind(front, division) != CXCursor_BinaryOperator || kids.count != 2 ||
        front->clang.getCursorBinaryOperatorKind(division) != CXBinaryOperator_Div ||
        !type_is_floating(front_type(front, division)))
        return 0;
    CXCursor above = integer_inside(front, kids.item[0]), below = integer_inside(front, kids.item[1]);
    if (!type_is_integer(front_type(front, above)) || !type_is_integer(front_type(front, below))) return 0;
    front_eval(front, above, value);
    front_eval(front, below, &divisor);
    divide_rounded(front, value, &divisor, up);
    return 1;
}

/* floord, ceild, min and max without a declaration. Returns 1 if it is one of them. */
static int by_its_name(struct front *front, const char *name, CXCursor call, struct value *value) {
    int up = !strcmp(name, "ceild"), down = !strcmp(name, "floord"), least = !strcmp(name, "min"),
        most = !strcmp(name, "max");
    struct value other;
    if ((!up && !down && !least && !most) || front->clang.Cursor_getNumArguments(call) != 2) return 0;
    front_eval(front, front->clang.Cursor_getArgument(call, 0), value);
    front_eval(front, front->clang.Cursor_getArgument(call, 1), &other);
    if ((least || most) && (front_unsigned_negative(front, front->clang.Cursor_getArgument(call, 0), value) ||
                            front_unsigned_negative(front, front->clang.Cursor_getArgument(call, 1), &other))) {
        value_opaque(value, "an unsigned number could be negative");
        return 1;
    }
    if (least || most) {
        value_join(front, value, &other, least ? JOIN_MIN : JOIN_MAX);
        return 1;
    }
    divide_rounded(front, value, &other, up);
    return 1;
}

static enum CXChildVisitResult look_for_return(struct front *front, CXCursor cursor, void *context) {
    (void)context;
    return front_kind(front, cursor) == CXCursor_ReturnStmt ? CXChildVisit_Break : CXChildVisit_Recurse;
}

static int contains_return(struct front *front, CXCursor statement) {
    return front_finds(front, statement, look_for_return, NULL);
}

/* What is returned; of a comparison or the like, 1 or 0 in each case of the caller's statement. */
static void run_return(struct front *front, CXCursor result, struct value *value) {
    CXCursor inner = front_strip(front, result);
    enum CXBinaryOperatorKind op = front->clang.getCursorBinaryOperatorKind(inner);
    struct place *returned = front->returned;
    if (returned) {
        front->returned = NULL;
        front_place_of(front, result, returned);
        front->returned = returned;
        return;
    }
    int truth = front_is_comparison(op) || op == CXBinaryOperator_LAnd || op == CXBinaryOperator_LOr ||
                front->clang.getCursorUnaryOperatorKind(inner) == CXUnaryOperator_LNot;
    char reason[REASON_BYTES];
    if (!truth || front_has_references(front, inner)) return front_eval(front, result, value);
    front->no_chance++;
    int holds = front_condition(front, inner, reason, sizeof reason);
    front->no_chance--;
    if (holds < 0) value_opaque(value, "%s", reason);
    else value_constant(value, holds);
}

/* Runs statements of an inlined body. Returns 1 when a return ended it. */
static int run_statement(struct front *front, CXCursor statement, struct value *value);

static int run_branch(struct front *front, CXCursor statement, struct value *value) {
    struct kids kids = front_kids(front, statement);
    char reason[REASON_BYTES];
    int holds = front_condition(front, kids.item[0], reason, sizeof reason);
    if (holds < 0) {
        front_gap(front, statement, "a return under a condition that is not affine: %.100s", reason);
        value_opaque(value, "%s", reason);
        return 1;
    }
    if (holds) return run_statement(front, kids.item[1], value);
    return kids.count > 2 ? run_statement(front, kids.item[2], value) : 0;
}

/* Those of a block, and the barriers between them. */
static int run_statements(struct front *front, CXCursor block, struct value *value) {
    struct kids kids = front_kids(front, block);
    unsigned from, end, start, stop;
    front_extent(front, block, &from, &end);
    for (unsigned i = 0; i < kids.count && !front->out_of_memory; i++, from = stop) {
        front_extent(front, kids.item[i], &start, &stop);
        front_standalone(front, from, start, kids.item[i]);
        if (run_statement(front, kids.item[i], value)) return 1;
    }
    front_standalone(front, from, end, block);
    return 0;
}

static int run_statement(struct front *front, CXCursor statement, struct value *value) {
    struct kids kids = front_kids(front, statement);
    switch ((int)front_kind(front, statement)) {
    case CXCursor_ReturnStmt:
        if (kids.count) run_return(front, kids.item[0], value);
        return 1;
    case CXCursor_NullStmt: return 0;
    case CXCursor_CompoundStmt:
        if (!contains_return(front, statement)) break;
        return run_statements(front, statement, value);
    case CXCursor_IfStmt:
        if (contains_return(front, statement) && kids.count >= 2) return run_branch(front, statement, value);
        break;
    case CXCursor_DeclStmt: front_simple(front, statement); return 0;
    default:
        if (front->clang.isExpression(front_kind(front, statement))) {
            front_simple(front, statement);
            return 0;
        }
        break;
    }
    if (contains_return(front, statement)) {
        front_gap(front, statement, "a return in the middle of a loop");
        value_opaque(value, "a return in the middle of a loop");
        return 1;
    }
    front_flush(front);
    front->flushed = 1; /* the rest of the enclosing statement can no longer be split */
    front_statement(front, statement);
    return 0;
}

static void bind_parameters(struct front *front, CXCursor definition, const struct value *arguments, int count) {
    for (int i = 0; i < count; i++) {
        CXCursor parameter = front->clang.Cursor_getArgument(definition, (unsigned)i);
        front_declare_shape(front, parameter);
        struct binding *binding = front_variable(front, parameter);
        struct value value = arguments[i];
        struct shape shape;
        char reason[REASON_BYTES];
        CXType type = front_type(front, parameter);
        if (!binding) return;
        if (front_takes_reference(front, parameter)) continue;
        if (type_is_integer(type)) {
            if (value.kind == VALUE_POINTER) value_opaque(&value, "a pointer is used as a number");
            front_convert(front, type, &value);
        } else if (value.kind == VALUE_POINTER) {
            if (front_shape_of_variable(front, parameter, &shape, reason, sizeof reason))
                value_opaque(&value, "%s", reason);
            else front_reshape(front, &value, &shape);
        } else if (value.kind == VALUE_NUMBER) {
            value_opaque(&value, "%.60s is not an integer", front_name(front, parameter));
        } else {
            front_copied_structure(front, parameter, &value);
        }
        value.is_fresh = 0; /* the parameter points there */
        if ((binding = front_variable(front, parameter))) {
            front_bind(front, binding, &value);
            binding->in_parallel = front->in_parallel;
            binding->is_argument = 1;
        }
    }
}

/* `returned`: where its reference leads; NULL if its value is wanted. */
static void inlined(struct front *front, CXCursor call, CXCursor definition, struct value *value,
                    struct place *returned) {
    CXCursor body = front_body(front, definition);
    int at = front_object_first(front, call, definition);
    int count = front->clang.Cursor_getNumArguments(call) - at,
        parameters = front->clang.Cursor_getNumArguments(definition);
    for (unsigned i = 0; i < front->call_depth; i++)
        if (front->clang.equalCursors(front->calls[i], definition)) {
            front_gap(front, call, "%.60s calls itself", front_name(front, definition));
            return;
        }
    if (front->call_depth == FRONT_CALLS_MAX || count != parameters ||
        front_kind(front, body) != CXCursor_CompoundStmt) {
        front_gap(front, call, "a call of %.60s that cannot be inlined", front_name(front, definition));
        return;
    }
    struct value *arguments = rsc_arena_alloc(&front->arena, ((size_t)count + 1) * sizeof *arguments);
    if (!arguments) {
        front_no_memory(front);
        return;
    }
    struct front_object object;
    const struct front_object *caller = front->object;
    struct place *outer = front->returned;
    front->returned = NULL;
    int has_object = front_object_of_call(front, call, definition, &object);
    for (int i = 0; i < count; i++)
        if (!front_takes_reference(front, front->clang.Cursor_getArgument(definition, (unsigned)i))) {
            CXCursor argument = front->clang.Cursor_getArgument(call, (unsigned)(i + at));
            front_eval(front, argument, &arguments[i]);
            front_same_structure(front, definition, (unsigned)i, argument, &arguments[i]);
        }
    for (int i = 0; i < count; i++) {
        CXCursor parameter = front->clang.Cursor_getArgument(definition, (unsigned)i);
        if (front_takes_reference(front, parameter))
            front_bind_reference(front, parameter, front->clang.Cursor_getArgument(call, (unsigned)(i + at)));
    }
    if (has_object) front->object = &object;
    front->returned = returned;
    front->calls[front->call_depth++] = definition;
    if (front->at && !front->gaps_muted && !front->trials && !front_was_inlined(front, definition) &&
        !RSC_GROW(front->inlined, front->inlined_room, front->inlined_count + 1))
        front->inlined[front->inlined_count++] = front->clang.getCanonicalCursor(definition);
    bind_parameters(front, definition, arguments, count);
    front_find_addresses(front, body);
    int in_subscript = front->in_subscript;
    front->in_subscript = 0;
    value_opaque(value, "%.60s does not return an integer", front_name(front, definition));
    run_statements(front, body, value);
    if (value->kind == VALUE_NUMBER) /* the type it is returned as */
        front_convert(front,
                      front->clang.getCanonicalType(front->clang.getResultType(front->clang.getCursorType(definition))),
                      value);
    front_return_fresh(front, definition, value);
    front->object = caller;
    front->returned = outer;
    front->in_subscript = in_subscript;
    front->call_depth--;
}

/*
 * References to numbers are not followed. Whether an element of an array is passed by one to a function that changes it.
 * Variables that are passed so are forgotten (front_forget_assigned()).
 */
static int changes_elements(struct front *front, CXCursor call, CXCursor definition) {
    int at = front_object_first(front, call, definition);
    for (int i = at; i < front->clang.Cursor_getNumArguments(call); i++) {
        CXCursor argument = front_changed_argument(front, call, i);
        if (!front->clang.Cursor_isNull(argument) && front_kind(front, argument) != CXCursor_DeclRefExpr &&
            front_assigns_variable(front, front_body(front, definition),
                                   front->clang.Cursor_getArgument(definition, (unsigned)(i - at))))
            return 1;
    }
    return 0;
}

/*
 * A function that is not followed may store a pointer that it is passed in a structure that it is passed. Returns whether
 * no argument depends on data.
 */
static int evaluate_arguments(struct front *front, CXCursor call) {
    int count = front->clang.Cursor_getNumArguments(call), data = 0, of_loops = 1;
    struct value *values = rsc_arena_alloc(&front->arena, ((size_t)(count < 0 ? 0 : count) + 1) * sizeof *values);
    if (!values) {
        front_no_memory(front);
        return 0;
    }
    for (int i = 0; i < count; i++) {
        front_eval(front, front->clang.Cursor_getArgument(call, (unsigned)i), &values[i]);
        of_loops &= value_is_of_loops(&values[i]);
        data |= values[i].kind == VALUE_POINTER && values[i].shape.element.kind != CXType_Record;
    }
    for (int i = 0; i < count && data; i++)
        if (values[i].kind == VALUE_POINTER && !front->clang.isConstQualifiedType(values[i].shape.element))
            front_stored(front, values[i].array, INT64_MIN, values[i].shape.element, &values[i]);
    return of_loops;
}

int front_is_aligned_allocation(struct front *front, CXCursor call) {
    return !strcmp(front_name(front, call), "posix_memalign") && front->clang.Cursor_getNumArguments(call) == 3 &&
           front_is_known(front, call, 1);
}

/* posix_memalign(&p, ALIGNMENT, BYTES) before the loops: p has new memory. Returns 1 if it is that. */
static int new_aligned_memory(struct front *front, CXCursor call, struct value *value) {
    if (front->at || !front_is_aligned_allocation(front, call)) return 0;
    CXCursor target = front_strip(front, front->clang.Cursor_getArgument(call, 0));
    struct kids kids = front_kids(front, target);
    while (front_kind(front, target) == CXCursor_CStyleCastExpr && kids.count) {
        target = front_strip(front, kids.item[kids.count - 1]);
        kids = front_kids(front, target);
    }
    if (front_kind(front, target) != CXCursor_UnaryOperator || kids.count != 1 ||
        front->clang.getCursorUnaryOperatorKind(target) != CXUnaryOperator_AddrOf)
        return 0;
    value->is_fresh = 1;
    front_store(front, kids.item[0], value, 0);
    value_constant(value, 0); /* no error */
    return 1;
}

/* A function whose name says what it does. Returns 1 if it is one. */
static int known_call(struct front *front, CXCursor call, const char *name, struct value *value) {
    int count = front->clang.Cursor_getNumArguments(call);
    if ((!strcmp(name, "floor") || !strcmp(name, "ceil")) && count == 1 && front_is_known(front, call, 0) &&
        rounded_quotient(front, front->clang.Cursor_getArgument(call, 0), name[0] == 'c', value))
        return 1;
    if (new_aligned_memory(front, call, value)) return 1;
    if (front_is_known(front, call, 0) &&
        (by_its_name(front, name, call, value) || front_thread_call(front, name, value)))
        return 1;
    return front_is_known(front, call, 1) && front_copy_call(front, call, name, value);
}

static void follow(struct front *front, CXCursor call, CXCursor definition, struct value *value,
                   struct place *returned) {
    inlined(front, call, definition, value, returned);
    front_forget_references(front, call);
    if (front->is_cxx && changes_elements(front, call, definition))
        front_gap(front, call, "%.60s changes a number through a reference, which is not followed",
                  front_name(front, definition));
}

int front_call_place(struct front *front, CXCursor call, struct place *place) {
    CXCursor definition = front_followed(front, callee_of(front, call));
    struct value value;
    if (!front->is_cxx || front->clang.Cursor_isNull(definition) || !front_returns_reference(front, definition))
        return 0;
    *place = (struct place){.array = UINT32_MAX, .opaque = 1};
    snprintf(place->reason, sizeof place->reason, "what %.60s returns is not known", front_name(front, definition));
    follow(front, call, definition, &value, place);
    return 1;
}

void front_call(struct front *front, CXCursor call, struct value *value) {
    CXCursor callee = callee_of(front, call);
    const char *name = front_name(front, call);
    int count = front->clang.Cursor_getNumArguments(call);
    if (!*name && !front->clang.Cursor_isNull(callee)) name = front_name(front, callee);
    value_opaque(value, "the result of %.60s is not known", name);
    if (is_prefetch(name) && front_is_known(front, call, 1)) {
        for (int i = 0; i < count; i++) front_eval(front, front->clang.Cursor_getArgument(call, (unsigned)i), value);
        return;
    }
    int is_builtin = !strncmp(name, "__builtin_", 10);
    if (is_builtin) name += 10;
    if (is_builtin && (!strcmp(name, "expect") || !strcmp(name, "assume_aligned")) && count > 0) {
        front_eval(front, front->clang.Cursor_getArgument(call, 0), value);
        return;
    }
    if (front_cxx_call(front, call, name, value)) return;
    if (front_exchange(front, call, name)) return;
    if (!count && front_kind(front, callee) == CXCursor_Constructor && front->clang.isPODType(front_type(front, call)))
        return; /* makes a plain structure, without values */
    CXCursor copied = front_copied(front, call);
    if (!front->clang.Cursor_isNull(copied)) { /* a = b of structures */
        front_eval(front, copied, value);
        front_store(front, front->clang.Cursor_getArgument(call, 0), value, 0);
        return;
    }
    CXCursor definition = front_followed(front, callee);
    if (!front->clang.Cursor_isNull(definition)) {
        struct place place;
        if (!front->is_cxx || !front_returns_reference(front, definition))
            return follow(front, call, definition, value, NULL);
        if (front_type(front, call).kind != CXType_Record) return front_load(front, call, value);
        if (front_call_place(front, call, &place) && place.opaque) front_gap(front, call, "%s", place.reason);
        return;
    }
    if (known_call(front, call, name, value)) return;
    int of_loops = evaluate_arguments(front, call);
    front_forget_references(front, call);
    if (is_pure(name) && front_is_known(front, call, 0)) {
        value->of_loops = of_loops && strncmp(name, "omp_", 4); /* those depend on the time and the threads */
        return;
    }
    front_vector_exchange(front, call, name);
    front_object_changes(front, call);
    value->is_fresh = front_allocates(front, call, callee, name);
    if (!value->is_fresh && front_type(front, call).kind == CXType_Pointer)
        value_opaque(
            value, "the result of %.40s is not known (if it allocates, declare it with __attribute__((malloc)))", name);
    front_gap(front, call,
              front_kind(front, callee) == CXCursor_CXXMethod ? "a call of the method %.60s, which is not followed"
                                                              : "a call of %.60s, whose body is not in the source",
              name);
    front_forget_globals(front, call);
}
