/* row_tables.c - see row_tables.h: the tables, and how rows are made, copied and freed. */
#include "profile/row_tables.h"

#include <stdlib.h>
#include <string.h>

#include "profile/profile_rows.h"

/* ---- fields ---- */

#define AT(member) offsetof(struct ROW, member)
#define SOME(member) (AT(member) + 1)
#define OF_PROFILE(member) (offsetof(struct rsc_profile, member) + 1)

#define FIELD(name, kind, member, ...) {.key = name, .sort = RSC_FIELD_##kind, .at = AT(member), ##__VA_ARGS__}
#define OPEN(name, ...) {.key = name, .sort = RSC_FIELD_OPEN, ##__VA_ARGS__}
#define CLOSE {.sort = RSC_FIELD_CLOSE}

#define REFERENCES FIELD("references", COUNT, references, .within_profile = OF_PROFILE(references))
#define COLD FIELD("cold", COUNT, cold, .within = SOME(references))
#define INVALIDATED FIELD("invalidated", COUNT, invalidated, .within = SOME(references), .is_optional = 1)
#define ERROR_OF(most) FIELD("error", COUNT, error, .within = SOME(most), .is_optional = 1)
#define RD FIELD("rd", COARSE, rd)

/* Which fields are counts: some of REFERENCES, COLD, INVALIDATED, ERROR_OF(references) and RD. */
#define COUNTS .references = SOME(references), .rd = SOME(rd)
#define COUNTS_COLD COUNTS, .cold = SOME(cold)
#define COUNTS_INVALIDATED COUNTS_COLD, .invalidated = SOME(invalidated)

#define TABLE(name, list, holder, rows, count, most)                                      \
    .key = name, .fields = list, .field_count = sizeof(list) / sizeof *(list),            \
    .rows_at = offsetof(struct holder, rows), .count_at = offsetof(struct holder, count), \
    .row_bytes = sizeof(struct ROW), .rows_max = most
#define PROFILE_TABLE(name, list, rows, count) TABLE(name, list, rsc_profile, rows, count, RSC_PROFILE_ROWS_MAX)

#define ROW rsc_thread_row
static const struct rsc_field thread_fields[] = {
    FIELD("tid", COUNT, tid), FIELD("pid", COUNT, pid), REFERENCES, COLD, INVALIDATED, RD,
};
const struct rsc_row_table rsc_row_table_threads = {
    PROFILE_TABLE("threads", thread_fields, threads, thread_count),
    COUNTS_INVALIDATED,
};
#undef ROW

#define ROW rsc_phase_row
static const struct rsc_field phase_fields[] = {
    FIELD("first", COUNT, first, .within_profile = OF_PROFILE(references)), REFERENCES, COLD, INVALIDATED, RD,
};
const struct rsc_row_table rsc_row_table_phases = {
    PROFILE_TABLE("phases", phase_fields, phases, phase_count),
    COUNTS_INVALIDATED,
};
#undef ROW

#define ROW rsc_kind_row
static const struct rsc_field kind_fields[] = {
    FIELD("kind", ACCESS_KIND, kind), REFERENCES, COLD, INVALIDATED, RD, FIELD("rd_fine", FINE, rd_fine),
};
const struct rsc_row_table rsc_row_table_kinds = {
    TABLE("kinds", kind_fields, rsc_profile, kinds, kind_count, RSC_KIND_NAMES),
    COUNTS_INVALIDATED,
    .is_optional = 1,
    .sums_up = 1,
};
#undef ROW

#define ROW rsc_line_row
static const struct rsc_field line_fields[] = {
    FIELD("address", ADDRESS, address),
    FIELD("object", TEXT, object),
    FIELD("kind", OBJECT_KIND, object_kind),
    FIELD("misses", COUNT, misses, .within_profile = OF_PROFILE(references)),
    ERROR_OF(misses),
    REFERENCES,
    COLD,
    RD,
    FIELD(NULL, CONTEXT_UNSAVED, context),
};
const struct rsc_row_table rsc_row_table_lines = {
    PROFILE_TABLE("lines", line_fields, lines, line_count),
    COUNTS_COLD,
    .is_optional = 1,
};
#undef ROW

#define ROW rsc_place
static const struct rsc_field inlined_fields[] = {{.sort = RSC_FIELD_SOURCE}};
static const struct rsc_row_table inlined_table = {
    TABLE("inlined", inlined_fields, rsc_code_row, inlined_into, inlined_count, RSC_PROFILE_ROWS_MAX),
    .is_optional = 1,
};
#undef ROW

