/* collectors.c - the table of collectors, and the code they share; see collector.h. */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fail.h"
#include "collect/collector.h"

#define AUTO "auto"

const struct rsc_collector_kind *const rsc_collector_kinds[] = {
    &rsc_collector_rebuilt, &rsc_collector_valgrind, &rsc_collector_qemu, &rsc_collector_perf, NULL,
};

int rsc_collector_parse(const char *name, const struct rsc_collector_kind **kind) {
    *kind = NULL;
    if (!strcmp(name, AUTO)) return 0;
    for (size_t i = 0; rsc_collector_kinds[i]; i++)
        if (!strcmp(rsc_collector_kinds[i]->name, name)) *kind = rsc_collector_kinds[i];
    return *kind ? 0 : -1;
}

void rsc_collector_names(char *text, size_t room, const char *between) {
    int used = snprintf(text, room, "%s", AUTO);
    for (size_t i = 0; rsc_collector_kinds[i] && (size_t)used < room; i++)
        used += snprintf(text + used, room - (size_t)used, "%s%s", between, rsc_collector_kinds[i]->name);
}

int rsc_collector_choose(const struct rsc_collector_kind **kind, const struct rsc_collect_request *request,
                         struct rsc_error *error) {
    int status = RSC_EUNSUPPORTED;
    for (size_t i = 0; status < 0 && rsc_collector_kinds[i]; i++) {
        if (rsc_collector_kinds[i]->only_by_name) continue;
        *kind = rsc_collector_kinds[i];
        status = (*kind)->check(request, error);
    }
    return status;
}

void rsc_collector_init(struct rsc_collector *collector, const struct rsc_collector_kind *kind,
                        const struct rsc_collect_request *request) {
    *collector = (struct rsc_collector){.kind = kind, .request = request, .launch = {.ring_fd = -1, .log_fd = -1}};
}

int rsc_collector_start(struct rsc_collector *collector, struct rsc_error *error) {
    assert(rsc_collector_gives(collector->kind, collector->request->wanted.what));
    int status = rsc_launch_open(&collector->launch, error);
    if (status < 0) return status;
    collector->launch.ring->unread = (uint64_t)collector->request->unread;
    return collector->kind->start(collector, error);
}

int rsc_collector_ended_first(const struct rsc_collector *collector) {
    const struct rsc_launch *launch = &collector->launch;
    return launch->pid > 0 && !launch->running && launch->ring && !launch->ring->images && WIFSIGNALED(launch->status);
}

void rsc_collector_let_run(struct rsc_collector *collector) {
    if (!collector->launch.running) return;
    __atomic_store_n(&collector->launch.ring->detached, 1, __ATOMIC_RELEASE);
    if (collector->launch.attached) return; /* it runs on by itself */
    while (!rsc_launch_poll(&collector->launch)) usleep(2000);
}

void rsc_collector_close(struct rsc_collector *collector) {
    if (collector->kind) collector->kind->close(collector);
    rsc_launch_close(&collector->launch);
}

void rsc_facts_add(struct rsc_run_facts *facts, const char *format, ...) {
    va_list arguments;
    size_t room = sizeof facts->text - facts->used;
    va_start(arguments, format);
    int wrote = vsnprintf(facts->text + facts->used, room, format, arguments);
    va_end(arguments);
    if (wrote < 0 || (size_t)wrote + 2 > room) {
        facts->text[facts->used] = 0; /* no room: the line is dropped */
        return;
    }
    facts->used += (size_t)wrote;
    facts->text[facts->used++] = '\n';
    facts->text[facts->used] = 0;
}

double rsc_collector_cpu_seconds(const struct rsc_collector *collector) {
    return rsc_usage_seconds(&collector->launch.usage);
}
