/* own_pieces.c - see own_pieces.h. The parent's own, with checks: collect/drain/asm_tables.c and collect/drain/expand_rebuilt.c. */
#include "runtime/recorder/own_pieces.h"

#include <sys/mman.h>

#define ADDRESS 0xffffffffffffull
#define RECORD_BYTES_MAX 128u /* a record's size has 8 bits */
#define LINE 64u /* strings are told line by line, as the parent does */
#define MODULES_MAX 1024u

static struct rsc_own_place modules[MODULES_MAX];
static uint32_t module_count;

/* ---- making ---- */

struct making {
    struct rsc_own_piece *pieces;
    struct rsc_own_entry *entries;
    uint32_t *numbers;
    size_t piece_count, entry_count;
};

static void add_access(struct making *making, const struct rsc_own_piece *piece, const struct rsc_asm_entry *entry,
                       int32_t step, enum rsc_record_type type, uint64_t pc) {
    struct rsc_own_entry made = {.disp = entry->disp,
                                 .size = entry->size,
                                 .base = entry->base,
                                 .index = entry->index,
                                 .scale = entry->scale,
                                 .kind = entry->kind,
                                 .count = entry->count,
                                 .flags = entry->flags,
                                 .step = step};
    if (made.kind == RSC_ASM_RIP) {
        made.kind = RSC_ASM_PLAIN;
        made.base = made.index = made.scale = 0;
        made.disp = (int64_t)((pc + (uint64_t)(int64_t)entry->disp) & ADDRESS);
    }
    if (piece->is_run && made.base >= piece->words) made.base_moves = piece->turn_words;
    if (piece->is_run && made.index >= piece->words) made.index_moves = piece->turn_words;
    uint32_t most = made.kind == RSC_ASM_PLAIN ? RECORD_BYTES_MAX : entry->size;
    for (uint32_t at = 0; at < entry->size; at += most) {
        uint32_t size = entry->size - at < most ? entry->size - at : most;
        made.word = rsc_record_word(type, size, pc);
        made.size = (uint16_t)size;
        made.tag = (uint64_t)(size - 1) << 48;
        if (making->entries) making->entries[making->entry_count] = made;
        making->entry_count++;
        made.disp += size;
    }
}

static void find_forms(struct rsc_own_piece *piece, struct rsc_own_entry *entries) {
    uint32_t count = 0;
    for (uint32_t i = 0; piece->plain && i < piece->count; i++) {
        struct rsc_own_form form = {entries[i].base,
                                    entries[i].index,
                                    entries[i].index ? entries[i].scale : 0,
                                    piece->is_run ? entries[i].base_moves : piece->reserved,
                                    piece->is_run ? entries[i].index_moves : piece->reserved,
                                    entries[i].step};
        uint32_t at = 0;
        while (at < count && (piece->forms[at].base != form.base || piece->forms[at].index != form.index ||
                              piece->forms[at].scale != form.scale || piece->forms[at].step != form.step))
            at++;
        if (at == RSC_OWN_FORMS_MAX) return;
        if (at == count) piece->forms[count++] = form;
        entries[i].form = at;
    }
    piece->form_count = (uint8_t)count;
}

