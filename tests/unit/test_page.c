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

#include "report/page/page.h"
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

/* The data of a page, parsed. */
static json_t *data_of(const char *page) {
    const char *start = strstr(page, DATA_OPENS);
    assert_non_null(start);
    start += strlen(DATA_OPENS);
    const char *end = strstr(start, "</script>");
    assert_non_null(end);
    json_t *data = json_loadb(start, (size_t)(end - start), 0, NULL);
    assert_non_null(data);
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

static void every_profile_makes_a_page(void **state) {
    (void)state;
    struct rsc_profile *profiles[] = {sample_zero(), sample_cyclic(1000, 7), sample_spread(5000), sample_rich(),
                                      sample_requests(500, 9)};
    static const struct rsc_machine machine = {.levels = {{"L1d", 1, 32768}, {"L2", 2, 1 << 20}}, .level_count = 2};
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
        cmocka_unit_test(every_profile_makes_a_page),
        cmocka_unit_test(source_is_embedded_when_asked_for),
        cmocka_unit_test(documents_are_read_whole_or_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