#define ROW rsc_code_row
static const struct rsc_field code_fields[] = {
    FIELD(NULL, PLACE, place),
    REFERENCES,
    COLD,
    INVALIDATED,
    ERROR_OF(references),
    RD,
    {.key = "inlined", .sort = RSC_FIELD_ROWS, .only_if = SOME(inlined_count), .rows = &inlined_table},
    OPEN("stride", .only_if = SOME(stride.seen)),
    FIELD("bytes", COUNT, stride.bytes),
    FIELD("same", COUNT, stride.same, .within = SOME(stride.seen)),
    FIELD("seen", COUNT, stride.seen),
    FIELD("access", SMALL, stride.access_bytes, .is_optional = 1),
    FIELD("apart", COUNT, stride.apart, .is_optional = 1),
    CLOSE,
};
const struct rsc_row_table rsc_row_table_code = {
    PROFILE_TABLE("code", code_fields, code, code_count),
    COUNTS_INVALIDATED,
    .error = SOME(error),
    .sums_up = 1,
};
#undef ROW

#define ROW rsc_pair_row
static const struct rsc_field pair_fields[] = {
    OPEN("use"),
    FIELD(NULL, PLACE, use),
    FIELD("context", CONTEXT, use_context),
    CLOSE,
    OPEN("reuse"),
    FIELD(NULL, PLACE, reuse),
    FIELD("context", CONTEXT, reuse_context),
    CLOSE,
    REFERENCES,
    ERROR_OF(references),
    RD,
    {.key = "ancestor", .sort = RSC_FIELD_ANCESTOR},
    FIELD("object", TEXT, object, .only_if = SOME(object)),
    FIELD("object_kind", OBJECT_KIND, object_kind, .only_if = SOME(object)),
    FIELD("latency", NUMBER, latency, .only_if = SOME(latency)),
    FIELD("latency_samples", COUNT, latency_samples, .only_if = SOME(latency_samples)),
    FIELD("sources", SOURCES, sources),
    FIELD(NULL, CONTEXT_UNSAVED, object_context),
};
const struct rsc_row_table rsc_row_table_pairs = {
    PROFILE_TABLE("pairs", pair_fields, pairs, pair_count),
    COUNTS,
    .error = SOME(error),
    .sums_up = 1,
};
#undef ROW

#define ROW rsc_object_row
static const struct rsc_field object_fields[] = {
    FIELD("name", TEXT, name, .not_null = 1),
    FIELD("kind", OBJECT_KIND, kind, .not_null = 1),
    FIELD("bytes", COUNT, bytes),
    FIELD("blocks", COUNT, blocks, .is_optional = 1),
    FIELD("context", CONTEXT, context),
    REFERENCES,
    COLD,
    INVALIDATED,
    ERROR_OF(references),
    RD,
};
const struct rsc_row_table rsc_row_table_objects = {
    PROFILE_TABLE("objects", object_fields, objects, object_count),
    COUNTS_INVALIDATED,
    .error = SOME(error),
    .sums_up = 1,
};
#undef ROW

#define ROW rsc_context_row
static const struct rsc_field context_fields[] = {
    {.key = "id", .sort = RSC_FIELD_ID},
    FIELD("parent", CONTEXT_PARENT, parent),
    FIELD(NULL, PLACE, place),
};
const struct rsc_row_table rsc_row_table_contexts = {
    PROFILE_TABLE("contexts", context_fields, contexts, context_count)};
#undef ROW

#define ROW rsc_loop_row
static const struct rsc_field loop_fields[] = {
    {.key = "id", .sort = RSC_FIELD_ID},
    FIELD("parent", LOOP_PARENT, parent),
    FIELD("depth", SMALL, depth, .max = RSC_PROFILE_ROWS_MAX),
    FIELD(NULL, PLACE, place),
};
const struct rsc_row_table rsc_row_table_loops = {PROFILE_TABLE("loops", loop_fields, loops, loop_count),
                                                  .is_optional = 1};
#undef ROW

#define ROW rsc_module_row
static const struct rsc_field module_fields[] = {
    FIELD("path", TEXT, path, .not_null = 1),
    FIELD("build_id", BUILD_ID, build_id),
};
const struct rsc_row_table rsc_row_table_modules = {
    PROFILE_TABLE("modules", module_fields, modules, module_count),
    .is_optional = 1,
};
#undef ROW

#define BAR(name, member) \
    FIELD(name "_low", COUNT, bars.member.low, .within = SOME(member)), FIELD(name "_high", COUNT, bars.member.high)

