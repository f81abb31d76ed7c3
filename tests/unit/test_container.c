/* test_container.c - profile files: what is whole is read, what is not is noticed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sample_profiles.h"
#include "scratch_folder.h"

static char *read_bytes(const char *path, size_t *bytes) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *data = malloc(1 << 20);
    assert_non_null(data);
    *bytes = fread(data, 1, 1 << 20, file);
    fclose(file);
    return data;
}

/* A small container in memory. */
static char *small_container(size_t *bytes) {
    struct rsc_profile *profile = sample_cyclic(3, 2);
    const char *path = scratch_path("small.data");
    assert_int_equal(rsc_profile_save(profile, path, NULL), 0);
    rsc_profile_free(profile);
    return read_bytes(path, bytes);
}

static int load_bytes(const char *data, size_t bytes, struct rsc_error *error) {
    struct rsc_profile *profile = NULL;
    int rc = rsc_profile_load(&profile, scratch_write("damaged.data", data, bytes), error);
    rsc_profile_free(profile);
    return rc;
}

static void saves_and_loads_all(void **state) {
    (void)state;
    struct rsc_profile *both[] = {sample_rich(), sample_spread(3000)}, **loaded, *first;
    size_t count;
    const char *path = scratch_path("both.data");
    assert_int_equal(rsc_profiles_save(both, 2, path, 0, NULL), 0);
    assert_int_equal(rsc_profiles_load(path, &loaded, &count, NULL), 0);
    assert_int_equal(count, 2);
    for (size_t i = 0; i < 2; i++) {
        char *text = sample_json(both[i], NULL), *again = sample_json(loaded[i], NULL);
        assert_string_equal(text, again);
        free(text);
        free(again);
    }
    rsc_profiles_free(loaded, count);
    assert_int_equal(rsc_profile_load(&first, path, NULL), 0);
    assert_int_equal(first->references, both[0]->references);
    rsc_profile_free(first);
    rsc_profile_free(both[0]);
    rsc_profile_free(both[1]);
}

static void keeps_the_last_one(void **state) {
    (void)state;
    struct rsc_profile *one = sample_cyclic(3, 2), *two = sample_cyclic(4, 2), *old;
    const char *path = scratch_path("kept.data");
    assert_int_equal(rsc_profiles_save(&one, 1, path, 1, NULL), 0);
    assert_int_equal(rsc_profiles_save(&two, 1, path, 1, NULL), 0);
    assert_int_equal(rsc_profile_load(&old, scratch_path("kept.data.old"), NULL), 0);
    assert_int_equal(old->distinct, 3);
    rsc_profile_free(one);
    rsc_profile_free(two);
    rsc_profile_free(old);
}

static void json_is_told_by_content(void **state) {
    (void)state;
    struct rsc_profile *profile = sample_spread(5), *loaded;
    const char *path = scratch_path("named.data");
    assert_int_equal(rsc_profile_write_json(profile, path, NULL), 0);
    assert_int_equal(rsc_profile_load(&loaded, path, NULL), 0);
    rsc_profile_free(loaded);
    char *text = sample_json(profile, NULL), *spaced;
    assert_true(asprintf(&spaced, " \n\t%s", text) > 0);
    assert_int_equal(load_bytes(spaced, strlen(spaced), NULL), 0);
    free(spaced);
    free(text);
    rsc_profile_free(profile);
}

static void every_flipped_bit_is_noticed(void **state) {
    (void)state;
    size_t bytes;
    char *data = small_container(&bytes);
    assert_int_equal(load_bytes(data, bytes, NULL), 0);
    for (size_t bit = 0; bit < 8 * bytes; bit++) {
        struct rsc_error error = {0};
        data[bit / 8] ^= (char)(1 << bit % 8);
        int rc = load_bytes(data, bytes, &error);
        if (!rc) print_message("bit %zu went unnoticed\n", bit);
        assert_true(rc == RSC_EFORMAT || rc == RSC_EVERSION);
        assert_int_equal(error.code, rc);
        assert_non_null(strstr(error.message, "damaged.data: "));
        data[bit / 8] ^= (char)(1 << bit % 8);
    }
    free(data);
}

static void every_cut_is_noticed(void **state) {
    (void)state;
    size_t bytes;
    char *data = small_container(&bytes);
    for (size_t cut = 0; cut < bytes; cut++) assert_int_equal(load_bytes(data, cut, NULL), RSC_EFORMAT);
    char *longer = calloc(1, bytes + 1);
    memcpy(longer, data, bytes);
    assert_int_equal(load_bytes(longer, bytes + 1, NULL), RSC_EFORMAT);
    free(longer);
    free(data);
}

static void newer_versions_are_named(void **state) {
    (void)state;
    struct rsc_error error;
    size_t bytes;
    char *data = small_container(&bytes);
    data[8] = 2;
    assert_int_equal(load_bytes(data, bytes, &error), RSC_EVERSION);
    assert_non_null(strstr(error.message, "newer than this tool"));
    free(data);
}

static void other_files_are_refused(void **state) {
    (void)state;
    struct rsc_profile *profile;
    struct rsc_error error;
    assert_int_equal(load_bytes("", 0, &error), RSC_EFORMAT);
    assert_non_null(strstr(error.message, "empty"));
    assert_int_equal(load_bytes("hello\n", 6, &error), RSC_EFORMAT);
    assert_non_null(strstr(error.message, "neither"));
    assert_int_equal(load_bytes("   ", 3, &error), RSC_EFORMAT);
    assert_int_equal(rsc_profile_load(&profile, scratch_path("absent"), &error), RSC_EIO);
    assert_int_equal(rsc_profile_load(&profile, scratch_folder, &error), RSC_EIO);
    assert_int_equal(rsc_profile_load(&profile, scratch_folder, NULL), RSC_EIO);
}

struct feed {
    int fd;
    const char *data;
    size_t bytes;
};

/* In small pieces, as pipes may give them. */
static void *feed_pipe(void *argument) {
    const struct feed *feed = argument;
    for (size_t at = 0; at < feed->bytes; at += 7) {
        size_t piece = feed->bytes - at < 7 ? feed->bytes - at : 7;
        if (write(feed->fd, feed->data + at, piece) != (ssize_t)piece) break;
    }
    close(feed->fd);
    return NULL;
}

static void pipes_and_standard_input_are_read(void **state) {
    (void)state;
    struct rsc_profile *profile;
    size_t bytes;
    char *data = small_container(&bytes);
    int ends[2], saved = dup(STDIN_FILENO);
    pthread_t thread;
    assert_int_equal(pipe(ends), 0);
    struct feed feed = {ends[1], data, bytes};
    assert_true(dup2(ends[0], STDIN_FILENO) >= 0);
    close(ends[0]);
    assert_int_equal(pthread_create(&thread, NULL, feed_pipe, &feed), 0);
    int rc = rsc_profile_load(&profile, "-", NULL);
    pthread_join(thread, NULL);
    if (saved >= 0) dup2(saved, STDIN_FILENO), close(saved);
    assert_int_equal(rc, 0);
    assert_int_equal(profile->references, 6);
    rsc_profile_free(profile);
    free(data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(saves_and_loads_all),     cmocka_unit_test(keeps_the_last_one),
        cmocka_unit_test(json_is_told_by_content), cmocka_unit_test(every_flipped_bit_is_noticed),
        cmocka_unit_test(every_cut_is_noticed),    cmocka_unit_test(newer_versions_are_named),
        cmocka_unit_test(other_files_are_refused), cmocka_unit_test(pipes_and_standard_input_are_read),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
