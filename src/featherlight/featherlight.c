/* featherlight.c - collects samples and how watches ended; see featherlight.h. */
#include "featherlight/featherlight.h"

#include <stdlib.h>
#include <string.h>

#include <reusescope/trace.h>

#include "base/fail.h"
#include "base/grow.h"
#include "featherlight/samples.h"
#include "profile/profile_model.h"

int rsc_featherlight_new(struct rsc_featherlight **out, const struct rsc_featherlight_options *options,
                         struct rsc_error *error) {
    struct rsc_featherlight *feather = calloc(1, sizeof *feather);
    *out = NULL;
    if (!feather) return rsc_fail_memory(error, "featherlight engine");
    feather->options = *options;
    if (feather->options.confidence == 0) feather->options.confidence = 90;
    if (feather->options.line_bytes == 0) feather->options.line_bytes = RSC_FEATHERLIGHT_WORD;
    feather->most = RSC_SAMPLES_MOST;
    rsc_rng_seed(&feather->rng, options->seed, 0x7ea7);
    if (rsc_profile_set_text(&feather->by, options->by ? options->by : "featherlight") < 0 ||
        rsc_profile_set_text(&feather->sampling, options->sampling) < 0) {
        rsc_featherlight_free(feather);
        return rsc_fail_memory(error, "featherlight engine");
    }
    *out = feather;
    return 0;
}

void rsc_featherlight_free(struct rsc_featherlight *feather) {
    if (!feather) return;
    for (uint32_t i = 0; i < feather->thread_count; i++) {
        struct rsc_thread_samples *thread = &feather->threads[i];
        free(thread->samples);
        free(thread->slots);
        free(thread->context_samples);
        rsc_u64_table_free(&thread->contexts);
    }
    free(feather->threads);
    free(feather->by);
    free(feather->sampling);
    free(feather);
}

/* ---- threads, slots and contexts ---- */

/* Grows *list, of elements of `size` bytes, to hold `wanted`; new elements are zero. */
static int make_room(void *list, uint32_t *room, uint64_t wanted, size_t size) {
    size_t now = *room;
    char *items;
    if (rsc_grow(list, &now, wanted, size)) return RSC_ENOMEM;
    memcpy(&items, list, sizeof items);
    if (now > *room) memset(items + *room * size, 0, (now - *room) * size);
    *room = (uint32_t)now;
    return 0;
}

static int thread_of(struct rsc_featherlight *feather, uint32_t number, struct rsc_thread_samples **thread,
                     struct rsc_error *error) {
    if (number >= RSC_THREADS_MAX)
        return rsc_fail(error, RSC_EINVAL, "featherlight: thread number %u is beyond %u", number, RSC_THREADS_MAX - 1);
    if (make_room(&feather->threads, &feather->thread_room, (uint64_t)number + 1, sizeof *feather->threads) < 0)
        return rsc_fail_memory(error, "featherlight threads");
    for (; feather->thread_count <= number; feather->thread_count++) {
        feather->threads[feather->thread_count].tid = feather->thread_count;
        feather->threads[feather->thread_count].keep = 1;
    }
    *thread = &feather->threads[number];
    return 0;
}

/* The slot as reported so far; grows the mirror. */
static struct rsc_slot_mirror *slot_of(struct rsc_thread_samples *thread, uint32_t slot) {
    uint32_t before = thread->slot_count;
    if (slot >= before) {
        if (make_room(&thread->slots, &thread->slot_count, (uint64_t)slot + 1, sizeof *thread->slots) < 0) return NULL;
        for (uint32_t i = before; i < thread->slot_count; i++) thread->slots[i].sample = RSC_NO_SAMPLE;
    }
    return &thread->slots[slot];
}

/* The dense number of a context; UINT32_MAX when out of memory. */
static uint32_t context_of(struct rsc_thread_samples *thread, uint64_t context) {
    if (!thread->contexts.entries && rsc_u64_table_init(&thread->contexts, 16) < 0) return UINT32_MAX;
    if (rsc_u64_table_needs_rebuild(&thread->contexts) && rsc_u64_table_rebuild(&thread->contexts) < 0)
        return UINT32_MAX;
    struct rsc_u64_entry *entry = rsc_u64_table_find(&thread->contexts, context);
    if (entry->value) return (uint32_t)entry->value - 1;
    if (make_room(&thread->context_samples, &thread->context_room, thread->context_count + 1,
                  sizeof *thread->context_samples) < 0)
        return UINT32_MAX;
    entry->key = context;
    entry->value = ++thread->context_count;
    thread->contexts.used++;
    return thread->context_count - 1;
}

