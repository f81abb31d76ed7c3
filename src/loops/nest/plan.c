/*
 * plan.c - iterations of shared loops by thread; see plan.h.
 *
 * If all chunks have equal counts, everything is a closed form. Guided schedules and
 * chunks of uneven work use a table of chunks.
 */
#include "loops/nest/plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/search.h"
#include "loops/model/interleave.h"

#define CHUNKS_MAX (1u << 24)
/* Most runs of a drawn interleaving for assigning chunks: about 2 ms. */
#define DEALING_RUNS 65536.0
/* Drift: most chunks whose times are drawn. */
#define DEALING_CHUNKS 16384.0
/* With runs of one reference the assignment evens out soon, and each of many short loops would be drawn again. */
#define DEALING_REFERENCES 4096.0

int rsc_schedule_parse(const char *text, enum rsc_schedule *schedule, uint64_t *chunk, struct rsc_error *error) {
    const char *comma = strchr(text, ',');
    size_t length = comma ? (size_t)(comma - text) : strlen(text);
    static const enum rsc_schedule kinds[] = {RSC_SCHEDULE_STATIC, RSC_SCHEDULE_DYNAMIC, RSC_SCHEDULE_GUIDED};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const char *name = rsc_schedule_name(kinds[i]);
        if (strlen(name) != length || memcmp(name, text, length)) continue;
        *schedule = kinds[i];
        *chunk = 0;
        if (!comma) return 0;
        char *end;
        unsigned long long value = strtoull(comma + 1, &end, 10);
        if (comma[1] < '0' || comma[1] > '9' || *end || !value || value > (1ull << 40)) break;
        *chunk = value;
        return 0;
    }
    return rsc_fail(error, RSC_EINVAL, "schedule '%s': not static, dynamic or guided, with an optional ,CHUNK", text);
}

int64_t rsc_guided_next(int64_t remaining, uint32_t threads, int64_t chunk) {
    int64_t take = (remaining + threads - 1) / threads;
    if (take < chunk) take = chunk;
    return take < remaining ? take : remaining;
}

void rsc_plan_schedule(const struct rsc_plan *plan, const struct rsc_nest_item *item, enum rsc_schedule *schedule,
                       uint64_t *chunk) {
    *schedule = plan->has_schedule ? plan->schedule : item->schedule;
    *chunk = plan->has_schedule ? plan->chunk : item->chunk;
    if (!*chunk && *schedule != RSC_SCHEDULE_STATIC) *chunk = 1;
}

void rsc_plan_deal_as(struct rsc_plan *plan, const struct rsc_interleave *interleave, uint64_t seed) {
    plan->dealing = *interleave;
    plan->deal_seed = seed;
    plan->deals = interleave->kind == RSC_INTERLEAVE_BURSTY || interleave->kind == RSC_INTERLEAVE_IID ||
                  interleave->kind == RSC_INTERLEAVE_DRIFT;
}

int rsc_plan_has_dealing(const struct rsc_plan *plan) {
    enum rsc_schedule schedule;
    uint64_t chunk;
    for (uint32_t i = 0; i < plan->nest->item_count; i++) {
        rsc_plan_schedule(plan, &plan->nest->item[i], &schedule, &chunk);
        if (plan->nest->item[i].who == RSC_RUN_SHARED && schedule != RSC_SCHEDULE_STATIC) return 1;
    }
    return 0;
}

void rsc_plan_values(const struct rsc_plan *plan, uint32_t segment, int64_t *value) {
    const struct rsc_nest_segment *at = &plan->nest->segment[segment];
    memcpy(value, plan->nest->segment_values + at->values, plan->nest->item[at->item].node->depth * sizeof *value);
}

/* ---- tables of chunks ---- */

static int64_t work(const struct rsc_view *view, int64_t from, int64_t to) {
    return view->sums ? view->sums[to] - view->sums[from] : (to - from) * view->body;
}

/* A heap of threads by references made (or the time of the last), then number. */
static int before(const double *made, uint32_t a, uint32_t b) { return made[a] != made[b] ? made[a] < made[b] : a < b; }

