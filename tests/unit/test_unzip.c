/*
 * test_unzip.c - zip archives as one stream: every way to write a member, and
 * every header that lies.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "packed_file.h"
#include "scratch_folder.h"
#include "trace/formats/input.h"

static const char words[] = "what a trace says, again and again, again and again, again and again";

/* All of an archive, or the error that ended it. */
static struct outcome {
    unsigned char text[400000];
    int64_t count; /* negative: failed */
    struct rsc_error error;
} outcome;

static void read_archive(const void *bytes, size_t count) {
    struct rsc_input *input;
    memset(&outcome.error, 0, sizeof outcome.error);
    outcome.count = rsc_input_open(&input, scratch_write("a.zip", bytes, count), &outcome.error);
    if (outcome.count < 0) return;
    outcome.count = rsc_input_read(input, outcome.text, sizeof outcome.text, &outcome.error);
    if (outcome.count >= 0) assert_string_equal(rsc_input_compression(input), "zip");
    rsc_input_close(input);
}

static void assert_refused(const char *part) {
    assert_true(outcome.count < 0);
    if (!strstr(outcome.error.message, part)) fail_msg("\"%s\" is not in \"%s\"", part, outcome.error.message);
}

/* One member of `words`, written so. */
static struct packed_bytes one_member(unsigned how) {
    struct packed_zip zip = {0};
    packed_zip_add(&zip, words, sizeof words, how);
    packed_zip_end(&zip, 0);
    return zip.bytes;
}

static void every_way_of_writing_is_read(void **state) {
    (void)state;
    for (unsigned how = 0; how < 16; how++)
        for (int wide_end = 0; wide_end < 2; wide_end++) {
            struct packed_zip zip = {0};
            packed_zip_add(&zip, words, sizeof words, how);
            packed_zip_add(&zip, "", 0, how); /* an empty one, as folders are */
            packed_zip_add(&zip, words, 20, how ^ ZIP_STORED);
            packed_zip_end(&zip, wide_end);
            read_archive(zip.bytes.data, zip.bytes.count);
            if (outcome.count != sizeof words + 20) fail_msg("way %u: %s", how, outcome.error.message);
            assert_memory_equal(outcome.text, words, sizeof words);
            assert_memory_equal(outcome.text + sizeof words, words, 20);
            free(zip.bytes.data);
        }
}

static void long_members_cross_buffers(void **state) {
    (void)state;
    static unsigned char noise[300000];
    uint64_t seed = 3;
    for (size_t i = 0; i < sizeof noise; i++) {
        seed = seed * 6364136223846793005ull + 1;
        noise[i] = (unsigned char)(seed >> 60);
    }
    for (unsigned how = 0; how < 3; how++) {
        struct packed_zip zip = {0};
        packed_zip_add(&zip, noise, sizeof noise, how);
        packed_zip_end(&zip, 0);
        read_archive(zip.bytes.data, zip.bytes.count);
        assert_int_equal(outcome.count, sizeof noise);
        assert_memory_equal(outcome.text, noise, sizeof noise);
        free(zip.bytes.data);
    }
}

static void an_empty_archive_is_empty(void **state) {
    (void)state;
    struct packed_zip zip = {0};
    packed_zip_end(&zip, 0);
    read_archive(zip.bytes.data, zip.bytes.count);
    assert_int_equal(outcome.count, 0);
    free(zip.bytes.data);
}

static void every_cut_is_told(void **state) {
    (void)state;
    for (unsigned how = 0; how < 16; how++) {
        struct packed_bytes zip = one_member(how);
        for (size_t bytes = 4; bytes < zip.count; bytes++) {
            read_archive(zip.data, bytes);
            assert_refused("zip");
        }
        free(zip.data);
    }
}

/* The data, its checksum and its lengths cannot be changed without it being told. */
static void every_change_of_what_counts_is_told(void **state) {
    (void)state;
    for (unsigned how = 0; how < 16; how++) {
        struct packed_bytes zip = one_member(how);
        for (size_t at = 4; at < zip.count; at++) { /* behind the mark that makes it a zip */
            zip.data[at] ^= 0x40;
            read_archive(zip.data, zip.count);
            /* what is not told has to be what nobody reads: names, dates, the table's copies, the comment */
            if (outcome.count >= 0) {
                assert_int_equal(outcome.count, sizeof words);
                assert_memory_equal(outcome.text, words, sizeof words);
            }
            zip.data[at] ^= 0x40;
        }
        free(zip.data);
    }
}

static void members_that_cannot_be_read_are_named(void **state) {
    (void)state;
    struct packed_bytes zip = one_member(0);
    zip.data[6] = 1;
    read_archive(zip.data, zip.count);
    assert_refused("member 1 of the zip at byte 0: it is encrypted");
    zip.data[6] = 0;
    zip.data[8] = 14;
    read_archive(zip.data, zip.count);
    assert_refused("compression method 14 is neither stored (0) nor deflate (8)");
    zip.data[8] = 0;
    zip.data[6] = 8;
    read_archive(zip.data, zip.count);
    assert_refused("stored data of unknown length");
    assert_int_equal(outcome.error.code, RSC_EUNSUPPORTED);
    free(zip.data);
}

static void lengths_that_lie_are_told(void **state) {
    (void)state;
    struct packed_bytes zip = one_member(ZIP_STORED);
    memset(zip.data + 18, 0xff, 3); /* 16 MiB packed */
    read_archive(zip.data, zip.count);
    assert_refused("zip data is cut at byte");
    free(zip.data);

    zip = one_member(0);
    zip.data[22]++;
    read_archive(zip.data, zip.count);
    assert_refused("its data is not as long as its header says");
    zip.data[22]--;
    zip.data[14]++;
    read_archive(zip.data, zip.count);
    assert_refused("checksum mismatch");
    free(zip.data);

    zip = one_member(ZIP_WIDE);
    memset(zip.data + 45, 0, 2);
    zip.data[43] = 4; /* the zip64 field has 4 bytes of 16 */
    read_archive(zip.data, zip.count);
    assert_true(outcome.count < 0);
    free(zip.data);
}

static void the_table_must_list_what_was_met(void **state) {
    (void)state;
    struct packed_zip zip = {0};
    packed_zip_add(&zip, words, 10, 0);
    packed_zip_add(&zip, words, 10, 0);
    zip.table.count /= 2;
    packed_zip_end(&zip, 0);
    read_archive(zip.bytes.data, zip.bytes.count);
    assert_refused("the zip has 2 members, but its table of contents lists 1");
    free(zip.bytes.data);

    struct packed_bytes one = one_member(0);
    packed_put(&one, "junk", 4);
    read_archive(one.data, one.count);
    assert_refused("bytes after the end of the zip");
    free(one.data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_way_of_writing_is_read),        cmocka_unit_test(long_members_cross_buffers),
        cmocka_unit_test(an_empty_archive_is_empty),           cmocka_unit_test(every_cut_is_told),
        cmocka_unit_test(every_change_of_what_counts_is_told), cmocka_unit_test(members_that_cannot_be_read_are_named),
        cmocka_unit_test(lengths_that_lie_are_told),           cmocka_unit_test(the_table_must_list_what_was_met),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
