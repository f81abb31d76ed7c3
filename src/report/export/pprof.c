/*
 * pprof.c - profiles for pprof (https://github.com/google/pprof, proto/profile.proto): a
 * message of protocol buffers, in gzip's format.
 *
 * Two values a sample: misses at one cache size, shown first, and references; or the
 * other way round, as asked. With several profiles, the first is written. A location is
 * a function, or a line in it. gzip's blocks are stored, not compressed: any tool that
 * reads it does not care, and the pages of memory that a larger file takes are cheap.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/grow.h"
#include "report/draw/units.h"
#include "report/export/stacks.h"
#include "report/report.h"

/* ---- bytes ---- */

struct bytes {
    uint8_t *data; /* owned */
    size_t count, room;
    int failed;
};

static void put(struct bytes *to, const void *data, size_t count) {
    if (to->failed || RSC_GROW(to->data, to->room, to->count + count)) {
        to->failed = 1;
        return;
    }
    if (count) memcpy(to->data + to->count, data, count);
    to->count += count;
}

static void put_varint(struct bytes *to, uint64_t value) {
    uint8_t digits[10];
    size_t count = 0;
    do {
        digits[count++] = (uint8_t)((value & 127) | (value > 127 ? 128 : 0));
        value >>= 7;
    } while (value);
    put(to, digits, count);
}

/* Fields: a number; bytes of known length (text or a message). */
static void put_number(struct bytes *to, unsigned field, uint64_t value) {
    put_varint(to, field << 3);
    put_varint(to, value);
}
static void put_bytes(struct bytes *to, unsigned field, const void *data, size_t count) {
    put_varint(to, field << 3 | 2);
    put_varint(to, count);
    put(to, data, count);
}

/* Appends a message as a field, and empties it for the next one. */
static void put_message(struct bytes *to, unsigned field, struct bytes *message) {
    to->failed |= message->failed;
    put_bytes(to, field, message->data, message->count);
    message->count = 0;
}

/* ---- the profile ---- */

enum {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE,
    PROFILE_LOCATION = 4,
    PROFILE_FUNCTION,
    PROFILE_STRINGS,
    PROFILE_DEFAULT_TYPE = 14
};
enum { VALUE_TYPE = 1, VALUE_UNIT };
enum { SAMPLE_LOCATIONS = 1, SAMPLE_VALUES };
enum { LOCATION_ID = 1, LOCATION_LINE = 4 };
enum { LINE_FUNCTION = 1, LINE_NUMBER };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYSTEM_NAME, FUNCTION_FILE };

/* A function, or a line in one. */
struct location {
    uint32_t function, line; /* function: a frame */
};

struct writing {
    struct bytes profile, message, inner;
    struct rsc_stacks stacks;
    struct bytes strings; /* its fields, put after all else */
    uint64_t string_count;
    struct location *locations; /* owned; ids are 1 + index */
    size_t location_count, location_room;
};

static uint64_t string_of(struct writing *writing, const char *text) {
    put_bytes(&writing->strings, PROFILE_STRINGS, text, strlen(text));
    return writing->string_count++;
}

static void put_value_type(struct writing *writing, const char *type) {
    put_number(&writing->message, VALUE_TYPE, string_of(writing, type));
    put_number(&writing->message, VALUE_UNIT, string_of(writing, "count"));
    put_message(&writing->profile, PROFILE_SAMPLE_TYPE, &writing->message);
}

/* Samples of one function follow each other, so the last locations are looked at first. */
static uint64_t location_of(struct writing *writing, struct location wanted) {
    for (size_t i = writing->location_count; i-- > 0;)
        if (writing->locations[i].function == wanted.function && writing->locations[i].line == wanted.line)
            return i + 1;
    if (RSC_GROW(writing->locations, writing->location_room, writing->location_count + 1)) {
        writing->profile.failed = 1;
        return 0;
    }
    writing->locations[writing->location_count++] = wanted;
    return writing->location_count;
}

/* Innermost first. */
static void put_sample(struct writing *writing, const struct rsc_stack *stack, int references_first) {
    const struct rsc_stack_frame *frames = writing->stacks.frames;
    const uint32_t *path = writing->stacks.path + stack->first;
    uint32_t depth = stack->depth, line = 0;
    if (depth > 1 && frames[path[depth - 1]].line) line = frames[path[--depth]].line;
    for (uint32_t k = depth; k-- > 0; line = 0)
        put_varint(&writing->inner, location_of(writing, (struct location){path[k], line}));
    put_message(&writing->message, SAMPLE_LOCATIONS, &writing->inner);
    put_varint(&writing->inner, references_first ? stack->references : stack->misses);
    put_varint(&writing->inner, references_first ? stack->misses : stack->references);
    put_message(&writing->message, SAMPLE_VALUES, &writing->inner);
    put_message(&writing->profile, PROFILE_SAMPLE, &writing->message);
}

