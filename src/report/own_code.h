/*
 * own_code.h - tells the user's own source lines from those of libraries.
 *
 * A line is the user's if its file is known and neither a system header, nor a
 * library's or a language runtime's source. What a library does for a line of the
 * user, inlined or called there, counts for that line.
 */
#ifndef RSC_REPORT_OWN_CODE_H
#define RSC_REPORT_OWN_CODE_H

#include "profile/profile_model.h"

/* The row's place if it is the user's, else the innermost of the user's that it was inlined into; NULL: none. */
const struct rsc_place *rsc_own_place(const struct rsc_code_row *row);

/* The innermost of the user's places on a call path; NULL: none. */
const struct rsc_place *rsc_own_caller(const struct rsc_profile *profile, uint32_t context);

#endif
