/*
 * asm_abi.h - the interface between a program rebuilt by `reusescope cc`, the runtime linked into it,
 * and the parent that reads the words such a program writes. x86-64 ELF only. The assembler pass
 * (collect/rewrite/) writes the rebuilt code.
 *
 * A program is cut into pieces: straight code, entered only at its start, that ends before or with a
 * jump, a call or a return. Each piece with accesses has two copies. The fast copy is the compiler's
 * code after a countdown:
 *
 *      subq $weight, %fs:rsc_asm_thread@tpoff      # weight: the accesses of the piece
 *      js   recording copy
 *   back:
 *
 * (position-independent code for shared objects first loads the offset from
 * rsc_asm_thread@gottpoff(%rip) into a register: initial-exec). Live flags are saved around it. The
 * recording copy is in a subsection of the same section:
 *
 *      mov  next, B                                # B is a dead register, or was pushed
 *      cmp  limit, B ; jae full                    #   below the red zone
 *      lea  8*reserved(B), A ; mov A, next
 *      lea  the piece's table(%rip), A ; mov A, (B)
 *      mov  register, 8*i(B)  ...                  # before the instruction that needs it
 *      the instructions, without a jump, call or return at the end
 *      jmp  to that jump in the fast copy, or to the code after the piece, or to the recording
 *           copy of that code
 *   full:
 *      registers restored, %rsp at least 128 lower
 *      call *rsc_asm_room@GOTPCREL(%rip)
 *      nopl the piece's table(%rip)                # 0f 1f 05 and 32 bits: the piece that would run now
 *      %rsp restored; to `back` if the counter is >= 0 now, otherwise to the start
 *
 * Loops without calls keep the counter in a register while they run: memory then holds its value from
 * the loop's start (it is stored before rsc_asm_room() and loaded again after it). Recording copies
 * that follow each other do not count down.
 *
 * A piece of such a loop that jumps back to its own start is recorded as a *run*: registers to which
 * each iteration ("turn" in names) adds a constant (or nothing) are written once, before the first
 * iteration. Each iteration writes only registers that change in other ways, and the number of
 * iterations begun:
 *
 *      reservation as above, registers with constant increments into words 2, 3, ...
 *      mov  $RSC_ASM_RECORD, counter               # its lower half counts words, or turns if there are none
 *   turn:
 *      cmp  run, counter (lower half) ; jae end of the run
 *      lea  words of a turn(counter), counter ; mov counter, 8(B)
 *      mov  register, ...(B,counter,8)             # RSC_ASM_RECORD * 8 is 0
 *      the instructions
 *      jcc  turn
 *
 * During a run, `next` is past everything it could write. To be able to stop at any iteration, ask for
 * runs of one: those are like other pieces.
 *
 * Live registers are saved in reserved words (those after the table's `words`, up to its `reserved`,
 * which the parent ignores) and nowhere else, so a signal handler that runs recorded code cannot
 * damage them. Interrupted code may be between reading `next` and moving it, and has words still to
 * write: *a handler must write elsewhere* (the runtime gives it its own slot), and must restore struct
 * rsc_asm_thread.
 *
 * Threads need no preparation: all zeros (a new thread) leads to rsc_asm_room() at the first piece.
 * The runtime changes a thread's mode only through struct rsc_asm_thread, and only the thread itself
 * writes there:
 *
 *   fast        counter >= 0, at most RSC_ASM_CAP: after that many accesses it calls the
 *               runtime, which checks for a request for another mode
 *   recording   counter = RSC_ASM_RECORD or near it, next < limit. It calls the runtime when next >= limit
 *   ending      next and limit NULL, counter RSC_ASM_CAP, permanently (a thread that is
 *               ending, a dead parent)
 *
 * There are no other hooks: calls and returns follow from the stream (`ends` of a piece and where the
 * next begins). The thread may be unwound at rsc_asm_room(): recording copies have correct CFI.
 */
#ifndef RSC_RUNTIME_PIECES_ASM_ABI_H
#define RSC_RUNTIME_PIECES_ASM_ABI_H

#include <stddef.h>
#include <stdint.h>

#define RSC_ASM_ABI 2

/* ---- in the program: one definition per process, default visibility, the executable's comes first ---- */

#define RSC_ASM_CAP 65536 /* accesses until a thread sees a request for another mode */
#define RSC_ASM_RECORD (INT64_MIN / 2)
#define RSC_ASM_LEAST_ROOM 1024u /* words that may be written from any next < limit on: RSC_BLOCK_SPARE */
#define RSC_ASM_RUN_MOST 900u /* of `run`: a loop's records reach the ring soon, and its words fit into LEAST_ROOM */

