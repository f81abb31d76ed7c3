/*
 * asm_registry.c - the rebuilt modules of a process: copies their tables into the ring,
 * completed with what only the linked program knows.
 *
 * Constructors and destructors add and remove modules, one at a time; any thread may
 * read meanwhile.
 */
#include "runtime/recorder/asm_runtime.h"

#include <link.h>
#include <string.h>
#include <sys/mman.h>

#define MODULES_MAX 1024u
#define NO_PLAN UINT64_MAX

/* start NULL: unloaded. */
static struct {
    const char *start, *stop;
    uint64_t plan;
    int is_decoded; /* it has a table below */
} modules[MODULES_MAX];
static uint32_t module_count;
static struct rsc_ring *copied_to;

/* Their pieces, for threads that filter their own words: only ever added to, so any thread may read. */
static struct rsc_piece_table tables[MODULES_MAX];
static uint32_t table_count;

/* Whether the linked instruction accesses memory, by the rules of asm_abi.h. */
static int still_accesses(const struct rsc_asm_entry *entry, const uint8_t *insn) {
    if (entry->kind == RSC_ASM_PLAIN) return insn[0] != 0x64 && !(insn[0] == 0x66 && insn[1] == 0x66);
    if (insn[0] == 0x67 || insn[0] == 0xe8 || insn[0] == 0xe9) return 0;
    const uint8_t *opcode = insn + (insn[0] >= 0x40 && insn[0] <= 0x4f);
    if (opcode[0] == 0x8d) return 0;
    return !((opcode[0] == 0xc7 || opcode[0] == 0x81 || opcode[0] == 0xf7) && opcode[1] >= 0xc0);
}

/* Known only in the linked program: the targets of instruction-relative operands. */
static void complete(struct rsc_asm_entry *entry, const uint8_t *insn) {
    int32_t displacement;
    if ((entry->flags & RSC_ASM_RELAXED) && !still_accesses(entry, insn)) entry->size = 0;
    if (entry->kind != RSC_ASM_RIP || !entry->size) return;
    memcpy(&displacement, insn + entry->count, sizeof displacement);
    entry->disp += displacement + entry->scale;
}

/* Copies tables into the ring and finds the range of their code. Returns the place in ring.plans; NO_PLAN: no room. */
static uint64_t copy_tables(const char *start, size_t bytes, uintptr_t *low, uintptr_t *high) {
    uint64_t *plan = rsc_ring_plan(copied_to, (uint32_t)(bytes / 8));
    const struct rsc_asm_block *block;
    *low = UINTPTR_MAX;
    *high = 0;
    if (plan) memcpy(plan, start, bytes);
    for (size_t at = 0; (block = rsc_asm_block_at(start, bytes, &at)); at += rsc_asm_block_bytes(block)) {
        uintptr_t pc = (uintptr_t)block + (uintptr_t)(intptr_t)block->pc;
        if (pc < *low) *low = pc;
        if (pc + block->last > *high) *high = pc + block->last;
        struct rsc_asm_entry *entries = (void *)((char *)plan + at + sizeof *block);
        for (uint32_t i = 0; plan && i < block->entries && at + sizeof *block + (i + 1) * sizeof *entries <= bytes; i++)
            complete(&entries[i], (const uint8_t *)pc + entries[i].pc);
    }
    return plan ? (uint64_t)(plan - copied_to->plans) : NO_PLAN;
}

/* Returns 0, or -1: no memory, or too many modules. */
static int decode(uint64_t start, uint64_t stop, const void *copy) {
    uint32_t number = __atomic_load_n(&table_count, __ATOMIC_RELAXED);
    struct rsc_piece_counts counts;
    if (number == MODULES_MAX) return -1;
    rsc_piece_table_count(&counts, start, stop, copy);
    void *memory = mmap(NULL, counts.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return -1;
    rsc_piece_table_make(&tables[number], &counts, start, stop, copy, memory);
    __atomic_store_n(&table_count, number + 1, __ATOMIC_RELEASE);
    return 0;
}

const struct rsc_piece *rsc_asm_search_piece(struct rsc_piece_table *table, uint64_t address) {
    for (uint32_t i = __atomic_load_n(&table_count, __ATOMIC_ACQUIRE); i-- > 0;) {
        if (!rsc_piece_table_spans(&tables[i], address)) continue;
        *table = tables[i];
        return rsc_piece_at(table, address);
    }
    return NULL;
}

struct segment {
    uintptr_t inside, start, stop;
};
static int find_segment(struct dl_phdr_info *info, size_t size, void *to) {
    struct segment *segment = to;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + header->p_vaddr;
        if (header->p_type != PT_LOAD || !(header->p_flags & PF_X)) continue;
        if (segment->inside < start || segment->inside >= start + header->p_memsz) continue;
        segment->start = start;
        segment->stop = start + header->p_memsz;
        return 1;
    }
    return 0;
}

