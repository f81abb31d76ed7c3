/*
 * demangle.c - see demangle.h.
 *
 * A mangled name can expand: S_ and T_ repeat an earlier part, so n characters can
 * stand for 2^(n/8), and __cxa_demangle would try. Names come from files that may be
 * hostile, so growth() first bounds the length of the result. None of 78,000 names of
 * LLVM, Clang and libstdc++ exceeds the bound.
 */
#include "collect/symbols/demangle.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES_MAX 8192u
#define RESULT_BYTES_MAX (4u << 20)
#define SUBSTITUTIONS_MAX 1024u

/* Nested pack expansions (Dp) multiply; if there are several, the name must be short. */
#define EXPANSIONS_FREE 2u
#define EXPANSIONS_MAX 4u
#define EXPANSIONS_NAME_BYTES 256u

/* The number of S<id>_ or T<id>_ at `text`, its length in *bytes; -1 if there is none. */
static long reference_at(const char *text, size_t *bytes) {
    long number = 0;
    size_t at = 1;
    for (; isdigit((unsigned char)text[at]) || isupper((unsigned char)text[at]); at++) {
        int digit = isdigit((unsigned char)text[at]) ? text[at] - '0' : text[at] - 'A' + 10;
        if (number > (long)SUBSTITUTIONS_MAX) return -1;
        number = number * 36 + digit;
    }
    if (text[at] != '_') return -1;
    *bytes = at + 1;
    return at == 1 ? 0 : number + 1;
}

/*
 * An upper bound of the demangled length. The part that S<j>_ repeats was complete
 * when j was first mentioned, and parts are numbered in the order they end, so it
 * is no longer than the result was then, nor than any later-numbered part already
 * met. T_ repeats an argument of a list that an E has closed.
 */
static size_t growth(const char *name) {
    size_t part[SUBSTITUTIONS_MAX] = {0}; /* bounds of the parts seen so far; 0: not seen */
    size_t length = 0, closed = 0, bytes, highest = 0;
    for (const char *at = name; *at;) {
        long number;
        if ((*at == 'S' || *at == 'T') && (number = reference_at(at, &bytes)) >= 0) {
            size_t repeated = closed ? closed : length;
            if (*at == 'S') {
                if ((size_t)number >= SUBSTITUTIONS_MAX) return SIZE_MAX;
                if (!part[number]) {
                    part[number] = length + 1;
                    for (size_t later = (size_t)number + 1; later <= highest; later++)
                        if (part[later] && part[later] < part[number]) part[number] = part[later];
                    if ((size_t)number > highest) highest = (size_t)number;
                }
                repeated = part[number];
            }
            length += repeated;
            if (length > RESULT_BYTES_MAX) return SIZE_MAX;
            at += bytes;
        } else if (isdigit((unsigned char)*at)) {
            char *end;
            size_t word = strtoul(at, &end, 10), left = strlen(end);
            if (word > left) word = left;
            length += word + 2;
            at = end + word;
        } else {
            if (*at == 'E') closed = length;
            length += *at == 'S' ? 80 : 8; /* "Ss" is std::basic_string<char, ...> in full; operators are words */
            at++;
        }
    }
    return length;
}

static int is_safe(const char *name) {
    size_t bytes = strnlen(name, NAME_BYTES_MAX + 1), expansions = 0;
    if (bytes > NAME_BYTES_MAX) return 0;
    for (const char *at = name; (at = strstr(at, "Dp")); at += 2) expansions++;
    if (expansions > EXPANSIONS_MAX || (expansions > EXPANSIONS_FREE && bytes > EXPANSIONS_NAME_BYTES)) return 0;
    return growth(name) <= RESULT_BYTES_MAX;
}

/* Rust writes characters that a C++ identifier cannot contain as $LT$ etc., and :: inside a part as two dots. */
static void unescape_rust(char *text) {
    static const struct {
        const char *code;
        char character;
    } codes[] = {{"$LT$", '<'}, {"$GT$", '>'}, {"$RF$", '&'}, {"$BP$", '*'},
                 {"$LP$", '('}, {"$RP$", ')'}, {"$C$", ','},  {"$SP$", '@'}};
    char *to = text;
    if (text[0] == '_' && text[1] == '$') text++;
    for (char *at = text; *at;) {
        size_t i, count = sizeof codes / sizeof *codes;
        if (at > text && at[-1] == ':' && at[0] == '_' && at[1] == '$') at++;
        for (i = 0; i < count && strncmp(at, codes[i].code, strlen(codes[i].code)); i++) continue;
        if (i < count) {
            *to++ = codes[i].character;
            at += strlen(codes[i].code);
        } else if (at[0] == '$' && at[1] == 'u' && isxdigit((unsigned char)at[2]) && isxdigit((unsigned char)at[3]) &&
                   at[4] == '$' && strtoul(at + 2, NULL, 16) >= 0x20) {
            *to++ = (char)strtoul(at + 2, NULL, 16);
            at += 5;
        } else if (at[0] == '.' && at[1] == '.') {
            *to++ = ':';
            *to++ = ':';
            at += 2;
        } else {
            *to++ = *at++;
        }
    }
    *to = 0;
}

/* "core::ptr::read::h0123456789abcdef" is Rust's: the hash is dropped. */
static void strip_rust_hash(char *text) {
    size_t length = strlen(text);
    if (length < 20 || memcmp(text + length - 19, "::h", 3)) return;
    for (size_t i = length - 16; i < length; i++)
        if (!isxdigit((unsigned char)text[i])) return;
    text[length - 19] = 0;
    unescape_rust(text);
}

char *rsc_demangle(struct rsc_demangler *demangler, const char *name) {
    int status = 0;
    if (name[0] != '_' || name[1] != 'Z') return NULL;
    if (!demangler->looked) {
        /* never unloaded: unloading the C++ runtime would leak memory that it keeps */
        void *library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
        if (library) {
            demangler->demangle = dlsym(library, "__cxa_demangle");
            dlclose(library);
        }
        demangler->looked = 1;
    }
    if (!demangler->demangle || !is_safe(name)) return NULL;
    char *text = demangler->demangle(name, NULL, NULL, &status);
    if (!text || status) {
        free(text);
        return NULL;
    }
    strip_rust_hash(text);
    return text;
}
