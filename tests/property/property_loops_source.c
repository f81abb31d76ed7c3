/*
 * property_loops_source.c - the loop tree of a C file against the program itself.
 *
 * Every kernel of examples/loops and tests/loops/families is compiled without optimisation and with the
 * compiler's thread sanitizer instrumentation, whose calls (one for each load and
 * store of memory) end here instead of in the sanitizer. The loads and stores of
 * every byte of every array must be as many as the loop tree makes when it is
 * walked. That is independent of everything in the front end. The same for files
 * with everything the front end follows, in C and in C++, for OpenMP's constructs
 * as one thread runs them, and for random programs.
 */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/rng.h"
#include "loop_values.h"
#include "loops/front/c_source.h"

/* What the instrumented code touches: addresses of the arrays, counts by byte. */
struct watched {
    uintptr_t start;
    uint64_t bytes;
    uint32_t *reads, *writes; /* by first byte of the access */
};

static struct watched watched[64];
static uint32_t watched_count;
static uint64_t elsewhere;

__attribute__((unused)) static void touched(const void *address, int is_write) {
    for (uint32_t i = 0; i < watched_count; i++) {
        uintptr_t offset = (uintptr_t)address - watched[i].start;
        if (offset >= watched[i].bytes) continue;
        uint32_t *count = &(is_write ? watched[i].writes : watched[i].reads)[offset];
        __atomic_fetch_add(count, 1, __ATOMIC_RELAXED); /* num_threads makes threads */
        return;
    }
    __atomic_fetch_add(&elsewhere, 1, __ATOMIC_RELAXED);
}

#ifndef __SANITIZE_THREAD__ /* there the calls belong to the sanitizer */
#define HOOK(name, is_write)                                         \
    __attribute__((visibility("default"))) void name(void *address); \
    void name(void *address) { touched(address, is_write); }
HOOK(__tsan_read1, 0)
HOOK(__tsan_read2, 0)
HOOK(__tsan_read4, 0)
HOOK(__tsan_read8, 0)
HOOK(__tsan_read16, 0)
HOOK(__tsan_write1, 1)
HOOK(__tsan_write2, 1)
HOOK(__tsan_write4, 1)
HOOK(__tsan_write8, 1)
HOOK(__tsan_write16, 1)
HOOK(__tsan_unaligned_read2, 0)
HOOK(__tsan_unaligned_read4, 0)
HOOK(__tsan_unaligned_read8, 0)
HOOK(__tsan_unaligned_write2, 1)
HOOK(__tsan_unaligned_write4, 1)
HOOK(__tsan_unaligned_write8, 1)
__attribute__((visibility("default"))) void __tsan_init(void);
__attribute__((visibility("default"))) void __tsan_func_entry(void *);
__attribute__((visibility("default"))) void __tsan_func_exit(void *);
/* What the C library would copy: in words, as the tree has it. */
__attribute__((visibility("default"))) void *copy_words(void *to, const void *from, size_t bytes);
__attribute__((visibility("default"))) void *set_words(void *to, int value, size_t bytes);
void *copy_words(void *to, const void *from, size_t bytes) {
    for (size_t at = 0; at < bytes; at += 8) touched((const char *)from + at, 0), touched((char *)to + at, 1);
    return memmove(to, from, bytes);
}
void *set_words(void *to, int value, size_t bytes) {
    for (size_t at = 0; at < bytes; at += 8) touched((char *)to + at, 1);
    return memset(to, value, bytes);
}
void __tsan_init(void) {}
void __tsan_func_entry(void *caller) { (void)caller; }
void __tsan_func_exit(void *nothing) { (void)nothing; }
#endif

