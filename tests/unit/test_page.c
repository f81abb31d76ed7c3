/*
 * test_page.c - the HTML page: nothing that a profile says can leave the element
 * its data stands in, and the policy names the one script and the one style there
 * are (tests/page_bundle.py has the hashes themselves).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "profile/row_tables.h"
#include "report/page/page.h"
#include "report/page/page_pack.h"
#include "report/page/page_rows.h"
#include "sample_profiles.h"

#define DATA_OPENS "<script type=\"application/json\" id=\"rsc-data\">"
#define EVIL "</script><script>alert(1)"

static void assert_escaped(const char *json, const char *wanted) {
    char *escaped;
    size_t bytes;
    assert_int_equal(rsc_page_escape(json, strlen(json), &escaped, &bytes), 0);
    assert_string_equal(escaped, wanted);
    assert_int_equal(bytes, strlen(wanted));
    free(escaped);
}

static void what_could_end_the_element_is_escaped(void **state) {
    (void)state;
    assert_escaped("", "");
    assert_escaped("{\"a\":[1,2]}", "{\"a\":[1,2]}");
    assert_escaped("\"</script>&\"", "\"\\u003c/script\\u003e\\u0026\"");
    assert_escaped("\"<!--\"", "\"\\u003c!--\"");
    assert_escaped("\"\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xaa\xe2\"", "\"\\u2028\\u2029\xe2\x80\xaa\xe2\"");
    assert_escaped("\"\xe2\x80", "\"\xe2\x80"); /* cut in the middle */
}

static void make_page(struct rsc_profile *profile, const struct rsc_report_style *style, char **page) {
    struct rsc_error error;
    size_t bytes;
    assert_int_equal(rsc_report_render(&(struct rsc_result){.profiles = &profile, .count = profile != NULL},
                                       RSC_REPORT_HTML, style, page, &bytes, &error),
                     0);
    assert_int_equal(strlen(*page), bytes);
}

/* What page_pack.h describes, undone. */
static json_t *unpacked(const json_t *value, const json_t *shapes, const json_t *strings) {
    if (!json_is_array(value)) return json_deep_copy(value);
    const json_int_t shape = json_integer_value(json_array_get(value, 0));
    if (shape == -2)
        return json_deep_copy(json_array_get(strings, (size_t)json_integer_value(json_array_get(value, 1))));
    const json_t *keys = json_array_get(shapes, (size_t)shape);
    json_t *made = shape == -1 ? json_array() : json_object();
    if (shape != -1) assert_int_equal(json_array_size(value), 1 + json_array_size(keys));
    for (size_t i = 1; i < json_array_size(value); i++) {
        json_t *item = unpacked(json_array_get(value, i), shapes, strings);
        if (shape == -1) json_array_append_new(made, item);
        else json_object_set_new(made, json_string_value(json_array_get(keys, i - 1)), item);
    }
    return made;
}

/* The data of a page, parsed. */
static json_t *data_of(const char *page) {
    const char *start = strstr(page, DATA_OPENS);
    assert_non_null(start);
    start += strlen(DATA_OPENS);
    const char *end = strstr(start, "</script>");
    assert_non_null(end);
    json_t *data = json_loadb(start, (size_t)(end - start), 0, NULL);
    assert_non_null(data);
    json_object_set_new(
        data, "profiles",
        unpacked(json_object_get(data, "profiles"), json_object_get(data, "shapes"), json_object_get(data, "strings")));
    return data;
}

static size_t occurrences(const char *text, const char *of) {
    size_t count = 0;
    for (; (text = strstr(text, of)); text += strlen(of)) count++;
    return count;
}

static void a_name_stays_a_name(void **state) {
    (void)state;
    struct rsc_profile *profile = sample_rows();
    rsc_profile_set_text(&profile->made.by, EVIL);
    char *page;
    make_page(profile, NULL, &page);
    assert_int_equal(occurrences(page, "<script"), 2); /* data and program */
    assert_null(strstr(page, EVIL));
    json_t *data = data_of(page), *made = json_object_get(json_array_get(json_object_get(data, "profiles"), 0), "made");
    assert_string_equal(json_string_value(json_object_get(made, "by")), EVIL);
    json_decref(data);
    free(page);
    rsc_profile_free(profile);
}