static void put_places(struct writing *writing) {
    for (size_t i = 0; i < writing->location_count; i++) {
        put_number(&writing->inner, LINE_FUNCTION, writing->locations[i].function + 1);
        put_number(&writing->inner, LINE_NUMBER, writing->locations[i].line);
        put_number(&writing->message, LOCATION_ID, i + 1);
        put_message(&writing->message, LOCATION_LINE, &writing->inner);
        put_message(&writing->profile, PROFILE_LOCATION, &writing->message);
    }
    for (size_t i = 0; i < writing->stacks.frame_count; i++) {
        const struct rsc_stack_frame *frame = &writing->stacks.frames[i];
        uint64_t name = string_of(writing, frame->name);
        if (frame->line) continue; /* a line, not a function */
        put_number(&writing->message, FUNCTION_ID, i + 1);
        put_number(&writing->message, FUNCTION_NAME, name);
        put_number(&writing->message, FUNCTION_SYSTEM_NAME, name);
        if (frame->file) put_number(&writing->message, FUNCTION_FILE, string_of(writing, frame->file));
        put_message(&writing->profile, PROFILE_FUNCTION, &writing->message);
    }
}

static int write_profile(struct writing *writing, const struct rsc_profile *profile,
                         const struct rsc_report_style *style) {
    static const struct rsc_report_style plain;
    struct rsc_rank_size size = rsc_rank_size(profile, style ? style : &plain, style ? style->at_bytes : 0);
    int references_first = style && style->references, status = rsc_stacks_make(&writing->stacks, profile, size.lines);
    char misses[64];
    snprintf(misses, sizeof misses, "misses in %s", rsc_show_bytes(size.bytes).text);
    string_of(writing, ""); /* the first must be empty */
    put_value_type(writing, references_first ? "references" : misses);
    put_value_type(writing, references_first ? misses : "references");
    /* without it, pprof shows the last */
    put_number(&writing->profile, PROFILE_DEFAULT_TYPE, string_of(writing, references_first ? "references" : misses));
    for (size_t i = 0; i < writing->stacks.count && !status; i++)
        put_sample(writing, &writing->stacks.stacks[i], references_first);
    put_places(writing);
    writing->profile.failed |= writing->strings.failed;
    put(&writing->profile, writing->strings.data, writing->strings.count);
    return status;
}

/* ---- gzip ---- */

static uint32_t crc_of(const uint8_t *data, size_t count) {
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < count; i++) {
        crc ^= data[i];
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return ~crc;
}

static void put_little(struct bytes *to, uint32_t value, int count) {
    for (; count > 0; count--, value >>= 8) put(to, &(uint8_t){(uint8_t)value}, 1);
}

static void put_gzip(struct bytes *to, const struct bytes *from) {
    static const uint8_t head[10] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255};
    size_t at = 0;
    put(to, head, sizeof head);
    do {
        size_t part = from->count - at < 65535 ? from->count - at : 65535;
        put_little(to, at + part == from->count, 1);
        put_little(to, (uint32_t)part, 2);
        put_little(to, ~(uint32_t)part, 2);
        put(to, from->data + at, part);
        at += part;
    } while (at < from->count);
    put_little(to, crc_of(from->data, from->count), 4);
    put_little(to, (uint32_t)from->count, 4);
}

int rsc_report_pprof(const struct rsc_result *result, const struct rsc_report_style *style, char **text, size_t *bytes,
                     struct rsc_error *error) {
    struct writing writing = {0};
    struct bytes out = {0};
    int status = 0;
    if (result->count) status = write_profile(&writing, result->profiles[0], style);
    if (!status && !writing.profile.failed) put_gzip(&out, &writing.profile);
    put(&out, "", 1); /* texts end in NUL */
    if (writing.profile.failed || out.failed) status = RSC_ENOMEM;
    free(writing.profile.data);
    free(writing.message.data);
    free(writing.inner.data);
    free(writing.strings.data);
    free(writing.locations);
    rsc_stacks_free(&writing.stacks);
    if (status) {
        free(out.data);
        return rsc_fail_memory(error, "pprof file");
    }
    *text = (char *)out.data;
    *bytes = out.count - 1;
    return 0;
}
