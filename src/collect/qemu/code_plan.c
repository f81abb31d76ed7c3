/* code_plan.c - see code_plan.h. */
#include "collect/qemu/code_plan.h"

#define ADDRESS 0xffffffffffffull

static enum rsc_plan_end end_of(enum rsc_guest_insn last) {
    switch (last) {
    case RSC_GUEST_CALL: return RSC_PLAN_ENDS_CALL;
    case RSC_GUEST_RETURN: return RSC_PLAN_ENDS_RETURN;
    case RSC_GUEST_REP: return RSC_PLAN_ENDS_REP;
    default: return RSC_PLAN_ENDS;
    }
}

void rsc_survey_block(struct rsc_survey *survey, enum rsc_guest guest, const struct qemu_plugin_tb *tb,
                      int fixed_wanted) {
    int first = 1; /* no earlier instruction may have touched memory */
    survey->count = qemu_plugin_tb_n_insns(tb);
    survey->leading = survey->count;
    survey->fixed = 0;
    for (size_t i = 0; i < survey->count; i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        const void *code = qemu_plugin_insn_data(insn);
        size_t bytes = qemu_plugin_insn_size(insn);
        enum rsc_guest_insn sort = rsc_guest_classify(guest, code, bytes);
        survey->insns[i].pc = qemu_plugin_insn_vaddr(insn) & ADDRESS;
        survey->insns[i].sort = (uint8_t)sort;
        survey->insns[i].accesses = rsc_guest_accesses(guest, code, bytes);
        /* A marker is a record among the accesses, so those must be in order too. */
        if (sort == RSC_GUEST_BEGIN || sort == RSC_GUEST_END) fixed_wanted = 0;
    }
    for (size_t i = 0; i < survey->count; i++) {
        struct rsc_guest_accesses accesses = survey->insns[i].accesses;
        uint32_t words = accesses.reads + accesses.writes;
        survey->insns[i].is_fixed =
            fixed_wanted && accesses.certain && words && survey->fixed + words <= RSC_START_FIXED_MAX;
        if (survey->insns[i].is_fixed) {
            if (first && accesses.pieces == 1) survey->leading = i;
            survey->fixed += words;
        }
        if (!accesses.certain || words) first = 0;
    }
    survey->start = survey->insns[0].pc;
    survey->end_pc = survey->insns[survey->count - 1].pc;
    survey->ends = (uint8_t)end_of(survey->insns[survey->count - 1].sort);
}

/* Only instructions with uncertain accesses need an entry for loose words; entries for all cost only memory. */
static uint32_t entries_of(const struct rsc_survey *survey) { return survey->fixed + (uint32_t)survey->count; }

uint32_t rsc_survey_plan_words(const struct rsc_survey *survey) { return 2 + entries_of(survey); }

void rsc_survey_plan(const struct rsc_survey *survey, uint64_t *plan) {
    uint32_t at = 2;
    plan[0] = survey->start | (uint64_t)survey->count << 48 | (uint64_t)survey->ends << 58;
    plan[1] = survey->end_pc | (uint64_t)entries_of(survey) << 48;
    for (uint32_t i = 0; i < survey->count; i++) {
        struct rsc_guest_accesses accesses = survey->insns[i].accesses;
        for (int k = 0; survey->insns[i].is_fixed && k < accesses.reads + accesses.writes; k++)
            plan[at++] = rsc_entry(survey->insns[i].pc, i, accesses.pieces);
    }
    for (uint32_t i = 0; i < survey->count; i++)
        plan[at++] = rsc_entry(survey->insns[i].pc, i, 1) |
                     (survey->insns[i].sort == RSC_GUEST_REP ? RSC_ENTRY_REP : 0) |
                     (survey->insns[i].sort == RSC_GUEST_STORE ? RSC_ENTRY_ONLY_WRITES : 0);
}
