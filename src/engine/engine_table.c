/* engine_table.c - see engine_table.h. To add an engine, add a file to its room and a row here. */
#include "engine/engine_table.h"

#include "multicore/multicore_engines.h"

const struct rsc_engine_kind *const rsc_engine_kinds[] = {
    &rsc_engine_auto,
    &rsc_engine_exact,
    &rsc_engine_parallel,
    &rsc_engine_gpu,
    &rsc_engine_mpi,
    &rsc_engine_shards,
    &rsc_engine_shards_max,
    &rsc_engine_sampled,
    &rsc_engine_time,
    &rsc_engine_hprda,
    &rsc_engine_featherlight,
    &rsc_engine_requests,
    &rsc_engine_requests_shards,
    NULL,
};

const struct rsc_engine_alias rsc_engine_aliases[] = {
    {"hotl", &rsc_engine_time},
    {"aet", &rsc_engine_time},
    {"statstack", &rsc_engine_time},
    {"shen", &rsc_engine_time},
    {NULL, NULL},
};
