/* plugin.cu - the C interface of distance/gpu_plugin.h around a Session; no exception leaves it. */
#include <cstdio>
#include <cstring>
#include <new>

#include <reusescope/error.h>

#include "session.h"

template <class Work> static int guarded(char *message, Work work) {
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
    if (options->struct_bytes != sizeof *options || !options->line_count || options->line_count > RSC_GPU_LINE_SIZES_MAX) {
        snprintf(message, RSC_GPU_MESSAGE_BYTES, "gpu: options that are not of this plugin's version");
        return RSC_EINVAL;
    }
    return guarded(message, [&] { *session = new Session(*options); });
}
static int reserve(void *session, uint64_t words, uint64_t lines, char *message) {
    return guarded(message, [&] { ((Session *)session)->reserve(words, lines); });
}
static int get_buffer(void *session, uint64_t **words, size_t *room, char *message) {
    return guarded(message, [&] { ((Session *)session)->buffer(words, room); });
}
static int commit(void *session, size_t count, char *message) {
    return guarded(message, [&] { ((Session *)session)->commit(count); });
}
static int push(void *session, const uint64_t *words, uint64_t count, char *message) {
    return guarded(message, [&] { ((Session *)session)->push(words, count); });
}
static int push_device(void *session, const uint64_t *words, uint64_t count, char *message) {
    return guarded(message, [&] { ((Session *)session)->push_device(words, count); });
}
static int finish(void *session, rsc_gpu_result *results, char *message) {
    return guarded(message, [&] { ((Session *)session)->finish(results); });
}
static int timing(void *session, rsc_gpu_timing *timing, char *message) {
    return guarded(message, [&] { *timing = ((Session *)session)->timing(); });
}
static void close_session(void *session) { delete (Session *)session; }

extern "C" __attribute__((visibility("default"))) const rsc_gpu_plugin *rsc_gpu_plugin(void);
extern "C" const struct rsc_gpu_plugin *rsc_gpu_plugin(void) {
    static const struct rsc_gpu_plugin plugin = {
        RSC_GPU_PLUGIN_VERSION, sizeof plugin, open_session, reserve, get_buffer, commit, push, push_device, finish, timing, close_session,
    };
    return &plugin;
}
