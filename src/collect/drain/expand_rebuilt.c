/* expand_rebuilt.c - see expand_rebuilt.h. */
#include "collect/drain/expand_rebuilt.h"

#include <stdlib.h>
#include <string.h>

#define ADDRESS 0xffffffffffffull
#define CALL_BYTES_MAX 15u /* longest instruction */
#define FRAMES_MAX (1u << 14)
#define LINE_SHIFT 6

struct run {
    struct rsc_rebuilt *rebuilt;
    struct rsc_record *next, *end;
};

static inline void put(struct run *run, uint64_t addr, uint64_t word) {
    *run->next++ = (struct rsc_record){addr, word};
}

/* ---- calls and returns ---- */

static void push_frame(struct rsc_rebuilt *rebuilt, uint64_t pc, uint64_t stack) {
    if (rebuilt->frame_count == rebuilt->frame_room) {
        uint32_t room = rebuilt->frame_room ? rebuilt->frame_room * 2 : 64;
        struct rsc_rebuilt_frame *frames = room > FRAMES_MAX ? NULL : realloc(rebuilt->frames, room * sizeof *frames);
        if (!frames) return; /* deeper calls are without a path of their own */
        rebuilt->frames = frames;
        rebuilt->frame_room = room;
    }
    rebuilt->frames[rebuilt->frame_count++] = (struct rsc_rebuilt_frame){pc, stack};
}

/* Frames whose return address lies at or below `stack` are over: one record tells of all. */
static void pop_frames(struct run *run, uint64_t stack, uint64_t now_pc) {
    struct rsc_rebuilt *rebuilt = run->rebuilt;
    uint32_t left = rebuilt->frame_count;
    while (left && rebuilt->frames[left - 1].stack <= stack) left--;
    if (left == rebuilt->frame_count) return;
    uint64_t call = rebuilt->frames[left].pc;
    rebuilt->frame_count = left;
    put(run, now_pc - call - 1 < CALL_BYTES_MAX ? now_pc : call + 1, rsc_record_word(RSC_RECORD_RETURN, 1, left));
}

/* Without the places of return addresses: the innermost frame that this could be a return to. */
static void pop_by_pc(struct run *run, uint64_t now_pc) {
    struct rsc_rebuilt *rebuilt = run->rebuilt;
    for (uint32_t left = rebuilt->frame_count; left-- > 0;) {
        if (now_pc - rebuilt->frames[left].pc - 1 >= CALL_BYTES_MAX) continue;
        rebuilt->frame_count = left;
        put(run, now_pc, rsc_record_word(RSC_RECORD_RETURN, 1, left));
        return;
    }
}

/* What the beginning of a piece says of how the one before ended. */
static inline void begin(struct run *run, uint64_t pc) {
    struct rsc_rebuilt *rebuilt = run->rebuilt;
    if (rebuilt->ends == RSC_PLAN_ENDS_CALL) {
        if (rebuilt->stack) pop_frames(run, rebuilt->stack, pc);
        if (pc - rebuilt->end_pc - 1 >= CALL_BYTES_MAX) {
            push_frame(rebuilt, rebuilt->end_pc, rebuilt->stack);
            put(run, pc, rsc_record_word(RSC_RECORD_CALL, 1, rebuilt->end_pc));
        }
    } else if (rebuilt->ends == RSC_PLAN_ENDS_RETURN) {
        if (rebuilt->stack) pop_frames(run, rebuilt->stack, pc);
        else pop_by_pc(run, pc);
    }
}

uint32_t rsc_rebuilt_resume(struct rsc_rebuilt *rebuilt, const struct rsc_own_calls *calls,
                            struct rsc_record *records) {
    struct run run = {rebuilt, records, NULL};
    const uint32_t count = calls->count, told = calls->told;
    if (count > RSC_OWN_FRAMES || told > count) return 0; /* scribbled over */
    if (told < calls->with_them) put(&run, calls->left + 1, rsc_record_word(RSC_RECORD_RETURN, 1, told));
    rebuilt->frame_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct rsc_own_frame *frame = &calls->frames[i];
        push_frame(rebuilt, frame->pc, frame->stack);
        if (i >= told) put(&run, frame->target, rsc_record_word(RSC_RECORD_CALL, 1, frame->pc));
    }
    rebuilt->ends = calls->ends;
    rebuilt->end_pc = calls->end_pc;
    rebuilt->stack = calls->stack;
    return (uint32_t)(run.next - records);
}