static void sift_down(uint32_t *heap, uint32_t count, const double *made, uint32_t at) {
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= count) return;
        if (child + 1 < count && before(made, heap[child + 1], heap[child])) child++;
        if (!before(made, heap[child], heap[at])) return;
        uint32_t kept = heap[at];
        heap[at] = heap[child];
        heap[child] = kept;
        at = child;
    }
}

static int64_t chunk_length(const struct rsc_view *view, enum rsc_schedule schedule, int64_t at) {
    int64_t left = view->trip - at;
    if (schedule == RSC_SCHEDULE_GUIDED) return rsc_guided_next(left, view->threads, view->chunk);
    return left < view->chunk ? left : view->chunk;
}

/* Assigns chunks to the thread with the fewest references so far; static ones round-robin. */
static int deal_evenly(struct rsc_view *view, enum rsc_schedule schedule) {
    double *made = calloc(view->threads, sizeof *made);
    uint32_t *heap = malloc(view->threads * sizeof *heap);
    if (made && heap) {
        for (uint32_t i = 0; i < view->threads; i++) heap[i] = i;
        for (uint32_t c = 0; c < view->chunk_count; c++) {
            uint32_t owner = view->owner[c] = schedule == RSC_SCHEDULE_STATIC ? c % view->threads : heap[0];
            made[owner] += (double)work(view, view->start[c], view->start[c + 1]);
            if (schedule != RSC_SCHEDULE_STATIC) sift_down(heap, view->threads, made, 0);
        }
    }
    int status = made && heap ? 0 : RSC_ENOMEM;
    free(made);
    free(heap);
    return status;
}

struct dealing {
    struct rsc_view *view;
    uint32_t next;
};

static int64_t deal_next(void *context, uint32_t thread) {
    struct dealing *dealing = context;
    struct rsc_view *view = dealing->view;
    while (dealing->next < view->chunk_count) {
        uint32_t c = dealing->next++;
        view->owner[c] = thread;
        int64_t references = work(view, view->start[c], view->start[c + 1]);
        if (references) return references;
    }
    return 0;
}

static int deal_as_drawn(struct rsc_view *view, const struct rsc_plan *plan, uint32_t segment) {
    struct rsc_rng rng;
    struct dealing dealing = {.view = view};
    int64_t *none = calloc(plan->threads, sizeof *none);
    if (!none) return RSC_ENOMEM;
    rsc_rng_seed(&rng, plan->deal_seed + segment, 62);
    int status = rsc_timeline_draw(&view->timeline, view->threads, none, &plan->dealing, &rng, deal_next, &dealing);
    free(none);
    return status;
}

/*
 * Drift: each chunk takes a time that is drawn, and the thread that is free first takes the next one. begun[chunk], then
 * begun[chunk_count + thread]: when it has no more.
 */
static int deal_as_drifting(struct rsc_view *view, const struct rsc_plan *plan, uint32_t segment, double *begun) {
    struct rsc_rng rng;
    uint32_t threads = view->threads, *heap = malloc(threads * sizeof *heap);
    double *free_at = begun + view->chunk_count;
    if (!heap) return RSC_ENOMEM;
    rsc_rng_seed(&rng, plan->deal_seed + segment, 62);
    for (uint32_t t = 0; t < threads; t++) {
        free_at[t] = rsc_rng_double(&rng);
        heap[t] = t;
    }
    for (uint32_t at = threads / 2; at-- > 0;) sift_down(heap, threads, free_at, at);
    for (uint32_t c = 0; c < view->chunk_count; c++) {
        uint32_t owner = view->owner[c] = heap[0];
        double references = (double)work(view, view->start[c], view->start[c + 1]);
        double took = references + sqrt(rsc_drift_variance(&plan->dealing, references)) * rsc_rng_normal(&rng);
        begun[c] = free_at[owner];
        free_at[owner] += fmax(took, references / 10);
        sift_down(heap, threads, free_at, 0);
    }
    free(heap);
    return 0;
}

