/*
 * test_cold_start.c - the model behind initmr: frames as renewal processes, for
 * which the share of cold-start misses that are true misses is known exactly; and
 * the conditions under which an interval is long enough.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "simulate/sampling/branches.h"

enum { FRAMES = 4096 };

/*
 * One direct-mapped set: blocks come one after the other. A block is referenced
 * `references` times, `step` apart on average, then lies dead for `dead` on
 * average; all times are exponential.
 */
struct process {
    double step, dead;
    unsigned references;
};

struct outcome {
    struct rsc_cold_counts cold;
    uint64_t truly_missed;        /* of the cold-start misses */
    double dead_within, lifetime; /* means of min(D, t) and of a generation, over what was drawn */
    double loaded;
};

static double exponential(struct rsc_rng *rng, double mean) { return -mean * log(1 - rsc_rng_double(rng)); }

/* Runs all frames for `before` (to the steady state), then watches an empty cache for `t`. */
static struct outcome run(const struct process *process, double before, double t, uint64_t seed) {
    struct rsc_sim_config *config = calloc(1, sizeof *config);
    struct rsc_branches *cold;
    struct rsc_error error;
    struct rsc_rng rng;
    struct outcome out = {.truly_missed = 0};
    double generations = 0;
    assert_int_equal(rsc_cache_config_parse(&config->caches[0], "l2", "256K,1,64", &error), 0);
    config->count = 1;
    assert_int_equal(rsc_branches_new(&cold, config, RSC_WATCH_COLD, &error), 0);
    rsc_rng_seed(&rng, seed, 0);
    for (uint64_t frame = 0; frame < FRAMES; frame++) {
        double now = 0;
        int seen = 0;
        for (uint64_t block = 0; now < before + t; block++) {
            double began = now, dead = 0;
            for (unsigned r = 0; r < process->references && now < before + t; r++) {
                if (now >= before) {
                    struct rsc_request request = {.addr = (block * FRAMES + frame) * 64, .bytes = 8, .kind = RSC_READ};
                    rsc_branches_request(cold, &request, (uint64_t)(1000 * (now - before)));
                    if (!seen)
                        out.truly_missed += r == 0; /* the first reference of a block is a miss whatever was there */
                    seen = 1;
                }
                if (r + 1 < process->references) now += exponential(&rng, process->step);
            }
            dead = exponential(&rng, process->dead);
            now += dead;
            generations++;
            out.dead_within += dead < t ? dead : t;
            out.lifetime += now - began;
        }
    }
    out.cold = rsc_branches_cold(cold, 0);
    assert_int_equal(rsc_branches_status(cold, &error), 0);
    out.dead_within /= generations;
    out.lifetime /= generations;
    out.loaded = (double)out.cold.loaded / FRAMES;
    rsc_branches_free(cold);
    free(config);
    return out;
}

/* mu(t) = E[min(D, t)] / (E[G] f(t)): what simulation finds is what renewal theory says. */
static void renewal_identity(void **state) {
    (void)state;
    static const struct process processes[] = {{1, 7, 4}, {2, 3, 8}, {0.5, 20, 3}, {3, 30, 2}};
    static const double lengths[] = {2, 8, 40};
    for (size_t p = 0; p < sizeof processes / sizeof *processes; p++)
        for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
            struct outcome out = run(&processes[p], 300, lengths[l], p + 1);
            double found = (double)out.truly_missed / (double)out.cold.cold_misses;
            double theory = out.dead_within / (out.lifetime * out.loaded);
            assert_int_equal(out.cold.cold_misses, out.cold.loaded);
            double deviation = sqrt(theory * (1 - theory) / (double)out.cold.cold_misses);
            if (fabs(found - theory) > 5 * deviation + 0.01)
                fail_msg("process %zu, length %g: mu is %g, theory says %g", p, lengths[l], found, theory);
        }
}

/* With intervals that meet the conditions initmr comes near that, and gets the dead fraction right. */
static void initmr_estimates_it(void **state) {
    (void)state;
    static const struct process processes[] = {{1, 7, 4}, {2, 3, 8}, {0.5, 5, 3}};
    for (size_t p = 0; p < sizeof processes / sizeof *processes; p++) {
        struct outcome out = run(&processes[p], 300, 120, p + 1);
        struct rsc_cold_conditions conditions;
        double d;
        int assumed;
        double mu = rsc_initmr_mu(&out.cold, &d, &assumed),
               found = (double)out.truly_missed / (double)out.cold.cold_misses;
        double dead = processes[p].dead / (processes[p].dead + (processes[p].references - 1) * processes[p].step);
        rsc_cold_conditions(&out.cold, &conditions);
        assert_true(conditions.half_loaded && conditions.mostly_full && conditions.length_factor == 1);
        assert_false(assumed);
        assert_true(fabs(d - dead) < 0.08);
        assert_true(fabs(mu - found) < 0.1);
        double misses = rsc_cold_start_misses(&out.cold, RSC_START_INITMR);
        double truth = (double)(out.cold.misses - out.cold.cold_misses + out.truly_missed);
        assert_true(fabs(misses / truth - 1) < 0.03);
        assert_true(rsc_cold_start_misses(&out.cold, RSC_START_COLD) > truth);
    }
}

