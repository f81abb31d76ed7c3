/*
 * asm_module.c - linked into every rebuilt executable and shared object: registers the
 * tables of its code with the runtime. With RSC_ASM_EXECUTABLE it also holds the
 * countdown, which executables reach at a fixed offset from %fs.
 */
#define RSC_ASM_RUNTIME 1
#include "runtime/pieces/asm_abi.h"

#ifdef RSC_ASM_EXECUTABLE
__thread struct rsc_asm_thread rsc_asm_thread __attribute__((visibility("default"), used));
#endif

extern const char __start_rsc_asm_blocks[] __attribute__((weak, visibility("hidden")));
extern const char __stop_rsc_asm_blocks[] __attribute__((weak, visibility("hidden")));

/*
 * One relocation for each: GNU ld (2.40) takes a second reference to __start_ as a
 * reason to keep a table, with or without `-z start-stop-gc`, and with it unused code.
 */
static const char *volatile const bounds[2] = {__start_rsc_asm_blocks, __stop_rsc_asm_blocks};

static __attribute__((constructor(101), used)) void module_begins(void) { rsc_asm_register(bounds[0], bounds[1]); }

static __attribute__((destructor(101), used)) void module_ends(void) { rsc_asm_unregister(bounds[0], bounds[1]); }