/* ---- accesses that are not one each ---- */

/* First element from `from` on that begins in another line. */
static uint64_t next_line(uint64_t start, uint64_t from, uint32_t size, uint64_t count) {
    uint64_t at = start + from * size, line_end = ((at >> LINE_SHIFT) + 1) << LINE_SHIFT;
    uint64_t element = from + (line_end - at + size - 1) / size;
    return element < count ? element : count;
}

/*
 * A string of one entry or two: a record for what lies in each line, in the order in
 * which the first element of each comes. Returns 0 when there was no room for all:
 * rebuilt->element says how far it came.
 */
static int expand_string(struct run *run, const struct rsc_rebuilt_entry *entries, uint32_t streams,
                         const uint64_t *words) {
    uint64_t start[2], count = words[entries->index];
    uint32_t size = entries->size;
    if (entries->flags & RSC_ASM_BY_EQUAL) count -= words[entries->count] < count ? words[entries->count] : count;
    if (!words[entries->base]) return 1;
    for (uint32_t i = 0; i < streams; i++) start[i] = (words[entries[i].base] + (uint64_t)entries[i].disp) & ADDRESS;
    for (uint64_t element = run->rebuilt->element; element < count;) {
        if (run->end - run->next < 4) {
            run->rebuilt->element = element;
            return 0;
        }
        uint64_t nearest = count;
        for (uint32_t i = 0; i < streams; i++) {
            uint64_t at = start[i] + element * size;
            int begins = !element || (at >> LINE_SHIFT) != ((at - size) >> LINE_SHIFT);
            uint64_t end = next_line(start[i], element, size, count);
            if (begins) put(run, at & ADDRESS, (entries[i].word & ~(0xffull << 48)) | ((end - element) * size) << 48);
            if (end < nearest) nearest = end;
        }
        element = nearest;
    }
    run->rebuilt->element = 0;
    return 1;
}

static void expand_masked(struct run *run, const struct rsc_rebuilt_entry *entry, uint64_t start, uint64_t mask) {
    for (uint32_t i = 0; i < entry->count;) {
        uint32_t first = i;
        if (!(mask >> i & 1)) {
            i++;
            continue;
        }
        while (i < entry->count && (mask >> i & 1)) i++;
        put(run, (start + first * entry->size) & ADDRESS,
            (entry->word & ~(0xffull << 48)) | (uint64_t)((i - first) * entry->size) << 48);
    }
}

static void expand_gathered(struct run *run, const struct rsc_rebuilt_entry *entry, const uint64_t *words) {
    const uint32_t index_bytes = entry->flags & RSC_ASM_INDEX_8 ? 8 : 4;
    const uint64_t *indices = words + entry->index;
    uint64_t mask = indices[(entry->count * index_bytes + 7) / 8], base = entry->base ? words[entry->base] : 0;
    for (uint32_t i = 0; i < entry->count; i++) {
        int64_t index;
        if (!(mask >> i & 1)) continue;
        if (index_bytes == 8) index = (int64_t)indices[i];
        else index = (int32_t)(indices[i / 2] >> (i % 2 ? 32 : 0));
        put(run, (base + (uint64_t)entry->disp + (uint64_t)index * entry->scale) & ADDRESS, entry->word);
    }
}

