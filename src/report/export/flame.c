/*
 * flame.c - profiles for flame graph tools: folded stacks and speedscope.
 *
 * Folded: one "frame;frame;frame weight" per line, for flamegraph.pl, inferno and
 * speedscope; the weight is misses or references, as asked. With several profiles,
 * the outermost frame names the profile.
 *
 * speedscope (https://www.speedscope.app/file-format-schema.json): "sampled"
 * profiles without a unit, two for each of ours, misses and references; the
 * requested one is shown first.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <reusescope/reusescope.h>

#include "base/fail.h"
#include "base/json_writer.h"
#include "report/report.h"
#include "report/export/stacks.h"
#include "report/draw/text_buffer.h"
#include "report/draw/units.h"

/* "private, 64-byte lines": distinguishes profiles of one run. */
struct title {
    char text[96];
};

static struct title title_of(const struct rsc_profile *profile) {
    struct title title;
    const char *model = profile->made.model ? profile->made.model : "single";
    if (rsc_profile_is_requests(profile)) snprintf(title.text, sizeof title.text, "%.20s", model);
    else snprintf(title.text, sizeof title.text, "%.20s, %" PRIu64 "-byte lines", model, profile->made.line_bytes);
    return title;
}

static int make_stacks(struct rsc_stacks *stacks, const struct rsc_profile *profile,
                       const struct rsc_report_style *style, struct rsc_rank_size *size) {
    static const struct rsc_report_style plain;
    *size = rsc_rank_size(profile, style ? style : &plain, style ? style->at_bytes : 0);
    return rsc_stacks_make(stacks, profile, size->lines);
}

/* ---- folded ---- */

static void put_folded(struct rsc_text *text, const struct rsc_stacks *stacks, const char *root, int references) {
    for (size_t i = 0; i < stacks->count; i++) {
        const struct rsc_stack *stack = &stacks->stacks[i];
        uint64_t weight = references ? stack->references : stack->misses;
        if (!weight) continue;
        if (root) rsc_text_put(text, "[%s];", root);
        for (uint32_t k = 0; k < stack->depth; k++)
            rsc_text_put(text, "%s%s", k ? ";" : "", stacks->frames[stacks->path[stack->first + k]].name);
        rsc_text_put(text, " %" PRIu64 "\n", weight);
    }
}

int rsc_report_folded(const struct rsc_result *result, const struct rsc_report_style *style, char **text, size_t *bytes,
                      struct rsc_error *error) {
    struct rsc_stacks stacks = {0};
    struct rsc_rank_size size;
    struct rsc_text out;
    int status = 0;
    rsc_text_init(&out, 1, 0); /* names are UTF-8 */
    for (size_t i = 0; i < result->count && !status; i++) {
        struct title title = title_of(result->profiles[i]);
        status = make_stacks(&stacks, result->profiles[i], style, &size);
        if (!status) put_folded(&out, &stacks, result->count > 1 ? title.text : NULL, style && style->references);
    }
    rsc_stacks_free(&stacks);
    if (rsc_text_take(&out, text, bytes)) status = RSC_ENOMEM;
    else if (status) free(*text);
    return status ? rsc_fail_memory(error, "folded stacks") : 0;
}

/* ---- speedscope ---- */

static void put_frames(struct rsc_json *json, const struct rsc_stacks *stacks) {
    rsc_json_key_object(json, "shared");
    rsc_json_key_array(json, "frames");
    for (size_t i = 0; i < stacks->frame_count; i++) {
        const struct rsc_stack_frame *frame = &stacks->frames[i];
        rsc_json_row(json);
        rsc_json_key_string(json, "name", frame->name);
        if (frame->file) rsc_json_key_string(json, "file", frame->file);
        if (frame->line) rsc_json_key_u64(json, "line", frame->line);
        rsc_json_object_end(json);
    }
    rsc_json_array_end(json);
    rsc_json_object_end(json);
}

static void put_sampled(struct rsc_json *json, const struct rsc_stacks *stacks, const char *name, int references) {
    uint64_t total = 0;
    rsc_json_row(json);
    rsc_json_key_string(json, "type", "sampled");
    rsc_json_key_string(json, "name", name);
    rsc_json_key_string(json, "unit", "none");
    rsc_json_key_u64(json, "startValue", 0);
    for (size_t i = 0; i < stacks->count; i++)
        total += references ? stacks->stacks[i].references : stacks->stacks[i].misses;
    rsc_json_key_u64(json, "endValue", total);
    rsc_json_key_array(json, "samples");
    for (size_t i = 0; i < stacks->count; i++) {
        const struct rsc_stack *stack = &stacks->stacks[i];
        if (!(references ? stack->references : stack->misses)) continue;
        rsc_json_newline(json);
        rsc_json_array(json);
        for (uint32_t k = 0; k < stack->depth; k++) rsc_json_u64(json, stacks->path[stack->first + k]);
        rsc_json_array_end(json);
    }
    rsc_json_array_end(json);
    rsc_json_key_array(json, "weights");
    for (size_t i = 0; i < stacks->count; i++) {
        uint64_t weight = references ? stacks->stacks[i].references : stacks->stacks[i].misses;
        if (weight) rsc_json_u64(json, weight);
    }
    rsc_json_array_end(json);
    rsc_json_object_end(json);
}

static int put_profiles(struct rsc_json *json, struct rsc_stacks *stacks, struct rsc_profile *const *profiles,
                        size_t count, const struct rsc_report_style *style) {
    rsc_json_key_array(json, "profiles");
    for (size_t i = 0; i < count; i++) {
        struct rsc_rank_size size;
        struct title title = title_of(profiles[i]);
        char name[192];
        int status = make_stacks(stacks, profiles[i], style, &size);
        if (status) return status;
        snprintf(name, sizeof name, "misses in %s (%s)", rsc_show_bytes(size.bytes).text, title.text);
        put_sampled(json, stacks, name, 0);
        snprintf(name, sizeof name, "references (%s)", title.text);
        put_sampled(json, stacks, name, 1);
    }
    rsc_json_array_end(json);
    return 0;
}

int rsc_report_speedscope(const struct rsc_result *result, const struct rsc_report_style *style, char **text,
                          size_t *bytes, struct rsc_error *error) {
    struct rsc_stacks stacks = {0};
    struct rsc_json json;
    char exporter[64];
    snprintf(exporter, sizeof exporter, "reusescope %s", rsc_version());
    rsc_json_init(&json);
    rsc_json_object(&json);
    rsc_json_key_string(&json, "$schema", "https://www.speedscope.app/file-format-schema.json");
    rsc_json_key_string(&json, "exporter", exporter);
    rsc_json_key_string(&json, "name", "reusescope");
    rsc_json_key_u64(&json, "activeProfileIndex", style && style->references && result->count ? 1 : 0);
    rsc_json_newline(&json);
    int status = put_profiles(&json, &stacks, result->profiles, result->count, style);
    if (!status) {
        rsc_json_newline(&json);
        put_frames(&json, &stacks); /* last, when all profiles' stacks have been added */
        rsc_json_object_end(&json);
    }
    rsc_stacks_free(&stacks);
    if (!status) return rsc_json_take(&json, "speedscope file", text, bytes, error);
    rsc_json_free(&json);
    return rsc_fail_memory(error, "speedscope file");
}