static void by_hand(void **state) {
    (void)state;
    /* f = 1/4, d = 0.6: mu_last = max(0, (0.6 - 0.75) / 0.25) = 0 */
    struct rsc_cold_counts counts = {.frames = 100,
                                     .loaded = 25,
                                     .references = 200,
                                     .misses = 40,
                                     .cold_misses = 25,
                                     .generations = 15,
                                     .dead = 6,
                                     .lifetime = 10,
                                     .ways = 1};
    double d;
    int assumed;
    assert_true(fabs(rsc_initmr_mu(&counts, &d, &assumed) - 0.3) < 1e-12 && d == 0.6 && !assumed);
    assert_true(fabs(rsc_cold_start_misses(&counts, RSC_START_INITMR) - (15 + 0.3 * 25)) < 1e-12);
    counts.loaded = 80; /* mu_last = (0.6 - 0.2) / 0.8 = 0.5 */
    assert_true(fabs(rsc_initmr_mu(&counts, NULL, NULL) - 0.55) < 1e-12);
    counts.generations = 9;
    assert_true(fabs(rsc_initmr_mu(&counts, &d, &assumed) - (0.7 + 0.625) / 2) < 1e-12 && d == 0.7 && assumed);
    assert_true(isnan(rsc_cold_start_misses(&counts, RSC_START_PRIME)));
    counts.prime_references = 50;
    counts.prime_misses = 5;
    assert_true(rsc_cold_start_misses(&counts, RSC_START_PRIME) == 20);
    assert_true(rsc_cold_start_misses(&counts, RSC_START_COLD) == 40);

    struct rsc_cold_conditions conditions;
    rsc_cold_conditions(&counts, &conditions);
    assert_true(conditions.half_loaded && !conditions.mostly_full);
    counts = (struct rsc_cold_counts){.frames = 100, .ways = 1};
    rsc_cold_conditions(&counts, &conditions);
    assert_true(!conditions.half_loaded && !conditions.mostly_full && isinf(conditions.length_factor));
    counts.misses = 10;
    counts.cold_misses = counts.loaded = 10; /* a tenth of a direct-mapped cache: 1.594 misses a frame are needed */
    rsc_cold_conditions(&counts, &conditions);
    assert_true(fabs(conditions.length_factor - 15.94) < 0.02);
}

/* Random misses: at the length asked for, and not before, the conditions hold. */
static void length_asked_for(void **state) {
    (void)state;
    struct rsc_rng rng;
    rsc_rng_seed(&rng, 4, 0);
    for (uint32_t ways = 1; ways <= 16; ways *= 4) {
        struct rsc_cache_config config = {.size_bytes = 64ull * 4096 * ways, .ways = ways, .block_bytes = 64};
        struct rsc_cold_watch watch;
        struct rsc_cold_conditions early, late;
        uint64_t frames = 4096ull * ways, misses = frames / 2, clock = 0;
        assert_int_equal(rsc_cold_watch_init(&watch, &config, NULL), 0);
        uint16_t *used = calloc(4096, sizeof *used);
        double factor = 0;
        for (uint64_t i = 0; i < 3 * frames; i++) {
            struct rsc_cache_seen seen = {
                .set = rsc_rng_below(&rng, 4096), .block = i, .kind = RSC_READ, .now = ++clock};
            seen.evicted = used[seen.set] == ways;
            used[seen.set] += !seen.evicted;
            rsc_cold_watch_seen(&watch, &seen);
            if (i + 1 == misses) {
                rsc_cold_conditions(&watch.counts, &early);
                factor = early.length_factor;
                assert_true(!early.mostly_full && factor > 3 && factor < 4.2);
            }
            rsc_cold_conditions(&watch.counts, &late);
            if (factor > 0 && i + 1 == (uint64_t)(0.97 * factor * (double)misses)) assert_false(late.mostly_full);
            if (factor > 0 && i + 1 == (uint64_t)(1.03 * factor * (double)misses)) {
                assert_true(late.mostly_full && late.half_loaded);
                break;
            }
        }
        free(used);
        rsc_cold_watch_free(&watch);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(renewal_identity),
        cmocka_unit_test(initmr_estimates_it),
        cmocka_unit_test(by_hand),
        cmocka_unit_test(length_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
