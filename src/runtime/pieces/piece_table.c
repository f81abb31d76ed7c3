/* piece_table.c - see piece_table.h. */
#include "runtime/pieces/piece_table.h"

#define RECORD_BYTES_MAX 128u /* a record's size has 8 bits */
#define ACCESSES_MAX 8192u    /* no piece that fits into the ring has more, nor entries */
#define STRING_ELEMENT_MAX 8u
#define GATHERED_MAX 16u

_Static_assert(sizeof(struct rsc_piece_access) == 40 && sizeof(struct rsc_piece) % 8 == 0,
               "arrays of them are aligned");

/* ---- one piece ---- */

/* Whether the header describes a piece that fits into the ring, and into its own bytes. */
static int head_is_sound(const struct rsc_asm_block *block, size_t bytes) {
    if (block->abi != RSC_ASM_ABI || rsc_asm_block_bytes(block) > bytes || !block->words ||
        block->entries > ACCESSES_MAX || block->ends >> RSC_ASM_COUNTER_SHIFT > 16)
        return 0;
    if (rsc_asm_is_run(block))
        return block->words >= 2 && block->words + block->reserved + RSC_ASM_RUN_MOST <= RSC_ASM_LEAST_ROOM;
    return block->reserved >= block->words && block->reserved <= RSC_ASM_LEAST_ROOM;
}

static int is_plain(const struct rsc_asm_entry *entry) {
    return entry->kind == RSC_ASM_PLAIN || entry->kind == RSC_ASM_RIP;
}

/* Checks that every word of an entry is one of the piece's, and that a record can hold the result. */
static int entry_is_sound(const struct rsc_asm_entry *entry, const struct rsc_piece *piece) {
    const uint32_t words = piece->words + (uint32_t)piece->turn_words, size = entry->size;
    if (entry->kind == RSC_ASM_RIP) return 1;
    if (entry->base >= words || entry->index >= words || (piece->is_run && entry->kind != RSC_ASM_PLAIN)) return 0;
    switch (entry->kind) {
    case RSC_ASM_PLAIN: return 1;
    case RSC_ASM_ANY: return size <= RECORD_BYTES_MAX;
    case RSC_ASM_STRING:
        return size && size <= STRING_ELEMENT_MAX && (!(entry->flags & RSC_ASM_BY_EQUAL) || entry->count < words);
    case RSC_ASM_MASKED:
    case RSC_ASM_PACKED: return size && entry->count <= 64 && entry->count * size <= RECORD_BYTES_MAX;
    case RSC_ASM_GATHERED: {
        uint32_t index_words = (entry->count * (entry->flags & RSC_ASM_INDEX_8 ? 8u : 4u) + 7) / 8;
        return entry->count && entry->count <= GATHERED_MAX && size && size <= RECORD_BYTES_MAX &&
               entry->index + index_words < words;
    }
    default: return 0;
    }
}

/* A call or return whose own access is the last one, and shows where the stack is. */
static int tells_stack(const struct rsc_piece *piece, const struct rsc_asm_entry *last) {
    uint32_t wanted = piece->ends == RSC_PLAN_ENDS_CALL ? RSC_ASM_WRITES : RSC_ASM_READS;
    return piece->ends && piece->pc + last->pc == piece->last_pc && last->kind == RSC_ASM_PLAIN && last->size &&
           last->flags & wanted;
}

