/*
 * block_code.c - adds the recording to each block of code that Valgrind translates.
 *
 * A block writes a start word, which names its plan, and then the address of each access, in order: plain stores of
 * generated code, at fixed places after the start. Only at the block's exits is the place of the next word updated, so
 * an exit in the middle leaves only the words of what has run. The plan tells the parent the rest (runtime/ring/ring.h).
 *
 * Code that follows another exit with no word in between is told apart by an empty word, so that the number of words
 * always tells at which exit a block was left.
 */
#include <pub_tool_aspacemgr.h>
#include <pub_tool_debuginfo.h>
#include <pub_tool_hashtable.h>
#include <pub_tool_libcassert.h>
#include <pub_tool_libcbase.h>
#include <pub_tool_libcfile.h>
#include <pub_tool_machine.h>
#include <pub_tool_mallocfree.h>
#include <libvex_guest_amd64.h>

#include "collect/qemu/guest_code.h"
#include "collect/valgrind/tool_state.h"

/* Of Valgrind's core; its header is not packaged: the program's file. */
extern Int VG_(cl_exec_fd);

#define GUEST(field) ((Int)offsetof(VexGuestAMD64State, guest_##field))
#define ADDRESS 0xffffffffffffull
/* Then room is made again: with what one instruction may add, and the plan written out, less than RSC_BLOCK_SPARE. */
#define WORDS_AT_ONCE 256u
#define PIECE_MOST 128     /* bytes of an entry */

/* The block being instrumented. Valgrind translates one at a time. */
static struct {
    IRSB *out;
    Int shadow;       /* offset of struct rsc_tool_shadow in the guest's state */
    IRTemp base;      /* the word of the start */
    IRTemp counted;   /* for a sample of lines: instructions before */
    int look;         /* for a sample of lines: its words are not one reference each */
    Int call, start; /* indices of the statements that write the start: a call if the plan is written out, or a store */
    uint32_t words; /* after the start, so far */
    uint32_t stored_words, stored_instructions; /* as the shadow registers have them; 0 words: not yet */
    uint64_t plan[RSC_PLAN_MAX + RSC_BLOCK_EXITS_MAX];
    uint32_t entries, exits;
    uint64_t exit_words[RSC_BLOCK_EXITS_MAX + 1]; /* with the end */
    int records; /* among its words */
    int resumed; /* a part of a block that has too many words for one */
    uint64_t first_pc, pc;
    uint32_t instructions;
    enum rsc_guest_insn sort; /* of the current instruction */
    int kept_on_stack; /* its accesses are not the program's */
    IRExpr *loaded; /* the last address that it loaded from; NULL: none */
} block;

static IRExpr *number(uint64_t value) { return IRExpr_Const(IRConst_U64(value)); }
static IRExpr *value_of(IRTemp temp) { return IRExpr_RdTmp(temp); }
static void add(IRStmt *statement) { addStmtToIRSB(block.out, statement); }

static IRTemp assign(IRType type, IRExpr *expression) {
    IRTemp temp = newIRTemp(block.out->tyenv, type);
    add(IRStmt_WrTmp(temp, expression));
    return temp;
}

/* ---- words ---- */

static void store_word(IRExpr *word) {
    IRTemp at = assign(Ity_I64, IRExpr_Binop(Iop_Add64, value_of(block.base), number(8 * (1 + block.words))));
    add(IRStmt_Store(Iend_LE, value_of(at), word));
    block.words++;
}

static void store_next(void) {
    if (block.stored_words == 1 + block.words && block.stored_instructions == block.instructions) return;
    block.stored_words = 1 + block.words;
    block.stored_instructions = block.instructions;
    IRTemp at = assign(Ity_I64, IRExpr_Binop(Iop_Add64, value_of(block.base), number(8 * (1 + block.words))));
    add(IRStmt_Put(block.shadow, value_of(at)));
    if (!rsc_tool.lines) return;
    at = assign(Ity_I64, IRExpr_Binop(Iop_Add64, value_of(block.counted), number(block.instructions)));
    add(IRStmt_Put(block.shadow + (Int)offsetof(struct rsc_tool_shadow, instructions), value_of(at)));
}

