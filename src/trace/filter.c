/*
 * filter.c - see filter.h. The columns of a batch are compacted into the filter's
 * own columns; an event moves with the access that follows it.
 */
#include "trace/filter.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "trace/instruction_share.h"

struct filter_source {
    struct rsc_source source;
    struct rsc_source *inner;
    struct rsc_filter filter; /* tids is owned */
    uint64_t seen;            /* accesses of the unfiltered trace */
    uint64_t passed;          /* of those, accesses that passed all tests but `every` */
    uint64_t full_instructions;
    int full_known;
    int totals_at_hand; /* the inner source knows its totals: reading can stop at the end of a window */
    int ended;
    uint64_t *addr, *meta, *pc;
    struct rsc_event *events;
    uint32_t room, event_room;
};

int rsc_filter_thins(const struct rsc_filter *now, const char *then) {
    return (now && (now->tid_count || now->bits_mask || now->every > 1)) || strstr(then, "tid=") ||
           strstr(then, "bits=") || strstr(then, "every=") || strstr(then, "sets=");
}

int rsc_filter_is_all(const struct rsc_filter *filter) {
    return filter->kinds == RSC_KINDS_ALL && !filter->tid_count && !filter->addr_low &&
           filter->addr_high == UINT64_MAX && !filter->bits_mask && !filter->bits_value && !filter->first &&
           filter->count == UINT64_MAX && filter->every <= 1;
}

/* Appends like snprintf, within `room`. */
static size_t append(char *text, size_t room, size_t used, const char *format, uint64_t a, uint64_t b) {
    if (used && used + 1 < room) text[used++] = ' ';
    int wrote = snprintf(text + used, room - used, format, (unsigned long long)a, (unsigned long long)b);
    used += wrote > 0 ? (size_t)wrote : 0;
    return used < room ? used : room - 1;
}

size_t rsc_filter_text(const struct rsc_filter *filter, char *text, size_t room) {
    size_t used = 0;
    if (!room) return 0;
    text[0] = 0;
    if (filter->kinds != RSC_KINDS_ALL)
        used = (size_t)snprintf(text, room, "kinds=%s%s%s", filter->kinds & 1 ? "R" : "", filter->kinds & 2 ? "W" : "",
                                filter->kinds & 4 ? "I" : "");
    if (used >= room) used = room - 1;
    for (uint32_t i = 0; i < filter->tid_count; i++) used = append(text, room, used, "tid=%llu", filter->tids[i], 0);
    if (filter->addr_low || filter->addr_high != UINT64_MAX)
        used = append(text, room, used, "range=0x%llx-0x%llx", filter->addr_low, filter->addr_high);
    if (filter->bits_mask || filter->bits_value)
        used = append(text, room, used, "bits=0x%llx=0x%llx", filter->bits_mask, filter->bits_value);
    if (filter->first || filter->count != UINT64_MAX)
        used = append(text, room, used, filter->count == UINT64_MAX ? "window=%llu+" : "window=%llu+%llu",
                      filter->first, filter->count);
    if (filter->every > 1) used = append(text, room, used, "every=%llu", filter->every, 0);
    return used;
}

static int make_room(struct filter_source *filter, const struct rsc_batch *batch) {
    if (batch->count > filter->room) {
        free(filter->addr);
        free(filter->meta);
        free(filter->pc);
        filter->addr = malloc(batch->count * sizeof *filter->addr);
        filter->meta = malloc(batch->count * sizeof *filter->meta);
        filter->pc = malloc(batch->count * sizeof *filter->pc);
        filter->room = batch->count;
    }
    if (batch->event_count > filter->event_room) {
        free(filter->events);
        filter->events = malloc(batch->event_count * sizeof *filter->events);
        filter->event_room = batch->event_count;
    }
    int failed =
        (filter->room && (!filter->addr || !filter->meta || !filter->pc)) || (filter->event_room && !filter->events);
    if (failed) filter->room = filter->event_room = 0;
    return failed ? RSC_ENOMEM : 0;
}

static int thread_kept(const struct rsc_filter *filter, const struct rsc_batch *batch, uint32_t number) {
    if (!filter->tid_count) return 1;
    uint64_t tid = batch->threads && number < batch->thread_count ? batch->threads[number].tid : number;
    for (uint32_t i = 0; i < filter->tid_count; i++)
        if (filter->tids[i] == tid) return 1;
    return 0;
}

static inline int access_kept(const struct rsc_filter *by, const struct rsc_batch *batch, uint32_t i) {
    uint64_t addr = batch->addr[i], meta = batch->meta[i];
    return (by->kinds >> rsc_meta_kind(meta) & 1) && addr >= by->addr_low && addr <= by->addr_high &&
           (addr & by->bits_mask) == by->bits_value && thread_kept(by, batch, rsc_meta_thread(meta));
}

static uint32_t at_most(uint64_t value, uint32_t most) { return value < most ? (uint32_t)value : most; }

