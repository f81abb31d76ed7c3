/*
 * asm_object.h - reads an object file from the assembler: the places of its labels, and
 * the bytes and relocations of its sections.
 */
#ifndef RSC_COLLECT_REWRITE_ASM_OBJECT_H
#define RSC_COLLECT_REWRITE_ASM_OBJECT_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

#include <reusescope/error.h>

struct rsc_pass_object {
    uint8_t *data; /* the file */
    size_t bytes;
    const Elf64_Shdr *sections;
    uint32_t section_count;
    const Elf64_Sym *symbols;
    uint32_t symbol_count;
    const char *names; /* of symbols; names_bytes, ends with NUL */
    size_t names_bytes;
};

struct rsc_pass_place {
    uint32_t section; /* 0: none */
    uint64_t offset;
};

/* Reads a file. Close it afterwards; closing a zeroed struct is allowed. */
int rsc_pass_object_open(struct rsc_pass_object *object, const char *path, struct rsc_error *error);
void rsc_pass_object_close(struct rsc_pass_object *object);

/* Fills places[N] for each label PREFIX<N>, N < count. */
void rsc_pass_object_labels(const struct rsc_pass_object *object, const char *prefix, struct rsc_pass_place *places,
                            size_t count);

/* The rest of a section from a place on; NULL when it is outside. */
const uint8_t *rsc_pass_object_bytes(const struct rsc_pass_object *object, struct rsc_pass_place place, size_t *room);

/* Relocations of a section, sorted by place. */
const Elf64_Rela *rsc_pass_object_relocations(const struct rsc_pass_object *object, uint32_t section, size_t *count);

/* The name of a symbol or section; "" if there is none. */
const char *rsc_pass_object_symbol_name(const struct rsc_pass_object *object, uint32_t symbol);
const char *rsc_pass_object_section_name(const struct rsc_pass_object *object, uint32_t section);

#endif
