/* late_attribution.c - see late_attribution.h. A queue of copied batches; the lock only guards its links. */
#include "distance/count/late_attribution.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "trace/references.h"

static void late_free(struct rsc_late_attribution *late);

#define BLOCK 2048u

/* One block of memory: this, then columns, events and their data. */
struct kept_batch {
    struct kept_batch *next;
    struct rsc_batch batch;
};

struct rsc_late_attribution {
    struct rsc_attribution *tagging, *counting;
    uint32_t line_shift;
    pthread_mutex_t lock;
    struct kept_batch *first, **last; /* counting not begun */
    struct kept_batch *current;       /* the counting thread's own, as are these: */
    struct rsc_reference_cursor cursor;
    uint32_t *tags; /* of current */
    uint32_t tag_room;
    uint32_t from[BLOCK], tag[BLOCK], rd[BLOCK], last_tag[BLOCK];
};

static int late_new(struct rsc_late_attribution **out, uint64_t rd_cap, uint32_t line_shift, struct rsc_error *error) {
    struct rsc_attribution_options options = {.rd_cap = rd_cap};
    struct rsc_late_attribution *late = *out = calloc(1, sizeof *late);
    if (!late) return rsc_fail_memory(error, "attribution");
    pthread_mutex_init(&late->lock, NULL);
    late->line_shift = line_shift;
    late->last = &late->first;
    int status = rsc_attribution_new(&late->tagging, &options, error);
    if (!status) status = rsc_attribution_new(&late->counting, &options, error);
    if (!status) return 0;
    late_free(late);
    *out = NULL;
    return status;
}

static void late_free(struct rsc_late_attribution *late) {
    if (!late) return;
    while (late->first) {
        struct kept_batch *next = late->first->next;
        free(late->first);
        late->first = next;
    }
    free(late->current);
    free(late->tags);
    rsc_attribution_free(late->tagging);
    rsc_attribution_free(late->counting);
    pthread_mutex_destroy(&late->lock);
    free(late);
}

/* Copies the parts of a batch that attribution reads: no threads, no instructions. NULL: out of memory. */
static struct kept_batch *copy_batch(const struct rsc_batch *batch) {
    size_t columns = batch->count * sizeof *batch->addr, events = batch->event_count * sizeof *batch->events, data = 0;
    for (uint32_t i = 0; i < batch->event_count; i++)
        data += batch->events[i].data ? (batch->events[i].data_bytes + 7u) & ~7u : 0;
    struct kept_batch *kept = malloc(sizeof *kept + 3 * columns + events + data);
    if (!kept) return NULL;
    unsigned char *free_at = (unsigned char *)(kept + 1);
    uint64_t *addr = (uint64_t *)(void *)free_at, *meta = addr + batch->count, *pc = meta + batch->count;
    struct rsc_event *copied = (struct rsc_event *)(void *)(pc + batch->count);
    free_at = (unsigned char *)(copied + batch->event_count);
    kept->next = NULL;
    kept->batch = (struct rsc_batch){.count = batch->count,
                                     .event_count = batch->event_count,
                                     .addr = addr,
                                     .meta = meta,
                                     .pc = batch->pc ? pc : NULL,
                                     .events = copied,
                                     .instructions = RSC_UNKNOWN};
    if (columns) memcpy(addr, batch->addr, columns);
    if (columns) memcpy(meta, batch->meta, columns);
    if (columns && batch->pc) memcpy(pc, batch->pc, columns);
    for (uint32_t i = 0; i < batch->event_count; i++) {
        copied[i] = batch->events[i];
        if (!copied[i].data) continue;
        memcpy(free_at, batch->events[i].data, copied[i].data_bytes);
        copied[i].data = free_at;
        free_at += (copied[i].data_bytes + 7u) & ~7u;
    }
    return kept;
}

/* Copies the batch and writes one tag per access. Returns 0 or RSC_ENOMEM. */
static int late_tags(struct rsc_late_attribution *late, const struct rsc_batch *batch, uint32_t *tags) {
    struct kept_batch *kept = copy_batch(batch);
    if (!kept) return RSC_ENOMEM;
    pthread_mutex_lock(&late->lock);
    *late->last = kept;
    late->last = &kept->next;
    pthread_mutex_unlock(&late->lock);
    return rsc_attribution_tags(late->tagging, batch, tags);
}

/* Makes the next batch the current one. Returns 1, 0 when there is none, or RSC_ENOMEM. */
static int next_batch(struct rsc_late_attribution *late) {
    free(late->current);
    pthread_mutex_lock(&late->lock);
    late->current = late->first;
    if (late->first) late->first = late->first->next;
    if (!late->first) late->last = &late->first;
    pthread_mutex_unlock(&late->lock);
    if (!late->current) return 0;
    const struct rsc_batch *batch = &late->current->batch;
    if (batch->count > late->tag_room) {
        free(late->tags);
        late->tags = malloc(batch->count * sizeof *late->tags);
        late->tag_room = late->tags ? batch->count : 0;
        if (!late->tags) return RSC_ENOMEM;
    }
    rsc_references_start(&late->cursor, batch, late->line_shift);
    return rsc_attribution_tags(late->counting, batch, late->tags) < 0 ? RSC_ENOMEM : 1;
}

int rsc_late_attribution_count(struct rsc_late_attribution *late, const uint64_t *outcomes, uint64_t count) {
    uint64_t lines[BLOCK];
    while (count) {
        uint32_t room = count < BLOCK ? (uint32_t)count : BLOCK;
        uint32_t part = late->current ? rsc_references_fill(&late->cursor, lines, late->from, room) : 0;
        if (!part) {
            int status = next_batch(late);
            if (status <= 0) return status;
            continue;
        }
        for (uint32_t i = 0; i < part; i++) {
            late->tag[i] = late->tags[late->from[i]];
            late->rd[i] = (uint32_t)outcomes[i];
            late->last_tag[i] = (uint32_t)(outcomes[i] >> 32);
        }
        if (rsc_attribution_count(late->counting, &late->current->batch, 0, late->from, late->tag, late->rd,
                                  late->last_tag, part) < 0)
            return RSC_ENOMEM;
        outcomes += part;
        count -= part;
    }
    return 0;
}

int rsc_late_attribution_fill(struct rsc_late_attribution *late, struct rsc_profile *profile) {
    int status;
    while ((status = next_batch(late)) > 0) {
    }
    return status < 0 ? status : rsc_attribution_fill(late->counting, profile);
}

void rsc_late_tags_free(struct rsc_late_tags *tags) {
    late_free(tags->late);
    free(tags->tag);
}

int rsc_late_tags_give(struct rsc_late_tags *tags, const struct rsc_batch *batch, int begun, struct rsc_error *error) {
    if (tags->attribute == 0 && batch->count) tags->attribute = batch->pc ? 1 : 2;
    if (tags->attribute == 2) {
        if (!begun) { /* not visible to workers */
            late_free(tags->late);
            tags->late = NULL;
        }
        return 0;
    }
    if (!tags->late) {
        int status = late_new(&tags->late, tags->rd_cap, tags->line_shift, error);
        if (status < 0) return status;
    }
    if (batch->count > tags->room) {
        free(tags->tag);
        tags->tag = malloc(batch->count * sizeof *tags->tag);
        tags->room = tags->tag ? batch->count : 0;
        if (!tags->tag) return rsc_fail_memory(error, "tags");
    }
    if (late_tags(tags->late, batch, tags->tag) < 0) return rsc_fail_memory(error, "tags");
    return 0;
}
