/*
 * asm_strings.c - libc's memory and string functions for rebuilt programs: libc does
 * the work, and while the thread records, the bytes that they must touch become reads
 * and writes. Between samples (asm_sampled.c) they are counted.
 *
 * The recorded accesses follow from the function's definition, not from libc's
 * implementation: each byte once, up to the deciding one, split at lines of 64 bytes;
 * copies alternate between a line read and a line written. The pc is that of the
 * caller, its return address minus one: libc's accesses are attributed to the caller.
 */
#include <stddef.h>
#include <stdint.h>

#include "runtime/recorder/asm_runtime.h"
#include "runtime/trap/watch_thread.h"

#define CALLER ((uint64_t)(uintptr_t)__builtin_return_address(0) - 1)

/* ---- recording ---- */

#define LINE 64u

/* The part of [at, end) that is in the line of `at`. */
static inline uint32_t piece(uint64_t at, uint64_t end) {
    uint64_t line_end = (at | (LINE - 1)) + 1;
    return (uint32_t)((line_end < end ? line_end : end) - at);
}

/* Accesses to [at, end). */
static inline uint64_t pieces(uint64_t at, uint64_t end) { return at < end ? (end - 1) / LINE - at / LINE + 1 : 0; }

static __attribute__((noinline)) void record_range(uint64_t at, size_t bytes, enum rsc_record_type type, uint64_t pc) {
    for (uint64_t end = at + bytes; at < end;) {
        uint32_t size = piece(at, end);
        if (!rsc_asm_local.recording && !rsc_asm_counts(pieces(at, end))) return;
        rsc_asm_put(at, rsc_record_word(type, size, pc));
        at += size;
    }
}

/* Reads and writes alternate, each up to the end of its line. */
static __attribute__((noinline)) void record_two(uint64_t from, uint64_t to, size_t bytes, enum rsc_record_type second,
                                                 uint64_t pc) {
    uint64_t from_end = from + bytes, to_end = to + bytes;
    while (from < from_end || to < to_end) {
        const uint64_t left = pieces(from, from_end) + pieces(to, to_end);
        if (!rsc_asm_local.recording && !rsc_asm_counts(left)) return;
        if (from < from_end) {
            uint32_t size = piece(from, from_end);
            rsc_asm_put(from, rsc_record_word(RSC_RECORD_READ, size, pc));
            from += size;
        }
        if (to < to_end) {
            uint32_t size = piece(to, to_end);
            rsc_asm_put(to, rsc_record_word(second, size, pc));
            to += size;
        }
    }
}

#define READS(at, bytes) record_range((uintptr_t)(at), bytes, RSC_RECORD_READ, CALLER)
#define WRITES(at, bytes) record_range((uintptr_t)(at), bytes, RSC_RECORD_WRITE, CALLER)
#define COPIES(from, to, bytes) record_two((uintptr_t)(from), (uintptr_t)(to), bytes, RSC_RECORD_WRITE, CALLER)
#define COMPARES(a, b, bytes) record_two((uintptr_t)(a), (uintptr_t)(b), bytes, RSC_RECORD_READ, CALLER)
#define RECORDING __builtin_expect(rsc_asm_sees(), 0)

/*
 * When watching instead of recording: only functions whose result alone shows how far
 * they went.
 */
#define WATCHING rsc_watch_is_on()
#define WATCH_BEGINS(first, second, bytes) \
    if (WATCHING) rsc_watch_range_begins((uintptr_t)(first), (uintptr_t)(second), bytes)
#define WATCH_ENDS(first, second, bytes, writes) \
    if (WATCHING) rsc_watch_range_ends((uintptr_t)(first), (uintptr_t)(second), bytes, CALLER, writes)
#define ONLY_FIRST 1
#define ONLY_SECOND 2

/* ---- how far a function had to read ---- */

static size_t length_of(const char *text, size_t most) {
    size_t length = 0;
    while (length < most && text[length]) length++;
    return length;
}
/* Bytes of a string including its end, at most `most`. */
static size_t seen_of(const char *text, size_t most) {
    size_t length = length_of(text, most);
    return length < most ? length + 1 : length;
}
static size_t compared(const char *a, const char *b, size_t most) {
    size_t at = 0;
    while (at < most && a[at] == b[at] && a[at]) at++;
    return at < most ? at + 1 : at;
}
static size_t compared_memory(const uint8_t *a, const uint8_t *b, size_t most) {
    size_t at = 0;
    while (at < most && a[at] == b[at]) at++;
    return at < most ? at + 1 : at;
}

