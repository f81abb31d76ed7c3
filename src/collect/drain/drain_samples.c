/*
 * drain_samples.c - what programs that sample have chosen themselves: references to the lines of a
 * sample, with how many were passed over between them, or samples of references that are
 * done; see drain_state.h.
 */
#include <stdlib.h>
#include <string.h>

#include "base/line_hash.h"
#include "collect/drain/drain_state.h"

/* ---- where only lines of a sample are kept ---- */

/* So many references of the thread, and so many more references than accesses: perhaps those told before. */
static void count_references(struct rsc_drain *drain, const struct rsc_drain_cursor *cursor, uint64_t references,
                             uint64_t crossings) {
    drain->stats.references += references;
    drain->stats.accesses += references;
    drain->stats.accesses -= crossings < drain->stats.accesses ? crossings : drain->stats.accesses;
    if (cursor->number < drain->thread_room) drain->thread_references[cursor->number] += references;
}

static void take_kept(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, uint64_t addr, uint32_t size,
                      int is_write, uint64_t pc) {
    uint32_t at = drain->count++;
    drain->addr[at] = addr | cursor->space;
    drain->meta[at] = size | (uint64_t)is_write << 32 | (uint64_t)cursor->number << 40;
    drain->pc[at] = pc | cursor->space;
    drain->skipped[at] = cursor->skipped;
    cursor->skipped = 0;
}

/* An access that the thread itself had no time to look at. */
static void look_at(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, const struct rsc_record *record) {
    const uint64_t shift = drain->ring->keep_shift & 63, size = rsc_record_size(record->word);
    uint64_t end = record->addr + (size ? size - 1 : 0), last = end >> shift, references = 0;
    for (uint64_t line = record->addr >> shift; line <= last; line++, references++) {
        if (rsc_line_hash(line, drain->ring->keep_offset) > drain->ring->keep_limit) {
            cursor->skipped++;
            continue;
        }
        uint64_t start = line << shift, from = start > record->addr ? start : record->addr;
        uint64_t line_end = start + (1ull << shift) - 1, to = line_end < end ? line_end : end;
        take_kept(drain, cursor, from, size ? (uint32_t)(to - from + 1) : 0,
                  rsc_record_type(record->word) == RSC_RECORD_WRITE, rsc_record_pc(record->word));
    }
    count_references(drain, cursor, references, references - 1);
}

/* How many references a record stands for: by them it is told when it was made, for kept ones come in bursts. */
static uint64_t references_of(const struct rsc_record *record) {
    uint32_t type = rsc_record_type(record->word);
    if (type == RSC_RECORD_KEPT_READ || type == RSC_RECORD_KEPT_WRITE) return (record->addr >> 48) + 1;
    if (type == RSC_RECORD_SKIPPED) return rsc_record_pc(record->word);
    return type == RSC_RECORD_READ || type == RSC_RECORD_WRITE;
}

uint64_t rsc_drain_references_in(const struct rsc_record *records, uint32_t count) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; i++) sum += references_of(&records[i]);
    return sum;
}

/* Records of up to `most` references; at least one. */
int rsc_drain_take_kept(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot,
                        uint64_t most) {
    const uint64_t end = most < UINT64_MAX - cursor->passed ? cursor->passed + most : UINT64_MAX;
    for (int first = 1; cursor->at < cursor->count && drain->count < RSC_BATCH_ACCESSES - RSC_DRAIN_LINES_OF_ONE;
         cursor->at++, first = 0) {
        const struct rsc_record *record = &cursor->records[cursor->at];
        uint64_t passed = cursor->passed + references_of(record);
        if (!first && passed > end) break;
        cursor->passed = passed;
        uint32_t type = rsc_record_type(record->word);
        uint64_t payload = rsc_record_pc(record->word);
        if (drain->most && drain->stats.accesses >= drain->most)
            __atomic_store_n(&drain->ring->enough, 1, __ATOMIC_RELAXED);
        else if (type == RSC_RECORD_KEPT_READ || type == RSC_RECORD_KEPT_WRITE) {
            cursor->skipped += record->addr >> 48;
            count_references(drain, cursor, (record->addr >> 48) + 1, 0);
            take_kept(drain, cursor, record->addr & ((1ull << 48) - 1), rsc_record_size(record->word),
                      type == RSC_RECORD_KEPT_WRITE, payload);
        } else if (type == RSC_RECORD_SKIPPED) {
            cursor->skipped += payload;
            count_references(drain, cursor, payload, record->addr);
        } else if (type == RSC_RECORD_READ || type == RSC_RECORD_WRITE) {
            look_at(drain, cursor, record);
        } else if (rsc_drain_take_event(drain, cursor, slot, record) < 0) {
            return RSC_ENOMEM;
        }
    }
    return 0;
}

/* ---- where the program samples references ---- */

static int know_sampled_thread(struct rsc_drain *drain, uint64_t identity, uint32_t number) {
    struct rsc_u64_table *table = &drain->sampled_threads;
    if (rsc_u64_table_needs_rebuild(table) && rsc_u64_table_rebuild(table) < 0) return RSC_ENOMEM;
    struct rsc_u64_entry *entry = rsc_u64_table_find(table, identity);
    if (!entry->value) table->used++;
    *entry = (struct rsc_u64_entry){identity, number + 1ull};
    return 0;
}

