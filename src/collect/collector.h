/*
 * collector.h - the interface that every collector implements. A new collector is a file with its functions and
 * a row of the table in collectors.c.
 *
 *     check     whether it can record this program here as requested
 *     start     starts the program
 *     next      returns its accesses in batches with columns (trace/batch_columns.h)
 *     finish    returns the facts of the whole run
 *     describe  lines to show to the user, during the run or at the end
 */
#ifndef RSC_COLLECT_COLLECTOR_H
#define RSC_COLLECT_COLLECTOR_H

#include <reusescope/trace.h>

#include "collect/launch/launch.h"
#include "engine/engine_live.h"
#include "trace/batch_columns.h"

/* What to record, and how. */
struct rsc_collect_request {
    const struct rsc_target *target;
    char *const *command; /* the program and its arguments */
    int by_name;          /* the collector was named by the user: skip the check of how the program was built */
    struct rsc_wanted wanted;
    int contexts, objects; /* call paths; heap blocks */
    int follow;            /* also forked children and programs it starts */
    int strict;            /* threads one at a time, round-robin */
    uint64_t quantum;      /* --quantum; 0: not given */
    const char *roi_function; /* each thread only while it is in this function; NULL: always */
    int roi_marked;           /* only between reusescope_begin() and reusescope_end() */
    uint64_t skip, length;    /* in instructions (rebuilt programs: accesses); length 0: to the end */
    uint64_t seed;
    int seed_given;
    const char *sysroot; /* QEMU's -L; NULL: chosen for the guest */
    pid_t attach_to; /* a running program to watch; 0: start the command */
    int attach_in_vm; /* watch it from outside on a virtual machine too */
    double attach_seconds, attach_patience; /* how long; how long to wait for its answer */
    int unread;          /* blocks are overwritten and not read; for measurements */
};

/* Whether only a part of the run, or more than one process, is recorded. */
static inline int rsc_collect_limited(const struct rsc_collect_request *request) {
    return request->roi_function || request->roi_marked || request->skip || request->length || request->follow;
}

/* Facts about a run to show to the user. */
struct rsc_run_facts {
    uint64_t accesses, threads;
    uint64_t instructions; /* whether or not recorded; 0: not known */
    double coverage;       /* share of the run that was seen; NAN: not known */
    uint64_t threads_unseen; /* more ran at once than can be watched */
    size_t used;
    char text[6000]; /* lines to print, each ending in \n; one that starts with a tab is a detail, for -v */
};

struct rsc_collector {
    const struct rsc_collector_kind *kind;
    const struct rsc_collect_request *request; /* owned by the caller */
    struct rsc_launch launch;
    void *state; /* owned by the collector kind */
};

enum { RSC_COLLECT_NOTHING = 0, RSC_COLLECT_BATCH = 1, RSC_COLLECT_ENDED = 2 };

/* Functions return 0 or a negative code unless stated otherwise. */
struct rsc_collector_kind {
    const char *name;   /* name for --with and made.source */
    unsigned gives;     /* bits by enum rsc_taken */
    int samples_by_default; /* the program's own samples of references are what it gives unless every one is needed */
    int only_by_name;   /* `auto` never chooses it */
    int knows_order;    /* with a sample of lines, when each reference was among those of all threads */

    /* RSC_EINVAL: the request contradicts it; RSC_EUNSUPPORTED: not for this program, or not on this machine. */
    int (*check)(const struct rsc_collect_request *request, struct rsc_error *error);
    int (*start)(struct rsc_collector *collector, struct rsc_error *error);

    /*
     * Returns RSC_COLLECT_BATCH and a batch, valid until the next call; RSC_COLLECT_NOTHING after a short
     * wait; RSC_COLLECT_ENDED when the program has ended and all its data was taken.
     */
    int (*next)(struct rsc_collector *collector, struct rsc_batch *batch, struct rsc_batch_columns *columns,
                struct rsc_error *error);

    /* Call after the end; *whole is valid until close. */
    int (*finish)(struct rsc_collector *collector, struct rsc_whole_run *whole, struct rsc_error *error);
    void (*describe)(const struct rsc_collector *collector, struct rsc_run_facts *facts);
    void (*close)(struct rsc_collector *collector); /* frees the state, which may be NULL */
};

static inline int rsc_collector_gives(const struct rsc_collector_kind *kind, enum rsc_taken what) {
    return kind->gives >> what & 1;
}

/* The table, ending with NULL, in the order in which `auto` tries. */
extern const struct rsc_collector_kind *const rsc_collector_kinds[];
extern const struct rsc_collector_kind rsc_collector_rebuilt, rsc_collector_valgrind, rsc_collector_qemu,
    rsc_collector_perf;

/* Parses a value of --with. Returns 0 (*kind is NULL for "auto"), or -1 for an unknown name. */
int rsc_collector_parse(const char *name, const struct rsc_collector_kind **kind);

/* "auto, asm, valgrind, qemu, perf": all values of --with, separated by `between`. */
void rsc_collector_names(char *text, size_t room, const char *between);

/* `auto`: the first collector that can record it; otherwise the error of the last one tried. */
int rsc_collector_choose(const struct rsc_collector_kind **kind, const struct rsc_collect_request *request,
                         struct rsc_error *error);

/* Makes a collector that has not started; it may be closed. */
void rsc_collector_init(struct rsc_collector *collector, const struct rsc_collector_kind *kind,
                        const struct rsc_collect_request *request);

/* Opens the ring, then calls the kind's start. */
int rsc_collector_start(struct rsc_collector *collector, struct rsc_error *error);

/* Whether a signal ended the program, or the emulator, before the first record could be made. */
int rsc_collector_ended_first(const struct rsc_collector *collector);

/* Stops recording: the program runs on unrecorded until it ends. */
void rsc_collector_let_run(struct rsc_collector *collector);
void rsc_collector_close(struct rsc_collector *collector);

/* Adds a line to show to the user; RSC_DETAIL "..." only with -v. */
#define RSC_DETAIL "\t"
void rsc_facts_add(struct rsc_run_facts *facts, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Processor time of the program, once it has ended. */
double rsc_collector_cpu_seconds(const struct rsc_collector *collector);

#endif
