/*
 * rsct_decode.c - unpacking frames of the native format.
 *
 * All columns of a frame are decompressed at once (a few bytes per access);
 * accesses are rebuilt a slice at a time, so that a slice is still in the cache when
 * it is used. The inner loop (rsct_stretch.h) has no branch that depends on the data:
 * a table indexed by code gives the mask for the delta, its length and the finished
 * meta word.
 *
 * Up to 8 bytes of the delta column are read per access without a check; the frame
 * has room for that whatever the codes are. At the end of the frame the length
 * consumed must be the length stored.
 */
#include "trace/native/rsct_decode.h"

#include <assert.h>
#include <stdlib.h>

#include "base/cpu.h"
#include "base/fail.h"
#include "base/grow.h"
#include "trace/native/rsct_stretch.h"
#include "trace/source.h"
#include "trace/native/varint.h"

struct frame_thread {
    uint32_t number;
    uint64_t last[4]; /* by kind; the fourth keeps rows 32 bytes */
};

struct slice {
    struct rsc_columns columns; /* owned */
    struct rsc_event *events;
    uint32_t event_room;
    uint8_t *event_data;
    size_t event_data_room;
};

struct rsct_decoder {
    int without_pcs, without_events;
    struct rsct_frame_header header;
    const uint8_t *raw[RSCT_COLUMNS]; /* the frame's */

    struct rsct_codes codes;
    rsct_stretch_fn *stretch;
    rsct_fetches_fn *fetches;
    int explicit_sizes;
    uint32_t done; /* accesses returned so far */
    int begun; /* a slice was returned: even a frame without accesses has one, for its events and instructions */
    const uint8_t *delta_at;
    const uint32_t *size_at, *size_end;

    struct frame_thread *threads;
    uint32_t thread_room;
    struct rsc_varint_reader runs;
    uint32_t run_thread, run_left, runs_left;

    uint64_t *pcs; /* the frame's dictionary */
    uint32_t pc_count, pc_room, pc_width;
    const uint8_t *pc_ids;

    struct rsc_varint_reader events;
    uint32_t events_left;
    int event_pending;
    uint32_t event_at; /* of the next event */
    struct rsct_event_before event_before;
    struct rsct_mark *marks; /* owned: instruction counts inside the frame */
    uint32_t mark_count, mark_room, mark_next;
    uint64_t span_end;    /* of the accesses between two marks that the following is about; 0: of none */
    int span_by_fetches;  /* there is one fetch for each instruction */
    uint64_t span_at, span_fetches; /* then: fetches before this access */

    struct slice *slices;
    uint32_t slice_count, slice_next;

    struct rsc_thread *all_threads; /* by number */
    uint32_t all_count, all_room;
};

int rsct_decoder_new(struct rsct_decoder **out, uint32_t keeps, int without_pcs, int without_events,
                     struct rsc_error *error) {
    struct rsct_decoder *decoder = aligned_alloc(_Alignof(struct rsct_decoder), sizeof *decoder);
    *out = NULL;
    if (!decoder) return rsc_fail_memory(error, "trace decoder");
    memset(decoder, 0, sizeof *decoder);
    decoder->slice_count = keeps + 1;
    decoder->without_pcs = without_pcs;
    decoder->without_events = without_events;
    decoder->stretch = RSC_WIDE_PICK(rsc_simd_best(), rsct_stretch);
    decoder->fetches = RSC_WIDE_PICK(rsc_simd_best(), rsct_fetches);
    decoder->slices = calloc(decoder->slice_count, sizeof *decoder->slices);
    int failed = !decoder->slices;
    for (uint32_t i = 0; !failed && i < decoder->slice_count; i++) {
        struct slice *slice = &decoder->slices[i];
        slice->columns.addr = aligned_alloc(64, RSC_BATCH_ACCESSES * sizeof(uint64_t)); /* whole vectors are stored */
        slice->columns.meta = aligned_alloc(64, RSC_BATCH_ACCESSES * sizeof(uint64_t));
        failed = !slice->columns.addr || !slice->columns.meta;
    }
    if (failed) {
        rsct_decoder_free(decoder);
        return rsc_fail_memory(error, "trace decoder");
    }
    *out = decoder;
    return 0;
}

