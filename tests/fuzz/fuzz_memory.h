/*
 * fuzz_memory.h - bytes in memory as a trace file, read to the end by one
 * reader.
 *
 * The bytes go to a memory file that is opened again by its name, so that all
 * of the real path is run: open, decompression, reader. Whatever the bytes are,
 * a reader must end with 0 or an error that says something, and every batch it
 * gives must keep the promises of trace.h. LLVMFuzzerTestOneInput() is all that
 * a fuzz target defines: libFuzzer calls it, or a plain main with the files of
 * the corpus.
 */
#ifndef RSC_TESTS_FUZZ_MEMORY_H
#define RSC_TESTS_FUZZ_MEMORY_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz_check.h"
#include "trace/formats/readers.h"

/* Compressed input may stand for far more than itself: enough is enough. */
#define FUZZ_BYTES_MAX (32u << 20)
#define FUZZ_ACCESSES_MAX (4u << 20)

typedef int fuzz_opener(struct rsc_source **out, struct rsc_input *input, const struct rsc_reader_options *options,
                        struct rsc_error *error);
typedef int fuzz_matcher(const unsigned char *head, size_t bytes, int whole);

/* A file that holds `data`. Close with rsc_input_close(); NULL where it cannot be opened. */
static inline struct rsc_input *fuzz_input(const uint8_t *data, size_t bytes) {
    static int fd = -1;
    char path[64];
    struct rsc_input *input = NULL;
    struct rsc_error error = {0};
    if (fd < 0) fd = memfd_create("fuzz", MFD_CLOEXEC);
    FUZZ_CHECK(fd >= 0);
    FUZZ_CHECK(ftruncate(fd, 0) == 0 && pwrite(fd, data, bytes, 0) == (ssize_t)bytes);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int status = rsc_input_open(&input, path, &error);
    FUZZ_CHECK(status == 0 ? input != NULL : error.message[0] != 0);
    return input;
}

static inline void fuzz_check_failure(int status, const struct rsc_error *error) {
    FUZZ_CHECK(status < 0 && error->code == status);
    FUZZ_CHECK(error->message[0] && !strchr(error->message, '\n'));
}

/* Reads every column, so that a sanitizer sees bytes that were never written. */
static inline void fuzz_check_batch(const struct rsc_batch *batch) {
    static volatile uint64_t sink;
    uint64_t sum = 0;
    FUZZ_CHECK((batch->count || batch->event_count) && batch->count <= RSC_BATCH_ACCESSES);
    for (uint32_t i = 0; i < batch->event_count; i++) {
        FUZZ_CHECK(batch->events[i].at <= batch->count && (i == 0 || batch->events[i].at >= batch->events[i - 1].at));
        FUZZ_CHECK(!batch->threads || batch->events[i].thread < batch->thread_count);
    }
    for (uint32_t i = 0; i < batch->count; i++) {
        uint32_t thread = rsc_meta_thread(batch->meta[i]);
        FUZZ_CHECK(rsc_meta_kind(batch->meta[i]) <= RSC_FETCH);
        FUZZ_CHECK(rsc_meta_size(batch->meta[i]) > 0);
        FUZZ_CHECK(batch->threads ? thread < batch->thread_count : thread == 0);
        sum += batch->addr[i] + (batch->pc ? batch->pc[i] : 0) + (batch->threads ? batch->threads[thread].tid : 0);
    }
    sink = sum;
    (void)sink;
    FUZZ_CHECK(batch->instructions == RSC_UNKNOWN || batch->instructions <= batch->count);
}

/* Reads an input, which it closes, to its end. */
static inline void fuzz_read_all(fuzz_opener *open, struct rsc_input *input) {
    const struct rsc_reader_options options = {0};
    struct rsc_source *source = NULL;
    struct rsc_error error = {0};
    struct rsc_batch batch;
    uint64_t accesses = 0;
    int status = open(&source, input, &options, &error);
    if (status == 0) {
        do {
            status = source->ops->next(source, &batch, &error);
            if (status == 1) fuzz_check_batch(&batch);
            if (status == 1) accesses += batch.count;
        } while (status == 1 && accesses < FUZZ_ACCESSES_MAX);
        source->ops->close(source);
    }
    if (status < 0) fuzz_check_failure(status, &error);
    rsc_input_close(input);
}

/* Feeds the bytes to a reader and, where it has one, to the check that recognises its format. */
static inline void fuzz_reader(fuzz_opener *open, fuzz_matcher *matches, const uint8_t *data, size_t bytes) {
    struct rsc_input *input = fuzz_input(data, bytes);
    if (matches && bytes) {
        /* a copy of exactly this size: an over-read is caught */
        unsigned char *head = malloc(bytes);
        FUZZ_CHECK(head != NULL);
        memcpy(head, data, bytes);
        matches(head, bytes, 0);
        matches(head, bytes, 1);
        free(head);
    }
    if (input) fuzz_read_all(open, input);
}

#endif