/* Returns 0 when there was no room for all of a string. */
static int expand_other(struct run *run, const struct rsc_rebuilt_entry *entry, uint32_t streams,
                        const uint64_t *words) {
    uint64_t base = entry->base ? words[entry->base] : 0, start = base + (uint64_t)entry->disp;
    if (entry->kind == RSC_ASM_STRING) return expand_string(run, entry, streams, words);
    if (entry->kind == RSC_ASM_GATHERED) {
        expand_gathered(run, entry, words);
        return 1;
    }
    if (entry->base && !base) return 1; /* not reached */
    uint64_t mask = words[entry->index];
    if (entry->kind == RSC_ASM_MASKED) expand_masked(run, entry, start, mask);
    else if (entry->kind == RSC_ASM_PACKED && mask)
        put(run, start & ADDRESS,
            (entry->word & ~(0xffull << 48)) | (uint64_t)((uint32_t)__builtin_popcountll(mask) * entry->size) << 48);
    else if (entry->kind == RSC_ASM_ANY && mask) put(run, start & ADDRESS, entry->word);
    return 1;
}

/* ---- a piece ---- */

/* words[0] is zero here, so that "none" needs no question. */
static inline void expand_plain(struct run *run, const struct rsc_rebuilt_entry *entry, const uint64_t *words) {
    uint64_t base = words[entry->base], index = words[entry->index];
    run->next->addr = (base + index * entry->scale + (uint64_t)entry->disp) & ADDRESS;
    run->next->word = entry->word;
    run->next += !entry->base || (base | index); /* else the instruction was not reached */
}

/* Turns of a run that began. Nothing in the words is trusted. */
static uint32_t turns_of(const struct rsc_rebuilt_block *block, const uint64_t *words) {
    uint64_t counted = words[1] - (uint64_t)RSC_ASM_RECORD;
    if (counted > RSC_ASM_RUN_MOST + block->turn_words) return 0; /* it was cut off before its first turn */
    return (uint32_t)counted / (block->turn_words ? block->turn_words : 1);
}

/* From turn rebuilt->element on. Returns 0 when there was no room for all. */
static int expand_run(struct run *run, const struct rsc_rebuilt_block *block, const uint64_t *words, uint32_t turns,
                      uint64_t *instructions) {
    struct rsc_rebuilt *rebuilt = run->rebuilt;
    uint64_t room = (uint64_t)(run->end - run->next), first = rebuilt->element, end = turns;
    if (first > end) first = end; /* the program wrote over what it had written */
    if (block->count && (end - first) * block->count > room) end = first + room / block->count;
    for (uint64_t turn = first; turn < end; turn++)
        for (uint32_t i = 0; i < block->count; i++) {
            const struct rsc_rebuilt_entry *entry = &block->entries[i];
            uint64_t base = words[entry->base + turn * entry->base_moves],
                     index = words[entry->index + turn * entry->index_moves];
            run->next->addr =
                (base + index * entry->scale + (uint64_t)entry->disp + turn * (uint64_t)entry->step) & ADDRESS;
            run->next->word = entry->word;
            run->next += !entry->base || (base | index);
        }
    *instructions += (end - first) * block->instructions;
    rebuilt->element = end < turns ? end : 0;
    return end == turns;
}

/* Do two entries of a string belong to one instruction? */
static int take_turns(const struct rsc_rebuilt_entry *entry) {
    return entry[1].kind == RSC_ASM_STRING && rsc_record_pc(entry[0].word) == rsc_record_pc(entry[1].word);
}

/* From rebuilt->entry on. Returns 0 when there was no room for all of a string. */
static int expand_mixed(struct run *run, const struct rsc_rebuilt_block *block, const uint64_t *words) {
    struct rsc_rebuilt *rebuilt = run->rebuilt;
    for (uint32_t i = rebuilt->entry; i < block->count; i++) {
        const struct rsc_rebuilt_entry *entry = &block->entries[i];
        if (entry->kind == RSC_ASM_PLAIN) {
            expand_plain(run, entry, words);
            continue;
        }
        uint32_t streams = entry->kind == RSC_ASM_STRING && i + 1 < block->count && take_turns(entry) ? 2 : 1;
        if (!expand_other(run, entry, streams, words)) {
            rebuilt->entry = i;
            return 0;
        }
        i += streams - 1;
    }
    return 1;
}

