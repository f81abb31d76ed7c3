/*
 * thread_table.c - numbers for (pid, tid) pairs, dense and in order of
 * appearance.
 *
 * Accesses of one thread come in runs, so the last number found is tried first.
 * Otherwise a hash table finds it; its slots (a number plus one, 0 for free) follow
 * the threads in the same block, two per thread, so that a file with millions of
 * threads stays linear.
 */
#include <stdlib.h>
#include <string.h>

#include "trace/source.h"

#define FIRST_ROOM 64u
#define SLOTS_PER_THREAD 2u

_Static_assert((FIRST_ROOM & (FIRST_ROOM - 1)) == 0, "slots are found with a mask");

static uint32_t *slots_of(const struct rsc_thread_table *table) { return (uint32_t *)(table->threads + table->room); }

static uint32_t hash(uint64_t pid, uint64_t tid) {
    uint64_t mixed = (tid ^ pid * 0x9e3779b97f4a7c15ull) * 0xd1342543de82ef95ull;
    mixed ^= mixed >> 32;
    return (uint32_t)(mixed * 0x9e3779b97f4a7c15ull >> 32);
}

/* The slot that holds (pid, tid), or the free one where it belongs. */
static uint32_t *find_slot(const struct rsc_thread_table *table, uint64_t pid, uint64_t tid) {
    uint32_t *slots = slots_of(table), mask = table->room * SLOTS_PER_THREAD - 1;
    uint32_t at = hash(pid, tid) & mask;
    for (; slots[at]; at = (at + 1) & mask) {
        const struct rsc_thread *thread = &table->threads[slots[at] - 1];
        if (thread->tid == tid && thread->pid == pid) break;
    }
    return &slots[at];
}

static int grow(struct rsc_thread_table *table) {
    struct rsc_thread_table larger = {.count = table->count, .room = table->room ? table->room * 2 : FIRST_ROOM};
    larger.threads = calloc(larger.room, sizeof *larger.threads + SLOTS_PER_THREAD * sizeof(uint32_t));
    if (!larger.threads) return RSC_ENOMEM;
    if (table->count) memcpy(larger.threads, table->threads, table->count * sizeof *table->threads);
    for (uint32_t i = 0; i < larger.count; i++)
        *find_slot(&larger, larger.threads[i].pid, larger.threads[i].tid) = i + 1;
    free(table->threads);
    table->threads = larger.threads;
    table->room = larger.room;
    return 0;
}

int64_t rsc_thread_number(struct rsc_thread_table *table, uint64_t pid, uint64_t tid) {
    if (table->last < table->count && table->threads[table->last].tid == tid && table->threads[table->last].pid == pid)
        return table->last;
    uint32_t *slot = table->room ? find_slot(table, pid, tid) : NULL;
    if (slot && *slot) return table->last = *slot - 1;

    if (table->count == RSC_THREADS_MAX) return RSC_ELIMIT;
    if (table->count == table->room) {
        int status = grow(table);
        if (status < 0) return status;
        slot = find_slot(table, pid, tid);
    }
    table->threads[table->count] = (struct rsc_thread){.pid = pid, .tid = tid};
    table->last = table->count++;
    *slot = table->count;
    return table->last;
}

void rsc_thread_table_free(struct rsc_thread_table *table) {
    free(table->threads);
    *table = (struct rsc_thread_table){0};
}
