/* variable_events.c - see variable_events.h. */
#include "collect/symbols/variable_events.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "runtime/sampler/sampler.h"
#include "trace/variable_event.h"

static int append(struct rsc_variable_events *variables, const struct rsc_event *event) {
    if (RSC_GROW(variables->events, variables->room, variables->count + 1)) return RSC_ENOMEM;
    variables->events[variables->count++] = *event;
    return 0;
}

static int announce(void *context, uint64_t start, uint64_t bytes) {
    struct rsc_variable_events *variables = context;
    if (variables->announced == RSC_VARIABLE_EVENTS_MAX) return 0;
    variables->announced++;
    struct rsc_event event = {.type = RSC_EVENT_VARIABLE, .at = variables->events[variables->count - 1].at};
    event.a = start;
    event.b = bytes;
    return append(variables, &event);
}

/* The variables of a MAP event, which is the last event so far. Its data is as trace.h has it. */
static int add_variables_of(struct rsc_variable_events *variables, const struct rsc_event *event) {
    const uint8_t *data = event->data;
    struct rsc_error ignored; /* names are missing then, as at the end */
    char path[4096];
    uint64_t offset;
    if (event->data_bytes < 9 || event->data_bytes - 9u < data[8]) return 0;
    const char *text = (const char *)data + 9 + data[8];
    size_t length = strnlen(text, event->data_bytes - 9u - data[8]);
    if (!length || *text == '[' || length >= sizeof path) return 0;
    memcpy(path, text, length);
    path[length] = 0;
    memcpy(&offset, data, sizeof offset);
    int status = rsc_symbols_add(variables->symbols, event->a, event->b, offset, path, data[8] ? data + 9 : NULL,
                                 data[8], &ignored);
    if (status == RSC_ENOMEM) return status;
    if (status) return 0;
    return rsc_symbols_large_data(variables->symbols, event->a, RSC_LARGE_VARIABLE, announce, variables);
}

/* Samples refer to the events before them by number: moves that from the old events to the new. */
static int move_samples(struct rsc_variable_events *variables, const struct rsc_batch *old) {
    struct rsc_batch_columns *columns = &variables->columns;
    const size_t count = columns->sample_count;
    uint32_t old_at = 0, new_at = 0;
    if (!count) return 0;
    free(variables->samples);
    variables->samples = reallocarray(NULL, count, sizeof *variables->samples);
    if (!variables->samples) return RSC_ENOMEM;
    memcpy(variables->samples, columns->samples, count * sizeof *variables->samples);
    columns->samples = variables->samples;
    for (size_t i = 0; i < count; i++) { /* in order */
        uint32_t upto = variables->samples[i].after_events;
        if (upto > old->event_count) upto = old->event_count;
        for (; old_at < upto; old_at++) {
            new_at++;
            while (new_at < variables->count && variables->events[new_at].type == RSC_EVENT_VARIABLE) new_at++;
        }
        variables->samples[i].after_events = new_at;
    }
    return 0;
}

int rsc_variable_events_add(struct rsc_variable_events *variables, const struct rsc_symbols_options *options,
                            const struct rsc_batch **batch, const struct rsc_batch_columns **columns) {
    const struct rsc_batch *old = *batch;
    uint32_t first = 0;
    struct rsc_error missing;
    while (first < old->event_count && old->events[first].type != RSC_EVENT_MAP) first++;
    if (first == old->event_count || variables->unavailable) return 0;
    if (!variables->symbols && rsc_symbols_new(&variables->symbols, options, &missing) < 0) {
        variables->unavailable = missing.code != RSC_ENOMEM;
        return variables->unavailable ? 0 : RSC_ENOMEM;
    }
    variables->count = 0;
    for (uint32_t i = 0; i < old->event_count; i++) {
        if (append(variables, &old->events[i]) < 0) return RSC_ENOMEM;
        if (old->events[i].type == RSC_EVENT_MAP && add_variables_of(variables, &old->events[i]) < 0) return RSC_ENOMEM;
    }
    variables->batch = *old;
    variables->batch.events = variables->events;
    variables->batch.event_count = (uint32_t)variables->count;
    *batch = &variables->batch;
    if (!*columns) return 0;
    variables->columns = **columns;
    *columns = &variables->columns;
    return move_samples(variables, old);
}

void rsc_variable_events_free(struct rsc_variable_events *variables) {
    rsc_symbols_free(variables->symbols);
    free(variables->events);
    free(variables->samples);
    *variables = (struct rsc_variable_events){0};
}
