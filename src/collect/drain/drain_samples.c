/*
 * drain_samples.c - blocks of rebuilt programs that sample references themselves (runtime/recorder/asm_sampled.c):
 * their finished samples, and other events.
 */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "collect/drain/drain_state.h"

/* Each process numbers its threads: identities have the bits of its address space. */
static int know_sampled_thread(struct rsc_drain *drain, uint64_t identity, uint32_t number) {
    struct rsc_u64_table *table = &drain->sampled_threads;
    if (rsc_u64_table_needs_rebuild(table) && rsc_u64_table_rebuild(table) < 0) return RSC_ENOMEM;
    struct rsc_u64_entry *entry = rsc_u64_table_find(table, identity);
    if (!entry->value) table->used++;
    *entry = (struct rsc_u64_entry){identity, number + 1ull};
    return 0;
}

int rsc_drain_know_sampled(struct rsc_drain *drain, const struct rsc_drain_cursor *cursor,
                           const struct rsc_slot *slot) {
    const uint64_t as = slot->sampled_as;
    return as ? know_sampled_thread(drain, (uint32_t)(as - 1) | cursor->space, cursor->number) : 0;
}

/*
 * The number of a thread that a sample names. It may have none yet: its own samples come when its block is full, and
 * those of others that it ended, or whose line it took, may come before. One that is not there counts as the first.
 */
static int sampled_thread(struct rsc_drain *drain, const struct rsc_drain_cursor *cursor, const struct rsc_slot *slot,
                          uint32_t identity, uint32_t *number) {
    const uint64_t key = identity | cursor->space;
    *number = 0;
    uint64_t known = rsc_u64_table_find(&drain->sampled_threads, key)->value;
    if (!known) {
        int status = rsc_drain_start_sampled(drain, slot, identity);
        if (status < 0) return status;
        known = rsc_u64_table_find(&drain->sampled_threads, key)->value;
    }
    if (known) *number = (uint32_t)known - 1;
    return 0;
}

#define WAIT_MAX (1ull << 60) /* references */
#define LINES_MAX (1ull << 48) /* addresses have no more bits */
#define WEIGHT_MAX 0x1p48

/* What a sampler can have written. */
static int is_sound(const struct rsc_sample_record *sample) {
    return sample->outcome < RSC_SAMPLE_OUTCOMES && sample->weight >= 1 && sample->weight < WEIGHT_MAX &&
           sample->distance < LINES_MAX && sample->interval < WAIT_MAX;
}

static int add_sample(struct rsc_drain *drain, const struct rsc_sample_record *sample) {
    if (!is_sound(sample)) {
        drain->stats.unknown++;
        return 0;
    }
    if (drain->sample_count == drain->sample_room) {
        size_t room = drain->sample_room ? drain->sample_room * 2 : 1024;
        struct rsc_sample_record *samples = realloc(drain->samples, room * sizeof *samples);
        if (!samples) return RSC_ENOMEM;
        drain->samples = samples;
        drain->sample_room = room;
    }
    drain->samples[drain->sample_count] = *sample;
    drain->samples[drain->sample_count++].after_events = drain->event_count;
    return 0;
}

