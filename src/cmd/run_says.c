/* run_says.c - see run_says.h. */
#include "cmd/run_says.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "profile/profile_model.h"

/* ---- while it runs ---- */

/*
 * Instructions per nanosecond of an unwatched program, to estimate the slowdown
 * while it runs: LOW for a program that waits for memory, HIGH for one that computes.
 */
#define INSTRUCTIONS_PER_NS_LOW 1.0
#define INSTRUCTIONS_PER_NS_HIGH 4.0
#define INSTRUCTIONS_LEAST 1e6 /* with fewer, startup time dominates */

/* Processor time of the program so far; 0: not known, or it has ended. */
static double cpu_so_far(const struct rsc_launch *launch) {
    struct timespec used;
    clockid_t clock;
    if (!launch->running || clock_getcpuclockid(launch->pid, &clock) || clock_gettime(clock, &used)) return 0;
    return (double)used.tv_sec + 1e-9 * (double)used.tv_nsec;
}

/* Our own processor time, of all threads: the analysis. */
static double own_seconds(void) {
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) ? 0 : rsc_usage_seconds(&usage);
}

/*
 * With --native: the time so far divided by the unwatched run's total, a lower bound
 * of the final slowdown. Else an estimate from the instruction count.
 */
static void slowdown_so_far(const struct rsc_collector *collector, double instructions, double native_seconds,
                            char *text, size_t room) {
    double used = cpu_so_far(&collector->launch);
    *text = 0;
    if (!(used > 0)) return;
    used += own_seconds();
    if (native_seconds > 0) snprintf(text, room, ", slowdown at least %.1fx", used / native_seconds);
    else if (instructions > INSTRUCTIONS_LEAST)
        snprintf(text, room, ", slowdown perhaps %.0f to %.0fx", 1e9 * used * INSTRUCTIONS_PER_NS_LOW / instructions,
                 1e9 * used * INSTRUCTIONS_PER_NS_HIGH / instructions);
}

void rsc_run_progress(struct rsc_analysis *analysis, const struct rsc_collector *collector,
                      const struct rsc_run_base *base) {
    struct rsc_session *session = analysis->session;
    struct rsc_run_facts facts;
    char text[120], slowdown[64], line[200];
    if (!rsc_progress_due(session)) return;
    collector->kind->describe(collector, &facts);
    if (!facts.accesses) return; /* nothing yet, or only samples */
    rsc_analysis_so_far(analysis, facts.accesses, rsc_progress_seconds(session), text, sizeof text);
    slowdown_so_far(collector, (double)facts.instructions, base->run.seconds, slowdown, sizeof slowdown);
    snprintf(line, sizeof line, "run: %s%s", text, slowdown);
    rsc_progress_say(session, line);
}

/* ---- afterwards ---- */

/* With fewer lines, a single line moves the curve by the width of most programs' error bars. */
#define KEPT_FEW 256u

static void say_sample(struct rsc_session *session, const struct rsc_profile *profile,
                       const struct rsc_collect_request *request, const struct rsc_whole_run *whole) {
    const struct rsc_wanted *wanted = &request->wanted;
    if (wanted->what == RSC_TAKES_SAMPLES) {
        char details[120] = "";
        if (session->verbose)
            snprintf(details, sizeof details, "; %.2f %% of all were analysed; %.2f %% of them were given up",
                     whole->references ? 100 * (double)whole->analysed / (double)whole->references : 0,
                     profile->references ? 100 * (double)profile->pruned / (double)profile->references : 0);
        const char *more = request->attach_to ? "" : " (--sample none: all, slower)";
        if (whole->begun)
            rsc_session_say(session, "a sample: %llu references, 1 in %.0f%s%s", (unsigned long long)whole->begun,
                            (double)whole->references / (double)whole->begun, details, more);
        else
            rsc_session_say(session, "a sample: none of %llu references%s", (unsigned long long)whole->references,
                            more);
    }
    if (wanted->what != RSC_TAKES_LINES || !wanted->rate_text) return;
    double kept = (double)profile->distinct * wanted->lines.rate;
    rsc_session_say(
        session, "a sample: %s of all cache lines, chosen by hash, %.0f lines (--sample none: every reference, slower)",
        wanted->rate_text, kept);
    if (kept < KEPT_FEW)
        rsc_session_say(
            session, "warning: only %.0f lines were sampled, so the error bars are wide; --sample none is exact", kept);
}

/* The base must be of the same work. */
static void say_slowdown(struct rsc_session *session, const struct rsc_collector *collector,
                         const struct rsc_run_base *base, double slowdown) {
    int watched = collector->launch.status, plain = base->run.status;
    if (!base->measured && session->verbose && !collector->launch.attached)
        rsc_session_say(session, "slowdown not measured (--native first runs the program once unwatched)");
    if (!base->measured) return;
    if (isnan(slowdown)) rsc_session_say(session, "slowdown not measured: the unwatched run was too short");
    else
        rsc_session_say(session,
                        "slowdown %.*fx in processor time (program %.2f s and analysis %.2f s; %s%.60s %.2f s)",
                        slowdown < 2 ? 2 : 1, slowdown, rsc_collector_cpu_seconds(collector), own_seconds(),
                        base->binary                          ? ""
                        : collector->request->target->rebuilt ? "unwatched, as rebuilt,"
                                                              : "unwatched",
                        base->binary ? base->binary : "", base->run.seconds);
    if (plain != watched)
        rsc_session_say(session, "warning: the unwatched run ended differently (%s %d, watched %s %d)",
                        WIFSIGNALED(plain) ? "signal" : "status",
                        WIFSIGNALED(plain) ? WTERMSIG(plain) : WEXITSTATUS(plain),
                        WIFSIGNALED(watched) ? "signal" : "status",
                        WIFSIGNALED(watched) ? WTERMSIG(watched) : WEXITSTATUS(watched));
}

void rsc_run_say(struct rsc_analysis *analysis, const struct rsc_collector *collector,
                 const struct rsc_run_facts *facts, const struct rsc_whole_run *whole,
                 const struct rsc_run_base *base) {
    double used = rsc_collector_cpu_seconds(collector) + own_seconds(),
           slowdown = base->run.seconds > 0 ? used / base->run.seconds : NAN;
    for (size_t i = 0; i < analysis->count; i++) {
        if (!analysis->profiles[i]) continue;
        analysis->profiles[i]->made.coverage = facts->coverage;
        analysis->profiles[i]->made.threads_unseen = facts->threads_unseen;
        analysis->profiles[i]->made.overhead = slowdown;
    }
    if (analysis->session->quiet) return;
    say_slowdown(analysis->session, collector, base, slowdown);
    for (const char *line = facts->text, *end; (end = strchr(line, '\n')); line = end + 1)
        if (*line != *RSC_DETAIL) rsc_session_say(analysis->session, "%.*s", (int)(end - line), line);
        else if (analysis->session->verbose)
            rsc_session_say(analysis->session, "%.*s", (int)(end - line - 1), line + 1);
    if (analysis->profiles[0]) say_sample(analysis->session, analysis->profiles[0], collector->request, whole);
}

int rsc_run_exit_status(const struct rsc_collector *collector) {
    int status = collector->launch.status;
    if (!WIFSIGNALED(status)) return WEXITSTATUS(status);
    int number = WTERMSIG(status);
    fprintf(stderr, "reusescope: %s: ended by signal %d (%s)\n", collector->request->command[0], number,
            strsignal(number));
    return 128 + number;
}
