/*
 * test_engine_spec.c - engine specifications are parsed once, into the struct of their
 * engine; aliases are the same as what they stand for, and every row of the table is whole.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "distance/shards/engine_shards.h"
#include "engine/engine_spec.h"
#include "featherlight/simulated_pmu.h"
#include "multicore/multicore_engines.h"
#include "multicore/sampled_options.h"

static struct rsc_engine_spec parse(const char *text) {
    struct rsc_engine_spec spec;
    struct rsc_error error;
    if (rsc_engine_spec_parse(&spec, text, &error) < 0) fail_msg("%s", error.message);
    return spec;
}

static void parameters_are_typed(void **state) {
    (void)state;
    struct rsc_engine_spec shards = parse("shards:1/8"), most = parse("shards-max:4K");
    const struct rsc_shards_parameters *kept = rsc_engine_spec_of(&shards, &rsc_engine_shards);
    assert_true(kept->rate == 0.125 && !kept->lines_most);
    kept = rsc_engine_spec_of(&most, &rsc_engine_shards_max);
    assert_true(kept->rate == 1 && kept->lines_most == 4096);
    assert_null(rsc_engine_spec_of(&most, &rsc_engine_shards));

    struct rsc_engine_spec sampled = parse("sampled:period=100,ordering=parallel,exact=512");
    const struct rsc_sampled_options *wanted = rsc_engine_spec_of(&sampled, &rsc_engine_sampled);
    assert_true(wanted->period == 100 && wanted->ordering_given);
    assert_int_equal(wanted->sampler.order, RSC_ORDER_PARALLEL);
    assert_int_equal(wanted->sampler.exact_lines, 512);
    assert_int_equal(wanted->sampler.samples_most, 16384);

    struct rsc_engine_spec feather = parse("featherlight:registers=2,spacing=fixed,rd=shen");
    const struct rsc_pmu_options *pmu = rsc_engine_spec_of(&feather, &rsc_engine_featherlight);
    assert_true(pmu->registers == 2 && pmu->fixed == 1 && pmu->estimate.model == RSC_RI_SHEN);
}

static void aliases_are_what_they_stand_for(void **state) {
    (void)state;
    for (const struct rsc_engine_alias *alias = rsc_engine_aliases; alias->name; alias++) {
        static const char *const rates[] = {"", ":0.25", ":1"};
        for (size_t i = 0; i < 3; i++) {
            char shorter[40], longer[60];
            snprintf(shorter, sizeof shorter, "%s%s", alias->name, rates[i]);
            snprintf(longer, sizeof longer, "%s:%s", alias->kind->name, shorter);
            struct rsc_engine_spec one = parse(shorter), other = parse(longer);
            assert_ptr_equal(one.kind, other.kind);
            assert_memory_equal(one.parameters, other.parameters, sizeof one.parameters);
        }
    }
    struct rsc_engine_spec none = parse(NULL);
    assert_ptr_equal(none.kind, &rsc_engine_auto);
    assert_true(rsc_engine_spec_is_exact(&none));
}

static void refused(void **state) {
    static const char *const bad[] = {"",
                                      "shards",
                                      "shards:",
                                      "shards:2",
                                      "shards-max:1",
                                      "exact:1",
                                      "aet:2",
                                      "time",
                                      "time:",
                                      "time:lru",
                                      "time:aet:9",
                                      "aets",
                                      "gpu:x=1",
                                      "hp-rda:9",
                                      "hp-rda:local=",
                                      "sampled:lines=1/0",
                                      "parallel:rounds",
                                      "sampled:",
                                      "gpu:device=0,"};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct rsc_engine_spec spec;
        struct rsc_error error = {0};
        assert_int_equal(rsc_engine_spec_parse(&spec, bad[i], &error), RSC_EINVAL);
        assert_true(strlen(error.message) > 0);
    }
}

static void rows_are_whole(void **state) {
    (void)state;
    for (size_t i = 0; rsc_engine_kinds[i]; i++) {
        const struct rsc_engine_kind *kind = rsc_engine_kinds[i];
        assert_true(kind->name && kind->what && kind->create && kind->push && kind->finish && kind->destroy);
        assert_true(!kind->parameter == !kind->parse);
        for (size_t j = 0; j < i; j++) assert_string_not_equal(kind->name, rsc_engine_kinds[j]->name);
        for (const struct rsc_engine_alias *alias = rsc_engine_aliases; alias->name; alias++)
            assert_string_not_equal(kind->name, alias->name);
        kind->destroy(NULL);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_are_typed),
        cmocka_unit_test(aliases_are_what_they_stand_for),
        cmocka_unit_test(refused),
        cmocka_unit_test(rows_are_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
