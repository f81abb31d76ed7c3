/* The assembler pass: reading, facts of instructions, liveness, words, what is written, and that --verify sees what is wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "collect/rewrite/asm_object.h"
#include "collect/rewrite/asm_pass.h"
#include "unit/scratch_folder.h"

#define RAX (1u << 0)
#define RCX (1u << 1)
#define RDX (1u << 2)
#define RSP (1u << 4)
#define RSI (1u << 6)
#define RDI (1u << 7)
#define R8 (1u << 8)
#define R11 (1u << 11)
#define CF (1u << 16)
#define ZF (1u << 19)

/* ---- what a test needs of the assembler ---- */

static void assemble(const char *text, const char *name, struct rsc_pass_object *object) {
    char command[4 * PATH_MAX], object_name[64];
    struct rsc_error error;
    snprintf(object_name, sizeof object_name, "%s.o", name);
    const char *source = scratch_write(name, text, strlen(text)), *path = scratch_path(object_name);
    snprintf(command, sizeof command, "as -L -o '%s' '%s'", path, source);
    assert_int_equal(system(command), 0);
    assert_int_equal(rsc_pass_object_open(object, path, &error), 0);
}

/* All steps up to the pieces. */
static void take(struct rsc_pass *pass, const char *text, struct rsc_pass_object *plain) {
    struct rsc_error error = {0};
    struct rsc_pass_text labelled = {0};
    if (!pass->options.max_pieces) pass->options.max_pieces = UINT64_MAX;
    assert_int_equal(rsc_pass_read(pass, text, strlen(text), &error), 0);
    rsc_pass_labelled(pass, &labelled);
    assemble(labelled.data, "plain", plain);
    rsc_pass_text_free(&labelled);
    assert_int_equal(rsc_pass_learn(pass, plain, &error), 0);
    assert_int_equal(rsc_pass_flow(pass, &error), 0);
    assert_int_equal(rsc_pass_loops(pass, &error), 0);
    assert_int_equal(rsc_pass_cut(pass, &error), 0);
}

#define FUNCTION(body) "\t.text\n\t.globl f\n\t.type f, @function\nf:\n" body "\t.size f, .-f\n"

/* ---- reading ---- */

static void test_statements(void **state) {
    struct rsc_pass pass = {0};
    struct rsc_error error;
    const char *text = "# comment\n\t.file \"a;b#.c\"\n"
                       "f: movl $1, %eax # one\n\tlock; incl (%rdi)\n"
                       "#APP\n\tnonsense ; here\n#NO_APP\n"
                       "\t.section\t.rodata.x,\"a\",@progbits\n.LC0: .string \"a;b\\\"c\"\n\t.text\n\tret\n";
    (void)state;
    assert_int_equal(rsc_pass_read(&pass, text, strlen(text), &error), 0);
    assert_int_equal(pass.insn_count, 3);
    assert_int_equal(pass.insns[1].items, 2); /* the prefix and what it belongs to */
    unsigned opaque = 0, labels = 0;
    for (size_t i = 0; i < pass.item_count; i++) {
        opaque += pass.items[i].sort == RSC_PASS_OPAQUE;
        labels += pass.items[i].sort == RSC_PASS_LABEL;
    }
    assert_int_equal(opaque, 3);
    assert_int_equal(labels, 2);
    assert_int_equal(pass.section_count, 2);
    assert_true(pass.sections[0].is_code && !pass.sections[1].is_code);
    rsc_pass_free(&pass);
}

static void test_thread_local_call_is_one(void **state) {
    struct rsc_pass pass = {.options.position_independent = 1};
    struct rsc_pass_object plain;
    (void)state;
    take(&pass,
         FUNCTION(
             "\tsubq $8, %rsp\n\tdata16 leaq x@tlsgd(%rip), %rdi\n\t.value 0x6666\n\trex64\n\tcall __tls_get_addr@PLT\n"
             "\tmovl (%rax), %eax\n\taddq $8, %rsp\n\tret\n"),
         &plain);
    assert_int_equal(pass.insn_count, 5);
    assert_int_equal(pass.insns[1].flow, RSC_PASS_CALL);
    assert_int_equal(pass.insns[1].items, 4);
    assert_true(pass.insns[1].access[0].flags & RSC_ASM_RELAXED);
    rsc_pass_object_close(&plain);
    rsc_pass_free(&pass);
}

