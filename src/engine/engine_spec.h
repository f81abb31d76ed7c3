/*
 * engine_spec.h - "shards:0.01", "hp-rda:local=512": an engine and its parameters, parsed
 * once, at the edge. After that nothing compares names: an engine's abilities are in its
 * table row (distance/engine_kind.h), and its parameters are a struct.
 */
#ifndef RSC_ENGINE_ENGINE_SPEC_H
#define RSC_ENGINE_ENGINE_SPEC_H

#include "engine/engine_table.h"

struct rsc_engine_spec {
    const struct rsc_engine_kind *kind;
    _Alignas(16) unsigned char parameters[RSC_ENGINE_PARAMETERS_BYTES]; /* the kind's own struct */
};

/* `text` may be NULL: "auto". Returns 0 or RSC_EINVAL. */
int rsc_engine_spec_parse(struct rsc_engine_spec *spec, const char *text, struct rsc_error *error);

/* The parsed parameters, inside `spec`, if the engine is of this kind, else NULL. */
void *rsc_engine_spec_of(const struct rsc_engine_spec *spec, const struct rsc_engine_kind *kind);

/* Whether this engine is exact and supports private stacks: exact, or auto without --error. */
int rsc_engine_spec_is_exact(const struct rsc_engine_spec *spec);

/* Progress of an engine; call between pushes. */
void rsc_engine_so_far(const struct rsc_engine *engine, struct rsc_so_far *so_far);

/* Memory of an engine now; RSC_UNKNOWN: it does not count it. Call between pushes. */
uint64_t rsc_engine_bytes(const struct rsc_engine *engine);

/* Tells the engine about how many accesses will come in all; RSC_UNKNOWN: not known. Before the first. */
void rsc_engine_expect(struct rsc_engine *engine, uint64_t accesses);

/* Lets the engine use a second thread; before the first batch. */
void rsc_engine_two_threads(struct rsc_engine *engine);

/*
 * Lets the engine of private stacks lean on that of the shared one, which takes the same batches: before the first
 * batch, if both are exact and nobody looks at single distances or lines. Then rsc_engine_stand() is called with each
 * batch before either takes it, and the private one is finished first. Both return whether it leans; the
 * other may return an error.
 */
int rsc_engine_lean_on(struct rsc_engine *private_engine, struct rsc_engine *shared_engine);
int rsc_engine_stand(struct rsc_engine *private_engine, const struct rsc_batch *batch, struct rsc_error *error);

/* Bytes used for this many distinct lines; 0: little, for any number of lines. */
uint64_t rsc_engine_memory(const struct rsc_engine *engine, uint64_t lines);

/* rsc_engine_new() with a parsed specification; options->engine is ignored. */
int rsc_engine_open(struct rsc_engine **out, const struct rsc_engine_spec *spec,
                    const struct rsc_engine_options *options, struct rsc_error *error);

/*
 * Has the threads that decode the trace do as much of the engine's work as they can. Before the first batch. Returns
 * whether it does: then its parts (rsc_trace_next_part()) are pushed, in order, instead of batches.
 */
int rsc_engine_use_parts(struct rsc_engine *engine, struct rsc_trace *trace);
int rsc_engine_push_part(struct rsc_engine *engine, void *part, const struct rsc_batch *batch, struct rsc_error *error);

/* rsc_engine_push() of a batch with columns; NULL: without. */
int rsc_engine_push_columns(struct rsc_engine *engine, const struct rsc_batch *batch,
                            const struct rsc_batch_columns *columns, struct rsc_error *error);

/* An engine without a name, around a state made elsewhere. It destroys the state even when it fails. */
int rsc_engine_around(struct rsc_engine **out, const struct rsc_engine_kind *kind, void *state,
                      const struct rsc_engine_options *options, struct rsc_error *error);

#endif
