/* sharing_text.c - see sharing_text.h. */
#include "report/text/sharing_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report/draw/place_text.h"
#include "report/draw/units.h"

#define THREADS_MAX 12 /* of a matrix */
#define CELLS_SHOWN 16
#define LINES_SHOWN 8
#define LABEL_COLUMNS 14
#define CELL_COLUMNS 9

/* A thread by its name in the matrix. */
struct thread {
    uint64_t pid, tid;
};

/* The index of a thread, added if new and if there is room; `count` if there is none. */
static size_t number_of(struct thread *threads, size_t *count, uint64_t pid, uint64_t tid) {
    for (size_t i = 0; i < *count; i++)
        if (threads[i].pid == pid && threads[i].tid == tid) return i;
    if (*count < THREADS_MAX) threads[*count] = (struct thread){pid, tid};
    return (*count)++;
}

static void sort(struct thread *threads, size_t count) {
    for (size_t i = 1; i < count; i++)
        for (size_t k = i; k && (threads[k].pid < threads[k - 1].pid ||
                                 (threads[k].pid == threads[k - 1].pid && threads[k].tid < threads[k - 1].tid));
             k--) {
            struct thread one = threads[k];
            threads[k] = threads[k - 1];
            threads[k - 1] = one;
        }
}

static void put_matrix(struct rsc_text *text, const struct rsc_profile *profile, const struct thread *threads,
                       size_t count) {
    rsc_text_tint(text, RSC_DIM);
    rsc_text_put(text, "%*s", LABEL_COLUMNS, "taken by");
    for (size_t i = 0; i < count; i++) rsc_text_put(text, "%*" PRIu64, CELL_COLUMNS, threads[i].tid);
    rsc_text_tint(text, RSC_PLAIN);
    rsc_text_put(text, "\n");
    for (size_t from = 0; from < count; from++) {
        rsc_text_put(text, "%*" PRIu64, LABEL_COLUMNS, threads[from].tid);
        for (size_t by = 0; by < count; by++) {
            const char *shown = by == from ? "." : "0";
            uint64_t misses = 0;
            struct rsc_shown number;
            for (size_t i = 0; i < profile->sharing_count; i++) {
                const struct rsc_sharing_row *row = &profile->sharing[i];
                if (row->by_pid != threads[by].pid || row->by_tid != threads[by].tid ||
                    row->from_pid != threads[from].pid || row->from_tid != threads[from].tid)
                    continue;
                misses += row->misses;
                number = rsc_show_short(misses);
                shown = number.text;
            }
            rsc_text_put(text, "%*s", CELL_COLUMNS, shown);
        }
        rsc_text_put(text, "\n");
    }
}

struct range_text {
    char text[136];
};

/* "1.2 k (1.1 k to 1.4 k)"; a count without bars alone. */
static struct range_text with_range(uint64_t count, const struct rsc_sharing_bars *bars,
                                    const struct rsc_count_range *range) {
    struct range_text shown;
    if (!bars->taken.high) snprintf(shown.text, sizeof shown.text, "%s", rsc_show_short(count).text);
    else
        snprintf(shown.text, sizeof shown.text, "%s (%s to %s)", rsc_show_short(count).text,
                 rsc_show_short(range->low).text, rsc_show_short(range->high).text);
    return shown;
}

static void put_cells_with_bars(struct rsc_text *text, const struct rsc_profile *profile) {
    rsc_text_tint(text, RSC_DIM);
    rsc_text_put(text, "%9s%9s  %-28s  %s\n", "thread", "taker", "misses", "falsely");
    rsc_text_tint(text, RSC_PLAIN);
    for (size_t i = 0; i < profile->sharing_count && i < CELLS_SHOWN; i++) {
        const struct rsc_sharing_row *row = &profile->sharing[i];
        rsc_text_put(text, "%9" PRIu64 "%9" PRIu64 "  %-28s  %s\n", row->from_tid, row->by_tid,
                     with_range(row->misses, &row->bars, &row->bars.misses).text,
                     with_range(row->false_misses, &row->bars, &row->bars.false_misses).text);
    }
}