/* ---- memory ---- */

RSC_INTERPOSE(void *, memcpy, (void *to, const void *from, size_t bytes)) {
    if (RECORDING) COPIES(from, to, bytes);
    WATCH_BEGINS(from, to, bytes);
    void *result = RSC_REAL(memcpy)(to, from, bytes);
    WATCH_ENDS(from, to, bytes, ONLY_SECOND);
    return result;
}

RSC_INTERPOSE(void *, memmove, (void *to, const void *from, size_t bytes)) {
    if (RECORDING) COPIES(from, to, bytes);
    WATCH_BEGINS(from, to, bytes);
    void *result = RSC_REAL(memmove)(to, from, bytes);
    WATCH_ENDS(from, to, bytes, ONLY_SECOND);
    return result;
}

RSC_INTERPOSE(void *, mempcpy, (void *to, const void *from, size_t bytes)) {
    if (RECORDING) COPIES(from, to, bytes);
    WATCH_BEGINS(from, to, bytes);
    void *result = RSC_REAL(mempcpy)(to, from, bytes);
    WATCH_ENDS(from, to, bytes, ONLY_SECOND);
    return result;
}

RSC_INTERPOSE(void *, memset, (void *to, int byte, size_t bytes)) {
    if (RECORDING) WRITES(to, bytes);
    WATCH_BEGINS(to, 0, bytes);
    void *result = RSC_REAL(memset)(to, byte, bytes);
    WATCH_ENDS(to, 0, bytes, ONLY_FIRST);
    return result;
}

RSC_INTERPOSE(int, memcmp, (const void *a, const void *b, size_t bytes)) {
    if (RECORDING) COMPARES(a, b, compared_memory(a, b, bytes));
    int order = RSC_REAL(memcmp)(a, b, bytes);
    if (!order) WATCH_ENDS(a, b, bytes, 0);
    return order;
}

RSC_INTERPOSE(void *, memchr, (const void *in, int byte, size_t bytes)) {
    void *found = RSC_REAL(memchr)(in, byte, bytes);
    size_t seen = found ? (size_t)((const char *)found - (const char *)in) + 1 : bytes;
    if (RECORDING) READS(in, seen);
    WATCH_ENDS(in, 0, seen, 0);
    return found;
}

RSC_INTERPOSE(void *, memrchr, (const void *in, int byte, size_t bytes)) {
    void *found = RSC_REAL(memrchr)(in, byte, bytes);
    const char *first = found ? found : in;
    if (RECORDING) READS(first, bytes - (size_t)(first - (const char *)in));
    return found;
}

/* ---- strings ---- */

RSC_INTERPOSE(size_t, strlen, (const char *text)) {
    size_t length = RSC_REAL(strlen)(text);
    if (RECORDING) READS(text, length + 1);
    WATCH_ENDS(text, 0, length + 1, 0);
    return length;
}

RSC_INTERPOSE(size_t, strnlen, (const char *text, size_t most)) {
    size_t length = RSC_REAL(strnlen)(text, most);
    if (RECORDING) READS(text, length < most ? length + 1 : length);
    return length;
}

RSC_INTERPOSE(char *, strcpy, (char *to, const char *from)) {
    if (RECORDING) COPIES(from, to, seen_of(from, SIZE_MAX));
    return RSC_REAL(strcpy)(to, from);
}

RSC_INTERPOSE(char *, stpcpy, (char *to, const char *from)) {
    if (RECORDING) COPIES(from, to, seen_of(from, SIZE_MAX));
    return RSC_REAL(stpcpy)(to, from);
}

RSC_INTERPOSE(char *, strncpy, (char *to, const char *from, size_t bytes)) {
    if (RECORDING) {
        size_t copied = seen_of(from, bytes);
        COPIES(from, to, copied);
        if (copied < bytes) WRITES(to + copied, bytes - copied);
    }
    return RSC_REAL(strncpy)(to, from, bytes);
}

