/*
 * rsct_encode.c - packing frames of the native format.
 *
 * Accesses become code and delta bytes as they arrive: one table look-up gives the
 * code of (kind, delta class, size), and the low bytes of the delta are stored.
 * Thread switches, pcs and events are collected separately. Packing then only
 * compresses and checksums.
 */
#include "trace/native/rsct_encode.h"

#include <stdlib.h>
#include <xxhash.h>
#include <zstd.h>

#include "base/fail.h"
#include "base/grow.h"
#include "base/u64_table.h"
#include "trace/instruction_share.h"
#include "trace/native/varint.h"

#define RECENT_PCS 4096u
#define RAW_LEAST 65536u /* bytes of a column that may be stored as it is */
#define SMALL_SIZES 256u /* sizes below this find their code in a table */

/* A thread in the frame being filled. */
struct frame_thread {
    uint32_t number;
    struct rsc_thread who;
    uint64_t last[3]; /* prediction for each kind */
};

struct growing {
    uint8_t *bytes;
    size_t used, room;
};

struct rsct_encoder {
    uint32_t frame_accesses;
    int level, pcs;
    ZSTD_CCtx *zstd;

    uint64_t first; /* of the frame being filled */
    uint32_t accesses, events;
    uint64_t instructions;
    int instructions_known;
    struct rsct_mark marks[RSCT_MARKS_MAX]; /* at ends of batches */
    uint32_t mark_count;
    int whole_frames; /* no marks */
    int uneven; /* fetches do not show where instructions are: marks are needed */
    struct growing mark_bytes;

    uint8_t *codes, *codes_at;
    uint8_t *deltas, *deltas_at;
    uint32_t *sizes; /* explicit ones */
    uint32_t size_count;
    uint16_t code_of[3][8][SMALL_SIZES]; /* code + 1; 0: none yet */
    struct {
        uint8_t kind, class;
        uint32_t size;
    } code[RSCT_CODES_DIRECT];
    uint32_t code_count;

    struct frame_thread *threads;
    uint32_t thread_count, thread_room;
    uint32_t *local_of; /* thread number -> index into threads + 1 */
    uint32_t local_room;
    uint32_t current;  /* index into threads */
    uint32_t run_from; /* access at which its run began */
    uint32_t runs;
    struct growing run_bytes, event_bytes, packed, tables;
    uint32_t last_event_at;
    struct rsct_event_before event_before;

    struct rsc_u64_table pc_ids;
    uint64_t *pc_list;
    uint32_t *pc_id;
    uint32_t pc_count, pc_room;
    struct {
        uint64_t pc;
        uint32_t id, known;
    } recent[RECENT_PCS]; /* by low bits of the pc: nearly every look-up ends here */
    struct growing pc_bytes;
};

static int reserve(struct growing *buffer, size_t more) {
    return RSC_GROW(buffer->bytes, buffer->room, buffer->used + more) ? RSC_ENOMEM : 0;
}

static void put(struct growing *buffer, uint64_t value) {
    buffer->used = (size_t)(rsc_varint_put(buffer->bytes + buffer->used, value) - buffer->bytes);
}

int rsct_encoder_new(struct rsct_encoder **out, const struct rsc_trace_writer_options *options, int pcs,
                     struct rsc_error *error) {
    const uint32_t frame_accesses = options->frame_accesses;
    struct rsct_encoder *encoder = calloc(1, sizeof *encoder);
    *out = NULL;
    if (!encoder) return rsc_fail_memory(error, "trace encoder");
    encoder->frame_accesses = frame_accesses;
    encoder->level = options->level;
    encoder->pcs = pcs;
    encoder->whole_frames = options->whole_frames;
    encoder->instructions_known = 1;
    encoder->zstd = ZSTD_createCCtx();
    encoder->codes = malloc(frame_accesses);
    encoder->deltas = malloc((size_t)frame_accesses * 8 + 8);
    encoder->sizes = malloc((size_t)frame_accesses * sizeof *encoder->sizes);
    encoder->codes_at = encoder->codes;
    encoder->deltas_at = encoder->deltas;
    int failed = !encoder->zstd || !encoder->codes || !encoder->deltas || !encoder->sizes;
    if (pcs) {
        encoder->pc_id = malloc((size_t)frame_accesses * sizeof *encoder->pc_id);
        failed |= !encoder->pc_id || rsc_u64_table_init(&encoder->pc_ids, 4096) < 0;
    }
    if (failed) {
        rsct_encoder_free(encoder);
        return rsc_fail_memory(error, "trace encoder");
    }
    *out = encoder;
    return 0;
}

