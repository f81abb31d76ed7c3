/*
 * test_input.c - plain and compressed bytes come out the same, and what is cut
 * or damaged never comes out as if it were whole.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <lzma.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <zlib.h>
#include <zstd.h>

#include "scratch_folder.h"
#include "trace/formats/input.h"

/* More than any buffer inside, and not too easy to compress. */
#define TEXT_BYTES 1500000u

static unsigned char text[TEXT_BYTES];

static int setup(void **state) {
    uint64_t seed = 1;
    for (size_t i = 0; i < TEXT_BYTES; i++) {
        seed = seed * 6364136223846793005ull + 1442695040888963407ull;
        text[i] = "0123456789abcdef"[seed >> 60];
    }
    return scratch_setup(state);
}

struct bytes {
    unsigned char data[2 * TEXT_BYTES];
    size_t count;
};

typedef void compressor(struct bytes *to, const unsigned char *from, size_t count);

/* Each appends one member or frame. */
static void compress_gzip(struct bytes *to, const unsigned char *from, size_t count) {
    z_stream stream = {0};
    assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_in = (unsigned char *)from;
    stream.avail_in = (uInt)count;
    stream.next_out = to->data + to->count;
    stream.avail_out = (uInt)(sizeof to->data - to->count);
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    to->count += stream.total_out;
    deflateEnd(&stream);
}

static void compress_xz(struct bytes *to, const unsigned char *from, size_t count) {
    assert_int_equal(
        lzma_easy_buffer_encode(0, LZMA_CHECK_CRC64, NULL, from, count, to->data, &to->count, sizeof to->data),
        LZMA_OK);
}

static void compress_zstd(struct bytes *to, const unsigned char *from, size_t count) {
    ZSTD_CCtx *context = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    size_t made = ZSTD_compress2(context, to->data + to->count, sizeof to->data - to->count, from, count);
    assert_false(ZSTD_isError(made));
    to->count += made;
    ZSTD_freeCCtx(context);
}

static void copy_plain(struct bytes *to, const unsigned char *from, size_t count) {
    memcpy(to->data + to->count, from, count);
    to->count += count;
}

static const struct {
    const char *name;
    compressor *compress;
} compressions[] = {{"none", copy_plain}, {"gzip", compress_gzip}, {"xz", compress_xz}, {"zstd", compress_zstd}};

static struct bytes stored, restored;

/* Reads a file to its end in pieces of `piece` bytes. Returns the last status: 0, or negative. */
static int read_all(const char *path, size_t piece, struct rsc_error *error) {
    struct rsc_input *input;
    int64_t got = rsc_input_open(&input, path, error);
    restored.count = 0;
    if (got < 0) return (int)got;
    do {
        assert_int_equal(rsc_input_offset(input), restored.count);
        got = rsc_input_read(input, restored.data + restored.count, piece, error);
        if (got > 0) restored.count += (size_t)got;
    } while (got == (int64_t)piece);
    if (got < 0) {
        struct rsc_error again;
        assert_int_equal(rsc_input_read(input, restored.data, piece, &again), got);
        assert_string_equal(again.message, error->message);
    }
    rsc_input_close(input);
    return got < 0 ? (int)got : 0;
}

static void every_compression_reads_back(void **state) {
    (void)state;
    static const size_t pieces[] = {4093, 65536, 300000, TEXT_BYTES * 2};
    for (size_t i = 0; i < 4; i++) {
        stored.count = 0;
        compressions[i].compress(&stored, text, TEXT_BYTES);
        const char *path = scratch_write("whole", stored.data, stored.count);
        for (size_t p = 0; p < 4; p++) {
            struct rsc_error error;
            assert_int_equal(read_all(path, pieces[p], &error), 0);
            assert_int_equal(restored.count, TEXT_BYTES);
            assert_memory_equal(restored.data, text, TEXT_BYTES);
        }
        struct rsc_input *input;
        assert_int_equal(rsc_input_open(&input, path, NULL), 0);
        assert_string_equal(rsc_input_compression(input), compressions[i].name);
        assert_string_equal(rsc_input_name(input), path);
        assert_int_equal(rsc_input_file_bytes(input), stored.count);
        assert_int_equal(rsc_input_seekable(input), i == 0);
        rsc_input_close(input);
    }
}

static void concatenated_members_read_as_one(void **state) {
    (void)state;
    struct rsc_error error;
    for (size_t i = 0; i < 4; i++) {
        stored.count = 0;
        compressions[i].compress(&stored, text, 1000);
        compressions[i].compress(&stored, text, 0);
        compressions[i].compress(&stored, text + 1000, TEXT_BYTES - 1000);
        assert_int_equal(read_all(scratch_write("joined", stored.data, stored.count), 70000, &error), 0);
        assert_int_equal(restored.count, TEXT_BYTES);
        assert_memory_equal(restored.data, text, TEXT_BYTES);
    }
}