static void packed_is_not_changed(void **state) {
    (void)state;
    static const char json[] =
        "{\"a\":[],\"b\":[1,-2,[-1],[[-2,0]]],\"c\":{},\"rows\":[{\"x\":1,\"name\":\"a long name, twice\"},"
        "{\"x\":null,\"name\":\"a long name, twice\"},{\"name\":\"short\",\"x\":0.1},{\"y\":true}]}";
    char *text = NULL;
    size_t bytes;
    FILE *to = open_memstream(&text, &bytes);
    fputc('{', to);
    assert_int_equal(rsc_page_pack(json, strlen(json), "packed", to), 0);
    fputc('}', to);
    fclose(to);
    json_t *packed = json_loads(text, 0, NULL), *wanted = json_loads(json, 0, NULL);
    assert_non_null(packed);
    assert_int_equal(occurrences(text, "a long name"), 1);
    json_t *got = unpacked(json_object_get(packed, "packed"), json_object_get(packed, "shapes"),
                           json_object_get(packed, "strings"));
    assert_true(json_equal(got, wanted));
    json_decref(got);
    json_decref(packed);
    json_decref(wanted);
    free(text);
}

/* The sums of a table's rows. */
static struct rsc_code_row sum_of(const struct rsc_code_row *rows, size_t count) {
    struct rsc_code_row sum = {0};
    for (size_t i = 0; i < count; i++) {
        sum.references += rows[i].references;
        sum.cold += rows[i].cold;
        sum.invalidated += rsc_histogram_total(&rows[i].rd);
    }
    return sum;
}

/*
 * Rows that matter at no size are summed up by function; those that matter at one stay. 2,000 lines of `loader` have 3 of
 * 10 M references each, `stray` 5 in all, `cold` nothing but two of the three first touches, `far` reuses that miss in
 * all but the largest caches.
 */
static void small_rows_are_summed_up(void **state) {
    (void)state;
    enum { LOADER = 2000 };
    struct rsc_profile *profile = sample_zero();
    assert_int_equal(rsc_row_table_set(&rsc_row_table_code, profile, LOADER + 4), 0);
    static char loader[] = "loader", stray[] = "stray", cold[] = "cold", far[] = "far", near_by[] = "near",
                file[] = "a.c";
    for (size_t i = 0; i < LOADER + 4; i++) {
        struct rsc_code_row *row = &profile->code[i];
        row->place = (struct rsc_place){.pc = i + 1, .function = loader, .file = file, .line = (uint32_t)i + 1};
        row->references = 3;
        rsc_histogram_add(&row->rd, 2, 3);
    }
    struct rsc_code_row *rows = profile->code + LOADER;
    rows[0].place.function = stray;
    rows[0].references = 5;
    rsc_histogram_add(&rows[0].rd, 2, 2);
    rows[1].place.function = cold;
    rows[1].cold = 2;
    rows[1].references = 5;
    rows[2].place.function = far;
    rows[2].references = 13;
    rsc_histogram_add(&rows[2].rd, 1 << 20, 10);
    rows[3].place.function = near_by;
    rows[3].references = 10000003;
    rsc_histogram_add(&rows[3].rd, 2, 10000000);
    for (size_t i = 0; i < LOADER + 4; i++) rsc_histogram_merge(&profile->rd, &profile->code[i].rd);
    profile->cold = 3;
    struct rsc_page_rows shown;
    assert_int_equal(rsc_page_rows_make(&shown, profile), 0);
    struct rsc_code_row before = sum_of(profile->code, LOADER + 4), after = sum_of(shown.code, shown.shown.code_count);
    assert_int_equal(before.references, after.references);
    assert_int_equal(before.cold, after.cold);
    assert_int_equal(before.invalidated, after.invalidated);
    assert_int_equal(shown.left_out, LOADER + 1);
    assert_int_equal(shown.shown.code_count, 5);
    static const char *const names[] = {"cold", "far", "near", RSC_PAGE_SMALL_PLACES, "loader"};
    for (size_t i = 0; i < 5; i++) assert_string_equal(shown.code[i].place.function, names[i]);
    assert_int_equal(shown.code[3].references, 5);
    assert_int_equal(shown.code[4].references, 3 * LOADER);
    assert_null(shown.code[4].place.file);
    rsc_page_rows_free(&shown);
    for (size_t i = 0; i < LOADER + 4; i++) profile->code[i].place = (struct rsc_place){0};
    rsc_profile_free(profile);
}

