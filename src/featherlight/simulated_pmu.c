/* simulated_pmu.c - see simulated_pmu.h. */
#include "featherlight/simulated_pmu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/grow.h"
#include "profile/profile_model.h"
#include "trace/references.h"

#define BLOCK 1024u
#define WORD_SHIFT 3u
#define LINE_SHIFT 6u
#define TAGS 512u
#define PERIOD_SAMPLES 4096u
#define MAPPINGS_MAX 65536u

/* Words watched by a slot. */
struct watch {
    uint64_t words[RSC_WATCH_SHAPE_WORDS];
    uint32_t count;
};

/* A thread's unit: counters, registers, and a pending sample. */
struct unit {
    uint64_t clock;      /* the thread's references so far */
    uint64_t accesses;
    uint64_t left[2];    /* loads, stores until the next overflow */
    uint64_t gap[2];     /* the period these were drawn with */
    uint64_t mask;       /* bit (word % 64), or of its line where lines are watched, is set for every watched word */
    struct watch *watch; /* [slots] */
    struct rsc_watch_slots slots;
    struct rsc_rng rng;
    /* skid: sampled, not yet watched */
    int pending;
    uint64_t due, pending_word, pending_pc, pending_context, pending_for;
    /* shadow */
    uint64_t *tags; /* [TAGS]; line + 1 */
    uint64_t shadow_until;
};

struct rsc_simulated_pmu {
    struct rsc_pmu_options options;
    struct rsc_featherlight *feather;
    struct unit **units; /* by thread number; NULL: not seen */
    uint32_t unit_count;
    uint64_t period, samples_at_period;
    uint32_t mask_shift; /* shift from words to the granularity of `mask` */
    struct rsc_thread *threads; /* thread identities from the trace */
    uint32_t thread_count;
    struct rsc_mapping_row *mappings;
    uint32_t mapping_count, mapping_room;
    uint64_t lines[BLOCK];
    uint32_t from[BLOCK];
};

static int watches_lines(const struct rsc_simulated_pmu *pmu) {
    return pmu->options.estimate.line_bytes == RSC_FEATHERLIGHT_LINE;
}

/* ---- units ---- */

static void unit_free(struct unit *unit) {
    if (!unit) return;
    free(unit->tags);
    free(unit->watch);
    free(unit->slots.slot);
    free(unit);
}

/* References until the next overflow. */
static void reload(struct rsc_simulated_pmu *pmu, struct unit *unit, unsigned kind, int first) {
    uint64_t period = pmu->period;
    unit->gap[kind] = period;
    if (!pmu->options.fixed) unit->left[kind] = rsc_rng_geometric(&unit->rng, (double)period);
    else unit->left[kind] = first ? 1 + rsc_rng_below(&unit->rng, period) : period;
}

static struct unit *unit_new(struct rsc_simulated_pmu *pmu, uint32_t number) {
    struct unit *unit = calloc(1, sizeof *unit);
    uint32_t registers = pmu->options.registers / (watches_lines(pmu) ? RSC_REGISTERS_A_LINE : 1);
    if (!unit) return NULL;
    unit->watch = calloc(registers, sizeof *unit->watch);
    struct rsc_watch_slot *slot = calloc(registers, sizeof *slot);
    if (pmu->options.shadow) unit->tags = calloc(TAGS, sizeof *unit->tags);
    unit->slots.slot = slot;
    if (!unit->watch || !slot || (pmu->options.shadow && !unit->tags)) {
        unit_free(unit);
        return NULL;
    }
    uint64_t seed = pmu->options.estimate.seed;
    rsc_rng_seed(&unit->rng, seed, 2ull * number + 1);
    rsc_watch_slots_init(&unit->slots, slot, registers, pmu->options.replacement, seed, 2ull * number + 2);
    reload(pmu, unit, RSC_READ, 1);
    reload(pmu, unit, RSC_WRITE, 1);
    return unit;
}

static struct unit *unit_of(struct rsc_simulated_pmu *pmu, uint32_t number) {
    uint32_t before = pmu->unit_count;
    if (RSC_GROW(pmu->units, pmu->unit_count, number + 1ull)) return NULL;
    for (uint32_t i = before; i < pmu->unit_count; i++) pmu->units[i] = NULL;
    if (!pmu->units[number]) pmu->units[number] = unit_new(pmu, number);
    return pmu->units[number];
}

static void set_mask(const struct rsc_simulated_pmu *pmu, struct unit *unit) {
    unit->mask = 0;
    for (uint32_t s = 0; s < unit->slots.count; s++)
        if (rsc_watch_slots_holds(&unit->slots, s))
            unit->mask |= 1ull << (unit->watch[s].words[0] >> pmu->mask_shift & 63);
}

