/* plugin.cu - the C interface of distance/gpu/gpu_plugin.h around a Session; no exception leaves it. */
#include <cstdio>
#include <cstring>
#include <new>

#include <reusescope/error.h>

#include "session.h"

template <class Work> static int guarded(char *message, Work work) {
    RSC_ONE_AT_A_TIME();
    try {
        work();
        return 0;
    } catch (const Failure &failure) {
        snprintf(message, RSC_GPU_MESSAGE_BYTES, "%s", failure.message.c_str());
        return failure.code;
    } catch (const std::bad_alloc &) {
        snprintf(message, RSC_GPU_MESSAGE_BYTES, "out of memory (gpu engine)");
        return RSC_ENOMEM;
    }
}

static int open_session(void **session, const rsc_gpu_options *options, char *message) {
    *session = nullptr;
    if (options->struct_bytes != sizeof *options || !options->stack_count || options->stack_count > RSC_GPU_STACKS_MAX) {
        snprintf(message, RSC_GPU_MESSAGE_BYTES, "gpu engine: options that are not of this plugin's version");
        return RSC_EINVAL;
    }
    for (uint32_t i = 0; i < options->stack_count; i++)
        if (options->stacks[i].line_shift > 12 || (options->stacks[i].sampled && options->per_thread)) {
            snprintf(message, RSC_GPU_MESSAGE_BYTES, "gpu engine: lines of more than 4096 bytes, or a sample of threads' own stacks");
            return RSC_EINVAL;
        }
    const rsc_gpu_hprda_options &hprda = options->hprda;
    if (hprda.on && (options->stack_count > 1 || options->stacks[0].sampled || options->per_thread || options->rd_cap || hprda.local == 1 ||
                     hprda.local > 65536 || hprda.fragment > INT32_MAX || hprda.group > INT32_MAX)) {
        snprintf(message, RSC_GPU_MESSAGE_BYTES, "gpu engine: hp-rda is for one stack of all lines, local traces of 2 to 65536");
        return RSC_EINVAL;
    }
    if (options->private_stacks && (options->stack_count > 1 || options->stacks[0].sampled || options->per_thread || hprda.on)) {
        snprintf(message, RSC_GPU_MESSAGE_BYTES, "gpu engine: private stacks are of all lines of one size");
        return RSC_EINVAL;
    }
    return guarded(message, [&] { *session = new Session(*options); });
}
static Session *in_use(void *session) {
    ((Session *)session)->use();
    return (Session *)session;
}
static int reserve(void *session, uint64_t words, uint64_t lines, char *message) {
    return guarded(message, [&] { in_use(session)->reserve(words, lines); });
}
static int watch(void *session, const rsc_gpu_watch *watch, rsc_gpu_result *so_far, char *message) {
    return guarded(message, [&] { in_use(session)->watch(*watch, so_far); });
}
static int rows(void *session, rsc_gpu_rows *rows, char *message) {
    return guarded(message, [&] { in_use(session)->rows(rows); });
}
static int block(void *session, rsc_gpu_block **block, char *message) {
    return guarded(message, [&] { *block = in_use(session)->block(); });
}
static int send(void *session, rsc_gpu_block *block, size_t count, char *message) {
    return guarded(message, [&] { in_use(session)->send(block, count); });
}
static int push(void *session, const uint64_t *words, uint64_t count, char *message) {
    return guarded(message, [&] { in_use(session)->push(words, count); });
}
static int push_device(void *session, const uint64_t *words, uint64_t count, char *message) {
    return guarded(message, [&] { in_use(session)->push_device(words, count); });
}
static int finish(void *session, rsc_gpu_result *results, char *message) {
    return guarded(message, [&] { in_use(session)->finish(results); });
}
static int bounds(void *session, rsc_gpu_bounds *bounds, char *message) {
    return guarded(message, [&] { in_use(session)->bounds(bounds); });
}
static int timing(void *session, rsc_gpu_timing *timing, char *message) {
    return guarded(message, [&] { *timing = in_use(session)->timing(); });
}
static void close_session(void *session) {
    RSC_ONE_AT_A_TIME();
    delete (Session *)session;
}

extern "C" __attribute__((visibility("default"))) const rsc_gpu_plugin *rsc_gpu_plugin(void);
extern "C" const struct rsc_gpu_plugin *rsc_gpu_plugin(void) {
    static const struct rsc_gpu_plugin plugin = {
        RSC_GPU_PLUGIN_VERSION, sizeof plugin, open_session, reserve, watch, rows, block, send, push, push_device, finish, bounds, timing, close_session,
    };
    return &plugin;
}