void rsct_encoder_free(struct rsct_encoder *encoder) {
    if (!encoder) return;
    ZSTD_freeCCtx(encoder->zstd);
    free(encoder->codes);
    free(encoder->deltas);
    free(encoder->sizes);
    free(encoder->threads);
    free(encoder->local_of);
    free(encoder->run_bytes.bytes);
    free(encoder->mark_bytes.bytes);
    free(encoder->event_bytes.bytes);
    free(encoder->packed.bytes);
    free(encoder->tables.bytes);
    free(encoder->pc_bytes.bytes);
    free(encoder->pc_list);
    free(encoder->pc_id);
    rsc_u64_table_free(&encoder->pc_ids);
    free(encoder);
}

/* ---- threads ---- */

static int add_thread(struct rsct_encoder *encoder, uint32_t number, const struct rsc_batch *batch) {
    if (RSC_GROW(encoder->threads, encoder->thread_room, encoder->thread_count + 1)) return RSC_ENOMEM;
    struct frame_thread *thread = &encoder->threads[encoder->thread_count++];
    *thread = (struct frame_thread){.number = number, .who = {0, number}};
    if (batch->threads && number < batch->thread_count) thread->who = batch->threads[number];
    encoder->local_of[number] = encoder->thread_count;
    return 0;
}

static int end_run(struct rsct_encoder *encoder) {
    if (encoder->accesses == encoder->run_from) return 0;
    if (reserve(&encoder->run_bytes, 2 * RSC_VARINT_MAX) < 0) return RSC_ENOMEM;
    put(&encoder->run_bytes, encoder->current);
    put(&encoder->run_bytes, encoder->accesses - encoder->run_from);
    encoder->run_from = encoder->accesses;
    encoder->runs++;
    return 0;
}

/* Adds a thread to the frame's table if it is not there yet. */
static int know_thread(struct rsct_encoder *encoder, uint32_t number, const struct rsc_batch *batch) {
    uint32_t before = encoder->local_room;
    if (RSC_GROW(encoder->local_of, encoder->local_room, number + 1ull)) return RSC_ENOMEM;
    for (uint32_t i = before; i < encoder->local_room; i++) encoder->local_of[i] = 0;
    return encoder->local_of[number] ? 0 : add_thread(encoder, number, batch);
}

static int switch_thread(struct rsct_encoder *encoder, uint32_t number, const struct rsc_batch *batch) {
    if (end_run(encoder) < 0 || know_thread(encoder, number, batch) < 0) return RSC_ENOMEM;
    encoder->current = encoder->local_of[number] - 1;
    return 0;
}

/* ---- accesses ---- */

/* The code of a combination seen for the first time, or of one whose size is in SIZES. */
static uint32_t other_code(struct rsct_encoder *encoder, uint32_t kind, uint32_t class, uint32_t size) {
    if (size < SMALL_SIZES && encoder->code_count < RSCT_CODES_DIRECT) {
        uint32_t code = encoder->code_count++;
        encoder->code[code].kind = (uint8_t)kind;
        encoder->code[code].class = (uint8_t)class;
        encoder->code[code].size = size;
        encoder->code_of[kind][class][size] = (uint16_t)(code + 1);
        return code;
    }
    encoder->sizes[encoder->size_count++] = size;
    return RSCT_CODES_DIRECT + kind * 8 + class;
}

/* A stretch of accesses of the current thread: the hot loop of encoding. */
static void encode_stretch(struct rsct_encoder *encoder, const struct rsc_batch *batch, uint32_t from, uint32_t to) {
    uint64_t *last = encoder->threads[encoder->current].last;
    uint8_t *codes = encoder->codes_at, *deltas = encoder->deltas_at;
    for (uint32_t i = from; i < to; i++) {
        uint64_t addr = batch->addr[i], meta = batch->meta[i];
        uint32_t kind = rsc_meta_kind(meta) % 3, size = rsc_meta_size(meta);
        uint64_t zigzag = rsc_zigzag(addr - last[kind]);
        uint32_t class = rsct_class_of(zigzag);
        uint32_t code = size < SMALL_SIZES ? encoder->code_of[kind][class][size] : 0;
        *codes++ = (uint8_t)(code ? code - 1 : other_code(encoder, kind, class, size));
        memcpy(deltas, &zigzag, 8);
        deltas += rsct_class_bytes(class);
        last[kind] = rsct_predict_after(addr, kind, size);
    }
    encoder->codes_at = codes;
    encoder->deltas_at = deltas;
    encoder->accesses += to - from;
}

