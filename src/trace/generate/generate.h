/*
 * generate.h - synthetic traces with known reuse.
 *
 * A specification is KIND[,key=value...]:
 *
 *   uniform   each access to a line drawn uniformly
 *   zipf      line of popularity rank r with probability in proportion to
 *             r^-skew; ranks are scattered over the lines
 *   cyclic    lines 0, 1, ... lines-1, over and over
 *   stride    the address advances by `stride` bytes, modulo lines * 64; with a
 *             stride that does not divide evenly, an access may reach past a
 *             line's end, and by less than `size` past the last line's
 *   stencil   sweeps over the inner points of a square grid of doubles that
 *             fills `lines` lines: reads north, south, west, east and centre,
 *             then writes the point of a second such grid right behind it
 *   chase     follows pointers along one random cycle through all lines
 *   mix       stretches of all the others in turn, on the same lines
 *
 *   lines=N    64-byte lines touched (stencil: of each grid); 64K; 1 to 2^40
 *              (stencil and mix: from 2)
 *   skew=X     of zipf, 0 to 100; 1
 *   stride=N   bytes from one access of `stride` to the next; 256
 *   threads=T  1; with more, threads alternate in runs of 16 accesses on average.
 *              Each thread walks the same lines from its own starting point;
 *              uniform and zipf draw from one stream for all threads
 *   write=X    fraction of accesses that are writes, 0 to 1; 0. The stencil has
 *              its own writes and ignores this
 *   base=A     address of the first byte; 0x10000000
 *   size=N     bytes per access; 8
 *
 * lines, stride, base and size take K, M and G (powers of two) and 0x numbers.
 * Accesses start at line starts unless the kind says otherwise. There are no pcs
 * and no instruction counts.
 *
 * The accesses depend on the specification and the seed only, not on the machine
 * or on how many are requested at a time; a shorter trace is a prefix of a longer
 * one.
 */
#ifndef RSC_TRACE_GENERATE_GENERATE_H
#define RSC_TRACE_GENERATE_GENERATE_H

#include <stddef.h>
#include <stdint.h>

#include <reusescope/error.h>

#include "trace/source.h"

/* A trace of `count` accesses. RSC_EINVAL names the key at fault and what is allowed. */
int rsc_generator_open(struct rsc_source **out, const char *spec, uint64_t count, uint64_t seed,
                       struct rsc_error *error);

/* The generator alone: fills the caller's columns, without end. */
struct rsc_generator;
int rsc_generator_new(struct rsc_generator **out, const char *spec, uint64_t seed, struct rsc_error *error);
void rsc_generator_fill(struct rsc_generator *generator, uint64_t *addr, uint64_t *meta, size_t count);
void rsc_generator_free(struct rsc_generator *generator);

#endif
