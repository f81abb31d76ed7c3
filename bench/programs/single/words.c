/* words.c - makes a text, cuts it into words, counts them in a table of strings, and sorts the counts. */
#include "program.h"

#define BUCKETS 16384

struct word {
    struct word *next;
    long count;
    char text[];
};
static struct word *table[BUCKETS];

static int by_count(const void *a, const void *b) {
    const struct word *x = *(const struct word *const *)a, *y = *(const struct word *const *)b;
    return x->count != y->count ? (x->count < y->count ? 1 : -1) : strcmp(x->text, y->text);
}

static long count_word(const char *text, size_t length) {
    uint64_t hash = 14695981039346656037ull;
    for (size_t i = 0; i < length; i++) hash = (hash ^ (unsigned char)text[i]) * 1099511628211ull;
    struct word **at = &table[hash % BUCKETS];
    for (; *at; at = &(*at)->next)
        if (!strncmp((*at)->text, text, length) && !(*at)->text[length]) return (*at)->count++, 0;
    *at = memory(sizeof **at + length + 1);
    memcpy((*at)->text, text, length);
    return (*at)->count = 1;
}

int main(int argc, char **argv) {
    long bytes = sized(argc, argv, 24000000), words = 0;
    char *text = memory((size_t)bytes + 16);
    for (long i = 0; i < bytes;) {
        uint64_t r = any(), word = (r & 0xffff) * (r >> 16 & 0xffff) >> 18; /* small numbers more often */
        for (word += 27; word && i < bytes; word /= 27) text[i++] = (char)('a' + word % 27 % 26);
        if (i < bytes) text[i++] = r >> 60 ? ' ' : '\n';
    }
    for (char *at = text; *at;) {
        size_t length = strcspn(at, " \n");
        if (length) words += count_word(at, length);
        at += length + (at[length] != 0);
    }
    struct word **all = memory((size_t)(words + 1) * sizeof *all), **end = all;
    for (int i = 0; i < BUCKETS; i++)
        for (struct word *word = table[i]; word; word = word->next) *end++ = word;
    qsort(all, (size_t)words, sizeof *all, by_count);
    printf("%ld %s %ld\n", words, all[0]->text, all[0]->count);
    return 0;
}
