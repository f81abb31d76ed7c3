/*
 * loops_native.c - records the order in which a program's threads make their accesses, while they run natively.
 *
 * bench/loops-native compiles kernels with -fsanitize=thread and links them with this in place of the
 * sanitizer's library: each access calls one of the functions below, which notes its address in a list of its thread
 * and the processor's clock at every STAMP_EVERY-th. Threads wait for nothing and share nothing that is written,
 * so they run against each other as they do unrecorded, if some three times as slowly. The kernel runs
 * WARM_RUNS times first: threads and memory are there when it counts. At the end all lists are merged by time, between
 * two stamps evenly, and written as a trace.
 *
 *     KERNEL LOW HIGH TRACE     only accesses to LOW..HIGH are noted
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <x86intrin.h>

#include <reusescope/reusescope.h>

#define STAMP_EVERY 16u
#define THREADS_MAX 256u
#define ACCESSES_MAX (UINT64_C(1) << 26) /* of one thread: reserved, and used as far as needed */
#define WARM_RUNS 3
#define BATCH 4096u

void kernel(void);

struct stamp {
    uint64_t clock, count; /* accesses made before */
};

struct list {
    uint64_t count, stamps;
    uint32_t *offset; /* from `low`, times two, and 1 for a write */
    struct stamp *stamp;
};

static uintptr_t low, span;
static struct list *list[THREADS_MAX];
static uint32_t lists;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static __thread struct list *mine;

static void *reserve(size_t bytes) {
    void *memory = malloc(bytes); /* large: pages come when they are written */
    if (memory) return memory;
    fprintf(stderr, "loops_native: no memory\n");
    exit(1);
}

static __attribute__((noinline)) struct list *begin_list(void) {
    mine = aligned_alloc(64, 128); /* alone in its lines */
    if (!mine) exit(1);
    memset(mine, 0, 128);
    mine->offset = reserve(ACCESSES_MAX * sizeof *mine->offset);
    mine->stamp = reserve(ACCESSES_MAX / STAMP_EVERY * 2 * sizeof *mine->stamp);
    pthread_mutex_lock(&mutex);
    if (lists == THREADS_MAX) exit(1);
    list[lists++] = mine;
    pthread_mutex_unlock(&mutex);
    return mine;
}

static inline void put_stamp(struct list *to) { to->stamp[to->stamps++] = (struct stamp){__rdtsc(), to->count}; }

static inline void note(const void *address, uint32_t write) {
    uintptr_t at = (uintptr_t)address - low;
    if (at > span) return;
    struct list *to = mine ? mine : begin_list();
    if (to->count % STAMP_EVERY == 0) put_stamp(to);
    to->offset[to->count++] = (uint32_t)at << 1 | write;
}

/* Parts of a parallel construct begin and end: time passes without accesses. */
static void mark(void) {
    struct list *to = mine ? mine : begin_list();
    put_stamp(to);
}

/* What the compiler calls. */
void __tsan_init(void) {}
void __tsan_func_entry(void *from) { (void)from, mark(); }
void __tsan_func_exit(void) { mark(); }
#define HOOKS(bytes)                                             \
    void __tsan_read##bytes(void *address) { note(address, 0); } \
    void __tsan_write##bytes(void *address) { note(address, 1); }
HOOKS(1)
HOOKS(2)
HOOKS(4)
HOOKS(8)
HOOKS(16)

void __real_GOMP_barrier(void);
void __wrap_GOMP_barrier(void) {
    mark();
    __real_GOMP_barrier();
    mark();
}

/* ---- one order ---- */

struct reader {
    uint64_t at, stamp;
    double time; /* of access `at` */
};

/* Between stamps time passes evenly. */
static void find_time(struct reader *reader, const struct list *from) {
    while (reader->stamp + 1 < from->stamps && from->stamp[reader->stamp + 1].count <= reader->at) reader->stamp++;
    const struct stamp *before = &from->stamp[reader->stamp], *after = before + 1;
    double part = (double)(reader->at - before->count);
    reader->time = (double)before->clock;
    if (reader->stamp + 1 < from->stamps && after->count > before->count)
        reader->time += (double)(after->clock - before->clock) * part / (double)(after->count - before->count);
}

static void must(int status, const struct rsc_error *error) {
    if (status >= 0) return;
    fprintf(stderr, "loops_native: %s\n", error->message);
    exit(1);
}

static void write_trace(const char *path) {
    static struct reader reader[THREADS_MAX];
    static uint64_t addr[BATCH], meta[BATCH];
    struct rsc_error error = {0};
    struct rsc_trace_writer_options options = {.struct_bytes = sizeof options};
    struct rsc_trace_writer *writer;
    struct rsc_batch batch = {.addr = addr, .meta = meta, .instructions = RSC_UNKNOWN};
    must(rsc_trace_writer_open(&writer, path, &options, &error), &error);
    for (uint32_t t = 0; t < lists; t++) find_time(&reader[t], list[t]);
    for (int more = 1; more;) {
        uint32_t next = UINT32_MAX;
        for (uint32_t t = 0; t < lists; t++)
            if (reader[t].at < list[t]->count && (next == UINT32_MAX || reader[t].time < reader[next].time)) next = t;
        more = next != UINT32_MAX;
        if (more) {
            uint32_t offset = list[next]->offset[reader[next].at++];
            addr[batch.count] = low + (offset >> 1);
            meta[batch.count++] = rsc_meta(1, offset & 1 ? RSC_WRITE : RSC_READ, next);
            if (reader[next].at < list[next]->count) find_time(&reader[next], list[next]);
        }
        if (batch.count == BATCH || !more) {
            must(rsc_trace_writer_push(writer, &batch, &error), &error);
            batch.count = 0;
        }
    }
    must(rsc_trace_writer_finish(writer, &error), &error);
    rsc_trace_writer_close(writer);
}

int main(int argc, char **argv) {
    if (argc != 4) return 2;
    low = strtoull(argv[1], NULL, 0);
    span = strtoull(argv[2], NULL, 0) - low;
    for (int run = 0; run <= WARM_RUNS; run++) {
        for (uint32_t t = 0; t < lists; t++) list[t]->count = list[t]->stamps = 0;
        kernel();
    }
    write_trace(argv[3]);
    return 0;
}
