/*
 * emulated.cc - the whole plugin on the CPU, for tests: the same session and the
 * same kernels against emulate.h. Tiles, chunks and the table of regions are small,
 * so that small traces have many tiles, grow through all sizes of chunks, and
 * outgrow 32-bit ids.
 *
 * What the device is like is set by rsc_emulated_device(), or by the environment
 * when the plugin is loaded: RSC_EMULATED_DEVICES (-1: no driver),
 * RSC_EMULATED_MEMORY (bytes), RSC_EMULATED_FAIL_AFTER (run-time calls until the
 * device is lost).
 */
#define RSC_GPU_EMULATED
#define RSC_GPU_THREADS 64
#define RSC_GPU_ITEMS 4
#define RSC_GPU_TILE_BITS 8
#define RSC_GPU_MERGE_THREADS 64
#define RSC_GPU_HPRDA_GROUP 4096u
#define RSC_GPU_REGION_SLOT_BITS 9
#define RSC_GPU_CHUNK_FIRST 256ull
#define RSC_GPU_CHUNK_STEADY 512ull
#define RSC_GPU_CHUNK_MOST 8192ull
#include "emulate.h"

#include "compute.cu"
#include "emulated.h"
#include "hprda.cu"
#include "plugin.cu"
#include "private_stacks.cu"
#include "session.cu"

extern "C" __attribute__((visibility("default"))) void rsc_emulated_device(int devices, size_t memory_bytes, long fail_after) {
    std::lock_guard<std::mutex> turn(emulated::device_lock);
    emulated::devices = devices;
    emulated::memory_bytes = memory_bytes;
    emulated::fail_after = fail_after;
    emulated::calls = 0;
}
extern "C" __attribute__((visibility("default"))) struct rsc_emulated_use rsc_emulated_use(void) {
    std::lock_guard<std::mutex> turn(emulated::device_lock);
    return {emulated::memory_used, emulated::calls};
}

__attribute__((constructor)) static void from_environment() {
    const char *devices = getenv("RSC_EMULATED_DEVICES"), *memory = getenv("RSC_EMULATED_MEMORY");
    const char *fail_after = getenv("RSC_EMULATED_FAIL_AFTER");
    if (devices) emulated::devices = atoi(devices);
    if (memory) emulated::memory_bytes = strtoull(memory, nullptr, 10);
    if (fail_after) emulated::fail_after = atol(fail_after);
}
