/*
 * test_guest_maps.c - where the stack of a process's first thread is found in what the process reported, and where
 * the .bss of a file ends.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "collect/drain/guest_maps.h"
#include "unit/scratch_folder.h"

#define PROCESS 0x7ffffff0u /* no such pid: nothing can be read of it */

static const char text[] = "555555554000-555555555000 rw-p 00000000 00:00 0 [heap]\n"
                           "7ffffffdd000-7ffffffff000 rw-p 00000000 00:00 0 [stack]\n";

static const char *name_of(const struct rsc_guest_map *map, char *name) {
    size_t start = 9u + map->data[8];
    memcpy(name, map->data + start, map->data_bytes - start);
    name[map->data_bytes - start] = 0;
    return name;
}

/* Each page of a file by itself, as many as are kept and ten more: those are counted. */
static void too_many_regions_are_counted(void **state) {
    (void)state;
    struct rsc_guest_maps *maps = rsc_guest_maps_new();
    char line[128];
    for (uint64_t i = 0; i < 65536 + 10; i++) {
        snprintf(line, sizeof line, "%llx-%llx r--p 0 00:00 0 /a\n", 4096ull * (i + 1), 4096ull * (i + 2));
        assert_int_equal(rsc_guest_maps_text(maps, PROCESS + i % 256, 1, line, strlen(line)), 0);
    }
    assert_int_equal(rsc_guest_maps_lost(maps), 10);
    rsc_guest_maps_free(maps);
}

static void the_stack_is_known_of_a_process_that_is_gone(void **state) {
    struct rsc_guest_maps *maps = rsc_guest_maps_new();
    struct rlimit limit = {.rlim_cur = 8u << 20, .rlim_max = RLIM_INFINITY}, before;
    char name[64];
    (void)state;
    assert_int_equal(getrlimit(RLIMIT_STACK, &before), 0);
    limit.rlim_max = before.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_STACK, &limit), 0);
    assert_int_equal(rsc_guest_maps_first_stack(maps, PROCESS, 1), 0);
    assert_int_equal(rsc_guest_maps_text(maps, PROCESS, 1, text, strlen(text)), 0);
    assert_null(rsc_guest_maps_next(maps)); /* not before it is asked for */
    assert_int_equal(rsc_guest_maps_stack(maps, PROCESS, 1, 0x7fffffffe000), 0);
    assert_null(rsc_guest_maps_next(maps)); /* too late for that */
    assert_int_equal(rsc_guest_maps_first_stack(maps, PROCESS + 1, 1), 0);
    assert_int_equal(rsc_guest_maps_first_stack(maps, PROCESS, 3), 1);
    const struct rsc_guest_map *map = rsc_guest_maps_next(maps);
    assert_non_null(map);
    assert_string_equal(name_of(map, name), "[stack:3]");
    assert_int_equal(map->start + map->bytes, 0x7ffffffff000);
    assert_int_equal(map->bytes, 8u << 20); /* it may grow so far */
    assert_null(rsc_guest_maps_next(maps));
    rsc_guest_maps_free(maps);
    setrlimit(RLIMIT_STACK, &before);
}

/* QEMU's own stack is none of the guest's. */
static void of_a_guest_nothing_is_taken(void **state) {
    struct rsc_guest_maps *maps = rsc_guest_maps_new();
    (void)state;
    assert_int_equal(rsc_guest_maps_text(maps, PROCESS, 0, text, strlen(text)), 0);
    assert_int_equal(rsc_guest_maps_first_stack(maps, PROCESS, 1), 0);
    rsc_guest_maps_free(maps);
}

/* The next map has this name, start and size. */
static void expect_map(struct rsc_guest_maps *maps, const char *wanted, uint64_t start, uint64_t bytes) {
    char name[4200];
    const struct rsc_guest_map *map = rsc_guest_maps_next(maps);
    assert_non_null(map);
    assert_string_equal(name_of(map, name), wanted);
    assert_int_equal(map->start, start);
    assert_int_equal(map->bytes, bytes);
}

/* A file with 0x200 bytes of data from offset 0x2e00 on, and 0x2f00 of memory there: the end of a page, and three more. */
static void bss_ends_where_the_file_says(void **state) {
    const Elf64_Ehdr header = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64}, .e_phoff = sizeof header, .e_phnum = 1};
    const Elf64_Phdr data = {.p_type = PT_LOAD,
                             .p_flags = PF_R | PF_W,
                             .p_offset = 0x2e00,
                             .p_vaddr = 0x3e00,
                             .p_filesz = 0x200,
                             .p_memsz = 0x2f00};
    uint8_t file[sizeof header + sizeof data];
    char path[4096], lines[8192];
    (void)state;
    memcpy(file, &header, sizeof header);
    memcpy(file + sizeof header, &data, sizeof data);
    snprintf(path, sizeof path, "%s", scratch_write("program", file, sizeof file));
    /* the anonymous region also has thread-local data; a file in memory has no .bss at all */
    snprintf(lines, sizeof lines,
             "555555556000-555555557000 rw-p 00002000 08:01 7 %s\n"
             "555555557000-555555570000 rw-p 00000000 00:00 0 \n"
             "7ffff0000000-7ffff0001000 rw-s 00000000 00:01 9 /memfd:ring (deleted)\n"
             "7ffff0001000-7ffff0009000 rw-p 00000000 00:00 0 \n",
             path);
    struct rsc_guest_maps *maps = rsc_guest_maps_new();
    assert_int_equal(rsc_guest_maps_text(maps, PROCESS, 1, lines, strlen(lines)), 0);
    expect_map(maps, path, 0x555555556000, 0x1000);
    expect_map(maps, path, 0x555555557000, 0x3000);
    expect_map(maps, "/memfd:ring (deleted)", 0x7ffff0000000, 0x1000);
    assert_null(rsc_guest_maps_next(maps));
    rsc_guest_maps_free(maps);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_stack_is_known_of_a_process_that_is_gone),
        cmocka_unit_test(bss_ends_where_the_file_says),
        cmocka_unit_test(of_a_guest_nothing_is_taken),
        cmocka_unit_test(too_many_regions_are_counted),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