/* For a sample of lines, an address has its size with it. */
static IRExpr *with_size(Int bytes, IRExpr *address) {
    if (!rsc_tool.lines || bytes < 2) return address;
    IRExpr *size = number((uint64_t)(bytes - 1) << 48);
    for (Int i = 0; i < RSC_TOOL_SIZES; i++)
        if (bytes == 2 << i)
            size = value_of(assign(
                Ity_I64, IRExpr_Get(block.shadow + (Int)offsetof(struct rsc_tool_shadow, sizes) + 8 * i, Ity_I64)));
    return value_of(assign(Ity_I64, IRExpr_Binop(Iop_Or64, address, size)));
}

/* A call of a function that changes the shadow registers. guard NULL: always. */
static IRStmt *call_with_shadow(const HChar *name, void *function, IRExpr *guard, int registers, IRExpr **arguments) {
    IRDirty *call = unsafeIRDirty_0_N(registers, name, VG_(fnptr_to_fnentry)(function), arguments);
    if (guard) call->guard = guard;
    call->nFxState = 1;
    call->fxState[0].fx = Ifx_Modify;
    call->fxState[0].offset = block.shadow;
    call->fxState[0].size = sizeof(struct rsc_tool_shadow);
    call->fxState[0].nRepeats = 0;
    call->fxState[0].repeatLen = 0;
    return IRStmt_Dirty(call);
}

static void put_entry(uint64_t kind, Int bytes, IRExpr *address) {
    if (block.entries >= RSC_PLAN_ENTRIES_MAX) return; /* begin_words() comes long before */
    block.plan[2 + block.entries++] = (block.pc & ADDRESS) | (uint64_t)bytes << 48 | kind;
    if (kind != RSC_BLOCK_READS && kind != RSC_BLOCK_WRITES) block.look = 1;
    store_word(with_size(bytes, address));
}

/* Room for the block, then its start; the word itself is known only at the end. */
static void begin_words(int resumed) {
    IRTemp next = assign(Ity_I64, IRExpr_Get(block.shadow, Ity_I64));
    IRTemp end = assign(Ity_I64, IRExpr_Get(block.shadow + 8, Ity_I64));
    IRTemp full = assign(Ity_I1, IRExpr_Binop(Iop_CmpLE64U, value_of(end), value_of(next)));
    add(call_with_shadow("rsc_tool_make_room", &rsc_tool_make_room, value_of(full), 1, mkIRExprVec_1(IRExpr_GSPTR())));
    block.call = block.out->stmts_used;
    add(IRStmt_NoOp());
    block.base = assign(Ity_I64, IRExpr_Get(block.shadow, Ity_I64));
    block.start = block.out->stmts_used;
    add(IRStmt_NoOp());
    if (rsc_tool.lines)
        block.counted =
            assign(Ity_I64, IRExpr_Get(block.shadow + (Int)offsetof(struct rsc_tool_shadow, instructions), Ity_I64));
    block.look = 0;
    block.resumed = resumed;
    block.words = block.stored_words = block.entries = block.exits = 0;
    block.records = 0;
    block.first_pc = block.pc;
    block.instructions = 0;
    if (rsc_tool.roi && !resumed)
        put_entry(RSC_BLOCK_STACK, 0, value_of(assign(Ity_I64, IRExpr_Get(GUEST(RSP), Ity_I64))));
}

/* ---- plans ---- */

/* Plans are kept by the pc of their first instruction: a block may be translated again. */
struct kept_plan {
    struct kept_plan *next;
    UWord pc;
    uint64_t *words;
    uint32_t count;
};
static VgHashTable *kept_plans;
static uint64_t *find_plan(uint64_t pc, const uint64_t *words, uint32_t count) {
    if (!kept_plans) kept_plans = VG_(HT_construct)("rsc.plans");
    struct kept_plan *kept = VG_(HT_lookup)(kept_plans, pc);
    if (kept && kept->count == count && !VG_(memcmp)(kept->words, words, count * sizeof *words)) return kept->words;
    uint64_t *made = rsc_ring_plan(rsc_tool.ring, count);
    if (!made) return NULL;
    VG_(memcpy)(made, words, count * sizeof *words);
    if (!kept) {
        kept = VG_(malloc)("rsc.plan", sizeof *kept);
        kept->pc = pc;
        VG_(HT_add_node)(kept_plans, kept);
    }
    kept->words = made;
    kept->count = count;
    return made;
}