void rsct_decoder_free(struct rsct_decoder *decoder) {
    if (!decoder) return;
    for (uint32_t i = 0; decoder->slices && i < decoder->slice_count; i++) {
        free(decoder->slices[i].columns.addr);
        free(decoder->slices[i].columns.meta);
        free(decoder->slices[i].columns.pc);
        free(decoder->slices[i].events);
        free(decoder->slices[i].event_data);
    }
    free(decoder->slices);
    free(decoder->threads);
    free(decoder->pcs);
    free(decoder->marks);
    free(decoder->all_threads);
    free(decoder);
}

/* ---- starting a frame ---- */

static void fill_code(struct rsct_code_row *row, uint32_t kind, uint32_t class, uint32_t size, uint32_t explicit_size) {
    uint32_t bytes = rsct_class_bytes(class);
    *row = (struct rsct_code_row){
        .mask = bytes == 8 ? UINT64_MAX : (1ull << 8 * bytes) - 1,
        .meta = rsc_meta(size, (enum rsc_kind)kind, 0),
        .kind = kind,
        .bytes = bytes,
        .advance = kind == RSC_FETCH ? size : 0,
        .explicit_size = explicit_size,
    };
}

/* Which codes are fetches. Those with a size of their own always have a meaning. */
static void fill_fetches(struct rsct_codes *codes, uint32_t count) {
    memset(codes->fetches, 0, sizeof codes->fetches);
    codes->has_fetches = 0;
    for (uint32_t c = 0; c < 256; c++) {
        if ((c >= count && c < RSCT_CODES_DIRECT) || codes->row[c].kind != RSC_FETCH) continue;
        codes->fetches[c % 16 + c / 128 * 16] |= (uint8_t)(1 << c / 16 % 8);
        codes->has_fetches |= c < count;
    }
}

/* The same for vectors, where it fits. */
static void fill_vectors(struct rsct_codes *codes, uint32_t count) {
    codes->by_vectors = count <= RSCT_VECTOR_CODES;
    for (uint32_t i = 0; codes->by_vectors && i < count; i++) {
        const struct rsct_code_row *row = &codes->row[i];
        uint32_t size = rsc_meta_size(row->meta);
        if (size > UINT8_MAX) codes->by_vectors = 0;
        codes->shape[i] = (uint8_t)(row->bytes | row->kind << 4);
        codes->size[i] = (uint8_t)size;
    }
}

static const char *read_codes(struct rsct_decoder *decoder, struct rsc_varint_reader *tables) {
    for (uint32_t i = 0; i < decoder->header.codes; i++) {
        uint64_t kind_class = rsc_varint_get(tables), size = rsc_varint_get(tables);
        if (kind_class >= 3 << 3 || size > UINT32_MAX) return "a code is out of range";
        fill_code(&decoder->codes.row[i], (uint32_t)(kind_class >> 3), kind_class & 7, (uint32_t)size, 0);
    }
    for (uint32_t i = 0; i < 24; i++) fill_code(&decoder->codes.row[RSCT_CODES_DIRECT + i], i >> 3, i & 7, 0, 1);

    fill_fetches(&decoder->codes, decoder->header.codes);
    fill_vectors(&decoder->codes, decoder->header.codes);

    const uint8_t *codes = decoder->raw[RSCT_CODES], limit = (uint8_t)decoder->header.codes;
    uint8_t uses_unknown = 0, uses_explicit = 0;
    for (uint32_t i = 0; i < decoder->header.accesses; i++) {
        uses_unknown |= codes[i] >= limit && codes[i] < RSCT_CODES_DIRECT;
        uses_explicit |= codes[i] >= RSCT_CODES_DIRECT;
    }
    if (uses_unknown) return "a code is not in the dictionary";
    decoder->explicit_sizes = uses_explicit;
    return NULL;
}

static const char *remember_thread(struct rsct_decoder *decoder, uint32_t number, struct rsc_thread who) {
    uint32_t before = decoder->all_room;
    if (RSC_GROW(decoder->all_threads, decoder->all_room, number + 1ull)) return "out of memory";
    for (uint32_t i = before; i < decoder->all_room; i++) decoder->all_threads[i] = (struct rsc_thread){0, i};
    decoder->all_threads[number] = who;
    if (number >= decoder->all_count) decoder->all_count = number + 1;
    return NULL;
}

