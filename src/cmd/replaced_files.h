/*
 * replaced_files.h - warns when two programs or libraries were at the same addresses, one after the other, as plug-ins that
 * are loaded in turns. Rows of a profile count by address, and names are those of the last file that was there.
 */
#ifndef RSC_CMD_REPLACED_FILES_H
#define RSC_CMD_REPLACED_FILES_H

#include <reusescope/error.h>

#include "profile/profile_model.h"

/* `profile` has its names and its mappings. Returns 0 or RSC_ENOMEM. */
int rsc_warn_of_replaced_files(const struct rsc_profile *profile, const struct rsc_log *log);

#endif
