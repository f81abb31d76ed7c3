/*
 * asm_pass.h - the assembler pass of `reusescope cc`: reads compiler output and writes
 * the same code with a countdown before each piece of straight code, and a recording
 * copy of it (runtime/pieces/asm_abi.h).
 *
 *   asm_source.c   reads the text: labels, directives, instructions, sections
 *   asm_object.c   runs the assembler for the plain object and finds each instruction in it
 *   asm_facts.c    what each instruction does, by Zydis
 *   asm_flow.c     blocks, and the live registers and flags at each instruction
 *   asm_loops.c    loops that keep the counter in a register
 *   asm_entries.c  what is recorded for each piece, in which words
 *   asm_cfi.c      the unwind rules at each instruction
 *   asm_emit.c     the new text
 *   asm_verify.c   checks that the new object is the plain one plus the inserted code
 *
 * All memory belongs to the pass's arena. x86-64 ELF, AT&T syntax, as gcc and clang
 * write it.
 */
#ifndef RSC_COLLECT_REWRITE_ASM_PASS_H
#define RSC_COLLECT_REWRITE_ASM_PASS_H

#include <stddef.h>
#include <stdint.h>

#include <reusescope/error.h>

#include "base/arena.h"
#include "runtime/pieces/asm_abi.h"

#define RSC_PASS_NONE UINT32_MAX

/* ---- the text ---- */

enum rsc_pass_sort {
    RSC_PASS_LABEL,
    RSC_PASS_DIRECTIVE,
    RSC_PASS_INSN,
    RSC_PASS_OPAQUE, /* a line of inline assembly: copied unparsed */
    RSC_PASS_COMMENT,
};

/* A statement. */
struct rsc_pass_item {
    const char *text; /* trimmed, without comment; not terminated */
    uint32_t length;
    uint32_t line;     /* 1-based */
    uint32_t section;
    uint32_t function; /* RSC_PASS_NONE before the first */
    uint32_t insn;     /* of an instruction: its number */
    uint8_t sort;
    uint8_t glued;   /* belongs to the instruction before: __tls_get_addr sequences, separate prefixes */
    uint8_t neutral; /* a directive that adds nothing to the section */
};

struct rsc_pass_section {
    const char *enter; /* the directive that switches to it */
    const char *name;
    uint8_t is_code, is_debug;
};

struct rsc_pass_function {
    const char *name;
    uint16_t written, pushed, popped; /* registers */
    uint32_t live_at_exit;            /* registers that callers in this file still read */
    uint8_t calls_out;                /* a function outside this file, or unknown */
    uint8_t has_alias;                /* its other names, which may be called too */
    uint8_t is_left_alone;
    uint32_t opaque; /* lines of inline assembly */
    uint32_t copies; /* number of places with its recording copies */
};

struct rsc_pass_label {
    const char *name;
    uint32_t length;
    uint32_t item;   /* where it is defined, or RSC_PASS_NONE */
    uint32_t insn;   /* the first after it */
    uint32_t function; /* the function it names, or RSC_PASS_NONE */
    uint32_t uses, uses_inside; /* by code or data; by the loop that contains it */
    uint8_t is_used; /* by code or data, not only by debug information */
    uint8_t is_taken; /* its address is taken, not only as a jump's target */
};

/* ---- instructions ---- */

/* Registers by number (rax rcx rdx rbx rsp rbp rsi rdi r8...r15) in the low 16 bits of a set, status flags above. */
#define RSC_PASS_RSP 4u
#define RSC_PASS_RBP 5u
#define RSC_PASS_NO_REGISTER 0xffu
#define RSC_PASS_RIP 0xfeu
#define RSC_PASS_FLAGS 0x3f0000u
#define RSC_PASS_ALL 0x3fffffu

enum rsc_pass_flow {
    RSC_PASS_GOES_ON,
    RSC_PASS_JUMP,      /* jmp label, or out of this file */
    RSC_PASS_CONDITION, /* jcc, loop, jrcxz */
    RSC_PASS_INDIRECT,  /* jmp *... */
    RSC_PASS_CALL,
    RSC_PASS_RETURN,
    RSC_PASS_STOP, /* ud2, hlt */
};

enum rsc_pass_mask { RSC_PASS_NO_MASK, RSC_PASS_MASK_K, RSC_PASS_MASK_PS, RSC_PASS_MASK_PD, RSC_PASS_MASK_BYTES };