static void test_operands(void **state) {
    static const char *const cases[][2] = {{"movl 8(%rsp,%rax,4), %ecx", "8(%rsp,%rax,4)"},
                                           {"movq %fs:x@tpoff, %rax", "%fs:x@tpoff"},
                                           {"jmp *.L4(,%rax,8)", ".L4(,%rax,8)"},
                                           {"vmovups (%rax){%k1}, %zmm2", "(%rax)"},
                                           {"addl $4, foo(%rip)", "foo(%rip)"},
                                           {"call f", ""},
                                           {"addl %eax, %ebx", ""},
                                           {"call *%rax", ""},
                                           {"movl foo, %eax", "foo"},
                                           {"fxch %st(1)", ""}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rsc_pass pass = {0};
        struct rsc_error error;
        const char *operand = "";
        assert_int_equal(rsc_pass_read(&pass, cases[i][0], strlen(cases[i][0]), &error), 0);
        size_t length = rsc_pass_memory_operand(&pass, &pass.insns[0], &operand);
        assert_int_equal(length, strlen(cases[i][1]));
        assert_memory_equal(operand, cases[i][1], length);
        rsc_pass_free(&pass);
    }
}

static void test_not_a_compilers(void **state) {
    static const char *const texts[] = {"\t.intel_syntax noprefix\n", "\t.macro x\n", "\t.text 1\n",
                                        "\t.subsection 2\n", "\t.code32\n"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct rsc_pass pass = {0};
        struct rsc_error error;
        assert_int_equal(rsc_pass_read(&pass, texts[i], strlen(texts[i]), &error), RSC_EUNSUPPORTED);
        rsc_pass_free(&pass);
    }
}

/* ---- facts ---- */

