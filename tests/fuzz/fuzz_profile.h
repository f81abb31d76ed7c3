/* fuzz_profile.h - what must hold of every profile that a fuzz target makes. */
#ifndef RSC_TESTS_FUZZ_PROFILE_H
#define RSC_TESTS_FUZZ_PROFILE_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <reusescope/profile.h>

#include "fuzz_check.h"

/* Written, read, and written the same. */
static inline void fuzz_write_and_read(const struct rsc_profile *profile) {
    struct rsc_error error;
    char *text = NULL, *again = NULL;
    size_t bytes = 0, again_bytes = 0;
    struct rsc_profile *read = NULL;
    FUZZ_CHECK(rsc_profile_json(profile, &text, &bytes, &error) == 0);
    int status = rsc_profile_parse(&read, text, bytes, "profile", &error);
    if (status < 0) fprintf(stderr, "%s\n", error.message);
    FUZZ_CHECK(status == 0);
    FUZZ_CHECK(rsc_profile_json(read, &again, &again_bytes, &error) == 0);
    FUZZ_CHECK(bytes == again_bytes && !memcmp(text, again, bytes));
    rsc_profile_free(read);
    rsc_text_free(text);
    rsc_text_free(again);
}

#endif
