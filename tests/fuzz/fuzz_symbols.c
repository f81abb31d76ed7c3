/*
 * fuzz_symbols.c - any bytes as the ELF file of a mapped module.
 *
 * Whatever the file says, places, variables and pieces of data are found or not found: nothing
 * crashes, nothing takes long, and what is said twice is the same. Besides fixed
 * addresses, the file's own entry point and first bytes choose where to look.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <reusescope/profile.h>

#include "fuzz_check.h"
#include "collect/symbols/symbols.h"
#include "profile/profile_model.h"
#include "profile/profile_rows.h"

#define BASE 0x400000u
#define BYTES_MAPPED 0x100000u

static void look_up(struct rsc_symbols *symbols, uint64_t pc) {
    struct rsc_place place = {.pc = pc}, again = {.pc = pc}, *inlined;
    const char *name;
    uint64_t start, size;
    size_t count;
    FUZZ_CHECK(rsc_symbols_place(symbols, &place, &inlined, &count) == 0);
    FUZZ_CHECK(rsc_symbols_place(symbols, &again, NULL, NULL) == 0);
    FUZZ_CHECK(!place.function == !again.function && (!place.function || !strcmp(place.function, again.function)));
    FUZZ_CHECK(place.line == again.line && (place.file || !place.line));
    FUZZ_CHECK(!place.function || !strpbrk(place.function, "\n\t\033"));
    for (size_t i = 0; i < count; i++) rsc_place_clear(&inlined[i]);
    free(inlined);
    rsc_place_clear(&place);
    rsc_place_clear(&again);
    if (rsc_symbols_variable(symbols, pc, &name, &start, &size)) FUZZ_CHECK(name[0] && pc - start < size);
}

/* Pieces of data come in order and are as large as asked. */
static int see_piece(void *context, uint64_t start, uint64_t bytes) {
    uint64_t *pieces = context;
    FUZZ_CHECK(bytes >= 64);
    (void)start;
    return ++*pieces == 100000; /* enough */
}

/* A profile with one row of each sort at an address. */
static void name_rows(struct rsc_symbols *symbols, uint64_t pc) {
    struct rsc_profile *profile = rsc_profile_new();
    char text[32];
    snprintf(text, sizeof text, "0x%llx", (unsigned long long)pc);
    FUZZ_CHECK(profile && !rsc_profile_set_code(profile, 1) && !rsc_profile_set_objects(profile, 2) &&
               !rsc_profile_set_contexts(profile, 1));
    profile->code[0].place.pc = profile->contexts[0].place.pc = pc;
    profile->contexts[0].parent = RSC_NO_CONTEXT;
    profile->objects[0].kind = "global";
    profile->objects[0].context = RSC_NO_CONTEXT;
    profile->objects[1].kind = "heap";
    FUZZ_CHECK(!rsc_profile_set_text(&profile->objects[0].name, text));
    FUZZ_CHECK(!rsc_symbols_name_profile(symbols, profile, NULL));
    FUZZ_CHECK(profile->objects[0].name && profile->objects[0].name[0]);
    rsc_profile_free(profile);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    static int fd = -1;
    char path[64];
    struct rsc_symbols *symbols;
    uint64_t entry = 0;
    if (fd < 0) fd = memfd_create("fuzz", MFD_CLOEXEC);
    FUZZ_CHECK(fd >= 0 && ftruncate(fd, 0) == 0 && pwrite(fd, data, bytes, 0) == (ssize_t)bytes);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int rc = rsc_symbols_new(&symbols, &(struct rsc_symbols_options){.in_process = 1}, NULL);
    if (rc == RSC_EUNSUPPORTED) return 0;
    FUZZ_CHECK(rc == 0);
    FUZZ_CHECK(rsc_symbols_add(symbols, BASE, BYTES_MAPPED, 0, path, NULL, 0, NULL) == 0);
    if (bytes >= 32) memcpy(&entry, data + 24, sizeof entry);
    for (uint64_t at = 0; at < 24; at++) look_up(symbols, entry + BASE + at * 16);
    for (uint64_t at = 0; at < 24; at++) look_up(symbols, entry + at * 16);
    for (uint64_t at = 0; at < BYTES_MAPPED; at += 0x3f0) {
        if (at < 0x6000) look_up(symbols, BASE + at);
    }
    uint64_t pieces = 0;
    FUZZ_CHECK(rsc_symbols_large_data(symbols, BASE, 64, see_piece, &pieces) >= 0);
    FUZZ_CHECK(rsc_symbols_large_data(symbols, entry, 64, see_piece, &pieces) >= 0);
    name_rows(symbols, entry);
    name_rows(symbols, entry + BASE + 0x3000);
    rsc_symbols_free(symbols);
    return 0;
}