static void test_facts(void **state) {
    struct rsc_pass pass = {0};
    struct rsc_pass_object plain;
    enum { R = RSC_ASM_READS, W = RSC_ASM_WRITES, RW = R | W };
    static const struct {
        const char *text;
        uint8_t count, kind, flags, size, elements;
    } cases[] = {
        {"movl (%rdi), %eax", 1, RSC_ASM_PLAIN, R, 4, 0},
        {"addq $1, (%rdi)", 1, RSC_ASM_PLAIN, RW, 8, 0},
        {"movaps %xmm0, (%rdi)", 1, RSC_ASM_PLAIN, W, 16, 0},
        {"vmovups (%rdi), %zmm0", 1, RSC_ASM_PLAIN, R, 64, 0},
        {"fldt (%rdi)", 1, RSC_ASM_PLAIN, R, 10, 0},
        {"cmpl $1, (%rdi)", 1, RSC_ASM_PLAIN, R, 4, 0},
        {"pushq %rax", 1, RSC_ASM_PLAIN, W, 8, 0},
        {"pushq (%rdi)", 2, RSC_ASM_PLAIN, R, 8, 0},
        {"popq %rax", 1, RSC_ASM_PLAIN, R, 8, 0},
        {"leave", 1, RSC_ASM_PLAIN, R, 8, 0},
        {"movsb", 2, RSC_ASM_PLAIN, R, 1, 0},
        {"rep movsq", 2, RSC_ASM_STRING, R, 8, 0},
        {"rep stosl", 1, RSC_ASM_STRING, W, 4, 0},
        {"repne scasb", 1, RSC_ASM_STRING, R | RSC_ASM_BY_EQUAL, 1, 0},
        {"leaq 8(%rdi), %rax", 0, 0, 0, 0, 0},
        {"nopw 0(%rax,%rax,1)", 0, 0, 0, 0, 0},
        {"prefetcht0 (%rdi)", 0, 0, 0, 0, 0},
        {"movl x(%rip), %eax", 1, RSC_ASM_RIP, R, 4, 0},
        {"vgatherdpd %ymm1, (%rdi,%xmm2,8), %ymm0", 1, RSC_ASM_GATHERED, R, 8, 4},
        {"vpgatherqd %xmm1, (%rdi,%ymm2,4), %xmm0", 1, RSC_ASM_GATHERED, R | RSC_ASM_INDEX_8, 4, 4},
        {"vpscatterdd %zmm1, (%rdi,%zmm2,4){%k1}", 1, RSC_ASM_GATHERED, W, 4, 16},
        {"vextractf32x8 $1, %zmm1, (%rdi){%k1}", 1, RSC_ASM_MASKED, W, 4, 8}, /* no fault suppression, but a mask */
        {"vmaskmovps (%rdi), %ymm1, %ymm2", 1, RSC_ASM_MASKED, R, 4, 8},
        {"vpmaskmovq %xmm2, %xmm1, (%rdi)", 1, RSC_ASM_MASKED, W, 8, 2},
        {"vmovupd %zmm1, (%rdi){%k2}", 1, RSC_ASM_MASKED, W, 8, 8},
        {"vmovdqu8 (%rdi), %zmm1{%k2}{z}", 1, RSC_ASM_MASKED, R, 1, 64},
        {"vpcompressd %zmm1, (%rdi){%k2}", 1, RSC_ASM_PACKED, W, 4, 16},
        {"vaddpd (%rdi){1to8}, %zmm1, %zmm2{%k3}", 1, RSC_ASM_ANY, R, 8, 8},
        {"vmulps (%rdi){1to4}, %xmm1, %xmm2{%k3}", 1, RSC_ASM_ANY, R, 4, 4},
        {"lock cmpxchgq %rcx, (%rdi)", 1, RSC_ASM_PLAIN, RW, 8, 0},
        {"xchgl %eax, (%rdi)", 1, RSC_ASM_PLAIN, RW, 4, 0},
        {"jmp *(%rdi)", 1, RSC_ASM_PLAIN, R, 8, 0},
        {"call *8(%rdi)", 2, RSC_ASM_PLAIN, R, 8, 0},
    };
    char text[8192] = "\t.text\n\t.type f, @function\nf:\n";
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) strcat(strcat(strcat(text, "\t"), cases[i].text), "\n");
    take(&pass, text, &plain);
    assert_int_equal(pass.insn_count, sizeof cases / sizeof *cases);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct rsc_pass_insn *insn = &pass.insns[i];
        const struct rsc_pass_access *access = &insn->access[0];
        if (insn->access_count != cases[i].count) fail_msg("%s: %u accesses", cases[i].text, insn->access_count);
        if (!cases[i].count) continue;
        if (access->kind != cases[i].kind || access->flags != cases[i].flags || access->size != cases[i].size ||
            (cases[i].elements && access->count != cases[i].elements))
            fail_msg("%s: kind %u flags %u size %u count %u", cases[i].text, access->kind, access->flags, access->size,
                     access->count);
    }
    rsc_pass_object_close(&plain);
    rsc_pass_free(&pass);
}

static struct rsc_pass_insn facts_of(const uint8_t *bytes, size_t length) {
    struct rsc_pass_insn insn = {0};
    assert_int_equal(rsc_pass_decode(&insn, bytes, length), 0);
    assert_int_equal(insn.length, length);
    return insn;
}
#define FACTS(...) facts_of((const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

static void test_registers_and_flags(void **state) {
    (void)state;
    struct rsc_pass_insn insn = FACTS(0x89, 0xc8); /* mov %ecx, %eax: all of rax */
    assert_int_equal(insn.writes & 0xffff, RAX);
    assert_int_equal(insn.reads & 0xffff, RCX);
    insn = FACTS(0x88, 0xc8); /* mov %cl, %al: the rest of rax stays */
    assert_int_equal(insn.writes & 0xffff, 0);
    assert_int_equal(insn.reads & 0xffff, RAX | RCX);
    insn = FACTS(0x31, 0xc0); /* xor %eax, %eax reads nothing */
    assert_int_equal(insn.reads & 0xffff, 0);
    insn = FACTS(0x0f, 0x44, 0xc1); /* cmove %ecx, %eax may leave it */
    assert_true(insn.reads & RAX && insn.reads & ZF && !(insn.writes & RAX));
    insn = FACTS(0xd3, 0xe0); /* shl %cl, %eax: flags stay when cl is 0 */
    assert_int_equal(insn.writes & RSC_PASS_FLAGS, 0);
    insn = FACTS(0xc1, 0xe0, 0x03); /* shl $3, %eax */
    assert_true((insn.writes & RSC_PASS_FLAGS) == RSC_PASS_FLAGS);
    insn = FACTS(0x48, 0xff, 0xc0); /* inc %rax leaves the carry */
    assert_true(!(insn.writes & CF) && insn.writes & ZF);
    assert_int_equal(insn.adds_to, 0);
    assert_int_equal(insn.adds, 1);
    insn = FACTS(0x50); /* push %rax */
    assert_int_equal(insn.rsp_moves, -8);
    assert_int_equal(insn.access[0].disp, -8);
    insn = FACTS(0xe3, 0x00); /* jrcxz */
    assert_true(insn.is_short_only && insn.flow == RSC_PASS_CONDITION);
    assert_int_equal(rsc_pass_decode(&insn, (const uint8_t[]){0x06}, 1), -1); /* none in 64-bit mode */
}

