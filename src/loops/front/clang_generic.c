/*
 * clang_generic.c - the branch that _Generic chooses.
 *
 * libclang shows the controlling expression and the branches, but not their types, so these are read from the text. The
 * result has the type of the chosen branch: often only one has it. Else the branch whose type is written as that of the
 * controlling expression is chosen, or the default one if all others are written with the language's own words.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "loops/front/clang_front.h"

#define WORDS_MAX 8u

/* A type as a set of words and a number of stars: const double *, double const *. */
struct written {
    char word[WORDS_MAX][16];
    unsigned words, stars;
    int is_plain; /* nothing else is in it, and no name of a typedef */
};

static int by_text(const void *a, const void *b) { return strcmp(a, b); }

static int is_keyword(const char *word) {
    static const char keywords[] = " char short int long signed unsigned float double _Bool void const volatile ";
    char spaced[20] = " ";
    strcat(strcat(spaced, word), " ");
    return strstr(keywords, spaced) != NULL;
}

static int has_word(const struct written *type, const char *word) {
    for (unsigned i = 0; i < type->words; i++)
        if (!strcmp(type->word[i], word)) return 1;
    return 0;
}

static void drop_word(struct written *type, const char *word) {
    for (unsigned i = 0; i < type->words; i++)
        if (!strcmp(type->word[i], word)) memmove(type->word[i], type->word[--type->words], sizeof *type->word);
}

static void read_type(const char *text, const char *end, struct written *type) {
    *type = (struct written){.is_plain = 1};
    for (const char *at = text; at < end;) {
        size_t length = 0;
        while (at + length < end && (isalnum((unsigned char)at[length]) || at[length] == '_')) length++;
        if (length) {
            if (type->stars || type->words == WORDS_MAX || length >= sizeof *type->word) { /* double *const too */
                type->is_plain = 0;
            } else {
                memcpy(type->word[type->words], at, length);
                type->word[type->words++][length] = '\0';
            }
            at += length;
            continue;
        }
        if (*at == '*') type->stars++;
        else if (!isspace((unsigned char)*at)) type->is_plain = 0;
        at++;
    }
    for (unsigned i = 0; i < type->words; i++) type->is_plain &= is_keyword(type->word[i]);
    int sized = has_word(type, "long") || has_word(type, "short") || has_word(type, "unsigned");
    if (sized) drop_word(type, "int");
    if (!has_word(type, "char") && type->words > 1) drop_word(type, "signed");
    qsort(type->word, type->words, sizeof *type->word, by_text);
}

static int same_type(const struct written *a, const struct written *b) {
    if (a->words != b->words || a->stars != b->stars) return 0;
    for (unsigned i = 0; i < a->words; i++)
        if (strcmp(a->word[i], b->word[i])) return 0;
    return 1;
}

/* What is between two expressions is ", TYPE :". */
static void read_association(struct front *front, CXCursor before, CXCursor branch, struct written *type) {
    unsigned start, from, to, end;
    front_extent(front, before, &start, &from);
    front_extent(front, branch, &to, &end);
    while (from < to && from < front->bytes && front->text[from] != ',') from++;
    while (to > from && front->text[to - 1] != ':') to--;
    read_type(front->text + from + 1, front->text + (to > from + 1 ? to - 1 : from + 1), type);
}

CXCursor front_generic(struct front *front, CXCursor generic) {
    struct kids kids = front_kids(front, generic);
    CXCursor none = front->clang.getNullCursor();
    unsigned of_type = 0, typed = 0, matches = 0, match = 0, standard = 0;
    int plain = 1;
    struct written control, type;
    if (kids.count < 2) return none;
    CXType result = front->clang.getCanonicalType(front->clang.getCursorType(generic));
    CXType wanted = front->clang.getCanonicalType(front->clang.getCursorType(kids.item[0]));
    CXString spelling = front->clang.getTypeSpelling(wanted);
    const char *name = front->clang.getCString(spelling);
    read_type(name, name + strlen(name), &control);
    front->clang.disposeString(spelling);
    for (unsigned i = 1; i < kids.count; i++) {
        CXType own = front->clang.getCanonicalType(front->clang.getCursorType(kids.item[i]));
        if (front->clang.equalTypes(own, result)) {
            of_type++;
            typed = i;
        }
        read_association(front, kids.item[i - 1], kids.item[i], &type);
        if (type.words == 1 && !strcmp(type.word[0], "default")) {
            standard = i;
        } else if (control.is_plain && type.is_plain && same_type(&control, &type)) {
            matches++;
            match = i;
        } else {
            plain &= type.is_plain;
        }
    }
    if (of_type == 1) return kids.item[typed];
    if (matches == 1) return kids.item[match];
    return !matches && plain && control.is_plain && standard ? kids.item[standard] : none;
}
