/*
 * clang_front.h - what the files of the C front end share.
 *
 * The front end runs over the syntax tree once, in the order of execution, and
 * keeps for every integer or pointer variable what its value is in terms of the
 * loop variables. Three ideas carry it:
 *
 * - A value is a number (affine, a floored quotient, or the least or largest of
 *   several such), a pointer into an array, or opaque with a reason.
 * - Quotients that are needed inside other expressions become `let` loops of one
 *   iteration at the place where the tree is being built (front->at).
 * - Where a value or the flow depends on a comparison that cannot be decided, the
 *   statement is run once for each outcome, each under its own guard
 *   (front_paths). References of a statement are collected first and written
 *   behind all guards and lets it needed, so their order stays.
 *
 * What does not fit is a gap: reported with its place and reason, left out.
 */
#ifndef RSC_LOOPS_FRONT_CLANG_FRONT_H
#define RSC_LOOPS_FRONT_CLANG_FRONT_H

#include "loops/tree/affine.h"
#include "loops/front/c_pragma.h"
#include "loops/front/c_source.h"
#include "loops/front/clang_load.h"

#define FRONT_TERMS_MAX 8
#define REASON_BYTES 160
#define FRONT_DECISIONS_MAX 10 /* comparisons one statement may depend on: up to 1024 copies of it */
#define FRONT_CALLS_MAX 16
#define FRONT_NESTING_MAX 400 /* of expressions and statements; compilers themselves do not go much deeper */

enum value_kind { VALUE_NUMBER, VALUE_POINTER, VALUE_OPAQUE };
enum value_join { JOIN_ONE, JOIN_MIN, JOIN_MAX };

/* The target of a pointer: rows of rows of elements. extent[0] is 0 if not known. */
struct shape {
    uint32_t rank;
    uint64_t extent[RSC_LOOP_RANK_MAX];
    int64_t element_bytes;
    CXType element;
};

struct value {
    enum value_kind kind;
    /* NUMBER: of several terms the least or the largest; roundings are NONE or FLOOR. */
    enum value_join join;
    uint32_t count;
    struct rsc_loop_term term[FRONT_TERMS_MAX];
    /* POINTER */
    uint32_t array;
    struct rsc_affine offset; /* bytes */
    struct shape shape;
    /* OPAQUE */
    int is_fresh; /* a pointer to memory that nothing else points to: malloc() */
    int of_loops; /* no data in it: it follows from loop variables and numbers, but is not affine */
    char reason[REASON_BYTES];
};

/* A variable and its current value; for an array, a pointer to its start. */
struct binding {
    CXCursor variable;
    struct value value;
    int counter;       /* variable of a loop being built: must not be assigned to */
    int address_taken; /* may change through its address: its value is not tracked */
    int is_reference;  /* C++: the value is a pointer to what it refers to */
    int is_argument;   /* parameter of an inlined function: a name for a value, not in memory */
    int in_parallel;   /* declared inside a parallel construct: private to each thread */
};

struct undo {
    size_t index;
    struct value value;
};

/* Where an array came from. */
struct origin {
    CXCursor variable;
    int is_private;
    int is_pointer; /* the variable itself, a pointer: what it points to is another array */
    uint32_t holder; /* array that holds the pointer, or UINT32_MAX */
    int64_t holder_offset;
    int initial_checked;  /* for pointers in its initial value */
    int pointers_stored;  /* pointers were stored in it that may point anywhere */
    unsigned declared_at; /* byte offset of the declaration, for the order */
};

struct pending {
    uint32_t array;
    int is_write;
    uint32_t size_bytes;
    struct rsc_affine offset;
    const char *file, *text;
    unsigned line;
};

/* A call outside loops: the numbers passed, for static functions without other callers. */
struct known_call {
    CXCursor function;
    unsigned parameter;
    int64_t value;
    int differs; /* calls differ, or it is not a number */
    unsigned calls;
};

struct paths {
    unsigned count, cursor;
    unsigned char choice[FRONT_DECISIONS_MAX];
    struct rsc_loop_node *start; /* common start of all paths: no condition may be added to it */
};

/* Bytes that a loop reads or writes from a place on. */
struct front_span {
    uint32_t array;
    int is_write;
    struct rsc_affine offset;
};

/* reduction(+: hist[0:N]) */
struct front_reduction {
    CXCursor variable;
    struct shape shape;
    struct front_span shared;
    struct rsc_affine bytes;
};

