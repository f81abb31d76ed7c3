/*
 * test_rsct_limits.c - native traces that run out of room: under max_bytes and
 * on a full disk what fits is a whole, readable trace; a writer that is given up
 * leaves nothing behind.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/rng.h"
#include "scratch_folder.h"
#include "whole_trace.h"

/* The least a trace takes: header, index and trailer without a frame. */
#define EMPTY_BYTES 156u

static struct whole_trace scattered_trace(uint32_t accesses, uint32_t threads) {
    struct whole_trace trace = {.has_pc = 1, .instructions = accesses};
    struct rsc_rng rng;
    rsc_rng_seed(&rng, accesses, 0);
    for (uint32_t i = 0; i < accesses; i++) {
        if (i % 10 == 0) whole_add_event(&trace, RSC_EVENT_MARKER, 0, i, 0, NULL, (uint16_t)(i % 50));
        whole_add(&trace, rsc_rng_u64(&rng), rsc_meta(8, RSC_READ, i * threads / accesses), i % 100);
    }
    return trace;
}

static uint64_t file_bytes(const char *path) {
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    return (uint64_t)status.st_size;
}

static uint32_t files_in_folder(void) {
    uint32_t files = 0;
    DIR *folder = opendir(scratch_folder);
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder));)
        files += strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
    closedir(folder);
    return files;
}

/* The file must be a valid trace of the first accesses; returns how many. */
static uint64_t assert_begins_like(const char *path, const struct whole_trace *trace) {
    struct whole_trace got;
    whole_read(&got, path, NULL);
    if (got.status) fail_msg("%s", got.error.message);
    uint64_t count = got.count;
    assert_true(count <= trace->count);
    assert_int_equal(got.before.accesses, count);
    assert_same_accesses(&got, trace, 0, count);
    whole_free(&got);
    return count;
}

/* Writes under a limit. Returns how many accesses are in the file, or the failure. */
static int64_t write_limited(const struct whole_trace *trace, const char *path, uint64_t max_bytes, uint32_t frame,
                             const uint32_t *steps, uint32_t step_count) {
    struct rsc_trace_writer_options options = whole_options("rsct", frame);
    struct rsc_trace_writer *writer;
    struct rsc_error error = {0};
    options.max_bytes = max_bytes;
    assert_int_equal(rsc_trace_writer_open(&writer, path, &options, &error), 0);
    int pushed = whole_push(trace, writer, steps, step_count, &error);
    if (pushed == 1) { /* it stays full */
        const struct rsc_batch batch = {0};
        assert_int_equal(rsc_trace_writer_push(writer, &batch, &error), 1);
    }
    int status = rsc_trace_writer_finish(writer, &error);
    rsc_trace_writer_close(writer);
    if (status < 0 || pushed < 0) {
        assert_int_equal(status, RSC_ELIMIT);
        assert_true(pushed == 0 || pushed == RSC_ELIMIT);
        assert_true(error.message[0] && !strchr(error.message, '\n'));
        return status;
    }
    assert_true(file_bytes(path) <= max_bytes);
    uint64_t count = assert_begins_like(path, trace);
    assert_int_equal(status, count < trace->count); /* finish says whether all of it is there */
    if (pushed == 0 && count < trace->count) assert_true(count + frame >= trace->count);
    return (int64_t)count;
}

static void no_limit_is_passed(void **state) {
    (void)state;
    static const uint32_t steps[] = {17, 1, 100};
    struct whole_trace trace = scattered_trace(400, 1);
    const char *path = scratch_path("limited.rsct");
    int64_t last = 0;
    for (uint64_t limit = 1; limit < 9000; limit += limit < 400 ? 1 : 37) {
        int64_t count = write_limited(&trace, path, limit, 20, limit % 2 ? steps : NULL, 3);
        if (limit < EMPTY_BYTES) assert_int_equal(count, RSC_ELIMIT);
        else assert_true(count >= last && count % 20 == 0);
        if (count >= 0) last = count;
    }
    assert_int_equal(last, trace.count);
    whole_free(&trace);
}