static void every_profile_makes_a_page(void **state) {
    (void)state;
    struct rsc_profile *profiles[] = {sample_zero(), sample_cyclic(1000, 7), sample_spread(5000), sample_rich(),
                                      sample_requests(500, 9)};
    static const struct rsc_machine machine = {.levels = {{"L1d", 1, 32768, 0}, {"L2", 2, 1 << 20, 0}},
                                               .level_count = 2};
    struct rsc_report_style style = {.machine = &machine, .at_bytes = 4096};
    for (size_t i = 0; i < sizeof profiles / sizeof *profiles; i++) {
        char *page;
        make_page(profiles[i], &style, &page);
        json_t *data = data_of(page);
        assert_int_equal(json_array_size(json_object_get(data, "machine")), 2);
        assert_int_equal(json_integer_value(json_object_get(data, "at")), 4096);
        assert_int_equal(json_object_size(json_object_get(data, "sources")), 0);
        json_decref(data);
        free(page);
        rsc_profile_free(profiles[i]);
    }
    assert_true(rsc_page_template_bytes < 400 * 1024);
}

static char *write_file(char *path, const char *text) {
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    return path;
}

/* Only on request, and only files that code names. */
static void source_is_embedded_when_asked_for(void **state) {
    (void)state;
    struct rsc_profile *profile = sample_rows();
    char path[] = "/tmp/test_page.XXXXXX";
    write_file(path, "int a; // <b>\r\nint b;\n");
    for (size_t i = 0; i < profile->code_count; i++) rsc_profile_set_text(&profile->code[i].place.file, path);
    assert_int_equal(chmod(path, 0644), 0);
    static const char *const folders[] = {"/tmp"};
    struct rsc_page_extras extras = {.embed_source = 1, .source_folders = folders, .source_folder_count = 1};
    struct rsc_report_style style = {.page = &extras};
    char *page;
    make_page(profile, &style, &page);
    json_t *data = data_of(page);
    assert_int_equal(json_object_size(json_object_get(data, "sources")), 1);
    assert_string_equal(json_string_value(json_object_get(json_object_get(data, "sources"), path)),
                        "int a; // <b>\nint b;\n");
    json_decref(data);
    free(page);
    extras.embed_source = 0;
    make_page(profile, &style, &page);
    assert_null(strstr(page, "int b;"));
    free(page);
    unlink(path);
    rsc_profile_free(profile);
}

static int read_text(const char *text, char **document) {
    char path[] = "/tmp/test_page.XXXXXX";
    struct rsc_error error = {0};
    int status = rsc_page_document_read(write_file(path, text), document, &error);
    unlink(path);
    assert_true(status >= 0 || error.message[0]);
    return status;
}

#define SIM \
    "{\"schema\":\"reusescope-sim/1\",\"references\":9,\"levels\":[{\"name\":\"l1<\",\"config\":\"\",\"accesses\":9,"

static void documents_are_read_whole_or_refused(void **state) {
    (void)state;
    char *text = NULL, *page;
    assert_int_equal(read_text("", &text), 0);
    assert_int_equal(read_text("{\"schema\":\"reusescope-profile/1\"}", &text), 0);
    assert_int_equal(read_text("{\"x\":\"reusescope-sim/1\"}", &text), 0);
    assert_int_equal(read_text(SIM "\"misses\":3,", &text), RSC_EFORMAT);
    assert_int_equal(read_text(SIM "\"misses\":3}]}", &text), RSC_EFORMAT);
    assert_int_equal(read_text("{\"schema\":\"reusescope-loops/1\",\"loops\":[{\"threads\":[]}]}", &text), RSC_EFORMAT);
    assert_null(text);
    assert_int_equal(rsc_page_document_read("/nonexistent/file", &text, NULL), 0);
    assert_int_equal(read_text(SIM "\"misses\":3,\"writebacks\":0,\"mpi\":null}]}", &text), 1);
    const char *documents[] = {text, text};
    struct rsc_page_extras extras = {.documents = documents, .document_count = 2};
    struct rsc_report_style style = {.page = &extras};
    make_page(NULL, &style, &page);
    json_t *data = data_of(page);
    assert_int_equal(json_array_size(json_object_get(data, "documents")), 2);
    assert_int_equal(json_array_size(json_object_get(data, "profiles")), 0);
    json_decref(data);
    free(page);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_could_end_the_element_is_escaped),
        cmocka_unit_test(a_name_stays_a_name),
        cmocka_unit_test(packed_is_not_changed),
        cmocka_unit_test(small_rows_are_summed_up),
        cmocka_unit_test(every_profile_makes_a_page),
        cmocka_unit_test(source_is_embedded_when_asked_for),
        cmocka_unit_test(documents_are_read_whole_or_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
