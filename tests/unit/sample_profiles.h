/*
 * sample_profiles.h - small profiles of every sort for the tests of the profile
 * and report rooms. Include after cmocka.h. Each is sealed and belongs to the
 * caller.
 */
#ifndef RSC_TESTS_SAMPLE_PROFILES_H
#define RSC_TESTS_SAMPLE_PROFILES_H

#include <stdlib.h>
#include <string.h>

#include "profile/profile_model.h"

static inline struct rsc_profile *sample_empty(void) {
    struct rsc_profile *profile = rsc_profile_new();
    assert_non_null(profile);
    rsc_profile_set_text(&profile->made.by, "exact");
    rsc_profile_set_text(&profile->made.source, "trace");
    rsc_profile_set_text(&profile->made.model, "single");
    profile->made.threads = profile->made.workers = 1;
    profile->made.seconds = 0.25;
    return profile;
}

static inline struct rsc_profile *sample_sealed(struct rsc_profile *profile) {
    assert_int_equal(rsc_profile_seal(profile), 0);
    assert_int_equal(rsc_profile_check_sum(profile, "sample", NULL), 0);
    return profile;
}

static inline struct rsc_profile *sample_zero(void) { return sample_sealed(sample_empty()); }

/* A cycle over `lines` lines, `rounds` times. */
static inline struct rsc_profile *sample_cyclic(uint64_t lines, uint64_t rounds) {
    struct rsc_profile *profile = sample_empty();
    profile->accesses = profile->references = lines * rounds;
    profile->cold = profile->distinct = lines;
    rsc_histogram_add(&profile->rd, lines - 1, lines * (rounds - 1));
    rsc_histogram_add(&profile->ri, lines, lines * (rounds - 1));
    return sample_sealed(profile);
}

/* Some references at every distance below `lines`, fewer the larger it is. */
static inline struct rsc_profile *sample_spread(uint64_t lines) {
    struct rsc_profile *profile = sample_empty();
    for (uint64_t distance = 0; distance < lines; distance++) {
        rsc_histogram_add(&profile->rd, distance, 1 + lines / (distance + 1));
        rsc_histogram_add(&profile->ri, distance + 1, 1 + lines / (distance + 1));
    }
    profile->cold = profile->distinct = lines;
    profile->accesses = profile->references = lines + rsc_histogram_total(&profile->rd);
    char *command[] = {"reusescope", "analyze", "a b<\"\xc3\xa9\">.rsct", NULL};
    rsc_profile_set_command(profile, command);
    return sample_sealed(profile);
}

/* Everything a profile can have at once: cap, extra bins, threads, phases, error bars, an unusual line. */
static inline struct rsc_profile *sample_rich(void) {
    struct rsc_profile *profile = sample_empty();
    assert_int_equal(rsc_profile_set_threads(profile, 3), 0);
    assert_int_equal(rsc_profile_set_phases(profile, 40), 0);
    assert_int_equal(rsc_profile_set_bins(profile, 3), 0);
    rsc_profile_set_text(&profile->made.model, "private");
    rsc_profile_set_text(&profile->made.sampling, "one in 100");
    profile->made.line_bytes = 4096;
    profile->made.overhead = 1.5;
    profile->made.threads = 3;
    profile->rd_cap = 1500; /* inside the fine bin 1488..1503 and the coarse 1280..1535 */
    static const uint64_t distances[] = {0, 1, 7, 700, 1023, 1024, 1490, 1499};
    for (size_t i = 0; i < 8; i++) {
        rsc_histogram_add(&profile->rd, distances[i], 100 + i);
        rsc_histogram_add(&profile->rd_binned, distances[i], 100 + i);
        rsc_histogram_add(&profile->ri, distances[i] + 1, 100 + i);
        rsc_histogram_add(&profile->ri_binned, distances[i] + 1, 100 + i);
        rsc_histogram_add(&profile->threads[i % 3].rd, distances[i], 100 + i);
        profile->threads[i % 3].references += 100 + i;
        rsc_histogram_add(&profile->phases[i * 5].rd, distances[i], 100 + i);
        profile->phases[i * 5].references += 100 + i;
    }
    profile->rd_capped = 33;
    rsc_histogram_add(&profile->rd_binned, profile->rd_cap, 33);
    rsc_histogram_add(&profile->threads[2].rd, profile->rd_cap, 33);
    profile->threads[2].references += 33;
    for (uint64_t i = 0; i < 3; i++) profile->threads[i].tid = 10 + i, profile->threads[i].pid = 10;
    profile->cold = 2000, profile->distinct = 1800, profile->invalidated = 5;
    profile->last_touch = 4, profile->pruned = 3, profile->censored = 2;
    profile->references = 828 + 33 + 2000 + 5 + 4 + 3 + 2;
    profile->accesses = 2870;
    for (uint64_t i = 0; i < 40; i++) profile->phases[i].first = i * 70;
    assert_int_equal(rsc_profile_derive_mrc(profile), 0);
    for (size_t i = 0; i < profile->mrc_count; i++) {
        profile->mrc[i].low *= 0.9;
        profile->mrc[i].high += (1 - profile->mrc[i].high) * 0.1;
    }
    return sample_sealed(profile);
}