/* ---- liveness ---- */

static void test_live(void **state) {
    struct rsc_pass pass = {0};
    struct rsc_pass_object plain;
    (void)state;
    take(&pass,
         FUNCTION("\ttestq %rdi, %rdi\n" /* 0 */
                  "\tmovl (%rsi), %eax\n" /* 1: flags live */
                  "\tje .L1\n" /* 2 */
                  "\taddl %r8d, %eax\n" /* 3 */
                  ".L1:\n\tmovl (%rsi), %ecx\n" /* 4 */
                  "\taddl %ecx, %eax\n\tret\n"),
         &plain);
    assert_true(pass.insns[1].live & ZF);
    assert_false(pass.insns[0].live & RSC_PASS_FLAGS);
    assert_true(pass.insns[0].live & R8); /* by one of the two ways */
    assert_false(pass.insns[4].live & R8);
    assert_false(pass.insns[1].live & RCX); /* written before it is read */
    assert_true(pass.insns[1].live & RSI);
    assert_false(pass.insns[0].live & R11);
    assert_true(pass.insns[4].live & 1u << 3); /* rbx is the caller's */
    assert_int_equal(pass.insns[4].is_leader, 1);
    /* The countdown is before the test, where flags are dead, not between it and its jump. */
    assert_int_equal(pass.pieces[0].first, 0);
    assert_int_equal(pass.pieces[0].flags_live, 0);
    rsc_pass_object_close(&plain);
    rsc_pass_free(&pass);
}

/* -fipa-ra: a caller in the same file may keep something in a register that the function leaves alone. */
static void test_live_behind_calls(void **state) {
    struct rsc_pass pass = {0};
    struct rsc_pass_object plain;
    (void)state;
    take(&pass,
         "\t.text\n\t.type leaf, @function\nleaf:\n\tmovl (%rdi), %eax\n\tret\n"
         "\t.type g, @function\ng:\n\tmovl $7, %r8d\n\tcall leaf\n\taddl %r8d, %eax\n\tret\n",
         &plain);
    assert_true(pass.insns[0].live & R8);
    assert_false(pass.insns[0].live & R11);
    assert_true(pass.pieces[0].a != 8 && pass.pieces[0].b != 8);
    rsc_pass_object_close(&plain);
    rsc_pass_free(&pass);
}

static void test_flags_that_never_die(void **state) {
    struct rsc_pass pass = {0};
    struct rsc_pass_object plain;
    (void)state;
    take(&pass, FUNCTION("\tcmpl $3, %edi\n\tjg .L2\n\tmovl (%rsi), %eax\n\tje .L2\n\tincl %eax\n.L2:\n\tret\n"),
         &plain);
    const struct rsc_pass_piece *piece = &pass.pieces[0];
    assert_int_equal(piece->begin, 2);
    assert_int_equal(piece->flags_live, 1);
    rsc_pass_object_close(&plain);
    rsc_pass_free(&pass);
}

/* ---- words ---- */

