/* page_pack.c - see page_pack.h. */
#include "report/page/page_pack.h"

#include <jansson.h>
#include <reusescope/reusescope.h>
#include <stdlib.h>
#include <string.h>

#include "profile/json_read.h"

#define PACKED_STRING 8u
#define AS_IS (JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(12))

struct packer {
    json_t *shapes, *shape_of;   /* list of lists of keys; which is where, by the keys in one string */
    json_t *strings, *string_of; /* the same of strings */
    FILE *to;
    int failed;
};

/* The place of `item` in a list, to which it is added if `name` is not yet known. Takes the item. */
static json_int_t place_of(struct packer *packer, json_t *list, json_t *known, const char *name, json_t *item) {
    json_t *there = json_object_get(known, name);
    const json_int_t at = there ? json_integer_value(there) : (json_int_t)json_array_size(list);
    if (there) json_decref(item);
    else if (json_object_set_new_nocheck(known, name, json_integer(at)) | json_array_append_new(list, item))
        packer->failed = 1;
    return at;
}

static json_int_t shape_of(struct packer *packer, json_t *object) {
    char *name = NULL;
    size_t bytes;
    const char *key;
    json_t *value, *keys = json_array();
    FILE *joined = open_memstream(&name, &bytes);
    json_int_t at = 0;
    json_object_foreach(object, key, value) {
        if (joined) fprintf(joined, "%s\n", key);
        json_array_append_new(keys, json_string_nocheck(key));
    }
    if (!joined || fclose(joined) || !keys) packer->failed = 1;
    if (packer->failed) json_decref(keys);
    else at = place_of(packer, packer->shapes, packer->shape_of, name, keys);
    free(name);
    return at;
}

static void pack(struct packer *packer, json_t *value) {
    const char *key;
    json_t *item;
    size_t i;
    if (packer->failed) return;
    if (json_is_object(value)) {
        fprintf(packer->to, "[%lld", shape_of(packer, value));
        json_object_foreach(value, key, item) {
            fputc(',', packer->to);
            pack(packer, item);
        }
        fputc(']', packer->to);
    } else if (json_is_array(value)) {
        fputs("[-1", packer->to);
        json_array_foreach(value, i, item) {
            fputc(',', packer->to);
            pack(packer, item);
        }
        fputc(']', packer->to);
    } else if (json_is_string(value) && json_string_length(value) >= PACKED_STRING) {
        fprintf(packer->to, "[-2,%lld]",
                place_of(packer, packer->strings, packer->string_of, json_string_value(value), json_incref(value)));
    } else if (json_dumpf(value, packer->to, AS_IS)) {
        packer->failed = 1;
    }
}

int rsc_page_pack(const char *json, size_t bytes, const char *key, FILE *to) {
    struct packer packer = {json_array(), json_object(), json_array(), json_object(), NULL, 0};
    char *packed = NULL;
    size_t packed_bytes = 0;
    json_t *root;
    rsc_json_read(&root, json, bytes, "page", NULL);
    packer.to = open_memstream(&packed, &packed_bytes);
    if (!root || !packer.to || !packer.shapes || !packer.shape_of || !packer.strings || !packer.string_of)
        packer.failed = 1;
    if (!packer.failed) pack(&packer, root);
    if (packer.to && fclose(packer.to)) packer.failed = 1;
    if (!packer.failed) {
        fputs("\"shapes\":", to);
        json_dumpf(packer.shapes, to, AS_IS);
        fputs(",\n\"strings\":", to);
        json_dumpf(packer.strings, to, AS_IS);
        fprintf(to, ",\n\"%s\":", key);
        fwrite(packed, 1, packed_bytes, to);
    }
    free(packed);
    json_decref(root);
    json_decref(packer.shapes);
    json_decref(packer.shape_of);
    json_decref(packer.strings);
    json_decref(packer.string_of);
    return packer.failed ? RSC_ENOMEM : 0;
}
