/* engine_spec.c - see engine_spec.h. */
#include "engine/engine_spec.h"

#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/key_values.h"

static int refuse(const char *text, struct rsc_error *error) {
    char names[500] = "";
    size_t used = 0;
    for (size_t i = 0; rsc_engine_kinds[i] && used < sizeof names; i++) {
        const char *parameter = rsc_engine_kinds[i]->parameter;
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s%s", i ? ", " : "", rsc_engine_kinds[i]->name,
                                 parameter ? parameter : "");
    }
    return rsc_fail(error, RSC_EINVAL, "engine '%.40s': not one of %s", text, names);
}

int rsc_engine_spec_parse(struct rsc_engine_spec *spec, const char *text, struct rsc_error *error) {
    if (!text) text = "auto";
    size_t length = strcspn(text, ":");
    const char *parameter = text[length] ? text + length + 1 : NULL;
    *spec = (struct rsc_engine_spec){0};
    for (size_t i = 0; !spec->kind && rsc_engine_kinds[i]; i++)
        if (rsc_is_word(text, length, rsc_engine_kinds[i]->name)) spec->kind = rsc_engine_kinds[i];
    for (const struct rsc_engine_alias *alias = rsc_engine_aliases; !spec->kind && alias->name; alias++)
        if (rsc_is_word(text, length, alias->name)) {
            spec->kind = alias->kind;
            parameter = text; /* the alias is the first parameter */
        }
    if (!spec->kind) return refuse(text, error);
    if (spec->kind->parse) return spec->kind->parse(spec->parameters, parameter, error);
    if (parameter) return rsc_fail(error, RSC_EINVAL, "engine '%.40s': %s takes no parameter", text, spec->kind->name);
    return 0;
}

void *rsc_engine_spec_of(const struct rsc_engine_spec *spec, const struct rsc_engine_kind *kind) {
    return spec->kind == kind ? (void *)(uintptr_t)spec->parameters : NULL;
}

int rsc_engine_spec_is_exact(const struct rsc_engine_spec *spec) {
    return spec->kind == &rsc_engine_exact || spec->kind == &rsc_engine_auto;
}
