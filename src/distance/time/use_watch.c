/* use_watch.c - see use_watch.h. */
#include "distance/time/use_watch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <reusescope/error.h>

#include "base/search.h"

/* 64 KiB of tags and 1 MiB of lines and times. With 16 Ki uses in it, one in a thousand finds its bucket full. */
#define BUCKETS_FIRST 8192u
#define BUCKETS_MOST (1u << 26)
/* With a bound, a small gap lasts only for this many samples: uniform over 250 K
 * lines runs at 59 M references/s with gap 8, 67 with 16 and 87 with 32. */
#define GAP_PAYS 32
#define ENDED_ENOUGH (1u << 16)
#define EPOCH 1024u /* draws */
#define STRETCH_FIRST 4096u /* references */

/* ---- the table ---- */

static int make_table(struct rsc_use_watch *watch, uint32_t buckets) {
    size_t places = (size_t)buckets * RSC_WATCH_PLACES;
    watch->tags = calloc(buckets, sizeof *watch->tags);
    watch->line = malloc(places * sizeof *watch->line);
    watch->time = malloc(places * sizeof *watch->time);
    watch->bucket_mask = buckets - 1;
    watch->watched = 0;
    return watch->tags && watch->line && watch->time ? 0 : RSC_ENOMEM;
}

static void free_table(struct rsc_use_watch *watch) {
    free(watch->tags);
    free(watch->line);
    free(watch->time);
    watch->tags = watch->line = watch->time = NULL;
}

/* In a full bucket the new use is dropped: there is no better choice. */
static void put(struct rsc_use_watch *watch, uint64_t line, uint64_t time) {
    uint64_t hash = rsc_line_hash(line, watch->offset);
    uint32_t bucket = rsc_watch_bucket(watch, hash);
    uint64_t zero = rsc_zero_bytes(watch->tags[bucket]);
    if (!zero) return;
    uint32_t place = (uint32_t)__builtin_ctzll(zero) >> 3;
    watch->tags[bucket] |= rsc_watch_tag(hash) << 8 * place;
    watch->line[(uint64_t)bucket * RSC_WATCH_PLACES + place] = line;
    watch->time[(uint64_t)bucket * RSC_WATCH_PLACES + place] = time;
    watch->watched++;
}

static void end_epoch(struct rsc_use_watch *watch) {
    double below = 0, drawn = (double)watch->epoch_drawn, each = watch->gap * (watch->gap - 1);
    for (uint32_t bin = 0; bin < rsc_bins_count(RSC_BINS_FINE); bin++) {
        if (below < drawn) watch->variance[bin] += each * below * (1 - below / drawn);
        below += (double)watch->epoch[bin];
        watch->epoch[bin] = 0;
    }
    watch->epoch_drawn = 0;
}

/* Drops every second use, at random, and doubles the weight of later ones. */
static void watch_less(struct rsc_use_watch *watch) {
    for (uint32_t bucket = 0; bucket <= watch->bucket_mask; bucket++)
        for (uint32_t place = 0; place < RSC_WATCH_PLACES; place++) {
            uint64_t byte = 0xffull << 8 * place;
            if (!(watch->tags[bucket] & byte) || rsc_rng_u64(&watch->rng) >> 63) continue;
            watch->tags[bucket] &= ~byte;
            watch->watched--;
        }
    end_epoch(watch);
    for (uint32_t bin = 0; bin < rsc_bins_count(RSC_BINS_FINE); bin++) {
        watch->weighted[bin] += (double)watch->ended[bin] * watch->gap;
        watch->weighted_total += (double)watch->ended[bin] * watch->gap;
        watch->ended[bin] = 0;
    }
    watch->weighted_sum += (double)watch->ended_sum * watch->gap;
    watch->ended_total = watch->ended_sum = 0;
    watch->gap *= 2;
}

static int grow(struct rsc_use_watch *watch) {
    struct rsc_use_watch old = *watch;
    int status = make_table(watch, 2 * (old.bucket_mask + 1));
    for (uint64_t place = 0; status == 0 && place < ((uint64_t)old.bucket_mask + 1) * RSC_WATCH_PLACES; place++)
        if (old.tags[place / RSC_WATCH_PLACES] >> 8 * (place % RSC_WATCH_PLACES) & 0xff)
            put(watch, old.line[place], old.time[place]);
    free_table(&old);
    return status;
}

