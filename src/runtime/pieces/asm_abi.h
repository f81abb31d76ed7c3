/*
 * asm_abi.h - what a program rebuilt by `reusescope cc` and the runtime linked into
 * it agree on, and what the parent makes of the words that such a program writes.
 * x86-64 ELF only. The rebuilt code is written by collect/asm_*.c.
 *
 * A program is cut into pieces: straight code, entered at its beginning only, that
 * ends before or with a jump, a call or a return. Each piece with accesses has two
 * copies. The fast copy is the compiler's code and a countdown in front of it:
 *
 *      subq $weight, %fs:rsc_asm_thread@tpoff      # weight: the accesses of the piece
 *      js   recording copy
 *   back:
 *
 * (position-independent code for shared objects: the offset is loaded from
 * rsc_asm_thread@gottpoff(%rip) into a register first: initial-exec). Where flags are
 * live they are saved around it. The recording copy lies in a subsection of the same
 * section:
 *
 *      mov  next, B                                # B is a dead register, or was pushed
 *      cmp  limit, B ; jae full                    #   below the red zone
 *      lea  8*reserved(B), A ; mov A, next
 *      lea  the piece's table(%rip), A ; mov A, (B)
 *      mov  register, 8*i(B)  ...                  # before the instruction that needs it
 *      the instructions, but not a jump, call or return at the end
 *      jmp  to that in the fast copy, or to what follows the piece, or to the recording
 *           copy of that
 *   full:
 *      registers as they were, %rsp at least 128 lower
 *      call *rsc_asm_room@GOTPCREL(%rip)
 *      nopl the piece's table(%rip)                # 0f 1f 05 and 32 bits: which piece would run now
 *      %rsp as it was; to `back` when the counter is >= 0 now, else from the beginning
 *
 * Loops without calls keep the counter in a register while they run: what is in memory
 * is then what it was at the loop's beginning (it is stored before rsc_asm_room() and
 * loaded again behind it). Between recording copies that follow each other nothing is
 * counted down.
 *
 * A piece of such a loop that jumps back to its own beginning is recorded as a *run*:
 * registers to which each turn adds a constant (or nothing) are written once, before the
 * first turn, and each turn writes only those that change in other ways, and how many
 * turns have begun:
 *
 *      reservation as above, registers that move evenly into words 2, 3, ...
 *      mov  $RSC_ASM_RECORD, counter               # its lower half counts words, or turns without any
 *   turn:
 *      cmp  run, counter (lower half) ; jae end of the run
 *      lea  words of a turn(counter), counter ; mov counter, 8(B)
 *      mov  register, ...(B,counter,8)             # RSC_ASM_RECORD * 8 is 0
 *      the instructions
 *      jcc  turn
 *
 * While it lasts `next` is behind all that it could write. Who is to
 * stop at any turn asks for runs of one: those are as other pieces are.
 *
 * Registers that are live are saved in reserved words (those behind the table's
 * `words`, up to its `reserved`, which mean nothing to the parent) and nowhere else, so
 * a signal handler that runs recorded code cannot harm them. What a handler interrupts
 * may be between reading `next` and moving it, and has words that it will still write:
 * *a handler must write elsewhere* (the runtime gives it a slot of its own), and leave
 * struct rsc_asm_thread as it was.
 *
 * Threads need no preparation: all zeros (a new thread) leads to rsc_asm_room() at the
 * first piece. The runtime changes mode by what it leaves in struct rsc_asm_thread
 * and in no other way, and only the thread itself writes there:
 *
 *   fast        counter >= 0, at most RSC_ASM_CAP: it is back when so many accesses
 *               have been made, and looks whether the parent wants something else
 *   recording   counter = RSC_ASM_RECORD or near it, next < limit. It is back when next >= limit
 *   ending      next and limit NULL, counter RSC_ASM_CAP, for good (a thread that is
 *               being torn down, a dead parent)
 *
 * There are no other hooks: calls and returns follow from the stream (`ends` of a
 * piece and where the next begins). At rsc_asm_room() the thread may be unwound:
 * recording copies have correct CFI.
 */
#ifndef RSC_RUNTIME_PIECES_ASM_ABI_H
#define RSC_RUNTIME_PIECES_ASM_ABI_H

#include <stddef.h>
#include <stdint.h>

#define RSC_ASM_ABI 2

/* ---- in the program: one definition a process, default visibility, the executable's comes first ---- */

