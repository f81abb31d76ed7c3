/* turns.c - a ticket lock with sleeping waiters. Tickets are served in the order they were drawn. */
#include "collect/turns.h"

#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TURN_INSTRUCTIONS 2000u

static uint32_t next_ticket, serving;
static __thread int has_turn;
static __thread uint32_t used;

void rsc_turn_take(void) {
    if (has_turn) return;
    uint32_t mine = __atomic_fetch_add(&next_ticket, 1, __ATOMIC_ACQ_REL), now;
    while ((now = __atomic_load_n(&serving, __ATOMIC_ACQUIRE)) != mine)
        syscall(SYS_futex, &serving, FUTEX_WAIT_PRIVATE, now, NULL, NULL, 0);
    has_turn = 1;
    used = 0;
}

void rsc_turn_give(void) {
    if (!has_turn) return;
    has_turn = 0;
    __atomic_fetch_add(&serving, 1, __ATOMIC_ACQ_REL);
    syscall(SYS_futex, &serving, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

int rsc_turn_is_over(uint32_t instructions) {
    used += instructions;
    return has_turn && used >= TURN_INSTRUCTIONS;
}

void rsc_turn_reset(void) {
    next_ticket = serving = 0;
    has_turn = 0;
}
