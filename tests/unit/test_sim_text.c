/* test_sim_text.c - columns of simulations as text never run together, however large the numbers and long the names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/objects_result.h"
#include "report/draw/units.h"
#include "report/report.h"
#include "report/results/results.h"

#define HUGE_NUMBER (UINT64_MAX - 1)

static char *render(const struct rsc_result *result) {
    static char *text; /* static: gcc takes the rendered text for a pointer to this one */
    struct rsc_error error;
    size_t bytes;
    if (rsc_report_render(result, RSC_REPORT_TEXT, NULL, &text, &bytes, &error) < 0) fail_msg("%s", error.message);
    return text;
}

/* The first line that begins with a text. Returns it as a string of its own. */
static char *line_of(const char *text, const char *begins) {
    for (const char *at = text; at; at = strchr(at, '\n'), at = at ? at + 1 : NULL)
        if (!strncmp(at, begins, strlen(begins))) return strndup(at, strcspn(at, "\n"));
    fail_msg("no line begins with %s in\n%s", begins, text);
    return NULL;
}

/* Checks that a line consists of these words with blanks between them, and frees it. */
static void expect_words(char *line, const char *const *words) {
    const char *at = line;
    for (; *words; words++) {
        size_t blanks = strspn(at, " ");
        if ((at != line && !blanks) || strncmp(at + blanks, *words, strlen(*words)))
            fail_msg("\"%s\" is not after a blank in\n%s", *words, line);
        at += blanks + strlen(*words);
    }
    if (*at) fail_msg("\"%s\" is left of\n%s", at, line);
    free(line);
}

static void fill_kinds(uint64_t kinds[RSC_KINDS]) {
    kinds[RSC_READ] = HUGE_NUMBER;
    kinds[RSC_WRITE] = kinds[RSC_FETCH] = 0;
}

static void fill_label(struct rsc_cache_label *label, const char *name) {
    snprintf(label->name, sizeof label->name, "%s", name);
    memset(label->text, 'x', sizeof label->text - 1);
    label->text[sizeof label->text - 1] = 0;
}

static void fill_level(struct rsc_sim_level_result *level, const char *name) {
    *level = (struct rsc_sim_level_result){0};
    fill_label(&level->cache, name);
    uint64_t *all[] = {level->counts.accesses, level->counts.misses,   level->counts.cold,
                       level->counts.capacity, level->counts.conflict, level->counts.coherence};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) fill_kinds(all[i]);
    level->counts.writebacks = HUGE_NUMBER;
}

static void caches(void **state) {
    (void)state;
    struct rsc_sim_level_result levels[3];
    struct rsc_sim_window window = {HUGE_NUMBER, HUGE_NUMBER, RSC_UNKNOWN};
    uint64_t misses[3] = {HUGE_NUMBER, HUGE_NUMBER, HUGE_NUMBER};
    char name[200];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = 0;
    struct rsc_sim_blame_row row = {.key = UINT64_MAX,
                                    .misses = {HUGE_NUMBER, HUGE_NUMBER, HUGE_NUMBER},
                                    .name = name,
                                    .file = name,
                                    .line = UINT32_MAX};
    struct rsc_sim_tlb_result tlb = {0};
    fill_label(&tlb.tlb, "dtlb2");
    fill_kinds(tlb.accesses);
    fill_kinds(tlb.misses);
    struct rsc_sim_pages_result pages = {.page_bytes = 1u << 30, .tlbs = &tlb, .tlb_count = 1};
    fill_kinds(pages.walks);
    fill_level(&levels[0], "l1i");
    fill_level(&levels[1], "l1d");
    fill_level(&levels[2], "l6");
    struct rsc_sim_result sim = {.instructions = 1,
                                 .accesses = HUGE_NUMBER,
                                 .references = HUGE_NUMBER,
                                 .classified = 1,
                                 .levels = levels,
                                 .level_count = 3,
                                 .pages = &pages,
                                 .page_count = 1,
                                 .windows = &window,
                                 .window_accesses = misses,
                                 .window_misses = misses,
                                 .window_count = 1,
                                 .code = {&row, 1},
                                 .blamed = 1};
    char *text = render(&(struct rsc_result){.kind = RSC_RESULT_SIM, .sim = &sim});
    char rate[60];
    const char *huge = strdup(rsc_show_short(HUGE_NUMBER).text), *all = strdup(rsc_show_percent(1).text);
    snprintf(rate, sizeof rate, "%.3f", 1000 * (double)HUGE_NUMBER);
    expect_words(line_of(text, "l6"),
                 (const char *const[]){"l6", levels[2].cache.text, huge, huge, all, all, rate, huge, NULL});
    expect_words(line_of(strstr(text, "coherence"), "l1d"),
                 (const char *const[]){"l1d", levels[1].cache.text, huge, huge, huge, huge, NULL});
    expect_words(line_of(text, "dtlb2"), (const char *const[]){"dtlb2", tlb.tlb.text, huge, huge, all, rate, NULL});
    const char *windows = strchr(strstr(text, "window, from access"), '\n') + 1;
    expect_words(strndup(windows, strcspn(windows, "\n")),
                 (const char *const[]){rsc_show_count(HUGE_NUMBER).text, huge, huge, huge, NULL});
    free((char *)huge);
    free((char *)all);
    free(text);
}