static inline struct rsc_place sample_place(uint64_t pc, const char *function, const char *file, uint32_t line,
                                            const char *module) {
    struct rsc_place place = {.pc = pc, .line = line};
    rsc_profile_set_text(&place.function, function);
    rsc_profile_set_text(&place.file, file);
    rsc_profile_set_text(&place.module, module);
    return place;
}

/* One code row, and the same references in the profile's own counts. Distances: `count` of `distance`, the rest 0. */
static inline void sample_code(struct rsc_profile *profile, size_t index, struct rsc_place place, uint64_t references,
                               uint64_t cold, uint64_t distance, uint64_t count) {
    struct rsc_code_row *row = &profile->code[index];
    row->place = place;
    row->references = references;
    row->cold = cold;
    rsc_histogram_add(&row->rd, distance, count);
    rsc_histogram_add(&row->rd, 0, references - cold - count);
    rsc_histogram_add(&profile->rd, distance, count);
    rsc_histogram_add(&profile->rd, 0, references - cold - count);
    profile->references += references;
    profile->accesses += references;
    profile->cold += cold;
    profile->distinct += cold;
}

static inline void sample_pairs_objects_contexts(struct rsc_profile *profile) {
    struct rsc_pair_row *pairs = profile->pairs;
    pairs[0].use = sample_place(0x1210, "sweep", "/home/u/wave/src/solver.c", 71, "/usr/bin/wave");
    pairs[0].reuse = sample_place(0x1300, "relax", "/home/u/wave/src/solver.c", 88, "/usr/bin/wave");
    pairs[0].use_context = 1, pairs[0].reuse_context = 2, pairs[0].references = 1800;
    rsc_histogram_add(&pairs[0].rd, 40000, 1800);
    pairs[1].use = sample_place(0x1400, "copy", "mem.c", 10, "/usr/bin/wave");
    pairs[1].reuse = sample_place(0x1400, "copy", "mem.c", 10, "/usr/bin/wave");
    pairs[1].references = 400, pairs[1].error = 7;
    rsc_histogram_add(&pairs[1].rd, 60000, 393);
    struct rsc_object_row *objects = profile->objects;
    rsc_profile_set_text(&objects[0].name, "grid");
    objects[0].kind = "global", objects[0].bytes = 70000 * 64, objects[0].blocks = 1;
    objects[0].references = objects[0].cold = 70000;
    rsc_profile_set_text(&objects[1].name, "array allocated at solver.c:12");
    objects[1].kind = "heap", objects[1].bytes = 1 << 20, objects[1].blocks = 64, objects[1].context = 1;
    objects[1].references = 1800, objects[1].error = 3;
    rsc_histogram_add(&objects[1].rd, 40000, 1797);
    struct rsc_context_row *contexts = profile->contexts;
    contexts[0].place = sample_place(0x1100, "main", "main.c", 5, "/usr/bin/wave");
    contexts[1].parent = 0, contexts[1].place = sample_place(0x1180, "solve", "solver.c", 20, "/usr/bin/wave");
    contexts[2].parent = 1, contexts[2].place = sample_place(0x1190, "solve", "solver.c", 21, "/usr/bin/wave");
    contexts[3].place = sample_place(UINT64_MAX, NULL, NULL, 0, NULL);
}

