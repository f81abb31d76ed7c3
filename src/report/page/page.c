/*
 * page.c - makes the HTML page: puts the data into the template.
 *
 * Data is one JSON object:
 *   {"schema":"reusescope-page/1","tool":..,"machine":[{"name","bytes"}],"at":BYTES or null,
 *    "names":[..],"profiles":[..],"sources":{FILE:TEXT},"sources_left_out":N,"documents":[..]}
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

static void put_machine(struct rsc_json *json, const struct rsc_report_style *style) {
    rsc_json_key_array(json, "machine");
    for (size_t i = 0; style->machine && i < style->machine->level_count; i++) {
        rsc_json_object(json);
        rsc_json_key_string(json, "name", style->machine->levels[i].name);
        rsc_json_key_u64(json, "bytes", style->machine->levels[i].size_bytes);
        rsc_json_object_end(json);
    }
    rsc_json_array_end(json);
    rsc_json_key(json, "at");
    if (style->at_bytes) rsc_json_u64(json, style->at_bytes);
    else rsc_json_null(json);
}

static int put_data(struct rsc_json *json, struct rsc_profile *const *profiles, size_t count,
                    const struct rsc_report_style *style, const struct rsc_page_extras *extras) {
    char tool[64];
    snprintf(tool, sizeof tool, "reusescope %s", rsc_version());
    rsc_json_object(json);
    rsc_json_key_string(json, "schema", "reusescope-page/1");
    rsc_json_key_string(json, "tool", tool);
    put_machine(json, style);
    rsc_json_key_array(json, "names");
    for (size_t i = 0; extras->names && i < count; i++) rsc_json_string(json, extras->names[i] ? extras->names[i] : "");
    rsc_json_array_end(json);
    rsc_json_key_array(json, "profiles");
    for (size_t i = 0; i < count; i++) {
        /* the page ranks all code rows; this one, the last, is no place */
        struct rsc_profile shown = *profiles[i];
        if (shown.code_count && rsc_place_is_other(&shown.code[shown.code_count - 1].place)) shown.code_count--;
        rsc_json_newline(json);
        rsc_profile_to_json(&shown, json);
    }
    rsc_json_array_end(json);
    int status = put_sources(json, profiles, count, extras);
    rsc_json_object_end(json);
    return rsc_json_finish(json) ? RSC_ENOMEM : status;
}

/* ---- the page ---- */

static void put_documents(FILE *to, const struct rsc_page_extras *extras) {
    fputs(",\n\"documents\":[", to);
    for (size_t i = 0; i < extras->document_count; i++) fprintf(to, "%s%s", i ? "," : "", extras->documents[i]);
    fputc(']', to);
}

/* All of the data, escaped. */
static int make_data(struct rsc_profile *const *profiles, size_t count, const struct rsc_report_style *style,
                     char **data, size_t *bytes) {
    static const struct rsc_page_extras none;
    const struct rsc_page_extras *extras = style->page ? style->page : &none;
    struct rsc_json json;
    char *plain = NULL;
    size_t plain_bytes = 0;
    rsc_json_init(&json);
    int status = put_data(&json, profiles, count, style, extras);
    FILE *joined = status ? NULL : open_memstream(&plain, &plain_bytes);
    if (joined) {
        while (json.used && json.text[json.used - 1] != '}') json.used--;
        fwrite(json.text, 1, json.used - 1, joined); /* the object stays open for the documents */
        put_documents(joined, extras);
        fputs("}\n", joined);
        if (fclose(joined)) status = RSC_ENOMEM;
    } else if (!status) {
        status = RSC_ENOMEM;
    }
    rsc_json_free(&json);
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