/* ---- less memory ---- */

static void halve_thread(struct rsc_featherlight *feather, struct rsc_thread_samples *thread) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < thread->count; i++) {
        struct rsc_watched *sample = &thread->samples[i];
        int keep = rsc_rng_u64(&feather->rng) >> 63;
        /* A slot that still watches this sample follows it: indices only get smaller, so none is found twice. */
        for (uint32_t s = 0; sample->ending == RSC_WATCH_UNUSED && s < thread->slot_count; s++)
            if (thread->slots[s].sample == i) thread->slots[s].sample = keep ? kept : RSC_NO_SAMPLE;
        if (!keep) continue;
        sample->stands_for *= 2;
        thread->samples[kept++] = *sample;
    }
    feather->kept -= thread->count - kept;
    thread->count = kept;
    thread->keep /= 2;
}

/* ---- reports ---- */

/* Reports may come from a target's memory: an invalid chance counts as 1, and so does one that no watch gets down to. */
static double sane_chance(double chance) { return chance >= 0x1p-60 && chance <= 1 ? chance : 1; }

static int take_sample(struct rsc_featherlight *feather, struct rsc_thread_samples *thread,
                       const struct rsc_watch_sample *sample) {
    uint32_t context = context_of(thread, sample->context);
    struct rsc_slot_mirror *slot = sample->slot == RSC_NO_SLOT ? NULL : slot_of(thread, sample->slot);
    if (context == UINT32_MAX || (sample->slot != RSC_NO_SLOT && !slot)) return RSC_ENOMEM;
    if (make_room(&thread->samples, &thread->room, (uint64_t)thread->count + 1, sizeof *thread->samples) < 0)
        return RSC_ENOMEM;
    uint32_t before = thread->context_samples[context].taken++;
    feather->totals.samples++;
    if (slot) {
        feather->totals.armed++;
        *slot = (struct rsc_slot_mirror){RSC_NO_SAMPLE, before};
    }
    /* A sample taken after samples were dropped is dropped with the same probability. */
    if (thread->keep < 1 && rsc_rng_double(&feather->rng) >= thread->keep) return 0;
    thread->samples[thread->count] = (struct rsc_watched){
        .count = sample->count,
        .stands_for = (double)(sample->stands_for ? sample->stands_for : 1) / thread->keep,
        .use_pc = sample->pc,
        .use_path = sample->path,
        .reuse_path = RSC_NO_CONTEXT,
        .context = context,
        .ending = RSC_WATCH_NOT,
        .cycles = sample->cycles,
        .source = (uint16_t)(sample->source < RSC_SOURCES ? sample->source : RSC_SOURCE_UNKNOWN),
        .shape = (uint16_t)(sample->shape < RSC_WATCH_SHAPES ? sample->shape : RSC_WATCH_WORD),
        .scarcity = rsc_scarcity(slot || sample->chance < 1 ? sane_chance(sample->chance) : 0),
    };
    if (slot) {
        slot->sample = thread->count;
        /* until it ends otherwise */
        thread->samples[thread->count].ending = RSC_WATCH_UNUSED;
        thread->samples[thread->count].since = 1;
        thread->samples[thread->count].chance = sane_chance(sample->chance);
    }
    thread->count++;
    feather->kept++;
    return 0;
}

int rsc_featherlight_sample(struct rsc_featherlight *feather, uint32_t number, const struct rsc_watch_sample *sample,
                            struct rsc_error *error) {
    struct rsc_thread_samples *thread = NULL;
    int status = thread_of(feather, number, &thread, error);
    if (status < 0) return status;
    if (sample->slot != RSC_NO_SLOT && sample->slot >= RSC_WATCH_SLOTS_MAX)
        return rsc_fail(error, RSC_EINVAL, "featherlight: slot %u is beyond %u", sample->slot, RSC_WATCH_SLOTS_MAX - 1);
    if (sample->count > thread->last_count) thread->last_count = sample->count;
    if (feather->kept >= feather->most) {
        for (uint32_t i = 0; i < feather->thread_count; i++) halve_thread(feather, &feather->threads[i]);
        feather->halved++;
    }
    return take_sample(feather, thread, sample) < 0 ? rsc_fail_memory(error, "featherlight samples") : 0;
}