/* ---- samples and hits ---- */

static int arm(struct rsc_simulated_pmu *pmu, struct unit *unit, uint32_t number, uint64_t word, uint64_t pc,
               uint64_t context, uint64_t stands_for, struct rsc_error *error) {
    struct rsc_watch_choice choice = rsc_watch_slots_sample(&unit->slots);
    enum rsc_watch_shape shape = RSC_WATCH_WORD;
    int status = 0;
    if (watches_lines(pmu)) shape = RSC_WATCH_QUARTER + (unsigned)rsc_rng_below(&unit->rng, RSC_WATCH_LINE_SHAPES);
    if (choice.replaced) {
        struct rsc_watch_end end = {.count = unit->clock,
                                    .slot = choice.slot,
                                    .path = RSC_NO_CONTEXT,
                                    .chance = 1,
                                    .ending = RSC_WATCH_REPLACED};
        status = rsc_featherlight_ending(pmu->feather, number, &end, error);
        if (status < 0) return status;
    }
    struct rsc_watch_sample sample = {
        .count = unit->clock,
        .address = word << WORD_SHIFT,
        .pc = pc,
        .context = context,
        .stands_for = stands_for,
        .slot = choice.slot,
        .path = RSC_NO_CONTEXT,
        .chance = choice.chance,
        .shape = shape,
    };
    if (choice.slot != RSC_NO_SLOT) {
        struct watch *watch = &unit->watch[choice.slot];
        watch->count = rsc_watch_shape_words(shape, word, watch->words);
        set_mask(pmu, unit);
    }
    return rsc_featherlight_sample(pmu->feather, number, &sample, error);
}

/* Words that a reference touches: one, or several of a line. */
struct touched {
    uint64_t first, last;
};

static int touches(const struct watch *watch, struct touched touched) {
    for (uint32_t i = 0; i < watch->count; i++)
        if (watch->words[i] >= touched.first && watch->words[i] <= touched.last) return 1;
    return 0;
}

/* Every slot that watches one of the words is hit: there may be two if it was sampled twice. */
static int hit(struct rsc_simulated_pmu *pmu, struct unit *unit, uint32_t number, struct touched touched, uint64_t pc,
               struct rsc_error *error) {
    for (uint32_t s = 0; s < unit->slots.count; s++) {
        if (!rsc_watch_slots_holds(&unit->slots, s) || !touches(&unit->watch[s], touched)) continue;
        struct rsc_watch_end end = {
            .count = unit->clock, .pc = pc, .slot = s, .path = RSC_NO_CONTEXT, .ending = RSC_WATCH_REUSED};
        end.chance = rsc_watch_slots_release(&unit->slots, s);
        int status = rsc_featherlight_ending(pmu->feather, number, &end, error);
        if (status < 0) return status;
    }
    set_mask(pmu, unit);
    return 0;
}

static int in_shadow(struct rsc_simulated_pmu *pmu, struct unit *unit, uint64_t word) {
    uint64_t line = word >> 3;
    int dark = unit->clock < unit->shadow_until;
    if (unit->tags[line % TAGS] != line + 1) {
        unit->tags[line % TAGS] = line + 1;
        unit->shadow_until = unit->clock + 1 + pmu->options.shadow;
    }
    return dark;
}

static int overflow(struct rsc_simulated_pmu *pmu, struct unit *unit, uint32_t number, uint64_t word, uint64_t pc,
                    unsigned kind, int has_pc, struct rsc_error *error) {
    uint64_t stands_for = unit->gap[kind];
    if (!pmu->options.period && ++pmu->samples_at_period >= PERIOD_SAMPLES && pmu->period < 1ull << 40) {
        pmu->period *= 2;
        pmu->samples_at_period = 0;
    }
    reload(pmu, unit, kind, 0);
    uint64_t context = has_pc ? pc : kind,
             late = pmu->options.skid ? rsc_rng_below(&unit->rng, pmu->options.skid + 1ull) : 0;
    if (unit->pending) return 0;
    if (!late) return arm(pmu, unit, number, word, pc, context, stands_for, error);
    unit->pending = 1;
    unit->due = unit->clock + late;
    unit->pending_word = word;
    unit->pending_pc = pc;
    unit->pending_context = context;
    unit->pending_for = stands_for;
    return 0;
}