/* Whether there are few enough runs to draw; with many bursts the assignment evens out. */
static int draws_dealing(const struct rsc_view *view, const struct rsc_plan *plan, enum rsc_schedule schedule) {
    if (!plan->deals || schedule == RSC_SCHEDULE_STATIC) return 0;
    if (plan->dealing.kind == RSC_INTERLEAVE_IID) return (double)view->total <= DEALING_REFERENCES;
    double chunks = (double)view->trip / (double)view->chunk;
    if (plan->dealing.kind == RSC_INTERLEAVE_DRIFT) return chunks <= DEALING_CHUNKS;
    return (double)view->total / plan->dealing.burst + chunks <= DEALING_RUNS;
}

static int make_table(struct rsc_view *view, const struct rsc_plan *plan, enum rsc_schedule schedule,
                      uint32_t segment) {
    uint64_t count = 0;
    if (schedule == RSC_SCHEDULE_GUIDED)
        for (int64_t at = 0; at < view->trip; count++) at += chunk_length(view, schedule, at);
    else count = (uint64_t)((view->trip + view->chunk - 1) / view->chunk);
    if (count > CHUNKS_MAX) return RSC_ELIMIT;
    uint32_t n = view->chunk_count = (uint32_t)count;
    view->start = malloc((n + 1) * sizeof *view->start);
    view->owner = malloc((n + 1) * sizeof *view->owner);
    view->turn = malloc((n + 1) * sizeof *view->turn);
    view->first = calloc(view->threads + 2, sizeof *view->first);
    view->list = malloc((n + 1) * sizeof *view->list);
    view->done = malloc((n + 1) * sizeof *view->done);
    view->made = malloc((n + 1) * sizeof *view->made);
    uint32_t *next = malloc(view->threads * sizeof *next);
    int drawn = draws_dealing(view, plan, schedule), drifts = drawn && plan->dealing.kind == RSC_INTERLEAVE_DRIFT;
    double *begun = drifts ? malloc((n + (size_t)view->threads) * sizeof *begun) : NULL;
    if (drifts) view->begun = malloc((n + (size_t)view->threads) * sizeof *view->begun);
    int status = RSC_ENOMEM;
    if (!view->start || !view->owner || !view->turn || !view->first || !view->list || !view->done || !view->made ||
        !next || (drifts && (!begun || !view->begun)))
        goto out;
    view->start[0] = 0;
    for (uint32_t c = 0; c < n; c++) view->start[c + 1] = view->start[c] + chunk_length(view, schedule, view->start[c]);
    status = drifts  ? deal_as_drifting(view, plan, segment, begun)
             : drawn ? deal_as_drawn(view, plan, segment)
                     : deal_evenly(view, schedule);
    if (status < 0) goto out;
    for (uint32_t c = 0; c < n; c++) view->first[view->owner[c] + 1]++;
    for (uint32_t i = 0; i < view->threads; i++) view->first[i + 1] += view->first[i];
    for (uint32_t i = 0; i < view->threads; i++) next[i] = view->first[i];
    for (uint32_t c = 0; c < n; c++) {
        uint32_t owner = view->owner[c], place = next[owner]++;
        view->list[place] = c;
        view->turn[c] = place - view->first[owner];
        int first = place == view->first[owner];
        if (drifts) view->begun[place + owner] = begun[c];
        uint32_t last = first ? 0 : view->list[place - 1];
        view->done[place] = first ? 0 : view->done[place - 1] + view->start[last + 1] - view->start[last];
        view->made[place] = first ? 0 : view->made[place - 1] + work(view, view->start[last], view->start[last + 1]);
    }
    for (uint32_t t = 0; drifts && t < view->threads; t++) view->begun[view->first[t + 1] + t] = begun[n + t];
out:
    free(begun);
    free(next);
    return status;
}

static void free_view(struct rsc_view *view) {
    free(view->start);
    free(view->owner);
    free(view->turn);
    free(view->first);
    free(view->list);
    free(view->done);
    free(view->made);
    free(view->begun);
    rsc_timeline_free(view->timeline);
}