int rsc_featherlight_ending(struct rsc_featherlight *feather, uint32_t number, const struct rsc_watch_end *end,
                            struct rsc_error *error) {
    struct rsc_thread_samples *thread = NULL;
    int status = thread_of(feather, number, &thread, error);
    if (status < 0) return status;
    if (end->slot >= RSC_WATCH_SLOTS_MAX)
        return rsc_fail(error, RSC_EINVAL, "featherlight: slot %u is beyond %u", end->slot, RSC_WATCH_SLOTS_MAX - 1);
    if ((unsigned)end->ending > RSC_WATCH_DROPPED)
        return rsc_fail(error, RSC_EINVAL, "featherlight: unknown watch ending %u", (unsigned)end->ending);
    struct rsc_slot_mirror *slot = slot_of(thread, end->slot);
    if (!slot) return rsc_fail_memory(error, "featherlight slots");
    uint64_t *const totals[] = {&feather->totals.reused, &feather->totals.replaced, &feather->totals.unused,
                                &feather->totals.dropped};
    ++*totals[end->ending];
    if (end->count > thread->last_count) thread->last_count = end->count;
    if (slot->sample == RSC_NO_SAMPLE) return 0;
    struct rsc_watched *sample = &thread->samples[slot->sample];
    sample->ending = end->ending;
    sample->interval = end->count > sample->count ? end->count - sample->count : 0;
    if (end->ending == RSC_WATCH_REUSED) {
        if (!sample->interval) sample->interval = 1; /* the count was read late: it was at least one access */
        sample->reuse_pc = end->pc;
        sample->reuse_path = end->path;
    }
    sample->chance = sane_chance(end->chance);
    struct rsc_context_samples *context = &thread->context_samples[sample->context];
    int since_last = feather->options.attribution == RSC_ATTRIBUTE_SINCE_LAST;
    sample->since = context->taken - (since_last ? context->at_last_hit : slot->since_before);
    if (end->ending == RSC_WATCH_REUSED) context->at_last_hit = context->taken;
    slot->sample = RSC_NO_SAMPLE;
    return 0;
}

int rsc_featherlight_thread(struct rsc_featherlight *feather, uint32_t number, uint64_t pid, uint64_t tid,
                            uint64_t references, uint64_t accesses, struct rsc_error *error) {
    struct rsc_thread_samples *thread = NULL;
    int status = thread_of(feather, number, &thread, error);
    if (status < 0) return status;
    thread->pid = pid;
    thread->tid = tid;
    thread->references = references;
    thread->accesses = accesses;
    return 0;
}

int rsc_featherlight_take(struct rsc_featherlight *feather, const struct rsc_watch_record *records, size_t count,
                          struct rsc_error *error) {
    int status = 0;
    for (size_t i = 0; !status && i < count; i++) {
        const struct rsc_watch_record *record = &records[i];
        const struct rsc_watch_progress *progress = &record->progress;
        switch (record->type) {
        case RSC_WATCH_RECORD_SAMPLE:
            status = rsc_featherlight_sample(feather, record->thread, &record->sample, error);
            break;
        case RSC_WATCH_RECORD_END:
            status = rsc_featherlight_ending(feather, record->thread, &record->end, error);
            break;
        case RSC_WATCH_RECORD_PROGRESS:
            status = rsc_featherlight_thread(feather, record->thread, progress->pid, progress->tid,
                                             progress->references, progress->accesses, error);
            break;
        }
    }
    return status;
}

int rsc_featherlight_set_sampling(struct rsc_featherlight *feather, const char *sampling) {
    return rsc_profile_set_text(&feather->sampling, sampling);
}

void rsc_featherlight_totals(const struct rsc_featherlight *feather, struct rsc_featherlight_totals *totals) {
    *totals = feather->totals;
    totals->references = 0;
    for (uint32_t i = 0; i < feather->thread_count; i++) totals->references += feather->threads[i].references;
}

int rsc_featherlight_finish(struct rsc_featherlight *feather, struct rsc_profile **out, struct rsc_error *error) {
    *out = rsc_profile_new();
    if (*out && rsc_featherlight_fill(feather, *out) == 0) return 0;
    rsc_profile_free(*out);
    *out = NULL;
    return rsc_fail_memory(error, "profile");
}