/* firstprivate(a, b): arrays of which each thread has a copy. */
struct front_copies {
    struct front_reduction item[8];
    unsigned count;
    const char *bad; /* one that is not supported; NULL: none */
};

/* C++: a std::vector that was declared or resized outside of loops. */
struct front_size {
    CXCursor variable;
    int64_t count; /* -1: not known */
    int escapes;   /* a pointer or a lambda may change it at any time: never known */
};

/* double (*a)[m]: the shape with the values that its extents had where the variable was declared. */
struct front_extents {
    CXCursor variable;
    struct shape shape;
    char reason[REASON_BYTES]; /* why it is not known; "": it is */
};

/* What a name in the directive at byte `at` means. */
struct front_named {
    unsigned at;
    const char *name;
    CXCursor variable; /* null: nothing of that name */
};

struct front {
    struct rsc_clang clang;
    CXCursor tree; /* all of the source */
    struct front_named *named;
    size_t named_count, named_room;
    struct front_extents *extents; /* of variable arrays of the function and those it calls */
    size_t extents_count, extents_room;
    const struct rsc_c_options *options;
    const char *text; /* preprocessed source */
    size_t bytes;
    struct rsc_omp_list omp;
    struct rsc_arena arena;
    struct rsc_loop_program *program;
    const char *main_file; /* presumed name */
    const char *function;  /* being analysed */
    int out_of_memory;
    int nesting;

    struct binding *binding;
    size_t binding_count, binding_room;
    struct undo *undo;
    size_t undo_count, undo_room;
    struct origin *origin; /* [program->array_count] */
    size_t origin_room;

    /* The region being built; at is NULL outside of one. */
    uint32_t region;
    uint32_t function_arrays; /* program->array_count where this function began */
    uint32_t function_region; /* program->region_count when the last region of this function was added */
    struct rsc_loop_node *at;
    struct pending *pending;
    size_t pending_count, pending_room;
    size_t touches; /* references collected so far */
    struct paths *paths;
    unsigned stores; /* arrays in which known pointers were stored */
    CXType stored[16]; /* types of pointers that the function stored in memory that is not known */
    unsigned stored_count;
    int stored_any; /* pointers of any type */
    CXCursor *escaped; /* variables outside of functions whose address is taken somewhere in the source */
    size_t escaped_count, escaped_room;
    int flushed; /* references of the current statement were already written */

    const char *variable[RSC_LOOP_DEPTH_MAX + 1];
    int64_t least[RSC_LOOP_DEPTH_MAX + 1], most[RSC_LOOP_DEPTH_MAX + 1];
    struct rsc_affine *known; /* each >= 0 here */
    size_t known_count, known_room;

    struct rsc_omp *omp_stack[8]; /* enclosing constructs, for private names */
    unsigned omp_depth;
    struct rsc_omp *omp_after; /* the directive being processed: those before a statement are processed in order */
    int in_parallel, in_share, in_single;
    const struct front_reduction *reduction; /* of the construct being built; NULL: none */
    const struct front_copies *copies; /* likewise, until they are written */
    const struct rsc_loop_node *thread; /* loop whose variable is the thread's number; NULL: not known */
    int64_t team;    /* threads of the parallel construct; 0: not known */
    int by_number;   /* it splits its work by the threads' numbers */
    int at_body;      /* statements of a loop's own body: a continue there skips the rest of the block */
    int in_subscript; /* scalars there are counters, not data */
    int collecting;   /* first pass: only collects calls and their arguments */
    struct known_call *known_call;
    size_t known_call_count, known_call_room;
    struct {
        CXCursor parameter;
        int64_t value;
    } passed[64]; /* arguments of the analysed function that are the same in all calls */
    unsigned passed_count;
    const struct front_object *object; /* of the method that is inlined; NULL: of the analysed function */
    struct place *returned;            /* where an inlined function's reference leads; NULL: it returns a value */
    CXCursor calls[FRONT_CALLS_MAX];
    unsigned call_depth;
    CXCursor *inlined; /* functions that are part of an analysed region */
    size_t inlined_count, inlined_room;
    size_t inlined_before; /* the region being built */
    int gaps_muted;
    int trials; /* bodies being run aside, one in another */
    int is_cxx;
    struct front_size *sizes; /* of std::vectors */
    size_t size_count, size_room;
    int no_chance; /* nothing in memory depends on the condition: no assumption about it is needed */
};

struct kids {
    CXCursor *item;
    unsigned count;
};