static const char *read_threads(struct rsct_decoder *decoder, struct rsc_varint_reader *tables) {
    uint32_t count = decoder->header.threads;
    if (count > decoder->thread_room) {
        free(decoder->threads);
        decoder->threads = malloc(count * sizeof *decoder->threads);
        decoder->thread_room = decoder->threads ? count : 0;
        if (!decoder->threads) return "out of memory";
    }
    for (uint32_t i = 0; i < count; i++) {
        uint64_t number = rsc_varint_get(tables);
        struct rsc_thread who;
        who.pid = rsc_varint_get(tables);
        who.tid = rsc_varint_get(tables);
        if (number >= RSC_THREADS_MAX) return "a thread number is out of range";
        decoder->threads[i] = (struct frame_thread){.number = (uint32_t)number};
        const char *problem = remember_thread(decoder, (uint32_t)number, who);
        if (problem) return problem;
    }
    return NULL;
}

static const char *read_pcs(struct rsct_decoder *decoder) {
    decoder->pc_count = 0;
    uint32_t bytes = decoder->header.column[RSCT_PCS].raw_bytes, accesses = decoder->header.accesses;
    if (!bytes || decoder->without_pcs) return NULL;
    struct rsc_varint_reader reader = {decoder->raw[RSCT_PCS], decoder->raw[RSCT_PCS] + bytes, 0};
    uint64_t count = rsc_varint_get(&reader);
    if (!count || count > accesses) return "the pc dictionary is out of range";
    if (count > decoder->pc_room) {
        free(decoder->pcs);
        decoder->pcs = malloc(count * sizeof *decoder->pcs);
        decoder->pc_room = decoder->pcs ? (uint32_t)count : 0;
        if (!decoder->pcs) return "out of memory";
    }
    uint64_t last = 0;
    for (uint64_t i = 0; i < count; i++) decoder->pcs[i] = last += rsc_unzigzag(rsc_varint_get(&reader));
    decoder->pc_width = count <= 256 ? 1 : count <= 65536 ? 2 : 4;
    if (reader.overrun || (uint64_t)(reader.end - reader.at) != (uint64_t)accesses * decoder->pc_width)
        return "the pc column has the wrong length";
    decoder->pc_ids = reader.at;
    decoder->pc_count = (uint32_t)count;
    return NULL;
}

/* The next event, if it is a mark. Returns 1, or 0: nothing is consumed. */
static int take_mark(struct rsct_decoder *decoder, struct rsct_mark *mark) {
    struct rsc_varint_reader from = decoder->events;
    struct rsct_event_before *before = &decoder->event_before;
    if (!decoder->events_left || rsc_varint_get(&from) || rsc_varint_get(&from) != RSCT_EVENT_MARK * 4u) return 0;
    mark->access = before->a[RSCT_EVENT_MARK] + rsc_unzigzag(rsc_varint_get(&from));
    mark->instructions = before->b[RSCT_EVENT_MARK] + rsc_unzigzag(rsc_varint_get(&from));
    if (from.overrun) return 0; /* decoding events reports it */
    before->a[RSCT_EVENT_MARK] = mark->access;
    before->b[RSCT_EVENT_MARK] = mark->instructions;
    decoder->events = from;
    decoder->events_left--;
    return 1;
}

static const char *start_marks(struct rsct_decoder *decoder) {
    struct rsct_mark mark, last = {0, 0};
    decoder->mark_count = decoder->mark_next = 0;
    decoder->span_end = 0;
    while (take_mark(decoder, &mark)) {
        if (decoder->header.instructions == RSC_UNKNOWN || mark.access > decoder->header.accesses ||
            mark.access <= last.access || mark.instructions < last.instructions ||
            mark.instructions > decoder->header.instructions)
            return "an instruction count is out of range";
        if (RSC_GROW(decoder->marks, decoder->mark_room, decoder->mark_count + 1)) return "out of memory";
        decoder->marks[decoder->mark_count++] = last = mark;
    }
    return NULL;
}

const struct rsct_mark *rsct_decoder_marks(const struct rsct_decoder *decoder, uint32_t *count) {
    *count = decoder->mark_count;
    return decoder->marks;
}

static uint64_t count_fetches(const struct rsct_decoder *decoder, uint64_t from, uint64_t to) {
    return decoder->fetches(&decoder->codes, decoder->raw[RSCT_CODES] + from, to - from);
}