#define ROW rsc_sharing_row
static const struct rsc_field sharing_fields[] = {
    FIELD("by", COUNT, by_tid),
    FIELD("by_pid", COUNT, by_pid, .is_optional = 1),
    FIELD("from", COUNT, from_tid),
    FIELD("from_pid", COUNT, from_pid, .is_optional = 1),
    FIELD("taken", COUNT, taken),
    FIELD("false_taken", COUNT, false_taken, .within = SOME(taken), .is_optional = 1),
    FIELD("misses", COUNT, misses, .within_profile = OF_PROFILE(invalidated)),
    FIELD("false_misses", COUNT, false_misses, .within = SOME(misses), .is_optional = 1),
    FIELD("error", COUNT, error, .is_optional = 1),
    OPEN("bars", .only_if = SOME(bars.taken.high)),
    BAR("taken", taken),
    BAR("false_taken", false_taken),
    BAR("misses", misses),
    BAR("false_misses", false_misses),
    CLOSE,
};
const struct rsc_row_table rsc_row_table_sharing = {
    PROFILE_TABLE("sharing", sharing_fields, sharing, sharing_count), .is_optional = 1,
    .marker = "by", /* without it: a line that threads share, not a cell */
};
#undef ROW

#define ROW rsc_sharing_user
static const struct rsc_field user_fields[] = {
    FIELD("tid", COUNT, tid),
    FIELD("pid", COUNT, pid, .is_optional = 1),
    FIELD("first", SMALL, first_byte, .within = SOME(last_byte)),
    FIELD("last", SMALL, last_byte, .within_profile = OF_PROFILE(made.line_bytes), .below = 1),
    FIELD("taken", COUNT, taken, .is_optional = 1),
};
const struct rsc_row_table rsc_row_table_users = {
    TABLE("users", user_fields, rsc_false_sharing_row, users, user_count, RSC_SHARING_USERS_MAX),
    .is_optional = 1,
};
#undef ROW

#define ROW rsc_sharing_place
static const struct rsc_field place_fields[] = {
    OPEN("writer"), FIELD(NULL, PLACE, writer),   CLOSE, OPEN("victim"), FIELD(NULL, PLACE, victim),
    CLOSE,          FIELD("taken", COUNT, taken),
};
const struct rsc_row_table rsc_row_table_places = {
    TABLE("places", place_fields, rsc_false_sharing_row, places, place_count, RSC_SHARING_PLACES_MAX),
    .is_optional = 1,
};
#undef ROW

#define ROW rsc_false_sharing_row
static const struct rsc_field false_sharing_fields[] = {
    FIELD("address", ADDRESS, address),
    FIELD("object", TEXT, object),
    FIELD("kind", OBJECT_KIND, object_kind, .is_optional = 1),
    FIELD("taken", COUNT, taken, .is_optional = 1),
    FIELD("misses", COUNT, misses, .within_profile = OF_PROFILE(invalidated), .is_optional = 1),
    FIELD("error", COUNT, error, .is_optional = 1),
    OPEN("bars", .only_if = SOME(bars.taken.high)),
    BAR("taken", taken),
    BAR("misses", misses),
    CLOSE,
    {.key = "users", .sort = RSC_FIELD_ROWS, .rows = &rsc_row_table_users},
    {.key = "places", .sort = RSC_FIELD_ROWS, .rows = &rsc_row_table_places},
    FIELD(NULL, CONTEXT_UNSAVED, context),
};
const struct rsc_row_table rsc_row_table_false_sharing = {
    PROFILE_TABLE("false_sharing", false_sharing_fields, false_sharing, false_sharing_count),
    .is_optional = 1,
};
#undef ROW

#define ROW rsc_mapping_row
static const struct rsc_field mapping_fields[] = {FIELD("path", TEXT, path)};
static const struct rsc_row_table mappings_table = {PROFILE_TABLE("mappings", mapping_fields, mappings, mapping_count)};
#undef ROW

/* All; mappings are neither written nor read. */
static const struct rsc_row_table *const tables[] = {
    &rsc_row_table_threads, &rsc_row_table_phases,   &rsc_row_table_kinds,   &rsc_row_table_lines,
    &rsc_row_table_code,    &rsc_row_table_pairs,    &rsc_row_table_objects, &rsc_row_table_loops,
    &rsc_row_table_modules, &rsc_row_table_contexts, &rsc_row_table_sharing, &rsc_row_table_false_sharing,
    &mappings_table,
};

/* ---- places and names ---- */

