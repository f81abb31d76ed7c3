/* expand.c - see expand.h. */
#include "collect/drain/expand.h"

#include <string.h>

#define ADDRESS 0xffffffffffffull
#define READS 1u
#define WRITES 2u
#define JOINED_LESS_THAN 128u /* bytes; a record's size has 8 bits */

/* The plan of the execution whose words are being read. entries NULL: none. */
struct plan {
    const uint64_t *entries;
    uint32_t count;
};

struct run {
    struct rsc_expansion *expansion;
    const uint64_t *words, *plans;
    uint32_t count;
    uint32_t at;
    struct rsc_record *next; /* output */
    struct plan plan;
};

/* Read once: the program may change it between a check and its use. */
static inline uint64_t look(const uint64_t *word) { return __atomic_load_n(word, __ATOMIC_RELAXED); }

static inline struct rsc_record *put(struct run *run, uint64_t addr, uint64_t word) {
    struct rsc_record *record = run->next++;
    *record = (struct rsc_record){addr, word};
    return record;
}

/* Whether this is another iteration of the previous string. Each iteration but the first is a separate execution. */
static int same_rep(const struct rsc_expansion *expansion, uint64_t pc) {
    return expansion->rep_pc == pc && (expansion->sequence == expansion->rep_sequence ||
                                       (expansion->sequence == expansion->rep_sequence + 1 && expansion->start == pc));
}

/* Pieces of a string extend their record within a line, upwards or downwards. */
static void put_rep(struct run *run, uint64_t addr, uint32_t size, enum rsc_record_type type, uint64_t pc) {
    struct rsc_expansion *expansion = run->expansion;
    if (!same_rep(expansion, pc)) memset(expansion->rep, 0, sizeof expansion->rep);
    expansion->rep_pc = pc;
    expansion->rep_sequence = expansion->sequence;
    for (int i = 0; i < 3; i++) {
        struct rsc_record *open = expansion->rep[i];
        if (!open || rsc_record_type(open->word) != type || open->addr >> 6 != addr >> 6) continue;
        if (addr != open->addr + rsc_record_size(open->word) && addr + size != open->addr) continue;
        if (rsc_record_size(open->word) >= JOINED_LESS_THAN) continue; /* not by a string of the guest */
        if (addr < open->addr) open->addr = addr;
        open->word += (uint64_t)size << 48;
        return;
    }
    struct rsc_record *made = put(run, addr, rsc_record_word(type, size, pc));
    if (type == RSC_RECORD_WRITE) {
        expansion->rep[2] = made;
    } else {
        expansion->rep[0] = expansion->rep[1];
        expansion->rep[1] = made;
    }
}

static inline uint32_t rw_of_loose(uint64_t word) { return (uint32_t)(word >> 51 & 3); }

/* Expands the loose word at run->at, and those that continue it. */
static void take_loose(struct run *run, uint64_t word, uint64_t entry) {
    uint32_t rw = rw_of_loose(word), size = 1u << (word >> 48 & 7), same = (uint32_t)(word >> 51);
    uint64_t addr = word & ADDRESS, pc = entry & ADDRESS;
    run->at++;
    if (entry & RSC_ENTRY_ONLY_WRITES) rw &= WRITES;
    if (!rw) return;
    if (entry & RSC_ENTRY_REP) {
        if (rw & READS) put_rep(run, addr, size, RSC_RECORD_READ, pc);
        if (rw & WRITES) put_rep(run, addr, size, RSC_RECORD_WRITE, pc);
        return;
    }
    while (rw != (READS | WRITES) && size < JOINED_LESS_THAN && run->at < run->count) {
        uint64_t more = look(&run->words[run->at]);
        if ((uint32_t)(more >> 51) != same || (more & ADDRESS) != addr + size) break;
        size += 1u << (more >> 48 & 7);
        run->at++;
    }
    if (rw & READS) put(run, addr, rsc_record_word(RSC_RECORD_READ, size, pc));
    if (rw & WRITES) put(run, addr, rsc_record_word(RSC_RECORD_WRITE, size, pc));
}

/* A fixed word holds the last piece of its access. */
static inline void take_fixed(struct run *run, uint64_t word, uint64_t entry) {
    if (!word) return;
    uint32_t size = 1u << (word >> 48 & 7), pieces = rsc_entry_pieces(entry);
    uint64_t addr = ((word & ADDRESS) - (pieces - 1) * size) & ADDRESS;
    enum rsc_record_type type = word >> 61 & 1 ? RSC_RECORD_WRITE : RSC_RECORD_READ;
    put(run, addr, rsc_record_word(type, size * pieces, entry & ADDRESS));
}

/* Fixed and loose words of one execution, in the order of its instructions. */
static void take_accesses(struct run *run, const uint64_t *fixed, uint32_t fixed_count) {
    uint32_t taken = 0;
    while (run->at < run->count) {
        uint64_t word = look(&run->words[run->at]);
        uint32_t number = (uint32_t)(word >> 53 & 0x3ff);
        if (!(word & RSC_LOOSE)) break;
        if (number >= run->plan.count) { /* never written by our code */
            run->at++;
            continue;
        }
        uint64_t entry = look(&run->plan.entries[number]);
        for (; taken < fixed_count; taken++) {
            uint64_t before = look(&run->plan.entries[taken]);
            if (rsc_entry_order(before) > rsc_entry_order(entry)) break;
            take_fixed(run, look(&fixed[taken]), before);
        }
        take_loose(run, word, entry);
    }
    for (; taken < fixed_count; taken++) take_fixed(run, look(&fixed[taken]), look(&run->plan.entries[taken]));
}