void rsc_filter_keep(const struct rsc_filter *filter, uint64_t *passed, struct rsc_batch *batch, uint64_t low,
                     uint64_t high, const struct rsc_filter_room *room) {
    uint32_t kept = 0, event = 0, events_kept = 0, to = at_most(high, batch->count);
    uint64_t every = filter->every ? filter->every : 1;
    int cut = low || high < batch->count;
    uint64_t instructions = rsc_instruction_share(batch, cut && rsc_fetches_are_instructions(batch), low, high);
    while (event < batch->event_count && batch->events[event].at < low) event++;
    for (uint32_t i = at_most(low, batch->count); i < to; i++) {
        while (event < batch->event_count && batch->events[event].at <= i) {
            room->events[events_kept] = batch->events[event++];
            room->events[events_kept++].at = kept;
        }
        if (!access_kept(filter, batch, i) || (*passed)++ % every) continue;
        uint64_t pc = batch->pc ? batch->pc[i] : 0, addr = batch->addr[i], meta = batch->meta[i];
        room->addr[kept] = addr;
        room->meta[kept] = meta;
        if (batch->pc) room->pc[kept] = pc;
        kept++;
    }
    while (event < batch->event_count && batch->events[event].at < high) {
        room->events[events_kept] = batch->events[event++];
        room->events[events_kept++].at = kept;
    }
    assert(kept <= batch->count && events_kept <= batch->event_count);
    batch->count = kept;
    batch->event_count = events_kept;
    batch->addr = room->addr;
    batch->meta = room->meta;
    batch->pc = batch->pc ? room->pc : NULL;
    batch->events = room->events;
    batch->instructions = instructions;
}

static int filter_next(struct rsc_source *source, struct rsc_batch *batch, struct rsc_error *error) {
    struct filter_source *filter = (struct filter_source *)source;
    if (filter->ended) return 0;
    int status = filter->inner->ops->next(filter->inner, batch, error);
    if (status <= 0) return status;
    if (make_room(filter, batch) < 0) return rsc_fail_memory(error, "filter");
    if (batch->instructions == RSC_UNKNOWN) filter->full_known = filter->full_known && !batch->count;
    else filter->full_instructions += batch->instructions;

    uint64_t begin = filter->seen, first = filter->filter.first;
    uint64_t end = filter->filter.count > UINT64_MAX - first ? UINT64_MAX : first + filter->filter.count;
    uint64_t low = first > begin ? first - begin : 0, high = end > begin ? end - begin : 0;
    filter->seen += batch->count;
    filter->ended = filter->totals_at_hand && filter->seen >= end;
    const struct rsc_filter_room room = {filter->addr, filter->meta, filter->pc, filter->events};
    rsc_filter_keep(&filter->filter, &filter->passed, batch, low, high, &room);
    return 1;
}

static int filter_seek(struct rsc_source *source, uint64_t index, struct rsc_error *error) {
    struct filter_source *filter = (struct filter_source *)source;
    if (!filter->inner->ops->seek) return rsc_fail(error, RSC_EUNSUPPORTED, "this trace does not support seeking");
    int status = filter->inner->ops->seek(filter->inner, index, error);
    if (status < 0) return status;
    filter->seen = index;
    filter->passed = 0;
    filter->ended = 0;
    return 0;
}

void rsc_filter_info(const struct rsc_filter *filter, uint64_t seen, uint64_t instructions,
                     struct rsc_trace_info *info) {
    if (info->full_accesses == RSC_UNKNOWN) {
        info->full_accesses = seen;
        info->full_instructions = instructions;
    }
    info->accesses = RSC_UNKNOWN;
    if (filter->first || filter->count != UINT64_MAX) info->instructions = RSC_UNKNOWN;
}

static void filter_info(struct rsc_source *source, struct rsc_trace_info *info) {
    struct filter_source *filter = (struct filter_source *)source;
    if (filter->inner->ops->info) filter->inner->ops->info(filter->inner, info);
    rsc_filter_info(&filter->filter, filter->seen, filter->full_known ? filter->full_instructions : RSC_UNKNOWN, info);
}

static void filter_close(struct rsc_source *source) {
    struct filter_source *filter = (struct filter_source *)source;
    filter->inner->ops->close(filter->inner);
    free((void *)filter->filter.tids);
    free(filter->addr);
    free(filter->meta);
    free(filter->pc);
    free(filter->events);
    free(filter);
}

static const struct rsc_source_ops filter_ops = {
    .next = filter_next, .seek = filter_seek, .info = filter_info, .close = filter_close};

int rsc_filter_copy(struct rsc_filter *to, const struct rsc_filter *from) {
    uint64_t *tids = from->tid_count ? malloc(from->tid_count * sizeof *tids) : NULL;
    if (from->tid_count && !tids) return RSC_ENOMEM;
    *to = *from;
    if (tids) memcpy(tids, from->tids, from->tid_count * sizeof *tids);
    to->tids = tids;
    return 0;
}

int rsc_filter_open(struct rsc_source **out, struct rsc_source *inner, const struct rsc_filter *wanted,
                    struct rsc_error *error) {
    struct filter_source *filter = calloc(1, sizeof *filter);
    if (!filter) return rsc_fail_memory(error, "filter");
    filter->source.ops = &filter_ops;
    filter->full_known = 1;
    if (rsc_filter_copy(&filter->filter, wanted) < 0) {
        free(filter);
        return rsc_fail_memory(error, "filter");
    }
    filter->inner = inner;
    struct rsc_trace_info info = {.full_accesses = RSC_UNKNOWN};
    if (inner->ops->info) inner->ops->info(inner, &info);
    filter->totals_at_hand = info.full_accesses != RSC_UNKNOWN;
    *out = &filter->source;
    return 0;
}