/* Takes off what the tree makes; below 0 wraps and is found. */
static void walk(const struct rsc_loop_node *node, int64_t *value) {
    int64_t first, trip;
    switch (node->kind) {
    case RSC_NODE_REFERENCE: {
        int64_t offset = rsc_affine_at(&node->offset, value, node->depth);
        if (!watched[node->array].reads) return; /* a private copy */
        assert_true(offset >= 0 && (uint64_t)offset < watched[node->array].bytes);
        (node->is_write ? watched[node->array].writes : watched[node->array].reads)[offset]--;
        return;
    }
    case RSC_NODE_LOOP:
        trip = loop_trip(node, value, &first);
        for (int64_t i = 0; i < trip; i++) {
            value[node->depth] = first + i * node->step;
            for (uint32_t c = 0; c < node->child_count; c++) walk(node->child[c], value);
        }
        return;
    case RSC_NODE_GUARD:
        if (!guard_holds(node, value)) return;
        break;
    default: break;
    }
    for (uint32_t c = 0; c < node->child_count; c++) walk(node->child[c], value);
}

/* What library has as PREFIX_of_NAME(); NULL: nothing. */
static void *asked(void *library, const char *prefix, const char *name) {
    char function[200];
    void *(*ask)(void);
    const char *dot = strrchr(name, '.'); /* FUNCTION.NAME */
    snprintf(function, sizeof function, "%s_of_%s", prefix, dot ? dot + 1 : name);
    *(void **)&ask = dlsym(library, function);
    return ask ? ask() : NULL;
}

static void watch_array(struct watched *one, const struct rsc_loop_array *array, void *library) {
    void *start = dlsym(library, array->name);
    *one = (struct watched){0}; /* of a private array nothing is compared */
    if (array->is_private) return;
    if (!start) start = asked(library, "elements", array->name);
    if (!start) fail_msg("no %s in the library", array->name);
    uint64_t bytes = array->bytes ? array->bytes : (uint64_t)(uintptr_t)asked(library, "bytes", array->name);
    assert_int_not_equal(bytes, 0);
    *one = (struct watched){(uintptr_t)start, bytes, calloc(bytes, 4), calloc(bytes, 4)};
    assert_true(one->reads && one->writes);
}

/* What is compared: how it is built from a source, and what else it may do. */
struct build {
    const char *compile, *link; /* formats of the source and the folder, of the folder and the object */
    int may_have_gaps;
    int may_touch_others; /* stacks, private copies, vectors' own pointers */
    int stays; /* threads of its run-time library do not end */
};

/* `static` goes, so that the arrays can be found by name; linked without the sanitizer's library. */
static const struct build plain_c = {.compile = "gcc -O0 -w -fPIC -fsanitize=thread -Dstatic= -c '%s' -o '%s/k.o'",
                                     .link = "gcc -shared -Wl,-Bsymbolic '%s/k.o' -lm -o '%s'"};

/* 1 if it was compared, 0 if the tree has gaps and may have, or assumes something. */
static int compare(const char *path, const struct rsc_loop_program *program, void *library, const struct build *build) {
    int64_t value[RSC_LOOP_DEPTH_MAX];
    void (*kernel)(void);
    for (uint32_t r = 0; r < program->region_count; r++)
        for (uint32_t g = 0; g < program->region[r].gap_count; g++) {
            const struct rsc_loop_gap *gap = &program->region[r].gap[g];
            if (build->may_have_gaps) return 0;
            if (!gap->assumed) fail_msg("%s:%u: %s", path, gap->line, gap->reason);
            if (!build->may_touch_others) return 0; /* how often depends on data */
        }
    *(void **)&kernel = dlsym(library, "kernel");
    assert_non_null(kernel);
    watched_count = program->array_count;
    assert_true(watched_count < 64); /* 0: then nothing may be touched */
    for (uint32_t i = 0; i < watched_count; i++) watch_array(&watched[i], &program->array[i], library);
    elsewhere = 0;
    kernel();
    for (uint32_t r = 0; r < program->region_count; r++) walk(program->region[r].root, value);
    for (uint32_t i = 0; i < watched_count; i++) {
        for (uint64_t b = 0; b < watched[i].bytes; b++)
            if (watched[i].reads[b] || watched[i].writes[b])
                fail_msg("%s: byte %llu of %s: %d more reads and %d more writes than the tree has", path,
                         (unsigned long long)b, program->array[i].name, (int)watched[i].reads[b],
                         (int)watched[i].writes[b]);
        free(watched[i].reads);
        free(watched[i].writes);
    }
    if (elsewhere && !build->may_touch_others)
        fail_msg("%s: %llu accesses that are of no array", path, (unsigned long long)elsewhere);
    watched_count = 0;
    return 1;
}