/* Fills an empty view; whatever fails, free_view() frees it. */
static int make_view(struct rsc_plan *plan, uint32_t segment, struct rsc_view *view) {
    struct rsc_nest *nest = plan->nest;
    const struct rsc_nest_item *item = &nest->item[nest->segment[segment].item];
    view->item = item;
    view->who = item->who;
    view->total = nest->segment[segment].total;
    view->threads = item->thread_limit && item->thread_limit < plan->threads ? item->thread_limit : plan->threads;
    if (item->who == RSC_RUN_BY_ONE) view->threads = 1;
    if (item->who != RSC_RUN_SHARED) return 0;

    int64_t value[RSC_LOOP_DEPTH_MAX] = {0};
    rsc_plan_values(plan, segment, value);
    view->trip = rsc_nest_group_trip(item, value);
    enum rsc_schedule schedule;
    uint64_t chunk;
    rsc_plan_schedule(plan, item, &schedule, &chunk);
    if (rsc_nest_group_uneven(item)) {
        view->sums = rsc_nest_group_sums(nest, item, value, view->trip);
        if (!view->sums && view->trip) return nest->status;
    } else if (view->trip) {
        rsc_nest_group_values(item, value, 0);
        view->body = rsc_nest_body(nest, item->inner, value);
    }
    if (chunk > (uint64_t)view->trip && view->trip) chunk = (uint64_t)view->trip;
    view->chunk = (int64_t)chunk;
    if (schedule == RSC_SCHEDULE_DYNAMIC && view->trip)
        view->comes_after = (double)view->total * (double)chunk / (double)view->trip;
    if (!chunk) view->split = RSC_SPLIT_BLOCK;
    else if (!view->sums && schedule != RSC_SCHEDULE_GUIDED && !draws_dealing(view, plan, schedule))
        view->split = RSC_SPLIT_CYCLIC; /* even work: dynamic is round-robin too */
    else {
        view->split = RSC_SPLIT_TABLE;
        int status = make_table(view, plan, schedule, segment);
        if (status < 0) {
            nest->status = status;
            return status;
        }
    }
    return 0;
}

const struct rsc_view *rsc_plan_view(struct rsc_plan *plan, uint32_t segment) {
    segment = plan->nest->segment[segment].same;
    struct rsc_view *view = &plan->view[segment];
    if (atomic_load_explicit(&view->ready, memory_order_acquire)) return view;
    pthread_mutex_lock(&plan->lock);
    int ready = view->ready;
    if (!ready) {
        ready = make_view(plan, segment, view) >= 0;
        if (ready) {
            atomic_store_explicit(&view->ready, 1, memory_order_release);
        } else { /* whoever asks again must not get a part of it */
            free_view(view);
            memset((char *)view + sizeof view->ready, 0, sizeof *view - sizeof view->ready);
        }
    }
    pthread_mutex_unlock(&plan->lock);
    return ready ? view : NULL;
}

/* ---- a thread's share ---- */

int64_t rsc_view_iterations(const struct rsc_view *view, uint32_t thread) {
    int64_t threads = view->threads, n = view->trip;
    if (thread >= view->threads) return 0;
    if (view->split == RSC_SPLIT_BLOCK) return n / threads + (thread < n % threads);
    if (view->split == RSC_SPLIT_CYCLIC) {
        int64_t round = threads * view->chunk, rest = n % round - (int64_t)thread * view->chunk;
        if (rest < 0) rest = 0;
        return n / round * view->chunk + (rest < view->chunk ? rest : view->chunk);
    }
    if (view->split == RSC_SPLIT_NONE) return 1;
    uint32_t end = view->first[thread + 1];
    if (end == view->first[thread]) return 0;
    uint32_t last = view->list[end - 1];
    return view->done[end - 1] + view->start[last + 1] - view->start[last];
}

int64_t rsc_view_length(const struct rsc_view *view, uint32_t thread) {
    if (thread >= view->threads) return 0;
    if (view->split == RSC_SPLIT_NONE) return view->total;
    return rsc_view_before(view, thread, rsc_view_iterations(view, thread));
}

/* The index of the thread's chunk that contains its iteration m. */
static uint32_t chunk_place(const struct rsc_view *view, uint32_t thread, int64_t m, const int64_t *by) {
    return RSC_SEARCH(view->first[thread] + 1, view->first[thread + 1], i, by[i] <= m) - 1;
}

