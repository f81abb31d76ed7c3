/* late_attribution.c - see late_attribution.h. A queue of copied batches; the lock only guards its links. */
#include "distance/count/late_attribution.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "distance/count/attribution_news.h"
#include "trace/references.h"

static void late_free(struct rsc_late_attribution *late);

#define BLOCK 2048u

/* One block of memory: this, then columns. */
struct kept_batch {
    struct kept_batch *next;
    struct rsc_batch batch; /* addresses and metas alone */
    struct rsc_attribution_news news;
    uint32_t *tags;
};

struct rsc_late_attribution {
    struct rsc_attribution *attribution;
    uint32_t line_shift;
    pthread_mutex_t lock;
    struct kept_batch *first, **last; /* counting not begun */
    struct kept_batch *current;       /* the counting thread's own, as are these: */
    struct rsc_reference_cursor cursor;
    uint32_t from[BLOCK], tag[BLOCK], rd[BLOCK], last_tag[BLOCK];
};

static int late_new(struct rsc_late_attribution **out, uint64_t rd_cap, uint32_t line_shift, struct rsc_error *error) {
    struct rsc_attribution_options options = {.rd_cap = rd_cap};
    struct rsc_late_attribution *late = *out = calloc(1, sizeof *late);
    if (!late) return rsc_fail_memory(error, "attribution");
    pthread_mutex_init(&late->lock, NULL);
    late->line_shift = line_shift;
    late->last = &late->first;
    int status = rsc_attribution_new(&late->attribution, &options, error);
    if (!status) {
        rsc_attribution_count_apart(late->attribution);
        return 0;
    }
    late_free(late);
    *out = NULL;
    return status;
}

static void kept_free(struct kept_batch *kept) {
    if (kept) rsc_news_free(&kept->news);
    free(kept);
}

static void late_free(struct rsc_late_attribution *late) {
    if (!late) return;
    while (late->first) {
        struct kept_batch *next = late->first->next;
        kept_free(late->first);
        late->first = next;
    }
    kept_free(late->current);
    rsc_attribution_free(late->attribution);
    pthread_mutex_destroy(&late->lock);
    free(late);
}

/* Copies the parts of a batch that counting reads. NULL: out of memory. */
static struct kept_batch *copy_batch(const struct rsc_batch *batch, const uint32_t *tags) {
    const size_t column = batch->count * sizeof *batch->addr;
    struct kept_batch *kept = malloc(sizeof *kept + 2 * column + batch->count * sizeof *tags);
    if (!kept) return NULL;
    uint64_t *addr = (uint64_t *)(void *)(kept + 1), *meta = addr + batch->count;
    *kept = (struct kept_batch){.batch = {.count = batch->count, .addr = addr, .meta = meta},
                                .tags = (uint32_t *)(void *)(meta + batch->count)};
    if (!batch->count) return kept;
    memcpy(addr, batch->addr, column);
    memcpy(meta, batch->meta, column);
    memcpy(kept->tags, tags, batch->count * sizeof *tags);
    return kept;
}

/* Writes one tag per access, and keeps a copy of the batch. Returns 0 or RSC_ENOMEM. */
static int late_tags(struct rsc_late_attribution *late, const struct rsc_batch *batch, uint32_t *tags) {
    if (rsc_attribution_tags(late->attribution, batch, tags) < 0) return RSC_ENOMEM;
    struct kept_batch *kept = copy_batch(batch, tags);
    if (!kept) return RSC_ENOMEM;
    rsc_attribution_news(late->attribution, &kept->news);
    pthread_mutex_lock(&late->lock);
    *late->last = kept;
    late->last = &kept->next;
    pthread_mutex_unlock(&late->lock);
    return 0;
}

/* Makes the next batch the current one. Returns 1, 0 when there is none, or RSC_ENOMEM. */
static int next_batch(struct rsc_late_attribution *late) {
    kept_free(late->current);
    pthread_mutex_lock(&late->lock);
    late->current = late->first;
    if (late->first) late->first = late->first->next;
    if (!late->first) late->last = &late->first;
    pthread_mutex_unlock(&late->lock);
    if (!late->current) return 0;
    rsc_references_start(&late->cursor, &late->current->batch, late->line_shift);
    return rsc_attribution_learn(late->attribution, &late->current->news) < 0 ? RSC_ENOMEM : 1;
}

int rsc_late_attribution_count(struct rsc_late_attribution *late, const uint64_t *outcomes, uint64_t count,
                               uint64_t *objects) {
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
            late->tag[i] = late->current->tags[late->from[i]];
            late->rd[i] = (uint32_t)outcomes[i];
            late->last_tag[i] = (uint32_t)(outcomes[i] >> 32);
        }
        rsc_attribution_keep_objects(late->attribution, objects);
        if (rsc_attribution_count(late->attribution, &late->current->batch, 0, late->from, late->tag, late->rd,
                                  late->last_tag, part) < 0)
            return RSC_ENOMEM;
        outcomes += part;
        if (objects) objects += part;
        count -= part;
    }
    return 0;
}

const struct rsc_attribution *rsc_late_attribution_of(const struct rsc_late_attribution *late) {
    return late->attribution;
}

int rsc_late_fill(struct rsc_late_attribution *late, struct rsc_profile *profile) {
    int status; /* the remaining batches have no references */
    while ((status = next_batch(late)) > 0) {
    }
    return status < 0 ? status : rsc_attribution_fill(late->attribution, profile);
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

int rsc_late_profile(struct rsc_accumulator *sum, struct rsc_late_tags *tags, const char *by, const struct rsc_log *log,
                     struct rsc_profile **out, struct rsc_error *error) {
    *out = rsc_accumulator_profile(sum, sum->cold);
    if (!*out || rsc_profile_set_text(&(*out)->made.by, by) < 0 ||
        rsc_profile_set_text(&(*out)->made.model, "single") < 0 || (tags->late && rsc_late_fill(tags->late, *out) < 0))
        return rsc_fail_memory(error, "profile");
    rsc_accumulator_warn(sum, log);
    return 0;
}