struct rsc_asm_thread {
    int64_t counter; /* offset 0 */
    uint64_t *next; /* 8: where the next piece writes */
    uint64_t *limit; /* 16: no piece may begin here or later */
    uint64_t run; /* 24: words of a run (iterations, if it has no words) after which another begins; 1: one iteration */
};

#ifdef RSC_ASM_RUNTIME
extern __thread struct rsc_asm_thread rsc_asm_thread __attribute__((tls_model("initial-exec")));

/*
 * Called when the countdown or the room is used up. Preserves every register (also
 * vector, mask and x87), flags and errno. The stack is not aligned; the program's data
 * begins 128 bytes above the return address. Returns with a counter >= 0, or negative
 * and next < limit.
 */
void rsc_asm_room(void);

/*
 * Each executable and shared object has module.o linked in, whose constructor calls
 * this with its own (hidden, weak) __start_rsc_asm_blocks and __stop_rsc_asm_blocks,
 * and whose destructor unregisters it. A piece may run earlier: its words are resolved
 * when the tables are known.
 */
void rsc_asm_register(const void *start, const void *stop);
void rsc_asm_unregister(const void *start, const void *stop);
#endif

/*
 * The tables are in the section rsc_asm_blocks of each object file, flags "ao?" (it is
 * kept or dropped with its code: COMDAT groups, --gc-sections with `-z start-stop-gc`),
 * read-only and without dynamic relocations. Blocks follow one another, aligned to 8; a
 * header of zeros is padding of 8 bytes.
 */
#define RSC_ASM_SECTION "rsc_asm_blocks"

struct rsc_asm_block {
    int32_t pc; /* address of the first instruction in the fast copy, minus the address of this field */
    uint16_t last; /* offset of the last instruction from the first */
    uint16_t instructions; /* in the piece; a repeated string counts as one */
    uint16_t entries;
    uint16_t words; /* in the ring: this block's address, then values; more may be reserved */
    uint8_t ends; /* RSC_ASM_RUN, or CALL or RETURN of enum rsc_plan_end; bits 3 on: the fast copy's counter register */
    uint8_t abi; /* RSC_ASM_ABI */
    uint16_t reserved; /* words reserved: `words` and those for saved registers; in a run: words of each iteration */
};
_Static_assert(sizeof(struct rsc_asm_block) == 16, "entries follow");
#define RSC_ASM_ENDS_MASK 7u
#define RSC_ASM_COUNTER_SHIFT \
    3u /* number of the register, in the order of instruction encodings, plus 1; 0: in memory */

/*
 * A run: `words` are written once: the block's address, RSC_ASM_RECORD + iterations
 * begun * (words of an iteration, or 1), registers; then come the words of each
 * iteration. Entries, all PLAIN or RIP, name words of the first iteration. After the
 * entries there is one int32_t per entry, the increment of its address per iteration,
 * padded to 8 bytes.
 */
#define RSC_ASM_RUN 7u /* in place of an enum rsc_plan_end */
static inline int rsc_asm_is_run(const struct rsc_asm_block *block) {
    return (block->ends & RSC_ASM_ENDS_MASK) == RSC_ASM_RUN;
}
static inline uint8_t rsc_asm_ends(const struct rsc_asm_block *block) {
    return rsc_asm_is_run(block) ? 0 : (uint8_t)(block->ends & RSC_ASM_ENDS_MASK);
}
/* The total size, with the entries and increments. */
static inline uint32_t rsc_asm_block_bytes(const struct rsc_asm_block *block) {
    return (uint32_t)sizeof *block + block->entries * 16u + (rsc_asm_is_run(block) ? (block->entries + 1u) / 2 * 8 : 0);
}

/*
 * An access, in execution order:
 *
 *   address = word[base] + word[index] * scale + disp     (word 0: none, it is the block's address)
 *
 * Accesses that were not reached because an earlier instruction faulted have zeros for words; an
 * entry whose base word is zero was not made. Words hold registers or computed addresses, whichever
 * was shorter.
 */
struct rsc_asm_entry {
    uint16_t pc; /* from the block's first */
    uint16_t order; /* index of the instruction in the piece */
    uint8_t kind; /* enum rsc_asm_kind */
    uint8_t flags;
    uint8_t base, index; /* words */
    int32_t disp;
    uint16_t size; /* bytes; per element if there are several */
    uint8_t scale; /* 1 2 4 8 */
    uint8_t count; /* depends on the kind */
};
_Static_assert(sizeof(struct rsc_asm_entry) == 16, "two words");

/* The block at *at of the tables, or after padding there: *at then moves to it. NULL: there is none. */
static inline const struct rsc_asm_block *rsc_asm_block_at(const void *tables, size_t bytes, size_t *at) {
    for (; *at + sizeof(struct rsc_asm_block) <= bytes; *at += 8) {
        const struct rsc_asm_block *block = (const void *)((const char *)tables + *at);
        uint64_t word; /* every block has a nonzero pc, last or instructions */
        __builtin_memcpy(&word, block, sizeof word);
        if (word) return block;
    }
    return NULL;
}