int rsc_use_watch_add(struct rsc_use_watch *watch, uint64_t line, uint64_t time) {
    put(watch, line, time);
    if (watch->most && watch->watched > watch->most) watch_less(watch);
    if (watch->watched > (uint64_t)(watch->bucket_mask + 1) * RSC_WATCH_PLACES / 2) {
        if (watch->bucket_mask + 1 < BUCKETS_MOST) return grow(watch);
        watch_less(watch);
    }
    return 0;
}

/* ---- the sample ---- */

void rsc_use_watch_draw(struct rsc_use_watch *watch) {
    double from = watch->stretch_end;
    watch->stretch_end += watch->gap;
    uint64_t at = (uint64_t)(from + rsc_rng_double(&watch->rng) * watch->gap);
    /* rounding, or a gap that has just doubled, must not go back */
    watch->draw_at = watch->draw_at != UINT64_MAX && at <= watch->draw_at ? watch->draw_at + 1 : at;
}

int rsc_use_watch_init(struct rsc_use_watch *watch, enum rsc_simd simd, uint64_t seed, double gap, uint64_t most) {
    memset(watch, 0, sizeof *watch);
    rsc_rng_seed(&watch->rng, seed, 3);
    watch->offset = rsc_line_offset(seed);
    watch->gap = gap;
    watch->most = most;
    watch->draw_at = UINT64_MAX;
    watch->stretch_least = STRETCH_FIRST;
    watch->run = RSC_WIDE_PICK(simd, rsc_use_watch_run);
    watch->ended = calloc(rsc_bins_count(RSC_BINS_FINE), sizeof *watch->ended);
    watch->weighted = calloc(rsc_bins_count(RSC_BINS_FINE), sizeof *watch->weighted);
    watch->epoch = calloc(rsc_bins_count(RSC_BINS_FINE), sizeof *watch->epoch);
    watch->variance = calloc(rsc_bins_count(RSC_BINS_FINE), sizeof *watch->variance);
    if (make_table(watch, BUCKETS_FIRST) < 0 || !watch->ended || !watch->weighted || !watch->epoch ||
        !watch->variance) {
        rsc_use_watch_free(watch);
        return RSC_ENOMEM;
    }
    rsc_use_watch_draw(watch);
    return 0;
}

void rsc_use_watch_free(struct rsc_use_watch *watch) {
    free_table(watch);
    free(watch->ended);
    free(watch->weighted);
    free(watch->epoch);
    free(watch->variance);
    memset(watch, 0, sizeof *watch);
}

uint64_t rsc_use_watch_bytes(const struct rsc_use_watch *watch) {
    return ((uint64_t)watch->bucket_mask + 1) * (1 + 2 * RSC_WATCH_PLACES) * sizeof(uint64_t);
}

static void end_stretch(struct rsc_use_watch *watch) {
    if (watch->stretches == RSC_WATCH_STRETCHES) { /* by twos */
        watch->stretches /= 2;
        for (uint32_t i = 0; i < watch->stretches; i++) {
            watch->stretch_now[i] = watch->stretch_now[2 * i + 1];
            watch->stretch_uses[i] = watch->stretch_uses[2 * i + 1];
        }
        watch->stretch_least *= 2;
    }
    watch->stretch_now[watch->stretches] = watch->now;
    watch->stretch_uses[watch->stretches++] = watch->uses;
}

struct followed {
    uint64_t line, time;
};

struct follow {
    struct rsc_use_watch *watch;
    struct followed *list; /* those drawn; owned */
    size_t count, room;
};

/* Lines come in no known order, so a hash decides whether one is drawn: not the hash of the line sample. */
static void follow_use(void *context, uint64_t line, uint64_t time) {
    struct follow *follow = context;
    struct rsc_use_watch *watch = follow->watch;
    uint64_t hash = rsc_line_hash(rsc_line_hash(line, watch->offset), ~watch->offset);
    watch->uses++;
    if (time == watch->now) { /* the reference just before: a run of its line may continue */
        watch->before = line;
        watch->has_before = 1;
    }
    if ((double)(hash >> 11) * 0x1p-53 * watch->gap < 1 && follow->count < follow->room)
        follow->list[follow->count++] = (struct followed){line, time};
}

static int by_time(const void *a, const void *b) {
    uint64_t x = ((const struct followed *)a)->time, y = ((const struct followed *)b)->time;
    return (x > y) - (x < y);
}