static int add_pc(struct rsct_encoder *encoder, uint64_t pc, uint32_t *id) {
    if (rsc_u64_table_needs_rebuild(&encoder->pc_ids) && rsc_u64_table_rebuild(&encoder->pc_ids) < 0) return RSC_ENOMEM;
    struct rsc_u64_entry *entry = rsc_u64_table_find(&encoder->pc_ids, pc);
    if (!entry->value) {
        if (RSC_GROW(encoder->pc_list, encoder->pc_room, encoder->pc_count + 1)) return RSC_ENOMEM;
        encoder->pc_list[encoder->pc_count++] = pc;
        *entry = (struct rsc_u64_entry){pc, encoder->pc_count};
        encoder->pc_ids.used++;
    }
    *id = (uint32_t)entry->value - 1;
    return 0;
}

static int encode_pcs(struct rsct_encoder *encoder, const struct rsc_batch *batch, uint32_t from, uint32_t to) {
    uint32_t *ids = encoder->pc_id + (encoder->accesses - (to - from));
    for (uint32_t i = from; i < to; i++) {
        uint64_t pc = batch->pc ? batch->pc[i] : 0;
        uint32_t place = (uint32_t)(pc ^ pc >> 12) % RECENT_PCS;
        if (!encoder->recent[place].known || encoder->recent[place].pc != pc) {
            if (add_pc(encoder, pc, &encoder->recent[place].id) < 0) return RSC_ENOMEM;
            encoder->recent[place].pc = pc;
            encoder->recent[place].known = 1;
        }
        *ids++ = encoder->recent[place].id;
    }
    return 0;
}

/* Accesses from..to-1 of the batch, cut where the thread changes. */
static int encode_accesses(struct rsct_encoder *encoder, const struct rsc_batch *batch, uint32_t from, uint32_t to) {
    while (from < to) {
        uint32_t number = rsc_meta_thread(batch->meta[from]), end = from + 1;
        while (end < to && rsc_meta_thread(batch->meta[end]) == number) end++;
        int same = encoder->accesses && encoder->threads[encoder->current].number == number;
        if (!same && switch_thread(encoder, number, batch) < 0) return RSC_ENOMEM;
        encode_stretch(encoder, batch, from, end);
        if (encoder->pcs && encode_pcs(encoder, batch, from, end) < 0) return RSC_ENOMEM;
        from = end;
    }
    return 0;
}

static int encode_event(struct rsct_encoder *encoder, const struct rsc_batch *batch, const struct rsc_event *event) {
    struct growing *bytes = &encoder->event_bytes;
    struct rsct_event_before *before = &encoder->event_before;
    uint32_t like = event->type % RSCT_EVENT_TYPES;
    if (know_thread(encoder, event->thread, batch) < 0) return RSC_ENOMEM; /* it may have no access in this frame */
    if (reserve(bytes, 6 * RSC_VARINT_MAX + event->data_bytes) < 0) return RSC_ENOMEM;
    uint32_t other_thread = event->thread != before->thread ? RSCT_EVENT_THREAD : 0;
    put(bytes, encoder->accesses - encoder->last_event_at);
    put(bytes, event->type * 4u + other_thread + (event->data_bytes ? RSCT_EVENT_DATA : 0));
    if (other_thread) put(bytes, event->thread);
    put(bytes, rsc_zigzag(event->a - before->a[like]));
    put(bytes, rsc_zigzag(event->b - before->b[like]));
    if (event->data_bytes) {
        put(bytes, event->data_bytes);
        memcpy(bytes->bytes + bytes->used, event->data, event->data_bytes);
        bytes->used += event->data_bytes;
    }
    before->a[like] = event->a;
    before->b[like] = event->b;
    before->thread = event->thread;
    encoder->last_event_at = encoder->accesses;
    encoder->events++;
    return 0;
}

/* Adds the instructions of accesses from..to-1; of an empty batch, all of them. */
static void add_instructions(struct rsct_encoder *encoder, const struct rsc_batch *batch, uint32_t from, uint32_t to) {
    const int cut = from || to < batch->count;
    if (batch->instructions == RSC_UNKNOWN) encoder->instructions_known = encoder->instructions_known && from == to;
    else if (!batch->count) encoder->instructions += batch->instructions;
    else encoder->instructions += rsc_instruction_share(batch, cut && rsc_fetches_are_instructions(batch), from, to);
}