/*
 * Instructions of the frame before its access `access`, which never falls from call to call. Between two marks, or
 * marks and the ends of the frame, fetches say where they are if there is one for each; otherwise they are spread evenly.
 */
static uint64_t instructions_until(struct rsct_decoder *decoder, uint32_t access) {
    while (decoder->mark_next < decoder->mark_count && decoder->marks[decoder->mark_next].access <= access)
        decoder->mark_next++;
    const uint32_t next = decoder->mark_next;
    struct rsct_mark low = next ? decoder->marks[next - 1] : (struct rsct_mark){0, 0};
    struct rsct_mark high = next < decoder->mark_count
                                ? decoder->marks[next]
                                : (struct rsct_mark){decoder->header.accesses, decoder->header.instructions};
    if (access == high.access) return high.instructions;
    if (access == low.access) return low.instructions;
    if (decoder->span_end != high.access) {
        decoder->span_end = high.access;
        decoder->span_by_fetches =
            (decoder->codes.has_fetches || decoder->explicit_sizes) &&
            count_fetches(decoder, low.access, high.access) == high.instructions - low.instructions;
        decoder->span_at = low.access;
        decoder->span_fetches = 0;
    }
    if (decoder->span_by_fetches) {
        decoder->span_fetches += count_fetches(decoder, decoder->span_at, access);
        decoder->span_at = access;
        return low.instructions + decoder->span_fetches;
    }
    unsigned __int128 all = high.instructions - low.instructions;
    return low.instructions + (uint64_t)(all * (access - low.access) / (high.access - low.access));
}

static void start_events(struct rsct_decoder *decoder) {
    const uint8_t *raw = decoder->raw[RSCT_EVENTS];
    const uint32_t bytes = decoder->without_events ? 0 : decoder->header.column[RSCT_EVENTS].raw_bytes;
    decoder->events = (struct rsc_varint_reader){raw, raw + bytes, 0};
    decoder->events_left = decoder->without_events ? 0 : decoder->header.events;
    decoder->event_at = 0;
    decoder->event_pending = 0;
    memset(&decoder->event_before, 0, sizeof decoder->event_before);
}

const char *rsct_decoder_start(struct rsct_decoder *decoder, const struct rsct_frame *frame) {
    const struct rsct_frame_header *header = &decoder->header;
    const char *problem;
    decoder->header = frame->header;
    for (int c = 0; c < RSCT_COLUMNS; c++) decoder->raw[c] = frame->raw[c];
    const uint8_t *raw = decoder->raw[RSCT_TABLES];
    decoder->runs = (struct rsc_varint_reader){raw, raw + header->column[RSCT_TABLES].raw_bytes, 0};
    if ((problem = read_codes(decoder, &decoder->runs)) || (problem = read_threads(decoder, &decoder->runs)) ||
        (problem = read_pcs(decoder)))
        return problem;
    if (decoder->runs.overrun) return "its tables are cut short";
    decoder->runs_left = header->runs;
    decoder->run_left = 0;
    decoder->done = 0;
    decoder->begun = 0;
    decoder->delta_at = decoder->raw[RSCT_DELTAS];
    decoder->size_at = (const uint32_t *)(const void *)decoder->raw[RSCT_SIZES];
    decoder->size_end = decoder->size_at + header->column[RSCT_SIZES].raw_bytes / 4;
    start_events(decoder);
    return start_marks(decoder);
}

/* ---- slices ---- */

/* A stretch of one thread with some sizes in the SIZES column. */
static const char *decode_stretch_sized(struct rsct_decoder *decoder, const uint8_t *codes, struct frame_thread *thread,
                                        uint64_t *addr, uint64_t *meta, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        const struct rsct_code_row *row = &decoder->codes.row[codes[i]];
        uint32_t size = rsc_meta_size(row->meta);
        if (row->explicit_size) {
            if (decoder->size_at == decoder->size_end) return "sizes are missing";
            size = *decoder->size_at++;
        }
        uint64_t zigzag;
        memcpy(&zigzag, decoder->delta_at, 8);
        decoder->delta_at += row->bytes;
        addr[i] = thread->last[row->kind] + rsc_unzigzag(zigzag & row->mask);
        meta[i] = rsc_meta(size, (enum rsc_kind)row->kind, thread->number);
        thread->last[row->kind] = rsct_predict_after(addr[i], row->kind, size);
    }
    return NULL;
}