int rsc_piece_open(struct rsc_piece_cursor *cursor, struct rsc_piece *piece, uint64_t address,
                   const struct rsc_asm_block *block, size_t bytes) {
    if (bytes < sizeof *block || !head_is_sound(block, bytes)) return 0;
    const uint64_t pc = (address + (uint64_t)(int64_t)block->pc) & RSC_PIECE_ADDRESS;
    const int is_run = rsc_asm_is_run(block);
    const struct rsc_asm_entry *entries = (const void *)(block + 1);
    *piece = (struct rsc_piece){.pc = pc,
                                .last_pc = pc + block->last,
                                .words = block->words,
                                .reserved = (uint16_t)(block->reserved + (is_run ? block->words : 0)),
                                .turn_words = is_run ? block->reserved : 0,
                                .instructions = block->instructions,
                                .weight = (uint16_t)rsc_asm_block_weight(block),
                                .is_run = (uint8_t)is_run,
                                .ends = rsc_asm_ends(block),
                                .plain = 1,
                                .narrow = 1,
                                .counter_register = block->ends >> RSC_ASM_COUNTER_SHIFT};
    *cursor = (struct rsc_piece_cursor){.entries = entries,
                                        .steps = is_run ? (const void *)(entries + block->entries) : NULL,
                                        .entry_count = block->entries};
    for (uint32_t i = 0; i < block->entries; i++) {
        if (!entries[i].size) continue;
        if (!is_plain(&entries[i])) piece->plain = piece->narrow = 0;
        if (entries[i].size > RSC_PIECE_LINE) piece->narrow = 0;
    }
    if (block->entries) piece->tells_stack = (uint8_t)tells_stack(piece, &entries[block->entries - 1]);
    return 1;
}

static uint32_t directions(const struct rsc_asm_entry *entry) {
    return entry->size ? entry->flags & (RSC_ASM_READS | RSC_ASM_WRITES) : 0;
}

/* The access at the cursor, in one direction: all of it, or as much as a record holds. */
static void make_access(struct rsc_piece_cursor *cursor, const struct rsc_piece *piece, uint32_t direction,
                        struct rsc_piece_access *access) {
    const struct rsc_asm_entry *entry = &cursor->entries[cursor->entry];
    const uint64_t pc = piece->pc + entry->pc;
    const int is_write = direction == RSC_ASM_WRITES, is_second = is_write && directions(entry) != direction;
    const int is_cut = is_plain(entry) && entry->size - cursor->part > RECORD_BYTES_MAX;
    const uint32_t size = is_cut ? RECORD_BYTES_MAX : entry->size - cursor->part;
    *access =
        (struct rsc_piece_access){.word = rsc_record_word(is_write ? RSC_RECORD_WRITE : RSC_RECORD_READ, size, pc),
                                  .disp = entry->disp,
                                  .step = cursor->steps ? cursor->steps[cursor->entry] : 0,
                                  .size = (uint16_t)size,
                                  .ordinal = (uint16_t)(cursor->ordinal + (uint32_t)is_second),
                                  .base = entry->base,
                                  .index = entry->index,
                                  .scale = entry->scale,
                                  .kind = entry->kind,
                                  .count = entry->count,
                                  .flags = entry->flags};
    if (entry->kind == RSC_ASM_RIP) {
        access->kind = RSC_ASM_PLAIN;
        access->base = access->index = 0;
        access->disp = (int64_t)((pc + (uint64_t)(int64_t)entry->disp) & RSC_PIECE_ADDRESS);
    }
    if (access->kind == RSC_ASM_PLAIN && !access->index) access->scale = 0;
    if (piece->is_run && access->base >= piece->words) access->base_moves = piece->turn_words;
    if (piece->is_run && access->index >= piece->words) access->index_moves = piece->turn_words;
    access->disp += cursor->part;
    cursor->part = is_cut ? cursor->part + size : 0;
}

int rsc_piece_next(struct rsc_piece_cursor *cursor, const struct rsc_piece *piece, struct rsc_piece_access *access) {
    for (; cursor->entry < cursor->entry_count; cursor->entry++, cursor->done = 0) {
        const struct rsc_asm_entry *entry = &cursor->entries[cursor->entry];
        if (!entry_is_sound(entry, piece)) return -1;
        uint32_t left = directions(entry) & ~cursor->done, direction = left & RSC_ASM_READS ? RSC_ASM_READS : left;
        if (left) {
            make_access(cursor, piece, direction, access);
            if (!cursor->part) cursor->done |= direction;
            return 1;
        }
        cursor->ordinal += rsc_asm_weight(entry);
    }
    return 0;
}

/* ---- the pieces of a module ---- */

/* Without memory (NULL) it only counts them. */
struct making {
    struct rsc_piece *pieces;
    struct rsc_piece_access *accesses;
    struct rsc_piece_form *forms;
    uint32_t *numbers;
    size_t piece_count, access_count, form_count;
    size_t access_room; /* the part after the last valid piece is not written */
};

