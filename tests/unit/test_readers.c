/*
 * test_readers.c - the text formats and raw64: what each line becomes, what is
 * refused and with which words, which file is taken for which format, and that
 * what the text writers write is read back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include "scratch_folder.h"
#include "trace/formats/readers.h"
#include "trace/formats/writer_text.h"

#define KEPT_MAX 200000u

/* A whole trace, as the batches of a reader gave it. */
static struct kept {
    uint32_t count, batches;
    uint64_t addr[KEPT_MAX], meta[KEPT_MAX], pc[KEPT_MAX];
    uint64_t instructions; /* of the last batch */
    int has_pc;
    struct rsc_thread threads[16];
    uint32_t thread_count;
    int status;
    struct rsc_error error;
    char logged[512];
} kept;

typedef int opener(struct rsc_source **out, struct rsc_input *input, const struct rsc_reader_options *options,
                   struct rsc_error *error);

static void keep_log(void *user, enum rsc_log_level level, const char *line) {
    (void)user;
    (void)level;
    assert_string_equal(kept.logged, "");
    snprintf(kept.logged, sizeof kept.logged, "%s", line);
}

static void keep_batch(const struct rsc_batch *batch) {
    assert_in_range(batch->count, 1, RSC_BATCH_ACCESSES);
    assert_true(kept.count + batch->count <= KEPT_MAX);
    memcpy(kept.addr + kept.count, batch->addr, batch->count * sizeof *batch->addr);
    memcpy(kept.meta + kept.count, batch->meta, batch->count * sizeof *batch->meta);
    if (batch->pc) memcpy(kept.pc + kept.count, batch->pc, batch->count * sizeof *batch->pc);
    kept.has_pc = batch->pc != NULL;
    kept.count += batch->count;
    kept.batches++;
    kept.instructions = batch->instructions;
    kept.thread_count = batch->thread_count;
    assert_true(batch->thread_count <= 16);
    if (batch->threads) memcpy(kept.threads, batch->threads, batch->thread_count * sizeof *batch->threads);
}

static void read_file(opener *open, const char *path) {
    static const struct rsc_log log = {keep_log, NULL};
    const struct rsc_reader_options options = {.log = &log};
    struct rsc_source *source;
    struct rsc_input *input;
    struct rsc_batch batch;
    memset(&kept, 0, sizeof kept);
    assert_int_equal(rsc_input_open(&input, path, &kept.error), 0);
    kept.status = open(&source, input, &options, &kept.error);
    if (kept.status == 0) {
        while ((kept.status = source->ops->next(source, &batch, &kept.error)) == 1) keep_batch(&batch);
        source->ops->close(source);
    }
    rsc_input_close(input);
}

static void read_bytes(opener *open, const void *bytes, size_t count) {
    read_file(open, scratch_write("trace", bytes, count));
}

static void read_text(opener *open, const char *text) { read_bytes(open, text, strlen(text)); }

static void assert_access(uint32_t i, uint64_t addr, uint32_t size, enum rsc_kind kind) {
    assert_true(i < kept.count);
    assert_true(kept.addr[i] == addr);
    assert_int_equal(rsc_meta_size(kept.meta[i]), size);
    assert_int_equal(rsc_meta_kind(kept.meta[i]), kind);
}

static void assert_failed(uint32_t line, uint64_t offset, const char *part) {
    assert_int_equal(kept.status, RSC_EFORMAT);
    assert_int_equal(kept.error.code, RSC_EFORMAT);
    assert_int_equal(kept.error.line, line);
    assert_int_equal(kept.error.offset, offset);
    if (!strstr(kept.error.message, part)) fail_msg("\"%s\" is not in \"%s\"", part, kept.error.message);
}

/* ---- din ---- */

static void din_reads_every_spelling(void **state) {
    (void)state;
    read_text(rsc_din_open, "# made by hand\n"
                            "0 7fff1234\n"
                            "1 0x7FFFDEADBEEF  8 and more\r\n"
                            "\n"
                            " \t2\t0\n"
                            "0 ffffffffffffffff\n"
                            "2 00000abc\n");
    assert_int_equal(kept.status, 0);
    assert_int_equal(kept.count, 5);
    assert_access(0, 0x7fff1234, 1, RSC_READ);
    assert_access(1, 0x7fffdeadbeef, 1, RSC_WRITE);
    assert_access(2, 0, 1, RSC_FETCH);
    assert_access(3, UINT64_MAX, 1, RSC_READ);
    assert_access(4, 0xabc, 1, RSC_FETCH);
    assert_int_equal(kept.instructions, 2);
    assert_int_equal(kept.thread_count, 0);
    assert_false(kept.has_pc);
    assert_string_equal(kept.logged, "");
}

