/*
 * key_values.h - "KEY=VALUE,KEY=VALUE" into a struct, by a table of keys: what stands
 * behind an engine's name on a command line.
 */
#ifndef RSC_BASE_KEY_VALUES_H
#define RSC_BASE_KEY_VALUES_H

#include <stddef.h>
#include <stdint.h>

#include <reusescope/error.h>

/* One key. Its value goes to `offset` of the struct, or through `take`. */
struct rsc_key {
    const char *name;
    const char *wants; /* what its value should be, for the error: "a part of all lines"; NULL: as the rest says */
    size_t offset, bytes; /* where the value goes; 4 or 8 bytes */
    uint64_t low, high;       /* a number in this range ... */
    const char *const *words; /* ... or, where not NULL, the place of one of these words, ending with NULL */
    /* ... or, where not NULL, whatever this makes of it: 0, or -1 where the value is not what it wants */
    int (*take)(void *into, const char *value, size_t length);
};

/*
 * Sets what `text` (NULL: nothing) has keys for. `keys` ends with a NULL name; `of`
 * begins the error: "engine 'sampled'". Returns 0 or RSC_EINVAL.
 */
int rsc_key_values_parse(void *into, const struct rsc_key *keys, const char *of, const char *text,
                         struct rsc_error *error);

/* Whether a text of that length is the word. */
int rsc_is_word(const char *text, size_t length, const char *word);

/* The place of a text among words that end with NULL; -1: it is none of them. */
int rsc_find_word(const char *text, size_t length, const char *const *words);

#endif
