/* rebuilt_launch.c - see rebuilt_launch.h. */
#include "collect/launch/rebuilt_launch.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "runtime/watch/perf_group.h"

#define SAMPLES_LEAST 20u /* samples of the program counter: fewer are too few for a share */

void rsc_rebuilt_prepare(struct rsc_launch *launch, const struct rsc_collect_request *request) {
    const struct rsc_wanted *wanted = &request->wanted;
    struct rsc_ring *ring = launch->ring;
    ring->rebuilt = 1;
    if (wanted->line_bytes) ring->keep_shift = (uint64_t)__builtin_ctz(wanted->line_bytes);
    if (wanted->what == RSC_TAKES_LINES) {
        ring->keep_lines = 1;
        ring->keep_limit = wanted->lines.limit;
        ring->keep_offset = wanted->lines.offset;
    } else if (wanted->what == RSC_TAKES_SAMPLES) {
        ring->sampled = 1;
        ring->sampler = wanted->samples.sampler;
        ring->sampler.cores = rsc_launch_cores();
        ring->sampler_planned = wanted->samples.doubles_at;
    } else if (wanted->what == RSC_TAKES_PAIRS) {
        ring->watch.period = wanted->pairs.period;
        ring->watch.rate = wanted->pairs.rate;
        ring->watch.seed = request->seed;
        ring->watch.registers = wanted->pairs.registers;
        ring->watch.lines = (uint32_t)wanted->pairs.whole_lines;
        ring->watch.frames = wanted->pairs.call_paths ? RSC_WATCH_FRAMES : 0;
    }
}

/* The kernel starts the interpreter of a script itself. */
static const char *file_of(const struct rsc_target *target) {
    return target->script[0] ? target->script : target->path;
}

int rsc_rebuilt_launch(struct rsc_launch *launch, const struct rsc_collect_request *request, struct rsc_error *error) {
    char told[512];
    const char *plain = getenv("REUSESCOPE_TEST_PLAIN_CODE"); /* for tests of code for processors without AVX-512 */
    snprintf(told, sizeof told, "ring=%d,follow=%d,skip=%llu,marked=%d,samples=%d,watch=%d,plain=%d", launch->ring_fd,
             request->follow, (unsigned long long)request->skip, request->roi_marked,
             !getenv("REUSESCOPE_TEST_NO_SAMPLES"), /* for tests that must not be interrupted by a signal */
             request->wanted.what == RSC_TAKES_PAIRS, plain && plain[0] == '1');
    struct rsc_launch_command command = {.path = file_of(request->target),
                                         .words = (char **)request->command,
                                         .environment = {{RSC_ASM_ENVIRONMENT, told}}};
    return rsc_launch_start(launch, &command, error);
}

int rsc_plain_launch(struct rsc_launch *launch, const struct rsc_collect_request *request,
                     const struct rsc_perf_pmu *pmu, struct rsc_error *error) {
    char told[512], path[PATH_MAX], preload[2 * PATH_MAX + 64];
    const char *library = rsc_launch_own_file("libreusescope-perf.so", path), *also = getenv("LD_PRELOAD");
    struct rsc_perf_events events;
    rsc_perf_events_of(pmu, &events);
    if (!library || strpbrk(library, ": "))
        return rsc_fail(error, RSC_EUNSUPPORTED,
                        library ? "libreusescope-perf.so is in a folder whose name has a space or a colon"
                                : "libreusescope-perf.so is missing beside the tool: build it again (make)");
    snprintf(preload, sizeof preload, "%s%s%.*s", library, also && *also ? ":" : "", PATH_MAX, also ? also : "");
    snprintf(
        told, sizeof told,
        "ring=%d,follow=%d,ibs=%d,latency=%d,type=%u,loads=%llu,stores=%llu,leader=%llu,config1=%llu,config2=%llu,precise=%d,exclude=%d",
        launch->ring_fd, request->follow, events.layouts.layout == RSC_PERF_AMD_IBS, events.layouts.has_weight,
        events.type, (unsigned long long)events.loads, (unsigned long long)events.stores,
        (unsigned long long)events.leader, (unsigned long long)events.config1, (unsigned long long)events.config2,
        events.precise, events.exclude);
    struct rsc_launch_command command = {.path = file_of(request->target),
                                         .words = (char **)request->command,
                                         .environment = {{"LD_PRELOAD", preload}, {RSC_PERF_ENVIRONMENT, told}}};
    return rsc_launch_start(launch, &command, error);
}

double rsc_rebuilt_coverage(const struct rsc_ring *ring) {
    uint64_t samples = ring->samples, unseen = ring->samples_unseen; /* read once: the program can overwrite them */
    return samples >= SAMPLES_LEAST && unseen <= samples ? 1 - (double)unseen / (double)samples : NAN;
}
