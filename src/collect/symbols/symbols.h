/*
 * symbols.h - maps addresses back to source: functions, files, lines, inlined frames,
 * and the names of global variables, with libdw.
 *
 * Addresses are resolved from the map of what was loaded where (path, build id, file
 * offset), most of them after a run. No code of the target is executed, and nothing is
 * written. Without debug information, the symbol table still names functions. Debug
 * information is read in a child process per file: libdw ends its process when it gets no
 * memory, and then only lines are missing.
 */
#ifndef RSC_COLLECT_SYMBOLS_SYMBOLS_H
#define RSC_COLLECT_SYMBOLS_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

#include <reusescope/error.h>

#include "profile/profile_model.h"

struct rsc_symbols_options {
    const char *sysroot;       /* prefix for the paths of mapped files; NULL: none */
    int debuginfod;            /* fetch missing debug files from the servers of DEBUGINFOD_URLS */
    const struct rsc_log *log; /* reports what was missing, once per file */
    int in_process;            /* read debug information here, not in a child: what ends libdw ends us (fuzzing) */
};

struct rsc_symbols;

/* RSC_EUNSUPPORTED if the build has no libdw. */
int rsc_symbols_new(struct rsc_symbols **out, const struct rsc_symbols_options *options, struct rsc_error *error);
void rsc_symbols_free(struct rsc_symbols *symbols);

/*
 * Adds a mapping of `bytes` of file `path`, from file_offset on, at start. The build id
 * (NULL: not known) must match the file found, otherwise only the module name is used.
 * Files are opened when first needed.
 */
int rsc_symbols_add(struct rsc_symbols *symbols, uint64_t start, uint64_t bytes, uint64_t file_offset, const char *path,
                    const uint8_t *build_id, size_t build_id_bytes, struct rsc_error *error);

/*
 * Takes the names of code outside all mapped files from /tmp/perf-PID.map, if the process wrote one (jit_map.h). `space`
 * is what the top 16 bits of its addresses are here. Call before places are looked up, in the order of the spaces.
 * Returns 0 or RSC_ENOMEM.
 */
int rsc_symbols_add_jit(struct rsc_symbols *symbols, uint32_t pid, uint64_t space, struct rsc_error *error);

/*
 * Fills function, file, line, module and offset of a place from its pc, and the places it
 * was inlined into (inlined, owned by the caller, may be NULL if not wanted). Unknown
 * fields stay NULL or 0. Returns 0 or RSC_ENOMEM. A second call for the same pc is a
 * table look-up.
 */
int rsc_symbols_place(struct rsc_symbols *symbols, struct rsc_place *place, struct rsc_place **inlined,
                      size_t *inlined_count);

/*
 * The global variable (ELF object symbol) that contains addr: its name, owned by the
 * symbols, start and size. Returns 1, or 0 if there is none.
 */
int rsc_symbols_variable(struct rsc_symbols *symbols, uint64_t addr, const char **name, uint64_t *start,
                         uint64_t *bytes);

/*
 * The data of the mapping that contains addr, cut into variables and stretches without one: calls visit(context, start,
 * bytes), in order, for those of at least `least` bytes. The zeroed end of a segment (.bss) belongs to the mapping
 * before it. Returns 0, or what visit() returned if that is not 0, or RSC_ENOMEM.
 */
int rsc_symbols_large_data(struct rsc_symbols *symbols, uint64_t addr, uint64_t least,
                           int (*visit)(void *context, uint64_t start, uint64_t bytes), void *context);

/* The path of the file whose data is at addr; NULL: not known. Owned by the symbols. */
const char *rsc_symbols_data_file(struct rsc_symbols *symbols, uint64_t addr);

/* Names everything in a profile: code, pairs, contexts, and objects of kind "global". */
int rsc_symbols_name_profile(struct rsc_symbols *symbols, struct rsc_profile *profile, struct rsc_error *error);

#endif
