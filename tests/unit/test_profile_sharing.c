/* test_profile_sharing.c - rows of sharing through JSON and merge, and what a file may not say in them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "profile/profile_model.h"

/* Ten references of two threads to one line, four of them lost, three falsely. */
static struct rsc_profile *make(void) {
    struct rsc_profile *profile = rsc_profile_new();
    assert_non_null(profile);
    assert_int_equal(rsc_profile_set_text(&profile->made.model, "private"), 0);
    profile->made.line_bytes = 64;
    profile->references = profile->accesses = 10;
    profile->cold = 2;
    profile->invalidated = 4;
    profile->distinct = 1;
    rsc_histogram_add(&profile->rd, 0, 4);
    rsc_histogram_add(&profile->ri, 1, 4);
    assert_int_equal(rsc_profile_set_sharing(profile, 2), 0);
    profile->sharing[0] = (struct rsc_sharing_row){.by_pid = 5,
                                                   .by_tid = 1,
                                                   .from_pid = 5,
                                                   .from_tid = 2,
                                                   .taken = 3,
                                                   .false_taken = 2,
                                                   .misses = 3,
                                                   .false_misses = 2,
                                                   .bars = {{1, 9}, {0, 8}, {2, 7}, {1, 6}}};
    profile->sharing[1] = (struct rsc_sharing_row){
        .by_tid = 2, .from_tid = 1, .taken = 2, .misses = 1, .false_misses = 1, .false_taken = 1, .error = 7};
    assert_int_equal(rsc_profile_set_false_sharing(profile, 1), 0);
    struct rsc_false_sharing_row *row = &profile->false_sharing[0];
    row->address = 0x4040;
    assert_int_equal(rsc_profile_set_text(&row->object, "counters (a.c:3)"), 0);
    row->object_kind = "global";
    row->taken = 3;
    row->misses = 3;
    row->bars.taken = row->bars.misses = (struct rsc_count_range){2, 5};
    assert_int_equal(rsc_false_sharing_set(row, 2, 1), 0);
    row->users[0] = (struct rsc_sharing_user){.pid = 5, .tid = 1, .first_byte = 0, .last_byte = 7, .taken = 2};
    row->users[1] = (struct rsc_sharing_user){.pid = 5, .tid = 2, .first_byte = 8, .last_byte = 63, .taken = 1};
    row->places[0].writer.pc = 0x10;
    row->places[0].victim.pc = 0x20;
    row->places[0].taken = 3;
    assert_int_equal(rsc_profile_set_text(&row->places[0].writer.function, "add"), 0);
    assert_int_equal(rsc_profile_seal(profile), 0);
    return profile;
}

static void text_of(const struct rsc_profile *profile, char **text, size_t *bytes) {
    struct rsc_error error;
    assert_int_equal(rsc_profile_json(profile, text, bytes, &error), 0);
}

static void comes_back_as_it_went(void **state) {
    (void)state;
    struct rsc_profile *profile = make(), *again;
    struct rsc_error error;
    size_t bytes;
    char *text, *text_again;
    text_of(profile, &text, &bytes);
    if (rsc_profile_parse(&again, text, bytes, "x", &error) < 0) fail_msg("%s", error.message);
    text_of(again, &text_again, &bytes);
    assert_string_equal(text, text_again);
    assert_string_equal(again->false_sharing[0].places[0].writer.function, "add");
    assert_int_equal(again->false_sharing[0].users[1].last_byte, 63);
    assert_int_equal(again->sharing[0].bars.misses.high, 7);
    assert_int_equal(again->sharing[1].bars.taken.high, 0);
    assert_int_equal(again->false_sharing[0].bars.taken.low, 2);
    rsc_text_free(text);
    rsc_text_free(text_again);
    rsc_profile_free(profile);
    rsc_profile_free(again);
}

static const char *last_of(const char *text, const char *word) {
    const char *found = NULL;
    for (const char *at = text; at && (at = strstr(at, word)); at++) found = at;
    return found;
}