/* Notes how many instructions precede the end of accesses from..to-1 of a batch, which were just added. */
static void add_mark(struct rsct_encoder *encoder, const struct rsc_batch *batch, uint32_t from, uint32_t to) {
    uint64_t fetches = 0, before = encoder->instructions;
    uint32_t last = encoder->mark_count ? (uint32_t)encoder->marks[encoder->mark_count - 1].access : 0;
    add_instructions(encoder, batch, from, to);
    for (uint32_t i = from; i < to; i++) fetches += rsc_meta_kind(batch->meta[i]) == RSC_FETCH;
    encoder->uneven |= encoder->instructions - before != fetches;
    if (encoder->accesses - last < RSCT_MARK_ACCESSES || encoder->mark_count == RSCT_MARKS_MAX) return;
    encoder->marks[encoder->mark_count++] = (struct rsct_mark){encoder->accesses, encoder->instructions};
}

static int frame_is_full(const struct rsct_encoder *encoder) {
    return encoder->accesses == encoder->frame_accesses || encoder->events >= RSCT_EVENTS_MAX ||
           encoder->event_bytes.used >= RSCT_EVENT_BYTES_MAX / 2;
}

int rsct_encoder_add(struct rsct_encoder *encoder, const struct rsc_batch *batch, struct rsct_position *position,
                     struct rsc_error *error) {
    uint32_t begun_at = position->access;
    int status;
    /* a filter may have kept none of a batch's accesses: its instructions still count */
    if (!batch->count && !position->event) add_instructions(encoder, batch, 0, 0);
    for (;;) {
        uint32_t from = position->access, to = batch->count;
        if (position->event < batch->event_count && batch->events[position->event].at < to)
            to = batch->events[position->event].at;
        if (to < from) to = from; /* an event out of order: it comes late */
        if (to - from > encoder->frame_accesses - encoder->accesses)
            to = from + (encoder->frame_accesses - encoder->accesses);
        if (from < to && encode_accesses(encoder, batch, from, to) < 0) return rsc_fail_memory(error, "trace encoder");
        position->access = to;
        status = frame_is_full(encoder);
        if (status || position->event == batch->event_count) break;
        if (encode_event(encoder, batch, &batch->events[position->event++]) < 0)
            return rsc_fail_memory(error, "trace encoder");
    }
    if (begun_at < position->access) add_mark(encoder, batch, begun_at, position->access);
    return status;
}

int rsct_encoder_pending(const struct rsct_encoder *encoder) {
    return encoder->accesses || encoder->events || encoder->instructions;
}

uint32_t rsct_encoder_accesses(const struct rsct_encoder *encoder) { return encoder->accesses; }

void rsct_encoder_follow(struct rsct_encoder *encoder, const struct rsct_encoder *full) {
    encoder->first = full->first + full->accesses;
}

void rsct_encoder_drop_pcs(struct rsct_encoder *encoder) { encoder->pcs = 0; }

/* ---- packing ---- */

static int build_tables(struct rsct_encoder *encoder) {
    struct growing *tables = &encoder->tables;
    tables->used = 0;
    size_t most = (2 * (size_t)encoder->code_count + 3 * (size_t)encoder->thread_count) * RSC_VARINT_MAX;
    if (end_run(encoder) < 0 || reserve(tables, most + encoder->run_bytes.used) < 0) return RSC_ENOMEM;
    for (uint32_t i = 0; i < encoder->code_count; i++) {
        put(tables, (uint64_t)encoder->code[i].kind << 3 | encoder->code[i].class);
        put(tables, encoder->code[i].size);
    }
    for (uint32_t i = 0; i < encoder->thread_count; i++) {
        put(tables, encoder->threads[i].number);
        put(tables, encoder->threads[i].who.pid);
        put(tables, encoder->threads[i].who.tid);
    }
    if (encoder->run_bytes.used)
        memcpy(tables->bytes + tables->used, encoder->run_bytes.bytes, encoder->run_bytes.used);
    tables->used += encoder->run_bytes.used;
    return 0;
}

