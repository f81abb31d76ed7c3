/* turns.c - a ticket lock with sleeping waiters. Tickets are served in the order they were drawn. */
#include "collect/qemu/turns.h"

#include <errno.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define TURN_INSTRUCTIONS 2000u
#define STUCK_NS 50000000

static uint32_t next_ticket, serving, kept;
static __thread int has_turn;
static __thread uint32_t ticket, used;

static void give(void) {
    uint32_t mine = ticket;
    /* Unless it was lost meanwhile. */
    __atomic_compare_exchange_n(&serving, &mine, ticket + 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
    syscall(SYS_futex, &serving, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

static void wait_in_line(void) {
    const struct timespec limit = {0, STUCK_NS};
    uint32_t now;
    while ((now = __atomic_load_n(&serving, __ATOMIC_ACQUIRE)) != ticket) {
        if ((int32_t)(now - ticket) > 0) { /* its turn came and was lost before it woke: back to the end of the queue */
            ticket = __atomic_fetch_add(&next_ticket, 1, __ATOMIC_ACQ_REL);
            continue;
        }
        long status = syscall(SYS_futex, &serving, FUTEX_WAIT_PRIVATE, now, &limit, NULL, 0);
        if (status < 0 && errno == ETIMEDOUT && now + 1 == ticket && !__atomic_load_n(&kept, __ATOMIC_ACQUIRE))
            __atomic_compare_exchange_n(&serving, &now, ticket, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
    }
    used = 0;
}

void rsc_turn_take(void) {
    if (has_turn) return;
    ticket = __atomic_fetch_add(&next_ticket, 1, __ATOMIC_ACQ_REL);
    wait_in_line();
    has_turn = 1;
}

void rsc_turn_give(void) {
    if (!has_turn) return;
    has_turn = 0;
    give();
}

void rsc_turn_pass(void) {
    if (!has_turn) return;
    uint32_t next = __atomic_fetch_add(&next_ticket, 1, __ATOMIC_ACQ_REL);
    give();
    ticket = next;
    wait_in_line();
}

void rsc_turn_keep(int keep) {
    if (has_turn) __atomic_store_n(&kept, (uint32_t)keep, __ATOMIC_RELEASE);
}

int rsc_turn_is_over(uint32_t instructions) {
    used += instructions;
    return has_turn && used >= TURN_INSTRUCTIONS;
}

void rsc_turn_reset(void) {
    next_ticket = serving = kept = 0;
    has_turn = 0;
}