static void test_words(void **state) {
    struct rsc_pass pass = {0};
    struct rsc_pass_object plain;
    (void)state;
    /* One word for the stack pointer, whatever is pushed; one for rdi although it moves. */
    take(&pass,
         FUNCTION(
             "\tpushq %rbp\n\tpushq %rbx\n\tsubq $24, %rsp\n\tmovl 8(%rsp), %eax\n"
             "\tmovl (%rdi), %ecx\n\taddq $16, %rdi\n\tmovl 4(%rdi), %edx\n\tmovq 8(%rdi), %rdi\n\tmovl (%rdi), %esi\n"
             "\tmovl x(%rip), %r8d\n\tud2\n"),
         &plain);
    const struct rsc_pass_piece *piece = &pass.pieces[0];
    const struct rsc_asm_entry *entry = &pass.entries[piece->entry];
    assert_int_equal(pass.piece_count, 1);
    assert_int_equal(piece->entries, 8);
    assert_int_equal(piece->words, 1 + 3); /* rsp, rdi, the rdi that was loaded */
    assert_int_equal(entry[0].disp, -8);
    assert_int_equal(entry[1].disp, -16);
    assert_int_equal(entry[2].disp, -16 - 24 + 8);
    assert_int_equal(entry[3].disp, 0);
    assert_int_equal(entry[4].disp, 20);
    assert_int_equal(entry[4].base, entry[3].base);
    assert_int_not_equal(entry[6].base, entry[3].base);
    assert_int_equal(entry[7].kind, RSC_ASM_RIP);
    assert_int_equal(piece->weight, 8);
    rsc_pass_object_close(&plain);
    rsc_pass_free(&pass);
    /* What a symbol adds is known to the linker only. */
    take(
        &pass,
        FUNCTION(
            "\tmovl (%rdi), %ecx\n\taddq $x, %rdi\n\tmovl (%rdi), %edx\n\taddq $-4, %rdi\n\tmovl (%rdi), %edx\n\tud2\n"),
        &plain);
    assert_int_equal(pass.pieces[0].words, 1 + 2);
    assert_int_equal(pass.entries[2].disp, -4);
    rsc_pass_object_close(&plain);
    rsc_pass_free(&pass);
}

static void test_words_of_runs(void **state) {
    struct rsc_pass pass = {0};
    struct rsc_pass_object plain;
    (void)state;
    /* rdi and rsi move evenly, rdx not at all, rcx is loaded: one word a turn. */
    take(&pass,
         FUNCTION("\txorl %eax, %eax\n.L3:\n\tmovl (%rdi), %ecx\n\taddq $4, %rdi\n\tincl (%rdx,%rcx,4)\n"
                  "\tmovl %ecx, -4(%rdi,%rsi,2)\n\tsubq $-24, %rsi\n\tmovl table(,%rsi,8), %r8d\n\tmovl x(%rip), %r8d\n"
                  "\tcmpq %rsi, %rax\n\tjne .L3\n\tud2\n"),
         &plain);
    const struct rsc_pass_piece *piece = &pass.pieces[0];
    const struct rsc_asm_entry *entry = &pass.entries[piece->entry];
    const int32_t *step = &pass.entry_steps[piece->entry];
    assert_int_equal(piece->is_run, 1);
    assert_int_equal(piece->entries, 5);
    assert_int_equal(piece->words, 2 + 4); /* rdi, rdx, rsi, the symbol's address */
    assert_int_equal(piece->turn_words, 1);
    assert_int_equal(entry[0].disp, 0);
    assert_int_equal(step[0], 4);
    assert_int_equal(entry[1].index, piece->words);
    assert_int_equal(step[1], 0);
    assert_int_equal(entry[2].base, entry[0].base);
    assert_int_equal(entry[2].disp, 0); /* 4 more than at the turn's beginning */
    assert_int_equal(step[2], 4 + 2 * 24);
    assert_int_equal(entry[3].disp, 24 * 8);
    assert_int_equal(entry[3].index, 0);
    assert_int_equal(step[3], 24 * 8);
    assert_int_equal(entry[4].kind, RSC_ASM_RIP);
    assert_int_equal(step[4], 0);
    rsc_pass_object_close(&plain);
    rsc_pass_free(&pass);
    /* 32 bits wrap, conditions may leave a register alone, strings are no plain accesses. */
    take(
        &pass,
        FUNCTION(
            "\txorl %eax, %eax\n.L3:\n\tmovl (%rdi,%rax), %ecx\n\taddl $4, %eax\n\tcmpq %rsi, %rax\n\tjne .L3\n\tud2\n"),
        &plain);
    assert_int_equal(pass.pieces[0].is_run, 1);
    assert_int_equal(pass.pieces[0].turn_words, 1);
    rsc_pass_object_close(&plain);
    rsc_pass_free(&pass);
    take(&pass,
         FUNCTION("\txorl %eax, %eax\n.L3:\n\trep stosb\n\tmovl (%rdx), %ecx\n\tcmpq %rsi, %rax\n\tjne .L3\n\tud2\n"),
         &plain);
    assert_int_equal(pass.pieces[0].is_run, 0);
    rsc_pass_object_close(&plain);
    rsc_pass_free(&pass);
}

