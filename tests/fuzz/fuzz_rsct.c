/*
 * fuzz_rsct.c - any bytes as a native trace.
 *
 * The fuzzer cannot guess a checksum, nor what zstd makes of a column, so the
 * first byte says how the rest becomes a file:
 *
 *   FUZZ_MEND    all checksums are put right, so that hostile numbers get
 *                through to the decoder
 *   FUZZ_LOOSE   the columns of frames are not compressed (stored_bytes of
 *                them): they are compressed here, and an index is added
 *   FUZZ_SALVAGE reads past damage
 *   FUZZ_SEEK    then goes to an access and reads on
 *   FUZZ_ENGINE  first gives what it reads to an engine, chosen by the bits above
 *
 * Whatever comes, reading ends with 0 or an error that says something, and
 * batches keep the promises of trace.h. An engine makes a profile of them that can
 * be read, or says why not.
 */
#include <xxhash.h>
#include <zstd.h>

#include <reusescope/engine.h>

#include "fuzz_memory.h"
#include "fuzz_profile.h"
#include "trace/native/rsct_format.h"

enum { FUZZ_MEND = 1, FUZZ_LOOSE = 2, FUZZ_SALVAGE = 4, FUZZ_SEEK = 8, FUZZ_ENGINE = 16 };
#define ENGINE_ACCESSES 20000u /* more only take time */

#define ROWS_MAX 256u

static void put_checksum(uint8_t *bytes, size_t count) {
    uint64_t checksum = XXH3_64bits(bytes, count);
    memcpy(bytes + count, &checksum, sizeof checksum);
}

/* Puts the header's checksum right. Returns its length, 0 where there is no room for one. */
static size_t mend_header(uint8_t *file, size_t bytes) {
    uint32_t length;
    if (bytes < RSCT_HEADER_FIXED) return 0;
    memcpy(&length, file + 12, sizeof length);
    if (length < RSCT_HEADER_FIXED + 8 || length > bytes) return 0;
    put_checksum(file, length - 8);
    return length;
}

static void mend_index(uint8_t *file, size_t at, size_t bytes) {
    struct rsct_trailer trailer = {.magic = RSCT_TRAILER_MAGIC, .index_offset = at};
    if (bytes - at < RSCT_TRAILER_BYTES + 16) return;
    trailer.index_bytes = bytes - at - RSCT_TRAILER_BYTES;
    put_checksum(file + at, trailer.index_bytes - 8);
    memcpy(file + bytes - RSCT_TRAILER_BYTES, &trailer, sizeof trailer);
    put_checksum(file + bytes - RSCT_TRAILER_BYTES, RSCT_TRAILER_BYTES - 8);
}

/* Puts all checksums right, as far as the parts of the file can be found. */
static void mend(uint8_t *file, size_t bytes) {
    size_t at = mend_header(file, bytes);
    uint32_t magic = 0;
    while (at && bytes - at >= RSCT_FRAME_HEADER_BYTES) {
        struct rsct_frame_header header;
        memcpy(&header, file + at, sizeof header);
        magic = header.magic;
        if (magic != RSCT_FRAME_MAGIC) break;
        uint64_t payload = 0, behind = bytes - at - sizeof header;
        for (int c = 0; c < RSCT_COLUMNS; c++) payload += header.column[c].stored_bytes;
        if (payload <= behind) header.payload_checksum = XXH3_64bits(file + at + sizeof header, payload);
        memcpy(file + at, &header, sizeof header);
        put_checksum(file + at, sizeof header - 8);
        if (payload > behind) return;
        at += sizeof header + payload;
    }
    if (at && magic == RSCT_INDEX_MAGIC) mend_index(file, at, bytes);
}

/* ---- loose frames ---- */

struct built {
    uint8_t *bytes;
    size_t count, room;
    struct rsct_index_row rows[ROWS_MAX];
    uint32_t row_count;
    struct rsct_totals totals;
};

