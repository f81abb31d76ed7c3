/* progress.c - one line on standard error that says how far work has got, for people watching a terminal. */
#include <unistd.h>

#include "cmd/session.h"

#define INTERVAL_MS 250

static long since_ms(const struct timespec *then, const struct timespec *now) {
    return (now->tv_sec - then->tv_sec) * 1000 + (now->tv_nsec - then->tv_nsec) / 1000000;
}

void rsc_progress(struct rsc_session *session, uint64_t done, uint64_t total, const char *unit) {
    struct timespec now;
    if (session->quiet) return;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!session->progress_at.tv_sec) session->progress_at = now; /* nothing for work that ends at once */
    if (since_ms(&session->progress_at, &now) < INTERVAL_MS) return;
    session->progress_at = now;
    if (!isatty(STDERR_FILENO)) return;
    if (total != RSC_UNKNOWN && total)
        fprintf(stderr, "\r%s: %.0f of %.0f million %s, %.0f %%\033[K", session->verb->name, (double)done / 1e6,
                (double)total / 1e6, unit, 100.0 * (double)done / (double)total);
    else
        fprintf(stderr, "\r%s: %.0f million %s\033[K", session->verb->name, (double)done / 1e6, unit);
    session->progress_shown = 1;
}

void rsc_progress_end(struct rsc_session *session) {
    if (session->progress_shown) fputs("\r\033[K", stderr);
    session->progress_shown = 0;
}