static char folder[] = "/tmp/reusescope-loops-XXXXXX";

/* `source` is compiled, `path` is read: the same, or one that the other includes. */
static int check_source(const char *path, const char *source, const struct build *build) {
    char command[2000], object[600];
    struct rsc_c_options options = {0};
    struct rsc_error error = {0};
    struct rsc_loop_program *program;
    char *text;
    size_t bytes;
    static unsigned number;
    snprintf(object, sizeof object, "%s/k%u.so", folder, number++); /* a name is loaded once only */
    snprintf(command, sizeof command, build->compile, source, folder);
    assert_int_equal(system(command), 0);
    snprintf(command, sizeof command, build->link, folder, object);
    assert_int_equal(system(command), 0);
    if (rsc_c_source_read(path, &options, &text, &bytes, &error)) fail_msg("%s", error.message);
    if (rsc_loop_text_read(text, bytes, path, NULL, 0, &program, &error)) fail_msg("%s", error.message);
    void *library = dlopen(object, RTLD_NOW | RTLD_LOCAL | (build->stays ? RTLD_NODELETE : 0));
    if (!library) fail_msg("%s", dlerror());
    int compared = compare(path, program, library, build);
    dlclose(library);
    unlink(object);
    free(text);
    rsc_loop_program_free(program);
    return compared;
}

static void check_kernels(const char *folder, int least) {
    char list[600], line[400], name[100], path[600];
    int count = 0;
    snprintf(list, sizeof list, "%s/%s/KERNELS", RSC_SOURCE_DIR, folder);
    FILE *kernels = fopen(list, "r");
    assert_non_null(kernels);
    while (fgets(line, sizeof line, kernels))
        if (line[0] != '#' && sscanf(line, "%99s", name) == 1) {
            snprintf(path, sizeof path, "%s/%s/%s.c", RSC_SOURCE_DIR, folder, name);
            count += check_source(path, path, &plain_c);
        }
    fclose(kernels);
    assert_true(count >= least);
}

static void test_kernels(void **state) {
    (void)state;
    check_kernels("examples/loops", 26);
    check_kernels("tests/loops/families", 24);
}

static void test_features(void **state) {
    (void)state;
    const char *path = RSC_SOURCE_DIR "/tests/loops/live_features.c";
    check_source(path, path, &plain_c);
}

/* Sections, thread numbers, reductions over arrays, copies: one thread runs them, but for num_threads. */
static void test_openmp(void **state) {
    static const struct build build = {
        .compile = "gcc -O0 -w -fPIC -fopenmp -fno-builtin -fsanitize=thread -c '%s' -o '%s/k.o'",
        .link = "gcc -shared -fopenmp -Wl,-Bsymbolic '%s/k.o' -o '%s'",
        .may_touch_others = 1,
        .stays = 1};
    char source[600];
    (void)state;
    snprintf(source, sizeof source, "%s/real.c", folder);
    FILE *file = fopen(source, "w");
    assert_non_null(file);
    fprintf(file,
            "#include <string.h>\n#define memset set_words\n#define memcpy copy_words\n#define memmove copy_words\n"
            "void *copy_words(void *, const void *, size_t), *set_words(void *, int, size_t);\n"
            "#include \"%s/tests/loops/real.c\"\n"
            "void kernel(void) { omp_set_num_threads(1); copies(1); constructs(); by_number(); histogram(); }\n",
            RSC_SOURCE_DIR);
    fclose(file);
    check_source(RSC_SOURCE_DIR "/tests/loops/real.c", source, &build);
    unlink(source);
}

