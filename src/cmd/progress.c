/* progress.c - a progress line on standard error, only on a terminal. */
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cmd/session.h"

#define INTERVAL_MS 250
#define LINE_MOST 200

static double since_ms(const struct timespec *then, const struct timespec *now) {
    return 1e3 * (double)(now->tv_sec - then->tv_sec) + 1e-6 * (double)(now->tv_nsec - then->tv_nsec);
}

int rsc_progress_due(struct rsc_session *session) {
    struct timespec now;
    if (session->quiet) return 0;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!session->progress_at.tv_sec) session->progress_start = session->progress_at = now; /* not for short work */
    if (since_ms(&session->progress_at, &now) < INTERVAL_MS) return 0;
    session->progress_at = now;
    return isatty(STDERR_FILENO);
}

double rsc_progress_seconds(const struct rsc_session *session) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return session->progress_start.tv_sec ? since_ms(&session->progress_start, &now) / 1e3 : 0;
}

void rsc_progress_say(struct rsc_session *session, const char *line) {
    struct winsize size;
    size_t most = LINE_MOST;
    if (!ioctl(STDERR_FILENO, TIOCGWINSZ, &size) && size.ws_col > 1 && size.ws_col - 1u < most) most = size.ws_col - 1u;
    fprintf(stderr, "\r%.*s\033[K", (int)strnlen(line, most), line); /* the line is ASCII */
    fflush(stderr);
    session->progress_shown = 1;
}

void rsc_progress(struct rsc_session *session, uint64_t done, uint64_t total, const char *unit) {
    char line[LINE_MOST];
    if (!rsc_progress_due(session)) return;
    double seconds = rsc_progress_seconds(session), millions = (double)done / 1e6;
    int used = snprintf(line, sizeof line, "%s: %.0f", session->verb->name, millions);
    if (total != RSC_UNKNOWN && total)
        used += snprintf(line + used, sizeof line - (size_t)used, " of %.0f million %s, %.0f %%", (double)total / 1e6,
                         unit, 100.0 * (double)done / (double)total);
    else used += snprintf(line + used, sizeof line - (size_t)used, " million %s", unit);
    if (seconds > 0) snprintf(line + used, sizeof line - (size_t)used, ", %.1f M/s", millions / seconds);
    rsc_progress_say(session, line);
}

void rsc_progress_end(struct rsc_session *session) {
    if (session->progress_shown) fputs("\r\033[K", stderr);
    session->progress_shown = 0;
}