/* The index of an access's form among those of its piece. Returns RSC_PIECE_FORMS_MAX if there are too many. */
static uint32_t find_form(const struct rsc_piece *piece, const struct rsc_piece_access *access,
                          struct rsc_piece_form *forms, uint32_t *count) {
    const struct rsc_piece_form form = {.step = access->step,
                                        .base_moves = piece->is_run ? access->base_moves : piece->reserved,
                                        .index_moves = piece->is_run ? access->index_moves : piece->reserved,
                                        .base = access->base,
                                        .index = access->index,
                                        .scale = access->scale};
    uint32_t at = 0;
    while (at < *count && (forms[at].base != form.base || forms[at].index != form.index ||
                           forms[at].scale != form.scale || forms[at].step != form.step))
        at++;
    if (at == *count && at < RSC_PIECE_FORMS_MAX) forms[(*count)++] = form;
    return at;
}

static void make_piece(struct making *making, uint64_t start, size_t at, const struct rsc_asm_block *block,
                       size_t bytes) {
    struct rsc_piece_cursor cursor;
    struct rsc_piece piece;
    struct rsc_piece_access access;
    struct rsc_piece_form forms[RSC_PIECE_FORMS_MAX];
    uint32_t count = 0, form_count = 0, has_forms;
    int status;
    if (!rsc_piece_open(&cursor, &piece, start + at, block, bytes)) return;
    has_forms = piece.narrow;
    while ((status = rsc_piece_next(&cursor, &piece, &access)) > 0) {
        uint32_t form = has_forms ? find_form(&piece, &access, forms, &form_count) : 0;
        if (form == RSC_PIECE_FORMS_MAX) form = has_forms = form_count = 0;
        access.form = (uint8_t)form;
        if (++count > ACCESSES_MAX) return;
        if (making->access_count + count <= making->access_room)
            making->accesses[making->access_count + count - 1] = access;
    }
    if (status < 0) return;
    piece.count = (uint16_t)count;
    piece.form_count = (uint8_t)form_count;
    piece.accesses = making->accesses + making->access_count;
    piece.forms = making->forms + making->form_count;
    if (making->pieces) {
        for (uint32_t i = 0; i < form_count; i++) making->forms[making->form_count + i] = forms[i];
        making->pieces[making->piece_count] = piece;
        making->numbers[at / 8] = (uint32_t)making->piece_count + 1;
    }
    making->piece_count++;
    making->access_count += count;
    making->form_count += form_count;
}

static void make_pieces(struct making *making, uint64_t start, uint64_t stop, const void *copy) {
    const struct rsc_asm_block *block;
    const size_t bytes = stop - start;
    making->piece_count = making->access_count = making->form_count = 0;
    for (size_t at = 0; (block = rsc_asm_block_at(copy, bytes, &at)); at += rsc_asm_block_bytes(block))
        make_piece(making, start, at, block, bytes - at);
}

static size_t numbers_bytes(uint64_t start, uint64_t stop) {
    return (((stop - start) / 8 + 1) * sizeof(uint32_t) + 63) & ~(size_t)63;
}

void rsc_piece_table_count(struct rsc_piece_counts *counts, uint64_t start, uint64_t stop, const void *copy) {
    struct making making = {0};
    make_pieces(&making, start, stop, copy);
    *counts = (struct rsc_piece_counts){making.piece_count, making.access_count, making.form_count,
                                        numbers_bytes(start, stop) + making.piece_count * sizeof *making.pieces +
                                            making.access_count * sizeof *making.accesses +
                                            making.form_count * sizeof *making.forms};
}

void rsc_piece_table_make(struct rsc_piece_table *table, const struct rsc_piece_counts *counts, uint64_t start,
                          uint64_t stop, const void *copy, void *memory) {
    struct making making = {.numbers = memory,
                            .pieces = (void *)((char *)memory + numbers_bytes(start, stop)),
                            .access_room = counts->accesses};
    making.accesses = (void *)(making.pieces + counts->pieces);
    making.forms = (void *)(making.accesses + counts->accesses);
    make_pieces(&making, start, stop, copy);
    *table = (struct rsc_piece_table){start, stop, making.pieces, making.numbers, (uint32_t)making.piece_count};
}
