/* expand_rebuilt.c - see expand_rebuilt.h. */
#include "collect/drain/expand_rebuilt.h"

#include <stdlib.h>
#include <string.h>

#define CALL_BYTES_MAX 15u /* longest instruction */
#define FRAMES_MAX (1u << 24) /* open calls of a thread: 256 MiB here, as much of its stack at least */
#define BEGIN_RECORDS 2 /* records that the start of a piece makes at most */

struct run {
    struct rsc_rebuilt *rebuilt;
    struct rsc_record *next, *end;
    const uint64_t *words; /* from the piece on */
    uint32_t count;
};

static uint32_t length_of(const struct rsc_piece *piece, uint32_t turns) {
    return piece->is_run ? piece->words + turns * piece->turn_words : piece->reserved;
}

static inline void put(struct run *run, uint64_t addr, uint64_t word) {
    *run->next++ = (struct rsc_record){addr, word};
}

/* ---- calls and returns ---- */

static void push_frame(struct rsc_rebuilt *rebuilt, uint64_t pc, uint64_t stack) {
    if (rebuilt->frame_count == rebuilt->frame_room) {
        uint32_t room = rebuilt->frame_room ? rebuilt->frame_room * 2 : 64;
        struct rsc_rebuilt_frame *frames = room > FRAMES_MAX ? NULL : realloc(rebuilt->frames, room * sizeof *frames);
        if (!frames) { /* deeper calls have no path of their own */
            rebuilt->calls_lost++;
            return;
        }
        rebuilt->frames = frames;
        rebuilt->frame_room = room;
    }
    rebuilt->frames[rebuilt->frame_count++] = (struct rsc_rebuilt_frame){pc, stack};
}

/* Frames whose return address is at or below `stack` have ended: one record reports all of them. */
static void pop_frames(struct run *run, uint64_t stack, uint64_t now_pc) {
    struct rsc_rebuilt *rebuilt = run->rebuilt;
    uint32_t left = rebuilt->frame_count;
    while (left && rebuilt->frames[left - 1].stack <= stack) left--;
    if (left == rebuilt->frame_count) return;
    uint64_t call = rebuilt->frames[left].pc;
    rebuilt->frame_count = left;
    put(run, now_pc - call - 1 < CALL_BYTES_MAX ? now_pc : call + 1, rsc_record_word(RSC_RECORD_RETURN, 1, left));
}

/* Without the location of return addresses: the innermost frame that this could return to. */
static void pop_by_pc(struct run *run, uint64_t now_pc) {
    struct rsc_rebuilt *rebuilt = run->rebuilt;
    for (uint32_t left = rebuilt->frame_count; left-- > 0;) {
        if (now_pc - rebuilt->frames[left].pc - 1 >= CALL_BYTES_MAX) continue;
        rebuilt->frame_count = left;
        put(run, now_pc, rsc_record_word(RSC_RECORD_RETURN, 1, left));
        return;
    }
}

/* The stack pointer before the next call, or of the next return; 0: not known. */
static uint64_t next_stack(const struct run *run) {
    struct rsc_rebuilt *rebuilt = run->rebuilt;
    for (uint32_t at = 0; at < run->count;) {
        const uint64_t *words = run->words + at, word = words[0];
        const struct rsc_piece *piece =
            word && !(word >> 48) ? rsc_asm_tables_find(rebuilt->tables, &rebuilt->place, rebuilt->process, word)
                                  : NULL;
        if (!piece) {
            at += word >> 48 && !(word >> 62) ? 2 : 1;
            continue;
        }
        const uint32_t turns = piece->is_run && at + 1 < run->count ? rsc_piece_turns(piece, words) : 1;
        at += length_of(piece, turns);
        if (at > run->count) return 0;
        const uint64_t stack = piece->ends ? rsc_piece_stack(piece, words) : 0;
        if (stack) return piece->ends == RSC_PLAN_ENDS_CALL ? stack + 8 : stack;
    }
    return 0;
}