static void put_cells(struct rsc_text *text, const struct rsc_profile *profile) {
    rsc_text_tint(text, RSC_DIM);
    rsc_text_put(text, "%9s%9s%10s%10s\n", "thread", "taker", "misses", "falsely");
    rsc_text_tint(text, RSC_PLAIN);
    for (size_t i = 0; i < profile->sharing_count && i < CELLS_SHOWN; i++) {
        const struct rsc_sharing_row *row = &profile->sharing[i];
        rsc_text_put(text, "%9" PRIu64 "%9" PRIu64 "%10s%10s\n", row->from_tid, row->by_tid,
                     rsc_show_short(row->misses).text, rsc_show_short(row->false_misses).text);
    }
}

/* A merged profile may have both. */
static int has_bars(const struct rsc_profile *profile) {
    for (size_t i = 0; i < profile->sharing_count; i++)
        if (profile->sharing[i].bars.taken.high) return 1;
    return 0;
}

/* "12 %", or "12 % (10 % to 15 %)": what share of the misses is false sharing. */
static struct range_text false_share(const struct rsc_profile *profile, uint64_t misses) {
    struct range_text shown;
    uint64_t falsely = 0, low = 0, high = 0;
    for (size_t i = 0; i < profile->sharing_count; i++) {
        const struct rsc_sharing_row *row = &profile->sharing[i];
        int is_known = row->bars.taken.high != 0;
        falsely += row->false_misses;
        low += is_known ? row->bars.false_misses.low : row->false_misses;
        high += is_known ? row->bars.false_misses.high : row->false_misses;
    }
    if (!has_bars(profile))
        snprintf(shown.text, sizeof shown.text, "%s", rsc_show_percent((double)falsely / (double)misses).text);
    else
        snprintf(shown.text, sizeof shown.text, "%s (%s to %s)",
                 rsc_show_percent((double)falsely / (double)misses).text,
                 rsc_show_percent((double)low / (double)misses).text,
                 rsc_show_percent(high < misses ? (double)high / (double)misses : 1).text);
    return shown;
}

int rsc_sharing_is_unclear(const struct rsc_profile *profile) {
    const struct rsc_count_bar *bar = &profile->bars.invalidated;
    if (!profile->made.model || strcmp(profile->made.model, "private") || profile->made.threads < 2) return 0;
    return bar->is_known && bar->high > profile->references / 100 && bar->low < bar->high / 2;
}

static void put_unclear(struct rsc_text *text, const struct rsc_profile *profile,
                        const struct rsc_report_style *style) {
    int is_live = profile->made.source && strcmp(profile->made.source, "trace");
    if (!rsc_sharing_is_unclear(profile)) return;
    rsc_text_paragraph(text, 3, style->width,
                       !profile->made.sampling
                           ? "The order of the threads is too uncertain to tell who shares with whom: leave a core "
                             "free for each, or take --with valgrind, which runs them in turns."
                       : is_live ? "Too few samples to tell who shares with whom: run with --sample lines:1/8, or "
                                   "--sample none for exact counts."
                                 : "Too few samples to tell who shares with whom: take --engine exact, or "
                                   "sampled:lines=1/8.");
}

