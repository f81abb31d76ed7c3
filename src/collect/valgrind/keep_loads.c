/*
 * keep_loads.c - lets the tool see every load.
 *
 * Valgrind's optimiser runs before a tool sees the code, and removes loads whose value is not used (a register
 * overwritten in the same block, flags that nobody reads). The program makes those accesses all the same. The linker
 * sends Valgrind's call of the optimiser here (--wrap): each load gets a hint with its address, which the optimiser
 * keeps; block_code.c records the hints and takes them out.
 *
 * It also unrolls short loops. Where there are threads, the parent interleaves them by blocks of code, which should be
 * short: loops are left as they are from the second thread on.
 */
#include <pub_tool_libcassert.h>
#include <libvex_guest_amd64.h>

#include "collect/qemu/guest_calls.h"
#include "collect/qemu/guest_code.h"
#include "collect/valgrind/tool_state.h"

#define GUEST(field) ((Int)offsetof(VexGuestAMD64State, guest_##field))

typedef IRExpr *(*specialise_fn)(const HChar *, IRExpr **, IRStmt **, Int);
typedef Bool (*precise_fn)(Int, Int, VexRegisterUpdates);
IRSB *__real_do_iropt_BB(IRSB *, specialise_fn, precise_fn, VexRegisterUpdates, Addr, VexArch);
IRSB *__wrap_do_iropt_BB(IRSB *, specialise_fn, precise_fn, VexRegisterUpdates, Addr, VexArch);

/* The code is flat: operands are temporaries or constants. */
static void hint(IRSB *out, enum rsc_tool_hint what, Int bytes, IRExpr *value) {
    if (!isIRAtom(value)) {
        IRTemp kept = newIRTemp(out->tyenv, Ity_I64);
        addStmtToIRSB(out, IRStmt_WrTmp(kept, value));
        value = IRExpr_RdTmp(kept);
    }
    addStmtToIRSB(out, IRStmt_AbiHint(value, RSC_TOOL_HINT | (Int)what << 8 | bytes, IRExpr_Const(IRConst_U64(0))));
}

static const IRExpr *definition(const IRSB *out, const IRExpr *value) {
    for (Int i = out->stmts_used; value->tag == Iex_RdTmp && i-- > 0;)
        if (out->stmts[i]->tag == Ist_WrTmp && out->stmts[i]->Ist.WrTmp.tmp == value->Iex.RdTmp.tmp)
            return out->stmts[i]->Ist.WrTmp.data;
    return value;
}

/* vpgather and vgather: VEX, map 0f 38, opcodes 90 to 93. */
static int is_gather(const UChar *code, UInt bytes) {
    return bytes > 5 && code[0] == 0xc4 && (code[1] & 31) == 2 && code[3] >= 0x90 && code[3] <= 0x93;
}

/* An element that is masked off is loaded from the stack pointer's address, and not used. */
static void hint_gathered(IRSB *out, const IRExpr *load, IRExpr *address) {
    const IRExpr *chosen = definition(out, address);
    if (chosen->tag == Iex_ITE)
        address = IRExpr_ITE(chosen->Iex.ITE.cond, chosen->Iex.ITE.iftrue, IRExpr_Const(IRConst_U64(0)));
    hint(out, RSC_HINT_PIECE, sizeofIRType(load->Iex.Load.ty), address);
}

/* The preloaded library's calls: their arguments are in rdi and rsi. */
static void hint_marker(IRSB *out, const IRStmt *mark) {
    switch (rsc_guest_classify(RSC_GUEST_X86_64, (const void *)mark->Ist.IMark.addr, mark->Ist.IMark.len)) {
    case RSC_GUEST_ALLOCATED:
        hint(out, RSC_HINT_ALLOC_BYTES, 0, IRExpr_Get(GUEST(RSI), Ity_I64));
        hint(out, RSC_HINT_ALLOC, 0, IRExpr_Get(GUEST(RDI), Ity_I64));
        break;
    case RSC_GUEST_FREED: hint(out, RSC_HINT_FREE, 0, IRExpr_Get(GUEST(RDI), Ity_I64)); break;
    default: break;
    }
}

static Int instructions_of(const IRSB *block) {
    Int count = 0;
    for (Int i = 0; i < block->stmts_used; i++) count += block->stmts[i]->tag == Ist_IMark;
    return count;
}

/* ---- unrolled loops ---- */

extern VexControl vex_control; /* VEX's copy of what was asked for at its start */

static Addr unrolled[4096];
static UInt unrolled_count; /* more than there is room for: not known which */

void rsc_tool_stop_unrolling(void) {
    const UInt room = sizeof unrolled / sizeof *unrolled;
    if (!vex_control.iropt_unroll_thresh) return;
    vex_control.iropt_unroll_thresh = 0;
    if (unrolled_count > room) rsc_tool_discard_code(0, ~0ull >> 1);
    for (UInt i = 0; unrolled_count <= room && i < unrolled_count; i++) rsc_tool_discard_code(unrolled[i], 1);
    unrolled_count = 0;
}

static void note_unrolled(Addr at) {
    const UInt room = sizeof unrolled / sizeof *unrolled;
    if (unrolled_count < room) unrolled[unrolled_count] = at;
    if (unrolled_count <= room) unrolled_count++;
}

IRSB *__wrap_do_iropt_BB(IRSB *in, specialise_fn specialise, precise_fn precise, VexRegisterUpdates updates, Addr at,
                         VexArch arch) {
    if (!rsc_tool.recording) return __real_do_iropt_BB(in, specialise, precise, updates, at, arch);
    int gathers = 0;
    tl_assert(isFlatIRSB(in));
    IRSB *out = deepCopyIRSBExceptStmts(in);
    for (Int i = 0; i < in->stmts_used; i++) {
        IRStmt *statement = in->stmts[i];
        IRExpr *load = statement->tag == Ist_WrTmp ? statement->Ist.WrTmp.data : NULL;
        if (load && load->tag == Iex_Load) {
            if (gathers) hint_gathered(out, load, load->Iex.Load.addr);
            else hint(out, RSC_HINT_LOAD, sizeofIRType(load->Iex.Load.ty), load->Iex.Load.addr);
        }
        addStmtToIRSB(out, statement);
        if (statement->tag != Ist_IMark) continue;
        gathers = is_gather((const UChar *)statement->Ist.IMark.addr, statement->Ist.IMark.len);
        hint_marker(out, statement);
    }
    out = __real_do_iropt_BB(out, specialise, precise, updates, at, arch);
    if (instructions_of(out) > instructions_of(in)) note_unrolled(at);
    return out;
}