/* Replaces the last `from` of the text, which is about sharing, and reads it. */
static void expect_refusal(const char *from, const char *to, const char *why) {
    struct rsc_profile *profile = make(), *again = NULL;
    struct rsc_error error = {0};
    size_t bytes;
    char *text;
    text_of(profile, &text, &bytes);
    char *changed = malloc(bytes + strlen(to) + 1);
    const char *at = last_of(strstr(text, "\"sharing\""), from);
    if (!at) fail_msg("no %s in the text", from);
    size_t before = (size_t)(at - text);
    memcpy(changed, text, before);
    strcpy(changed + before, to);
    strcat(changed, at + strlen(from));
    int status = rsc_profile_parse(&again, changed, strlen(changed), "x", &error);
    if (!why) {
        if (status < 0) fail_msg("%s", error.message);
        rsc_profile_free(again);
    } else {
        assert_true(status < 0);
        if (!strstr(error.message, why)) fail_msg("'%s' does not say '%s'", error.message, why);
    }
    free(changed);
    rsc_text_free(text);
    rsc_profile_free(profile);
}

static void nonsense_is_refused(void **state) {
    (void)state;
    expect_refusal("\"misses\":3", "\"misses\":5", "false_sharing[0].misses must be");
    expect_refusal("\"misses\":1", "\"misses\":4", "sharing[1].misses must descend");
    expect_refusal("\"misses\":1", "\"misses\":2", "misses sum to more than invalidated");
    expect_refusal("\"false_misses\":1", "\"false_misses\":2", "sharing[1].false_misses");
    expect_refusal("\"false_taken\":1", "\"false_taken\":3", "sharing[1].false_taken");
    expect_refusal("\"by\":2", "\"by\":-2", "sharing[1].by");
    expect_refusal("\"last\":63", "\"last\":64", "false_sharing[0].users[1].last");
    expect_refusal("\"last\":63", "\"last\":7", "false_sharing[0].users[1].first");
    expect_refusal("\"kind\":\"global\"", "\"kind\":\"thing\"", "kind must be");
    expect_refusal("\"address\":\"0x4040\"", "\"address\":4040", "false_sharing[0].address");
    expect_refusal("\"victim\":{", "\"victims\":{", "places[0].victim is missing");
    expect_refusal("\"pc\":\"0x20\"", "\"pc\":\"20\"", "places[0].victim.pc");
    expect_refusal("\"users\":[", "\"users\":[{},{},{},{},{},{},{},{},", "users has more than 8 rows");
    expect_refusal("\"users\":[", "\"users\":3,\"more\":[", "users");
}

/* What is not known is passed over; a line that threads share has no cell. */
static void other_rows_are_passed_over(void **state) {
    (void)state;
    expect_refusal("{\"by\":2", "{\"address\":\"0x1\",\"threads\":[1,2]},{\"by\":2", NULL);
    expect_refusal("\"error\":7", "\"error\":7,\"later\":{}", NULL);
}

/* Cells of the same threads are added, and so are their bars, of which an exact count is one without width. */
static void merge_adds_cells(void **state) {
    (void)state;
    struct rsc_profile *a = make(), *b = make();
    struct rsc_error error;
    b->sharing[0].bars = (struct rsc_sharing_bars){0};
    b->sharing[1].from_tid = 3;
    assert_int_equal(rsc_profile_merge(a, b, &error), 0);
    assert_int_equal(a->invalidated, 8);
    assert_int_equal(a->sharing_count, 3);
    const struct rsc_sharing_row *sum = &a->sharing[0];
    assert_int_equal(sum->misses, 6);
    assert_int_equal(sum->false_taken, 4);
    assert_int_equal(sum->bars.taken.low, 1 + 3);
    assert_int_equal(sum->bars.taken.high, 9 + 3);
    assert_int_equal(sum->bars.misses.low, 2 + 3);
    assert_int_equal(sum->bars.misses.high, 7 + 3);
    assert_int_equal(sum->bars.false_misses.low, 1 + 2);
    assert_int_equal(sum->bars.false_misses.high, 6 + 2);
    assert_int_equal(a->sharing[1].from_tid, 1);
    assert_int_equal(a->sharing[1].error, 7);
    assert_int_equal(a->sharing[2].from_tid, 3);
    assert_int_equal(a->sharing[2].bars.taken.high, 0);
    assert_int_equal(a->false_sharing_count, 2);
    assert_int_equal(a->false_sharing[1].bars.misses.high, 5);
    assert_string_equal(a->false_sharing[1].places[0].writer.function, "add");
    rsc_profile_free(a);
    rsc_profile_free(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comes_back_as_it_went),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(other_rows_are_passed_over),
        cmocka_unit_test(merge_adds_cells),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