/* Goes through a module's tables: counts, and where there is memory for them, makes pieces. */
static void go_through(struct making *making, uint64_t start, size_t bytes, const uint8_t *plan) {
    making->piece_count = making->entry_count = 0;
    for (size_t at = 0; at + sizeof(struct rsc_asm_block) <= bytes;) {
        const struct rsc_asm_block *head = (const void *)(plan + at);
        if (!*(const uint64_t *)(const void *)head) { /* padding */
            at += 8;
            continue;
        }
        uint64_t place = start + at, pc = (place + (uint64_t)(int64_t)head->pc) & ADDRESS;
        const struct rsc_asm_entry *entries = (const void *)(head + 1);
        size_t first = making->entry_count;
        struct rsc_own_piece piece = {.pc = pc,
                                      .last_pc = pc + head->last,
                                      .words = head->words,
                                      .reserved = head->reserved,
                                      .instructions = head->instructions,
                                      .ends = rsc_asm_ends(head),
                                      .plain = 1};
        if (making->numbers) making->numbers[at / 8] = (uint32_t)making->piece_count + 1;
        const int32_t *steps = (const void *)(entries + head->entries);
        if (rsc_asm_is_run(head)) {
            piece.is_run = 1;
            piece.turn_words = head->reserved;
            piece.reserved = (uint16_t)(head->words + head->reserved);
        }
        at += rsc_asm_block_bytes(head);
        for (uint32_t i = 0; i < head->entries; i++) {
            const struct rsc_asm_entry *entry = &entries[i];
            piece.weight = (uint16_t)(piece.weight + ((entry->flags & 3) == 3 ? 2 : 1));
            if (!entry->size) continue;
            uint64_t entry_pc = pc + entry->pc;
            int is_plain = entry->kind == RSC_ASM_PLAIN || entry->kind == RSC_ASM_RIP;
            if (!is_plain || entry->size > LINE) piece.plain = 0;
            int32_t step = piece.is_run ? steps[i] : 0;
            if (entry->flags & RSC_ASM_READS) add_access(making, &piece, entry, step, RSC_RECORD_READ, entry_pc);
            if (entry->flags & RSC_ASM_WRITES) add_access(making, &piece, entry, step, RSC_RECORD_WRITE, entry_pc);
            piece.tells_stack =
                entry_pc == piece.last_pc && entry->kind == RSC_ASM_PLAIN && i + 1u == head->entries &&
                (piece.ends == RSC_PLAN_ENDS_CALL ? entry->flags & RSC_ASM_WRITES : entry->flags & RSC_ASM_READS) != 0;
        }
        if (!piece.weight) piece.weight = 1;
        piece.entries = making->entries + first;
        piece.count = (uint16_t)(making->entry_count - first);
        if (making->entries) find_forms(&piece, making->entries + first);
        if (making->pieces) making->pieces[making->piece_count] = piece;
        making->piece_count++;
    }
}