/* Dictionary size, the pcs as deltas in order of appearance, then the ids in 1, 2 or 4 bytes each. */
static int build_pcs(struct rsct_encoder *encoder) {
    struct growing *bytes = &encoder->pc_bytes;
    bytes->used = 0;
    if (!encoder->pcs || !encoder->accesses) return 0;
    uint32_t width = encoder->pc_count <= 256 ? 1 : encoder->pc_count <= 65536 ? 2 : 4;
    if (reserve(bytes, ((size_t)encoder->pc_count + 1) * RSC_VARINT_MAX + (size_t)encoder->accesses * width) < 0)
        return RSC_ENOMEM;
    put(bytes, encoder->pc_count);
    uint64_t last = 0;
    for (uint32_t i = 0; i < encoder->pc_count; i++) {
        put(bytes, rsc_zigzag(encoder->pc_list[i] - last));
        last = encoder->pc_list[i];
    }
    uint8_t *to = bytes->bytes + bytes->used;
    for (uint32_t i = 0; i < encoder->accesses; i++) {
        if (width == 1) to[i] = (uint8_t)encoder->pc_id[i];
        else if (width == 2) memcpy(to + 2 * (size_t)i, &encoder->pc_id[i], 2);
        else memcpy(to + 4 * (size_t)i, &encoder->pc_id[i], 4);
    }
    bytes->used += (size_t)encoder->accesses * width;
    return 0;
}

/* Marks before all other events. Returns how many. */
static int build_marks(struct rsct_encoder *encoder, uint32_t *count) {
    struct growing *bytes = &encoder->mark_bytes;
    struct rsct_mark before = {0, 0};
    *count = 0;
    bytes->used = 0;
    while (encoder->mark_count && encoder->marks[encoder->mark_count - 1].access >= encoder->accesses)
        encoder->mark_count--; /* the frame's total says that */
    if (!encoder->uneven || encoder->whole_frames || !encoder->instructions_known || !encoder->mark_count ||
        encoder->events > RSCT_EVENTS_MAX - RSCT_MARKS_MAX)
        return 0;
    if (reserve(bytes, (size_t)encoder->mark_count * 4 * RSC_VARINT_MAX + encoder->event_bytes.used) < 0)
        return RSC_ENOMEM;
    for (uint32_t i = 0; i < encoder->mark_count; i++) {
        put(bytes, 0);
        put(bytes, RSCT_EVENT_MARK * 4u);
        put(bytes, rsc_zigzag(encoder->marks[i].access - before.access));
        put(bytes, rsc_zigzag(encoder->marks[i].instructions - before.instructions));
        before = encoder->marks[i];
    }
    if (encoder->event_bytes.used)
        memcpy(bytes->bytes + bytes->used, encoder->event_bytes.bytes, encoder->event_bytes.used);
    bytes->used += encoder->event_bytes.used;
    *count = encoder->mark_count;
    return 0;
}

/* A zstd frame of raw blocks (RFC 8878): magic, descriptor, content size, then blocks of up to 128 KiB. */
#define RAW_BLOCK (1u << 17)
static size_t raw_frame_bytes(size_t bytes) { return 9 + bytes + 3 * ((bytes + RAW_BLOCK - 1) / RAW_BLOCK); }

static void put_raw_frame(uint8_t *to, const uint8_t *raw, size_t bytes) {
    const uint32_t magic = ZSTD_MAGICNUMBER, content = (uint32_t)bytes;
    memcpy(to, &magic, 4);
    to[4] = 0xa0; /* a single segment, its size in 4 bytes */
    memcpy(to + 5, &content, 4);
    to += 9;
    for (size_t at = 0, block; at < bytes; at += block) {
        block = bytes - at < RAW_BLOCK ? bytes - at : RAW_BLOCK;
        uint32_t head = (uint32_t)block << 3 | (at + block == bytes);
        memcpy(to, &head, 3);
        memcpy(to + 3, raw + at, block);
        to += 3 + block;
    }
}

/*
 * Whether a column is better stored as it is: unpacking it would take longer than all other decoding, to save less than
 * a fifth of it (deltas of random addresses). Not where a higher level than the usual one asks for small files.
 */
static int hardly_shrinks(const struct rsct_encoder *encoder, size_t stored, size_t raw_bytes) {
    return encoder->level <= RSCT_LEVEL && raw_bytes >= RAW_LEAST && stored > raw_bytes / 5 * 4;
}