static void din_without_fetches_has_no_instruction_count(void **state) {
    (void)state;
    read_text(rsc_din_open, "0 10\n1 20\n");
    assert_true(kept.instructions == RSC_UNKNOWN);
}

static void din_escapes_are_counted(void **state) {
    (void)state;
    read_text(rsc_din_open, "0 10\n3 0\n4\n4 0 flush\n1 20\n");
    assert_int_equal(kept.status, 0);
    assert_int_equal(kept.count, 2);
    assert_non_null(strstr(kept.logged, "3 escape or flush lines"));
}

static void din_refuses_what_is_no_din(void **state) {
    (void)state;
    static const char *const bad[] = {"5 10",  "0",      "0 ",   "0 xyz", "0 0x",    "0 12g",
                                      "00 12", "0,1234", "read", "0 -1",  " L 10,8", "1 12345678123456781"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[64], found[64];
        snprintf(text, sizeof text, "0 10\n1 20\n%s\n0 30\n", bad[i]);
        read_text(rsc_din_open, text);
        assert_failed(3, 10, "trace: line 3 (byte 10): expected \"0|1|2 ADDRESS\" (din)");
        snprintf(found, sizeof found, "found \"%s\"", bad[i]);
        assert_non_null(strstr(kept.error.message, found));
        assert_int_equal(kept.count, 2); /* what came before is handed on */
    }
}

static void messages_show_little_of_a_bad_line(void **state) {
    (void)state;
    char text[200];
    memset(text, 'z', sizeof text);
    read_bytes(rsc_din_open, text, sizeof text);
    assert_failed(1, 0, "found \"zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz...\"");
}

static void many_lines_cross_blocks_and_batches(void **state) {
    (void)state;
    enum { LINES = 150000 };
    FILE *file = fopen(scratch_path("long.din"), "w");
    for (uint64_t i = 0; i < LINES; i++) fprintf(file, "%d %" PRIx64 "\n", (int)(i % 3), i * i * i * 977);
    fputs("6 0\n", file);
    fclose(file);
    read_file(rsc_din_open, scratch_path("long.din"));
    assert_int_equal(kept.count, LINES);
    assert_in_range(kept.batches, (LINES + RSC_BATCH_ACCESSES - 1) / RSC_BATCH_ACCESSES, LINES / 8192);
    for (uint64_t i = 0; i < LINES; i++) assert_access((uint32_t)i, i * i * i * 977, 1, (enum rsc_kind)(i % 3));
    assert_int_equal(kept.status, RSC_EFORMAT);
    assert_int_equal(kept.error.line, LINES + 1);
}

/* ---- what all text readers share ---- */

static void lines_without_end_are_refused(void **state) {
    (void)state;
    static char text[400000];
    memset(text, ' ', sizeof text);
    memcpy(text, "0 10\n0 20", 9);
    read_bytes(rsc_din_open, text, sizeof text);
    assert_failed(2, 5, "a line of more than 64 KiB");
    assert_int_equal(kept.count, 1);

    text[80000] = '\n'; /* the same within one block */
    read_bytes(rsc_din_open, text, 90000);
    assert_failed(2, 5, "a line of more than 64 KiB");
    assert_int_equal(kept.count, 1);

    memcpy(text, "addr\n16\n", 8);
    read_bytes(rsc_csv_open, text, 90000);
    assert_failed(3, 8, "a line of more than 64 KiB");

    memcpy(text, " L 10,8\n", 8);
    read_bytes(rsc_lackey_open, text, 90000);
    assert_failed(2, 8, "a line of more than 64 KiB");

    text[60000] = '\n'; /* long, but not too long */
    read_bytes(rsc_lackey_open, text, 60001);
    assert_int_equal(kept.status, 0);
    assert_int_equal(kept.count, 1);
}

static void nul_bytes_are_refused(void **state) {
    (void)state;
    read_bytes(rsc_din_open, "0 10\n0 20 \0\n0 30\n", 17);
    assert_failed(2, 5, "a NUL byte in a line (din)");
    assert_int_equal(kept.count, 1);
    read_bytes(rsc_csv_open, "addr\n16\n32\0\n", 12);
    assert_failed(3, 8, "a NUL byte in a line (csv)");
    assert_int_equal(kept.count, 1);
    read_bytes(rsc_lackey_open, "I  10,4\n\0", 9);
    assert_failed(2, 8, "a NUL byte in a line (lackey)");
    assert_int_equal(kept.count, 1);
}

/* ---- lackey ---- */