#define RSC_ASM_CAP 65536 /* accesses until a thread sees that something else is wanted */
#define RSC_ASM_RECORD (INT64_MIN / 2)
#define RSC_ASM_LEAST_ROOM 1024u /* words that may be written from any next < limit on: RSC_BLOCK_SPARE */
#define RSC_ASM_RUN_MOST 900u /* of `run`: what a loop records is in the ring soon, and its words fit into LEAST_ROOM */

struct rsc_asm_thread {
    int64_t counter; /* offset 0 */
    uint64_t *next; /* 8: where the next piece is written */
    uint64_t *limit; /* 16: the first place where none may begin */
    uint64_t
        run; /* 24: of a run (below): words, or turns without any, from which on another begins. 1: one turn each */
};

#ifdef RSC_ASM_RUNTIME
extern __thread struct rsc_asm_thread rsc_asm_thread __attribute__((tls_model("initial-exec")));

/*
 * Called when the countdown ends or the room does. Preserves every register (vector,
 * mask and x87 too), flags and errno. The stack is not aligned; what lies above the
 * return address is the program's from 128 bytes on. Returns with a counter >= 0, or
 * negative and next < limit.
 */
void rsc_asm_room(void);

/*
 * Each executable and shared object has module.o linked in, whose constructor calls
 * this with its own (hidden, weak) __start_rsc_asm_blocks and __stop_rsc_asm_blocks,
 * and whose destructor takes it back. A piece may run before: its words are found
 * when the tables are known.
 */
void rsc_asm_register(const void *start, const void *stop);
void rsc_asm_unregister(const void *start, const void *stop);
#endif

/*
 * The tables are in the section rsc_asm_blocks of each object file, flags "ao?" (it
 * comes and goes with its code: COMDAT groups, --gc-sections with `-z
 * start-stop-gc`), read-only and without dynamic relocations. Blocks follow one
 * another, aligned to 8; a header of zeros is padding of 8 bytes.
 */
#define RSC_ASM_SECTION "rsc_asm_blocks"

struct rsc_asm_block {
    int32_t pc; /* of the first instruction in the fast copy, less the address of this field */
    uint16_t last; /* of the last instruction, from the first */
    uint16_t instructions; /* of the piece, a repeated string being one */
    uint16_t entries;
    uint16_t words; /* in the ring: this block's address, then values; what is reserved may be more */
    uint8_t
        ends; /* enum rsc_plan_end (runtime/ring/ring.h): CALL or RETURN, or RSC_ASM_RUN; from bit 3 on, where its fast copy has the counter */
    uint8_t abi; /* RSC_ASM_ABI */
    uint16_t reserved; /* words reserved: `words` and those for saved registers; of a run: words of each turn */
};
_Static_assert(sizeof(struct rsc_asm_block) == 16, "entries follow");
#define RSC_ASM_ENDS_MASK 7u
#define RSC_ASM_COUNTER_SHIFT \
    3u /* number of the register, in the order of instruction encodings, plus 1; 0: in memory */

/*
 * A run: `words` are written once: the block's address, RSC_ASM_RECORD + turns begun *
 * (words of a turn, or 1), registers; then come the words of each turn. Entries, all
 * PLAIN or RIP, name words of the first turn. Behind the entries there is for
 * each an int32_t by how much its address grows from turn to turn, padded to 8 bytes.
 */
#define RSC_ASM_RUN 7u /* in place of an enum rsc_plan_end */
static inline int rsc_asm_is_run(const struct rsc_asm_block *block) {
    return (block->ends & RSC_ASM_ENDS_MASK) == RSC_ASM_RUN;
}
static inline uint8_t rsc_asm_ends(const struct rsc_asm_block *block) {
    return rsc_asm_is_run(block) ? 0 : (uint8_t)(block->ends & RSC_ASM_ENDS_MASK);
}
/* All of it, with what follows. */
static inline uint32_t rsc_asm_block_bytes(const struct rsc_asm_block *block) {
    return (uint32_t)sizeof *block + block->entries * 16u + (rsc_asm_is_run(block) ? (block->entries + 1u) / 2 * 8 : 0);
}

/*
 * An access, in the order in which they are made:
 *
 *   address = word[base] + word[index] * scale + disp     (word 0: none, it is the block's address)
 *
 * What was not reached because an instruction before faulted has zeros for words; an
 * entry whose base word is zero was not made. Words hold registers or computed
 * addresses, whichever was shorter.
 */