static const char *next_run(struct rsct_decoder *decoder) {
    uint64_t thread = rsc_varint_get(&decoder->runs), length = rsc_varint_get(&decoder->runs);
    if (!decoder->runs_left || decoder->runs.overrun || thread >= decoder->header.threads || !length ||
        length > decoder->header.accesses - decoder->done)
        return "a run of a thread is out of range";
    decoder->run_thread = (uint32_t)thread;
    decoder->run_left = (uint32_t)length;
    decoder->runs_left--;
    return NULL;
}

static const char *decode_accesses(struct rsct_decoder *decoder, const struct rsc_columns *to, uint32_t count) {
    const uint8_t *codes = decoder->raw[RSCT_CODES] + decoder->done;
    for (uint32_t filled = 0; filled < count;) {
        const char *problem = NULL;
        if (!decoder->run_left && (problem = next_run(decoder))) return problem;
        uint32_t part = count - filled < decoder->run_left ? count - filled : decoder->run_left;
        struct frame_thread *thread = &decoder->threads[decoder->run_thread];
        if (decoder->explicit_sizes)
            problem = decode_stretch_sized(decoder, codes + filled, thread, to->addr + filled, to->meta + filled, part);
        else
            decoder->delta_at =
                decoder->stretch(&decoder->codes, codes + filled, decoder->delta_at, thread->last,
                                 (uint64_t)thread->number << 40, to->addr + filled, to->meta + filled, part);
        if (problem) return problem;
        filled += part;
        decoder->run_left -= part;
        decoder->done += part;
    }
    return NULL;
}

/* Looks up ids of one width in pcs. Returns the highest id, for a range check afterwards. */
#define LOOK_UP(type)                                       \
    for (uint32_t i = 0; i < count; i++) {                  \
        type id;                                            \
        memcpy(&id, at + (size_t)i * sizeof id, sizeof id); \
        highest = id > highest ? id : highest;              \
        to[i] = pcs[id < limit ? id : 0];                   \
    }

static const char *decode_pcs(struct rsct_decoder *decoder, uint64_t *to, uint32_t first, uint32_t count) {
    const uint8_t *at = decoder->pc_ids + (size_t)first * decoder->pc_width;
    const uint64_t *pcs = decoder->pcs;
    uint32_t limit = decoder->pc_count, highest = 0;
    if (decoder->pc_width == 1) {
        LOOK_UP(uint8_t)
    } else if (decoder->pc_width == 2) {
        LOOK_UP(uint16_t)
    } else {
        LOOK_UP(uint32_t)
    }
    return highest < limit ? NULL : "a pc is not in the dictionary";
}

static const char *add_event(struct rsct_decoder *decoder, struct slice *slice, uint32_t number, uint32_t at) {
    if (RSC_GROW(slice->events, slice->event_room, number + 1)) return "out of memory";
    struct rsc_event *event = &slice->events[number];
    struct rsct_event_before *before = &decoder->event_before;
    uint64_t head = rsc_varint_get(&decoder->events), type = head / 4;
    uint64_t thread = head & RSCT_EVENT_THREAD ? rsc_varint_get(&decoder->events) : before->thread;
    uint64_t a = before->a[type % RSCT_EVENT_TYPES] + rsc_unzigzag(rsc_varint_get(&decoder->events));
    uint64_t b = before->b[type % RSCT_EVENT_TYPES] + rsc_unzigzag(rsc_varint_get(&decoder->events));
    uint64_t bytes = head & RSCT_EVENT_DATA ? rsc_varint_get(&decoder->events) : 0;
    if (decoder->events.overrun || type > UINT16_MAX || thread >= RSC_THREADS_MAX || bytes > UINT16_MAX ||
        bytes > (uint64_t)(decoder->events.end - decoder->events.at))
        return "an event is out of range";
    *event = (struct rsc_event){
        .at = at, .type = (uint16_t)type, .data_bytes = (uint16_t)bytes, .thread = (uint32_t)thread, .a = a, .b = b};
    if (bytes) event->data = decoder->events.at;
    decoder->events.at += bytes;
    before->a[type % RSCT_EVENT_TYPES] = a;
    before->b[type % RSCT_EVENT_TYPES] = b;
    before->thread = (uint32_t)thread;
    return NULL;
}

