/*
 * test_code_loops.c - loops recovered from machine code: of functions in assembly,
 * whose graphs are known block by block; of C functions compiled at every level of
 * optimisation by gcc and clang, whose loops are known from their source; and of
 * bytes that are no code.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <reusescope/error.h>
#include <reusescope/profile.h>

#include "base/rng.h"
#include "collect/symbols/code_loops.h"
#include "collect/symbols/symbols.h"
#include "profile/profile_rows.h"
#include "unit/scratch_folder.h"

#ifdef __x86_64__

/* ---- assembly ---- */

__asm__(".text\n"
        "nest_begin:\n xor %eax,%eax\n"
        "nest_outer:\n xor %ecx,%ecx\n"
        "nest_inner:\n inc %ecx\n cmp $8,%ecx\n jl nest_inner\n"
        " test %edx,%edx\n je nest_next\n"
        "nest_second:\n dec %edx\n jnz nest_second\n"
        "nest_next:\n inc %eax\n cmp $8,%eax\n jl nest_outer\n ret\n"
        "nest_end:\n"

        "irreducible_begin:\n test %edi,%edi\n je irreducible_middle\n"
        "irreducible_top:\n dec %edi\n"
        "irreducible_middle:\n dec %edi\n jnz irreducible_top\n ret\n"
        "irreducible_end:\n"

        /* what gcc -O3 makes of a loop that begins with one of two versions of another */
        "versions_begin:\n test %edi,%edi\n jne versions_wide\n"
        "versions_plain:\n dec %eax\n jnz versions_plain\n"
        "versions_next:\n dec %ecx\n jz versions_out\n test %edi,%edi\n je versions_plain\n"
        "versions_wide:\n dec %edx\n jnz versions_wide\n jmp versions_next\n"
        "versions_out:\n ret\n"
        "versions_end:\n"

        /* a switch in a loop, by distances from the table and by addresses */
        "switched_begin:\n"
        "switch_top:\n movzbl (%rdi),%eax\n inc %rdi\n cmp $2,%eax\n ja switch_top\n"
        " lea switch_table(%rip),%rdx\n movslq (%rdx,%rax,4),%rax\n add %rdx,%rax\n jmp *%rax\n"
        "switch_0:\n ret\n"
        "switch_1:\n inc %ecx\n jmp switch_top\n"
        "switch_2:\n dec %ecx\n jmp switch_top\n"
        "switched_end:\n"
        ".section .rodata\n.align 4\n"
        "switch_table:\n .long switch_0-switch_table, switch_1-switch_table, switch_2-switch_table\n"
        ".section .data.rel.ro,\"aw\"\n.align 8\n"
        "address_table:\n .quad address_0, address_1\n"
        ".text\n"
        "address_begin:\n"
        "address_top:\n inc %rdi\n cmp $1,%rdi\n ja address_out\n lea address_table(%rip),%rdx\n jmp *(%rdx,%rdi,8)\n"
        "address_0:\n inc %ecx\n jmp address_top\n"
        "address_1:\n inc %ebx\n jmp address_top\n"
        "address_out:\n ret\n"
        "address_end:\n"

        /* jumps by a register, from nowhere that is known: to the blocks that nothing else leads to */
        "computed_begin:\n mov (%rsi),%rax\n jmp *%rax\n"
        "computed_add:\n inc %ecx\n add $8,%rsi\n mov (%rsi),%rax\n jmp *%rax\n"
        "computed_sub:\n dec %ecx\n add $8,%rsi\n mov (%rsi),%rax\n jmp *%rax\n"
        "computed_done:\n ret\n"
        "computed_end:\n"

        /* behind a call that does not come back is a part of a loop that is entered elsewhere */
        "last_call_begin:\n test %edi,%edi\n jne last_call_loop\n call last_call_callee\n"
        "last_call_part:\n inc %ecx\n"
        "last_call_loop:\n dec %edi\n je last_call_out\n test $1,%edi\n jne last_call_part\n jmp last_call_loop\n"
        "last_call_out:\n ret\n"
        "last_call_end:\n"
        "last_call_callee:\n hlt\n"

        /* calls of itself and jumps elsewhere are no loops */
        "straight_begin:\n call straight_begin\n test %eax,%eax\n je nest_begin\n jmp *8(%rdi)\n"
        "straight_end:\n"

        /* what is between two blocks and lies elsewhere belongs to the loop if it has no branches of its own */
        "passage_begin:\n jmp passage_entry\n"
        "passage_outer:\n xor %ecx,%ecx\n"
        "passage_inner:\n inc %ecx\n cmp $8,%ecx\n jne passage_inner\n dec %edi\n jne passage_between\n ret\n"
        "passage_end:\n"
        "passage_entry:\n push %rax\n jmp passage_outer\n"
        "passage_between:\n pop %rax\n push %rax\n jmp passage_outer\n"
        "copied_begin:\n dec %edi\n js copied_copy\n inc %ecx\n ret\n"
        "copied_end:\n"
        "copied_copy:\n cmp %eax,%ecx\n jae copied_begin\n jmp copied_begin\n");