/* Whether it is code of the program's file, not of a library. */
static int is_own(uint64_t pc) {
    static struct vg_stat program;
    if (!program.ino && VG_(fstat)(VG_(cl_exec_fd), &program) != 0) return 0;
    const NSegment *segment = VG_(am_find_nsegment)(pc);
    return segment && segment->kind == SkFileC && segment->ino == program.ino && segment->dev == program.dev;
}

/* Also matches the compiler's names for copies of a function: f.constprop.0, f.isra.0, f._omp_fn.0. */
static int is_in_region(uint64_t pc) {
    const HChar *name;
    if (!rsc_tool.roi || !VG_(get_fnname_raw)(VG_(current_DiEpoch)(), pc, &name)) return 0;
    SizeT length = VG_(strlen)(rsc_tool.roi);
    return !VG_(strncmp)(name, rsc_tool.roi, length) && (!name[length] || name[length] == '.') &&
           (!rsc_tool.roi_own || is_own(pc));
}

static enum rsc_plan_end end_of(IRJumpKind kind, enum rsc_guest_insn last) {
    if (kind == Ijk_Call) return RSC_PLAN_ENDS_CALL;
    if (kind == Ijk_Ret) return RSC_PLAN_ENDS_RETURN;
    return last == RSC_GUEST_REP ? RSC_PLAN_ENDS_REP : RSC_PLAN_ENDS;
}

/* The plan is complete: now the start word can be written. */
static void end_words(enum rsc_plan_end ends) {
    uint32_t count = 2 + block.entries + block.exits;
    block.plan[0] = (block.first_pc & ADDRESS) | (uint64_t)block.instructions << 48 | (uint64_t)ends << 58 |
                    (block.records ? RSC_PLAN_RECORDS : 0) | (is_in_region(block.first_pc) ? RSC_PLAN_IN_REGION : 0);
    block.plan[1] = (block.pc & ADDRESS) | (uint64_t)block.entries << 48 | (uint64_t)block.exits << 58;
    VG_(memcpy)(block.plan + 2 + block.entries, block.exit_words, block.exits * sizeof *block.exit_words);
    uint64_t flags = RSC_START | (block.resumed ? RSC_START_RESUMED : 0) | (rsc_tool.contexts ? RSC_START_CALLS : 0);
    if (rsc_tool.lines &&
        (block.look || block.records || ends == RSC_PLAN_ENDS_REP || (ends != RSC_PLAN_ENDS && rsc_tool.contexts)))
        flags |= RSC_START_LOOK;
    uint64_t *plan = find_plan(block.first_pc, block.plan, count);
    if (plan) {
        flags |= (uint64_t)(plan - rsc_tool.ring->plans) | (uint64_t)(1 + block.words) << 32;
        block.out->stmts[block.start] = IRStmt_Store(Iend_LE, value_of(block.base), number(flags));
        return;
    }
    /* No room: the plan is written out every time. Never freed, as Valgrind does not report what it drops. */
    uint64_t *words = VG_(malloc)("rsc.inline", (1 + count) * sizeof *words);
    words[0] = flags | RSC_START_INLINE | (rsc_tool.lines ? RSC_START_LOOK : 0);
    VG_(memcpy)(words + 1, block.plan, count * sizeof *words);
    block.out->stmts[block.call] = call_with_shadow("rsc_tool_start_inline", &rsc_tool_start_inline, NULL, 2,
                                                    mkIRExprVec_2(IRExpr_GSPTR(), number((uint64_t)(UWord)words)));
}

/* ---- accesses ---- */

static IRExpr *plus(IRExpr *address, Int bytes) {
    return bytes ? value_of(assign(Ity_I64, IRExpr_Binop(Iop_Add64, address, number((uint64_t)bytes)))) : address;
}

/* guard NULL: always made. Not made: the word is 0. */
static void put_access(uint64_t kind, Int bytes, IRExpr *address, IRExpr *guard) {
    if (block.kept_on_stack) return;
    if (block.sort == RSC_GUEST_REP) kind |= RSC_BLOCK_REP;
    for (Int at = 0; at < bytes; at += PIECE_MOST) {
        IRExpr *piece = plus(address, at);
        if (guard) piece = value_of(assign(Ity_I64, IRExpr_ITE(guard, piece, number(0))));
        if (guard) block.look = 1;
        put_entry(kind, bytes - at < PIECE_MOST ? bytes - at : PIECE_MOST, piece);
    }
}