static void padding_and_skippable_frames_are_passed(void **state) {
    (void)state;
    struct rsc_error error;
    stored.count = 0;
    compress_gzip(&stored, text, 5000);
    memset(stored.data + stored.count, 0, 512);
    stored.count += 512;
    assert_int_equal(read_all(scratch_write("padded.gz", stored.data, stored.count), 70000, &error), 0);
    assert_int_equal(restored.count, 5000);

    memcpy(stored.data, "\x5a\x2a\x4d\x18\x03\0\0\0abc", 11);
    stored.count = 11;
    compress_zstd(&stored, text, 5000);
    assert_int_equal(read_all(scratch_write("skip.zst", stored.data, stored.count), 70000, &error), 0);
    assert_int_equal(restored.count, 5000);
}

static void a_cut_file_says_where(void **state) {
    (void)state;
    for (size_t i = 1; i < 4; i++) {
        stored.count = 0;
        compressions[i].compress(&stored, text, 20000);
        size_t whole = stored.count;
        const size_t cuts[] = {whole - 1, whole - 9, whole / 2, 20, 7};
        for (size_t c = 0; c < 5; c++) {
            struct rsc_error error;
            char expected[64];
            const char *path = scratch_write("cut", stored.data, cuts[c]);
            assert_int_equal(read_all(path, 4096, &error), RSC_EFORMAT);
            snprintf(expected, sizeof expected, ": %s data is cut at byte %zu of the file", compressions[i].name,
                     cuts[c]);
            assert_non_null(strstr(error.message, expected));
            assert_int_equal(strncmp(error.message, path, strlen(path)), 0);
            assert_int_equal(error.offset, cuts[c]);
        }
    }
}

static void a_damaged_file_is_an_error(void **state) {
    (void)state;
    for (size_t i = 1; i < 4; i++) {
        struct rsc_error error;
        stored.count = 0;
        compressions[i].compress(&stored, text, 20000);
        stored.data[stored.count / 2] ^= 0x55;
        assert_int_equal(read_all(scratch_write("damaged", stored.data, stored.count), 4096, &error), RSC_EFORMAT);
        assert_non_null(strstr(error.message, " data is damaged near byte "));

        stored.count = 0;
        compressions[i].compress(&stored, text, 20000);
        copy_plain(&stored, (const unsigned char *)"not compressed", 14);
        assert_int_equal(read_all(scratch_write("garbage", stored.data, stored.count), 4096, &error), RSC_EFORMAT);
        assert_non_null(strstr(error.message, " data is damaged near byte "));
    }
}

static void peek_takes_nothing(void **state) {
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        const unsigned char *seen;
        unsigned char taken[3000];
        struct rsc_input *input;
        stored.count = 0;
        compressions[i].compress(&stored, text, 100000);
        assert_int_equal(rsc_input_open(&input, scratch_write("peek", stored.data, stored.count), NULL), 0);
        assert_true(rsc_input_peek(input, 10, &seen, NULL) >= 10);
        assert_memory_equal(seen, text, 10);
        assert_int_equal(rsc_input_read(input, taken, sizeof taken, NULL), sizeof taken);
        assert_memory_equal(taken, text, sizeof taken);
        assert_true(rsc_input_peek(input, RSC_INPUT_PEEK_MAX, &seen, NULL) >= RSC_INPUT_PEEK_MAX);
        assert_memory_equal(seen, text + sizeof taken, RSC_INPUT_PEEK_MAX);
        assert_int_equal(rsc_input_offset(input), sizeof taken);
        assert_int_equal(rsc_input_read(input, restored.data, TEXT_BYTES, NULL), 100000 - sizeof taken);
        assert_int_equal(rsc_input_peek(input, 1, &seen, NULL), 0);
        assert_int_equal(rsc_input_peek(input, RSC_INPUT_PEEK_MAX + 1, &seen, NULL), RSC_EINVAL);
        rsc_input_close(input);
    }
}

static void plain_files_seek_and_compressed_ones_do_not(void **state) {
    (void)state;
    struct rsc_input *input;
    struct rsc_error error;
    unsigned char piece[100];
    assert_int_equal(rsc_input_open(&input, scratch_write("plain", text, TEXT_BYTES), NULL), 0);
    static const uint64_t places[] = {700000, 0, TEXT_BYTES - 100, 12345};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(rsc_input_seek(input, places[i], &error), 0);
        assert_int_equal(rsc_input_offset(input), places[i]);
        assert_int_equal(rsc_input_read(input, piece, sizeof piece, &error), sizeof piece);
        assert_memory_equal(piece, text + places[i], sizeof piece);
    }
    assert_int_equal(rsc_input_seek(input, TEXT_BYTES + 10, &error), 0);
    assert_int_equal(rsc_input_read(input, piece, sizeof piece, &error), 0);
    assert_int_equal(rsc_input_seek(input, UINT64_MAX, &error), RSC_EINVAL);
    rsc_input_close(input);

    stored.count = 0;
    compress_gzip(&stored, text, 100);
    assert_int_equal(rsc_input_open(&input, scratch_write("packed", stored.data, stored.count), NULL), 0);
    assert_int_equal(rsc_input_seek(input, 0, &error), RSC_EUNSUPPORTED);
    rsc_input_close(input);
}

