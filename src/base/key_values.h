/*
 * key_values.h - parses "KEY=VALUE,KEY=VALUE", the parameters after an engine's name
 * on the command line, into a struct described by a table of keys.
 */
#ifndef RSC_BASE_KEY_VALUES_H
#define RSC_BASE_KEY_VALUES_H

#include <stddef.h>
#include <stdint.h>

#include <reusescope/error.h>

/* One key. Its value goes to `offset` of the struct, or through `take`. */
struct rsc_key {
    const char *name;
    const char *wants; /* the expected value, for errors: "a part of all lines"; NULL: derived from the fields below */
    size_t offset, bytes; /* where the value goes; 4 or 8 bytes */
    uint64_t low, high; /* a number in this range ... */
    const char *const *words; /* ... or, if not NULL, the index of one of these words, ending with NULL */
    /* ... or, if not NULL, this function stores the value: returns 0, or -1 for an invalid value */
    int (*take)(void *into, const char *value, size_t length);
};

/*
 * Sets the fields that `text` has keys for (NULL: none). `keys` ends with a NULL name;
 * errors begin with `of`: "engine 'sampled'". Returns 0 or RSC_EINVAL.
 */
int rsc_key_values_parse(void *into, const struct rsc_key *keys, const char *of, const char *text,
                         struct rsc_error *error);

/* Whether the first `length` bytes of `text` are exactly `word`. */
int rsc_is_word(const char *text, size_t length, const char *word);

/* The index of `text` in the NULL-terminated list `words`; -1 if it is not there. */
int rsc_find_word(const char *text, size_t length, const char *const *words);

#endif