/* ---- what is written ---- */

static const char loop_text[] =
    FUNCTION("\txorl %eax, %eax\n.L3:\n\taddq (%rdi), %rax\n\taddq $8, %rdi\n\tcmpq %rsi, %rdi\n\tjne .L3\n\tret\n");

static void test_golden(void **state) {
    struct rsc_pass pass = {0};
    struct rsc_pass_object plain;
    struct rsc_pass_text out = {0};
    (void)state;
    take(&pass, loop_text, &plain);
    rsc_pass_emit(&pass, &out);
    const char *wanted =
        "\t.text\n\t.globl f\n\t.type f, @function\nf:\n\txorl %eax, %eax\n"
        "\tmovq\t%fs:rsc_asm_thread@tpoff, %r11\n"
        ".L3:\n.Lrscl1:\n\tsubq\t$1, %r11\n\tjs\t.Lrscs0\n.Lrscb0:\n"
        ".Lrscp1:\n\taddq (%rdi), %rax\n.Lrscp2:\n\taddq $8, %rdi\n.Lrscp3:\n\tcmpq %rsi, %rdi\n"
        ".Lrscr0:\n.Lrscp4:\n\tjne .Lrscl1\n"
        "\tmovq\t%r11, %fs:rsc_asm_thread@tpoff\n"
        "\tsubq\t$1, %fs:rsc_asm_thread@tpoff\n\tjs\t.Lrscs1\n.Lrscb1:\n.Lrscr1:\n.Lrscp5:\n\tret\n"
        "\t.size f, .-f\n"
        "\t.text\n\t.subsection 1\n.Lrsct0:\n\t.type\tf.recording, @function\nf.recording:\n"
        ".Lrscs0:\n\tmovq\t%fs:rsc_asm_thread@tpoff+8, %r10\n.Lrscc0:\n\tcmpq\t%fs:rsc_asm_thread@tpoff+16, %r10\n\tjae\t.Lrscf0\n"
        "\tleaq\t24(%r10), %r9\n\tmovq\t%r9, %fs:rsc_asm_thread@tpoff+8\n"
        "\tleaq\t.Lrscd0(%rip), %r9\n\tmovq\t%r9, (%r10)\n"
        "\tmovq\t%rdi, 16(%r10)\n\tmovabsq\t$-4611686018427387904, %r11\n"
        ".Lrscm0:\n\tcmpl\t%fs:rsc_asm_thread@tpoff+24, %r11d\n\tjae\t.Lrscn0\n\tleaq\t1(%r11), %r11\n\tmovq\t%r11, 8(%r10)\n"
        "\taddq (%rdi), %rax\n\taddq $8, %rdi\n\tcmpq %rsi, %rdi\n"
        "\tjne .Lrscm0\n\tleaq\t24(%r10), %r10\n\tjmp\t.Lrscr0\n"
        ".Lrscn0:\n\tleaq\t24(%r10), %r10\n\tjmp\t.Lrscc0\n"
        ".Lrscf0:\n\tleaq\t-128(%rsp), %rsp\n\tmovq\t%r11, %fs:rsc_asm_thread@tpoff\n\tcall\t*rsc_asm_room@GOTPCREL(%rip)\n\tnopl\t.Lrscd0(%rip)\n"
        "\tmovq\t%fs:rsc_asm_thread@tpoff, %r11\n\ttestq\t%r11, %r11\n\tleaq\t128(%rsp), %rsp\n\tjs\t.Lrscs0\n\tjmp\t.Lrscb0\n"
        "\t.pushsection\trsc_asm_blocks,\"ao?\",@progbits,.Lrsct0\n\t.p2align 3\n"
        ".Lrscd0:\n\t.long\t.Lrscp1-.\n\t.value\t.Lrscp4-.Lrscp1, 4, 1, 3\n\t.byte\t103, 2\n\t.value\t0\n"
        "\t.value\t.Lrscp1-.Lrscp1, 0\n\t.byte\t1, 1, 2, 0\n\t.long\t0\n\t.value\t8\n\t.byte\t1, 0\n"
        "\t.long\t8\n\t.p2align 3\n\t.popsection\n";
    if (strncmp(out.data, wanted, strlen(wanted))) fail_msg("written:\n%s", out.data);
    rsc_pass_text_free(&out);
    rsc_pass_object_close(&plain);
    rsc_pass_free(&pass);
}

