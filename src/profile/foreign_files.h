/* foreign_files.h - tells source files of libraries and language runtimes from a user's own, by where they lie. */
#ifndef RSC_PROFILE_FOREIGN_FILES_H
#define RSC_PROFILE_FOREIGN_FILES_H

int rsc_file_is_foreign(const char *file);

#endif