/* Threads that turn up after the last frame that fits must not push the index over the limit. */
static void late_threads_do_not_pass_the_limit(void **state) {
    (void)state;
    static const uint32_t steps[] = {10};
    struct whole_trace trace = scattered_trace(400, 300);
    for (uint64_t limit = EMPTY_BYTES; limit < 17000; limit += 41)
        write_limited(&trace, scratch_path("limited.rsct"), limit, 20, steps, 1);
    whole_free(&trace);
}

/* Where nobody says how large frames are, a small limit still holds something. */
static void a_small_limit_is_made_use_of(void **state) {
    (void)state;
    struct whole_trace trace = scattered_trace(200000, 1);
    for (uint64_t limit = 16 << 10; limit < 1 << 20; limit *= 2) {
        assert_true(write_limited(&trace, scratch_path("limited.rsct"), limit, 0, NULL, 0) > 0);
        assert_true(file_bytes(scratch_path("limited.rsct")) > limit / 2);
    }
    whole_free(&trace);
}

static uint64_t text_begins_like(const char *path, const struct whole_trace *trace) {
    struct whole_trace got;
    whole_read(&got, path, NULL);
    assert_int_equal(got.status, 0);
    for (uint64_t i = 0; i < got.count; i++) assert_true(got.addr[i] == trace->addr[i]);
    uint64_t count = got.count;
    whole_free(&got);
    return count;
}

static void text_under_a_limit(void **state) {
    (void)state;
    struct whole_trace trace = scattered_trace(400, 1);
    for (uint64_t limit = 40; limit < 9000; limit += 97) {
        struct rsc_trace_writer_options options = whole_options(limit % 2 ? "din" : "csv", 0);
        struct rsc_trace_writer *writer;
        options.max_bytes = limit;
        assert_int_equal(rsc_trace_writer_open(&writer, scratch_path("limited.txt"), &options, NULL), 0);
        assert_true(whole_push(&trace, writer, NULL, 0, NULL) >= 0);
        assert_int_equal(rsc_trace_writer_finish(writer, NULL), 0);
        rsc_trace_writer_close(writer);
        assert_true(file_bytes(scratch_path("limited.txt")) <= limit);
        text_begins_like(scratch_path("limited.txt"), &trace);
    }
    whole_free(&trace);
}

/* ---- a full disk ---- */

/*
 * In a process whose files may grow to `disk_bytes`. Its exit status: 0 all was
 * written, 2 an error.
 */
static int write_on_small_disk(const struct whole_trace *trace, const char *path, uint64_t disk_bytes,
                               const struct rsc_trace_writer_options *options, const uint32_t *steps) {
    fflush(stdout);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct rsc_trace_writer *writer;
        struct rsc_error error = {0};
        struct rlimit limit = {disk_bytes, disk_bytes};
        signal(SIGXFSZ, SIG_IGN);
        if (setrlimit(RLIMIT_FSIZE, &limit)) _exit(3);
        if (rsc_trace_writer_open(&writer, path, options, &error)) _exit(3);
        int pushed = whole_push(trace, writer, steps, 1, &error);
        int finished = rsc_trace_writer_finish(writer, &error);
        if (finished >= 0 && pushed) _exit(4); /* what was not written whole must not end in a file */
        if (finished < 0 && !error.message[0]) _exit(5);
        rsc_trace_writer_close(writer);
        _exit(finished < 0 ? 2 : finished);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_true(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 2);
    return WEXITSTATUS(status);
}

static void put_file(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fputs(text, file) >= 0, 1);
    assert_int_equal(fclose(file), 0);
}

static void is_file(const char *path, const char *text) {
    char got[64] = "";
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(got, sizeof got, file));
    fclose(file);
    assert_string_equal(got, text);
}