#define CODE(name)                                                          \
    extern const uint8_t name##_begin[], name##_end[];                      \
    static struct rsc_code_bytes name(void) {                               \
        return (struct rsc_code_bytes){name##_begin,                        \
                                       (uint64_t)(uintptr_t)name##_begin,   \
                                       (size_t)(name##_end - name##_begin), \
                                       read_here,                           \
                                       NULL,                                \
                                       NULL,                                \
                                       NULL};                               \
    }

static const uint8_t *read_here(void *module, uint64_t address, size_t bytes) {
    (void)module, (void)bytes;
    return (const uint8_t *)(uintptr_t)address;
}

CODE(nest)
CODE(irreducible)
CODE(versions)
CODE(switched)
CODE(address)
CODE(computed)
CODE(last_call)
CODE(straight)
CODE(passage)
CODE(copied)

extern const uint8_t passage_outer[], passage_inner[], nest_outer[], nest_inner[], nest_second[], nest_next[],
    irreducible_top[], irreducible_middle[], versions_plain[], versions_next[], versions_wide[], versions_out[],
    switch_top[], switch_0[], switch_1[], switch_2[], address_0[], address_1[], address_out[], computed_add[],
    computed_sub[], computed_done[], last_call_part[], last_call_loop[], last_call_out[], last_call_callee[];

/* The index of the loop at a label, RSC_NO_LOOP if there is none; its depth must be as said. */
static uint32_t at(const struct rsc_code_loops *loops, const uint8_t *label, uint32_t depth) {
    uint32_t loop = rsc_code_loops_at(loops, (uint64_t)(uintptr_t)label);
    assert_int_equal(loop == RSC_NO_LOOP ? 0 : loops->loops[loop].depth, depth);
    return loop;
}

static void find(struct rsc_code_loops *loops, struct rsc_code_bytes code, size_t count) {
    assert_int_equal(rsc_code_loops_find(loops, &code), 0);
    assert_int_equal(loops->count, count);
}

static void nests(void **state) {
    (void)state;
    struct rsc_code_loops loops;
    find(&loops, nest(), 3);
    uint32_t outer = at(&loops, nest_outer, 1), inner = at(&loops, nest_inner, 2), second = at(&loops, nest_second, 2);
    assert_int_equal(at(&loops, nest_next, 1), outer);
    at(&loops, nest_begin, 0);
    assert_int_equal(loops.loops[inner].parent, outer);
    assert_int_equal(loops.loops[second].parent, outer);
    assert_true(inner != second);
    assert_int_equal(loops.loops[outer].header, (uint64_t)(uintptr_t)nest_outer);
    /* the je that skips the second loop stays in the outer one: only the last jump decides */
    assert_int_equal(loops.loops[outer].test_count, 1);
    assert_int_equal(loops.tests[loops.loops[outer].first_test], loops.loops[outer].latch);
    assert_int_equal(loops.loops[outer].latch, (uint64_t)(uintptr_t)nest_next + 2 + 3); /* inc, cmp $8 */
    assert_int_equal(loops.loops[inner].test_count, 1);
    assert_int_equal(loops.loops[second].test_count, 1);
    assert_int_equal(loops.loops[inner].header, (uint64_t)(uintptr_t)nest_inner);
    assert_int_equal(rsc_code_loops_at(&loops, loops.end), RSC_NO_LOOP);
    assert_int_equal(rsc_code_loops_at(&loops, loops.blocks[0].start - 1), RSC_NO_LOOP);
    rsc_code_loops_free(&loops);
    find(&loops, straight(), 0);
    rsc_code_loops_free(&loops);
}

static const uint8_t *straight_parts(void *module, uint64_t address, size_t *room, int *only_straight) {
    *room = 16;
    *only_straight = 1;
    return read_here(module, address, *room);
}

static void parts_elsewhere(void **state) {
    (void)state;
    struct rsc_code_loops loops;
    struct rsc_code_bytes code = passage();
    find(&loops, code, 1); /* not followed: only the inner loop */
    rsc_code_loops_free(&loops);
    code.elsewhere = straight_parts;
    find(&loops, code, 2);
    assert_int_equal(loops.loops[at(&loops, passage_inner, 2)].parent, at(&loops, passage_outer, 1));
    rsc_code_loops_free(&loops);
    code = copied();
    code.elsewhere = straight_parts;
    find(&loops, code, 0); /* a copy that begins anew, with a branch, makes no loop */
    rsc_code_loops_free(&loops);
}

static void several_entries(void **state) {
    (void)state;
    struct rsc_code_loops loops;
    find(&loops, irreducible(), 1);
    assert_int_equal(loops.loops[at(&loops, irreducible_top, 1)].entries, 2);
    at(&loops, irreducible_middle, 1);
    rsc_code_loops_free(&loops);
    find(&loops, versions(), 3);
    uint32_t outer = at(&loops, versions_next, 1);
    assert_int_equal(loops.loops[outer].entries, 2);
    assert_int_equal(loops.loops[at(&loops, versions_plain, 2)].parent, outer);
    assert_int_equal(loops.loops[at(&loops, versions_wide, 2)].parent, outer);
    at(&loops, versions_out, 0);
    rsc_code_loops_free(&loops);
}

static void jump_tables(void **state) {
    (void)state;
    struct rsc_code_loops loops;
    for (int without = 0; without < 2; without++) { /* where the table cannot be read, cases are found all the same */
        struct rsc_code_bytes code = switched();
        if (without) code.read = NULL;
        find(&loops, code, 1);
        at(&loops, switch_top, 1);
        at(&loops, switch_0, 0);
        at(&loops, switch_1, 1);
        at(&loops, switch_2, 1);
        assert_int_equal(loops.loops[0].entries, 1);
        rsc_code_loops_free(&loops);
    }
    find(&loops, address(), 1);
    at(&loops, address_0, 1);
    at(&loops, address_1, 1);
    at(&loops, address_out, 0);
    rsc_code_loops_free(&loops);
    find(&loops, computed(), 1);
    at(&loops, computed_add, 1);
    at(&loops, computed_sub, 1);
    at(&loops, computed_done, 0);
    at(&loops, computed_begin, 0);
    rsc_code_loops_free(&loops);
}

static int is_callee(void *module, uint64_t address, int is_slot) {
    (void)module;
    return !is_slot && address == (uint64_t)(uintptr_t)last_call_callee;
}

static void calls_that_do_not_come_back(void **state) {
    (void)state;
    struct rsc_code_loops loops;
    struct rsc_code_bytes code = last_call();
    for (int known = 0; known < 2; known++) {
        if (known) code.never_returns = is_callee;
        find(&loops, code, known ? 1 : 2); /* not known, the call leads into the middle of a loop */
        assert_int_equal(loops.loops[0].entries, known ? 1 : 2);
        at(&loops, last_call_part, 1);
        at(&loops, last_call_loop, known ? 1 : 2);
        rsc_code_loops_free(&loops);
    }
}

/* ---- bytes that are no code ---- */

static void any_bytes(void **state) {
    (void)state;
    struct rsc_rng rng;
    struct rsc_code_loops loops;
    static uint8_t large[RSC_CODE_BYTES_MAX + 1];
    rsc_rng_seed(&rng, 5, 0);
    for (int round = 0; round < 3000; round++) {
        size_t bytes = (size_t)rsc_rng_below(&rng, 300);
        uint8_t *code = malloc(bytes ? bytes : 1); /* to the byte, so that a reader outside is seen */
        assert_non_null(code);
        for (size_t i = 0; i < bytes; i++) {
            static const uint8_t jumps[] = {0xeb, 0x74, 0x75, 0xe9, 0x0f, 0xff, 0xe2, 0xc3, 0xfc, 0x80};
            code[i] = round % 2 ? (uint8_t)rsc_rng_below(&rng, 256) : jumps[rsc_rng_below(&rng, sizeof jumps)];
        }
        struct rsc_code_bytes any = {code, UINT64_MAX - bytes + 1 - (uint64_t)(round % 3), bytes, NULL, NULL, NULL,
                                     NULL};
        assert_int_equal(rsc_code_loops_find(&loops, &any), 0);
        for (size_t i = 0; i < loops.block_count; i++)
            assert_true(loops.blocks[i].loop == RSC_NO_LOOP || loops.blocks[i].loop < loops.count);
        for (size_t i = 0; i < loops.count; i++)
            assert_true(loops.loops[i].parent == RSC_NO_LOOP || loops.loops[i].parent < i);
        rsc_code_loops_free(&loops);
        free(code);
    }
    /* as large as may be, full of jumps; and larger */
    memset(large, 0xeb, sizeof large);
    struct rsc_code_bytes most = {large, 4096, RSC_CODE_BYTES_MAX, NULL, NULL, NULL, NULL};
    int rc = rsc_code_loops_find(&loops, &most);
    assert_true(rc == 0 || rc == RSC_ELIMIT);
    rsc_code_loops_free(&loops);
    most.bytes++;
    assert_int_equal(rsc_code_loops_find(&loops, &most), RSC_ELIMIT);
    assert_int_equal(loops.count, 0);
}

/* ---- compiled functions ---- */

static const char source[] = "extern long use(long);\n" /* 1 */
                             "extern void __attribute__((noreturn)) abort(void);\n" /* 2 */
                             "long nested(long *a, long n) {\n" /* 3 */
                             "    long sum = 0;\n" /* 4 */
                             "    for (long i = 0; i < n; i++) {\n" /* 5 */
                             "        for (long j = 0; j < n; j++) {\n" /* 6 */
                             "            sum += use(a[i * n + j]);\n" /* 7 */
                             "        }\n" /* 8 */
                             "        while (a[i] > 0) {\n" /* 9 */
                             "            a[i] = use(a[i]);\n" /* 10 */
                             "        }\n" /* 11 */
                             "        use(i);\n" /* 12 */
                             "    }\n" /* 13 */
                             "    return use(sum);\n" /* 14 */
                             "}\n" /* 15 */
                             "long machine(const unsigned char *code) {\n" /* 16 */
                             "    long state = 0;\n" /* 17 */
                             "    for (;;) {\n" /* 18 */
                             "        switch (*code++) {\n" /* 19 */
                             "        case 0: return use(state);\n" /* 20 */
                             "        case 1: state = use(state + 1); break;\n" /* 21 */
                             "        case 2: state = use(state * 7); break;\n" /* 22 */
                             "        case 3: state = use(state - 5); break;\n" /* 23 */
                             "        case 4: state = use(state ^ 3); break;\n" /* 24 */
                             "        case 5: do state = use(state); while (state & 1); break;\n" /* 25 */
                             "        case 6: state = use(-state); break;\n" /* 26 */
                             "        case 7: abort();\n" /* 27 */
                             "        default: state = use(9); break;\n" /* 28 */
                             "        }\n" /* 29 */
                             "    }\n" /* 30 */
                             "}\n" /* 31 */
                             "static inline __attribute__((always_inline)) long total(long n) {\n" /* 32 */
                             "    long sum = 0;\n" /* 33 */
                             "    for (long k = 0; k < n; k++)\n" /* 34 */
                             "        sum += use(k);\n" /* 35 */
                             "    return sum;\n" /* 36 */
                             "}\n" /* 37 */
                             "long outer(long n) {\n" /* 38 */
                             "    long all = 0;\n" /* 39 */
                             "    do\n" /* 40 */
                             "        all += total(n);\n" /* 41 */
                             "    while (--n);\n" /* 42 */
                             "    return all;\n" /* 43 */
                             "}\n" /* 44 */
                             "long into(long n) {\n" /* 45 */
                             "    if (n > 5) goto middle;\n" /* 46 */
                             "top:\n" /* 47 */
                             "    n = use(n);\n" /* 48 */
                             "middle:\n" /* 49 */
                             "    n = use(n - 1);\n" /* 50 */
                             "    if (n > 0) goto top;\n" /* 51 */
                             "    return n;\n" /* 52 */
                             "}\n" /* 53 */;

/* In a file of its own, so that no compiler knows what is called and by whom. */
static const char other_source[] =
    "long use(long x) { return x; }\n"
    "extern long nested(long *, long), machine(const unsigned char *), outer(long), into(long);\n"
    "int main(void) { long a[9] = {0}; return (int)(nested(a, 3) + machine((unsigned char *)a) + outer(3) + into(3)); }\n";

static int run(const char *format, ...) {
    char command[2048], whole[8192];
    va_list list;
    va_start(list, format);
    vsnprintf(command, sizeof command, format, list);
    va_end(list);
    snprintf(whole, sizeof whole, "cd '%s' && (%s) >>log 2>&1", scratch_folder, command);
    return system(whole);
}

#define BIAS 0x555555554000ull

/* Every byte of the text section as a row of code, named. */
static struct rsc_profile *name_all(const char *file) {
    Elf64_Ehdr header;
    Elf64_Phdr segment;
    struct rsc_symbols *symbols;
    struct rsc_profile *profile = rsc_profile_new();
    FILE *input = fopen(scratch_path(file), "rb");
    uint64_t low = 0, high = 0;
    assert_non_null(input);
    assert_int_equal(rsc_symbols_new(&symbols, NULL, NULL), 0);
    assert_int_equal(fread(&header, sizeof header, 1, input), 1);
    uint64_t bias = header.e_type == ET_DYN ? BIAS : 0;
    for (unsigned i = 0; i < header.e_phnum; i++) {
        fseek(input, (long)(header.e_phoff + i * sizeof segment), SEEK_SET);
        assert_int_equal(fread(&segment, sizeof segment, 1, input), 1);
        if (segment.p_type != PT_LOAD) continue;
        uint64_t from = segment.p_vaddr & ~4095ull, end = (segment.p_vaddr + segment.p_filesz + 4095) & ~4095ull;
        assert_int_equal(rsc_symbols_add(symbols, bias + from, end - from, segment.p_offset & ~4095ull,
                                         scratch_path(file), NULL, 0, NULL),
                         0);
        if (segment.p_flags & PF_X) low = segment.p_vaddr, high = segment.p_vaddr + segment.p_filesz;
    }
    fclose(input);
    assert_int_equal(rsc_profile_set_code(profile, (size_t)(high - low)), 0);
    for (uint64_t pc = low; pc < high; pc++) profile->code[pc - low].place.pc = bias + pc;
    assert_int_equal(rsc_symbols_name_profile(symbols, profile, NULL), 0);
    rsc_symbols_free(symbols);
    return profile;
}

/*
 * The deepest loop that code of a line lies in: its depth in *depth, its line is
 * returned (0: none). Only code that is in the function itself, not in one that it was
 * inlined into.
 */
static uint32_t loop_of_line(const struct rsc_profile *profile, uint32_t line, uint32_t *depth, uint32_t *around) {
    uint32_t deepest = 0;
    *depth = *around = 0;
    for (size_t i = 0; i < profile->code_count; i++) {
        const struct rsc_place *place = &profile->code[i].place;
        if (place->line != line || !place->loop || !place->file || !strstr(place->file, "loops.c")) continue;
        const struct rsc_loop_row *loop = &profile->loops[place->loop - 1];
        if (loop->depth <= *depth) continue;
        *depth = loop->depth;
        deepest = loop->place.line;
        *around = loop->parent ? profile->loops[loop->parent - 1].place.line : 0;
    }
    return deepest;
}

static int has_line(const struct rsc_profile *profile, uint32_t line) {
    for (size_t i = 0; i < profile->code_count; i++)
        if (profile->code[i].place.line == line && profile->code[i].place.file &&
            strstr(profile->code[i].place.file, "loops.c"))
            return 1;
    return 0;
}

static size_t loops_in(const struct rsc_profile *profile, const char *function, uint32_t depth) {
    size_t count = 0;
    for (size_t i = 0; i < profile->loop_count; i++)
        count += profile->loops[i].depth == depth && profile->loops[i].place.function &&
                 !strcmp(profile->loops[i].place.function, function);
    return count;
}

static int failures;

static void want(const char *how, const char *what, uint64_t got, uint64_t least, uint64_t most) {
    if (got >= least && got <= most) return;
    printf("%s: %s: %" PRIu64 ", not %" PRIu64 " to %" PRIu64 "\n", how, what, got, least, most);
    failures++;
}

static void check_compiled(const char *how) {
    struct rsc_profile *profile = name_all("loops");
    uint32_t depth, around;
    /* nested: a loop and two inside it. Lines: of the statement itself, or of its body where nothing else is left. */
    want(how, "line of j loop", loop_of_line(profile, 7, &depth, &around), 6, 7);
    want(how, "depth of j loop", depth, 2, 2);
    want(how, "line of i loop", around, 5, 6);
    want(how, "line of while", loop_of_line(profile, 10, &depth, &around), 9, 10);
    want(how, "depth of while", depth, 2, 2);
    want(how, "line around while", around, 5, 6);
    loop_of_line(profile, 12, &depth, &around);
    want(how, "depth of the i loop's body", depth, 1, 1);
    loop_of_line(profile, 14, &depth, &around);
    want(how, "depth behind the loops", depth, 0, 0);
    want(how, "loops of nested", loops_in(profile, "nested", 1), 1, 1);
    want(how, "inner loops of nested", loops_in(profile, "nested", 2), 2, 2);
    /* machine: every case but the one that returns and the one that aborts is in the loop */
    loop_of_line(profile, 20, &depth, &around);
    want(how, "depth of case 0", depth, 0, 0);
    static const uint32_t cases[] = {21, 22, 23, 24, 26, 28};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (!has_line(profile, cases[i])) continue; /* clang puts the call of two cases into one place without a line */
        want(how, "line of the switch's loop", loop_of_line(profile, cases[i], &depth, &around), 16, 28);
        /* gcc makes a loop of its own of a case that comes again and again, where there is no table */
        want(how, "depth of a case", depth, 1, strstr(how, "-fno-jump-tables") ? 2 : 1);
    }
    want(how, "line of the loop in case 5", loop_of_line(profile, 25, &depth, &around), 25, 25);
    want(how, "depth of the loop in case 5", depth, 2, 2);
    /* outer: the inlined loop is named after its own function, the one around it after the function that has it */
    want(how, "line of the inlined loop", loop_of_line(profile, 35, &depth, &around), 34, 35);
    want(how, "depth of the inlined loop", depth, 2, 2);
    want(how, "line around the inlined loop", around, 38, 42);
    /* gcc -O2 counts down in a loop of its own where there is nothing to sum up */
    want(how, "loops of outer", loops_in(profile, "outer", 1), 1, strstr(how, "gcc") ? 2 : 1);
    want(how, "loops of total", loops_in(profile, "total", 2), 1, 1);
    /* into: a loop with two entries, or whatever the compiler made of it */
    loop_of_line(profile, 48, &depth, &around);
    want(how, "depth of the goto's loop", depth, 1, 1);
    rsc_profile_free(profile);
}

