/* points.c - see points.h. A reference's instances are numbered by a nest that counts it alone. */
#include "loops/search/points.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/search.h"

#define POINTS_MAX (UINT64_C(1) << 28)

void rsc_points_free(struct rsc_points *points) {
    for (uint32_t r = points->reference_count; points->alone && r--;) { /* neighbours may have the same one */
        if (!r || points->alone[r] != points->alone[r - 1]) rsc_nest_free(points->alone[r]);
    }
    free(points->alone);
    free(points->point);
    free(points->references);
    free(points->first);
    memset(points, 0, sizeof *points);
}

/* The instance of the reference with number `at` among those of its segment. */
static int place_point(struct rsc_point *point, struct rsc_nest *nest, struct rsc_nest *alone, int64_t at) {
    const struct rsc_nest_item *item = &nest->item[nest->segment[point->segment].item];
    const struct rsc_nest_item *counted = &alone->item[nest->segment[point->segment].item];
    const struct rsc_nest_node *top = item->node, *counted_top = counted->node;
    int64_t value[RSC_LOOP_DEPTH_MAX] = {0};
    memcpy(value, nest->segment_values + nest->segment[point->segment].values, item->node->depth * sizeof *value);
    point->iteration = 0;
    if (item->who == RSC_RUN_SHARED) {
        int64_t trip = rsc_nest_group_trip(counted, value);
        if (rsc_nest_group_uneven(counted)) {
            const int64_t *sums = rsc_nest_group_sums(alone, counted, value, trip);
            if (!sums) return alone->status;
            int64_t low = RSC_SEARCH(1, trip, i, sums[i] - sums[0] <= at) - 1;
            point->iteration = low;
            at -= sums[low] - sums[0];
        } else {
            rsc_nest_group_values(counted, value, 0);
            int64_t body = rsc_nest_body(alone, counted->inner, value);
            if (body <= 0) return RSC_EINVAL;
            point->iteration = at / body;
            at %= body;
        }
        rsc_nest_group_values(counted, value, point->iteration);
        top = item->inner;
        counted_top = counted->inner;
    }
    if (!rsc_nest_unrank_body(alone, counted_top, at, value, NULL))
        return alone->status < 0 ? alone->status : RSC_EINVAL;
    const struct rsc_nest_node *reference = nest->reference[point->reference];
    point->address = rsc_nest_affine_at(&reference->address, value);
    point->inside = rsc_nest_rank(nest, top, reference, value);
    return nest->status;
}

static int draw(struct rsc_points *points, struct rsc_nest *nest, struct rsc_nest *alone, uint32_t reference,
                uint64_t wanted, struct rsc_rng *rng) {
    uint64_t total = points->references[reference];
    uint32_t segment = 0;
    uint64_t before = 0; /* instances in segments before */
    for (uint64_t j = 0; j < wanted; j++) {
        uint64_t at = j; /* all of them */
        if (wanted < total) {
            double part = (double)total / (double)wanted;
            at = (uint64_t)(part * ((double)j + rsc_rng_double(rng)));
            if (at >= total) at = total - 1;
        }
        while (at - before >= (uint64_t)alone->segment[segment].total)
            before += (uint64_t)alone->segment[segment++].total;
        struct rsc_point *point = &points->point[points->count];
        *point = (struct rsc_point){.reference = reference,
                                    .segment = segment,
                                    .who = rsc_rng_double(rng),
                                    .weight = (double)total / (double)wanted};
        int status = place_point(point, nest, alone, (int64_t)(at - before));
        if (status < 0) return status;
        points->count++;
    }
    return 0;
}

static int report(int status, const struct rsc_nest *nest, struct rsc_error *error) {
    if (status == RSC_ENOMEM) return rsc_fail_memory(error, "samples of a loop nest");
    if (status == RSC_EINVAL || (status == RSC_ELIMIT && error && !error->code))
        return rsc_fail(error, status, "%s: references cannot be numbered", nest->region->name);
    return status;
}

int rsc_points_draw(struct rsc_points *out, const struct rsc_points *from, struct rsc_nest *nest,
                    const uint64_t *wanted, uint64_t seed, struct rsc_error *error) {
    uint32_t references = nest->reference_count;
    struct rsc_rng rng;
    uint64_t count = 0;
    rsc_rng_seed(&rng, seed, 60);
    memset(out, 0, sizeof *out);
    for (uint32_t r = 0; r < references; r++)
        count += wanted[r] < from->references[r] ? wanted[r] : from->references[r];
    if (count > POINTS_MAX)
        return rsc_fail(error, RSC_ELIMIT, "%s: %llu references are too many to analyse every one", nest->region->name,
                        (unsigned long long)count);
    out->references = malloc((references + (size_t)1) * sizeof *out->references);
    out->first = calloc(references + (size_t)2, sizeof *out->first);
    out->point = malloc((count + 1) * sizeof *out->point);
    int status = out->references && out->first && out->point ? 0 : RSC_ENOMEM;
    if (status >= 0) memcpy(out->references, from->references, references * sizeof *out->references);
    for (uint32_t r = 0; r < references && status >= 0; r++) {
        out->first[r] = (uint32_t)out->count;
        status =
            draw(out, nest, from->alone[r], r, wanted[r] < from->references[r] ? wanted[r] : from->references[r], &rng);
    }
    if (status >= 0) out->first[references] = (uint32_t)out->count;
    else rsc_points_free(out);
    return report(status, nest, error);
}

int rsc_points_new(struct rsc_points *out, struct rsc_nest *nest, uint32_t region, uint64_t line_bytes,
                   uint32_t samples, uint64_t seed, struct rsc_error *error) {
    uint32_t references = nest->reference_count;
    struct rsc_points counted = {.reference_count = references}; /* without points */
    int status = RSC_ENOMEM;
    memset(out, 0, sizeof *out);
    uint64_t *wanted = calloc(references + (size_t)1, sizeof *wanted);
    counted.alone = calloc(references + (size_t)1, sizeof *counted.alone);
    counted.references = calloc(references + (size_t)1, sizeof *counted.references);
    double total = 0;
    if (wanted && counted.alone && counted.references) status = 0;
    for (uint32_t r = 0; r < references && status >= 0; r++) {
        if (r && nest->reference[r]->parent == nest->reference[r - 1]->parent)
            counted.alone[r] = counted.alone[r - 1]; /* they have equally many instances, in the same order */
        else status = rsc_nest_new(&counted.alone[r], nest->program, region, r, line_bytes, error);
        for (uint32_t s = 0; status >= 0 && s < counted.alone[r]->segment_count; s++)
            counted.references[r] += (uint64_t)counted.alone[r]->segment[s].total;
        total += (double)counted.references[r];
    }
    for (uint32_t r = 0; r < references && status >= 0; r++) {
        wanted[r] =
            samples ? (uint64_t)(samples * ((double)counted.references[r] / total) + 0.5) : counted.references[r];
        if (wanted[r] < RSC_POINTS_LEAST) wanted[r] = RSC_POINTS_LEAST;
    }
    if (status >= 0) status = rsc_points_draw(out, &counted, nest, wanted, seed, error);
    else status = report(status, nest, error);
    if (status >= 0) {
        out->alone = counted.alone;
        out->reference_count = references;
        counted.alone = NULL;
    }
    rsc_points_free(&counted);
    free(wanted);
    return status;
}