/* Finds the plan of the start at run->at and moves past both. Returns 0 if there is none. */
static int find_plan(struct run *run, uint64_t start, uint64_t head[2]) {
    const uint64_t *plan;
    uint64_t room;
    run->plan = (struct plan){NULL, 0};
    run->at++;
    if (start & RSC_START_INLINE) {
        plan = run->words + run->at;
        room = run->count - run->at;
    } else {
        uint64_t offset = start & 0xffffffffu;
        if (offset >= RSC_PLAN_WORDS) return 0;
        plan = run->plans + offset;
        room = RSC_PLAN_WORDS - offset;
    }
    if (room < 2) return 0;
    head[0] = look(&plan[0]);
    head[1] = look(&plan[1]);
    uint32_t count = rsc_plan_entries(head[1]);
    if (count > room - 2) return 0;
    run->plan = (struct plan){plan + 2, count};
    if (start & RSC_START_INLINE) run->at += 2 + count;
    return 1;
}

/* A new execution: its start shows how the jump before it ended. */
static void begin(struct run *run, uint64_t start, const uint64_t head[2], uint64_t *instructions) {
    struct rsc_expansion *expansion = run->expansion;
    const uint64_t pc = head[0] & ADDRESS;
    int goes_on = 0; /* the same instruction, a string */
    if (expansion->ends != RSC_PLAN_ENDS) {
        if (expansion->ends == RSC_PLAN_ENDS_CALL && (start & RSC_START_CALLS))
            put(run, pc, rsc_record_word(RSC_RECORD_CALL, 1, expansion->end_pc));
        else if (expansion->ends == RSC_PLAN_ENDS_RETURN && (start & RSC_START_CALLS))
            put(run, pc, rsc_record_word(RSC_RECORD_RETURN, 1, 0));
        else if (expansion->ends == RSC_PLAN_ENDS_REP) goes_on = pc == expansion->end_pc;
    }
    if ((start & RSC_START_COUNTED) && !goes_on) *instructions += head[0] >> 48 & 0x3ff;
    expansion->sequence++;
    expansion->start = pc;
    expansion->end_pc = head[1] & ADDRESS;
    expansion->ends = (uint32_t)(head[0] >> 58 & 15);
}

static void take_start(struct run *run, uint64_t start, uint64_t *instructions) {
    uint64_t head[2];
    uint32_t fixed_count = start & RSC_START_INLINE ? 1 : rsc_start_length(start);
    if (!find_plan(run, start, head)) return;
    if (!(start & RSC_START_RESUMED)) begin(run, start, head, instructions);
    fixed_count -= fixed_count > 0; /* to itself */
    const uint64_t *fixed = run->words + run->at;
    if (fixed_count > run->plan.count) fixed_count = run->plan.count;
    if (fixed_count > run->count - run->at) fixed_count = run->count - run->at;
    run->at += fixed_count;
    take_accesses(run, fixed, fixed_count);
}

/* Held-back records come first, with those that may grow. */
static void take_held(struct run *run) {
    struct rsc_expansion *expansion = run->expansion;
    for (int i = 0; i < 3; i++)
        if (expansion->rep[i]) expansion->rep[i] = run->next + (expansion->rep[i] - expansion->held);
    run->next += rsc_expand_held(expansion, run->next);
}

/* A string unfinished at the end may continue: all records from its first growable one on are held back. */
static void hold_back(struct run *run) {
    struct rsc_expansion *expansion = run->expansion;
    struct rsc_record *first = run->next;
    int goes_on = expansion->rep_pc && same_rep(expansion, expansion->rep_pc);
    for (int i = 0; i < 3; i++)
        if (goes_on && expansion->rep[i] && expansion->rep[i] < first) first = expansion->rep[i];
    uint32_t count = (uint32_t)(run->next - first);
    if (!count || count > RSC_EXPANSION_HELD) {
        memset(expansion->rep, 0, sizeof expansion->rep);
        return;
    }
    memcpy(expansion->held, first, count * sizeof *first);
    expansion->held_count = count;
    for (int i = 0; i < 3; i++)
        if (expansion->rep[i]) expansion->rep[i] = expansion->held + (expansion->rep[i] - first);
    run->next = first;
}

uint32_t rsc_expand_held(struct rsc_expansion *expansion, struct rsc_record *records) {
    uint32_t count = expansion->held_count;
    memcpy(records, expansion->held, count * sizeof *records);
    expansion->held_count = 0;
    return count;
}

uint32_t rsc_expand(struct rsc_expansion *expansion, const uint64_t *words, uint32_t count, const uint64_t *plans,
                    struct rsc_record *records, uint64_t *instructions) {
    struct run run = {.expansion = expansion,
                      .words = words,
                      .plans = plans,
                      .plan = {expansion->plan, expansion->plan_count},
                      .count = count,
                      .next = records};
    take_held(&run);
    while (run.at < count) {
        uint64_t word = look(&words[run.at]);
        if (word & RSC_LOOSE) {
            uint32_t at = run.at;
            take_accesses(&run, NULL, 0); /* after a record among an execution's accesses */
            if (run.at == at) run.at++;
        } else if (word & RSC_START) {
            take_start(&run, word, instructions);
        } else if (word && run.at + 1 < count) {
            put(&run, look(&words[run.at + 1]), word);
            run.at += 2;
        } else {
            run.at++;
        }
    }
    hold_back(&run);
    expansion->plan = run.plan.entries;
    expansion->plan_count = run.plan.count;
    return (uint32_t)(run.next - records);
}
