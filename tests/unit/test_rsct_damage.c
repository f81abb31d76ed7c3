/*
 * test_rsct_damage.c - damaged native traces: no flipped bit, cut, or moved
 * frame goes unnoticed, messages say where, and salvage brings back every
 * frame that is intact and says what was lost.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <xxhash.h>

#include "scratch_folder.h"
#include "trace/native/rsct_format.h"
#include "whole_trace.h"

/* A trace file in memory, and where its parts are. */
struct image {
    uint8_t *bytes;
    size_t count;
    size_t header_bytes, index_offset;
    size_t frame[64]; /* offsets, and that of the index behind them */
    uint32_t frames;
};

static uint64_t u64_at(const uint8_t *at) {
    uint64_t value;
    memcpy(&value, at, 8);
    return value;
}

static struct image load_image(const char *path) {
    struct image image = {0};
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    image.count = (size_t)ftell(file);
    rewind(file);
    image.bytes = malloc(image.count);
    assert_int_equal(fread(image.bytes, 1, image.count, file), image.count);
    fclose(file);
    image.index_offset = u64_at(image.bytes + image.count - RSCT_TRAILER_BYTES + 8);
    uint64_t frames = u64_at(image.bytes + image.index_offset + 8);
    assert_true(frames < 64);
    image.frames = (uint32_t)frames;
    for (uint32_t i = 0; i < image.frames; i++)
        image.frame[i] =
            u64_at(image.bytes + image.index_offset + RSCT_INDEX_FIXED + i * sizeof(struct rsct_index_row));
    image.frame[image.frames] = image.index_offset;
    image.header_bytes = image.frames ? image.frame[0] : image.index_offset;
    return image;
}

#define ACCESSES 40u
#define FRAME 9u /* five frames, the last one shorter */

static struct whole_trace small_trace(uint32_t accesses) {
    struct whole_trace trace = {.has_pc = 1, .instructions = 2 * accesses};
    for (uint32_t i = 0; i < accesses; i++) {
        if (i % 15 == 0) whole_add_event(&trace, RSC_EVENT_MARKER, i % 3, i, 0, "mark", 4);
        whole_add(&trace, 0x1000 + 8 * i, rsc_meta(i == 20 ? 300 : 8, (enum rsc_kind)(i % 3), i / 5 % 3), 0x40 + i % 4);
    }
    return trace;
}

static struct image small_image(struct whole_trace *trace) {
    struct rsc_trace_writer_options options = whole_options("rsct", FRAME);
    *trace = small_trace(ACCESSES);
    options.command = "x";
    whole_write(trace, scratch_path("small.rsct"), &options, NULL, 0);
    return load_image(scratch_path("small.rsct"));
}

static char logged[1024];
static void keep_log(void *user, enum rsc_log_level level, const char *line) {
    (void)user;
    assert_int_equal(level, RSC_LOG_WARNING);
    snprintf(logged + strlen(logged), sizeof logged - strlen(logged), "%s\n", line);
}

static void read_image(struct whole_trace *got, const void *bytes, size_t count, int salvage) {
    static const struct rsc_log log = {keep_log, NULL};
    const struct rsc_trace_options options = {.struct_bytes = sizeof options, .log = &log, .salvage = salvage};
    logged[0] = 0;
    whole_read(got, scratch_write("damaged.rsct", bytes, count), &options);
    if (got->status < 0) {
        assert_int_equal(got->error.code, got->status);
        assert_true(got->error.message[0] && !strchr(got->error.message, '\n'));
        assert_non_null(strstr(got->error.message, "damaged.rsct: "));
    }
}

static void assert_noticed(const void *bytes, size_t count, const char *what, uint64_t where) {
    struct whole_trace got;
    read_image(&got, bytes, count, 0);
    if (got.status >= 0) fail_msg("%s at %llu is not noticed", what, (unsigned long long)where);
    assert_true(got.status == RSC_EFORMAT || got.status == RSC_EVERSION);
    whole_free(&got);
}

/* ---- noticing ---- */