/* The old file stays until all of the new one is written; what fitted of it is a valid file beside it. */
static void a_full_disk_keeps_the_old_file(void **state) {
    (void)state;
    static const uint32_t steps[] = {33};
    static const char *const formats[] = {"rsct", "csv", "din"};
    struct whole_trace trace = scattered_trace(1000, 4);
    for (int f = 0; f < 3; f++) {
        char path[600], partial[620], before[620];
        struct rsc_trace_writer_options options = whole_options(formats[f], 50);
        snprintf(path, sizeof path, "%s", scratch_path("disk"));
        snprintf(partial, sizeof partial, "%s.partial2", path);
        snprintf(before, sizeof before, "%s.partial", path);
        whole_write(&trace, path, &options, NULL, 0);
        put_file(before, "what an earlier one left"); /* it stays too */
        uint64_t whole = file_bytes(path), last = 0, kept = 0;
        for (uint64_t disk = 0; disk < whole + 97; disk += 97) {
            put_file(path, "an old trace");
            unlink(partial);
            options.keep_partial = disk % 3 == 0;
            int status = write_on_small_disk(&trace, path, disk, &options, disk % 2 ? steps : NULL);
            is_file(before, "what an earlier one left");
            assert_int_equal(status, disk >= whole ? 0 : 2);
            if (status == 2) is_file(path, "an old trace");
            const char *left = status == 0 ? path : partial;
            if (access(left, F_OK)) continue; /* nothing fitted */
            assert_true(file_bytes(left) <= disk);
            uint64_t count = f ? text_begins_like(left, &trace) : assert_begins_like(left, &trace);
            assert_true(count >= last && (f || count % 50 == 0));
            if (status == 2) assert_true(count > 0 && count < trace.count);
            kept += status == 2;
            last = count;
        }
        assert_int_equal(last, trace.count);
        assert_true(f || kept > 10);
        unlink(before);
    }
    whole_free(&trace);
}

static void a_full_device_is_an_error(void **state) {
    (void)state;
    struct whole_trace trace = scattered_trace(1000, 1);
    struct rsc_trace_writer_options options = whole_options("rsct", 50);
    struct rsc_trace_writer *writer;
    struct rsc_error error = {0};
    if (access("/dev/full", W_OK)) {
        whole_free(&trace);
        skip();
    }
    assert_int_equal(rsc_trace_writer_open(&writer, "/dev/full", &options, &error), 0);
    assert_int_equal(whole_push(&trace, writer, NULL, 0, &error), RSC_EIO);
    assert_non_null(strstr(error.message, "/dev/full"));
    memset(&error, 0, sizeof error);
    assert_int_equal(rsc_trace_writer_finish(writer, &error), RSC_EIO); /* and not a file without its header */
    assert_non_null(strstr(error.message, "/dev/full"));
    rsc_trace_writer_close(writer);
    whole_free(&trace);
}

/* ---- given up ---- */

static void a_writer_given_up_leaves_nothing(void **state) {
    (void)state;
    struct whole_trace trace = scattered_trace(1000, 1);
    struct rsc_trace_writer_options options = whole_options("rsct", 50);
    struct rsc_trace_writer *writer;
    uint32_t before = files_in_folder();
    assert_int_equal(rsc_trace_writer_open(&writer, scratch_path("given-up.rsct"), &options, NULL), 0);
    rsc_trace_writer_close(writer);
    assert_int_equal(rsc_trace_writer_open(&writer, scratch_path("given-up.rsct"), &options, NULL), 0);
    assert_int_equal(whole_push(&trace, writer, NULL, 0, NULL), 0);
    rsc_trace_writer_close(writer);
    assert_int_equal(files_in_folder(), before);
    rsc_trace_writer_close(NULL);

    /* a file that was there stays as it was */
    scratch_write("old.rsct", "old", 3);
    assert_int_equal(rsc_trace_writer_open(&writer, scratch_path("old.rsct"), &options, NULL), 0);
    assert_int_equal(whole_push(&trace, writer, NULL, 0, NULL), 0);
    rsc_trace_writer_close(writer);
    assert_int_equal(file_bytes(scratch_path("old.rsct")), 3);
    whole_free(&trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_limit_is_passed),
        cmocka_unit_test(late_threads_do_not_pass_the_limit),
        cmocka_unit_test(a_small_limit_is_made_use_of),
        cmocka_unit_test(text_under_a_limit),
        cmocka_unit_test(a_full_disk_keeps_the_old_file),
        cmocka_unit_test(a_full_device_is_an_error),
        cmocka_unit_test(a_writer_given_up_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