/* One of the records of a sample: see RSC_RECORD_SAMPLE. Returns 0 or a negative code. */
static int take_sample_part(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, const struct rsc_slot *slot,
                            const struct rsc_record *record) {
    struct rsc_sample_record *sample = &cursor->sample;
    const uint64_t payload = rsc_record_pc(record->word);
    uint32_t bits = (uint32_t)record->addr;
    float variance;
    int status;
    switch (rsc_record_size(record->word)) {
    case 1:
        *sample = (struct rsc_sample_record){.model = payload & 0xff,
                                             .outcome = payload >> 8 & 0xff,
                                             .kept = payload >> 16 & 1,
                                             .burst = (uint32_t)(payload >> 24),
                                             .line = record->addr};
        return 0;
    case 2: sample->use.pc = payload, sample->distance = record->addr; return 0;
    case 3: sample->reuse.pc = payload, sample->interval = record->addr; return 0;
    case 4:
        memcpy(&sample->weight, &record->addr, sizeof sample->weight);
        sample->use.first = payload >> 32 & 63;
        sample->use.last = payload >> 40 & 63;
        status = sampled_thread(drain, cursor, slot, (uint32_t)payload, &sample->use.thread);
        sample->taker.from = sample->use.thread;
        return status;
    case 6:
        sample->taker = (struct rsc_sample_taker){.pc = payload,
                                                  .from = sample->use.thread,
                                                  .first = record->addr >> 32 & 63,
                                                  .last = record->addr >> 40 & 63,
                                                  .is_known = 1};
        return sampled_thread(drain, cursor, slot, (uint32_t)record->addr, &sample->taker.by);
    case 5:
        memcpy(&variance, &bits, sizeof variance);
        sample->variance = variance >= 0 ? variance : 0;
        status = sampled_thread(drain, cursor, slot, (uint32_t)payload, &sample->reuse.thread);
        return status < 0 ? status : add_sample(drain, sample);
    default: return 0;
    }
}

#define STEPS_BATCH 65536u /* kept with a batch; further ones are dropped */

/* One of the two records of a step. A first one without its second is dropped. */
static int take_step_part(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, const struct rsc_record *record) {
    if (cursor->step.word != record->word) {
        cursor->step = *record;
        return 0;
    }
    struct rsc_step step = {rsc_record_pc(record->word), cursor->step.addr, record->addr,
                            rsc_record_size(record->word)};
    cursor->step = (struct rsc_record){0};
    if (drain->step_count >= STEPS_BATCH) return 0;
    if (RSC_GROW(drain->steps, drain->step_room, drain->step_count + 1)) return RSC_ENOMEM;
    drain->steps[drain->step_count++] = step;
    return 0;
}

static int take(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot, uint64_t most) {
    uint32_t end = cursor->count - cursor->at < most ? cursor->count : cursor->at + (uint32_t)most;
    for (; cursor->at < end; cursor->at++) {
        const struct rsc_record *record = &cursor->records[cursor->at];
        uint32_t type = rsc_record_type(record->word);
        int status;
        if (type == RSC_RECORD_SAMPLE) status = take_sample_part(drain, cursor, slot, record);
        else if (type == RSC_RECORD_STEP) status = take_step_part(drain, cursor, record);
        else if (type == RSC_RECORD_THREAD)
            status = know_sampled_thread(drain, (uint32_t)record->addr | cursor->space, cursor->number);
        else if (type == RSC_RECORD_READ || type == RSC_RECORD_WRITE) status = 0;
        else status = rsc_drain_take_event(drain, cursor, slot, record);
        if (status < 0) return status;
    }
    cursor->passed = cursor->at;
    return 0;
}

static uint64_t at_most(uint64_t count, uint64_t most) { return count < most ? count : most; }

/* The thread's own totals, once it is gone. */
static void take_counts(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot) {
    double weight;
    memcpy(&weight, &slot->sampled_weight, sizeof weight);
    const uint64_t references = rsc_drain_count_references(drain, cursor->number, slot->sampled_references, 0);
    drain->stats.analysed += at_most(slot->sampled_analysed, references);
    drain->stats.begun += at_most(slot->sampled_begun, references);
    if (weight >= 0 && weight < 0x1p62) drain->stats.begun_weight += weight;
    slot->sampled_references = slot->sampled_analysed = slot->sampled_begun = slot->sampled_weight = 0;
}

const struct rsc_drain_mode rsc_drain_samples = {
    .rebuilt = 1,
    .begin = rsc_drain_begin_weighed,
    .go_on = rsc_drain_go_on_rebuilt,
    .begin_left = rsc_drain_none_left,
    .take = take,
    .steps = rsc_drain_count_records,
    .gone = take_counts,
};