/* Copies the data of events: it points into the frame, which may be freed before the slice. */
static const char *keep_event_data(struct slice *slice, uint32_t count) {
    size_t needed = 0;
    for (uint32_t i = 0; i < count; i++) needed += slice->events[i].data_bytes;
    if (needed > slice->event_data_room) {
        free(slice->event_data);
        slice->event_data = malloc(needed);
        slice->event_data_room = slice->event_data ? needed : 0;
        if (!slice->event_data) return "out of memory";
    }
    uint8_t *to = slice->event_data;
    for (uint32_t i = 0; i < count; i++) {
        if (!slice->events[i].data_bytes) continue;
        memcpy(to, slice->events[i].data, slice->events[i].data_bytes);
        slice->events[i].data = to;
        to += slice->events[i].data_bytes;
    }
    return NULL;
}

/* Events before the slice's end; those after the frame's last access belong to its last slice. */
static const char *decode_events(struct rsct_decoder *decoder, struct slice *slice, uint32_t first, uint32_t count,
                                 uint32_t *event_count) {
    int last_slice = first + count == decoder->header.accesses;
    *event_count = 0;
    while (decoder->events_left) {
        if (!decoder->event_pending) {
            uint64_t step = rsc_varint_get(&decoder->events);
            if (decoder->events.overrun || step > decoder->header.accesses - decoder->event_at)
                return "an event is out of range";
            decoder->event_at += (uint32_t)step;
            decoder->event_pending = 1;
        }
        if (decoder->event_at >= first + count && !last_slice) break;
        const char *problem = add_event(decoder, slice, *event_count, decoder->event_at - first);
        if (problem) return problem;
        ++*event_count;
        decoder->event_pending = 0;
        decoder->events_left--;
    }
    return keep_event_data(slice, *event_count);
}

static const char *check_end(const struct rsct_decoder *decoder) {
    if (decoder->done < decoder->header.accesses) return NULL;
    if (decoder->delta_at != decoder->raw[RSCT_DELTAS] + decoder->header.column[RSCT_DELTAS].raw_bytes)
        return "its deltas have the wrong length";
    if (decoder->size_at != decoder->size_end) return "its sizes have the wrong length";
    if (decoder->runs_left || decoder->runs.at != decoder->runs.end) return "its tables have the wrong length";
    if (decoder->events.at != decoder->events.end) return "its events have the wrong length";
    return NULL;
}

int rsct_decoder_next(struct rsct_decoder *decoder, const struct rsc_columns *given, struct rsc_batch *batch,
                      uint64_t skip, const char **problem) {
    const struct rsct_frame_header *header = &decoder->header;
    uint32_t first = decoder->done, left = header->accesses - first;
    if (!left && decoder->begun) return 0;
    uint32_t count = left < RSC_BATCH_ACCESSES ? left : RSC_BATCH_ACCESSES, event_count = 0;
    struct slice *slice = &decoder->slices[decoder->slice_next];
    if (!given && decoder->pc_count && !slice->columns.pc &&
        !(slice->columns.pc = malloc(RSC_BATCH_ACCESSES * sizeof(uint64_t)))) {
        *problem = "out of memory";
        return RSC_EFORMAT;
    }
    const struct rsc_columns *to = given ? given : &slice->columns;
    if ((*problem = decode_accesses(decoder, to, count)) ||
        (decoder->pc_count && skip < count && (*problem = decode_pcs(decoder, to->pc, first, count))) ||
        (*problem = decode_events(decoder, slice, first, count, &event_count)) || (*problem = check_end(decoder)))
        return RSC_EFORMAT;
    assert(decoder->done == first + count && decoder->done <= header->accesses);
    /* only now: earlier slices are still being read, so a failure must not use one up */
    decoder->slice_next = (decoder->slice_next + 1) % decoder->slice_count;
    decoder->begun = 1;

    *batch = (struct rsc_batch){.count = count,
                                .event_count = event_count,
                                .addr = to->addr,
                                .meta = to->meta,
                                .pc = decoder->pc_count ? to->pc : NULL,
                                .events = slice->events,
                                .threads = decoder->all_threads,
                                .thread_count = decoder->all_count,
                                .instructions = header->instructions};
    if (header->instructions != RSC_UNKNOWN && header->accesses) {
        uint64_t before = instructions_until(decoder, first); /* the shares of a frame's slices add up */
        batch->instructions = instructions_until(decoder, first + count) - before;
    }
    return 1;
}