/* clang_cursor.c: the syntax tree. */
struct kids front_kids(struct front *front, CXCursor cursor);
CXCursor front_strip(struct front *front, CXCursor cursor); /* parentheses, implicit conversions, _Generic */
CXCursor front_designated(struct front *front, CXCursor item); /* x of .member = x and [i] = x; else item */
CXCursor front_generic(struct front *front, CXCursor generic); /* clang_generic.c: its branch; null: not known */
enum CXCursorKind front_kind(struct front *front, CXCursor cursor);
const char *front_name(struct front *front, CXCursor cursor); /* in the arena */
void front_extent(struct front *front, CXCursor cursor, unsigned *start, unsigned *end);
const char *front_source(struct front *front, CXCursor cursor);   /* source text, one line, shortened */
int front_same_text(struct front *front, CXCursor a, CXCursor b); /* ignores spaces */
void front_place(struct front *front, CXCursor cursor, const char **file, unsigned *line);
CXType front_type(struct front *front, CXCursor cursor); /* canonical; of a reference, of what it refers to */
int front_is_for(struct front *front, CXCursor statement); /* for (;;) or for (:) */
int type_is_integer(CXType type);
int type_is_unsigned(CXType type);
int type_is_array(CXType type);
int type_is_floating(CXType type);
int front_constant(struct front *front, CXCursor cursor, int64_t *value); /* by the compiler; 0 if not constant */
void front_gap(struct front *front, CXCursor cursor, const char *format, ...) __attribute__((format(printf, 3, 4)));
void front_assumption(struct front *front, CXCursor cursor, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int front_no_memory(struct front *front);
CXCursor front_body(struct front *front, CXCursor function); /* its compound statement; null cursor: none */
/* Whether `look` finds what it looks for in a tree: Break is found, Continue passes over what is below. */
typedef enum CXChildVisitResult front_look(struct front *front, CXCursor cursor, void *context);
int front_finds(struct front *front, CXCursor tree, front_look *look, void *context);

/* clang_value.c: arithmetic on values. */
void value_number(struct value *value, const struct rsc_affine *affine);
void value_constant(struct value *value, int64_t number);
void value_opaque(struct value *value, const char *format, ...) __attribute__((format(printf, 2, 3)));
int value_is_of_loops(const struct value *value); /* a number, or opaque without data in it */
int value_is_constant(const struct value *value, int64_t *number);
void value_add(struct front *front, struct value *into, const struct value *more, int sign);
void value_multiply(struct front *front, struct value *into, const struct value *by);
void value_divide(struct front *front, struct value *into, int64_t by);       /* towards 0, as C */
void value_floor_divide(struct front *front, struct value *into, int64_t by); /* by > 0 */
void value_remainder(struct front *front, struct value *into, int64_t by);    /* as C */
void value_join(struct front *front, struct value *into, const struct value *other, enum value_join join);
/* Converts to one affine expression, with lets and guards as needed; -1 and *value opaque if impossible. */
int value_affine(struct front *front, struct value *value, struct rsc_affine *affine);
int front_value_range(const struct front *front, const struct value *value, int64_t *least, int64_t *most);
int front_proved(const struct front *front, const struct rsc_affine *affine); /* >= 0 for sure */
int front_know(struct front *front, const struct rsc_affine *affine, int64_t scale, int64_t add);
/* Returns 1 or 0, splitting the statement if undecided; -1: too many cases. */
int front_decide(struct front *front, enum rsc_condition_kind kind, const struct rsc_affine *affine, int64_t modulus);
const char *front_fresh_name(struct front *front, const char *wish);
uint32_t front_depth(const struct front *front); /* loops around what is added at front->at */

/* clang_bind.c: variables and arrays. */
struct binding *front_variable(struct front *front, CXCursor variable); /* bound on first sight; NULL: out of memory */
void front_bind(struct front *front, struct binding *binding, const struct value *value);
void front_forget_assigned(struct front *front, CXCursor tree, const char *why);
/* clang_cxx.c: argument i of a call, if that may change a number or pointer through a reference; else a null cursor. */
CXCursor front_changed_argument(struct front *front, CXCursor call, int i);
void front_forget_globals(struct front *front, CXCursor call); /* for a call of a function not in the source */
void front_find_addresses(struct front *front, CXCursor body);
void front_find_escaped(struct front *front); /* in the whole source */
void front_lose_escaped(struct front *front, CXType type); /* something of this type is stored through a pointer */
int front_assigns_variable(struct front *front, CXCursor tree, CXCursor variable);
int front_assigns_counters(struct front *front, CXCursor statement);
void front_forget_references(struct front *front, CXCursor call); /* variables that it may change by reference */
int front_shape_of_variable(struct front *front, CXCursor variable, struct shape *shape, char *reason, size_t room);
void front_declare_shape(struct front *front, CXCursor variable); /* evaluates its extents, if they are variable */
int front_shape_of_type(struct front *front, CXType type, struct shape *shape); /* -1: a row's size is not known */
/* Gives a pointer the shape that its new type has; opaque if that is at another address of an object. */
void front_reshape(struct front *front, struct value *pointer, const struct shape *shape);
int64_t front_row_bytes(const struct shape *shape); /* of one step of the first subscript; -1: too large */
uint32_t front_array_of_variable(struct front *front, CXCursor variable, const struct shape *shape);
uint32_t front_array_of_pointer(struct front *front, uint32_t holder, int64_t offset, const char *name,
                                const struct shape *shape);
void front_sort_arrays(struct front *front);
int front_setting(struct front *front, const char *name, int64_t *value); /* a number from the command line: 1 or 0 */
void front_undo_to(struct front *front, size_t mark);

/* clang_access.c: the memory an expression accesses. */
struct place {
    int is_memory; /* else a scalar variable */
    CXCursor variable; /* if it is a scalar */
    uint32_t array;
    struct rsc_affine offset;
    struct shape shape; /* rank 0: an element */
    int opaque;
    char reason[REASON_BYTES];
};
void front_place_of(struct front *front, CXCursor cursor, struct place *place);
/* The class that the analysed function is a method of, and its object, one per class; a null cursor: of none. */
CXCursor front_owner(struct front *front, struct place *place);
void front_object_place(struct front *front, CXCursor cursor, int points, struct place *place); /* of *p, or of s */
void front_touch(struct front *front, CXCursor cursor, const struct place *place, int is_write);
void front_load(struct front *front, CXCursor cursor, struct value *value);
void front_store(struct front *front, CXCursor target, const struct value *value, int read_first);
/* A variable that is a copy of a structure, whose members are in registers: its value. Nothing for others. */
void front_copied_structure(struct front *front, CXCursor variable, struct value *value);

/* clang_pointer.c: what pointers may point to. */
/*
 * Whether a function that is not followed returns memory that nothing else points to: declared so, or by its name, unless
 * it is passed memory that it may return.
 */
int front_allocates(struct front *front, CXCursor call, CXCursor callee, const char *name);
/* A function's result, if it points to memory that it allocated: other memory in every call. */
void front_return_fresh(struct front *front, CXCursor definition, struct value *value);
/* A pointer variable gets new memory: other pointers to the old memory keep that. */
void front_new_memory(struct front *front, CXCursor variable);
/* A value of this type is stored in an array: pointers that are loaded from it may then be any. */
void front_stored(struct front *front, uint32_t array, int64_t offset, CXType type, const struct value *value);
/* A value is stored at a place, which may be opaque. */
void front_note_store(struct front *front, CXCursor target, const struct place *place, const struct value *value);
void front_store_anywhere(struct front *front, CXType type,
                          const struct value *value); /* at a place that is not known */
int front_may_be_stored(struct front *front, CXType type); /* whether pointers of this type were stored so */
void front_store_values(struct front *front, CXCursor variable, CXCursor start); /* initial values of a structure */
void front_check_initial(struct front *front, uint32_t array); /* what initial values stored in it */
void front_pointer_plus(struct front *front, struct value *pointer, struct value *number, int sign);
void front_pointer_difference(struct front *front, struct value *left, const struct value *right);
/* Whether a variable is declared in a function, method or lambda; others may change in any call that is not followed. */
int front_is_local(struct front *front, CXCursor variable);
/* The first value of a global pointer. Returns 0 if it has none. */
int front_first_pointer(struct front *front, CXCursor variable, struct value *value);

/* Applies one subscript, or (NULL) a dereference. */
void front_step_in(struct front *front, struct place *place, CXCursor *index);

/* clang_cxx.c: what C++ adds. The first two return 1 if the call is about a container. */
int front_cxx_place(struct front *front, CXCursor call, struct place *place);
int front_cxx_call(struct front *front, CXCursor call, const char *name, struct value *value);
int front_cxx_declare(struct front *front, CXCursor variable, CXCursor start); /* 1: declared */
int front_exchange(struct front *front, CXCursor call, const char *name); /* std::swap of scalars: 1 */
int front_is_reference(struct front *front, CXCursor variable);
int front_takes_reference(struct front *front, CXCursor parameter); /* to something in memory */
/* Whether a type is an array of known length or a std::array, and of what; `element` and `count` may be NULL. */
int front_elements_of_type(struct front *front, CXType type, CXType *element, int64_t *count);
void front_bind_reference(struct front *front, CXCursor variable, CXCursor to);

/* clang_method.c: calls of methods, and of functions that return references. */
struct front_object {
    struct place place;
    const char *text; /* "grid->", before the names of members */
};
/* The definition of a function or method that is inlined where it is called; a null cursor: it is not. */
CXCursor front_followed(struct front *front, CXCursor callee);
int front_returns_reference(struct front *front, CXCursor function);
/* A structure passed by value that the function only reads: its members are those of the argument, if that is a variable. */
void front_same_structure(struct front *front, CXCursor definition, unsigned i, CXCursor argument, struct value *value);
/* Whether the first argument of a call is the object: of an operator. */
int front_object_first(struct front *front, CXCursor call, CXCursor method);
/* Returns 1 and the object, or 0: none, or that of the analysed function. */
int front_object_of_call(struct front *front, CXCursor call, CXCursor method, struct front_object *object);
void front_eval_this(struct front *front, struct value *value);
/* What a method that is not followed may have changed: the pointers in its object, and in structures passed by reference. */
void front_object_changes(struct front *front, CXCursor call);
/* The text of an expression; a member of the object has its name before it. */
const char *front_text(struct front *front, CXCursor cursor);

/* clang_class.c: whether a pointer to one class is the same address as one to the other, a base of it or unrelated. */
int front_same_start(struct front *front, CXType from, CXType to);
int front_holds_array(struct front *front, CXType type); /* a structure or class */
/* What a call copies, a plain structure: that of a constructor or of operator=. A null cursor for other calls. */
CXCursor front_copied(struct front *front, CXCursor call);
void front_note_ends(struct front *front, CXCursor statement); /* objects whose destructors run in a statement: a gap */

/* clang_vector.c: how many elements a std::vector has. */
int type_is_vector(struct front *front, CXType type); /* clang_cxx.c */
int64_t front_vector_count(struct front *front, CXCursor object); /* -1: not known */
void front_vector_declare(struct front *front, CXCursor variable, CXCursor start);
void front_vector_run(struct front *front, CXCursor statement); /* what an expression outside of loops changes */
void front_vector_forget(struct front *front, CXCursor tree); /* sizes that may change somewhere in it */
void front_vector_exchange(struct front *front, CXCursor call, const char *name); /* a call that is not followed */
void front_vector_forget_globals(struct front *front);
void front_vector_escapes(struct front *front, CXCursor tree); /* those that pointers and lambdas may change */

/* clang_skip.c: code that is not run. */
void front_skip(struct front *front, CXCursor tree, const char *why); /* forgets what it may change */
void front_find_stores(struct front *front, CXCursor body); /* of numbers and pointers, through pointers */

/* clang_init.c: writes the initial values of a local array; a gap if they cannot be read. */
void front_initialise(struct front *front, CXCursor variable, CXCursor start);

/* clang_expr.c */
void front_eval(struct front *front, CXCursor cursor, struct value *value);
void front_convert(struct front *front, CXType to, struct value *value); /* opaque if the value may not fit */
int front_has_references(struct front *front, CXCursor cursor);
int front_touches_memory(struct front *front, CXCursor cursor);

/* clang_condition.c */
int front_is_comparison(enum CXBinaryOperatorKind op);
int front_condition(struct front *front, CXCursor cursor, char *reason, size_t room); /* 1, 0, or -1 with the reason */
int front_unsigned_negative(struct front *front, CXCursor side, const struct value *value); /* may it be compared so? */
/* A comparison as a number, 1 or 0: what `left` becomes. */
void front_truth(struct front *front, enum CXBinaryOperatorKind op, CXCursor sides[2], struct value *left,
                 struct value *right);

/* clang_assert.c: code that ends the program does not run. */
struct kids front_if_kids(struct front *front, CXCursor statement); /* without declarations: if (int n = 9; n > k) */
/* Which way a condition must go if one branch of an if statement or ?: ends the program; -1: no branch does. */
int front_asserts(struct front *front, CXCursor statement);
void front_assume(struct front *front, CXCursor condition, int holds); /* the references of a condition that holds */

/*
 * clang_chance.c: a condition that depends on data, as an assumption. The references it made are pending[made] and
 * after. Returns 1 or 0, or -1 if it cannot be assumed.
 */
int front_chance(struct front *front, CXCursor condition, size_t made, const char *reason);
/*
 * The same for a condition without data in it, which is never assumed by itself: only where the command line has a share
 * for its line. Returns -1 with the reason else.
 */
int front_given_chance(struct front *front, CXCursor condition, size_t made, char *reason, size_t room);

/* clang_copy.c */
/* Adds the loop over `bytes` bytes of each; -1 if it does not fit the tree. */
int front_copy(struct front *front, CXCursor cursor, const char *text, const struct front_span *span, unsigned count,
               const struct rsc_affine *bytes);
/* memcpy, memmove and memset. Returns 1 if it is one of them. */
int front_copy_call(struct front *front, CXCursor call, const char *name, struct value *value);

/* clang_reduce.c: reading the clause of a construct (-1: not supported) while its array is still the shared one, and
 * running the construct with it. */
int front_reduction_read(struct front *front, const struct rsc_omp *omp, CXCursor statement,
                         struct front_reduction *reduction);
void front_reduce(struct front *front, struct rsc_omp *omp, CXCursor statement);
/* The same for the arrays of firstprivate. */
int front_copies_read(struct front *front, const struct rsc_omp *omp, CXCursor statement, struct front_copies *copies);
void front_copies_write(struct front *front, CXCursor statement);

/* clang_call.c */
void front_call(struct front *front, CXCursor call, struct value *value);
int front_call_place(struct front *front, CXCursor call,
                     struct place *place); /* what it refers to; 0: it is not followed */
int front_call_is_pure(struct front *front, CXCursor call); /* accesses only its arguments */
/*
 * Whether a call is of the known function that has its name, not of a user's own: one with a body in the source, a method
 * or a function of a namespace is the user's. So is one that is declared by hand with pointers where the known one takes
 * numbers.
 */
int front_is_known(struct front *front, CXCursor call, int takes_pointers);
int front_is_library(struct front *front, CXCursor definition); /* C++'s own, which is known by name */
int front_is_aligned_allocation(struct front *front, CXCursor call); /* posix_memalign() */

/* clang_stmt.c */
void front_statement(struct front *front, CXCursor statement);
void front_paths(struct front *front, void (*body)(struct front *front, void *data), void *data);
void front_flush(struct front *front);
void front_simple(struct front *front, CXCursor statement); /* within the paths of the enclosing statement */

/* clang_loop.c */
void front_for(struct front *front, CXCursor statement, const struct rsc_omp *share);
int front_runs_once(struct front *front, CXCursor statement); /* do { } while (0), without break and continue */
/* A while or do loop that counts after all. Returns 0, or -1 with the reason and nothing done. */
int front_while(struct front *front, CXCursor statement, char *reason, size_t room);

/* clang_omp.c */
struct rsc_omp *front_omp_before(struct front *front, unsigned start);
void front_construct(struct front *front, struct rsc_omp *omp, CXCursor statement);
/* Barriers between two places; `beside`: a statement near them, for messages. */
void front_standalone(struct front *front, unsigned from, unsigned to, CXCursor beside);
int front_thread_call(struct front *front, const char *name,
                      struct value *value); /* 1: the thread's number or how many */
int front_omp_number(struct front *front, const struct rsc_omp *omp, const struct rsc_omp_number *number,
                     int64_t *value);

/* clang_scope.c: the variable or constant that a name in a directive means; null: none. */
CXCursor front_named(struct front *front, const struct rsc_omp *omp, const char *name);
int front_means(struct front *front, const struct rsc_omp *omp, const char *name, CXCursor variable);

/* clang_region.c */
void front_function(struct front *front, CXCursor function); /* or a variable that is a lambda */
int front_is_lambda(struct front *front, CXCursor variable);
int front_was_inlined(struct front *front, CXCursor function); /* into a region without gaps */
/* A function that is not analysed: its first loop becomes a region with this gap. */
void front_leave_out(struct front *front, CXCursor function, const char *why);
/* The number that all `calls` calls of a function pass for a parameter. Returns 1, or 0 if there is none. */
int front_passed(struct front *front, CXCursor function, unsigned parameter, unsigned calls, int64_t *value);

#endif