static void lackey_reads_all_four_kinds(void **state) {
    (void)state;
    read_text(rsc_lackey_open, "==123== Lackey, an example Valgrind tool\n"
                               " L 1fff000600,16\n"
                               "I  0401ab70,3\n"
                               " S 1fff000688,8\r\n"
                               "--123-- a warning\n"
                               " M 0421ac10,4\n"
                               "I  0401ab73,15\n"
                               " L 04,4294967295\n"
                               "==123== \n"
                               "==123== Exit code:       0\n");
    assert_int_equal(kept.status, 0);
    assert_int_equal(kept.count, 7);
    assert_access(0, 0x1fff000600, 16, RSC_READ);
    assert_access(1, 0x401ab70, 3, RSC_FETCH);
    assert_access(2, 0x1fff000688, 8, RSC_WRITE);
    assert_access(3, 0x421ac10, 4, RSC_READ);
    assert_access(4, 0x421ac10, 4, RSC_WRITE);
    assert_access(5, 0x401ab73, 15, RSC_FETCH);
    assert_access(6, 4, UINT32_MAX, RSC_READ);
    static const uint64_t pcs[] = {0, 0x401ab70, 0x401ab70, 0x401ab70, 0x401ab70, 0x401ab73, 0x401ab73};
    assert_true(kept.has_pc);
    assert_memory_equal(kept.pc, pcs, sizeof pcs);
    assert_int_equal(kept.instructions, 2);
    assert_string_equal(kept.logged, "");
}

static void lackey_skips_and_counts_the_programs_output(void **state) {
    (void)state;
    read_text(rsc_lackey_open, "I  0401ab70,3\nhello, world\n\nI am at 0401ab70,3\n L look\n S \"x\",0\nI  am\n"
                               "L  12,4\nI\n L\n total 12345678,4\n S 12,4\n");
    assert_int_equal(kept.status, 0);
    assert_int_equal(kept.count, 2);
    assert_access(1, 0x12, 4, RSC_WRITE);
    assert_non_null(strstr(kept.logged, ": skipped 9 lines that are not lackey's"));
}

static void lackey_refuses_accesses_in_part(void **state) {
    (void)state;
    static const char *const bad[] = {
        " L 12",
        " S 12,0",
        " M 12,99999999999",
        " S 0401ab70,4x",
        " S 12345678123456781,1",
        "I  ",
        "I  0401ab",
        "I  0401,",
        "I  0401ab70,3 L 10,8",
        "I  0401?b70,3",
        "I  0401ab70,",
        "J  0401ab70,3",
        "I .0401ab70,3",
        "?L 1fff000680,8",
        "hello I  0401ab70,3",
        "hello L 1fff000680,8",
        "result: 12 S 0401ab70,16\r",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[128];
        snprintf(text, sizeof text, "I  0401ab70,3\n%s\nI  0401ab73,3\n", bad[i]);
        read_text(rsc_lackey_open, text);
        if (kept.status != RSC_EFORMAT) fail_msg("\"%s\" was not refused", bad[i]);
        assert_failed(2, 14, "an access that is cut or mixed with other text");
        assert_int_equal(kept.count, 1);
    }
}

static void a_cut_inside_a_line_is_an_error(void **state) {
    (void)state;
    static const char lackey[] = "I  0401ab70,3\n L 1fff000680,16\n==1== \n";
    static const char din[] = "0 1234\n1 5678 more\n2 9abc\n";
    /* In both: the characters after the last newline. Of a line of lackey's the first ones may be the program's. */
    size_t part = 0, line = 1;
    for (size_t cut = 1; cut < sizeof lackey - 1; cut++) {
        read_bytes(rsc_lackey_open, lackey, cut);
        part = lackey[cut - 1] == '\n' ? 0 : part + 1;
        line += !part;
        assert_int_equal(kept.status, cut < 14 || part >= (line < 3 ? 3u : 5u) ? RSC_EFORMAT : 0);
    }
    read_text(rsc_lackey_open, "I  0401ab70,3\n L 1fff000680,1");
    assert_failed(0, 29, "trace: cut at byte 29, inside a line (lackey)");
    part = 0, line = 1;
    for (size_t cut = 1; cut < sizeof din - 1; cut++) {
        read_bytes(rsc_din_open, din, cut);
        part = din[cut - 1] == '\n' ? 0 : part + 1;
        line += !part;
        assert_int_equal(kept.status, part && (line != 2 || part <= 6) ? RSC_EFORMAT : 0);
    }
    read_text(rsc_din_open, "0 1234\n1 56");
    assert_failed(0, 11, "trace: cut at byte 11, inside a line (din)");
    read_text(rsc_csv_open, "addr\n16\n1");
    assert_int_equal(kept.count, 2);
    assert_non_null(strstr(kept.logged, "no newline at the end: the last line may be cut (csv)"));
}

