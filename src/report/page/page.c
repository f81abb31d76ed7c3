/*
 * page.c - makes the HTML page: puts the data into the template.
 *
 * Data is one JSON object:
 *   {"schema":"reusescope-page/2","tool":..,"machine":[{"name","bytes","cycles"}],
 *    "machine_name":..,"memory_cycles":N,"latencies":..,"at":BYTES or null,"by":"cycles" or "misses",
 *    "names":[..],"rows_left_out":N,"advice":[{"size","items":[..]}],"sources":{FILE:TEXT},"sources_left_out":N,
 *    "shapes":[..],"strings":[..],"profiles":PACKED (page_pack.h),"documents":[..]}
 * It is inside a script element of a type that no browser runs, and every
 * character that could end that element is escaped.
 */
#include "report/page/page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <reusescope/reusescope.h>

#include "base/fail.h"
#include "base/json_writer.h"
#include "report/advise/advise.h"
#include "report/page/page_pack.h"
#include "report/page/page_rows.h"
#include "report/ranking.h"
#include "report/source/source_text.h"

int rsc_page_escape(const char *json, size_t bytes, char **escaped, size_t *escaped_bytes) {
    size_t room = bytes + 1;
    for (size_t i = 0; i < bytes; i++)
        room += json[i] == '<' || json[i] == '>' || json[i] == '&' || json[i] == '\xe2' ? 5 : 0;
    char *to = *escaped = malloc(room);
    if (!to) return RSC_ENOMEM;
    for (size_t i = 0; i < bytes; i++) {
        unsigned char c = (unsigned char)json[i];
        if (c == '<' || c == '>' || c == '&') {
            to += sprintf(to, "\\u00%02x", c);
        } else if (c == 0xe2 && bytes - i > 2 && json[i + 1] == '\x80' &&
                   (json[i + 2] == '\xa8' || json[i + 2] == '\xa9')) {
            to += sprintf(to, "\\u202%c", json[i + 2] == '\xa8' ? '8' : '9');
            i += 2;
        } else {
            *to++ = (char)c;
        }
    }
    *to = 0;
    *escaped_bytes = (size_t)(to - *escaped);
    return 0;
}

/* ---- source text ---- */

struct file {
    const char *name;
    uint64_t references;
};

struct files {
    struct file *list; /* owned */
    size_t count;
};

static int by_name(const void *a, const void *b) {
    return strcmp(((const struct file *)a)->name, ((const struct file *)b)->name);
}

static int by_references(const void *a, const void *b) {
    const struct file *x = a, *y = b;
    if (x->references != y->references) return x->references < y->references ? 1 : -1;
    return strcmp(x->name, y->name);
}

/* The files that code rows name, each once, most references first. */
static int collect_files(struct files *files, struct rsc_profile *const *profiles, size_t count) {
    size_t rows = 0, kept = 0;
    for (size_t i = 0; i < count; i++) rows += profiles[i]->code_count;
    files->list = calloc(rows + 1, sizeof *files->list);
    if (!files->list) return RSC_ENOMEM;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < profiles[i]->code_count; k++) {
            const struct rsc_code_row *row = &profiles[i]->code[k];
            if (row->place.file) files->list[files->count++] = (struct file){row->place.file, row->references};
        }
    qsort(files->list, files->count, sizeof *files->list, by_name);
    for (size_t i = 0; i < files->count; i++) {
        if (kept && !strcmp(files->list[kept - 1].name, files->list[i].name))
            files->list[kept - 1].references += files->list[i].references;
        else files->list[kept++] = files->list[i];
    }
    files->count = kept;
    qsort(files->list, files->count, sizeof *files->list, by_references);
    return 0;
}

/* Joins the lines into one text; NULL if out of memory. */
static char *join_lines(const struct rsc_source *source, size_t *bytes) {
    size_t room = 1;
    for (size_t i = 0; i < source->line_count; i++) room += strlen(source->lines[i]) + 1;
    char *text = malloc(room), *to = text;
    if (!text) return NULL;
    for (size_t i = 0; i < source->line_count; i++) {
        size_t length = strlen(source->lines[i]);
        memcpy(to, source->lines[i], length);
        to[length] = '\n';
        to += length + 1;
    }
    *to = 0;
    *bytes = (size_t)(to - text);
    return text;
}