static void test_containers(void **state) {
    static const struct build build = {.compile = "g++ -std=c++17 -O0 -w -fPIC -fsanitize=thread -c '%s' -o '%s/k.o'",
                                       .link = "g++ -shared -Wl,-Bsymbolic '%s/k.o' -lm -o '%s'",
                                       .may_touch_others = 1};
    const char *path = RSC_SOURCE_DIR "/tests/loops/live_containers.cc";
    (void)state;
    if (system("g++ --version > /dev/null 2>&1")) skip();
    check_source(path, path, &build);
}

/* Random programs: nests of loops over what is affine, in all the ways it can be written. */
struct maker {
    FILE *to;
    struct rsc_rng rng;
    int variables; /* v0.. in scope */
    int depth;
};

static int pick(struct maker *maker, int n) { return (int)rsc_rng_below(&maker->rng, (uint64_t)n); }

static void make_expression(struct maker *maker, int depth) {
    int kind = depth ? pick(maker, 12) : pick(maker, 3);
    if (kind < 2 && maker->variables) {
        fprintf(maker->to, "v%d", pick(maker, maker->variables));
        return;
    }
    if (kind < 3) {
        fprintf(maker->to, "%d", pick(maker, 9) - 4);
        return;
    }
    static const char *const open[] = {"(", "(", "MIN(", "MAX(", "least(", "("};
    static const char *const middle[] = {" + ", " - ", ", ", ", ", ", ", NULL};
    if (kind == 8) {
        fprintf(maker->to, "%d * ", pick(maker, 5) - 2);
        make_expression(maker, 0);
        return;
    }
    if (kind < 9) {
        int form = kind - 3;
        fputs(open[form], maker->to);
        make_expression(maker, depth - 1);
        fputs(middle[form], maker->to);
        make_expression(maker, depth - 1);
        fputs(")", maker->to);
        return;
    }
    static const char *const back[] = {" / 3)", " % 5)", " >> 1)", " & 7)", " / -2)", " % 2)"};
    fputs("(", maker->to);
    if (kind == 11) { /* a choice */
        make_expression(maker, 0);
        fputs(pick(maker, 2) ? " < " : " >= ", maker->to);
        make_expression(maker, 0);
        fputs(" ? ", maker->to);
        make_expression(maker, 0);
        fputs(" : ", maker->to);
        make_expression(maker, 0);
        fputs(")", maker->to);
        return;
    }
    make_expression(maker, 0);
    fputs(back[pick(maker, 6)], maker->to);
}

static void make_condition(struct maker *maker) {
    static const char *const signs[] = {" < ", " <= ", " > ", " >= ", " == ", " != "};
    int both = pick(maker, 4);
    make_expression(maker, 1);
    fputs(signs[pick(maker, 6)], maker->to);
    make_expression(maker, 0);
    if (both > 1) return;
    fputs(both ? " && " : " || ", maker->to);
    fprintf(maker->to, "(v%d + 8) %% 3 == 1", pick(maker, maker->variables));
}

/* Values stay within a few hundred: a and b have room on both sides. */
static void make_access(struct maker *maker, const char *array) {
    fprintf(maker->to, "%s[4096 + ", array);
    make_expression(maker, 2);
    fputs("]", maker->to);
}

static void make_statements(struct maker *maker, int count);

static void make_loop(struct maker *maker) {
    int v = maker->variables, down = pick(maker, 3) == 0, step = 1 + pick(maker, 3);
    maker->variables = maker->depth ? maker->variables : 0;
    fprintf(maker->to, "for (int v%d = ", v);
    make_expression(maker, 1);
    if (down) fprintf(maker->to, " + 4; v%d > ", v);
    else fprintf(maker->to, " - 4; v%d < ", v);
    make_expression(maker, 1);
    fprintf(maker->to, down ? " - 3; v%d -= %d) {\n" : " + 3; v%d += %d) {\n", v, step);
    maker->variables = v + 1;
    maker->depth++;
    make_statements(maker, 1 + pick(maker, 3));
    maker->depth--;
    maker->variables = v;
    fputs("}\n", maker->to);
}