/* Code, pairs, objects and contexts: a line that streams, one that comes back too late, one that mostly hits. */
static inline struct rsc_profile *sample_rows(void) {
    struct rsc_profile *profile = sample_empty();
    const char *solver = "/home/u/wave/src/solver.c", *wave = "/usr/bin/wave";
    assert_int_equal(rsc_profile_set_code(profile, 6), 0);
    assert_int_equal(rsc_profile_set_pairs(profile, 2), 0);
    assert_int_equal(rsc_profile_set_objects(profile, 2), 0);
    assert_int_equal(rsc_profile_set_contexts(profile, 4), 0);
    sample_code(profile, 0, sample_place(0x1210, "sweep", solver, 71, wave), 70000, 70000, 0, 0);
    sample_code(profile, 1, sample_place(0x1400, "copy", "mem.c", 10, wave), 5000, 0, 60000, 400);
    sample_code(profile, 2, sample_place(0x1300, "relax", solver, 88, wave), 1000, 0, 40000, 900);
    sample_code(profile, 3, sample_place(0x1308, "relax", solver, 88, wave), 1000, 0, 40000, 900);
    sample_code(profile, 4, sample_place(0x99, "memcpy", NULL, 0, "/lib/libc.so.6"), 50, 0, 0, 0);
    sample_code(profile, 5, sample_place(0, NULL, NULL, 0, NULL), 10, 0, 0, 0);
    struct rsc_code_row *row = &profile->code[2];
    row->inlined_into = calloc(2, sizeof *row->inlined_into);
    assert_non_null(row->inlined_into);
    row->inlined_count = 2;
    row->inlined_into[0] = sample_place(0x1300, "step", "solver.c", 30, NULL);
    row->inlined_into[1] = sample_place(0x1300, NULL, NULL, 0, NULL);
    profile->code[1].error = 7;
    sample_pairs_objects_contexts(profile);
    return sample_sealed(profile);
}

/* One object of `size` bytes, requested 1 + `again` times. */
static inline struct rsc_profile *sample_requests(uint64_t size, uint64_t again) {
    struct rsc_profile *profile = sample_empty();
    rsc_profile_set_text(&profile->made.model, "requests");
    profile->made.line_bytes = 1;
    assert_int_equal(rsc_profile_set_requests(profile), 0);
    profile->accesses = profile->references = 1 + again;
    profile->cold = profile->distinct = 1;
    profile->requests.requested = size * (1 + again);
    profile->requests.cold = profile->requests.footprint = size;
    rsc_histogram_add(&profile->rd, size - 1, again);
    rsc_histogram_add(&profile->ri, 1, again);
    rsc_histogram_add(&profile->requests.rd, size - 1, size * again);
    return sample_sealed(profile);
}

/* Rows of all kinds of access, and two cache lines, one of them in an object with a long name. */
static inline struct rsc_profile *sample_kinds_and_lines(void) {
    struct rsc_profile *profile = sample_spread(50000);
    assert_int_equal(rsc_profile_set_kinds(profile, 3), 0);
    assert_int_equal(rsc_profile_set_lines(profile, 2), 0);
    profile->lines_at_bytes = 4096, profile->lines_asked = 2;
    for (size_t i = 0; i < 3; i++) {
        struct rsc_kind_row *row = &profile->kinds[i];
        row->cold = 10 * i;
        row->references = row->cold + 1000;
        rsc_histogram_add(&row->rd, 700, 1000);
        rsc_histogram_add(&row->rd_fine, 700, 1000);
    }
    for (size_t i = 0; i < 2; i++) {
        struct rsc_line_row *row = &profile->lines[i];
        row->address = UINT64_MAX - 63;
        row->misses = 500 - i, row->error = 3 * i, row->cold = 1, row->references = 601;
        rsc_histogram_add(&row->rd, 700, 600);
    }
    char name[300];
    memset(name, 'x', sizeof name);
    name[299] = 0;
    rsc_profile_set_text(&profile->lines[1].object, name);
    profile->lines[1].object_kind = "heap";
    return profile;
}