void rsc_place_clear(struct rsc_place *place) {
    free(place->function);
    free(place->file);
    free(place->module);
    *place = (struct rsc_place){0};
}

int rsc_place_copy(struct rsc_place *to, const struct rsc_place *from) {
    *to = (struct rsc_place){.pc = from->pc, .line = from->line, .loop = from->loop, .offset = from->offset};
    if (rsc_profile_set_text(&to->function, from->function) || rsc_profile_set_text(&to->file, from->file) ||
        rsc_profile_set_text(&to->module, from->module))
        return RSC_ENOMEM;
    return 0;
}

const char *rsc_object_kind(const char *name) {
    static const char *const kinds[] = {"heap", "global", "stack", "file", "other"};
    for (size_t i = 0; name && i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(name, kinds[i])) return kinds[i];
    return NULL;
}

const char *const rsc_source_names[RSC_SOURCES] = {"", "l1", "buffer", "l2", "l3", "memory", "remote", "other"};

const char *const rsc_kind_names[RSC_KIND_NAMES] = {"read", "write", "fetch"};

/* ---- making and freeing ---- */

/* A pointer to rows of any type. */
typedef char *any_rows __attribute__((may_alias));

static any_rows *rows_of(const struct rsc_row_table *table, const void *holder) {
    return (any_rows *)((char *)holder + table->rows_at);
}

static size_t *count_of(const struct rsc_row_table *table, const void *holder) {
    return (size_t *)((char *)holder + table->count_at);
}

void *rsc_row_table_row(const struct rsc_row_table *table, const void *holder, size_t index) {
    return *rows_of(table, holder) + index * table->row_bytes;
}

size_t rsc_row_table_count(const struct rsc_row_table *table, const void *holder) { return *count_of(table, holder); }

static void drop_table(const struct rsc_row_table *table, void *holder);

void rsc_row_clear(const struct rsc_row_table *table, void *source) {
    char *row = source;
    for (size_t i = 0; i < table->field_count; i++) {
        const struct rsc_field *field = &table->fields[i];
        void *at = row + field->at;
        switch (field->sort) {
        case RSC_FIELD_TEXT: free(*(char **)at); break;
        case RSC_FIELD_PLACE:
        case RSC_FIELD_SOURCE: rsc_place_clear(at); break;
        case RSC_FIELD_COARSE:
        case RSC_FIELD_FINE: rsc_histogram_free(at); break;
        case RSC_FIELD_ROWS: drop_table(field->rows, row); break;
        default: break;
        }
    }
}

static void drop_table(const struct rsc_row_table *table, void *holder) {
    for (size_t i = 0; i < *count_of(table, holder); i++) rsc_row_clear(table, rsc_row_table_row(table, holder, i));
    free(*rows_of(table, holder));
    *rows_of(table, holder) = NULL;
    *count_of(table, holder) = 0;
}

size_t rsc_profile_row_count(const struct rsc_profile *profile) {
    size_t rows = 0;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (tables[i]->rd) rows += *count_of(tables[i], profile);
    return rows;
}

void rsc_profile_drop_tables(struct rsc_profile *profile) {
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) drop_table(tables[i], profile);
}

static int init_row(const struct rsc_row_table *table, char *row, size_t index) {
    for (size_t i = 0; i < table->field_count; i++) {
        const struct rsc_field *field = &table->fields[i];
        void *at = row + field->at;
        switch (field->sort) {
        case RSC_FIELD_CONTEXT:
        case RSC_FIELD_CONTEXT_PARENT:
        case RSC_FIELD_CONTEXT_UNSAVED: *(uint32_t *)at = RSC_NO_CONTEXT; break;
        case RSC_FIELD_OBJECT_KIND:
            if (field->not_null) *(const char **)at = rsc_object_kind("other");
            break;
        case RSC_FIELD_ACCESS_KIND: *(const char **)at = rsc_kind_names[index]; break;
        case RSC_FIELD_COARSE:
            if (rsc_histogram_init(at, RSC_BINS_COARSE)) return RSC_ENOMEM;
            break;
        case RSC_FIELD_FINE:
            if (rsc_histogram_init(at, RSC_BINS_FINE)) return RSC_ENOMEM;
            break;
        default: break;
        }
    }
    return 0;
}