static int reference(struct rsc_simulated_pmu *pmu, struct unit *unit, uint32_t number, struct touched touched,
                     unsigned kind, uint64_t pc, int has_pc, struct rsc_error *error) {
    int status = 0;
    unit->clock++;
    if (unit->mask >> (touched.first >> pmu->mask_shift & 63) & 1) status = hit(pmu, unit, number, touched, pc, error);
    if (unit->pending && unit->clock >= unit->due && status == 0) {
        unit->pending = 0;
        status = arm(pmu, unit, number, unit->pending_word, unit->pending_pc, unit->pending_context, unit->pending_for,
                     error);
    }
    int dark = unit->tags && in_shadow(pmu, unit, touched.first);
    if (--unit->left[kind] == 0 && status == 0) {
        if (dark) unit->left[kind] = 1;
        else {
            uint64_t word = touched.first, words = touched.last - touched.first + 1;
            if (words > 1) word += rsc_rng_below(&unit->rng, words);
            status = overflow(pmu, unit, number, word, pc, kind, has_pc, error);
        }
    }
    return status;
}

/* The words a reference touches: the word itself, or the access's words within its line. */
static struct touched words_of(const struct rsc_simulated_pmu *pmu, const struct rsc_batch *batch, uint32_t access,
                               uint64_t line) {
    if (!watches_lines(pmu)) return (struct touched){line, line};
    uint64_t first = batch->addr[access], bytes = rsc_meta_size(batch->meta[access]);
    uint64_t last = bytes && first + bytes - 1 >= first ? first + bytes - 1 : bytes ? UINT64_MAX : first;
    struct touched all = {line << (LINE_SHIFT - WORD_SHIFT), (line << (LINE_SHIFT - WORD_SHIFT)) + 7};
    if (first >> WORD_SHIFT > all.first) all.first = first >> WORD_SHIFT;
    if (last >> WORD_SHIFT < all.last) all.last = last >> WORD_SHIFT;
    return all;
}

/* ---- the trace ---- */

/* Mapped files, for naming places. */
static int add_mapping(struct rsc_simulated_pmu *pmu, const struct rsc_event *event) {
    const uint8_t *data = event->data;
    if (event->data_bytes < 9 || event->data_bytes - 9u < data[8] || pmu->mapping_count == MAPPINGS_MAX) return 0;
    uint32_t id_bytes = data[8];
    const char *text = (const char *)data + 9 + id_bytes;
    size_t length = strnlen(text, event->data_bytes - 9u - id_bytes);
    if (!length || text[0] == '[') return 0;
    if (RSC_GROW(pmu->mappings, pmu->mapping_room, pmu->mapping_count + 1)) return RSC_ENOMEM;
    struct rsc_mapping_row *row = &pmu->mappings[pmu->mapping_count];
    *row = (struct rsc_mapping_row){.start = event->a, .bytes = event->b, .path = strndup(text, length)};
    if (!row->path) return RSC_ENOMEM;
    memcpy(&row->file_offset, data, sizeof row->file_offset);
    if (id_bytes <= sizeof row->build_id) {
        memcpy(row->build_id, data + 9, id_bytes);
        row->build_id_bytes = id_bytes;
    }
    pmu->mapping_count++;
    return 0;
}

static int see_threads(struct rsc_simulated_pmu *pmu, const struct rsc_batch *batch) {
    if (!batch->threads || batch->thread_count <= pmu->thread_count) return 0;
    struct rsc_thread *threads = realloc(pmu->threads, batch->thread_count * sizeof *threads);
    if (!threads) return RSC_ENOMEM;
    memcpy(threads, batch->threads, batch->thread_count * sizeof *threads);
    pmu->threads = threads;
    pmu->thread_count = batch->thread_count;
    return 0;
}

int rsc_simulated_pmu_push(struct rsc_simulated_pmu *pmu, const struct rsc_batch *batch, struct rsc_error *error) {
    struct rsc_reference_cursor cursor;
    uint32_t count, before = UINT32_MAX; /* the access of the reference before */
    int status = see_threads(pmu, batch);
    for (uint32_t i = 0; i < batch->event_count && status == 0; i++)
        if (batch->events[i].type == RSC_EVENT_MAP && batch->events[i].data)
            status = add_mapping(pmu, &batch->events[i]);
    if (status < 0) return rsc_fail_memory(error, "featherlight engine");
    rsc_references_start(&cursor, batch, watches_lines(pmu) ? LINE_SHIFT : WORD_SHIFT);
    while ((count = rsc_references_fill(&cursor, pmu->lines, pmu->from, BLOCK)) > 0)
        for (uint32_t i = 0; i < count; i++) {
            uint32_t access = pmu->from[i], number = rsc_meta_thread(batch->meta[access]);
            unsigned kind = rsc_meta_kind(batch->meta[access]);
            if (kind > RSC_WRITE) continue;
            struct unit *unit = unit_of(pmu, number);
            if (!unit) return rsc_fail_memory(error, "featherlight engine");
            if (access != before) unit->accesses++;
            before = access;
            status = reference(pmu, unit, number, words_of(pmu, batch, access, pmu->lines[i]), kind,
                               batch->pc ? batch->pc[access] : 0, batch->pc != NULL, error);
            if (status < 0) return status;
        }
    return 0;
}