static void append(struct built *built, const void *bytes, size_t count) {
    if (built->count + count > built->room) {
        built->room = 2 * (built->count + count);
        built->bytes = realloc(built->bytes, built->room);
        FUZZ_CHECK(built->bytes != NULL);
    }
    if (count) memcpy(built->bytes + built->count, bytes, count);
    built->count += count;
}

/* Compresses one loose frame onto what is built. Returns the bytes it took, 0 where there is no frame. */
static size_t tighten_frame(struct built *built, const uint8_t *from, size_t bytes) {
    struct rsct_frame_header header;
    size_t at = sizeof header, start = built->count;
    if (bytes < sizeof header || built->row_count == ROWS_MAX) return 0;
    memcpy(&header, from, sizeof header);
    header.magic = RSCT_FRAME_MAGIC;
    header.first = built->totals.accesses;
    append(built, &header, sizeof header);
    for (int c = 0; c < RSCT_COLUMNS; c++) {
        size_t raw = header.column[c].stored_bytes;
        if (raw > bytes - at) raw = bytes - at;
        size_t room = ZSTD_compressBound(raw);
        uint8_t *packed = malloc(room);
        FUZZ_CHECK(packed != NULL);
        size_t stored = raw ? ZSTD_compress(packed, room, from + at, raw, 1) : 0;
        FUZZ_CHECK(!ZSTD_isError(stored));
        append(built, packed, stored);
        free(packed);
        header.column[c].raw_bytes = (uint32_t)raw;
        header.column[c].stored_bytes = (uint32_t)stored;
        at += raw;
    }
    header.accesses = header.column[RSCT_CODES].raw_bytes;
    memcpy(built->bytes + start, &header, sizeof header);
    built->rows[built->row_count++] = (struct rsct_index_row){
        .offset = start, .first = header.first, .instructions = header.instructions, .accesses = header.accesses};
    built->totals.accesses += header.accesses;
    built->totals.events += header.events;
    return at;
}

/* A file of a header and loose frames, made whole; the checksums are still to be mended. */
static struct built tighten(const uint8_t *data, size_t bytes) {
    static const uint8_t zeros[64];
    struct built built = {0};
    uint32_t header = RSCT_HEADER_FIXED;
    uint64_t magic = RSCT_INDEX_MAGIC, rows;
    if (bytes >= RSCT_HEADER_FIXED) memcpy(&header, data + 12, sizeof header);
    if (header > bytes) header = (uint32_t)bytes;
    append(&built, data, header);
    for (size_t at = header, took; (took = tighten_frame(&built, data + at, bytes - at)) > 0;) at += took;
    rows = built.row_count;
    append(&built, &magic, 8);
    append(&built, &rows, 8);
    append(&built, built.rows, rows * sizeof *built.rows);
    append(&built, &built.totals, sizeof built.totals);
    append(&built, zeros, 8 + 8 + RSCT_TRAILER_BYTES);
    return built;
}

/* ---- reading ---- */

static void check_batch(const struct rsc_batch *batch) {
    static volatile uint64_t sink;
    uint64_t sum = batch->instructions;
    FUZZ_CHECK(batch->count <= RSC_BATCH_ACCESSES);
    for (uint32_t i = 0; i < batch->count; i++) {
        FUZZ_CHECK(rsc_meta_kind(batch->meta[i]) <= RSC_FETCH);
        FUZZ_CHECK(rsc_meta_thread(batch->meta[i]) < batch->thread_count);
        sum += batch->addr[i] + (batch->pc ? batch->pc[i] : 0);
    }
    for (uint32_t i = 0; i < batch->thread_count; i++) sum += batch->threads[i].pid + batch->threads[i].tid;
    for (uint32_t i = 0; i < batch->event_count; i++) {
        const struct rsc_event *event = &batch->events[i];
        FUZZ_CHECK(event->at <= batch->count && (i == 0 || event->at >= event[-1].at));
        FUZZ_CHECK(event->thread < RSC_THREADS_MAX);
        sum += event->a + event->b + event->type;
        for (uint32_t b = 0; b < event->data_bytes; b++) sum += ((const uint8_t *)event->data)[b];
    }
    sink = sum;
    (void)sink;
}

