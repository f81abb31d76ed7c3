/* engine_auto.h - checks a result of the auto engine against the requested error. */
#ifndef RSC_ENGINE_ENGINE_AUTO_H
#define RSC_ENGINE_ENGINE_AUTO_H

#include <reusescope/profile.h>

/*
 * Whether the curve's mean absolute error is within `error`, by its own 90 % error bars.
 * Always true for an exact result. If false and the trace can be read again, use an exact
 * engine.
 */
int rsc_auto_kept_word(const struct rsc_profile *profile, double error);

#endif
