/*
 * fuzz_profile.c - any bytes as a profile, container or JSON.
 *
 * Loading must end in an error that says something or in profiles that can be
 * written, read again to the same bytes, drawn, annotated, compared and merged. The
 * fuzzer cannot guess a checksum, so input that starts with a container's magic
 * is also tried with its sizes and checksum put right.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <xxhash.h>

#include "fuzz_check.h"
#include "profile/json_read.h"
#include "profile/metrics.h"
#include "profile/profile_model.h"
#include "report/source/annotate.h"

/*
 * Our reader takes and refuses what jansson's does, which is another program's view of the same grammar. Not where there
 * is a zero byte: jansson's lets one pass behind a number, which the grammar does not.
 */
static void read_as_jansson_does(const char *text, size_t bytes) {
    json_t *ours, *theirs = json_loadb(text, bytes, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, NULL);
    struct rsc_error error;
    int status = rsc_json_read(&ours, text, bytes, "text", &error);
    FUZZ_CHECK((status == 0) == (theirs != NULL) || strstr(error.message, "too many digits") ||
               (status < 0 && memchr(text, 0, bytes)));
    if (!status && theirs) FUZZ_CHECK(json_equal(ours, theirs));
    json_decref(ours);
    json_decref(theirs);
}

static void use_profiles(struct rsc_profile **profiles, size_t count) {
    static const struct rsc_machine machine = {
        .levels = {{"L1d", 1, 48 << 10, 5}, {"L2", 2, 1 << 20, 15}}, .level_count = 2, .memory_cycles = 250};
    char *text, *again;
    size_t bytes, again_bytes, again_count;
    struct rsc_profile **loaded;
    FUZZ_CHECK(rsc_profiles_json_text(profiles, count, &text, &bytes, NULL) == 0);
    FUZZ_CHECK(rsc_profiles_parse(text, bytes, "again", &loaded, &again_count, NULL) == 0 && again_count == count);
    FUZZ_CHECK(rsc_profiles_json_text(loaded, count, &again, &again_bytes, NULL) == 0);
    FUZZ_CHECK(bytes == again_bytes && !memcmp(text, again, bytes));
    free(text);
    free(again);
    for (int look = 0; look < 3; look++) {
        struct rsc_report_style style = {.width = 40 + 40 * (unsigned)look,
                                         .unicode = look & 1,
                                         .colour = look >> 1,
                                         .machine = look ? &machine : NULL,
                                         .at_bytes = look & 1 ? 4096 : 0};
        FUZZ_CHECK(rsc_report_render(&(struct rsc_result){.profiles = profiles, .count = count}, RSC_REPORT_TEXT,
                                     &style, &text, &bytes, NULL) == 0);
        free(text);
        struct rsc_annotate_options annotate = {
            .name = "fuzz", .all_files = look & 1, .nearby = look >> 1, .nearby_lines = 3};
        if (!rsc_annotate_text(&(struct rsc_result){.profiles = profiles, .count = count, .annotate = &annotate},
                               &style, &text, &bytes, NULL))
            free(text);
    }
    FUZZ_CHECK(rsc_report_render(&(struct rsc_result){.profiles = profiles, .count = count}, RSC_REPORT_CSV, NULL,
                                 &text, &bytes, NULL) == 0);
    free(text);
    rsc_profile_overlap(profiles[0], profiles[count - 1]);
    rsc_profile_mrc_error(profiles[0], profiles[count - 1], NULL);
    rsc_histogram_emd_octaves(&profiles[0]->rd, &profiles[count - 1]->rd);
    if (!rsc_profile_merge(profiles[0], loaded[count - 1], NULL))
        FUZZ_CHECK(rsc_profile_check_sum(profiles[0], "merged", NULL) == 0);
    for (size_t i = 0; i < count; i++) rsc_profile_free(loaded[i]);
    free(loaded);
}

static void load(const uint8_t *data, size_t bytes) {
    static int fd = -1;
    char path[64];
    struct rsc_profile **profiles;
    struct rsc_error error = {0};
    size_t count;
    if (fd < 0) fd = memfd_create("fuzz", MFD_CLOEXEC);
    FUZZ_CHECK(fd >= 0 && ftruncate(fd, 0) == 0 && pwrite(fd, data, bytes, 0) == (ssize_t)bytes);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int rc = rsc_profiles_load(path, &profiles, &count, &error);
    if (rc) {
        FUZZ_CHECK(rc < 0 && error.code == rc && error.message[0] && !strchr(error.message, '\n'));
        return;
    }
    FUZZ_CHECK(count > 0);
    use_profiles(profiles, count);
    for (size_t i = 0; i < count; i++) rsc_profile_free(profiles[i]);
    free(profiles);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    read_as_jansson_does((const char *)data, bytes);
    load(data, bytes);
    if (bytes < 40 || memcmp(data, "RSCPROF\n", 8)) return 0;
    uint8_t *whole = malloc(bytes);
    FUZZ_CHECK(whole);
    memcpy(whole, data, bytes);
    uint64_t stored = bytes - 40;
    memcpy(whole + 24, &stored, sizeof stored);
    uint64_t sum = XXH3_64bits_withSeed(whole + 40, stored, XXH3_64bits(whole, 32));
    memcpy(whole + 32, &sum, sizeof sum);
    load(whole, bytes);
    free(whole);
    return 0;
}
