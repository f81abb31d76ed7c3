/*
 * property_loops_source.c - the loop tree of a C file against the program itself.
 *
 * Every kernel of examples/loops is compiled without optimisation and with the
 * compiler's thread sanitizer instrumentation, whose calls (one for each load and
 * store of memory) end here instead of in the sanitizer. The loads and stores of
 * every byte of every array must be as many as the loop tree makes when it is
 * walked. That is independent of everything in the front end.
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

#include "loops/c_source.h"

/* What the instrumented code touches: addresses of the arrays, counts by byte. */
struct watched {
    uintptr_t start;
    uint64_t bytes;
    uint32_t *reads, *writes; /* by first byte of the access */
};

static struct watched watched[64];
static uint32_t watched_count;
static uint64_t elsewhere;

static void touched(const void *address, int is_write) {
    for (uint32_t i = 0; i < watched_count; i++) {
        uintptr_t offset = (uintptr_t)address - watched[i].start;
        if (offset >= watched[i].bytes) continue;
        (is_write ? watched[i].writes : watched[i].reads)[offset]++;
        return;
    }
    elsewhere++;
}

#define HOOK(name, is_write) \
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
__attribute__((visibility("default"))) void __tsan_func_exit(void);
void __tsan_init(void) {}
void __tsan_func_entry(void *caller) { (void)caller; }
void __tsan_func_exit(void) {}

/* Takes off what the tree makes; below 0 wraps and is found. */
static void walk(const struct rsc_loop_node *node, int64_t *value) {
    int64_t first, trip;
    switch (node->kind) {
    case RSC_NODE_REFERENCE: {
        int64_t offset = rsc_affine_at(&node->offset, value, node->depth);
        assert_true(offset >= 0 && (uint64_t)offset < watched[node->array].bytes);
        (node->is_write ? watched[node->array].writes : watched[node->array].reads)[offset]--;
        return;
    }
    case RSC_NODE_LOOP:
        trip = rsc_loop_trip(node, value, &first);
        for (int64_t i = 0; i < trip; i++) {
            value[node->depth] = first + i * node->step;
            for (uint32_t c = 0; c < node->child_count; c++) walk(node->child[c], value);
        }
        return;
    case RSC_NODE_GUARD:
        if (!rsc_guard_holds(node, value)) return;
        break;
    default: break;
    }
    for (uint32_t c = 0; c < node->child_count; c++) walk(node->child[c], value);
}

static void compare(const char *path, const struct rsc_loop_program *program, void *library) {
    int64_t value[RSC_LOOP_DEPTH_MAX];
    void (*kernel)(void);
    *(void **)&kernel = dlsym(library, "kernel");
    assert_non_null(kernel);
    watched_count = program->array_count;
    assert_true(watched_count > 0 && watched_count < 64);
    for (uint32_t i = 0; i < watched_count; i++) {
        void *start = dlsym(library, program->array[i].name);
        assert_non_null(start);
        watched[i] = (struct watched){(uintptr_t)start, program->array[i].bytes, calloc(program->array[i].bytes, 4), calloc(program->array[i].bytes, 4)};
        assert_true(watched[i].reads && watched[i].writes);
    }
    elsewhere = 0;
    kernel();
    for (uint32_t r = 0; r < program->region_count; r++) {
        assert_int_equal(program->region[r].gap_count, 0);
        walk(program->region[r].root, value);
    }
    for (uint32_t i = 0; i < watched_count; i++) {
        for (uint64_t b = 0; b < watched[i].bytes; b++)
            if (watched[i].reads[b] || watched[i].writes[b])
                fail_msg("%s: byte %llu of %s: %d more reads and %d more writes than the tree has", path, (unsigned long long)b,
                         program->array[i].name, (int)watched[i].reads[b], (int)watched[i].writes[b]);
        free(watched[i].reads);
        free(watched[i].writes);
    }
    assert_int_equal(elsewhere, 0);
    watched_count = 0;
}

static void check_kernel(const char *source, const char *folder, const char *name) {
    char path[600], command[2000], object[600];
    struct rsc_c_options options = {0};
    struct rsc_error error = {0};
    struct rsc_loop_program *program;
    char *text;
    size_t bytes;
    snprintf(path, sizeof path, "%s/examples/loops/%s.c", source, name);
    snprintf(object, sizeof object, "%s/%s.so", folder, name);
    /* `static` goes, so that the arrays can be found by name; linked without the sanitizer's library. */
    snprintf(command, sizeof command, "gcc -O0 -w -fPIC -fsanitize=thread -Dstatic= -c '%s' -o '%s/k.o' && gcc -shared -Wl,-Bsymbolic '%s/k.o' -lm -o '%s'", path,
             folder, folder, object);
    assert_int_equal(system(command), 0);
    if (rsc_c_source_read(path, &options, &text, &bytes, &error)) fail_msg("%s", error.message);
    if (rsc_loop_text_read(text, bytes, path, NULL, 0, &program, &error)) fail_msg("%s", error.message);
    void *library = dlopen(object, RTLD_NOW | RTLD_LOCAL);
    if (!library) fail_msg("%s", dlerror());
    compare(path, program, library);
    dlclose(library);
    unlink(object);
    free(text);
    rsc_loop_program_free(program);
}

static char folder[] = "/tmp/reusescope-loops-XXXXXX";

static void test_kernels(void **state) {
    char list[600], line[400], name[100];
    int count = 0;
    (void)state;
    snprintf(list, sizeof list, "%s/examples/loops/KERNELS", RSC_SOURCE_DIR);
    FILE *kernels = fopen(list, "r");
    assert_non_null(kernels);
    while (fgets(line, sizeof line, kernels))
        if (line[0] != '#' && sscanf(line, "%99s", name) == 1) {
            check_kernel(RSC_SOURCE_DIR, folder, name);
            count++;
        }
    fclose(kernels);
    assert_true(count >= 26);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kernels)};
    struct rsc_error error;
    char command[200];
    if (rsc_c_source_check(&error)) return printf("skipped: %s\n", error.message), 77;
    if (system("gcc --version > /dev/null 2>&1")) return printf("skipped: gcc is missing\n"), 77;
    if (!mkdtemp(folder)) return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command) || failed;
}
