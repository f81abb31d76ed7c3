/*
 * symbols_module.h - one mapped file: its ELF tables and its debug information, each
 * read when first needed.
 *
 * Addresses here are the file's own (ELF virtual addresses); symbols.c converts the
 * target's addresses to these. libelf and libdw only read files mapped into memory
 * (private mappings), so neither opens a file nor contacts a server itself. Everything
 * read from a file is bounded by its size: tables, ranges, and steps of every walk.
 *
 *   symbols_open.c      maps a file, finds its separate debug file
 *   symbols_reader.c    the child process that reads a file's debug information
 *   symbols_module.c    segments, symbol tables
 *   symbols_units.c     compilation units: functions and inlined frames of a pc
 *   symbols_declared.c  where variables are declared
 *   symbols_calls.c     functions that do not return
 *   symbols_loops.c     loops around the places of a profile
 */
#ifndef RSC_COLLECT_SYMBOLS_SYMBOLS_MODULE_H
#define RSC_COLLECT_SYMBOLS_SYMBOLS_MODULE_H

#ifdef RSC_HAVE_LIBDW

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <elfutils/libdw.h>
#include <gelf.h>

#include "base/arena.h"
#include "base/u64_table.h"
#include "collect/symbols/demangle.h"
#include "collect/symbols/symbols.h"

/* Shared by all modules of one handle. */
struct symbols_shared {
    const char *sysroot; /* NULL: none */
    int debuginfod, in_process;
    struct rsc_log log;
    struct rsc_demangler demangler;
    struct rsc_arena arena;      /* every string and frame returned */
    struct rsc_u64_table texts;  /* from a library's pointer, or a text's hash, to the text made from it */
    void *debuginfod_library;    /* NULL: not loaded */
};

/* A file in memory. */
struct elf_image {
    void *bytes; /* NULL: nothing open */
    size_t size;
    char *path; /* owned; where it was found, NULL if from a server */
    Elf *elf;
};

struct elf_segment {
    uint64_t offset, file_bytes; /* in the file */
    uint64_t vaddr, memory_bytes;
    uint64_t align;
    int is_code;
};

struct elf_symbol {
    uint64_t value, bytes;
    uint64_t reach;   /* highest value + bytes of this and all earlier rows: bounds the search */
    const char *name; /* in the image */
    uint32_t rank;    /* of several at one address, the highest is shown */
};

struct elf_symbols {
    struct elf_symbol *rows; /* owned, by value */
    size_t count, room;
};

/* Addresses [low, high) that belong to number `of` in another table; reach as above. */
struct address_range {
    uint64_t low, high, reach;
    uint32_t of;
};

struct address_ranges {
    struct address_range *rows; /* owned, by low */
    size_t count, room, limit;
};

/* A function, or a body inlined in another scope. */
struct code_scope {
    Dwarf_Die die;
    uint32_t parent; /* index of the enclosing scope, or NO_SCOPE */
    int inlined;
};
#define NO_SCOPE UINT32_MAX

struct code_unit {
    Dwarf_Die die;  /* of the unit itself: line table, directory */
    Dwarf_Die tree; /* where its functions are: the same, or in its .dwo file */
    uint64_t bytes; /* in .debug_info; bounds every walk */
    const char *directory;
    struct code_scope *scopes; /* owned */
    size_t scope_count, scope_room;
    struct address_ranges ranges; /* of scopes */
    int is_read;
};

struct declared_variable {
    uint64_t address;
    Dwarf_Die die;
};

/* A memory slot that the dynamic linker fills with a function's address. */
struct imported_function {
    uint64_t slot;
    const char *name; /* in the image */
};

struct symbols_module {
    char *path;        /* owned; the target's path */
    uint8_t build_id[64];
    size_t build_id_bytes; /* 0: not known */
    uint32_t next;     /* with the same hash of path and build id, or UINT32_MAX */

