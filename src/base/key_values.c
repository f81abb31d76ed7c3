/* key_values.c - see key_values.h. */
#include "base/key_values.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/numbers.h"

#define SHOWN 60 /* characters of a value in an error */

int rsc_is_word(const char *text, size_t length, const char *word) {
    return strlen(word) == length && !memcmp(text, word, length);
}

int rsc_find_word(const char *text, size_t length, const char *const *words) {
    for (int i = 0; words[i]; i++)
        if (rsc_is_word(text, length, words[i])) return i;
    return -1;
}

static int take(const struct rsc_key *key, void *into, const char *value, size_t length) {
    char *to = (char *)into + key->offset;
    uint64_t number;
    if (key->take) return key->take(into, value, length);
    if (key->words) {
        int place = rsc_find_word(value, length, key->words);
        if (place < 0) return -1;
        number = (uint64_t)place;
    } else if (rsc_parse_u64(value, length, &number) < 0 || number < key->low || number > key->high) {
        return -1;
    }
    assert(key->bytes == 8 || (key->bytes == 4 && number <= UINT32_MAX));
    if (key->bytes == 8) memcpy(to, &number, 8);
    else memcpy(to, &(uint32_t){(uint32_t)number}, 4);
    return 0;
}

static void add_word(char *list, size_t room, const char *word) {
    size_t used = strlen(list);
    snprintf(list + used, room - used, "%s%s", used ? ", " : "", word);
}

static int refuse_key(const struct rsc_key *keys, const char *of, const char *text, size_t length,
                      struct rsc_error *error) {
    char names[200] = "";
    for (const struct rsc_key *key = keys; key->name; key++) add_word(names, sizeof names, key->name);
    return rsc_fail(error, RSC_EINVAL, "%s: '%.*s': not one of %s", of, (int)(length < SHOWN ? length : SHOWN), text,
                    names);
}

static int refuse_value(const struct rsc_key *key, const char *of, const char *text, size_t length,
                        struct rsc_error *error) {
    char list[200] = "";
    int shown = (int)(length < SHOWN ? length : SHOWN);
    if (key->wants) return rsc_fail(error, RSC_EINVAL, "%s: %.*s: not %s", of, shown, text, key->wants);
    if (!key->words)
        return rsc_fail(error, RSC_EINVAL, "%s: %.*s: not a number from %llu to %llu", of, shown, text,
                        (unsigned long long)key->low, (unsigned long long)key->high);
    for (size_t i = 0; key->words[i]; i++) add_word(list, sizeof list, key->words[i]);
    return rsc_fail(error, RSC_EINVAL, "%s: %.*s: not one of %s", of, shown, text, list);
}

int rsc_key_values_parse(void *into, const struct rsc_key *keys, const char *of, const char *text,
                         struct rsc_error *error) {
    while (text) {
        size_t length = strcspn(text, ","), stem = strcspn(text, "=,");
        const struct rsc_key *key = keys;
        while (key->name && !rsc_is_word(text, stem, key->name)) key++;
        if (!key->name) return refuse_key(keys, of, text, stem, error);
        if (stem == length || take(key, into, text + stem + 1, length - stem - 1) < 0)
            return refuse_value(key, of, text, length, error);
        text = text[length] ? text + length + 1 : NULL;
    }
    return 0;
}