int rsc_own_pieces_add(uint64_t start, uint64_t stop, const void *plan) {
    struct making making = {0};
    size_t bytes = stop - start, numbers = (bytes / 8 * sizeof(uint32_t) + 63) & ~(size_t)63;
    uint32_t number = __atomic_load_n(&module_count, __ATOMIC_RELAXED);
    if (number == MODULES_MAX) return -1;
    go_through(&making, start, bytes, plan);
    size_t pieces = making.piece_count * sizeof *making.pieces, entries = making.entry_count * sizeof *making.entries;
    char *memory =
        mmap(NULL, numbers + pieces + entries + 64, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return -1;
    making.numbers = (void *)memory;
    making.pieces = (void *)(memory + numbers);
    making.entries = (void *)(memory + numbers + pieces);
    go_through(&making, start, bytes, plan);
    modules[number] = (struct rsc_own_place){start, stop, making.pieces, making.numbers};
    __atomic_store_n(&module_count, number + 1, __ATOMIC_RELEASE);
    return 0;
}

const struct rsc_own_piece *rsc_own_piece_search(struct rsc_own_place *place, uint64_t address) {
    for (uint32_t i = __atomic_load_n(&module_count, __ATOMIC_ACQUIRE); i-- > 0;) {
        if (address - modules[i].start >= modules[i].stop - modules[i].start) continue;
        *place = modules[i];
        return rsc_own_piece_find(place, address);
    }
    return NULL;
}

/* ---- executions ---- */

static uint64_t sized(uint64_t word, uint64_t size) { return (word & ~(0xffull << 48)) | size << 48; }

static uint64_t next_line(uint64_t start, uint64_t from, uint32_t size, uint64_t count) {
    uint64_t at = start + from * size, line_end = (at / LINE + 1) * LINE;
    uint64_t element = from + (line_end - at + size - 1) / size;
    return element < count ? element : count;
}

/* Of one entry or two: what lies in each line, in the order in which the first element of each comes. */
static void expand_string(const struct rsc_own_entry *entries, uint32_t streams, const uint64_t *words,
                          rsc_own_put *put, void *context) {
    uint64_t start[2], count = words[entries->index];
    uint32_t size = entries->size;
    if (entries->flags & RSC_ASM_BY_EQUAL) count -= words[entries->count] < count ? words[entries->count] : count;
    if (!words[entries->base]) return;
    for (uint32_t i = 0; i < streams; i++) start[i] = (words[entries[i].base] + (uint64_t)entries[i].disp) & ADDRESS;
    for (uint64_t element = 0; element < count;) {
        uint64_t nearest = count;
        for (uint32_t i = 0; i < streams; i++) {
            uint64_t at = start[i] + element * size, end = next_line(start[i], element, size, count);
            int begins = !element || at / LINE != (at - size) / LINE;
            if (begins) put(context, at & ADDRESS, sized(entries[i].word, (end - element) * size));
            if (end < nearest) nearest = end;
        }
        element = nearest;
    }
}

static void expand_masked(const struct rsc_own_entry *entry, uint64_t start, uint64_t mask, rsc_own_put *put,
                          void *context) {
    for (uint32_t i = 0; i < entry->count;) {
        uint32_t first = i;
        if (!(mask >> i & 1)) {
            i++;
            continue;
        }
        while (i < entry->count && (mask >> i & 1)) i++;
        put(context, (start + first * entry->size) & ADDRESS, sized(entry->word, (i - first) * entry->size));
    }
}

static void expand_gathered(const struct rsc_own_entry *entry, const uint64_t *words, rsc_own_put *put, void *context) {
    const uint32_t index_bytes = entry->flags & RSC_ASM_INDEX_8 ? 8 : 4;
    const uint64_t *indices = words + entry->index;
    uint64_t mask = indices[(entry->count * index_bytes + 7) / 8], base = entry->base ? words[entry->base] : 0;
    for (uint32_t i = 0; i < entry->count; i++) {
        if (!(mask >> i & 1)) continue;
        int64_t index = index_bytes == 8 ? (int64_t)indices[i] : (int32_t)(indices[i / 2] >> (i % 2 ? 32 : 0));
        put(context, (base + (uint64_t)entry->disp + (uint64_t)index * entry->scale) & ADDRESS, entry->word);
    }
}

static int take_turns(const struct rsc_own_entry *entry) {
    return entry[1].kind == RSC_ASM_STRING && rsc_record_pc(entry[0].word) == rsc_record_pc(entry[1].word);
}

void rsc_own_expand(const struct rsc_own_piece *piece, const uint64_t *words, uint32_t turn, rsc_own_put *put,
                    void *context) {
    for (uint32_t i = 0; i < piece->count; i++) {
        const struct rsc_own_entry *entry = &piece->entries[i];
        uint64_t base = entry->base ? words[entry->base + turn * entry->base_moves] : 0;
        uint64_t index = entry->index ? words[entry->index + turn * entry->index_moves] : 0;
        uint64_t start = base + (uint64_t)entry->disp + turn * (uint64_t)(int64_t)entry->step;
        switch (entry->kind) {
        case RSC_ASM_PLAIN:
            /* both zero: the instruction was not reached */
            if (!entry->base || (base | index)) put(context, (start + index * entry->scale) & ADDRESS, entry->word);
            break;
        case RSC_ASM_STRING: {
            uint32_t streams = i + 1u < piece->count && take_turns(entry) ? 2 : 1;
            expand_string(entry, streams, words, put, context);
            i += streams - 1;
            break;
        }
        case RSC_ASM_GATHERED: expand_gathered(entry, words, put, context); break;
        case RSC_ASM_MASKED:
            if (!entry->base || base) expand_masked(entry, start, index, put, context);
            break;
        case RSC_ASM_PACKED:
            if ((!entry->base || base) && index)
                put(context, start & ADDRESS, sized(entry->word, (uint64_t)__builtin_popcountll(index) * entry->size));
            break;
        case RSC_ASM_ANY:
            if ((!entry->base || base) && index) put(context, start & ADDRESS, entry->word);
            break;
        default: break;
        }
    }
}
