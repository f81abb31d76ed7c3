/*
 * numbers.h - numbers as people type them, the same in every locale.
 *
 * Texts are passed with their length and need no terminator. Only the number and
 * its suffix are allowed: no spaces, no sign, no other letters.
 */
#ifndef RSC_BASE_NUMBERS_H
#define RSC_BASE_NUMBERS_H

#include <stddef.h>
#include <stdint.h>

/* 123, 0x7f00, 64K, 4M, 1G (powers of two). Returns 0, or -1 for anything else or past 64 bits. */
int rsc_parse_u64(const char *text, size_t length, uint64_t *value);

/* 1, 0.99, .5: up to 15 digits, so that one division rounds correctly everywhere. Returns 0 or -1. */
int rsc_parse_fraction(const char *text, size_t length, double *value);

/* A rate above 0 and up to 1: 0.01, 1/100 or 1%. At least 1e-15, so that some of 2^64 hashes fall below it. Returns 0
 * or -1. */
int rsc_parse_rate(const char *text, size_t length, double *rate);

/* The shortest text that rsc_parse_u64() reads back: 64K, 1536. */
void rsc_size_text(uint64_t bytes, char text[24]);

#endif