    struct symbols_shared *shared; /* set when it is open */
    int is_open;       /* tried; image.elf shows whether it was found */
    int debug_begun;   /* symbols_begin_debug() was called */
    struct elf_image image, debug, alternate;
    Dwarf *dwarf, *alternate_dwarf; /* in the process that reads them */
    pid_t reader; /* that process; 0: none, or this one */
    int reader_fd; /* to it */
    int type; /* ET_EXEC or ET_DYN */
    struct elf_segment *segments; /* owned */
    size_t segment_count;
    struct elf_symbols functions, variables;

    struct code_unit *units; /* owned */
    size_t unit_count, unit_room;
    struct address_ranges unit_ranges;
    int units_read;

    struct imported_function *imports; /* owned, by slot */
    size_t import_count, import_room;
    int imports_read;

    struct declared_variable *declared; /* owned, by address */
    size_t declared_count, declared_room;
    int declared_read;
};

/* One place of a resolved pc; strings are owned by the arena, or NULL. */
struct code_frame {
    const char *function, *file;
    uint32_t line;
};
#define FRAMES_MAX 256u

/*
 * symbols_open.c. find maps the module's own file and checks its build id, and returns
 * 0 or RSC_ENOMEM; image.elf is NULL if there is no such file. find_debug looks for a
 * separate debug file on this machine. begin_debug, once, has debug information read: that
 * may mean to unpack it, or to ask a server, so it is done when it is needed. open_debug
 * sets dwarf.
 */
enum debug_state { DEBUG_READ, DEBUG_INCOMPLETE, DEBUG_UNREADABLE, DEBUG_LOST };
int symbols_find_file(struct symbols_shared *shared, struct symbols_module *module);
void symbols_find_debug(struct symbols_shared *shared, struct symbols_module *module);
void symbols_begin_debug(struct symbols_shared *shared, struct symbols_module *module);
enum debug_state symbols_open_debug(struct symbols_shared *shared, struct symbols_module *module);
void symbols_image_close(struct elf_image *image);

/*
 * symbols_reader.c. start forks the reader of a module. ask calls take() with the answer for each address, in order, from
 * the reader or, in_process, from here; an answer is empty where the debug information has none, there is none, or its
 * reader has ended (reported once). It lasts until take() returns. Returns 0, RSC_ENOMEM, or what take() returned if that
 * is not 0.
 */
enum symbols_question { ASK_FRAMES, ASK_DECLARATION, ASK_FUNCTION };
struct debug_answer {
    uint64_t start, bytes; /* ASK_FUNCTION: its range */
    size_t count;          /* ASK_FRAMES: frames; ASK_DECLARATION: 0, or 1 with file and line */
    struct code_frame frames[FRAMES_MAX];
};
typedef int symbols_take(void *context, size_t index, const struct debug_answer *answer);
enum debug_state symbols_reader_start(struct symbols_shared *shared, struct symbols_module *module);
void symbols_reader_end(struct symbols_module *module);
int symbols_ask(struct symbols_shared *shared, struct symbols_module *module, enum symbols_question question,
                const uint64_t *addresses, size_t count, symbols_take *take, void *context);

/* symbols_module.c */
int symbols_module_open(struct symbols_shared *shared, struct symbols_module *module); /* 0 or RSC_ENOMEM */
int symbols_read_tables(struct symbols_module *module); /* its symbols, again; the same */
void symbols_module_close(struct symbols_module *module);
const struct elf_symbol *symbols_find(const struct elf_symbols *symbols, uint64_t address);
/* Makes room for one more row of a doubling array; false when out of memory. */
int symbols_has_room(void **rows, size_t *room, size_t count, size_t row_bytes);
#define SYMBOLS_ROOM(rows, room, count)                                             \
    __extension__({                                                                 \
        void *rows_ = (rows);                                                       \
        int has_room_ = symbols_has_room(&rows_, &(room), (count), sizeof *(rows)); \
        (rows) = rows_;                                                             \
        has_room_;                                                                  \
    })
