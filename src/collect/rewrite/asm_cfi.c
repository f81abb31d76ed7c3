/*
 * asm_cfi.c - tracks the unwind rules that .cfi directives set at each instruction, so
 * that a copy of it elsewhere gets the same rules.
 *
 * Rules that are expressions (.cfi_escape, where gcc realigns the stack) are kept as
 * text, by what they are the rule of.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/rewrite/asm_pass.h"

#define REMEMBERED 16
#define RSP 7 /* DWARF's number */

static int register_number(const char *text, const char **end) {
    static const char *const names[17] = {"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8",
                                          "r9",  "r10", "r11", "r12", "r13", "r14", "r15", "rip"};
    while (isspace((unsigned char)*text) || *text == '%') text++;
    if (isdigit((unsigned char)*text)) return (int)strtol(text, (char **)end, 10);
    size_t length = 0;
    while (isalnum((unsigned char)text[length])) length++;
    *end = text + length;
    for (int i = 0; i < 17; i++)
        if (strlen(names[i]) == length && !memcmp(names[i], text, length)) return i;
    return -1;
}

static int number_after(const char *text) {
    while (*text && *text != ',' && *text != '-' && !isdigit((unsigned char)*text)) text++;
    if (*text == ',') text++;
    return (int)strtol(text, NULL, 0);
}

/* .cfi_escape: DW_CFA_def_cfa_expression, DW_CFA_expression of a register, or something else. */
static void read_escape(struct rsc_pass *pass, struct rsc_pass_cfi *state, const char *text, const char *arguments) {
    char *end;
    const char *kept = rsc_arena_strdup(&pass->arena, text);
    long first = strtol(arguments, &end, 0);
    if (first == 0x0f) {
        state->cfa_raw = kept;
    } else if ((first == 0x10 || first == 0x16) && *end == ',') {
        long number = strtol(end + 1, NULL, 0);
        if (number < 0 || number > 16) return;
        state->saved[number].is_saved = 1;
        state->saved[number].raw = kept;
    }
}

void rsc_pass_cfi_read(struct rsc_pass *pass, struct rsc_pass_cfi *state, struct rsc_pass_cfi *stack, size_t *depth,
                       const char *statement, size_t length) {
    char text[512];
    const char *arguments, *end;
    if (length >= sizeof text) return;
    memcpy(text, statement, length);
    text[length] = 0;
    size_t name = strcspn(text, " \t");
    for (arguments = text + name; isspace((unsigned char)*arguments);) arguments++;
#define IS(wanted) (name == sizeof(wanted) - 1 && !memcmp(text, wanted, sizeof(wanted) - 1))
    if (IS(".cfi_startproc")) {
        *state = (struct rsc_pass_cfi){.is_open = 1, .cfa_register = RSP, .cfa_offset = 8};
        *depth = 0;
    } else if (IS(".cfi_endproc")) {
        state->is_open = 0;
    } else if (IS(".cfi_def_cfa")) {
        state->cfa_register = register_number(arguments, &end);
        state->cfa_offset = number_after(strchr(end, ',') ? strchr(end, ',') : end);
        state->cfa_raw = NULL;
    } else if (IS(".cfi_def_cfa_offset")) {
        state->cfa_offset = number_after(arguments);
    } else if (IS(".cfi_def_cfa_register")) {
        state->cfa_register = register_number(arguments, &end);
        state->cfa_raw = NULL;
    } else if (IS(".cfi_adjust_cfa_offset")) {
        state->cfa_offset += number_after(arguments);
    } else if (IS(".cfi_offset") || IS(".cfi_rel_offset")) {
        int number = register_number(arguments, &end);
        if (number < 0 || number > 16) return;
        state->saved[number].is_saved = 1;
        state->saved[number].raw = NULL;
        state->saved[number].offset = number_after(strchr(end, ',') ? strchr(end, ',') : end);
        if (text[5] == 'r') state->saved[number].offset -= state->cfa_offset;
    } else if (IS(".cfi_restore") || IS(".cfi_same_value")) {
        int number = register_number(arguments, &end);
        if (number >= 0 && number <= 16) memset(&state->saved[number], 0, sizeof state->saved[number]);
    } else if (IS(".cfi_undefined") || IS(".cfi_register") || IS(".cfi_val_offset")) {
        int number = register_number(arguments, &end);
        if (number < 0 || number > 16) return;
        state->saved[number].is_saved = 1;
        state->saved[number].raw = rsc_arena_strdup(&pass->arena, text);
    } else if (IS(".cfi_remember_state")) {
        if (*depth < REMEMBERED) stack[*depth] = *state;
        ++*depth;
    } else if (IS(".cfi_restore_state")) {
        if (*depth > 0 && --*depth < REMEMBERED) *state = stack[*depth];
    } else if (IS(".cfi_escape")) {
        read_escape(pass, state, text, arguments);
    }
#undef IS
}

static int same_raw(const char *a, const char *b) { return a == b || (a && b && !strcmp(a, b)); }

void rsc_pass_cfi_change(const struct rsc_pass_cfi *from, const struct rsc_pass_cfi *to, struct rsc_pass_text *out) {
    if (to->cfa_raw) {
        if (!same_raw(from->cfa_raw, to->cfa_raw)) rsc_pass_text_printf(out, "\t%s\n", to->cfa_raw);
    } else if (from->cfa_raw || from->cfa_register != to->cfa_register || from->cfa_offset != to->cfa_offset) {
        rsc_pass_text_printf(out, "\t.cfi_def_cfa %d, %d\n", to->cfa_register, to->cfa_offset);
    }
    for (int i = 0; i < 17; i++) {
        if (!to->saved[i].is_saved) {
            if (from->saved[i].is_saved) rsc_pass_text_printf(out, "\t.cfi_restore %d\n", i);
        } else if (to->saved[i].raw) {
            if (!same_raw(from->saved[i].raw, to->saved[i].raw)) rsc_pass_text_printf(out, "\t%s\n", to->saved[i].raw);
        } else if (!from->saved[i].is_saved || from->saved[i].raw || from->saved[i].offset != to->saved[i].offset) {
            rsc_pass_text_printf(out, "\t.cfi_offset %d, %d\n", i, to->saved[i].offset);
        }
    }
}

int rsc_pass_cfi_follows_rsp(const struct rsc_pass_cfi *cfi) {
    return cfi->is_open && cfi->cfa_register == RSP && !cfi->cfa_raw;
}
