/* asm_state.h - the state of the process that asm_start.c begins and asm_runtime.c follows. */
#ifndef RSC_RUNTIME_RECORDER_ASM_STATE_H
#define RSC_RUNTIME_RECORDER_ASM_STATE_H

#include <pthread.h>

#include "runtime/recorder/asm_runtime.h"

struct rsc_asm_process {
    int ready;
    struct rsc_ring *ring; /* NULL: not run by reusescope */
    int follow, marked;
    uint64_t skip; /* accesses */
    uint32_t image, pid;
    int recording;        /* the mode requested of every thread */
    int watching;         /* or instead: sampled reuses */
    uint64_t passed;      /* accesses counted towards skip */
    uint64_t wanted_ns;   /* since when recording is requested */
    int maps_noted;
    int lines; /* threads filter their own words and keep sampled lines: asm_lines.c */
    pthread_key_t key;
    /* For a program that was not started by reusescope: */
    int attachable;
    uint32_t user;
    uint32_t generation; /* rings taken and given up */
    uint32_t inside;     /* threads in the runtime */
    uint32_t attaching;  /* one takes or gives up a ring: others stay out */
    uint64_t looked_ns;  /* when last a thread looked for a request */
};
extern struct rsc_asm_process rsc_asm_process __attribute__((visibility("hidden")));

/* A constructor, also called when a module is registered: in a static executable, constructors run in any order. */
void rsc_asm_initialise(void) __attribute__((visibility("hidden")));

/*
 * Looks now and then whether the process is asked to attach: takes a ring that is offered, or gives up the one it has,
 * if no other thread is in the runtime.
 */
void rsc_asm_attach_if_asked(void) __attribute__((visibility("hidden")));

/* The destructor of rsc_asm_process.key. */
void rsc_asm_thread_ends(void *round) __attribute__((visibility("hidden")));

#endif
