/*
 * watch_piece.c - which addresses one recorded execution of a piece touched, as
 * asm_abi.h has it; in the program itself, for the one piece that a sample lies in.
 */
#include "runtime/trap/watch_thread.h"

static uint32_t weight_of(const struct rsc_asm_entry *entry) { return (entry->flags & 3) == 3 ? 2 : 1; }

uint32_t rsc_watch_piece_weight(const struct rsc_asm_block *block) {
    const struct rsc_asm_entry *entries = (const void *)(block + 1);
    uint32_t weight = 0;
    for (uint32_t i = 0; i < block->entries; i++) weight += weight_of(&entries[i]);
    return weight ? weight : 1;
}

static uint64_t index_at(const struct rsc_asm_entry *entry, const uint64_t *words, uint32_t element) {
    const uint64_t *indices = words + entry->index;
    if (entry->flags & RSC_ASM_INDEX_8) return indices[element];
    return (uint64_t)(int64_t)(int32_t)(indices[element / 2] >> (element % 2 ? 32 : 0));
}

static uint64_t gather_mask(const struct rsc_asm_entry *entry, const uint64_t *words) {
    uint32_t index_words = (entry->count * (entry->flags & RSC_ASM_INDEX_8 ? 8u : 4u) + 7) / 8;
    return words[entry->index + index_words];
}

/* The n-th of the bits that are set; mask is not 0. */
static uint32_t nth_bit(uint64_t mask, uint32_t n) {
    while (n--) mask &= mask - 1;
    return (uint32_t)__builtin_ctzll(mask);
}

/* Where an entry's access went and how many bytes from there on; 0: it was not made. Masked ones span what lies between. */
static uint64_t span(const struct rsc_asm_entry *entry, const uint64_t *words, uint64_t pc, uint64_t pick,
                     uint64_t *address) {
    uint64_t base = entry->base ? words[entry->base] : 0, mask;
    *address = base + (uint64_t)(int64_t)entry->disp;
    if (!entry->size) return 0;
    switch (entry->kind) {
    case RSC_ASM_RIP: *address = pc + (uint64_t)(int64_t)entry->disp; return entry->size;
    case RSC_ASM_PLAIN: {
        uint64_t index = entry->index ? words[entry->index] : 0;
        if (entry->base && !(base | index)) return 0; /* not reached */
        *address += index * entry->scale;
        return entry->size;
    }
    case RSC_ASM_STRING: {
        uint64_t count = words[entry->index], left = entry->flags & RSC_ASM_BY_EQUAL ? words[entry->count] : 0;
        return base ? (count - (left < count ? left : count)) * entry->size : 0;
    }
    case RSC_ASM_GATHERED:
        mask = gather_mask(entry, words) & (entry->count < 64 ? (1ull << entry->count) - 1 : ~0ull);
        if (!mask) return 0;
        *address += index_at(entry, words, nth_bit(mask, (uint32_t)(pick % (uint32_t)__builtin_popcountll(mask)))) *
                    entry->scale;
        return entry->size;
    default: break;
    }
    if (entry->base && !base) return 0;
    mask = words[entry->index] & (entry->count && entry->count < 64 ? (1ull << entry->count) - 1 : ~0ull);
    if (!mask) return 0;
    if (entry->kind == RSC_ASM_ANY) return entry->size;
    if (entry->kind == RSC_ASM_PACKED) return (uint32_t)__builtin_popcountll(mask) * (uint64_t)entry->size;
    *address += (uint32_t)__builtin_ctzll(mask) * (uint64_t)entry->size;
    return (64u - (uint32_t)__builtin_clzll(mask) - (uint32_t)__builtin_ctzll(mask)) * (uint64_t)entry->size;
}

static uint64_t overlaps(uint64_t address, uint64_t bytes, uint64_t word) {
    return bytes && address < word + 8 && address + bytes > word;
}

static int touches(const struct rsc_asm_entry *entry, const uint64_t *words, uint64_t pc, uint64_t word) {
    uint64_t address;
    if (entry->kind != RSC_ASM_GATHERED) {
        uint64_t bytes = span(entry, words, pc, 0, &address);
        return overlaps(address, bytes, word) != 0;
    }
    uint64_t mask = gather_mask(entry, words),
             base = (entry->base ? words[entry->base] : 0) + (uint64_t)(int64_t)entry->disp;
    for (uint32_t i = 0; i < entry->count; i++)
        if (mask >> i & 1 && overlaps(base + index_at(entry, words, i) * entry->scale, entry->size, word)) return 1;
    return 0;
}

/* The piece that `words` is an execution of, with the displacements that only the linker knew. */
static const struct rsc_asm_entry *entries_of(const uint64_t *words, uint64_t *pc, uint32_t *count) {
    const struct rsc_asm_block *block = (const void *)(uintptr_t)words[0];
    const struct rsc_asm_block *completed = block ? rsc_asm_completed(block) : NULL;
    if (!completed) {
        *count = 0;
        return NULL;
    }
    *pc = (uintptr_t)block + (uint64_t)(int64_t)block->pc;
    *count = block->entries;
    return (const void *)(completed + 1);
}

/* In words[0] there is the block's address: an entry's "no word" must not read it. All here ask before they read. */
void rsc_watch_piece_access(const uint64_t *words, uint32_t n, uint64_t pick, struct rsc_watch_access *access) {
    uint64_t pc = 0;
    uint32_t count;
    const struct rsc_asm_entry *entries = entries_of(words, &pc, &count);
    access->bytes = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t weight = weight_of(&entries[i]);
        if (n >= weight) {
            n -= weight;
            continue;
        }
        access->pc = pc + entries[i].pc;
        access->writes = !(entries[i].flags & RSC_ASM_READS) || n == 1;
        access->bytes = span(&entries[i], words, access->pc, pick, &access->address);
        return;
    }
}

uint32_t rsc_watch_piece_touches(const uint64_t *words, uint32_t n, uint64_t word, struct rsc_watch_access *access) {
    uint64_t pc = 0;
    uint32_t count, at = 0;
    const struct rsc_asm_entry *entries = entries_of(words, &pc, &count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t weight = weight_of(&entries[i]);
        for (uint32_t k = 0; k < weight; k++, at++) {
            if (at < n || !touches(&entries[i], words, pc + entries[i].pc, word)) continue;
            access->pc = pc + entries[i].pc;
            access->address = word;
            access->bytes = 8;
            access->writes = !(entries[i].flags & RSC_ASM_READS) || k == 1;
            return at;
        }
    }
    return UINT32_MAX;
}

uint64_t rsc_watch_piece_words(const uint64_t *words) {
    uint64_t pc = 0, sum = 0, address;
    uint32_t count;
    const struct rsc_asm_entry *entries = entries_of(words, &pc, &count);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t bytes = span(&entries[i], words, pc + entries[i].pc, 0, &address);
        sum += weight_of(&entries[i]) * rsc_watch_words_of(address, bytes);
    }
    return sum;
}
