/* test_target_threads.c - which programs look as if they start threads, whatever their files hold. */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "collect/launch/target.h"
#include "scratch_folder.h"

/* A program with two tables of names: that of its sections, and one of its own unless `names` is NULL. */
struct file {
    Elf64_Ehdr header;
    Elf64_Shdr sections[3];
    char section_names[16];
    char names[64];
};

static struct file made_with(const char *names) {
    struct file file = {0};
    memcpy(file.header.e_ident, ELFMAG, SELFMAG);
    file.header.e_ident[EI_CLASS] = ELFCLASS64;
    file.header.e_ident[EI_DATA] = ELFDATA2LSB;
    file.header.e_machine = EM_X86_64;
    file.header.e_shoff = offsetof(struct file, sections);
    file.header.e_shentsize = sizeof(Elf64_Shdr);
    file.header.e_shnum = names ? 3 : 2;
    file.header.e_shstrndx = 1;
    file.sections[1] =
        (Elf64_Shdr){.sh_type = SHT_STRTAB, .sh_offset = offsetof(struct file, section_names), .sh_size = 16};
    file.sections[2] = (Elf64_Shdr){.sh_type = SHT_STRTAB, .sh_offset = offsetof(struct file, names), .sh_size = 64};
    memcpy(file.section_names + 1, ".shstrtab", 9);
    if (names) strncpy(file.names + 1, names, sizeof file.names - 2);
    return file;
}

static int may_thread(const void *bytes, size_t count, int dynamic) {
    struct rsc_target target = {.dynamic = dynamic};
    snprintf(target.path, sizeof target.path, "%s", scratch_path("program"));
    FILE *out = fopen(target.path, "w");
    assert_non_null(out);
    assert_int_equal(fwrite(bytes, 1, count, out), count);
    assert_int_equal(fclose(out), 0);
    return rsc_target_may_thread(&target);
}

static int with_names(const char *names, int dynamic) {
    struct file file = made_with(names);
    return may_thread(&file, sizeof file, dynamic);
}

static void names_tell(void **state) {
    (void)state;
    assert_int_equal(with_names("printf", 1), 0);
    assert_int_equal(with_names("printf", 0), 0);
    assert_int_equal(with_names("pthread_create", 1), 1);
    assert_int_equal(with_names("thrd_create", 1), 1);
    assert_int_equal(with_names("GOMP_parallel", 1), 1);
    assert_int_equal(with_names("__kmpc_fork_call", 1), 1);
    assert_int_equal(with_names("libgomp.so.1", 1), 1);
    assert_int_equal(with_names("_ZNSt6thread15_M_start_threadE", 1), 1);
    assert_int_equal(with_names("__pthread_create_2_1", 0), 1);
    assert_int_equal(with_names("execvp", 1), 1); /* and becomes a program that may */
    assert_int_equal(with_names("libjli.so", 1), 1); /* java */
    assert_int_equal(with_names("libblas.so.3", 1), 1);
    assert_int_equal(with_names("pthread_mutex_lock", 1), 0);
}

static void without_names_it_may(void **state) {
    struct rsc_target gone = {.path = "/no/such/program"};
    (void)state;
    assert_int_equal(with_names(NULL, 0), 1); /* static and stripped */
    assert_int_equal(with_names(NULL, 1), 0); /* what a dynamic program calls has a name */
    assert_int_equal(may_thread("", 0, 1), 1);
    assert_int_equal(rsc_target_may_thread(&gone), 1);
}

/* Cut anywhere, and with offsets and sizes that lead out of it: an answer, and nothing else. */
static void hostile_files_are_read_within_their_bounds(void **state) {
    static const uint64_t places[] = {1, 63, 64, 1u << 20, UINT32_MAX, 1ull << 63, UINT64_MAX - 8, UINT64_MAX};
    struct file file = made_with("pthread_create");
    (void)state;
    for (size_t bytes = 0; bytes < sizeof file; bytes += 7) {
        int may = may_thread(&file, bytes, 1);
        assert_true(may == 0 || may == 1);
    }
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        struct file bad = file;
        bad.header.e_shoff = places[i];
        assert_in_range(may_thread(&bad, sizeof bad, 1), 0, 1);
        bad = file;
        bad.sections[2].sh_offset = places[i];
        assert_in_range(may_thread(&bad, sizeof bad, 1), 0, 1);
        bad = file;
        bad.sections[2].sh_size = places[i];
        assert_in_range(may_thread(&bad, sizeof bad, 1), 0, 1);
    }
    file.header.e_shnum = UINT16_MAX;
    assert_int_equal(may_thread(&file, sizeof file, 1), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_tell),
        cmocka_unit_test(without_names_it_may),
        cmocka_unit_test(hostile_files_are_read_within_their_bounds),
    };
    return cmocka_run_group_tests_name("target_threads", tests, scratch_setup, scratch_teardown);
}