static Int loaded_bytes(IRLoadGOp operation) {
    IRType result, loaded;
    typeOfIRLoadGOp(operation, &result, &loaded);
    return sizeofIRType(loaded);
}

/* Locked instructions load and then compare and swap; cmpxchg only swaps. */
static void put_swap(const IRCAS *swap) {
    Int bytes = sizeofIRType(typeOfIRExpr(block.out->tyenv, swap->dataLo)) * (swap->dataHi ? 2 : 1);
    int is_loaded = block.loaded && eqIRAtom(block.loaded, swap->addr);
    put_access(is_loaded ? RSC_BLOCK_WRITES : RSC_BLOCK_READS | RSC_BLOCK_WRITES, bytes, swap->addr, NULL);
}

static void put_dirty(const IRDirty *call) {
    IRExpr *guard = call->guard->tag == Iex_Const ? NULL : call->guard;
    if (call->mFx == Ifx_None) return;
    put_access((call->mFx != Ifx_Write ? RSC_BLOCK_READS : 0) | (call->mFx != Ifx_Read ? RSC_BLOCK_WRITES : 0),
               call->mSize, call->mAddr, guard);
}

static void put_record(IRExpr *word, IRExpr *address) {
    block.records = 1;
    store_word(word);
    store_word(address);
}

static void put_heap(enum rsc_record_type type, IRExpr *payload, IRExpr *address) {
    IRTemp kept = assign(Ity_I64, IRExpr_Binop(Iop_And64, payload, number(ADDRESS)));
    put_record(value_of(assign(Ity_I64, IRExpr_Binop(Iop_Or64, value_of(kept), number(rsc_record_word(type, 1, 0))))),
               address);
}

static void put_hint(const IRStmt *statement) {
    static IRExpr *bytes;
    IRExpr *value = statement->Ist.AbiHint.base;
    Int size = statement->Ist.AbiHint.len & 0xff;
    switch (statement->Ist.AbiHint.len >> 8 & 0xff) {
    case RSC_HINT_LOAD:
        block.loaded = value;
        put_access(RSC_BLOCK_READS, size, value, NULL);
        break;
    case RSC_HINT_PIECE:
        block.look = 1;
        put_access(RSC_BLOCK_READS, size, value, NULL);
        break;
    case RSC_HINT_ALLOC_BYTES: bytes = value; break;
    case RSC_HINT_ALLOC: put_heap(RSC_RECORD_ALLOC, bytes, value); break;
    case RSC_HINT_FREE: put_heap(RSC_RECORD_FREE, number(0), value); break;
    }
}

/* ---- statements ---- */

/* bt, bts, btr and btc of a register: Valgrind puts the register on the program's stack for them. */
static int is_register_bit_test(const UChar *code, UInt bytes) {
    UInt at = 0;
    while (at < bytes && (code[at] == 0x66 || code[at] == 0xf2 || code[at] == 0xf3 || (code[at] & 0xf0) == 0x40)) at++;
    if (at + 2 >= bytes || code[at] != 0x0f || code[at + 2] >> 6 != 3) return 0;
    return code[at + 1] == 0xa3 || code[at + 1] == 0xab || code[at + 1] == 0xb3 || code[at + 1] == 0xbb;
}

/* After it the next word's place must be right. */
static void leave_here(void) {
    const uint64_t exit = (uint64_t)block.entries | (uint64_t)block.instructions << 16;
    if (block.exits && block.exit_words[block.exits - 1] == exit) {
        store_next();
        return;
    }
    if (block.exits && (block.exit_words[block.exits - 1] & 0xffff) == block.entries) put_entry(0, 0, number(1));
    store_next();
    if (block.exits <= RSC_BLOCK_EXITS_MAX)
        block.exit_words[block.exits++] = (uint64_t)block.entries | (uint64_t)block.instructions << 16;
}