struct rsc_pass_access {
    uint8_t kind;  /* enum rsc_asm_kind */
    uint8_t flags; /* RSC_ASM_READS ... */
    uint8_t base, index, scale; /* registers; of gathers the index is `vector` */
    uint8_t segment; /* 0, 'f' or 'g' */
    uint8_t is_written; /* as the operand in the text: its displacement may be a symbol */
    uint8_t count;
    uint16_t size;
    int32_t disp;
    uint8_t mask_sort, mask; /* enum rsc_pass_mask, number of the register */
    uint8_t mask_bits, vector, vector_bytes;
};
#define RSC_PASS_ACCESSES 3

struct rsc_pass_insn {
    uint32_t item;
    uint32_t items;    /* statements: more than one when glued */
    uint32_t section_index; /* in the plain object */
    uint64_t offset;
    uint8_t length;
    uint8_t flow;
    uint8_t is_short_only; /* jrcxz, loop: no form with a 32-bit distance */
    uint8_t stays_first;   /* endbr64: nothing may be inserted before it */
    uint8_t disp_at;  /* offset of the displacement in the instruction */
    uint8_t access_count;
    int8_t rsp_moves; /* push: -8, pop: 8 */
    uint8_t adds_to;  /* register that an immediate is added to, or RSC_PASS_NO_REGISTER */
    uint8_t is_leader; /* begins a block */
    int32_t adds;
    uint32_t reads, writes; /* sets; writes: certain and whole */
    uint32_t changes;       /* registers that it may write, in part or conditionally */
    uint32_t touches;       /* registers read or written in any way */
    uint32_t target;        /* label of a jump, or RSC_PASS_NONE */
    uint32_t live;          /* before it */
    uint32_t cfi;           /* state before it */
    uint32_t piece;         /* 1 + number of the piece that begins here, or 0 */
    uint32_t loop;          /* 1 + number of the loop that contains it, or 0 */
    const char *unknown;    /* why its accesses are not all recorded, or NULL */
    struct rsc_pass_access access[RSC_PASS_ACCESSES];
};

/* A piece of straight code: insns first..end-1; the last may be a jump, call or return. */
struct rsc_pass_piece {
    uint32_t begin, first, end; /* first: the countdown is before it; begin: where the block begins */
    uint32_t body_end;          /* recording copies contain first..body_end-1 */
    uint32_t entry, entries;
    uint32_t store, stores; /* what the words hold, in order */
    uint16_t words;         /* 0: the block's address */
    uint16_t weight;
    uint8_t a, b; /* scratch registers of the recording copy */
    uint8_t a_live, b_live, flags_live;
    uint8_t fast; /* a dead register for the countdown of position-independent code, or RSC_PASS_NO_REGISTER */
    uint8_t is_run;      /* it jumps back to itself, and its iterations form one record */
    uint16_t turn_words; /* in a run: words of each iteration, after `words` that are written once */
};

/* A loop whose counter is in a register. */
struct rsc_pass_loop {
    uint32_t first, end; /* insns */
    uint32_t load_item;  /* where the counter is loaded when the code before falls through into the loop */
    uint8_t counter;     /* register */
    uint8_t offset;      /* another register: offset of struct rsc_asm_thread, in position-independent code */
    uint8_t a, b; /* scratch registers of all recording copies, or RSC_PASS_NO_REGISTER: each chooses its own */
    uint32_t pushed; /* the live ones among them: pushed below the red zone while the loop runs */
};

enum rsc_pass_store {
    RSC_PASS_STORE_REGISTER,
    RSC_PASS_STORE_ADDRESS, /* of the operand in the text */
    RSC_PASS_STORE_MASK,
    RSC_PASS_STORE_VECTOR,
};

struct rsc_pass_word {
    uint32_t insn;
    uint16_t word;
    uint8_t sort; /* enum rsc_pass_store */
    uint8_t which; /* register */
    uint8_t is_after; /* value after the instruction, not before it */
    uint8_t is_once; /* in a run: written before the first iteration */
    uint8_t bytes; /* of a vector; bits of a mask */
    uint8_t mask_sort;
    const struct rsc_pass_access *access;
};

struct rsc_pass_cfi {
    uint8_t is_open; /* inside .cfi_startproc */
    int cfa_register, cfa_offset;
    const char *cfa_raw;
    struct {
        uint8_t is_saved;
        int offset;
        const char *raw;
    } saved[17];
};

struct rsc_pass_options {
    int verify, strict, position_independent, no_call_pushes;
    const char *only, *skip; /* function names, separated by commas; NULL: all */
    uint64_t max_pieces; /* UINT64_MAX: all */
};

struct rsc_pass_counts {
    uint64_t insns, pieces, accesses, opaque, unknown, left_alone;
    const char *first_unknown, *first_unknown_function, *first_opaque_function;
    char unknown_text[96];
};