static void end_piece(struct run *run, const struct rsc_rebuilt_block *block, const struct rsc_record *first) {
    struct rsc_rebuilt *rebuilt = run->rebuilt;
    rebuilt->ends = block->ends;
    rebuilt->end_pc = block->last_pc;
    rebuilt->stack = block->ends && block->tells_stack && run->next > first ? run->next[-1].addr : 0;
}

/* Returns 0 when there was no room: the same piece is to be gone on with. */
static int expand_piece(struct run *run, const struct rsc_rebuilt_block *block, uint64_t *words, uint32_t turns,
                        uint64_t *instructions) {
    struct rsc_rebuilt *rebuilt = run->rebuilt;
    if (run->end - run->next < (ptrdiff_t)block->records + 4) return 0;
    if (!rebuilt->element && !rebuilt->entry) {
        begin(run, block->pc);
        if (!block->is_run) *instructions += block->instructions;
    }
    struct rsc_record *first = run->next;
    uint64_t address = words[0];
    words[0] = 0;
    if (block->is_run) {
        if (!expand_run(run, block, words, turns, instructions)) {
            words[0] = address;
            return 0;
        }
    } else if (__builtin_expect(block->plain, 1)) {
        for (uint32_t i = 0; i < block->count; i++) expand_plain(run, &block->entries[i], words);
    } else if (!expand_mixed(run, block, words)) {
        words[0] = address;
        return 0;
    }
    rebuilt->entry = 0;
    end_piece(run, block, first);
    return 1;
}

uint32_t rsc_expand_rebuilt(struct rsc_rebuilt *rebuilt, uint64_t *words, uint32_t count, struct rsc_record *records,
                            uint32_t room, uint64_t *instructions) {
    struct run run = {rebuilt, records, records + room};
    uint32_t at = rebuilt->under_way ? rebuilt->at : 0;
    while (at < count) {
        uint64_t word = words[at];
        if (word >> 48) {
            if (run.end - run.next < 1) break;
            if (word >> 62 || at + 1 >= count) { /* nothing of ours writes that */
                rebuilt->unknown++;
                at++;
                continue;
            }
            put(&run, words[at + 1], word);
            at += 2;
        } else if (word) {
            const struct rsc_rebuilt_block *block =
                rsc_asm_tables_find(rebuilt->tables, &rebuilt->place, rebuilt->process, word);
            if (!block) {
                rebuilt->unknown++;
                at++;
                continue;
            }
            uint64_t padded[RSC_ASM_LEAST_ROOM], *piece = words + at;
            uint32_t turns = block->is_run && at + 1 < count ? turns_of(block, piece) : 0;
            uint32_t needed = block->words + turns * block->turn_words;
            if (at + needed > count) { /* of a program that was killed: what it did not write is zero */
                memset(padded, 0, needed * sizeof *padded);
                memcpy(padded, piece, (count - at) * sizeof *padded);
                piece = padded;
            }
            if (!expand_piece(&run, block, piece, turns, instructions)) break;
            at += block->is_run ? needed : block->reserved;
        } else {
            at++;
        }
    }
    rebuilt->under_way = at < count;
    rebuilt->at = at;
    return (uint32_t)(run.next - records);
}

uint64_t rsc_rebuilt_weigh(struct rsc_rebuilt *rebuilt, const uint64_t *words, uint32_t count) {
    uint64_t weight = 0;
    for (uint32_t at = 0; at < count;) {
        uint64_t word = words[at];
        const struct rsc_rebuilt_block *block =
            word && !(word >> 48) ? rsc_asm_tables_find(rebuilt->tables, &rebuilt->place, rebuilt->process, word)
                                  : NULL;
        uint32_t turns = block && block->is_run && at + 1 < count ? turns_of(block, words + at) : 1;
        weight += block ? (uint64_t)block->count * turns : word >> 48 != 0;
        if (!block) at += word >> 48 && !(word >> 62) ? 2 : 1;
        else at += block->is_run ? block->words + turns * block->turn_words : block->reserved;
    }
    return weight;
}

void rsc_rebuilt_reset(struct rsc_rebuilt *rebuilt) {
    free(rebuilt->frames);
    memset(rebuilt, 0, sizeof *rebuilt);
}