void rsc_put_sharing(struct rsc_text *text, const struct rsc_profile *profile, const struct rsc_report_style *style) {
    struct thread threads[THREADS_MAX];
    size_t count = 0;
    uint64_t misses = 0, uncertain = 0;
    char note[360];
    for (size_t i = 0; i < profile->sharing_count; i++) {
        const struct rsc_sharing_row *row = &profile->sharing[i];
        if (count <= THREADS_MAX) number_of(threads, &count, row->by_pid, row->by_tid);
        if (count <= THREADS_MAX) number_of(threads, &count, row->from_pid, row->from_tid);
        misses += row->misses;
        if (row->error > uncertain) uncertain = row->error;
    }
    if (!profile->sharing_count) {
        put_unclear(text, profile, style);
        return;
    }
    int is_matrix = !has_bars(profile) && count <= THREADS_MAX && LABEL_COLUMNS + CELL_COLUMNS * count <= style->width;
    if (is_matrix) {
        sort(threads, count);
        put_matrix(text, profile, threads, count);
    } else {
        if (has_bars(profile)) put_cells_with_bars(text, profile);
        else put_cells(text, profile);
        if (profile->sharing_count > CELLS_SHOWN)
            rsc_text_put(text, "%9s and %zu more pairs of threads\n", "...", profile->sharing_count - CELLS_SHOWN);
    }
    if (misses) {
        const struct rsc_count_bar *bar = &profile->bars.invalidated;
        char range[96] = "";
        if (bar->is_known)
            snprintf(range, sizeof range, " (%s to %s)", rsc_show_short(bar->low).text, rsc_show_short(bar->high).text);
        snprintf(note, sizeof note,
                 "%s%s misses are on lines invalidated by another thread's write; %s of them are false sharing.",
                 rsc_show_count(misses).text, range, false_share(profile, misses).text);
        rsc_text_paragraph(text, 3, style->width, note);
    }
    put_unclear(text, profile, style);
    if (!uncertain) return;
    snprintf(note, sizeof note,
             "The table of thread pairs was full: of %s such misses only those above are counted by pair, "
             "and a pair may have up to %s more.",
             rsc_show_count(profile->invalidated).text, rsc_show_short(uncertain).text);
    rsc_text_paragraph(text, 3, style->width, note);
}

/* ---- lines ---- */

static void put_users(struct rsc_text *text, const struct rsc_false_sharing_row *row,
                      const struct rsc_report_style *style) {
    char words[400] = "";
    size_t used = 0;
    for (size_t i = 0; i < row->user_count && used < sizeof words; i++) {
        const struct rsc_sharing_user *user = &row->users[i];
        used += (size_t)snprintf(words + used, sizeof words - used, "%sthread %" PRIu64 " byte%s %u", i ? ", " : "",
                                 user->tid, user->first_byte == user->last_byte ? "" : "s", (unsigned)user->first_byte);
        if (user->first_byte != user->last_byte && used < sizeof words)
            used += (size_t)snprintf(words + used, sizeof words - used, " to %u", (unsigned)user->last_byte);
    }
    if (*words) rsc_text_paragraph(text, 22, style->width, words);
}

void rsc_put_false_sharing(struct rsc_text *text, const struct rsc_profile *profile,
                           const struct rsc_report_style *style) {
    rsc_text_tint(text, RSC_DIM);
    rsc_text_put(text, "%10s%10s  %s\n", "misses", "taken", "line");
    rsc_text_tint(text, RSC_PLAIN);
    for (size_t i = 0; i < profile->false_sharing_count && i < LINES_SHOWN; i++) {
        const struct rsc_false_sharing_row *row = &profile->false_sharing[i];
        rsc_text_put(text, "%10s%10s  0x%" PRIx64, rsc_show_short(row->misses).text, rsc_show_short(row->taken).text,
                     row->address);
        if (row->object && style->width > text->column + 12) {
            rsc_text_put(text, " in ");
            rsc_text_foreign(text, row->object, style->width - text->column);
        }
        rsc_text_put(text, "\n");
        if (row->bars.taken.high)
            rsc_text_put(text, "%22s%s to %s misses, taken %s to %s times\n", "",
                         rsc_show_short(row->bars.misses.low).text, rsc_show_short(row->bars.misses.high).text,
                         rsc_show_short(row->bars.taken.low).text, rsc_show_short(row->bars.taken.high).text);
        put_users(text, row, style);
        for (size_t k = 0; k < row->place_count && k < 2; k++) {
            rsc_text_put(text, "%22s", "");
            rsc_text_put(text, "%s writes, ", rsc_place_in_short(&row->places[k].writer, style->unicode).text);
            rsc_text_put(text, "%s used it\n", rsc_place_in_short(&row->places[k].victim, style->unicode).text);
        }
    }
    if (profile->false_sharing_count > LINES_SHOWN)
        rsc_text_put(text, "%10s and %zu more lines\n", "...", profile->false_sharing_count - LINES_SHOWN);
}