/* Adds, sorts and searches ranges. add: 0, RSC_ENOMEM or RSC_ELIMIT. find: the innermost that contains address. */
int symbols_ranges_add(struct address_ranges *ranges, uint64_t low, uint64_t high, uint32_t of);
void symbols_ranges_sort(struct address_ranges *ranges);
const struct address_range *symbols_ranges_find(const struct address_ranges *ranges, uint64_t address);
/* A readable copy of a name or path in the arena, always the same one; NULL when out of memory. */
const char *symbols_name_text(struct symbols_shared *shared, const char *name);
const char *symbols_path_text(struct symbols_shared *shared, const char *directory, const char *path);
/* A copy of a text from anywhere; the same as before, almost always. */
const char *symbols_copied_text(struct symbols_shared *shared, const char *text);

/* What follows, of symbols_units.c and symbols_declared.c, is called through symbols_ask(). */

/*
 * symbols_units.c: the frames of an address, innermost first, at most FRAMES_MAX;
 * *count 0 if the debug information has none. 0 or RSC_ENOMEM.
 */
int symbols_frames(struct symbols_shared *shared, struct symbols_module *module, uint64_t address,
                   struct code_frame *frames, size_t *count);
int symbols_read_units(struct symbols_module *module);
void symbols_units_free(struct symbols_module *module);

/* symbols_declared.c: file and line of the variable at exactly this address. 1, 0 (not known) or RSC_ENOMEM. */
int symbols_declaration(struct symbols_shared *shared, struct symbols_module *module, uint64_t address,
                        const char **file, uint32_t *line);

/* symbols_units.c: the function (not an inlined body) around an address, by debug information. 1, 0 or RSC_ENOMEM. */
int symbols_function_range(struct symbols_module *module, uint64_t address, uint64_t *start, uint64_t *bytes);

/* symbols.c: the code of the function around a pc of the target. 1, 0 (not known) or RSC_ENOMEM. */
struct symbols_code {
    struct symbols_module *module;
    uint64_t start, bytes; /* in the file's addresses */
    uint64_t bias; /* difference of the target's pc to them */
    const char *name; /* from the symbol table; NULL: none */
};
int symbols_code_at(struct rsc_symbols *symbols, uint64_t pc, struct symbols_code *code);

/* symbols_calls.c: never_returns of struct rsc_code_bytes, for a struct symbols_module. */
int symbols_never_returns(void *module, uint64_t address, int is_slot);

/* The file's bytes at an address; *room: how many from there on. NULL: none. */
const uint8_t *symbols_bytes_at(const struct symbols_module *module, uint64_t address, uint64_t *room);

/* symbols_contexts.c: names the call paths, with a node for each function that was inlined. 0 or RSC_ENOMEM. */
int symbols_name_contexts(struct rsc_symbols *symbols, struct rsc_profile *profile);

/* symbols.c: resolves pcs, so that rsc_symbols_place() finds them: faster than one at a time. 0 or RSC_ENOMEM. */
int symbols_resolve(struct rsc_symbols *symbols, const uint64_t *pcs, size_t count);

/* symbols_join.c: joins the code rows of processes that run the same program, once they are named. */
void symbols_join_code(struct rsc_profile *profile);

/* symbols_profile.c. The places: of code, pairs and contexts. */
int symbols_for_each_place(struct rsc_profile *profile, int (*visit)(void *context, struct rsc_place *place),
                           void *context);
void symbols_free_places(struct rsc_place *places, size_t count);

/* symbols_loops.c: fills a profile's loops and the loop of each of its places. 0 or RSC_ENOMEM. */
int symbols_find_loops(struct rsc_symbols *symbols, struct rsc_profile *profile);

/* symbols.c: the same for an address of the target, wherever it is mapped. */
int symbols_declaration_at(struct rsc_symbols *symbols, uint64_t address, const char **file, uint32_t *line);

#endif
#endif
