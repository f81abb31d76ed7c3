/*
 * code_plan.h - surveys a translation block, and makes its plan (runtime/ring/ring.h)
 * for the parent.
 */
#ifndef RSC_COLLECT_QEMU_CODE_PLAN_H
#define RSC_COLLECT_QEMU_CODE_PLAN_H

#include "collect/qemu/guest_accesses.h"
#include "collect/qemu/qemu_api.h"
#include "runtime/ring/ring.h"

#define RSC_SURVEY_INSNS (RSC_PLAN_ENTRIES_MAX - RSC_START_FIXED_MAX) /* QEMU's blocks have up to 512 */

struct rsc_survey {
    size_t count; /* instructions */
    struct {
        uint64_t pc;
        uint8_t sort; /* enum rsc_guest_insn */
        uint8_t is_fixed;
        struct rsc_guest_accesses accesses;
    } insns[RSC_SURVEY_INSNS];
    uint64_t start, end_pc; /* of the first and last instruction */
    uint8_t ends;           /* enum rsc_plan_end */
    uint32_t fixed;         /* words */
    size_t leading; /* the instruction whose access is certainly the first, and can write the start; count: none */
};

/* Surveys a block of 1 to RSC_SURVEY_INSNS instructions. fixed_wanted 0: all accesses are loose words. */
void rsc_survey_block(struct rsc_survey *survey, enum rsc_guest guest, const struct qemu_plugin_tb *tb,
                      int fixed_wanted);

/* Makes its plan: entries of the fixed words, then one per instruction i: survey->fixed + i. */
uint32_t rsc_survey_plan_words(const struct rsc_survey *survey);
void rsc_survey_plan(const struct rsc_survey *survey, uint64_t *plan);

#endif
