/*
 * reuse.c - miss ratios of a trace, or of a loop, at three cache sizes.
 *
 *     reuse TRACE     a trace file in any format that reusescope reads
 *     reuse           100 sweeps over an array of 8 KiB, made up here
 *
 * Build: cc reuse.c $(pkg-config --cflags --libs reusescope)
 */
#include <stdio.h>

#include <reusescope/reusescope.h>

/* Every batch of a trace file. */
static int push_trace(struct rsc_engine *engine, const char *path, struct rsc_error *error) {
    struct rsc_trace *trace;
    const struct rsc_batch *batch;
    int status = rsc_trace_open(&trace, path, NULL, error);
    if (status < 0) return status;
    while ((status = rsc_trace_next(trace, &batch, error)) > 0)
        if ((status = rsc_engine_push(engine, batch, error)) < 0) break;
    rsc_trace_close(trace);
    return status;
}

/* for (sweep = 0; sweep < 100; sweep++) for (i = 0; i < 1024; i += 8) use(array[i]); */
static int push_sweeps(struct rsc_engine *engine, struct rsc_error *error) {
    enum { ELEMENTS = 1024, STEP = 8, COUNT = ELEMENTS / STEP };
    uint64_t addr[COUNT], meta[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) {
        addr[i] = 0x10000 + (uint64_t)i * STEP * sizeof(double);
        meta[i] = rsc_meta(sizeof(double), RSC_READ, 0);
    }
    const struct rsc_batch batch = {.count = COUNT, .addr = addr, .meta = meta, .instructions = RSC_UNKNOWN};
    for (int sweep = 0; sweep < 100; sweep++) {
        int status = rsc_engine_push(engine, &batch, error);
        if (status < 0) return status;
    }
    return 0;
}

static void print_profile(const struct rsc_profile *profile) {
    static const uint64_t sizes[] = {64, 128, 16384}; /* lines */
    struct rsc_profile_totals totals;
    rsc_profile_get_totals(profile, &totals);
    printf("%llu references to %llu lines of %llu bytes\n", (unsigned long long)totals.references,
           (unsigned long long)totals.distinct, (unsigned long long)totals.line_bytes);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        printf("miss ratio of %5llu lines, %7llu bytes: %6.2f %%\n", (unsigned long long)sizes[i],
               (unsigned long long)(sizes[i] * totals.line_bytes), 100 * rsc_profile_miss_ratio(profile, sizes[i]));
}

int main(int argc, char **argv) {
    const struct rsc_engine_options options = {.struct_bytes = sizeof options, .line_bytes = 64};
    struct rsc_engine *engine = NULL;
    struct rsc_profile *profile = NULL;
    struct rsc_error error;
    int status = rsc_engine_new(&engine, &options, &error);
    if (!status) status = argc > 1 ? push_trace(engine, argv[1], &error) : push_sweeps(engine, &error);
    if (!status) status = rsc_engine_finish(engine, &profile, &error);
    if (!status) print_profile(profile);
    else fprintf(stderr, "reuse: %s\n", error.message);
    rsc_profile_free(profile);
    rsc_engine_free(engine);
    return status < 0;
}