/* With valgrind's opening, its summary must be there to its last line, after the last access. */
static void lackey_cut_at_the_end_of_a_line_is_an_error(void **state) {
    (void)state;
    static const char whole[] = "==1== Lackey, an example Valgrind tool\n"
                                "==1== \n"
                                "I  0401ab70,3\n"
                                "==1== Warning: set address range perms\n"
                                " L 1fff000680,16\n"
                                "==1== \n"
                                "==1== Counted 1 call to main()\n"
                                "==1== Exit code:       0\n";
    size_t lines = 0;
    for (size_t cut = 0; cut < sizeof whole - 1; cut++) {
        if (whole[cut] != '\n' || ++lines < 3) continue;
        read_bytes(rsc_lackey_open, whole, cut + 1);
        assert_int_equal(kept.status, lines == 8 ? 0 : RSC_EFORMAT);
        if (lines != 4) continue;
        assert_non_null(strstr(kept.error.message, "trace: cut: valgrind's summary is missing after line 4 "));
        assert_int_equal(kept.count, 1);
    }
    /* the program may print after it; a child's summary is not the end */
    read_text(rsc_lackey_open, "==1== Lackey\nI  0401ab70,3\n==1== Exit code:       0\nbye\n");
    assert_int_equal(kept.status, 0);
    read_text(rsc_lackey_open, "==1== Lackey\nI  0401ab70,3\n==2== Exit code:       0\nI  0401ab73,3\n");
    assert_int_equal(kept.status, RSC_EFORMAT);
    /* valgrind -q */
    read_text(rsc_lackey_open, "I  0401ab70,3\n==1== Warning: client switching stacks?\nI  0401ab73,3\n");
    assert_int_equal(kept.status, 0);
}

static void lackey_without_accesses_is_an_error(void **state) {
    (void)state;
    read_text(rsc_lackey_open, "==1== Lackey\nhello\n0 1234\n");
    assert_int_equal(kept.status, RSC_EFORMAT);
    assert_non_null(strstr(kept.error.message, "trace: none of its 3 lines matches"));
}

static void modifies_never_split_a_batch(void **state) {
    (void)state;
    FILE *file = fopen(scratch_path("m.lackey"), "w");
    fputs("I  0,1\n", file);
    for (uint64_t i = 1; i <= 40000; i++) fprintf(file, " M %08" PRIx64 ",8\n", i << 20);
    fclose(file);
    read_file(rsc_lackey_open, scratch_path("m.lackey"));
    assert_int_equal(kept.count, 80001);
    for (uint64_t i = 1; i <= 40000; i++) {
        assert_access((uint32_t)(2 * i - 1), i << 20, 8, RSC_READ);
        assert_access((uint32_t)(2 * i), i << 20, 8, RSC_WRITE);
    }
}

/* ---- csv ---- */

static void csv_reads_columns_by_name(void **state) {
    (void)state;
    read_text(rsc_csv_open, "# a comment\n"
                            "when, Kind ,tid,\"addr\",note,size,pid,pc\r\n"
                            "1,R,100,0x7fff1234,\"a,b\",8,7,0x401000\r\n"
                            "\n"
                            "2, w ,100, \"4096\" ,,,7,4198400\r\n"
                            "3,fetch,101,18446744073709551615,\"say \"\"x\"\"\",4294967295,7,\r\n"
                            "4,,,0XFF,z,0x10,,0");
    assert_int_equal(kept.status, 0);
    assert_int_equal(kept.count, 4);
    assert_access(0, 0x7fff1234, 8, RSC_READ);
    assert_access(1, 4096, 1, RSC_WRITE);
    assert_access(2, UINT64_MAX, UINT32_MAX, RSC_FETCH);
    assert_access(3, 0xff, 16, RSC_READ);
    static const uint64_t pcs[] = {0x401000, 0x401000, 0, 0};
    assert_memory_equal(kept.pc, pcs, sizeof pcs);
    static const struct rsc_thread threads[] = {{7, 100}, {7, 101}, {0, 0}};
    assert_int_equal(kept.thread_count, 3);
    assert_memory_equal(kept.threads, threads, sizeof threads);
    static const uint32_t numbers[] = {0, 0, 1, 2};
    for (uint32_t i = 0; i < 4; i++) assert_int_equal(rsc_meta_thread(kept.meta[i]), numbers[i]);
    assert_int_equal(kept.instructions, 1);
}

static void csv_takes_other_separators(void **state) {
    (void)state;
    read_text(rsc_csv_open, "addr;size\n1;2\n");
    assert_access(0, 1, 2, RSC_READ);
    assert_false(kept.has_pc);
    assert_int_equal(kept.thread_count, 0);
    read_text(rsc_csv_open, "size\taddr\tkind\n\t1\tI\n");
    assert_int_equal(kept.status, 0);
    assert_access(0, 1, 1, RSC_FETCH);
    read_text(rsc_csv_open, "\xef\xbb\xbf"
                            "addr\n12\n");
    assert_access(0, 12, 1, RSC_READ);
    read_text(rsc_csv_open, "addr,size");
    assert_int_equal(kept.status, 0);
    assert_int_equal(kept.count, 0);
}