/* Patches its code, whose first piece is at `low` and last at `high`. */
static void know_code(uintptr_t low, uintptr_t high) {
    struct segment segment = {low, 0, 0};
#ifdef RSC_ASM_STATIC
    segment.stop = high + 16384; /* the last file's recording copies; libc's code comes after */
    segment.start = low;
    struct segment whole = {low, 0, 0};
    if (dl_iterate_phdr(find_segment, &whole)) rsc_asm_patch_markers(whole.start, whole.stop);
#else
    (void)high;
    dl_iterate_phdr(find_segment, &segment);
    if (segment.start) rsc_asm_patch_markers(segment.start, segment.stop);
#endif
    rsc_asm_samples_range(segment.start, segment.stop);
}

/* A free place; MODULES_MAX: there is none. */
static uint32_t free_place(void) {
    uint32_t count = __atomic_load_n(&module_count, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < count; i++)
        if (!modules[i].start) return i;
    return count;
}

static void keep(uint32_t number, const void *start, const void *stop, uint64_t plan) {
    modules[number].stop = stop;
    modules[number].plan = plan;
    modules[number].is_decoded = 0;
    modules[number].start = start;
    if (number == module_count) __atomic_fetch_add(&module_count, 1, __ATOMIC_RELEASE);
}

void rsc_asm_registry_know(const void *start, const void *stop) {
    uint32_t number = free_place();
    if (number < MODULES_MAX) keep(number, start, stop, NO_PLAN);
}

/* Markers in its code stay as they are: threads may be executing them. */
void rsc_asm_registry_move(struct rsc_ring *ring) {
    uintptr_t low, high;
    copied_to = ring;
    for (uint32_t i = 0; i < module_count; i++) {
        if (!modules[i].start) continue;
        modules[i].plan = copy_tables(modules[i].start, (size_t)(modules[i].stop - modules[i].start), &low, &high);
        int lost = modules[i].plan == NO_PLAN;
        if (!lost && !modules[i].is_decoded) {
            lost = decode((uintptr_t)modules[i].start, (uintptr_t)modules[i].stop, ring->plans + modules[i].plan) < 0;
            modules[i].is_decoded = !lost;
        }
        if (lost) __atomic_fetch_add(&ring->modules_lost, 1, __ATOMIC_RELAXED);
    }
}

int rsc_asm_registry_add(struct rsc_ring *ring, const void *start, const void *stop, int looks_itself,
                         struct rsc_asm_module *added) {
    uintptr_t low, high;
    uint32_t number = free_place();
    copied_to = ring;
    if (number == MODULES_MAX) {
        __atomic_fetch_add(&ring->modules_lost, 1, __ATOMIC_RELAXED);
        return -1;
    }
    uint64_t plan = copy_tables(start, (size_t)((const char *)stop - (const char *)start), &low, &high);
    keep(number, start, stop, plan);
    int lost = plan == NO_PLAN;
    if (!lost && looks_itself) {
        lost = decode((uintptr_t)start, (uintptr_t)stop, ring->plans + plan) < 0;
        modules[number].is_decoded = !lost;
    }
    if (lost) __atomic_fetch_add(&ring->modules_lost, 1, __ATOMIC_RELAXED);
    know_code(low, high);
    *added = (struct rsc_asm_module){(uintptr_t)start, (uintptr_t)stop, plan};
    return 0;
}

void rsc_asm_registry_remove(const void *start) {
    for (uint32_t i = 0; i < module_count; i++)
        if (modules[i].start == start) modules[i].start = NULL;
}

int rsc_asm_registry_next(uint32_t *at, struct rsc_asm_module *module) {
    while (*at < __atomic_load_n(&module_count, __ATOMIC_ACQUIRE)) {
        uint32_t number = (*at)++;
        if (!modules[number].start) continue;
        *module = (struct rsc_asm_module){(uintptr_t)modules[number].start, (uintptr_t)modules[number].stop,
                                          modules[number].plan};
        return 1;
    }
    return 0;
}

const struct rsc_asm_block *rsc_asm_completed(const struct rsc_asm_block *block) {
    const char *at = (const char *)block;
    uint32_t count = __atomic_load_n(&module_count, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < count; i++) {
        if (!modules[i].start || at < modules[i].start || at >= modules[i].stop) continue;
        if (modules[i].plan == NO_PLAN) return NULL;
        return (const void *)((const char *)&copied_to->plans[modules[i].plan] + (at - modules[i].start));
    }
    return NULL;
}