static int64_t block_first(const struct rsc_view *view, uint32_t thread) {
    int64_t size = view->trip / view->threads, longer = view->trip % view->threads;
    return thread * size + (thread < longer ? thread : longer);
}

int64_t rsc_view_iteration(const struct rsc_view *view, uint32_t thread, int64_t m) {
    if (view->split == RSC_SPLIT_BLOCK) return block_first(view, thread) + m;
    if (view->split == RSC_SPLIT_CYCLIC)
        return view->chunk == 1
                   ? m * view->threads + thread
                   : m / view->chunk * view->threads * view->chunk + thread * view->chunk + m % view->chunk;
    if (view->split == RSC_SPLIT_NONE) return 0;
    uint32_t place = chunk_place(view, thread, m, view->done);
    return view->start[view->list[place]] + m - view->done[place];
}

static uint32_t chunk_of(const struct rsc_view *view, int64_t iteration) {
    return RSC_SEARCH(1, view->chunk_count, i, view->start[i] <= iteration) - 1;
}

uint32_t rsc_view_owner(const struct rsc_view *view, int64_t iteration, int64_t *m) {
    int64_t threads = view->threads;
    if (view->split == RSC_SPLIT_BLOCK) {
        int64_t size = view->trip / threads, longer = view->trip % threads, border = longer * (size + 1);
        int64_t thread = iteration < border ? iteration / (size + 1) : longer + (iteration - border) / size;
        *m = iteration - block_first(view, (uint32_t)thread);
        return (uint32_t)thread;
    }
    if (view->split == RSC_SPLIT_CYCLIC) {
        int64_t chunk = iteration / view->chunk;
        *m = chunk / threads * view->chunk + iteration % view->chunk;
        return (uint32_t)(chunk % threads);
    }
    *m = 0;
    if (view->split == RSC_SPLIT_NONE) return 0;
    uint32_t chunk = chunk_of(view, iteration), owner = view->owner[chunk];
    *m = view->done[view->first[owner] + view->turn[chunk]] + iteration - view->start[chunk];
    return owner;
}

int64_t rsc_view_not_after(const struct rsc_view *view, uint32_t thread, int64_t iteration) {
    int64_t count = rsc_view_iterations(view, thread), m;
    if (!count || iteration < 0) return -1;
    if (iteration >= view->trip) return count - 1;
    if (view->split == RSC_SPLIT_BLOCK) {
        m = iteration - block_first(view, thread);
        return m < 0 ? -1 : m < count ? m : count - 1;
    }
    if (view->split == RSC_SPLIT_CYCLIC) {
        int64_t round = view->threads * view->chunk;
        int64_t inside = iteration % round - thread * view->chunk;
        if (inside < 0) inside = -1;
        if (inside >= view->chunk) inside = view->chunk - 1;
        m = iteration / round * view->chunk + inside;
        return m < count ? m : count - 1;
    }
    if (view->start[view->list[view->first[thread]]] > iteration) return -1;
    uint32_t low =
        RSC_SEARCH(view->first[thread] + 1, view->first[thread + 1], i, view->start[view->list[i]] <= iteration) - 1;
    uint32_t chunk = view->list[low];
    int64_t inside = iteration - view->start[chunk], size = view->start[chunk + 1] - view->start[chunk];
    return view->done[low] + (inside < size ? inside : size - 1);
}

int64_t rsc_view_before(const struct rsc_view *view, uint32_t thread, int64_t m) {
    if (view->split == RSC_SPLIT_NONE) return 0;
    if (!view->sums) return m * view->body;
    if (view->split == RSC_SPLIT_BLOCK) {
        int64_t first = block_first(view, thread);
        return view->sums[first + m] - view->sums[first];
    }
    if (!rsc_view_iterations(view, thread)) return 0;
    uint32_t place = chunk_place(view, thread, m, view->done), chunk = view->list[place];
    int64_t from = view->start[chunk];
    return view->made[place] + view->sums[from + m - view->done[place]] - view->sums[from];
}