RSC_INTERPOSE(char *, strcat, (char *to, const char *from)) {
    if (RECORDING) {
        size_t before = seen_of(to, SIZE_MAX);
        READS(to, before);
        COPIES(from, to + before - 1, seen_of(from, SIZE_MAX));
    }
    return RSC_REAL(strcat)(to, from);
}

RSC_INTERPOSE(char *, strncat, (char *to, const char *from, size_t most)) {
    if (RECORDING) {
        size_t before = seen_of(to, SIZE_MAX), copied = seen_of(from, most);
        READS(to, before);
        COPIES(from, to + before - 1, copied);
        if (copied == most && (!most || from[most - 1])) WRITES(to + before - 1 + copied, 1);
    }
    return RSC_REAL(strncat)(to, from, most);
}

RSC_INTERPOSE(int, strcmp, (const char *a, const char *b)) {
    if (RECORDING) COMPARES(a, b, compared(a, b, SIZE_MAX));
    return RSC_REAL(strcmp)(a, b);
}

RSC_INTERPOSE(int, strncmp, (const char *a, const char *b, size_t most)) {
    if (RECORDING) COMPARES(a, b, compared(a, b, most));
    return RSC_REAL(strncmp)(a, b, most);
}

RSC_INTERPOSE(char *, strchr, (const char *text, int byte)) {
    char *found = RSC_REAL(strchr)(text, byte);
    if (RECORDING) READS(text, found ? (size_t)(found - text) + 1 : seen_of(text, SIZE_MAX));
    return found;
}

RSC_INTERPOSE(char *, strrchr, (const char *text, int byte)) {
    if (RECORDING) READS(text, seen_of(text, SIZE_MAX));
    return RSC_REAL(strrchr)(text, byte);
}

/* ---- the _FORTIFY_SOURCE variants: libc's check the room and end the program ---- */

RSC_INTERPOSE(void *, __memcpy_chk, (void *to, const void *from, size_t bytes, size_t room)) {
    if (RECORDING) COPIES(from, to, bytes);
    WATCH_BEGINS(from, to, bytes);
    void *result = RSC_REAL(__memcpy_chk)(to, from, bytes, room);
    WATCH_ENDS(from, to, bytes, ONLY_SECOND);
    return result;
}

RSC_INTERPOSE(void *, __memmove_chk, (void *to, const void *from, size_t bytes, size_t room)) {
    if (RECORDING) COPIES(from, to, bytes);
    WATCH_BEGINS(from, to, bytes);
    void *result = RSC_REAL(__memmove_chk)(to, from, bytes, room);
    WATCH_ENDS(from, to, bytes, ONLY_SECOND);
    return result;
}

RSC_INTERPOSE(void *, __mempcpy_chk, (void *to, const void *from, size_t bytes, size_t room)) {
    if (RECORDING) COPIES(from, to, bytes);
    WATCH_BEGINS(from, to, bytes);
    void *result = RSC_REAL(__mempcpy_chk)(to, from, bytes, room);
    WATCH_ENDS(from, to, bytes, ONLY_SECOND);
    return result;
}

RSC_INTERPOSE(void *, __memset_chk, (void *to, int byte, size_t bytes, size_t room)) {
    if (RECORDING) WRITES(to, bytes);
    WATCH_BEGINS(to, 0, bytes);
    void *result = RSC_REAL(__memset_chk)(to, byte, bytes, room);
    WATCH_ENDS(to, 0, bytes, ONLY_FIRST);
    return result;
}

RSC_INTERPOSE(char *, __strcpy_chk, (char *to, const char *from, size_t room)) {
    if (RECORDING) COPIES(from, to, seen_of(from, SIZE_MAX));
    return RSC_REAL(__strcpy_chk)(to, from, room);
}

RSC_INTERPOSE(char *, __stpcpy_chk, (char *to, const char *from, size_t room)) {
    if (RECORDING) COPIES(from, to, seen_of(from, SIZE_MAX));
    return RSC_REAL(__stpcpy_chk)(to, from, room);
}

RSC_INTERPOSE(char *, __strcat_chk, (char *to, const char *from, size_t room)) {
    if (RECORDING) {
        size_t before = seen_of(to, SIZE_MAX);
        READS(to, before);
        COPIES(from, to + before - 1, seen_of(from, SIZE_MAX));
    }
    return RSC_REAL(__strcat_chk)(to, from, room);
}