/* The JSON text of one profile; free() it. Inlined, gcc 12 takes the text for the local variable that points to it. */
__attribute__((noinline, unused)) static char *sample_json(struct rsc_profile *profile, size_t *bytes) {
    char *text;
    size_t length;
    assert_int_equal(rsc_profiles_json_text(&profile, 1, &text, &length, NULL), 0);
    assert_int_equal(strlen(text), length);
    if (bytes) *bytes = length;
    return text;
}

/* Loops, strides and the data of pairs: two loops over one array, one that steps over lines, one that comes back to all. */
static inline struct rsc_profile *sample_loops(void) {
    static const struct {
        const char *function;
        uint32_t line, parent, depth;
    } loops[] = {{"main", 10, 0, 1},    {"first", 20, 1, 2}, {"second", 30, 1, 2}, {"columns", 40, 0, 1},
                 {"columns", 41, 4, 2}, {"rows", 50, 0, 1},  {"rows", 51, 6, 2}};
    static const struct {
        const char *function;
        uint32_t line, loop;
        uint64_t references, cold, far;
    } code[] = {{"rows", 52, 7, 240000, 0, 30000},
                {"first", 21, 2, 40000, 40000, 0},
                {"second", 31, 3, 40000, 0, 40000},
                {"columns", 42, 5, 30000, 0, 30000}};
    struct rsc_profile *profile = sample_empty();
    assert_true(!rsc_profile_set_loops(profile, 7) && !rsc_profile_set_code(profile, 4) &&
                !rsc_profile_set_pairs(profile, 3) && !rsc_profile_set_contexts(profile, 1));
    for (size_t i = 0; i < 7; i++) {
        profile->loops[i].place =
            sample_place(0x1000 + loops[i].line * 16, loops[i].function, "wave.c", loops[i].line, "wave");
        profile->loops[i].parent = loops[i].parent;
        profile->loops[i].depth = loops[i].depth;
    }
    for (size_t i = 0; i < 4; i++) {
        struct rsc_place place =
            sample_place(0x1000 + code[i].line * 16, code[i].function, "wave.c", code[i].line, "wave");
        place.loop = code[i].loop;
        sample_code(profile, i, place, code[i].references, code[i].cold, 20000, code[i].far);
        profile->code[i].stride =
            (struct rsc_stride){.bytes = i == 3 ? 4096 : 8, .same = 990, .seen = 1000, .apart = 8, .access_bytes = 8};
    }
    static const uint32_t ends[3][2] = {{0, 0}, {1, 2}, {3, 3}}; /* rows, fusion, columns */
    for (size_t i = 0; i < 3; i++) {
        const struct rsc_place *use = &profile->code[ends[i][0]].place, *reuse = &profile->code[ends[i][1]].place;
        struct rsc_pair_row *pair = &profile->pairs[i];
        pair->use = sample_place(use->pc, use->function, use->file, use->line, use->module);
        pair->reuse = sample_place(reuse->pc, reuse->function, reuse->file, reuse->line, reuse->module);
        pair->use.loop = use->loop;
        pair->reuse.loop = reuse->loop;
        pair->use_context = pair->reuse_context = 0;
        pair->references = code[ends[i][1]].references;
        rsc_histogram_merge(&pair->rd, &profile->code[ends[i][1]].rd);
        rsc_profile_set_text(&pair->object, i == 1 ? "grid (wave.c:3)" : "heap block allocated at wave.c:60 (main)");
        pair->object_kind = i == 1 ? "global" : "heap";
    }
    profile->contexts[0].place = sample_place(0x1100, "main", "wave.c", 12, "wave");
    profile->distinct = 40000;
    return sample_sealed(profile);
}

#endif
