/*
 * test_collectors.c - the table of collectors: names, what `auto` chooses, what each refuses before anything runs, and
 * that a collector which never started can be closed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "collect/collector.h"
#include "collect/launch/valgrind_files.h"

static char *command[] = {(char *)"/bin/true", NULL};

static struct rsc_collect_request request_of(struct rsc_target *target, int rebuilt) {
    struct rsc_error error;
    assert_int_equal(rsc_target_find(target, command[0], &error), 0);
    target->rebuilt = rebuilt;
    return (struct rsc_collect_request){.target = target, .command = command};
}

static void test_names(void **state) {
    const struct rsc_collector_kind *found;
    char names[100], again[100];
    (void)state;
    rsc_collector_names(names, sizeof names, " ");
    int used = snprintf(again, sizeof again, "auto");
    for (size_t i = 0; rsc_collector_kinds[i]; i++) {
        const struct rsc_collector_kind *kind = rsc_collector_kinds[i];
        assert_int_equal(rsc_collector_parse(kind->name, &found), 0);
        assert_ptr_equal(found, kind);
        assert_true(kind->gives != 0 && kind->gives < 1u << RSC_TAKES_KINDS);
        assert_true(kind->check && kind->start && kind->next && kind->finish && kind->describe && kind->close);
        if (kind->samples_by_default) assert_true(rsc_collector_gives(kind, RSC_TAKES_SAMPLES));
        used += snprintf(again + used, sizeof again - (size_t)used, " %s", kind->name);
    }
    assert_string_equal(names, again);
    assert_int_equal(rsc_collector_parse("auto", &found), 0);
    assert_null(found);
    assert_int_equal(rsc_collector_parse("pin", &found), -1);
}

static void test_automatic(void **state) {
    struct rsc_target target;
    const struct rsc_collector_kind *kind = NULL;
    struct rsc_error error;
    (void)state;
    struct rsc_collect_request request = request_of(&target, 1);
    assert_int_equal(rsc_collector_choose(&kind, &request, &error), 0);
    assert_ptr_equal(kind, &rsc_collector_rebuilt);
    /* What only QEMU does: QEMU, or its own error where it is missing. */
    request.strict = 1;
    int status = rsc_collector_choose(&kind, &request, &error);
    assert_ptr_equal(kind, &rsc_collector_qemu);
    assert_int_equal(status, rsc_collector_qemu.check(&request, &error));
    request = request_of(&target, 0);
    target.guest = RSC_GUEST_AARCH64;
    rsc_collector_choose(&kind, &request, &error);
    assert_ptr_equal(kind, &rsc_collector_qemu);
    /* Others, for x86-64, whether or not they have threads: Valgrind, where our tool for it was built. */
    target.guest = RSC_GUEST_X86_64;
    rsc_collector_choose(&kind, &request, &error);
    assert_ptr_equal(kind, rsc_valgrind_check(&error) == 0 ? &rsc_collector_valgrind : &rsc_collector_qemu);
    request.by_name = 1;
    assert_int_equal(rsc_collector_valgrind.check(&request, &error), rsc_valgrind_check(&error));
}

static void test_refusals(void **state) {
    struct rsc_target target;
    struct rsc_error error;
    (void)state;
    struct rsc_collect_request request = request_of(&target, 0);
    assert_int_equal(rsc_collector_rebuilt.check(&request, &error), RSC_EUNSUPPORTED);
    request.by_name = 1; /* it may start one that was rebuilt */
    assert_int_equal(rsc_collector_rebuilt.check(&request, &error), 0);
    request.seed_given = 1; /* of its samples */
    assert_int_equal(rsc_collector_rebuilt.check(&request, &error), 0);
    request.strict = 1;
    assert_int_equal(rsc_collector_rebuilt.check(&request, &error), RSC_EINVAL);
    request = request_of(&target, 1);
    request.roi_marked = 1;
    assert_int_equal(rsc_collector_perf.check(&request, &error), RSC_EINVAL);
    assert_non_null(strstr(error.message, "--roi"));
    request = request_of(&target, 1);
    request.wanted.pairs.registers = 5;
    assert_int_equal(rsc_collector_perf.check(&request, &error), RSC_EINVAL);
}

static void test_never_started(void **state) {
    struct rsc_collector collector;
    struct rsc_collect_request request = {.command = command};
    (void)state;
    for (size_t i = 0; rsc_collector_kinds[i]; i++) {
        rsc_collector_init(&collector, rsc_collector_kinds[i], &request);
        rsc_collector_let_run(&collector);
        rsc_collector_close(&collector);
    }
    rsc_collector_init(&collector, NULL, &request);
    rsc_collector_close(&collector);
}

static void test_lines_for_people(void **state) {
    static struct rsc_run_facts facts;
    (void)state;
    rsc_facts_add(&facts, "%d accesses", 7);
    rsc_facts_add(&facts, "warning: %s", "few");
    assert_string_equal(facts.text, "7 accesses\nwarning: few\n");
    for (int i = 0; i < 1000; i++) rsc_facts_add(&facts, "%*d", 100, i); /* more than fits: whole lines are left out */
    assert_true(facts.used < sizeof facts.text);
    assert_int_equal(facts.text[facts.used - 1], '\n');
    assert_int_equal(strlen(facts.text), facts.used);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),         cmocka_unit_test(test_automatic),        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_never_started), cmocka_unit_test(test_lines_for_people),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
