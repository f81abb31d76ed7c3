/*
 * guest_code.h - classifies a guest's instructions and system calls: which instructions
 * end a block with a call or return, are rep strings or our markers; which system calls
 * map memory or may block.
 */
#ifndef RSC_COLLECT_QEMU_GUEST_CODE_H
#define RSC_COLLECT_QEMU_GUEST_CODE_H

#include <stddef.h>
#include <stdint.h>

enum rsc_guest { RSC_GUEST_UNKNOWN, RSC_GUEST_X86_64, RSC_GUEST_AARCH64 };

/* By QEMU's target name. */
enum rsc_guest rsc_guest_named(const char *name);

enum rsc_guest_insn {
    RSC_GUEST_PLAIN = 0,
    RSC_GUEST_CALL,
    RSC_GUEST_RETURN,
    RSC_GUEST_REP,   /* a string instruction with a repeat prefix */
    RSC_GUEST_WIDE,  /* may access more than 8 bytes or several places, or be atomic: executed by a QEMU helper */
    RSC_GUEST_STORE, /* an exclusive store: QEMU also reads, to compare and swap; the guest does not */
    RSC_GUEST_BEGIN, /* reusescope_begin() */
    RSC_GUEST_END,   /* reusescope_end() */
    RSC_GUEST_ALLOCATED, /* guest_preload.c for Valgrind: rsi bytes at rdi */
    RSC_GUEST_FREED,     /* the block at rdi */
};

enum rsc_guest_insn rsc_guest_classify(enum rsc_guest guest, const void *code, size_t bytes);

/* Instructions by which threads synchronise: */
enum rsc_guest_order {
    RSC_GUEST_UNORDERED = 0,
    RSC_GUEST_ATOMIC, /* also fences, and loads that acquire and stores that release where they have instructions */
    RSC_GUEST_SPINS, /* a hint that the thread waits in a loop */
};
enum rsc_guest_order rsc_guest_order(enum rsc_guest guest, const void *code, size_t bytes);

struct rsc_guest_syscalls {
    int64_t getpid, mmap, execve, execveat, exit, exit_group, clone, clone3;
    int64_t blocking[24]; /* ends with -1 */
};

const struct rsc_guest_syscalls *rsc_guest_syscalls(enum rsc_guest guest);
int rsc_guest_may_block(const struct rsc_guest_syscalls *calls, int64_t number);

#endif