struct rsc_asm_entry {
    uint16_t pc; /* from the block's first */
    uint16_t order; /* which instruction of the piece */
    uint8_t kind; /* enum rsc_asm_kind */
    uint8_t flags;
    uint8_t base, index; /* words */
    int32_t disp;
    uint16_t size; /* bytes; of an element where there are several */
    uint8_t scale; /* 1 2 4 8 */
    uint8_t count; /* kind's */
};
_Static_assert(sizeof(struct rsc_asm_entry) == 16, "two words");

/* The block that begins at *at of the tables, or behind padding there: *at is then where. NULL: there is none. */
static inline const struct rsc_asm_block *rsc_asm_block_at(const void *tables, size_t bytes, size_t *at) {
    for (; *at + sizeof(struct rsc_asm_block) <= bytes; *at += 8) {
        const struct rsc_asm_block *block = (const void *)((const char *)tables + *at);
        uint64_t word; /* no block has neither pc, last nor instructions */
        __builtin_memcpy(&word, block, sizeof word);
        if (word) return block;
    }
    return NULL;
}

/* flags. Both READS and WRITES: two accesses, the read first, then the write. */
#define RSC_ASM_READS 1u
#define RSC_ASM_WRITES 2u
#define RSC_ASM_RELAXED 8u /* the linker may have made an instruction without access of it: see RIP */
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

enum rsc_asm_kind {
    RSC_ASM_PLAIN = 1,
    /*
     * An address relative to the instruction itself, no words. `count` is where in
     * the instruction its 32-bit displacement is and `scale` the instruction's length:
     * address = pc + length + displacement. The runtime reads it at registration and leaves
     * in the parent's copy `disp` = length + displacement; with RSC_ASM_RELAXED it looks
     * at what the linker left: where the instruction has no memory operand any more,
     * size becomes 0, no access. That is so where, after a REX prefix (0x40-0x4f), the
     * opcode is 0x8d, 0xc7 or 0x81 or 0xf7 with a register (modrm >= 0xc0), or the first
     * byte is 0x67, 0xe8 or 0xe9. PLAIN entries have the flag for the call to
     * __tls_get_addr (pc is that of the sequence): there is no call when the first byte
     * is 0x64, or 0x66 twice.
     */
    RSC_ASM_RIP,
    /*
     * A repeated string, upwards: word[base] + disp is the address, word[index] the count
     * before, and with BY_EQUAL word[count] the count left afterwards (0 when it was not
     * reached). Accesses of `size` bytes, to be joined as those of QEMU's. Two such
     * entries of one instruction (movs, cmps) take turns element by element.
     */
    RSC_ASM_STRING,
    /*
     * Elements of `size` bytes at word[base] + disp, only those whose bit is set in
     * word[index]: runs of neighbours are one access. `count` elements; bits from
     * there on mean nothing, here and below.
     */
    RSC_ASM_MASKED,
    /* As many elements as bits are set in word[index], end to end: vcompress, vexpand. */
    RSC_ASM_PACKED,
    /* One element of `size` bytes, when any bit of word[index] is set: masked broadcasts. */
    RSC_ASM_ANY,
    /*
     * Gathers and scatters: `count` elements of `size` bytes, the address of each
     * word[base] + disp + its index * scale, the indices (signed) in the words from
     * word[index] on, packed as in the vector register, in order, where the
     * bit is set in the word behind them.
     */
    RSC_ASM_GATHERED,
};

/* ---- to the parent ---- */

/*
 * In the ring's blocks, among the words of ring.h, a word whose upper 16 bits are zero
 * and which is not zero is the address of a struct rsc_asm_block in the program:
 * an execution of that piece; words - 1 values follow, then reserved - words others.
 *
 * Pieces without accesses (and without call or return) are never written, so where a
 * call leads to is known only as the next piece that is: of the function called, or
 * behind the call, when what was called is not rebuilt. The stack pointers of calls
 * (the address of their write) and of returns (of their read) tell which.
 * Where the table is in
 * ring.plans the runtime says in a note when it has registered a module: the table is
 * copied there as it is, RIP entries completed. A pc is
 *     (address of the block in the program) + pc, + entry's pc.
 */
struct rsc_asm_module {
    uint64_t start, stop; /* of the tables in the program */
    uint64_t plan; /* where in ring.plans, in words */
};

#endif
