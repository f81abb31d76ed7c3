/*
 * loop_text_reader.h - tokens and expressions of the text form, for its reader.
 *
 * Functions return 0, or a negative code after filling the error. Parentheses nest
 * at most EXPRESSION_NESTING_MAX deep, so no text can exhaust the stack.
 */
#ifndef RSC_LOOPS_TREE_LOOP_TEXT_READER_H
#define RSC_LOOPS_TREE_LOOP_TEXT_READER_H

#include "loops/tree/loop_text.h"

#define NAME_BYTES_MAX 256
#define STRING_BYTES_MAX 4096
#define EXPRESSION_NESTING_MAX 64
#define PARAMS_MAX 1024

enum token_kind { TOKEN_END, TOKEN_NAME, TOKEN_NUMBER, TOKEN_STRING, TOKEN_SIGN };

struct reader {
    const char *at, *end; /* the text after the current token */
    const char *name;     /* of the file */
    struct rsc_error *error;
    struct rsc_loop_program *program;
    uint32_t line; /* of the current token */

    enum token_kind kind;
    char text[STRING_BYTES_MAX]; /* of a name, string or sign ("<=") */
    int64_t number;

    struct rsc_loop_setting *settings;
    size_t setting_count;
    struct {
        char *name;
        int64_t value;
    } param[PARAMS_MAX];
    uint32_t param_count;
    const char *variable[RSC_LOOP_DEPTH_MAX];
    uint32_t depth;   /* loops around what is being read */
    uint32_t nesting; /* blocks around it */
    int expression_nesting;
};

/* Fails with "NAME:LINE: WHAT DETAIL". */
int reader_complain(struct reader *reader, int code, const char *what, const char *detail);
int reader_out_of_room(struct reader *reader);

/* Reads the next token. */
int reader_next(struct reader *reader);
/* Whether the current token is this word or sign. */
int reader_is(const struct reader *reader, const char *word);
/* Takes the word if it is the current one. Returns 1 if taken, 0 if not, negative on error. */
int reader_take(struct reader *reader, const char *word);
int reader_expect(struct reader *reader, const char *word);

int reader_expression(struct reader *reader, struct rsc_affine *value);
/* An expression that must be a number, from `least` to `most`; `what` names it in messages. */
int reader_number(struct reader *reader, int64_t least, int64_t most, const char *what, int64_t *value);
/* expression, floor(expression / n) or ceil(expression / n) */
int reader_term(struct reader *reader, struct rsc_loop_term *term);
/* term, max(term, ...) or min(term, ...); *joined is "max", "min" or NULL. */
int reader_bound(struct reader *reader, struct rsc_loop_bound *bound, const char **joined);
/* Turns a status of affine.h into a message. */
int reader_check(struct reader *reader, int status);

#endif