int rsc_use_watch_follow(struct rsc_use_watch *watch, const struct rsc_last_use *last) {
    struct follow follow = {.watch = watch, .room = last->distinct};
    int status = 0;
    follow.list = malloc((last->distinct + 1) * sizeof *follow.list);
    if (!follow.list) return RSC_ENOMEM;
    /* none of those drawn may be dropped at once: the others were drawn with the same gap */
    while (watch->most && (double)last->distinct / watch->gap > (double)watch->most / 2) watch->gap *= 2;
    watch->now = last->now;
    rsc_last_use_visit(last, follow_use, &follow);
    qsort(follow.list, follow.count, sizeof *follow.list, by_time);
    for (size_t i = 0; status == 0 && i < follow.count; i++)
        status = rsc_use_watch_add(watch, follow.list[i].line, follow.list[i].time);
    end_stretch(watch); /* the last uses of lines are drawn from these */
    free(follow.list);
    return status;
}

int rsc_use_watch_run(struct rsc_use_watch *watch, const uint64_t *lines, uint32_t count,
                      struct rsc_watch_found *found) {
    found->listed_count = found->ended_count = found->sampled_count = 0;
    int status = count ? watch->run(watch, lines, count, found) : 0;
    if (status == 0 && watch->epoch_drawn >= EPOCH) end_epoch(watch);
    uint64_t stretch_from = watch->stretches ? watch->stretch_now[watch->stretches - 1] : 0;
    if (watch->now - stretch_from >= watch->stretch_least) end_stretch(watch);
    if (status == 0 && watch->most && watch->gap < GAP_PAYS && watch->ended_total > ENDED_ENOUGH) watch_less(watch);
    return status;
}

/* ---- the end ---- */

const double *rsc_use_watch_variance(struct rsc_use_watch *watch) {
    end_epoch(watch);
    return watch->variance;
}

double rsc_use_watch_mean(const struct rsc_use_watch *watch) {
    double of = watch->weighted_total + (double)watch->ended_total * watch->gap;
    return of > 0 ? (watch->weighted_sum + (double)watch->ended_sum * watch->gap) / of : 0;
}

double rsc_use_watch_scale(const struct rsc_use_watch *watch) {
    double counted = watch->weighted_total + (double)(watch->ended_total + watch->watched) * watch->gap;
    return counted > 0 ? (double)watch->uses / counted : 1;
}

double rsc_use_watch_lines(const struct rsc_use_watch *watch) {
    return (double)watch->watched * watch->gap * rsc_use_watch_scale(watch);
}

void rsc_use_watch_visit(const struct rsc_use_watch *watch, void (*visit)(void *context, uint64_t line, uint64_t time),
                         void *context) {
    for (uint64_t place = 0; place < ((uint64_t)watch->bucket_mask + 1) * RSC_WATCH_PLACES; place++)
        if (watch->tags[place / RSC_WATCH_PLACES] >> 8 * (place % RSC_WATCH_PLACES) & 0xff)
            visit(context, watch->line[place], watch->time[place]);
}

struct left_count {
    const struct rsc_use_watch *watch;
    struct rsc_watch_left *left;
};

static void count_left(void *context, uint64_t line, uint64_t time) {
    struct left_count *count = context;
    const struct rsc_use_watch *watch = count->watch;
    (void)line;
    /* the first part of the trace that ends at `time` or later; the last has no end yet */
    count->left->count[RSC_SEARCH(0, watch->stretches, i, watch->stretch_now[i] < time)]++;
}

void rsc_use_watch_left(const struct rsc_use_watch *watch, struct rsc_watch_left *left) {
    *left = (struct rsc_watch_left){.gap = watch->gap, .stretches = watch->stretches + 1};
    for (uint32_t i = 0; i <= watch->stretches; i++) {
        uint64_t uses = i < watch->stretches ? watch->stretch_uses[i] : watch->uses;
        left->drawn[i] = (double)(uses - (i ? watch->stretch_uses[i - 1] : 0)) / watch->gap;
    }
    rsc_use_watch_visit(watch, count_left, &(struct left_count){watch, left});
}

double rsc_watch_left_covariance(const struct rsc_watch_left *left, double share) {
    double sum = 0;
    for (uint32_t i = 0; i < left->stretches; i++)
        if (left->count[i] < left->drawn[i])
            sum += left->count[i] * fmax(0, 1 - fmax(share, left->count[i] / left->drawn[i]));
    return left->gap * (left->gap - 1) * sum;
}
