/* cmd_annotate.c - `reusescope annotate`: prints source text with the references and misses of each line. */
#include <stdlib.h>
#include <string.h>

#include "cmd/session.h"
#include "report/source/annotate.h"

#define SOURCE_PATHS_MAX 32

enum {
    OPT_AT = RSC_OPT_VERB,
    OPT_FILE,
    OPT_FUNCTION,
    OPT_CONTEXT,
    OPT_SOURCE_PATH,
    OPT_ALL,
};

static const struct rsc_option options[] = {
    RSC_HEADING("selection"),
    {OPT_AT, 0, "at", "SIZE,...",
     "cache sizes to show misses at, as 32K,1M or L2; the first one ranks the files (default: the machine's caches, "
     "and files by the cycles that misses cost)",
     NULL},
    RSC_MACHINE_OPTION(""),
    {OPT_FILE, 0, "file", "SUBSTRING", "only source files with this in their name", NULL},
    {OPT_FUNCTION, 0, "function", "NAME", "only the lines of this function", NULL},
    {OPT_CONTEXT, 0, "context", "N", "only lines with references and N lines around them (default: whole files)", NULL},
    {OPT_ALL, 0, "all", NULL, "all files, not just the three with most misses", NULL},
    {OPT_SOURCE_PATH, 0, "source-path", "DIR", "look for source files here first", NULL},
    RSC_HEADING("output"),
    {RSC_OPT_OUTPUT, 'o', "output", "FILE", "write here (.csv: as CSV); - is standard output", NULL},
    {RSC_OPT_FORMAT, 0, "format", "FORMAT", "text (default) or csv", "text csv"},
    {0, 0, NULL, NULL, NULL, NULL},
};

struct annotation {
    struct rsc_session session;
    struct rsc_annotate_options options;
    const char *source_paths[SOURCE_PATHS_MAX];
};

static int parse_sizes(struct annotation *annotation, const char *text) {
    struct rsc_annotate_options *annotate = &annotation->options;
    annotate->size_count = 0;
    for (;;) {
        size_t length = strcspn(text, ",");
        uint64_t bytes;
        if (annotate->size_count == RSC_ANNOTATE_SIZES_MAX) return -1;
        if (rsc_session_parse_size(&annotation->session, text, length, &bytes) < 0) return -1;
        annotate->size_bytes[annotate->size_count++] = bytes;
        if (!text[length]) return 0;
        text += length + 1;
    }
}

static int take_option(void *context, const struct rsc_option_parser *parser, int id) {
    struct annotation *annotation = context;
    struct rsc_annotate_options *annotate = &annotation->options;
    uint64_t number = 0;
    int leave;
    switch (id) {
    case OPT_AT:
        if (parse_sizes(annotation, parser->value) < 0)
            return rsc_option_refuse(parser,
                                     "not a list of up to 8 sizes in bytes or caches of this machine, as 32K,1M,L2");
        return -1;
    case OPT_FILE: annotate->file_contains = parser->value; return -1;
    case OPT_FUNCTION: annotate->function = parser->value; return -1;
    case OPT_CONTEXT:
        annotate->nearby = 1;
        leave = rsc_option_number(parser, 0, 1000000, "not a number of lines from 0 to 1000000", &number);
        annotate->nearby_lines = (uint32_t)number;
        return leave;
    case OPT_SOURCE_PATH:
        if (annotate->source_folder_count == SOURCE_PATHS_MAX) return rsc_option_refuse(parser, "too many folders");
        annotation->source_paths[annotate->source_folder_count++] = parser->value;
        return -1;
    case OPT_ALL: annotate->all_files = 1; return -1;
    default: return rsc_session_option(&annotation->session, parser, id);
    }
}

static int run_annotate(const struct rsc_verb *verb, int argc, char **argv) {
    struct annotation *annotation = calloc(1, sizeof *annotation);
    struct rsc_profile **profiles = NULL;
    struct rsc_result result = {.kind = RSC_RESULT_ANNOTATION};
    struct rsc_error error;
    if (!annotation) return rsc_memory_error(verb);
    rsc_session_start(&annotation->session, verb, argv);
    annotation->session.yields = RSC_RESULT_ANNOTATION;
    annotation->options.source_folders = annotation->source_paths;
    int leave =
        rsc_session_take(&annotation->session, argc, take_option, annotation, "profile", &annotation->options.name);
    if (!annotation->options.name) annotation->options.name = RSC_DATA_FILE;
    if (leave < 0) leave = rsc_session_check_format(&annotation->session);
    if (leave < 0 && rsc_session_load(annotation->options.name, &profiles, &result.count, &error) < 0)
        leave = rsc_session_fail(&annotation->session, &error);
    result.profiles = profiles;
    result.annotate = &annotation->options;
    if (leave < 0) leave = rsc_session_deliver_result(&annotation->session, &result, 0);
    rsc_profiles_free(profiles, result.count);
    free(annotation);
    return leave;
}

const struct rsc_verb rsc_verb_annotate = {
    .name = "annotate",
    .operands = "[PROFILE]",
    .summary = "Show source lines with their references and misses",
    .about = "PROFILE is a profile or its JSON (default: reusescope.data), made with program counters and "
             "debug information. Source files are searched under the names in the debug information and only "
             "read.",
    .example = "reusescope annotate --at 1M --function relax",
    .groups = {options, rsc_common_options},
    .run = run_annotate,
};