/* ---- beginning and end ---- */

int rsc_simulated_pmu_new(struct rsc_simulated_pmu **out, const struct rsc_pmu_options *options,
                          struct rsc_error *error) {
    struct rsc_simulated_pmu *pmu = calloc(1, sizeof *pmu);
    char by[300], how[300];
    *out = NULL;
    if (!pmu) return rsc_fail_memory(error, "featherlight engine");
    pmu->options = *options;
    pmu->period = options->period ? options->period : 1;
    if (watches_lines(pmu)) pmu->mask_shift = LINE_SHIFT - WORD_SHIFT;
    if (watches_lines(pmu) && options->registers < RSC_REGISTERS_A_LINE) {
        free(pmu);
        return rsc_fail(
            error, RSC_EINVAL,
            "engine 'featherlight': lines of 64 bytes need registers=4: two or four of them watch a part of one");
    }
    rsc_pmu_name(options, by, sizeof by);
    if (options->period)
        snprintf(how, sizeof how, "1 of %llu loads and 1 of %llu stores", (unsigned long long)options->period,
                 (unsigned long long)options->period);
    else snprintf(how, sizeof how, "loads and stores at a period that grows with the trace");
    snprintf(how + strlen(how), sizeof how - strlen(how), ", %u simulated debug register%s per thread",
             options->registers, options->registers == 1 ? "" : "s");
    struct rsc_featherlight_options estimate = options->estimate;
    estimate.by = by;
    estimate.sampling = how;
    int status = rsc_featherlight_new(&pmu->feather, &estimate, error);
    if (status < 0) {
        free(pmu);
        return status;
    }
    *out = pmu;
    return 0;
}

static int end_unit(struct rsc_simulated_pmu *pmu, uint32_t number, struct rsc_error *error) {
    struct unit *unit = pmu->units[number];
    struct rsc_thread who = {0, number};
    int status = 0;
    if (!unit) return 0;
    if (number < pmu->thread_count) who = pmu->threads[number];
    for (uint32_t s = 0; s < unit->slots.count && status == 0; s++) {
        if (!rsc_watch_slots_holds(&unit->slots, s)) continue;
        struct rsc_watch_end end = {
            .count = unit->clock, .slot = s, .path = RSC_NO_CONTEXT, .ending = RSC_WATCH_UNUSED};
        end.chance = rsc_watch_slots_release(&unit->slots, s);
        status = rsc_featherlight_ending(pmu->feather, number, &end, error);
    }
    if (status == 0)
        status = rsc_featherlight_thread(pmu->feather, number, who.pid, who.tid, unit->clock, unit->accesses, error);
    return status;
}

int rsc_simulated_pmu_finish(struct rsc_simulated_pmu *pmu, struct rsc_profile **out, struct rsc_error *error) {
    *out = NULL;
    for (uint32_t i = 0; i < pmu->unit_count; i++) {
        int status = end_unit(pmu, i, error);
        if (status < 0) return status;
    }
    int status = rsc_featherlight_finish(pmu->feather, out, error);
    if (status < 0) return status;
    (*out)->mappings = pmu->mappings;
    (*out)->mapping_count = pmu->mapping_count;
    pmu->mappings = NULL;
    pmu->mapping_count = 0;
    return 0;
}

void rsc_simulated_pmu_free(struct rsc_simulated_pmu *pmu) {
    if (!pmu) return;
    for (uint32_t i = 0; i < pmu->unit_count; i++) unit_free(pmu->units[i]);
    for (uint32_t i = 0; i < pmu->mapping_count; i++) free(pmu->mappings[i].path);
    free(pmu->mappings);
    free(pmu->units);
    free(pmu->threads);
    rsc_featherlight_free(pmu->feather);
    free(pmu);
}

const struct rsc_featherlight *rsc_simulated_pmu_feather(const struct rsc_simulated_pmu *pmu) { return pmu->feather; }