static int put_sources(struct rsc_json *json, struct rsc_profile *const *profiles, size_t count,
                       const struct rsc_page_extras *extras) {
    struct files files = {0};
    size_t used = 0;
    uint64_t left_out = 0;
    int status = extras->embed_source ? collect_files(&files, profiles, count) : 0;
    rsc_json_newline(json);
    rsc_json_key_object(json, "sources");
    for (size_t i = 0; !status && i < files.count; i++) {
        struct rsc_source source = {0};
        const char *refused, *name = files.list[i].name;
        size_t bytes;
        int found =
            rsc_source_read_shareable(&source, name, extras->source_folders, extras->source_folder_count, &refused);
        char *text = found == 1 ? join_lines(&source, &bytes) : NULL;
        if (found < 0 || (found && !text)) status = RSC_ENOMEM;
        if (text && bytes > RSC_PAGE_SOURCE_MAX - used) {
            left_out++;
            refused = "more than 8 MiB of source";
        } else if (text) {
            used += bytes;
            rsc_json_newline(json);
            rsc_json_key_string(json, name, text);
        }
        if (extras->report_source && (text || refused)) extras->report_source(extras->context, name, refused);
        free(text);
        rsc_source_free(&source);
    }
    rsc_json_object_end(json);
    rsc_json_key_u64(json, "sources_left_out", left_out);
    free(files.list);
    return status;
}

/* ---- the data ---- */

static void put_machine(struct rsc_json *json, const struct rsc_profile *first, const struct rsc_report_style *style) {
    rsc_json_key_array(json, "machine");
    for (size_t i = 0; style->machine && i < style->machine->level_count; i++) {
        rsc_json_object(json);
        rsc_json_key_string(json, "name", style->machine->levels[i].name);
        rsc_json_key_u64(json, "bytes", style->machine->levels[i].size_bytes);
        rsc_json_key_double(json, "cycles", style->machine->levels[i].cycles);
        rsc_json_object_end(json);
    }
    rsc_json_array_end(json);
    if (style->machine) {
        rsc_json_key_string(json, "machine_name", rsc_machine_called(style->machine));
        rsc_json_key_double(json, "memory_cycles", style->machine->memory_cycles);
        rsc_json_key_string(json, "latencies", rsc_latencies_words(style->machine));
    }
    rsc_json_key_string(json, "by", style->at_bytes ? "misses" : "cycles");
    rsc_json_key(json, "at");
    if (first && first->made.line_bytes > 1) rsc_json_u64(json, rsc_rank_size(first, style, style->at_bytes).bytes);
    else if (style->at_bytes) rsc_json_u64(json, style->at_bytes);
    else rsc_json_null(json);
}

/* For each profile; its texts are whole sentences. */
static int put_advice(struct rsc_json *json, struct rsc_profile *const *profiles, size_t count,
                      const struct rsc_report_style *style) {
    int status = 0;
    rsc_json_key_array(json, "advice");
    for (size_t i = 0; i < count && !status; i++) {
        struct rsc_advices advices;
        status = rsc_advise(&advices, profiles[i], style);
        rsc_json_object(json);
        rsc_json_key_u64(json, "size", status ? 0 : advices.size_bytes);
        rsc_json_key_array(json, "items");
        for (size_t k = 0; !status && k < advices.count; k++) {
            const struct rsc_advice *item = &advices.items[k];
            rsc_json_object(json);
            rsc_json_key_string(json, "rule", item->rule);
            rsc_json_key_string(json, "title", item->title);
            rsc_json_key_double(json, "share", item->share);
            rsc_json_key_string(json, "evidence", item->evidence);
            char attempt[3 * RSC_ADVICE_TEXT + 64], gain[RSC_ADVICE_TEXT] = "";
            if (item->gain.is_known) rsc_advice_gain_words(item, advices.size_bytes, style->machine, gain);
            snprintf(attempt, sizeof attempt, "%s %s%sHow sure: %s; %s.", item->attempt, gain, gain[0] ? " " : "",
                     rsc_sureness_words(item->sure), item->why_sure);
            rsc_json_key_string(json, "attempt", attempt);
            rsc_json_object_end(json);
        }
        rsc_json_array_end(json);
        rsc_json_object_end(json);
        if (!status) rsc_advices_free(&advices);
    }
    rsc_json_array_end(json);
    return status;
}