static void make_statements(struct maker *maker, int count) {
    int variables = maker->variables;
    for (int i = 0; i < count; i++) {
        int kind = pick(maker, 10);
        if (kind < 3 && maker->depth < 3) {
            make_loop(maker);
        } else if (kind < 5) {
            fputs("if (", maker->to);
            make_condition(maker);
            fputs(pick(maker, 4) ? ") {\n" : ") continue;\n{\n", maker->to);
            make_access(maker, "b");
            fputs(" = 1;\n} ", maker->to);
            if (pick(maker, 2)) fputs("\n", maker->to);
        } else if (kind == 5 && maker->variables < 6) {
            fprintf(maker->to, "int v%d = ", maker->variables);
            make_expression(maker, 1);
            fprintf(maker->to, ";\n");
            maker->variables++;
            if (pick(maker, 2)) {
                fputs("if (", maker->to);
                make_condition(maker);
                fprintf(maker->to, ") v%d = ", maker->variables - 1);
                make_expression(maker, 0);
                fputs(";\n", maker->to);
            }
        } else {
            make_access(maker, "a");
            fputs(pick(maker, 2) ? " += " : " = ", maker->to);
            make_access(maker, "b"); /* of another array: gcc makes 2 * x of x + x */
            fputs(";\n", maker->to);
        }
    }
    maker->variables = variables;
}

static void test_random_programs(void **state) {
    const char *from = getenv("RSC_SEED"), *rounds = getenv("RSC_ROUNDS");
    uint64_t seed = from ? strtoull(from, NULL, 0) : 7;
    int compared = 0, programs = rounds ? atoi(rounds) : 12;
    char path[600];
    (void)state;
    struct build maybe = plain_c;
    maybe.may_have_gaps = 1;
    for (int i = 0; i < programs; i++) {
        struct maker maker = {0};
        rsc_rng_seed(&maker.rng, seed, (uint64_t)i);
        snprintf(path, sizeof path, "%s/random%d.c", folder, i);
        if (!(maker.to = fopen(path, "w"))) fail_msg("%s", path);
        fprintf(maker.to,
                "/* seed %llu, program %d */\n#define MIN(x, y) ((x) < (y) ? (x) : (y))\n#define MAX(x, y) ((x) > (y) "
                "? (x) : (y))\n"
                "static double a[8192], b[8192];\nstatic int least(int x, int y) { return x < y ? x : y; }\nvoid "
                "kernel(void) {\n",
                (unsigned long long)seed, i);
        for (int n = 0; n < 2; n++) make_loop(&maker);
        fputs("}\n", maker.to);
        fclose(maker.to);
        compared += check_source(path, path, &maybe);
    }
    printf("seed %llu: %d of %d random programs compared\n", (unsigned long long)seed, compared, programs);
    assert_true(compared * 2 >= programs);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kernels), cmocka_unit_test(test_features),
                                       cmocka_unit_test(test_openmp), cmocka_unit_test(test_containers),
                                       cmocka_unit_test(test_random_programs)};
    struct rsc_error error;
    char command[200];
#ifdef __SANITIZE_THREAD__
    return printf("skipped: the thread sanitizer's own calls are in the way\n"), 77;
#endif
    if (rsc_c_source_check(&error)) return printf("skipped: %s\n", error.message), 77;
    if (system("gcc --version > /dev/null 2>&1")) return printf("skipped: gcc is missing\n"), 77;
    if (!mkdtemp(folder)) return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return (getenv("RSC_KEEP") ? 0 : system(command)) || failed;
}
