/*
 * test_guest_code.c - what the collector makes of machine code: calls, returns,
 * repeats, wide accesses, and our own markers as region.h really assembles them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <reusescope/region.h>
#include <string.h>

#include "collect/qemu/guest_calls.h"
#include "collect/qemu/guest_code.h"

struct sample {
    enum rsc_guest_insn wanted;
    size_t bytes;
    uint8_t code[12];
};

static void x86_64(void **state) {
    static const struct sample samples[] = {
        {RSC_GUEST_CALL, 5, {0xe8, 1, 2, 3, 4}},
        {RSC_GUEST_CALL, 2, {0xff, 0xd0}},                         /* call *%rax */
        {RSC_GUEST_CALL, 3, {0x41, 0xff, 0xd4}},                   /* call *%r12 */
        {RSC_GUEST_CALL, 6, {0xff, 0x15, 1, 2, 3, 4}},             /* call *x(%rip) */
        {RSC_GUEST_CALL, 7, {0xf2, 0xff, 0x15, 1, 2, 3, 4}},       /* bnd call */
        {RSC_GUEST_PLAIN, 2, {0xff, 0xe0}},                        /* jmp *%rax */
        {RSC_GUEST_PLAIN, 2, {0xff, 0x30}},                        /* push (%rax) */
        {RSC_GUEST_RETURN, 1, {0xc3}},
        {RSC_GUEST_RETURN, 2, {0xf3, 0xc3}},
        {RSC_GUEST_RETURN, 3, {0xc2, 8, 0}},
        {RSC_GUEST_REP, 2, {0xf3, 0xa4}},                          /* rep movsb */
        {RSC_GUEST_REP, 3, {0xf3, 0x48, 0xab}},                    /* rep stosq */
        {RSC_GUEST_REP, 2, {0xf2, 0xae}},                          /* repne scasb */
        {RSC_GUEST_PLAIN, 1, {0xa4}},                              /* movsb */
        {RSC_GUEST_PLAIN, 3, {0x48, 0x8b, 0x06}},                  /* mov (%rsi),%rax */
        {RSC_GUEST_PLAIN, 4, {0x83, 0x04, 0x84, 0x01}},            /* addl $1,(%rsp,%rax,4) */
        {RSC_GUEST_WIDE, 4, {0xc5, 0xfd, 0x6f, 0x06}},             /* vmovdqa (%rsi),%ymm0 */
        {RSC_GUEST_WIDE, 4, {0xf3, 0x0f, 0x6f, 0x06}},             /* movdqu (%rsi),%xmm0 */
        {RSC_GUEST_WIDE, 5, {0xf0, 0x48, 0x0f, 0xc7, 0x0e}},       /* lock cmpxchg16b (%rsi) */
        {RSC_GUEST_WIDE, 2, {0xdb, 0x28}},                         /* fldt (%rax) */
        {RSC_GUEST_WIDE, 8, {0x0f, 0x1f, 0x84, 0, 1, 2, 3, 4}},    /* a nop that is no marker */
        {RSC_GUEST_PLAIN, 0, {0}},
        {RSC_GUEST_PLAIN, 1, {0xf3}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
        assert_int_equal(rsc_guest_classify(RSC_GUEST_X86_64, samples[i].code, samples[i].bytes), samples[i].wanted);
}

static void aarch64(void **state) {
    static const struct {
        enum rsc_guest_insn wanted;
        uint32_t word;
    } samples[] = {
        {RSC_GUEST_CALL, 0x94000010},   /* bl */
        {RSC_GUEST_CALL, 0xd63f0020},   /* blr x1 */
        {RSC_GUEST_PLAIN, 0xf9400000},  /* ldr x0, [x0] */
        {RSC_GUEST_PLAIN, 0x38626820},  /* ldrb w0, [x1, x2] */
        {RSC_GUEST_RETURN, 0xd65f03c0}, /* ret */
        {RSC_GUEST_RETURN, 0xd65f0bff}, /* retaa */
        {RSC_GUEST_WIDE, 0xa9bf7bfd},   /* stp x29, x30, [sp, #-16]! */
        {RSC_GUEST_WIDE, 0x3dc00020},   /* ldr q0, [x1] */
        {RSC_GUEST_WIDE, 0x4c407820},   /* ld1 {v0.4s}, [x1] */
        {RSC_GUEST_BEGIN, RSC_MARKER_BEGIN_AARCH64},
        {RSC_GUEST_END, RSC_MARKER_END_AARCH64},
    };
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
        assert_int_equal(rsc_guest_classify(RSC_GUEST_AARCH64, &samples[i].word, 4), samples[i].wanted);
    assert_int_equal(rsc_guest_classify(RSC_GUEST_AARCH64, &samples[0].word, 2), RSC_GUEST_PLAIN);
}

static __attribute__((noinline)) void marked(void) {
    reusescope_begin();
    reusescope_end();
}

/* The two headers name the markers twice, since region.h stands alone: they must agree. */
static void markers_of_the_public_header(void **state) {
    const uint8_t *code = (const uint8_t *)(uintptr_t)marked;
    int begins = 0, ends = 0;
    (void)state;
    marked();
#if defined(__x86_64__)
    for (size_t at = 0; at < 40; at++) {
        enum rsc_guest_insn sort = rsc_guest_classify(RSC_GUEST_X86_64, code + at, 8);
        begins += sort == RSC_GUEST_BEGIN;
        ends += sort == RSC_GUEST_END;
    }
#elif defined(__aarch64__)
    for (size_t at = 0; at < 40; at += 4) {
        enum rsc_guest_insn sort = rsc_guest_classify(RSC_GUEST_AARCH64, code + at, 4);
        begins += sort == RSC_GUEST_BEGIN;
        ends += sort == RSC_GUEST_END;
    }
#else
    (void)code;
    skip();
#endif
    assert_true(begins >= 1 && ends >= 1);
}

static void system_calls(void **state) {
    const struct rsc_guest_syscalls *calls = rsc_guest_syscalls(RSC_GUEST_X86_64);
    (void)state;
    assert_true(rsc_guest_may_block(calls, 202));  /* futex */
    assert_false(rsc_guest_may_block(calls, 39));  /* getpid */
    assert_true(rsc_guest_may_block(rsc_guest_syscalls(RSC_GUEST_AARCH64), 98));
    assert_int_equal(rsc_guest_named("x86_64"), RSC_GUEST_X86_64);
    assert_int_equal(rsc_guest_named("aarch64"), RSC_GUEST_AARCH64);
    assert_int_equal(rsc_guest_named("riscv64"), RSC_GUEST_UNKNOWN);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(x86_64),
        cmocka_unit_test(aarch64),
        cmocka_unit_test(markers_of_the_public_header),
        cmocka_unit_test(system_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