static void every_flipped_bit_is_noticed(void **state) {
    (void)state;
    struct whole_trace trace;
    struct image image = small_image(&trace);
    for (size_t bit = 0; bit < 8 * image.count; bit++) {
        image.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_noticed(image.bytes, image.count, "flipped bit", bit);
        image.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    whole_free(&trace);
    free(image.bytes);
}

static void every_cut_is_noticed(void **state) {
    (void)state;
    struct whole_trace trace;
    struct image image = small_image(&trace);
    for (size_t count = 0; count < image.count; count++) assert_noticed(image.bytes, count, "cut", count);
    image.bytes = realloc(image.bytes, image.count + 200);
    memset(image.bytes + image.count, 0, 200);
    assert_noticed(image.bytes, image.count + 1, "added byte", image.count);
    assert_noticed(image.bytes, image.count + 200, "added bytes", image.count);
    memcpy(image.bytes + image.count, image.bytes + image.count - RSCT_TRAILER_BYTES, RSCT_TRAILER_BYTES);
    assert_noticed(image.bytes, image.count + RSCT_TRAILER_BYTES, "second trailer", image.count);
    whole_free(&trace);
    free(image.bytes);
}

static void moved_frames_are_noticed(void **state) {
    (void)state;
    struct whole_trace trace;
    struct image image = small_image(&trace);
    uint8_t *copy = malloc(2 * image.count);
    for (uint32_t i = 0; i + 1 < image.frames; i++) { /* swapped with the next */
        size_t one = image.frame[i + 1] - image.frame[i], two = image.frame[i + 2] - image.frame[i + 1];
        memcpy(copy, image.bytes, image.count);
        memcpy(copy + image.frame[i], image.bytes + image.frame[i + 1], two);
        memcpy(copy + image.frame[i] + two, image.bytes + image.frame[i], one);
        assert_noticed(copy, image.count, "swapped frame", i);
    }
    for (uint32_t i = 0; i < image.frames; i++) {
        size_t bytes = image.frame[i + 1] - image.frame[i], rest = image.count - image.frame[i + 1];
        memcpy(copy, image.bytes, image.frame[i]); /* removed */
        memcpy(copy + image.frame[i], image.bytes + image.frame[i + 1], rest);
        assert_noticed(copy, image.count - bytes, "removed frame", i);
        memcpy(copy, image.bytes, image.frame[i + 1]); /* twice */
        memcpy(copy + image.frame[i + 1], image.bytes + image.frame[i], image.count - image.frame[i]);
        assert_noticed(copy, image.count + bytes, "frame written twice", i);
    }
    free(copy);
    free(image.bytes);
    whole_free(&trace);
}

/* Frames without accesses have the same number: their order is still known from the index. */
static void swapped_frames_of_events_are_noticed(void **state) {
    (void)state;
    struct rsc_trace_writer_options options = whole_options("rsct", 0);
    struct whole_trace trace = {.instructions = 0};
    for (uint32_t i = 0; i < 280; i++) whole_add_event(&trace, RSC_EVENT_ALLOC, i < 140, i, 0, NULL, 65535);
    whole_write(&trace, scratch_path("events.rsct"), &options, NULL, 0);
    struct image image = load_image(scratch_path("events.rsct"));
    assert_true(image.frames == 3);
    size_t one = image.frame[1] - image.frame[0], two = image.frame[2] - image.frame[1];
    uint8_t *copy = malloc(image.count);
    memcpy(copy, image.bytes, image.count);
    memcpy(copy + image.frame[0], image.bytes + image.frame[1], two);
    memcpy(copy + image.frame[0] + two, image.bytes + image.frame[0], one);
    assert_noticed(copy, image.count, "swapped events", 0);
    free(copy);
    free(image.bytes);
    whole_free(&trace);
}

static void a_newer_version_is_told(void **state) {
    (void)state;
    struct whole_trace trace, got;
    struct image image = small_image(&trace);
    image.bytes[8]++;
    uint64_t checksum = XXH3_64bits(image.bytes, image.header_bytes - 8);
    memcpy(image.bytes + image.header_bytes - 8, &checksum, 8);
    for (int salvage = 0; salvage < 2; salvage++) {
        read_image(&got, image.bytes, image.count, salvage);
        assert_int_equal(got.status, RSC_EVERSION);
        assert_non_null(strstr(got.error.message, "version 2 is newer than this tool"));
    }
    free(image.bytes);
    whole_free(&trace);
}

static void messages_say_where(void **state) {
    (void)state;
    struct whole_trace trace, got;
    struct image image = small_image(&trace);
    char wanted[200];
    image.bytes[image.frame[2] + RSCT_FRAME_HEADER_BYTES + 3] ^= 1;
    read_image(&got, image.bytes, image.count, 0);
    snprintf(
        wanted, sizeof wanted,
        "damaged.rsct: frame 3 at byte %zu: checksum mismatch (the first 2 frames are intact; --salvage reads them)",
        image.frame[2]);
    assert_non_null(strstr(got.error.message, wanted));
    assert_int_equal(got.error.offset, image.frame[2]);
    assert_int_equal(got.count, 2 * FRAME); /* what came before is handed on */
    whole_free(&got);

    read_image(&got, image.bytes, image.frame[1] + 50, 0);
    snprintf(wanted, sizeof wanted, "frame 2 at byte %zu: the file is cut inside a frame header", image.frame[1] + 50);
    assert_non_null(strstr(got.error.message, wanted));
    whole_free(&got);

    read_image(&got, image.bytes, 20, 0);
    assert_non_null(strstr(got.error.message, "header at byte 0: the file is cut"));
    image.bytes[image.frame[2] + RSCT_FRAME_HEADER_BYTES + 3] ^= 1;

    image.bytes[image.index_offset + 20] ^= 1;
    read_image(&got, image.bytes, image.count, 0);
    snprintf(wanted, sizeof wanted, "index at byte %zu: checksum mismatch in the index (all 5 frames are intact",
             image.index_offset);
    assert_non_null(strstr(got.error.message, wanted));
    assert_int_equal(got.count, ACCESSES);
    whole_free(&got);
    free(image.bytes);
    whole_free(&trace);
}

/* Right checksums, wrong contents: the message still names the frame. */
static void hostile_frames_are_told_by_their_own_offset(void **state) {
    (void)state;
    struct whole_trace trace, got;
    struct image image = small_image(&trace);
    struct rsct_frame_header header;
    memcpy(&header, image.bytes + image.frame[3], sizeof header);
    header.runs++;
    header.header_checksum = XXH3_64bits(&header, offsetof(struct rsct_frame_header, header_checksum));
    memcpy(image.bytes + image.frame[3], &header, sizeof header);
    read_image(&got, image.bytes, image.count, 0);
    assert_int_equal(got.status, RSC_EFORMAT);
    assert_int_equal(got.error.offset, image.frame[3]);
    assert_non_null(strstr(got.error.message, "frame 4 at byte"));
    assert_int_equal(got.count, 3 * FRAME);
    whole_free(&got);

    read_image(&got, image.bytes, image.count, 1);
    assert_int_equal(got.status, 0);
    assert_int_equal(got.count, ACCESSES - FRAME);
    assert_int_equal(got.after.lost_frames, 1);
    assert_int_equal(got.after.lost_bytes, image.frame[4] - image.frame[3]);
    assert_non_null(strstr(logged, "at least 9 accesses"));
    whole_free(&got);
    free(image.bytes);
    whole_free(&trace);
}

/* ---- salvage ---- */

/* Reads in salvage mode; all but accesses from..to-1 must come back. */
static void assert_salvaged(const void *bytes, size_t count, const struct whole_trace *trace, uint64_t from,
                            uint64_t to, uint64_t lost_bytes) {
    struct whole_trace got;
    char wanted[64];
    read_image(&got, bytes, count, 1);
    if (got.status) fail_msg("salvage: %s", got.error.message);
    assert_int_equal(got.count, trace->count - (to - from));
    for (uint64_t i = 0; i < got.count; i++) {
        uint64_t j = i < from ? i : i + (to - from);
        assert_true(got.addr[i] == trace->addr[j] && got.meta[i] == trace->meta[j] && got.pc[i] == trace->pc[j]);
    }
    assert_true(got.after.lost_frames > 0);
    assert_int_equal(got.after.lost_bytes, lost_bytes);
    assert_non_null(strstr(logged, "salvaged"));
    snprintf(wanted, sizeof wanted, "lost %llu bytes in %llu places", (unsigned long long)lost_bytes,
             (unsigned long long)got.after.lost_frames);
    if (!strstr(logged, wanted)) fail_msg("\"%s\" is not in \"%s\"", wanted, logged);
    whole_free(&got);
}

static void one_damaged_frame_costs_one_frame(void **state) {
    (void)state;
    struct whole_trace trace;
    struct image image = small_image(&trace);
    for (uint32_t i = 0; i < image.frames; i++) {
        uint64_t from = i * FRAME, to = from + FRAME < ACCESSES ? from + FRAME : ACCESSES;
        char wanted[64];
        for (size_t at = image.frame[i]; at < image.frame[i + 1]; at++) {
            image.bytes[at] ^= 0x10;
            assert_salvaged(image.bytes, image.count, &trace, from, to, image.frame[i + 1] - image.frame[i]);
            snprintf(wanted, sizeof wanted, "at least %llu accesses", (unsigned long long)(to - from));
            assert_non_null(strstr(logged, wanted));
            image.bytes[at] ^= 0x10;
        }
    }
    free(image.bytes);
    whole_free(&trace);
}

static void a_damaged_header_costs_what_it_said(void **state) {
    (void)state;
    struct whole_trace trace;
    struct image image = small_image(&trace);
    for (size_t at = 12; at < image.header_bytes; at++) {
        image.bytes[at] ^= 0x10;
        assert_salvaged(image.bytes, image.count, &trace, 0, 0, image.header_bytes);
        image.bytes[at] ^= 0x10;
    }
    free(image.bytes);
    whole_free(&trace);
}

static void a_damaged_index_costs_no_access(void **state) {
    (void)state;
    struct whole_trace trace;
    struct image image = small_image(&trace);
    for (size_t at = image.index_offset; at < image.count; at++) {
        image.bytes[at] ^= 0x10;
        assert_salvaged(image.bytes, image.count, &trace, 0, 0, image.count - image.index_offset);
        image.bytes[at] ^= 0x10;
    }
    free(image.bytes);
    whole_free(&trace);
}

static void a_cut_tail_costs_the_tail(void **state) {
    (void)state;
    struct whole_trace trace;
    struct image image = small_image(&trace);
    for (size_t count = image.header_bytes; count < image.count; count++) {
        uint32_t whole = 0;
        while (whole < image.frames && image.frame[whole + 1] <= count) whole++;
        uint64_t from = whole * FRAME < ACCESSES ? whole * FRAME : ACCESSES;
        assert_salvaged(image.bytes, count, &trace, from, ACCESSES, count - image.frame[whole]);
    }
    free(image.bytes);
    whole_free(&trace);
}

static void garbage_between_frames_costs_nothing_else(void **state) {
    (void)state;
    struct whole_trace trace;
    struct image image = small_image(&trace);
    for (uint32_t kind = 0; kind < 4; kind++) {
        for (uint32_t i = 0; i <= image.frames; i++) {
            size_t bytes = kind == 3 ? 300000 : 1000, at = image.frame[i];
            uint8_t *copy = malloc(image.count + bytes);
            memcpy(copy, image.bytes, at);
            for (size_t b = 0; b < bytes; b++) /* nothing, noise, and what looks like frames and an index */
                copy[at + b] = kind == 0   ? 0
                               : kind == 3 ? (uint8_t)(b * b)
                                           : (uint8_t)"RSCFRSCI"[kind == 1 ? b % 4 : b % 8 ^ 4];
            memcpy(copy + at + bytes, image.bytes + at, image.count - at);
            /* offsets in the index no longer fit: where the garbage is last, the index is lost with it */
            uint64_t lost = i < image.frames ? bytes : bytes + image.count - image.index_offset;
            struct whole_trace got;
            read_image(&got, copy, image.count + bytes, 1);
            assert_same_accesses(&got, &trace, 0, ACCESSES);
            assert_true(got.after.lost_bytes >= lost);
            assert_non_null(strstr(logged, "salvaged 5 frames"));
            whole_free(&got);
            free(copy);
        }
    }
    free(image.bytes);
    whole_free(&trace);
}

static void frames_out_of_order_are_not_read_twice(void **state) {
    (void)state;
    struct whole_trace trace, got;
    struct image image = small_image(&trace);
    size_t one = image.frame[2] - image.frame[1], two = image.frame[3] - image.frame[2];
    uint8_t *copy = malloc(image.count + one);
    memcpy(copy, image.bytes, image.count);
    memcpy(copy + image.frame[1], image.bytes + image.frame[2], two);
    memcpy(copy + image.frame[1] + two, image.bytes + image.frame[1], one);
    assert_salvaged(copy, image.count, &trace, FRAME, 2 * FRAME, one);
    assert_non_null(strstr(logged, "at least 9 accesses"));

    memcpy(copy, image.bytes, image.frame[2]); /* the second frame twice */
    memcpy(copy + image.frame[2], image.bytes + image.frame[1], image.count - image.frame[1]);
    read_image(&got, copy, image.count + one, 1);
    assert_same_accesses(&got, &trace, 0, ACCESSES);
    whole_free(&got);

    memcpy(copy, image.bytes, image.frame[1]); /* the second frame gone */
    memcpy(copy + image.frame[1], image.bytes + image.frame[2], image.count - image.frame[2]);
    read_image(&got, copy, image.count - one, 1);
    assert_int_equal(got.count, ACCESSES - FRAME);
    assert_true(got.after.lost_frames > 0);
    assert_non_null(strstr(logged, "at least 9 accesses"));
    whole_free(&got);
    free(copy);
    free(image.bytes);
    whole_free(&trace);
}

static void salvage_of_an_intact_trace_says_nothing(void **state) {
    (void)state;
    struct whole_trace trace, got;
    struct image image = small_image(&trace);
    read_image(&got, image.bytes, image.count, 1);
    assert_same_trace(&got, &trace);
    assert_string_equal(logged, "");
    assert_int_equal(got.after.lost_bytes + got.after.lost_frames, 0);
    whole_free(&got);
    free(image.bytes);
    whole_free(&trace);
}

/* What is no native trace is not salvaged to nothing. */
static void salvage_needs_a_native_trace(void **state) {
    (void)state;
    const struct rsc_trace_options options = {.struct_bytes = sizeof options, .format = "rsct", .salvage = 1};
    struct whole_trace got;
    whole_read(&got, scratch_write("noise", "no trace at all, but long enough for a header", 45), &options);
    assert_int_equal(got.status, RSC_EFORMAT);
}

/*
 * Headers with right checksums every few bytes, each promising much: salvage
 * tries them, but not without end. A time is not asserted; the test would not
 * come back.
 */
static void many_false_frames_end(void **state) {
    (void)state;
    struct whole_trace trace, got;
    struct image image = small_image(&trace);
    const size_t bytes = 12 << 20;
    uint8_t *hostile = calloc(1, bytes);
    struct rsct_frame_header header;
    for (int size = 0; size < 3; size++) {
        memcpy(hostile, image.bytes, image.frame[1]);
        for (size_t at = image.frame[1]; at + sizeof header < bytes; at += sizeof header) {
            memcpy(&header, image.bytes + image.frame[1], sizeof header);
            uint32_t stored = size == 0 ? 8 : size == 1 ? 1 << 20 : (uint32_t)(bytes - at) / 2;
            header.accesses = header.column[RSCT_CODES].raw_bytes = RSCT_FRAME_ACCESSES_MAX;
            header.column[RSCT_DELTAS].raw_bytes = 8 * RSCT_FRAME_ACCESSES_MAX;
            header.column[RSCT_DELTAS].stored_bytes = stored;
            header.payload_checksum = 1;
            header.header_checksum = XXH3_64bits(&header, offsetof(struct rsct_frame_header, header_checksum));
            memcpy(hostile + at, &header, sizeof header);
        }
        read_image(&got, hostile, bytes, 1);
        assert_int_equal(got.status, RSC_EFORMAT);
        assert_non_null(strstr(got.error.message, "too damaged to salvage"));
        assert_int_equal(got.count, FRAME);
        whole_free(&got);
    }
    free(hostile);
    free(image.bytes);
    whole_free(&trace);
}

/* Frames that hold nothing at all, and the marks of frames without one. */
static void empty_frames_and_bare_marks_end(void **state) {
    (void)state;
    struct whole_trace trace, got;
    struct image image = small_image(&trace);
    const size_t bytes = 4 << 20;
    uint8_t *hostile = calloc(1, bytes);
    struct rsct_frame_header header = {
        .magic = RSCT_FRAME_MAGIC, .first = FRAME, .payload_checksum = XXH3_64bits("", 0)};
    header.header_checksum = XXH3_64bits(&header, offsetof(struct rsct_frame_header, header_checksum));
    memcpy(hostile, image.bytes, image.frame[1]);
    for (size_t at = image.frame[1]; at + sizeof header < bytes; at += sizeof header)
        memcpy(hostile + at, &header, sizeof header);
    read_image(&got, hostile, bytes, 1);
    assert_int_equal(got.count, FRAME);
    whole_free(&got);
    for (size_t at = image.frame[1]; at + 4 < bytes; at += 4) memcpy(hostile + at, "RSCF", 4);
    read_image(&got, hostile, bytes, 1);
    assert_int_equal(got.status, 0);
    assert_int_equal(got.count, FRAME);
    whole_free(&got);
    free(hostile);
    free(image.bytes);
    whole_free(&trace);
}

/* ---- an index that lies ---- */

static void a_lying_index_is_not_believed(void **state) {
    (void)state;
    struct whole_trace trace, got;
    struct image image = small_image(&trace);
    struct rsct_index_row row;
    size_t rows = image.index_offset + RSCT_INDEX_FIXED, end = image.count - RSCT_TRAILER_BYTES - 8;
    for (uint32_t lie = 0; lie < 6; lie++) {
        uint8_t *copy = malloc(image.count);
        struct rsc_trace *from;
        struct rsc_error error;
        memcpy(copy, image.bytes, image.count);
        memcpy(&row, copy + rows + 2 * sizeof row, sizeof row);
        if (lie == 0) row.first = 1000;
        if (lie == 1) row.accesses = 10;
        if (lie == 2) row.offset += 1;
        if (lie == 3) row.offset = UINT64_MAX;
        if (lie == 4) row.instructions++;
        if (lie == 5) row.zero = 1;
        memcpy(copy + rows + 2 * sizeof row, &row, sizeof row);
        uint64_t checksum = XXH3_64bits(copy + image.index_offset, end - image.index_offset);
        memcpy(copy + end, &checksum, 8);
        read_image(&got, copy, image.count, 0);
        assert_int_equal(got.status, RSC_EFORMAT);
        assert_int_equal(got.count, ACCESSES);
        whole_free(&got);
        assert_int_equal(rsc_trace_open(&from, scratch_path("damaged.rsct"), NULL, NULL), 0);
        memset(&got, 0, sizeof got);
        if (!rsc_trace_seek(from, 2 * FRAME + 1, &error)) {
            whole_take(&got, from);
            assert_int_equal(got.status, RSC_EFORMAT);
        }
        rsc_trace_close(from);
        whole_free(&got);
        free(copy);
    }
    free(image.bytes);
    whole_free(&trace);
}

/* A seek that fails for want of an index leaves the trace where it was. */
static void a_failed_seek_does_no_harm(void **state) {
    (void)state;
    struct whole_trace trace, got = {0};
    struct image image = small_image(&trace);
    struct rsc_trace *from;
    struct rsc_error error;
    image.bytes[image.count - 1] ^= 1;
    assert_int_equal(rsc_trace_open(&from, scratch_write("damaged.rsct", image.bytes, image.count), NULL, NULL), 0);
    assert_int_equal(rsc_trace_seek(from, 3, &error), RSC_EFORMAT);
    assert_non_null(strstr(error.message, "no intact index"));
    whole_take(&got, from);
    assert_int_equal(got.status, RSC_EFORMAT);
    assert_same_accesses(&got, &trace, 0, ACCESSES);
    rsc_trace_close(from);
    whole_free(&got);
    free(image.bytes);
    whole_free(&trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_flipped_bit_is_noticed),
        cmocka_unit_test(every_cut_is_noticed),
        cmocka_unit_test(moved_frames_are_noticed),
        cmocka_unit_test(swapped_frames_of_events_are_noticed),
        cmocka_unit_test(a_newer_version_is_told),
        cmocka_unit_test(messages_say_where),
        cmocka_unit_test(hostile_frames_are_told_by_their_own_offset),
        cmocka_unit_test(one_damaged_frame_costs_one_frame),
        cmocka_unit_test(a_damaged_header_costs_what_it_said),
        cmocka_unit_test(a_damaged_index_costs_no_access),
        cmocka_unit_test(a_cut_tail_costs_the_tail),
        cmocka_unit_test(garbage_between_frames_costs_nothing_else),
        cmocka_unit_test(frames_out_of_order_are_not_read_twice),
        cmocka_unit_test(salvage_of_an_intact_trace_says_nothing),
        cmocka_unit_test(salvage_needs_a_native_trace),
        cmocka_unit_test(many_false_frames_end),
        cmocka_unit_test(empty_frames_and_bare_marks_end),
        cmocka_unit_test(a_lying_index_is_not_believed),
        cmocka_unit_test(a_failed_seek_does_no_harm),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
