/*
 * collector.h - the one interface behind which every way to watch a program lives. A new one is a file with its
 * functions and a row of the table in collectors.c.
 *
 *     check     can it watch this program so, here?
 *     start     the program runs
 *     next      what it did, in batches with columns (trace/batch_columns.h)
 *     finish    what is known of the whole run
 *     describe  what people should know of it, so far or at the end
 */
#ifndef RSC_COLLECT_COLLECTOR_H
#define RSC_COLLECT_COLLECTOR_H

#include <reusescope/trace.h>

#include "collect/launch/launch.h"
#include "engine/engine_live.h"
#include "trace/batch_columns.h"

/* What is to be watched, and how. */
struct rsc_collect_request {
    const struct rsc_target *target;
    char *const *command; /* the program and its arguments */
    int by_name;          /* the collector was asked for: the program need not look as if it were for it */
    struct rsc_wanted wanted;
    int contexts, objects; /* call paths; heap blocks */
    int follow;            /* forked children and programs that it starts too */
    int strict;            /* threads one at a time, in turns */
    const char *roi_function; /* only while it runs; NULL: all of the time */
    int roi_marked;           /* only between reusescope_begin() and reusescope_end() */
    uint64_t skip, length;    /* instructions, of rebuilt programs accesses; length 0: to the end */
    uint64_t seed;
    int seed_given;
    const char *sysroot; /* QEMU's -L; NULL: chosen for the guest */
    int unread;          /* blocks are written over, not read: to measure */
};

/* What people want to know of a run. */
struct rsc_run_facts {
    uint64_t accesses, threads;
    uint64_t instructions; /* recorded or not; 0: not known */
    double coverage;       /* share of the run that was seen; NAN: not known */
    size_t used;
    char text[6000]; /* lines to print, each ending in \n */
};

struct rsc_collector {
    const struct rsc_collector_kind *kind;
    const struct rsc_collect_request *request; /* the caller's */
    struct rsc_launch launch;
    void *state; /* the kind's */
};

enum { RSC_COLLECT_NOTHING = 0, RSC_COLLECT_BATCH = 1, RSC_COLLECT_ENDED = 2 };

/* Functions return 0 or a negative code unless they say otherwise. */
struct rsc_collector_kind {
    const char *name;   /* of --with, and made.source */
    unsigned gives;     /* bits by enum rsc_taken */
    const char *usual_lines; /* sample of lines that it takes where nothing else is asked for; NULL: none */
    int only_by_name;   /* `auto` does not choose it */

    /* RSC_EINVAL: the request contradicts it; RSC_EUNSUPPORTED: not this program, or not on this machine. */
    int (*check)(const struct rsc_collect_request *request, struct rsc_error *error);
    int (*start)(struct rsc_collector *collector, struct rsc_error *error);

    /*
     * RSC_COLLECT_BATCH and a batch, valid until the next call; RSC_COLLECT_NOTHING after waiting a moment;
     * RSC_COLLECT_ENDED when the program has ended and all of it was taken.
     */
    int (*next)(struct rsc_collector *collector, struct rsc_batch *batch, struct rsc_batch_columns *columns,
                struct rsc_error *error);

    /* After the end; *whole stays until close. */
    int (*finish)(struct rsc_collector *collector, struct rsc_whole_run *whole, struct rsc_error *error);
    void (*describe)(const struct rsc_collector *collector, struct rsc_run_facts *facts);
    void (*close)(struct rsc_collector *collector); /* frees the state, which may be NULL */
};

static inline int rsc_collector_gives(const struct rsc_collector_kind *kind, enum rsc_taken what) {
    return kind->gives >> what & 1;
}

/* The table, ending with NULL, in the order in which `auto` asks. */
extern const struct rsc_collector_kind *const rsc_collector_kinds[];
extern const struct rsc_collector_kind rsc_collector_rebuilt, rsc_collector_qemu, rsc_collector_perf;

/* A value of --with: 0, *kind being NULL for "auto"; or -1 when it is none. */
int rsc_collector_parse(const char *name, const struct rsc_collector_kind **kind);

/* "auto, asm, qemu, perf": all that --with takes, with `between` in between. */
void rsc_collector_names(char *text, size_t room, const char *between);

/* `auto`: the first that can; else the error is that of the last one asked. */
int rsc_collector_choose(const struct rsc_collector_kind **kind, const struct rsc_collect_request *request,
                         struct rsc_error *error);

/* A collector that has not started: it may be closed. */
void rsc_collector_init(struct rsc_collector *collector, const struct rsc_collector_kind *kind,
                        const struct rsc_collect_request *request);

/* Opens the ring, then the kind's start. */
int rsc_collector_start(struct rsc_collector *collector, struct rsc_error *error);

/* Nobody reads any more: the program runs on unwatched, and is waited for. */
void rsc_collector_let_run(struct rsc_collector *collector);
void rsc_collector_close(struct rsc_collector *collector);

/* Adds a line for people. */
void rsc_facts_add(struct rsc_run_facts *facts, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Processor time of the program, once it has ended. */
double rsc_collector_cpu_seconds(const struct rsc_collector *collector);

#endif
