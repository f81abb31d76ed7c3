/* interleave.c - names and parameters of interleavings; loops_model.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "loops/model/interleave.h"

static const char *const names[RSC_INTERLEAVE_KINDS] = {
    [RSC_INTERLEAVE_DRIFT] = "drift",         [RSC_INTERLEAVE_IID] = "iid",
    [RSC_INTERLEAVE_LOCKSTEP] = "lockstep",   [RSC_INTERLEAVE_BURSTY] = "bursty",
    [RSC_INTERLEAVE_RACETRACK] = "racetrack",
};

int rsc_interleave_parse(struct rsc_interleave *out, const char *text, struct rsc_error *error) {
    size_t length = strcspn(text, ":");
    const char *number = text[length] ? text + length + 1 : NULL;
    for (int kind = 0; kind < RSC_INTERLEAVE_KINDS; kind++) {
        if (strlen(names[kind]) != length || memcmp(names[kind], text, length)) continue;
        *out = (struct rsc_interleave){.kind = kind, .burst = RSC_BURST_DEFAULT, .diffusion = RSC_DIFFUSION_DEFAULT};
        if (!number) return 0;
        if (kind == RSC_INTERLEAVE_DRIFT && !strcmp(number, "recorded")) {
            out->diffusion = RSC_DIFFUSION_RECORDED;
            return 0;
        }
        char *end;
        double value = strtod(number, &end);
        if ((kind != RSC_INTERLEAVE_BURSTY && kind != RSC_INTERLEAVE_DRIFT) || end == number || *end) break;
        if (kind == RSC_INTERLEAVE_BURSTY && !(value >= 1 && value <= 1e12))
            return rsc_fail(error, RSC_EINVAL, "interleaving '%.60s': bursts are of 1 to 1e12 references", text);
        if (kind == RSC_INTERLEAVE_DRIFT && !(value >= 0 && value <= 1e12))
            return rsc_fail(error, RSC_EINVAL, "interleaving '%.60s': diffusion is from 0 to 1e12 references", text);
        if (kind == RSC_INTERLEAVE_BURSTY) out->burst = value;
        else out->diffusion = value;
        return 0;
    }
    return rsc_fail(
        error, RSC_EINVAL,
        "interleaving '%.60s': not drift, drift:DIFFUSION, drift:recorded, iid, lockstep, bursty:LENGTH or racetrack",
        text);
}

const char *rsc_interleave_name(const struct rsc_interleave *interleave, char *text, size_t text_bytes) {
    const char *name = names[interleave->kind];
    if (interleave->kind == RSC_INTERLEAVE_BURSTY) snprintf(text, text_bytes, "%s:%g", name, interleave->burst);
    else if (interleave->kind == RSC_INTERLEAVE_DRIFT && interleave->diffusion != RSC_DIFFUSION_DEFAULT)
        snprintf(text, text_bytes, "%s:%g", name, interleave->diffusion);
    else snprintf(text, text_bytes, "%s", name);
    return text;
}