/* flags. Both READS and WRITES: two accesses, the read first, then the write. */
#define RSC_ASM_READS 1u
#define RSC_ASM_WRITES 2u
#define RSC_ASM_RELAXED 8u /* the linker may have replaced it by an instruction without access: see RIP */
#define RSC_ASM_INDEX_8 16u /* GATHERED: indices of 8 bytes, else 4 */
#define RSC_ASM_BY_EQUAL 32u /* STRING: repe or repne */

/* Accesses as the countdown counts them: of an entry, and of a piece. */
static inline uint32_t rsc_asm_weight(const struct rsc_asm_entry *entry) {
    return (entry->flags & RSC_ASM_READS) && (entry->flags & RSC_ASM_WRITES) ? 2 : 1;
}
static inline uint32_t rsc_asm_block_weight(const struct rsc_asm_block *block) {
    const struct rsc_asm_entry *entries = (const void *)(block + 1);
    uint32_t weight = 0;
    for (uint32_t i = 0; i < block->entries; i++) weight += rsc_asm_weight(&entries[i]);
    return weight ? weight : 1;
}

/* The same of the piece that would run now, from the code that a call of rsc_asm_room() returns to. */
static inline uint32_t rsc_asm_weight_behind(const void *back) {
    const uint8_t *code = back;
    int32_t distance;
    if (code[0] != 0x0f || code[1] != 0x1f || code[2] != 0x05) return 1;
    __builtin_memcpy(&distance, code + 3, sizeof distance);
    return rsc_asm_block_weight((const struct rsc_asm_block *)(code + 7 + distance));
}

enum rsc_asm_kind {
    RSC_ASM_PLAIN = 1,
    /*
     * An address relative to the instruction itself, no words. `count` is where in the
     * instruction its 32-bit displacement is and `scale` the instruction's length: address
     * = pc + length + displacement. The runtime reads it at registration and leaves in the
     * parent's copy `disp` = length + displacement; with RSC_ASM_RELAXED it checks the
     * linked instruction: if it has no memory operand any more, size becomes 0, no access.
     * That is so if, after a REX prefix (0x40-0x4f), the opcode is 0x8d, 0xc7 or 0x81 or
     * 0xf7 with a register (modrm >= 0xc0), or the first byte is 0x67, 0xe8 or 0xe9. PLAIN
     * entries have the flag for the call to __tls_get_addr (pc is that of the sequence):
     * there is no call if the first byte is 0x64, or 0x66 twice.
     */
    RSC_ASM_RIP,
    /*
     * A repeated string, upwards: word[base] + disp is the address, word[index] the count
     * before, and with BY_EQUAL word[count] the count left afterwards (0 if it was not
     * reached). Accesses of `size` bytes, joined like those of QEMU. Two such entries of
     * one instruction (movs, cmps) alternate by element.
     */
    RSC_ASM_STRING,
    /*
     * Elements of `size` bytes at word[base] + disp, only those whose bit is set in
     * word[index]: runs of neighbours are one access. `count` elements; higher bits are
     * ignored, here and below.
     */
    RSC_ASM_MASKED,
    /* As many elements as bits are set in word[index], end to end: vcompress, vexpand. */
    RSC_ASM_PACKED,
    /* One element of `size` bytes, if any of the lowest `count` bits of word[index] is set: masked broadcasts. */
    RSC_ASM_ANY,
    /*
     * Gathers and scatters: `count` elements of `size` bytes, the address of each
     * word[base] + disp + its index * scale, the indices (signed) in the words from
     * word[index] on, packed as in the vector register, in order; only those whose bit
     * is set in the word after them.
     */
    RSC_ASM_GATHERED,
};

/* ---- to the parent ---- */

/*
 * In the ring's blocks, among the words of ring.h, a nonzero word whose upper 16 bits
 * are zero is the address of a struct rsc_asm_block in the program: an execution of
 * that piece. words - 1 values follow, then reserved - words others.
 *
 * Pieces without accesses (and without call or return) are never written, so the target
 * of a call is known only as the next piece that is written: in the called function, or
 * after the call, if the callee is not rebuilt. The stack pointers of calls (the address
 * of their write) and of returns (of their read) show which. When the runtime registers
 * a module, it copies the table into ring.plans unchanged, except that RIP entries are
 * completed, and leaves a note with its place. A pc is
 *     (address of the block in the program) + pc, + entry's pc.
 */
struct rsc_asm_module {
    uint64_t start, stop; /* of the tables in the program */
    uint64_t plan; /* offset in ring.plans, in words */
};

#endif