static void compiled_functions(void **state) {
    (void)state;
    static const char *const compilers[] = {"gcc", "clang-19", "clang"};
    static const char *const options[] = {"-O0",
                                          "-O1",
                                          "-O2",
                                          "-O3",
                                          "-O2 -fno-pie -no-pie",
                                          "-O3 -fno-plt",
                                          "-Os",
                                          "-O2 -fcf-protection=full",
                                          "-O2 -fno-jump-tables"};
    char how[128];
    int compiled = 0, clang = 0;
    scratch_write("loops.c", source, strlen(source));
    scratch_write("use.c", other_source, strlen(other_source));
    for (size_t c = 0; c < sizeof compilers / sizeof *compilers; c++) {
        if (c == 2 && clang) continue;
        for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
            snprintf(how, sizeof how, "%s %s", compilers[c], options[i]);
            if (run("%s -g loops.c use.c -o loops", how)) continue;
            compiled++;
            clang |= c > 0;
            check_compiled(how);
        }
    }
    printf("%d builds\n", compiled);
    assert_true(compiled >= 9);
    assert_int_equal(failures, 0);
    /* without symbols and without debug information there are no functions, and so no loops */
    assert_int_equal(run("gcc -O2 loops.c use.c -o loops && strip loops"), 0);
    struct rsc_profile *profile = name_all("loops");
    assert_int_equal(profile->loop_count, 0);
    rsc_profile_free(profile);
    /* debug information alone is enough: where functions are is also there */
    assert_int_equal(
        run("gcc -O1 -g loops.c use.c -o loops && "
            "objcopy --remove-section=.symtab --remove-section=.strtab --strip-symbol=nested --strip-symbol=machine "
            "--strip-symbol=outer --strip-symbol=into loops"),
        0);
    check_compiled("gcc -O1, without symbols");
    assert_int_equal(failures, 0);
}

int main(void) {
    if (!rsc_code_loops_known()) {
        puts("skipped: this build has no Zydis");
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nests),
        cmocka_unit_test(parts_elsewhere),
        cmocka_unit_test(several_entries),
        cmocka_unit_test(jump_tables),
        cmocka_unit_test(calls_that_do_not_come_back),
        cmocka_unit_test(any_bytes),
        cmocka_unit_test(compiled_functions),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}

#else

int main(void) {
    puts("skipped: only x86-64 code is decoded");
    return 77;
}

#endif
