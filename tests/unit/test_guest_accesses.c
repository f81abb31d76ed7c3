/*
 * test_guest_accesses.c - what is certain of an instruction's accesses from its
 * bytes, and above all what is not. That QEMU does as said is live_run_exact's and
 * live_run_aarch64's to see.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "collect/qemu/guest_accesses.h"

struct sample {
    char wanted[8]; /* R, W, RW, "-" none, "?" uncertain; 2 or 4 for so many pieces */
    size_t bytes;
    uint8_t code[12];
};

static void check(enum rsc_guest guest, const char *wanted, const void *code, size_t bytes) {
    struct rsc_guest_accesses got = rsc_guest_accesses(guest, code, bytes);
    assert_int_equal(got.certain, wanted[0] != '?');
    if (!got.certain) return;
    assert_int_equal(got.reads, strchr(wanted, 'R') != NULL);
    assert_int_equal(got.writes, strchr(wanted, 'W') != NULL);
    assert_int_equal(got.pieces, strchr(wanted, '2') ? 2 : strchr(wanted, '4') ? 4 : 1);
}

static void x86_64(void **state) {
    static const struct sample samples[] = {
        {"R", 3, {0x48, 0x8b, 0x06}},                   /* mov (%rsi),%rax */
        {"-", 3, {0x48, 0x8b, 0xc6}},                   /* mov %rsi,%rax */
        {"W", 3, {0x48, 0x89, 0x06}},                   /* mov %rax,(%rsi) */
        {"R", 9, {0x64, 0x48, 0x8b, 4, 0x25, 40, 0, 0, 0}}, /* mov %fs:40,%rax */
        {"RW", 3, {0x83, 0x00, 0x01}},                  /* addl $1,(%rax) */
        {"R", 3, {0x83, 0x38, 0x01}},                   /* cmpl $1,(%rax) */
        {"R", 2, {0x3b, 0x06}},                         /* cmp (%rsi),%eax */
        {"R", 2, {0x39, 0x06}},                         /* cmp %eax,(%rsi) */
        {"?", 4, {0xf0, 0x83, 0x00, 0x01}},             /* lock addl */
        {"?", 2, {0x87, 0x06}},                         /* xchg */
        {"W", 1, {0x55}},
        {"R", 1, {0x5d}},
        {"R", 1, {0xc3}},
        {"R", 2, {0xf3, 0xc3}},
        {"R", 1, {0xc9}},
        {"W", 5, {0xe8, 1, 2, 3, 4}},
        {"RW", 6, {0xff, 0x15, 1, 2, 3, 4}},            /* call *x(%rip) */
        {"W", 2, {0xff, 0xd0}},                         /* call *%rax */
        {"R", 2, {0xff, 0x20}},                         /* jmp *(%rax) */
        {"?", 2, {0xff, 0x18}},
        {"?", 2, {0xff, 0x28}}, /* far */
        {"-", 2, {0x74, 0x10}},
        {"-", 4, {0x48, 0x8d, 0x46, 1}},
        {"-", 4, {0xf3, 0x0f, 0x1e, 0xfa}},
        {"?", 2, {0xf3, 0xa4}},
        {"?", 1, {0xa4}},       /* strings */
        {"?", 4, {0xf3, 0x48, 0x0f, 0xae}},             /* rdfsbase and kin */
        {"R2", 4, {0xf3, 0x0f, 0x6f, 0x06}},            /* movdqu */
        {"W2", 4, {0x66, 0x0f, 0x7f, 0x06}},            /* movdqa */
        {"?", 3, {0x0f, 0x6f, 0x06}},                   /* movq of MMX */
        {"R", 4, {0xf2, 0x0f, 0x10, 0x06}},             /* movsd */
        {"R2", 3, {0x0f, 0x10, 0x06}},                  /* movups */
        {"R", 4, {0xf2, 0x0f, 0x58, 0x06}},             /* addsd */
        {"R2", 3, {0x0f, 0x58, 0x06}},                  /* addps */
        {"R2", 4, {0x66, 0x0f, 0xef, 0x06}},            /* pxor */
        {"?", 3, {0x0f, 0xef, 0x06}},                   /* pxor of MMX */
        {"?", 4, {0x66, 0x0f, 0x6c, 0x06}},             /* punpcklqdq */
        {"W2", 4, {0x66, 0x0f, 0xe7, 0x06}},
        {"W2", 3, {0x0f, 0x2b, 0x06}},
        {"?", 3, {0x0f, 0xe7, 0x06}}, /* movnt... */
        {"?", 4, {0x66, 0x0f, 0x2e, 0x06}},             /* ucomisd */
        {"R4", 4, {0xc5, 0xfd, 0x6f, 0x06}},            /* vmovdqa (%rsi),%ymm0 */
        {"-", 4, {0xc5, 0xfd, 0x6f, 0xc1}},             /* vmovdqa %ymm1,%ymm0 */
        {"R2", 4, {0xc5, 0xf9, 0x6f, 0x06}},            /* vmovdqa (%rsi),%xmm0 */
        {"W4", 4, {0xc5, 0xfe, 0x7f, 0x06}},            /* vmovdqu %ymm0,(%rsi) */
        {"W4", 4, {0xc5, 0xfd, 0xe7, 0x06}},            /* vmovntdq */
        {"R4", 6, {0xc4, 0xc1, 0x7e, 0x6f, 0x47, 0x20}}, /* vmovdqu 32(%r15),%ymm0 */
        {"R4", 4, {0xc5, 0xf5, 0x74, 0x06}},            /* vpcmpeqb (%rsi),%ymm1,%ymm0 */
        {"R", 4, {0xc5, 0xfb, 0x10, 0x06}},             /* vmovsd */
        {"R", 4, {0xc5, 0xf3, 0x58, 0x06}},             /* vaddsd */
        {"R4", 4, {0xc5, 0xf4, 0x58, 0x06}},            /* vaddps */
        {"R", 5, {0xc4, 0xe1, 0xf9, 0x6e, 0x06}},       /* vmovq */
        {"?", 5, {0xc4, 0xe2, 0x7d, 0x18, 0x06}},       /* vbroadcastss */
        {"?", 6, {0xc4, 0xe2, 0x75, 0x8c, 0x06, 0}},    /* vpmaskmovd */
        {"?", 4, {0xc5, 0xfd, 0x2e, 0x06}},
        {"?", 5, {0xc5, 0xf9, 0xc6, 0x06, 1}},
        {"?", 3, {0xc5, 0xf8, 0x77}}, /* others */
        {"?", 1, {0xc5}},
        {"?", 2, {0xc5, 0xfd}},
        {"?", 3, {0xc5, 0xfd, 0x6f}},
        {"?", 4, {0xc4, 0xc1, 0x7e, 0x6f}},
        {"?", 3, {0x0f, 0xc7, 0x08}},
        {"?", 3, {0x0f, 0xb1, 0x0e}},
        {"?", 3, {0x0f, 0xab, 0x06}}, /* cmpxchg8b, cmpxchg, bts */
        {"?", 3, {0x0f, 0xae, 0x20}},                   /* xsave */
        {"?", 0, {0}},
        {"?", 1, {0x66}},
        {"?", 1, {0x48}},
        {"?", 1, {0x0f}},
        {"?", 1, {0x8b}},
        {"?", 2, {0x48, 0x83}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
        check(RSC_GUEST_X86_64, samples[i].wanted, samples[i].code, samples[i].bytes);
}

static void aarch64(void **state) {
    static const struct {
        char wanted[4];
        uint32_t word;
    } samples[] = {
        {"R", 0xf9400020},  /* ldr x0, [x1] */
        {"W", 0xb9000020},  /* str w0, [x1] */
        {"R", 0xb9800020},  /* ldrsw x0, [x1] */
        {"R", 0xf8627820},  /* ldr x0, [x1, x2, lsl #3] */
        {"W", 0xf81f0fe0},  /* str x0, [sp, #-16]! */
        {"R", 0x58000040},  /* ldr x0, label */
        {"-", 0xf9800020},  /* prfm */
        {"R2", 0xa9400440}, /* ldp x0, x1, [x2] */
        {"W2", 0xa9bf7bfd}, /* stp x29, x30, [sp, #-16]! */
        {"R2", 0x69400440}, /* ldpsw x0, x1, [x2] */
        {"?", 0x3dc00020},  /* ldr q0, [x1] */
        {"?", 0xad000440},  /* stp q0, q1, [x2] */
        {"?", 0xc85f7c20},  /* ldxr */
        {"?", 0xf8200022},  /* ldadd */
        {"?", 0xd50b7420},  /* dc zva */
        {"?", 0xa4000000},  /* SVE */
        {"-", 0x8b020020},  {"-", 0x91000420}, {"-", 0x94000010},
        {"-", 0xd65f03c0},  {"-", 0x1e622820}, {"-", 0x54000040},
    };
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
        check(RSC_GUEST_AARCH64, samples[i].wanted, &samples[i].word, 4);
    check(RSC_GUEST_UNKNOWN, "?", samples, 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(x86_64), cmocka_unit_test(aarch64)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