static int compress_column(struct rsct_encoder *encoder, struct rsct_frame_header *header, enum rsct_column column,
                           const void *raw, size_t raw_bytes, struct rsc_error *error) {
    header->column[column].raw_bytes = (uint32_t)raw_bytes;
    header->column[column].stored_bytes = 0;
    if (!raw_bytes) return 0;
    size_t bound = ZSTD_compressBound(raw_bytes);
    if (reserve(&encoder->packed, bound) < 0) return rsc_fail_memory(error, "trace encoder");
    size_t stored = ZSTD_compressCCtx(encoder->zstd, encoder->packed.bytes + encoder->packed.used, bound, raw,
                                      raw_bytes, encoder->level);
    if (ZSTD_isError(stored)) return rsc_fail(error, RSC_ENOMEM, "zstd: %s", ZSTD_getErrorName(stored));
    if (hardly_shrinks(encoder, stored, raw_bytes) && raw_frame_bytes(raw_bytes) <= bound) {
        put_raw_frame(encoder->packed.bytes + encoder->packed.used, raw, raw_bytes);
        stored = raw_frame_bytes(raw_bytes);
    }
    header->column[column].stored_bytes = (uint32_t)stored;
    encoder->packed.used += stored;
    return 0;
}

static void start_next_frame(struct rsct_encoder *encoder) {
    encoder->first += encoder->accesses;
    encoder->accesses = encoder->events = 0;
    encoder->instructions = 0;
    encoder->instructions_known = 1;
    encoder->mark_count = 0;
    encoder->uneven = 0;
    encoder->codes_at = encoder->codes;
    encoder->deltas_at = encoder->deltas;
    encoder->size_count = encoder->code_count = 0;
    memset(encoder->code_of, 0, sizeof encoder->code_of);
    for (uint32_t i = 0; i < encoder->thread_count; i++) encoder->local_of[encoder->threads[i].number] = 0;
    encoder->thread_count = encoder->run_from = encoder->runs = 0;
    encoder->run_bytes.used = encoder->event_bytes.used = 0;
    encoder->last_event_at = 0;
    memset(&encoder->event_before, 0, sizeof encoder->event_before);
    if (encoder->pcs && encoder->pc_count) {
        memset(encoder->pc_ids.entries, 0, rsc_u64_table_bytes(&encoder->pc_ids));
        encoder->pc_ids.used = 0;
        encoder->pc_count = 0;
        memset(encoder->recent, 0, sizeof encoder->recent);
    }
}

int rsct_encoder_pack(struct rsct_encoder *encoder, struct rsct_frame_header *header, const uint8_t **data,
                      size_t *bytes, struct rsc_error *error) {
    struct growing *packed = &encoder->packed;
    uint32_t marks;
    packed->used = RSCT_FRAME_HEADER_BYTES;
    if (reserve(packed, 1) < 0 || build_tables(encoder) < 0 || build_pcs(encoder) < 0 ||
        build_marks(encoder, &marks) < 0)
        return rsc_fail_memory(error, "trace encoder");
    memset(header, 0, sizeof *header);
    header->magic = RSCT_FRAME_MAGIC;
    header->codes = encoder->code_count;
    header->first = encoder->first;
    header->accesses = encoder->accesses;
    header->events = encoder->events + marks;
    header->instructions = encoder->instructions_known ? encoder->instructions : RSC_UNKNOWN;
    header->threads = encoder->thread_count;
    header->runs = encoder->runs;

    const struct {
        const void *raw;
        size_t bytes;
    } column[RSCT_COLUMNS] = {
        [RSCT_CODES] = {encoder->codes, (size_t)(encoder->codes_at - encoder->codes)},
        [RSCT_DELTAS] = {encoder->deltas, (size_t)(encoder->deltas_at - encoder->deltas)},
        [RSCT_TABLES] = {encoder->tables.bytes, encoder->tables.used},
        [RSCT_SIZES] = {encoder->sizes, (size_t)encoder->size_count * sizeof *encoder->sizes},
        [RSCT_PCS] = {encoder->pc_bytes.bytes, encoder->pc_bytes.used},
        [RSCT_EVENTS] = {marks ? encoder->mark_bytes.bytes : encoder->event_bytes.bytes,
                         marks ? encoder->mark_bytes.used : encoder->event_bytes.used},
    };
    for (int c = 0; c < RSCT_COLUMNS; c++) {
        int status = compress_column(encoder, header, (enum rsct_column)c, column[c].raw, column[c].bytes, error);
        if (status < 0) return status;
    }
    header->payload_checksum =
        XXH3_64bits(packed->bytes + RSCT_FRAME_HEADER_BYTES, packed->used - RSCT_FRAME_HEADER_BYTES);
    header->header_checksum = XXH3_64bits(header, offsetof(struct rsct_frame_header, header_checksum));
    memcpy(packed->bytes, header, sizeof *header);
    *data = packed->bytes;
    *bytes = packed->used;
    start_next_frame(encoder);
    return 0;
}