/* ---- --verify ---- */

/* Rewrites, replaces `from` by `to` in the result, assembles that and verifies. */
static int verified(const char *text, const char *from, const char *to) {
    struct rsc_pass pass = {.options.verify = 1};
    struct rsc_pass_object plain, rewritten;
    struct rsc_pass_text out = {0}, changed = {0};
    struct rsc_error error = {0};
    take(&pass, text, &plain);
    rsc_pass_emit(&pass, &out);
    const char *at = from ? strstr(out.data, from) : out.data + out.used;
    if (!at) fail_msg("'%s' is not in:\n%s", from, out.data);
    rsc_pass_text_put(&changed, out.data, (size_t)(at - out.data));
    if (from) rsc_pass_text_printf(&changed, "%s%s", to, at + strlen(from));
    assemble(changed.data, "rewritten", &rewritten);
    int status = rsc_pass_verify(&pass, &plain, &rewritten, &error);
    rsc_pass_text_free(&out);
    rsc_pass_text_free(&changed);
    rsc_pass_object_close(&plain);
    rsc_pass_object_close(&rewritten);
    rsc_pass_free(&pass);
    return status;
}

static void test_verify(void **state) {
    static const char text[] =
        FUNCTION("\tmovl (%rdi), %eax\n\ttestl %eax, %eax\n\tje .L9\n\tmovq x(%rip), %rcx\n\taddl 4(%rcx), %eax\n"
                 ".L9:\n\taddl $1, (%rsi)\n\tret\n");
    (void)state;
    assert_int_equal(verified(text, NULL, NULL), 0);
    assert_int_equal(verified(loop_text, NULL, NULL), 0);
    assert_int_equal(verified(text, "\ttestl %eax, %eax\n", "\ttestl %eax, %ecx\n"), RSC_EFORMAT);
    assert_int_equal(verified(text, "\tmovq x(%rip), %rcx\n", "\tmovq y(%rip), %rcx\n"), RSC_EFORMAT);
    assert_int_equal(verified(text, "\tje .L9\n", "\tje f\n"), RSC_EFORMAT);
    assert_int_equal(verified(text, "\tsubq\t$1, %fs", "\txchgl %eax, %ebx\n\tsubq\t$1, %fs"), RSC_EFORMAT);
    /* In recording copies: a flag, a register that is the program's. */
    assert_int_equal(verified(text, ".Lrscw1:\n", "\txorl %r11d, %r11d\n.Lrscw1:\n"), RSC_EFORMAT);
    assert_int_equal(verified(text, ".Lrscw1:\n", "\tmovl $0, %eax\n.Lrscw1:\n"), RSC_EFORMAT);
    assert_int_equal(verified(text, ".Lrscw1:\n\ttestl %eax, %eax\n", ".Lrscw1:\n\ttestl %eax, %edx\n"), RSC_EFORMAT);
    assert_int_equal(verified(text, "\t.size f", "\t.section .rodata\n\t.long 1\n\t.text\n\t.size f"),
                     0); /* nothing of the plain object's */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_statements),
        cmocka_unit_test(test_thread_local_call_is_one),
        cmocka_unit_test(test_operands),
        cmocka_unit_test(test_not_a_compilers),
        cmocka_unit_test(test_facts),
        cmocka_unit_test(test_registers_and_flags),
        cmocka_unit_test(test_live),
        cmocka_unit_test(test_live_behind_calls),
        cmocka_unit_test(test_flags_that_never_die),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_words_of_runs),
        cmocka_unit_test(test_golden),
        cmocka_unit_test(test_verify),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
