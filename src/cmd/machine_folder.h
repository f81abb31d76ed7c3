/* machine_folder.h - where the machine files are that come with the tool. */
#ifndef RSC_CMD_MACHINE_FOLDER_H
#define RSC_CMD_MACHINE_FOLDER_H

#include <limits.h>
#include <stddef.h>

#include "base/own_file.h"

/* In the source tree, or installed; NULL: neither. */
static inline const char *rsc_machine_folder(char folder[PATH_MAX]) {
    return rsc_own_file("../share/reusescope/machines", folder) || rsc_own_file("../../machines", folder) ? folder
                                                                                                          : NULL;
}

#endif