/* Engines with their models. */
static struct rsc_engine *engine_for(int how) {
    static const char *const engines[8][2] = {
        {"exact", "shared"},          {"exact", "private"}, {"sampled:period=7", "private"},
        {"shards:0.2", "single"},     {"requests", NULL},   {"featherlight:period=9", NULL},
        {"time:statstack", "shared"}, {"auto", NULL}};
    const char *const *chosen = engines[how >> 5 & 7];
    const struct rsc_engine_options options = {.struct_bytes = sizeof options,
                                               .engine = chosen[0],
                                               .model = chosen[1],
                                               .phases = (how >> 5 & 7) < 2 ? 2 : 0,
                                               .workers = 1};
    struct rsc_engine *engine = NULL;
    struct rsc_error error;
    FUZZ_CHECK(rsc_engine_new(&engine, &options, &error) == 0);
    return engine;
}

static void analyse(struct rsc_source *source, int how) {
    struct rsc_engine *engine = engine_for(how);
    struct rsc_profile *profile = NULL;
    struct rsc_error error = {0};
    struct rsc_batch batch;
    uint64_t accesses = 0, batches = 0;
    int status = 0;
    while (accesses < ENGINE_ACCESSES && batches++ < 1000 &&
           (status = source->ops->next(source, &batch, &error)) == 1) {
        check_batch(&batch);
        if (batch.count > ENGINE_ACCESSES) batch.count = ENGINE_ACCESSES;
        while (batch.event_count && batch.events[batch.event_count - 1].at > batch.count) batch.event_count--;
        accesses += batch.count;
        if ((status = rsc_engine_push(engine, &batch, &error)) < 0) break;
    }
    if (status >= 0) status = rsc_engine_finish(engine, &profile, &error);
    if (status < 0) fuzz_check_failure(status, &error);
    if (profile) fuzz_write_and_read(profile);
    rsc_profile_free(profile);
    rsc_engine_free(engine);
}

static int read_on(struct rsc_source *source, struct rsc_error *error) {
    struct rsc_batch batch;
    uint64_t accesses = 0, batches = 0;
    int status;
    do {
        status = source->ops->next(source, &batch, error);
        if (status == 1) check_batch(&batch);
        if (status == 1) accesses += batch.count;
    } while (status == 1 && accesses < FUZZ_ACCESSES_MAX && ++batches < 10000);
    return status;
}

static void read_file(const uint8_t *data, size_t bytes, int how) {
    const struct rsc_reader_options options = {.salvage = (how & FUZZ_SALVAGE) != 0};
    struct rsc_input *input = fuzz_input(data, bytes);
    struct rsc_source *source = NULL;
    struct rsc_error error = {0};
    if (!input) return;
    int status = rsc_rsct_open(&source, input, &options, &error);
    if (status == 0) {
        if (how & FUZZ_ENGINE) analyse(source, how);
        status = read_on(source, &error);
        if (status < 0) fuzz_check_failure(status, &error);
        struct rsc_trace_info info = {0};
        source->ops->info(source, &info);
        if (how & FUZZ_SEEK && rsc_input_seekable(input)) {
            status = source->ops->seek(source, bytes * 7919 % (info.accesses + 2), &error);
            if (status == 0) status = read_on(source, &error);
        }
        source->ops->close(source);
    }
    if (status < 0) fuzz_check_failure(status, &error);
    rsc_input_close(input);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    if (bytes == 0) return 0;
    int how = *data++;
    struct built file = {0};
    bytes--;
    if (how & FUZZ_LOOSE) file = tighten(data, bytes);
    else append(&file, data, bytes);
    if (how & (FUZZ_MEND | FUZZ_LOOSE)) mend(file.bytes, file.count);
    read_file(file.bytes, file.count, how);
    free(file.bytes);
    return 0;
}