static void next_instruction(const IRStmt *mark) {
    const void *code = (const void *)mark->Ist.IMark.addr;
    const int repeats = block.sort == RSC_GUEST_REP && block.pc == mark->Ist.IMark.addr;
    block.pc = mark->Ist.IMark.addr;
    block.loaded = NULL;
    if (block.words > WORDS_AT_ONCE) {
        leave_here();
        block.exits--;
        end_words(RSC_PLAN_ENDS);
        begin_words(1);
    }
    if (!repeats) block.instructions++; /* a string's iterations are one instruction */
    block.sort = rsc_guest_classify(RSC_GUEST_X86_64, code, mark->Ist.IMark.len);
    block.kept_on_stack = is_register_bit_test(code, mark->Ist.IMark.len);
    if (block.sort == RSC_GUEST_BEGIN || block.sort == RSC_GUEST_END)
        put_record(number(rsc_record_word(RSC_RECORD_MARKER, 1, block.sort == RSC_GUEST_BEGIN)), number(1));
}

/* libc then copies with vectors: as string instructions, Valgrind runs each byte as a block of its own. */
static void hide_fast_strings(IRTemp leaf) {
    IRTemp rbx = assign(Ity_I64, IRExpr_Get(GUEST(RBX), Ity_I64));
    IRTemp without = assign(Ity_I64, IRExpr_Binop(Iop_And64, value_of(rbx), number(~(1ull << 9))));
    IRTemp low = assign(Ity_I32, IRExpr_Unop(Iop_64to32, value_of(leaf)));
    IRTemp is_it = assign(Ity_I1, IRExpr_Binop(Iop_CmpEQ32, value_of(low), IRExpr_Const(IRConst_U32(7))));
    add(IRStmt_Put(GUEST(RBX),
                   value_of(assign(Ity_I64, IRExpr_ITE(value_of(is_it), value_of(without), value_of(rbx))))));
}

static void instrument_dirty(IRStmt *statement) {
    const IRDirty *call = statement->Ist.Dirty.details;
    const int is_cpuid = VG_(strstr)(call->cee->name, "CPUID") != NULL;
    IRTemp leaf = is_cpuid ? assign(Ity_I64, IRExpr_Get(GUEST(RAX), Ity_I64)) : IRTemp_INVALID;
    put_dirty(call);
    add(statement);
    if (is_cpuid) hide_fast_strings(leaf);
}

static void instrument_statement(IRStmt *statement) {
    switch (statement->tag) {
    case Ist_IMark: next_instruction(statement); break;
    case Ist_AbiHint:
        if ((statement->Ist.AbiHint.len & 0x7fff0000) == RSC_TOOL_HINT) put_hint(statement);
        return; /* nothing reads it */
    case Ist_Store:
        put_access(RSC_BLOCK_WRITES, sizeofIRType(typeOfIRExpr(block.out->tyenv, statement->Ist.Store.data)),
                   statement->Ist.Store.addr, NULL);
        break;
    case Ist_LoadG: {
        const IRLoadG *load = statement->Ist.LoadG.details;
        put_access(RSC_BLOCK_READS | RSC_BLOCK_PIECE, loaded_bytes(load->cvt), load->addr, load->guard);
        break;
    }
    case Ist_StoreG: {
        const IRStoreG *store = statement->Ist.StoreG.details;
        put_access(RSC_BLOCK_WRITES | RSC_BLOCK_PIECE, sizeofIRType(typeOfIRExpr(block.out->tyenv, store->data)),
                   store->addr, store->guard);
        break;
    }
    case Ist_CAS: put_swap(statement->Ist.CAS.details); break;
    case Ist_Dirty: instrument_dirty(statement); return;
    case Ist_Exit: leave_here(); break;
    default: break;
    }
    add(statement);
}

IRSB *rsc_tool_instrument(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout,
                          const VexGuestExtents *extents, const VexArchInfo *machine, IRType guest_word,
                          IRType host_word) {
    Int at = 0;
    (void)closure, (void)extents, (void)machine, (void)guest_word, (void)host_word;
    if (!rsc_tool.recording) return in;
    block.out = deepCopyIRSBExceptStmts(in);
    block.shadow = layout->total_sizeB;
    for (; at < in->stmts_used && in->stmts[at]->tag != Ist_IMark; at++) add(in->stmts[at]);
    if (at == in->stmts_used) return in;
    block.pc = in->stmts[at]->Ist.IMark.addr;
    block.sort = RSC_GUEST_PLAIN;
    begin_words(0);
    for (; at < in->stmts_used; at++) instrument_statement(in->stmts[at]);
    leave_here();
    block.exits--; /* the end is no exit of its own */
    end_words(end_of(in->jumpkind, block.sort));
    return block.out;
}
