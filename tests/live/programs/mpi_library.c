/* An MPI program that analyses a native trace with the library: mpi_library TRACE RESULT.json */
#include <mpi.h>
#include <reusescope/reusescope.h>
#include <stdio.h>

static int analyse(const char *path, const char *result, int rank, int size, struct rsc_error *error) {
    struct rsc_engine_options options = {.struct_bytes = sizeof options, .engine = "mpi"};
    struct rsc_filter slice = RSC_FILTER_ALL;
    struct rsc_trace_options reading = {.struct_bytes = sizeof reading};
    struct rsc_trace *trace;
    struct rsc_trace_info info;
    struct rsc_engine *engine;
    struct rsc_profile *profile;
    const struct rsc_batch *batch;
    int status;
    if ((status = rsc_trace_open(&trace, path, NULL, error)) < 0) return status;
    rsc_trace_get_info(trace, &info);
    rsc_trace_close(trace);
    slice.first = info.accesses * (uint64_t)rank / (uint64_t)size;
    slice.count = info.accesses * (uint64_t)(rank + 1) / (uint64_t)size - slice.first;
    reading.filter = &slice;
    if ((status = rsc_trace_open(&trace, path, &reading, error)) < 0) return status;
    if ((status = rsc_engine_new(&engine, &options, error)) < 0) return status;
    while ((status = rsc_trace_next(trace, &batch, error)) > 0)
        if ((status = rsc_engine_push(engine, batch, error)) < 0) return status;
    if (!status) status = rsc_engine_finish(engine, &profile, error);
    if (status < 0) return status;
    if (!rank) status = rsc_profile_write_json(profile, result, error);
    rsc_profile_free(profile);
    rsc_engine_free(engine);
    rsc_trace_close(trace);
    return status;
}

int main(int argc, char **argv) {
    struct rsc_error error;
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc != 3 || analyse(argv[1], argv[2], rank, size, &error) < 0) {
        fprintf(stderr, "rank %d: %s\n", rank, argc == 3 ? error.message : "TRACE RESULT.json");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
    return 0;
}