/* Everything but profiles and documents. */
static int put_surroundings(struct rsc_json *json, struct rsc_profile *const *profiles, size_t count,
                            uint64_t rows_left_out, const struct rsc_report_style *style,
                            const struct rsc_page_extras *extras) {
    char tool[64];
    snprintf(tool, sizeof tool, "reusescope %s", rsc_version());
    rsc_json_object(json);
    rsc_json_key_string(json, "schema", "reusescope-page/2");
    rsc_json_key_string(json, "tool", tool);
    put_machine(json, count ? profiles[0] : NULL, style);
    rsc_json_key_array(json, "names");
    for (size_t i = 0; extras->names && i < count; i++) rsc_json_string(json, extras->names[i] ? extras->names[i] : "");
    rsc_json_array_end(json);
    rsc_json_key_u64(json, "rows_left_out", rows_left_out);
    int status = put_advice(json, profiles, count, style);
    if (!status) status = put_sources(json, profiles, count, extras);
    rsc_json_object_end(json);
    return rsc_json_finish(json) ? RSC_ENOMEM : status;
}

static int put_profiles(struct rsc_json *json, struct rsc_profile *const *profiles, size_t count,
                        uint64_t *rows_left_out) {
    int status = 0;
    *rows_left_out = 0;
    rsc_json_array(json);
    for (size_t i = 0; i < count && !status; i++) {
        struct rsc_page_rows rows;
        status = rsc_page_rows_make(&rows, profiles[i]);
        if (!status) rsc_profile_to_json(&rows.shown, json);
        *rows_left_out += rows.left_out;
        rsc_page_rows_free(&rows);
    }
    rsc_json_array_end(json);
    return rsc_json_finish(json) ? RSC_ENOMEM : status;
}

/* ---- the page ---- */

static void put_documents(FILE *to, const struct rsc_page_extras *extras) {
    fputs(",\n\"documents\":[", to);
    for (size_t i = 0; i < extras->document_count; i++) fprintf(to, "%s%s", i ? "," : "", extras->documents[i]);
    fputc(']', to);
}

/* All of the data. */
static int write_data(FILE *to, struct rsc_profile *const *profiles, size_t count, const struct rsc_report_style *style,
                      const struct rsc_page_extras *extras) {
    struct rsc_json listed, around;
    uint64_t rows_left_out;
    rsc_json_init(&listed);
    rsc_json_init(&around);
    int status = put_profiles(&listed, profiles, count, &rows_left_out);
    if (!status) status = put_surroundings(&around, profiles, count, rows_left_out, style, extras);
    if (!status) {
        while (around.used && around.text[around.used - 1] != '}') around.used--;
        fwrite(around.text, 1, around.used - 1, to); /* the object stays open for what follows */
        fputs(",\n", to);
        status = rsc_page_pack(listed.text, listed.used, "profiles", to);
        put_documents(to, extras);
        fputs("}\n", to);
    }
    rsc_json_free(&listed);
    rsc_json_free(&around);
    return status;
}

static int make_data(struct rsc_profile *const *profiles, size_t count, const struct rsc_report_style *style,
                     char **data, size_t *bytes) {
    static const struct rsc_page_extras none;
    char *plain = NULL;
    size_t plain_bytes = 0;
    FILE *to = open_memstream(&plain, &plain_bytes);
    if (!to) return RSC_ENOMEM;
    int status = write_data(to, profiles, count, style, style->page ? style->page : &none);
    if (fclose(to)) status = RSC_ENOMEM;
    if (!status) status = rsc_page_escape(plain, plain_bytes, data, bytes);
    free(plain);
    return status;
}

int rsc_report_page(const struct rsc_result *result, const struct rsc_report_style *style, char **text, size_t *bytes,
                    struct rsc_error *error) {
    static const struct rsc_report_style plain;
    const char *whole = (const char *)rsc_page_template;
    const char *mark = memmem(whole, rsc_page_template_bytes, RSC_PAGE_DATA_MARK, strlen(RSC_PAGE_DATA_MARK));
    char *data = NULL;
    size_t data_bytes;
    if (!mark) return rsc_fail(error, RSC_EINVAL, "the page template has no placeholder for data");
    if (make_data(result->profiles, result->count, style ? style : &plain, &data, &data_bytes))
        return rsc_fail_memory(error, "HTML page");
    size_t before = (size_t)(mark - whole), skip = before + strlen(RSC_PAGE_DATA_MARK);
    size_t after = rsc_page_template_bytes - skip;
    *bytes = before + data_bytes + after;
    *text = malloc(*bytes + 1);
    if (*text) {
        memcpy(*text, whole, before);
        memcpy(*text + before, data, data_bytes);
        memcpy(*text + before + data_bytes, whole + skip, after);
        (*text)[*bytes] = 0;
    }
    free(data);
    return *text ? 0 : rsc_fail_memory(error, "HTML page");
}