static void csv_says_what_is_wrong(void **state) {
    (void)state;
    static const struct {
        const char *line, *problem;
    } bad[] = {
        {"7fff12,1,R", "hexadecimal digits need a leading 0x"},
        {"ff,1,R", "hexadecimal digits need a leading 0x"},
        {"0x,1,R", "0x without digits"},
        {"0x12345678123456781,1,R", "number exceeds 64 bits"},
        {"18446744073709551616,1,R", "number exceeds 64 bits"},
        {"-1,1,R", "expected a number"},
        {",1,R", "no value for addr"},
        {"1,4294967296,R", "size must be at most 4294967295 bytes"},
        {"1,1,X", "expected a kind: R, W or I"},
        {"1,1,reads", "expected a kind: R, W or I"},
        {"1,1", "fewer values than there are columns"},
        {"1,1,R,", "more values than there are columns"},
        {"1 2,1,R", "unexpected text after a value"},
        {"\"1,1,R", "unexpected text after a value"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[128];
        snprintf(text, sizeof text, "addr,size,kind\n1,1,R\n%s\n", bad[i].line);
        read_text(rsc_csv_open, text);
        assert_failed(3, 21, bad[i].problem);
        assert_int_equal(kept.count, 1);
    }
    read_text(rsc_csv_open, "address,size\n1,2\n");
    assert_failed(1, 0, "the first line must name the columns, including addr (csv)");
    read_text(rsc_csv_open, "addr,ADDR\n1,2\n");
    assert_failed(1, 0, "the header names a column twice");
    read_text(rsc_csv_open, "\n# nothing\n");
    assert_failed(3, 11, "no header that names the columns");
}

/* Reads text with --columns. */
static void read_columns(const char *text, const char *columns) {
    const struct rsc_reader_options options = {.columns = columns};
    struct rsc_source *source;
    struct rsc_input *input;
    struct rsc_batch batch;
    memset(&kept, 0, sizeof kept);
    assert_int_equal(rsc_input_open(&input, scratch_write("trace", text, strlen(text)), &kept.error), 0);
    kept.status = rsc_csv_open(&source, input, &options, &kept.error);
    if (kept.status == 0) {
        while ((kept.status = source->ops->next(source, &batch, &kept.error)) == 1) keep_batch(&batch);
        source->ops->close(source);
    }
    rsc_input_close(input);
}

static void columns_are_given_by_number_or_name(void **state) {
    (void)state;
    static const struct {
        const char *text, *columns;
    } same[] = {
        {"17,load,0x40,8\n18,store,0x80,4\n", "kind=2,addr=3,size=4"},
        {"17,load,40,8\n18,store,80,4\n", "size=4,addr=3:hex,kind=2"},
        {"time,op,where,bytes\n17,load,64,8\n18,store,128,4\n", "kind=2,addr=3,size=4"},
        {"time,op,where,bytes\n17,load,64,8\n18,store,128,4\n", "kind=OP,addr=where,size=4"},
        {"  17   r 64 8 more\n18 w\t128 4\n", "kind=2,addr=3,size=4"},
        {"# a comment\n\n\"a;b\";R;\"64\";8;9\n;W;128;4\n", "kind=2,addr=3,size=4"},
        {"x\tR\t64\t8\nx\tW\t128\t4", "kind=2,addr=3,size=4"},
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        read_columns(same[i].text, same[i].columns);
        if (kept.status) fail_msg("%s", kept.error.message);
        assert_int_equal(kept.count, 2);
        assert_access(0, 64, 8, RSC_READ);
        assert_access(1, 128, 4, RSC_WRITE);
    }
    read_columns("1 2 3 4\n", "addr=1,pc=2,tid=3,pid=4");
    assert_int_equal(kept.status, 0);
    assert_true(kept.has_pc && kept.pc[0] == 2 && kept.threads[0].tid == 3 && kept.threads[0].pid == 4);
    static const struct {
        const char *text, *columns, *problem;
    } bad[] = {
        {"1,2\n", "addr=3", "fewer columns than --columns asks for"},
        {"1,2\n3\n", "addr=1,size=2", "fewer values than there are columns"},
        {"1,2\n", "addr=where", "does not have all names that --columns gives"},
        {"1,2\n", "addr=1,size=1", "a column is given twice"},
        {"12x,2\n", "addr=1", "unexpected text after a value"}, /* begins with a figure: not a header */
        {"name\nother\n", "addr=1", "expected a number"},
        {"name\n0x\n", "addr=1:hex", "0x without digits"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        read_columns(bad[i].text, bad[i].columns);
        assert_int_equal(kept.status, RSC_EFORMAT);
        if (!strstr(kept.error.message, bad[i].problem)) fail_msg("%s", kept.error.message);
    }
    static const char *const refused[] = {
        "",         "size=1",   "addr",       "addr=",          "addr=0",
        "addr=257", "addr=1,,", "addr=1,x=2", "addr=-1,addr=2", "addr=1:hex,kind=2:hex",
        "addr=:hex"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        read_columns("1\n", refused[i]);
        if (kept.status != RSC_EINVAL) fail_msg("%s was not refused", refused[i]);
    }
}

static void lists_are_addresses_with_and_without_kinds(void **state) {
    (void)state;
    read_text(rsc_list_open, "# addresses\n4096\n\n 0x1040\n64\r\n");
    assert_int_equal(kept.status, 0);
    assert_int_equal(kept.count, 3);
    assert_access(0, 4096, 1, RSC_READ);
    assert_access(1, 0x1040, 1, RSC_READ);
    assert_access(2, 64, 1, RSC_READ);
    read_text(rsc_list_open, "1000\n10c0\n0x1000\n"); /* one letter: all of them are hexadecimal */
    assert_access(0, 0x1000, 1, RSC_READ);
    assert_access(1, 0x10c0, 1, RSC_READ);
    read_text(rsc_list_open, "r 0x1000 8\ns 0x1040 4\nWrite 10 2\nI 0x20 16\nload 0x30 1\n");
    assert_int_equal(kept.status, 0);
    assert_int_equal(kept.count, 5);
    assert_access(0, 0x1000, 8, RSC_READ);
    assert_access(1, 0x1040, 4, RSC_WRITE);
    assert_access(2, 10, 2, RSC_WRITE);
    assert_access(3, 0x20, 16, RSC_FETCH);
    assert_access(4, 0x30, 1, RSC_READ);
    read_text(rsc_list_open, "R 7fff0000\nw 7fff0040\n");
    assert_access(0, 0x7fff0000, 1, RSC_READ);
    assert_access(1, 0x7fff0040, 1, RSC_WRITE);
    read_text(rsc_list_open, "1 2\n");
    assert_failed(1, 0, "expected \"[KIND] ADDRESS [SIZE]\" (list)");
    read_text(rsc_list_open, "r 1 2\nw 3\n");
    assert_failed(2, 6, "fewer values than there are columns (list)");
    read_text(rsc_list_open, "r 1 0\n");
    assert_access(0, 1, 1, RSC_READ);
    /* A letter past the opening would have meant that all before it were hexadecimal. */
    FILE *file = fopen(scratch_path("late.list"), "w");
    for (uint32_t i = 0; i < 100000; i++) fprintf(file, "%u\n", i);
    fputs("12ab\n", file);
    fclose(file);
    read_file(rsc_list_open, scratch_path("late.list"));
    assert_int_equal(kept.count, 100000);
    assert_failed(100001, 588890, "hexadecimal digits need a leading 0x");
}

static void threads_are_numbered_as_they_appear(void **state) {
    (void)state;
    struct rsc_thread_table table = {0};
    for (int round = 0; round < 2; round++)
        for (uint64_t i = 0; i < 5000; i++) assert_int_equal(rsc_thread_number(&table, i % 7, i * 64), i);
    assert_int_equal(table.count, 5000);
    assert_int_equal(table.threads[4999].tid, 4999 * 64);
    assert_int_equal(table.threads[4999].pid, 4999 % 7);
    rsc_thread_table_free(&table);
}

/* ---- raw64 ---- */

static void raw64_is_the_address_column(void **state) {
    (void)state;
    enum { COUNT = 40000 };
    static uint64_t addresses[COUNT];
    for (uint64_t i = 0; i < COUNT; i++) addresses[i] = i * 0x9e3779b97f4a7c15ull;
    read_bytes(rsc_raw64_open, addresses, sizeof addresses);
    assert_int_equal(kept.status, 0);
    assert_int_equal(kept.count, COUNT);
    for (uint32_t i = 0; i < COUNT; i++) assert_access(i, addresses[i], 1, RSC_READ);
    assert_true(kept.instructions == RSC_UNKNOWN);

    read_bytes(rsc_raw64_open, addresses, sizeof addresses - 3);
    assert_int_equal(kept.count, COUNT - 1);
    assert_failed(0, sizeof addresses - 8, "cut at byte 319992: the last address has 5 of its 8 bytes (raw64)");
    read_bytes(rsc_raw64_open, addresses, 7);
    assert_failed(0, 0, "cut at byte 0");
}

/* ---- which format a file is ---- */

static const char *format_of(const char *head, size_t bytes, int whole) {
    const char *found = "none";
    for (const struct rsc_format *format = rsc_formats; format->name; format++)
        if (format->matches && format->matches((const unsigned char *)head, bytes, whole)) {
            assert_string_equal(found, "none"); /* never two */
            found = format->name;
        }
    return found;
}

static void no_file_is_taken_for_another_format(void **state) {
    (void)state;
    static const struct {
        const char *text, *format;
    } files[] = {
        {"0 1234\n1 0x5678\n2 9abc extra\n", "din"},
        {"# comment\n\n  0 1234", "din"},
        {"0 1234\r\n4\r\n", "din"},
        {"4\n3\n4\n", "list"},
        {"0x1000\n0x1040\n", "list"},
        {"7fff1000\n7fff1040\n", "list"},
        {"r 0x1000 8\ns 0x1040 4\n", "list"},
        {"W 4096\nR 8192\n", "list"},
        {"face\nbead\n", "none"},
        {"r 1000\nw\n", "none"},
        {"r 1000 8\nw 1000\n", "none"},
        {"a 1000 8\n", "none"},
        {"tid addr\n1 2\n", "csv"},
        {"0 1234\n5 1234\n", "none"},
        {"0 1234\nhello\n", "none"},
        {"1 2 3\n", "din"},
        {"10 20\n30 40\n", "none"},
        {"I  04001000,3\n L 1fff000680,8\n", "lackey"},
        {"==1== Lackey\n==1== Command: x\n S 1fff000680,8", "lackey"},
        {"hello\nI  04001000,3\n", "lackey"},
        {"An example of a trace:\nI  04001000,3\nis a line that lackey writes.\nIt has a size.\n", "none"},
        {"==1== Memcheck\n==1== Command: x\n", "none"},
        {"addr\n1\n", "csv"},
        {"addr,size\n0x10,8", "csv"},
        {"pc;ADDR;x\n", "csv"},
        {"# made by\n\"kind\"\t\"addr\"\n", "csv"},
        {"address,size\n0x10,8\n", "none"},
        {"0 addr\n", "none"},
        {"the addr is\n", "none"},
        {"hello\n", "none"},
        {"{\"addr\": 1}\n", "none"},
        {"\n\n\n", "none"},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        assert_string_equal(format_of(files[i].text, strlen(files[i].text), 1), files[i].format);
    /* a last line that goes on is not looked at */
    assert_string_equal(format_of("0 1234\n1 56zz", 12, 0), "din");
    assert_string_equal(format_of("0 1234\n1 56zz", 12, 1), "none");
    assert_string_equal(format_of("0 1234", 6, 0), "none");
    assert_string_equal(format_of("0 1234\n\0", 8, 1), "none");
}

static void random_bytes_match_nothing(void **state) {
    (void)state;
    unsigned char head[4096];
    uint64_t seed = 20250101;
    for (int round = 0; round < 2000; round++) {
        for (size_t i = 0; i < sizeof head; i++) {
            seed = seed * 6364136223846793005ull + 1442695040888963407ull;
            head[i] = (unsigned char)(seed >> 56);
        }
        size_t bytes = round % 2 ? sizeof head : 1 + (size_t)(seed >> 59);
        assert_string_equal(format_of((const char *)head, bytes, round % 4 < 2), "none");
    }
}

/* ---- writing ---- */

static uint64_t made_addr[50000], made_meta[50000], made_pc[50000];
static const struct rsc_thread made_threads[] = {{1, 10}, {1, 11}, {UINT64_MAX, UINT64_MAX}};

static struct rsc_batch make_batch(void) {
    uint64_t seed = 7;
    for (uint32_t i = 0; i < 50000; i++) {
        seed = seed * 6364136223846793005ull + 1442695040888963407ull;
        made_addr[i] = (seed ^ seed >> 31) >> (seed >> 58); /* of every length */
        made_pc[i] = seed >> 20;
        uint32_t size = i % 3 ? 1u << (seed >> 62) : (uint32_t)(seed >> 32) | 1;
        made_meta[i] = rsc_meta(size, (enum rsc_kind)(seed >> 40 & 1 ? 2 : seed >> 41 & 1), i < 3 ? i : i / 5000 % 3);
    }
    made_addr[0] = 0;
    made_addr[1] = UINT64_MAX;
    return (struct rsc_batch){.count = 50000,
                              .addr = made_addr,
                              .meta = made_meta,
                              .pc = made_pc,
                              .threads = made_threads,
                              .thread_count = 3};
}

/* Writes a batch in two halves and reads it back. Returns the bytes written. */
static uint64_t write_and_read(enum rsc_text_format format, struct rsc_batch batch, uint64_t limit, opener *open) {
    struct rsc_output_file file;
    struct rsc_text_writer *writer;
    struct rsc_error error;
    uint32_t half = batch.count / 2;
    const char *path = scratch_path("written");
    assert_int_equal(rsc_output_open(&file, path, &error), 0);
    assert_int_equal(rsc_text_writer_open(&writer, &file, format, &error), 0);
    rsc_text_writer_limit(writer, limit);
    batch.count = half;
    assert_int_equal(rsc_text_writer_push(writer, &batch, &error), 0);
    batch.addr += half;
    batch.meta += half;
    if (batch.pc) batch.pc += half;
    int full = rsc_text_writer_push(writer, &batch, &error);
    assert_int_equal(full, limit > 0);
    assert_int_equal(rsc_text_writer_finish(writer, &error), 0);
    uint64_t bytes = file.bytes;
    assert_int_equal(rsc_output_commit(&file, 0, &error), 0);
    rsc_text_writer_free(writer);
    read_file(open, path);
    assert_int_equal(kept.status, 0);
    return bytes;
}

static void csv_comes_back_as_written(void **state) {
    (void)state;
    struct rsc_batch batch = make_batch();
    write_and_read(RSC_TEXT_CSV, batch, 0, rsc_csv_open);
    assert_int_equal(kept.count, batch.count);
    assert_memory_equal(kept.addr, made_addr, sizeof made_addr);
    assert_memory_equal(kept.meta, made_meta, sizeof made_meta);
    assert_memory_equal(kept.pc, made_pc, sizeof made_pc);
    assert_int_equal(kept.thread_count, 3);
    assert_memory_equal(kept.threads, made_threads, sizeof made_threads);

    batch.pc = NULL;
    batch.threads = NULL;
    write_and_read(RSC_TEXT_CSV, batch, 0, rsc_csv_open);
    assert_memory_equal(kept.meta, made_meta, sizeof made_meta);
    assert_false(kept.has_pc);
    assert_int_equal(kept.threads[2].tid, 2);
    assert_int_equal(kept.threads[2].pid, 0);

    batch.count = 0;
    assert_int_equal(write_and_read(RSC_TEXT_CSV, batch, 0, rsc_csv_open), strlen("addr,size,kind,tid,pid\n"));
}

static void din_comes_back_without_what_it_cannot_hold(void **state) {
    (void)state;
    write_and_read(RSC_TEXT_DIN, make_batch(), 0, rsc_din_open);
    assert_int_equal(kept.count, 50000);
    assert_memory_equal(kept.addr, made_addr, sizeof made_addr);
    for (uint32_t i = 0; i < kept.count; i++) assert_access(i, made_addr[i], 1, rsc_meta_kind(made_meta[i]));
}

static void a_limit_ends_with_a_whole_line(void **state) {
    (void)state;
    uint64_t bytes = write_and_read(RSC_TEXT_DIN, make_batch(), 500000, rsc_din_open);
    assert_in_range(bytes, 500000 - 20, 500000);
    assert_in_range(kept.count, 25000, 49999);
    assert_memory_equal(kept.addr, made_addr, kept.count * sizeof *made_addr);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(din_reads_every_spelling),
        cmocka_unit_test(din_without_fetches_has_no_instruction_count),
        cmocka_unit_test(din_escapes_are_counted),
        cmocka_unit_test(din_refuses_what_is_no_din),
        cmocka_unit_test(messages_show_little_of_a_bad_line),
        cmocka_unit_test(many_lines_cross_blocks_and_batches),
        cmocka_unit_test(lines_without_end_are_refused),
        cmocka_unit_test(nul_bytes_are_refused),
        cmocka_unit_test(lackey_reads_all_four_kinds),
        cmocka_unit_test(lackey_skips_and_counts_the_programs_output),
        cmocka_unit_test(lackey_refuses_accesses_in_part),
        cmocka_unit_test(a_cut_inside_a_line_is_an_error),
        cmocka_unit_test(lackey_cut_at_the_end_of_a_line_is_an_error),
        cmocka_unit_test(lackey_without_accesses_is_an_error),
        cmocka_unit_test(modifies_never_split_a_batch),
        cmocka_unit_test(csv_reads_columns_by_name),
        cmocka_unit_test(csv_takes_other_separators),
        cmocka_unit_test(csv_says_what_is_wrong),
        cmocka_unit_test(columns_are_given_by_number_or_name),
        cmocka_unit_test(lists_are_addresses_with_and_without_kinds),
        cmocka_unit_test(threads_are_numbered_as_they_appear),
        cmocka_unit_test(raw64_is_the_address_column),
        cmocka_unit_test(no_file_is_taken_for_another_format),
        cmocka_unit_test(random_bytes_match_nothing),
        cmocka_unit_test(csv_comes_back_as_written),
        cmocka_unit_test(din_comes_back_without_what_it_cannot_hold),
        cmocka_unit_test(a_limit_ends_with_a_whole_line),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