struct rsc_pass {
    struct rsc_arena arena;
    struct rsc_pass_options options;
    const char *text;
    size_t text_bytes;
    struct rsc_pass_item *items;
    size_t item_count, item_room;
    struct rsc_pass_section *sections;
    size_t section_count, section_room;
    struct rsc_pass_function *functions;
    size_t function_count, function_room;
    struct rsc_pass_label *labels;
    size_t label_count, label_room;
    uint32_t *label_table; /* open hashing, RSC_PASS_NONE: empty */
    size_t label_mask;
    struct rsc_pass_insn *insns;
    size_t insn_count, insn_room;
    struct rsc_pass_loop *loops;
    size_t loop_count, loop_room;
    struct rsc_pass_piece *pieces;
    size_t piece_count, piece_room;
    struct rsc_asm_entry *entries;
    uint32_t *entry_insns;
    int32_t *entry_steps; /* in runs: what each iteration adds to the address */
    size_t entry_count, entry_room, entry_insn_room, entry_step_room;
    struct rsc_pass_word *words;
    size_t word_count, word_room;
    struct rsc_pass_cfi *cfi;
    size_t cfi_count, cfi_room;
    struct rsc_pass_counts counts;
};

/* Makes room for one more after `count` in a growing array. NULL when out of memory. */
void *rsc_pass_grow(struct rsc_pass *pass, void *array, size_t count, size_t *room, size_t each);

/* A text buffer. After a failure nothing more is added, and `failed` is set. */
struct rsc_pass_text {
    char *data;
    size_t used, room;
    int failed;
};
void rsc_pass_text_put(struct rsc_pass_text *text, const char *data, size_t length);
void rsc_pass_text_printf(struct rsc_pass_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void rsc_pass_text_free(struct rsc_pass_text *text);

/* ---- the steps, in this order ---- */

/* text must stay valid, and end with NUL. */
int rsc_pass_read(struct rsc_pass *pass, const char *text, size_t bytes, struct rsc_error *error);

/* Writes the plain text with the label .Lrsci<N> before instruction N. */
void rsc_pass_labelled(const struct rsc_pass *pass, struct rsc_pass_text *out);

/* Finds each instruction in the object made from that, and fills in what it does. */
struct rsc_pass_object;
int rsc_pass_learn(struct rsc_pass *pass, const struct rsc_pass_object *object, struct rsc_error *error);

int rsc_pass_flow(struct rsc_pass *pass, struct rsc_error *error);
int rsc_pass_loops(struct rsc_pass *pass, struct rsc_error *error);
int rsc_pass_cut(struct rsc_pass *pass, struct rsc_error *error);
void rsc_pass_emit(struct rsc_pass *pass, struct rsc_pass_text *out);

/* Whether the object made from the emitted text (with options.verify) is the plain one plus the inserted code. */
int rsc_pass_verify(const struct rsc_pass *pass, const struct rsc_pass_object *plain,
                    const struct rsc_pass_object *rewritten, struct rsc_error *error);

void rsc_pass_free(struct rsc_pass *pass);

/* ---- parts ---- */

/* By how many bytes %rsp is lower inside a loop. */
int rsc_pass_loop_lowers(const struct rsc_pass_loop *loop);

/* Whether the unwind rules are relative to %rsp. */
int rsc_pass_cfi_follows_rsp(const struct rsc_pass_cfi *cfi);

/* Whether there is only code between two successive instructions of one section. */
int rsc_pass_continues(const struct rsc_pass *pass, uint32_t from, uint32_t to);

uint32_t rsc_pass_label(const struct rsc_pass *pass, const char *name, size_t length); /* RSC_PASS_NONE: not known */

/* The memory operand of an instruction, as text; 0: none. */
size_t rsc_pass_memory_operand(const struct rsc_pass *pass, const struct rsc_pass_insn *insn, const char **operand);

/* Decodes the bytes of one instruction with Zydis. 0, or -1 if they are not one. */
int rsc_pass_decode(struct rsc_pass_insn *insn, const uint8_t *bytes, size_t room);

extern const char *const rsc_pass_register_names[16]; /* without % */

/* The unwind rules: reads a directive, and writes the change from one state to another. */
void rsc_pass_cfi_read(struct rsc_pass *pass, struct rsc_pass_cfi *state, struct rsc_pass_cfi *stack, size_t *depth,
                       const char *text, size_t length);
void rsc_pass_cfi_change(const struct rsc_pass_cfi *from, const struct rsc_pass_cfi *to, struct rsc_pass_text *out);

#endif