static void short_and_empty_files_are_plain(void **state) {
    (void)state;
    struct rsc_error error;
    assert_int_equal(read_all(scratch_write("empty", "", 0), 100, &error), 0);
    assert_int_equal(restored.count, 0);
    assert_int_equal(read_all(scratch_write("short", "\x1f\x8b", 2), 100, &error), 0);
    assert_int_equal(restored.count, 2);
}

static void what_cannot_be_opened_is_said_in_one_line(void **state) {
    (void)state;
    struct rsc_input *input;
    struct rsc_error error;
    assert_int_equal(rsc_input_open(&input, scratch_path("missing"), &error), RSC_EIO);
    assert_non_null(strstr(error.message, "missing: No such file or directory"));
    assert_null(strchr(error.message, '\n'));
    assert_null(input);
    assert_int_equal(rsc_input_open(&input, scratch_folder, &error), RSC_EIO);
    assert_non_null(strstr(error.message, ": Is a directory"));
    assert_int_equal(rsc_input_open(&input, scratch_path("missing"), NULL), RSC_EIO);
    if (geteuid() != 0) {
        const char *path = scratch_write("secret", "x", 1);
        assert_int_equal(chmod(path, 0), 0);
        assert_int_equal(rsc_input_open(&input, path, &error), RSC_EIO);
        assert_non_null(strstr(error.message, "secret: Permission denied"));
    }
    rsc_input_close(NULL);
}

/* A pipe hands over a few bytes at a time and is not ready at first; standard input may be either. */
static void standard_input_may_be_a_pipe(void **state) {
    (void)state;
    int ends[2], kept = dup(STDIN_FILENO);
    struct rsc_error error;
    stored.count = 0;
    compress_zstd(&stored, text, 3000);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
    assert_true(dup2(ends[0], STDIN_FILENO) == STDIN_FILENO);
    close(ends[0]);
    pid_t child = fork();
    if (child == 0) {
        for (size_t i = 0; i < stored.count; i++)
            if (write(ends[1], stored.data + i, 1) != 1) _exit(1);
        _exit(0);
    }
    close(ends[1]);
    struct rsc_input *input;
    assert_int_equal(rsc_input_open(&input, "-", &error), 0);
    assert_string_equal(rsc_input_name(input), "standard input");
    assert_true(rsc_input_file_bytes(input) == UINT64_MAX);
    assert_int_equal(rsc_input_read(input, restored.data, TEXT_BYTES, &error), 3000);
    assert_memory_equal(restored.data, text, 3000);
    rsc_input_close(input);
    assert_int_equal(waitpid(child, NULL, 0), child);
    dup2(kept, STDIN_FILENO);
    close(kept);
}

static void standard_input_starts_where_it_stands(void **state) {
    (void)state;
    int kept = dup(STDIN_FILENO), file = open(scratch_write("plain", text, 2000), O_RDONLY);
    struct rsc_input *input;
    dup2(file, STDIN_FILENO);
    close(file);
    lseek(STDIN_FILENO, 500, SEEK_SET);
    assert_int_equal(rsc_input_open(&input, "-", NULL), 0);
    assert_int_equal(rsc_input_file_bytes(input), 1500);
    assert_int_equal(rsc_input_seek(input, 100, NULL), 0);
    assert_int_equal(rsc_input_read(input, restored.data, 5000, NULL), 1400);
    assert_memory_equal(restored.data, text + 600, 1400);
    rsc_input_close(input);
    dup2(kept, STDIN_FILENO);
    close(kept);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_compression_reads_back),
        cmocka_unit_test(concatenated_members_read_as_one),
        cmocka_unit_test(padding_and_skippable_frames_are_passed),
        cmocka_unit_test(a_cut_file_says_where),
        cmocka_unit_test(a_damaged_file_is_an_error),
        cmocka_unit_test(peek_takes_nothing),
        cmocka_unit_test(plain_files_seek_and_compressed_ones_do_not),
        cmocka_unit_test(short_and_empty_files_are_plain),
        cmocka_unit_test(what_cannot_be_opened_is_said_in_one_line),
        cmocka_unit_test(standard_input_may_be_a_pipe),
        cmocka_unit_test(standard_input_starts_where_it_stands),
    };
    return cmocka_run_group_tests(tests, setup, scratch_teardown);
}
