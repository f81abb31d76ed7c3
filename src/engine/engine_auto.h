/* engine_auto.h - whether a result of the auto engine is as good as was asked. */
#ifndef RSC_ENGINE_ENGINE_AUTO_H
#define RSC_ENGINE_ENGINE_AUTO_H

#include <reusescope/profile.h>

/*
 * By its own error bars, 90 % ones: whether the curve's mean absolute error is within `error`.
 * An exact result always is. Where it is not and the trace can be read again, an
 * exact engine should.
 */
int rsc_auto_kept_word(const struct rsc_profile *profile, double error);

#endif