/* The start of a piece shows how the previous one ended. */
static inline void begin(struct run *run, uint64_t pc) {
    struct rsc_rebuilt *rebuilt = run->rebuilt;
    if (rebuilt->ends == RSC_PLAN_ENDS_CALL) {
        const uint64_t now = rebuilt->knows_jumps && rebuilt->stack ? next_stack(run) : 0;
        if (now > rebuilt->stack) { /* a jump */
            pop_frames(run, now - 8, pc);
            return;
        }
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
    struct run run = {.rebuilt = rebuilt, .next = records};
    const uint32_t count = calls->count, told = calls->told;
    if (count > RSC_OWN_FRAMES || told > count) return 0; /* overwritten */
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

/* ---- a piece ---- */

static inline void end_piece(struct rsc_rebuilt *rebuilt, const struct rsc_piece *piece, const uint64_t *words) {
    rebuilt->ends = piece->ends;
    rebuilt->end_pc = piece->last_pc;
    rebuilt->stack = piece->ends ? rsc_piece_stack(piece, words) : 0;
}

/* Handles a piece that is not plain, is a run, or may not fit, step by step. Returns 0 if there was not enough room. */
static int expand_some(struct run *run, const struct rsc_piece *piece, const uint64_t *words, uint32_t turns,
                       uint64_t *instructions) {
    struct rsc_piece_progress *progress = &run->rebuilt->progress;
    uint32_t first = progress->turn;
    run->next += rsc_piece_expand(piece, words, turns, progress, run->next, (uint32_t)(run->end - run->next));
    *instructions += (uint64_t)(progress->turn - first) * piece->instructions;
    return progress->turn >= turns; /* larger if the program overwrote its words */
}

/* Returns 0 if there was no room: continue with the same piece. */
static int expand_piece(struct run *run, const struct rsc_piece *piece, uint64_t *words, uint32_t turns,
                        uint64_t *instructions) {
    struct rsc_rebuilt *rebuilt = run->rebuilt;
    const struct rsc_piece_progress *progress = &rebuilt->progress;
    const int has_begun = progress->turn || progress->access || progress->element;
    if (run->end - run->next < (ptrdiff_t)(BEGIN_RECORDS + RSC_PIECE_ROOM)) return 0;
    if (!has_begun) begin(run, piece->pc);
    uint64_t address = words[0];
    words[0] = 0; /* "none", for addresses without registers */
    if (__builtin_expect(piece->plain && !piece->is_run && !has_begun && run->end - run->next >= piece->count, 1)) {
        run->next = rsc_piece_put_plain(piece, words, 0, run->next);
        *instructions += piece->instructions;
    } else if (!expand_some(run, piece, words, turns, instructions)) {
        words[0] = address;
        return 0;
    }
    rebuilt->progress = (struct rsc_piece_progress){0};
    end_piece(rebuilt, piece, words);
    return 1;
}

uint32_t rsc_expand_rebuilt(struct rsc_rebuilt *rebuilt, uint64_t *words, uint32_t count, struct rsc_record *records,
                            uint32_t room, uint64_t *instructions) {
    struct run run = {.rebuilt = rebuilt, .next = records, .end = records + room};
    uint32_t at = rebuilt->under_way ? rebuilt->at : 0;
    while (at < count) {
        uint64_t word = words[at];
        if (word >> 48) {
            if (run.end - run.next < 1) break;
            if (word >> 62 || at + 1 >= count) { /* never written by our code */
                rebuilt->unknown++;
                at++;
                continue;
            }
            if (rsc_record_type(word) == RSC_RECORD_UNWIND) {
                pop_frames(&run, words[at + 1] - 8, 0);
                rebuilt->ends = RSC_PLAN_ENDS;
            } else {
                put(&run, words[at + 1], word);
            }
            at += 2;
        } else if (word) {
            const struct rsc_piece *found =
                rsc_asm_tables_find(rebuilt->tables, &rebuilt->place, rebuilt->process, word);
            if (!found) {
                rebuilt->unknown++;
                at++;
                continue;
            }
            uint64_t padded[RSC_ASM_LEAST_ROOM], *piece = words + at;
            uint32_t turns = !found->is_run ? 1 : at + 1 < count ? rsc_piece_turns(found, piece) : 0;
            uint32_t needed = found->words + turns * found->turn_words;
            if (at + needed > count) { /* a killed program: words it did not write are zero */
                memset(padded, 0, needed * sizeof *padded);
                memcpy(padded, piece, (count - at) * sizeof *padded);
                piece = padded;
            }
            run.words = words + at;
            run.count = count - at;
            if (!expand_piece(&run, found, piece, turns, instructions)) break;
            at += length_of(found, turns);
        } else {
            at++;
        }
    }
    rebuilt->under_way = at < count;
    rebuilt->at = at;
    return (uint32_t)(run.next - records);
}

uint64_t rsc_rebuilt_weigh(struct rsc_rebuilt *rebuilt, const uint64_t *words, uint32_t count, uint32_t *last) {
    uint64_t weight = 0;
    if (last) *last = 0;
    for (uint32_t at = 0; at < count;) {
        uint64_t word = words[at];
        const struct rsc_piece *piece =
            word && !(word >> 48) ? rsc_asm_tables_find(rebuilt->tables, &rebuilt->place, rebuilt->process, word)
                                  : NULL;
        uint32_t turns = piece && piece->is_run && at + 1 < count ? rsc_piece_turns(piece, words + at) : 1;
        if (last) *last = at;
        weight += piece ? (uint64_t)piece->count * turns : word >> 48 != 0;
        if (!piece) at += word >> 48 && !(word >> 62) ? 2 : 1;
        else at += length_of(piece, turns);
    }
    return weight;
}

void rsc_rebuilt_reset(struct rsc_rebuilt *rebuilt) {
    free(rebuilt->frames);
    memset(rebuilt, 0, sizeof *rebuilt);
}