int rsc_row_table_set(const struct rsc_row_table *table, void *holder, size_t count) {
    drop_table(table, holder);
    if (count > table->rows_max) return RSC_ELIMIT;
    if (!count) return 0;
    if (!(*rows_of(table, holder) = calloc(count, table->row_bytes))) return RSC_ENOMEM;
    *count_of(table, holder) = count;
    for (size_t i = 0; i < count; i++)
        if (init_row(table, rsc_row_table_row(table, holder, i), i)) {
            drop_table(table, holder);
            return RSC_ENOMEM;
        }
    return 0;
}

#define SETTER(name)                                                        \
    int rsc_profile_set_##name(struct rsc_profile *profile, size_t count) { \
        return rsc_row_table_set(&rsc_row_table_##name, profile, count);    \
    }
SETTER(threads)
SETTER(phases)
SETTER(kinds)
SETTER(lines)
SETTER(code)
SETTER(pairs)
SETTER(objects)
SETTER(contexts)
SETTER(loops)
SETTER(modules)
SETTER(sharing)
SETTER(false_sharing)

int rsc_false_sharing_set(struct rsc_false_sharing_row *row, size_t users, size_t places) {
    int rc = rsc_row_table_set(&rsc_row_table_users, row, users);
    return rc ? rc : rsc_row_table_set(&rsc_row_table_places, row, places);
}

/* ---- copying ---- */

static int copy_rows(const struct rsc_row_table *table, void *to, const void *from) {
    int rc = rsc_row_table_set(table, to, *count_of(table, from));
    for (size_t i = 0; !rc && i < *count_of(table, from); i++)
        rc = rsc_row_copy(table, rsc_row_table_row(table, to, i), rsc_row_table_row(table, from, i));
    return rc;
}

static int copy_field(const struct rsc_field *field, char *to_row, const char *from_row) {
    static const uint8_t plain_bytes[] = {
        [RSC_FIELD_COUNT] = 8,
        [RSC_FIELD_ADDRESS] = 8,
        [RSC_FIELD_SMALL] = 4,
        [RSC_FIELD_CONTEXT] = 4,
        [RSC_FIELD_CONTEXT_PARENT] = 4,
        [RSC_FIELD_LOOP_PARENT] = 4,
        [RSC_FIELD_NUMBER] = sizeof(double),
        [RSC_FIELD_SOURCES] = RSC_SOURCES * sizeof(double),
        [RSC_FIELD_OBJECT_KIND] = sizeof(char *),
        [RSC_FIELD_ACCESS_KIND] = sizeof(char *),
        [RSC_FIELD_BUILD_ID] = sizeof(struct rsc_module_row) - offsetof(struct rsc_module_row, build_id),
        [RSC_FIELD_CLOSE] = 0,
    };
    void *to = to_row + field->at;
    const void *from = from_row + field->at;
    switch (field->sort) {
    case RSC_FIELD_TEXT: return rsc_profile_set_text(to, *(char *const *)from);
    case RSC_FIELD_PLACE:
    case RSC_FIELD_SOURCE: return rsc_place_copy(to, from);
    case RSC_FIELD_COARSE:
    case RSC_FIELD_FINE: rsc_histogram_merge(to, from); return 0;
    case RSC_FIELD_ROWS: return copy_rows(field->rows, to_row, from_row);
    default: memcpy(to, from, plain_bytes[field->sort]); return 0;
    }
}

int rsc_row_copy(const struct rsc_row_table *table, void *to, const void *from) {
    int rc = 0;
    for (size_t i = 0; !rc && i < table->field_count; i++) rc = copy_field(&table->fields[i], to, from);
    return rc;
}

/* ---- counts ---- */

struct rsc_row_counts rsc_row_counts(const struct rsc_row_table *table, const void *row) {
    char *at = (char *)row - 1;
    return (struct rsc_row_counts){
        .references = table->references ? (uint64_t *)(at + table->references) : NULL,
        .cold = table->cold ? (uint64_t *)(at + table->cold) : NULL,
        .invalidated = table->invalidated ? (uint64_t *)(at + table->invalidated) : NULL,
        .error = table->error ? (uint64_t *)(at + table->error) : NULL,
        .rd = table->rd ? (struct rsc_histogram *)(at + table->rd) : NULL,
    };
}

void rsc_row_add_counts(const struct rsc_row_table *table, void *to, const void *from) {
    struct rsc_row_counts sum = rsc_row_counts(table, to), more = rsc_row_counts(table, from);
    *sum.references += *more.references;
    if (sum.cold) *sum.cold += *more.cold;
    if (sum.invalidated) *sum.invalidated += *more.invalidated;
    if (sum.error) *sum.error += *more.error;
    rsc_histogram_merge(sum.rd, more.rd);
}