static void samples(void **state) {
    (void)state;
    struct rsc_sim_level_result level;
    struct rsc_estimate estimate = {.method = RSC_ESTIMATE_SETS,
                                    .how = "random sets",
                                    .fraction = 0.5,
                                    .cold_start = -1,
                                    .mpi = 1e15,
                                    .low = 1e14,
                                    .high = 1e16,
                                    .confidence = 90,
                                    .observations = 40,
                                    .population = 80,
                                    .misses = 1e18,
                                    .sampled_instructions = NAN,
                                    .cv = NAN,
                                    .variance_ratio = NAN,
                                    .loaded = NAN,
                                    .length_needed = NAN};
    fill_level(&level, "l2");
    level.estimate = &estimate;
    struct rsc_sim_result sim = {.instructions = HUGE_NUMBER,
                                 .accesses = HUGE_NUMBER,
                                 .references = HUGE_NUMBER,
                                 .levels = &level,
                                 .level_count = 1,
                                 .sample = RSC_SIM_SETS,
                                 .trace_accesses = HUGE_NUMBER,
                                 .simulated = HUGE_NUMBER};
    char *text = render(&(struct rsc_result){.kind = RSC_RESULT_SIM, .sim = &sim});
    const char *huge = strdup(rsc_show_short(HUGE_NUMBER).text);
    char *line = line_of(text, "l2");
    char words[3][60];
    double numbers[3] = {1e18, 1e17, 1e19};
    for (int i = 0; i < 3; i++) snprintf(words[i], sizeof words[i], "%.4f", numbers[i]);
    expect_words(line, (const char *const[]){"l2", level.cache.text, huge, huge, words[0], words[1], words[2], NULL});
    free((char *)huge);
    free(text);
}

static void objects(void **state) {
    (void)state;
    struct rsc_object_cache_row row = {.policy = "w-tinylfu",
                                       .bytes = HUGE_NUMBER,
                                       .misses = HUGE_NUMBER,
                                       .missed_bytes = HUGE_NUMBER,
                                       .too_large = HUGE_NUMBER,
                                       .evictions = HUGE_NUMBER};
    struct rsc_objects_result result = {.requests = HUGE_NUMBER,
                                        .requested_bytes = HUGE_NUMBER,
                                        .objects = HUGE_NUMBER,
                                        .objects_bytes = HUGE_NUMBER,
                                        .rows = &row,
                                        .row_count = 1};
    char *text = render(&(struct rsc_result){.kind = RSC_RESULT_OBJECTS, .objects = &result});
    const char *huge = strdup(rsc_show_short(HUGE_NUMBER).text), *all = strdup(rsc_show_percent(1).text);
    expect_words(line_of(text, "w-tinylfu"), (const char *const[]){"w-tinylfu", rsc_show_bytes(HUGE_NUMBER).text, huge,
                                                                   all, all, huge, huge, NULL});
    free((char *)huge);
    free((char *)all);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(caches), cmocka_unit_test(samples), cmocka_unit_test(objects)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