int64_t rsc_view_find(const struct rsc_view *view, uint32_t thread, int64_t place, int64_t *rest) {
    if (view->split == RSC_SPLIT_NONE) {
        *rest = place;
        return 0;
    }
    if (!view->sums) {
        int64_t m = place / view->body;
        *rest = place - m * view->body;
        return m;
    }
    int64_t low = 0, high = rsc_view_iterations(view, thread), first, made = 0, done = 0;
    if (view->split == RSC_SPLIT_BLOCK) {
        first = block_first(view, thread);
    } else {
        uint32_t at = chunk_place(view, thread, place, view->made);
        first = view->start[view->list[at]];
        high = view->start[view->list[at] + 1] - first;
        made = view->made[at];
        done = view->done[at];
    }
    low = RSC_SEARCH(low + 1, high, i, made + view->sums[first + i] - view->sums[first] <= place) - 1;
    *rest = place - made - (view->sums[first + low] - view->sums[first]);
    return done + low;
}

static struct rsc_view_chunk chunk_at(const struct rsc_view *view, uint32_t thread, uint32_t place) {
    const double *begun = view->begun + thread + place;
    if (place == view->first[thread + 1])
        return (struct rsc_view_chunk){begun[0], INFINITY, rsc_view_length(view, thread), 0};
    uint32_t chunk = view->list[place];
    return (struct rsc_view_chunk){begun[0], begun[1], view->made[place],
                                   work(view, view->start[chunk], view->start[chunk + 1])};
}

struct rsc_view_chunk rsc_view_chunk_at(const struct rsc_view *view, uint32_t thread, double time) {
    uint32_t end = view->first[thread + 1];
    const double *begun = view->begun + thread;
    return chunk_at(view, thread, RSC_SEARCH(view->first[thread] + 1, end + 1, i, begun[i] <= time) - 1);
}

struct rsc_view_chunk rsc_view_chunk_of(const struct rsc_view *view, uint32_t thread, int64_t place) {
    if (view->first[thread] == view->first[thread + 1]) return chunk_at(view, thread, view->first[thread]);
    return chunk_at(view, thread, chunk_place(view, thread, place, view->made));
}

/* ---- the whole ---- */

int rsc_plan_new(struct rsc_plan **out, struct rsc_nest *nest, uint32_t threads, const char *schedule,
                 struct rsc_error *error) {
    struct rsc_plan *plan = calloc(1, sizeof *plan);
    if (!plan) return rsc_fail_memory(error, "plan of threads");
    pthread_mutex_init(&plan->lock, NULL);
    plan->nest = nest;
    plan->threads = threads;
    int status = 0;
    if (schedule) {
        plan->has_schedule = 1;
        status = rsc_schedule_parse(schedule, &plan->schedule, &plan->chunk, error);
        if (status < 0) goto out;
    }
    plan->view = calloc(nest->segment_count + 1, sizeof *plan->view);
    plan->phase_start = calloc(nest->phase_count + 1, sizeof *plan->phase_start);
    if (!plan->view || !plan->phase_start) {
        status = rsc_fail_memory(error, "plan of threads");
        goto out;
    }
    for (uint32_t p = 0; p < nest->phase_count; p++) {
        double sum = plan->phase_start[p];
        for (uint32_t s = nest->phase[p].first; s < nest->phase[p].first + nest->phase[p].count; s++) {
            const struct rsc_nest_item *item = &nest->item[nest->segment[s].item];
            double runs = 1;
            if (item->who == RSC_RUN_BY_ALL)
                runs = item->thread_limit && item->thread_limit < threads ? item->thread_limit : threads;
            sum += runs * (double)nest->segment[s].total;
        }
        plan->phase_start[p + 1] = sum;
    }
out:
    if (status < 0) {
        rsc_plan_free(plan);
        return status;
    }
    *out = plan;
    return 0;
}

void rsc_plan_free(struct rsc_plan *plan) {
    if (!plan) return;
    if (plan->view)
        for (uint32_t s = 0; s < plan->nest->segment_count; s++) free_view(&plan->view[s]);
    free(plan->view);
    free(plan->phase_start);
    pthread_mutex_destroy(&plan->lock);
    free(plan);
}