/* A thread that has told nothing yet counts as the first. */
static uint32_t sampled_thread(struct rsc_drain *drain, uint64_t identity) {
    uint64_t number = rsc_u64_table_find(&drain->sampled_threads, identity)->value;
    return number ? (uint32_t)number - 1 : 0;
}

static int add_sample(struct rsc_drain *drain, const struct rsc_sample_record *sample) {
    if (drain->sample_count == drain->sample_room) {
        size_t room = drain->sample_room ? drain->sample_room * 2 : 1024;
        struct rsc_sample_record *samples = realloc(drain->samples, room * sizeof *samples);
        if (!samples) return RSC_ENOMEM;
        drain->samples = samples;
        drain->sample_room = room;
    }
    if (sample->outcome <= RSC_SAMPLE_CENSORED && sample->weight >= 1) drain->samples[drain->sample_count++] = *sample;
    return 0;
}

/* One of the five records of a sample: see RSC_RECORD_SAMPLE. */
static int take_sample_part(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, const struct rsc_record *record) {
    struct rsc_sample_record *sample = &cursor->sample;
    uint64_t payload = rsc_record_pc(record->word);
    uint32_t bits = (uint32_t)record->addr;
    float variance;
    switch (rsc_record_size(record->word)) {
    case 1:
        *sample =
            (struct rsc_sample_record){.model = payload & 0xff, .outcome = payload >> 8 & 0xff, .line = record->addr};
        return 0;
    case 2: sample->use.pc = payload, sample->distance = record->addr; return 0;
    case 3: sample->reuse.pc = payload, sample->interval = record->addr; return 0;
    case 4:
        memcpy(&sample->weight, &record->addr, sizeof sample->weight);
        sample->use.thread = sampled_thread(drain, payload);
        return 0;
    case 5:
        memcpy(&variance, &bits, sizeof variance);
        sample->variance = variance >= 0 ? variance : 0;
        sample->reuse.thread = sampled_thread(drain, payload);
        return add_sample(drain, sample);
    default: return 0;
    }
}

int rsc_drain_take_samples(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot,
                           uint32_t most) {
    uint32_t end = cursor->count - cursor->at < most ? cursor->count : cursor->at + most;
    for (; cursor->at < end; cursor->at++) {
        const struct rsc_record *record = &cursor->records[cursor->at];
        uint32_t type = rsc_record_type(record->word);
        int status;
        if (type == RSC_RECORD_SAMPLE) status = take_sample_part(drain, cursor, record);
        else if (type == RSC_RECORD_THREAD) status = know_sampled_thread(drain, record->addr, cursor->number);
        else if (type == RSC_RECORD_READ || type == RSC_RECORD_WRITE) status = 0;
        else status = rsc_drain_take_event(drain, cursor, slot, record);
        if (status < 0) return RSC_ENOMEM;
    }
    return 0;
}

/* What a thread says of itself, once it is gone. */
void rsc_drain_take_sampled_counts(struct rsc_drain *drain, const struct rsc_drain_cursor *cursor,
                                   struct rsc_slot *slot) {
    double weight;
    if (!drain->ring->sampled || cursor->generation != slot->generation) return;
    memcpy(&weight, &slot->sampled_weight, sizeof weight);
    count_references(drain, cursor, slot->sampled_references, 0);
    drain->stats.analysed += slot->sampled_analysed;
    drain->stats.begun += slot->sampled_begun;
    if (weight >= 0 && weight < 0x1p62) drain->stats.begun_weight += weight;
    slot->sampled_references = slot->sampled_analysed = slot->sampled_begun = slot->sampled_weight = 0;
}

const struct rsc_sample_record *rsc_drain_samples(const struct rsc_drain *drain, size_t *count) {
    *count = drain->sample_count;
    return drain->samples;
}

const uint64_t *rsc_drain_skipped(const struct rsc_drain *drain) { return drain->skipped; }

uint64_t rsc_drain_thread_references(const struct rsc_drain *drain, uint32_t number) {
    return number < drain->thread_room ? drain->thread_references[number] : 0;
}

/* A number that counts references. */
int rsc_drain_make_thread_room(struct rsc_drain *drain, uint32_t number) {
    uint32_t room = drain->thread_room ? drain->thread_room : 64;
    while (room <= number) room *= 2;
    if (room == drain->thread_room) return 0;
    uint64_t *grown = realloc(drain->thread_references, room * sizeof *grown);
    if (!grown) return RSC_ENOMEM;
    memset(grown + drain->thread_room, 0, (room - drain->thread_room) * sizeof *grown);
    drain->thread_references = grown;
    drain->thread_room = room;
    return 0;
}

/* What a thread that is gone had counted but not told. */
void rsc_drain_take_untold(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot) {
    if (!drain->skipped || cursor->generation != slot->generation) return;
    if (!__atomic_load_n(&slot->raw_busy, __ATOMIC_ACQUIRE)) {
        cursor->skipped += slot->skipped;
        count_references(drain, cursor, slot->skipped, slot->crossings);
        drain->stats.instructions += slot->own_instructions;
        drain->instructions += slot->own_instructions;
    }
    slot->skipped = slot->crossings = slot->own_instructions = 0;
}
