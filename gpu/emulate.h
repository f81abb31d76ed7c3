/*
 * emulate.h - enough of CUDA on the CPU to run the kernels of this folder.
 *
 * A block's threads are fibers with stacks of their own; a barrier or a warp vote
 * hands the processor to the next fiber until everyone it waits for has come.
 * Blocks run one after the other, in order. A round in which no fiber gets
 * further is a barrier that not all threads reach: the program says so and aborts.
 * Dynamic shared memory is filled with rubbish before each block, and memory
 * calls are malloc and memcpy, so that the sanitizers of the host see overruns.
 */
#ifndef RSC_GPU_EMULATE_H
#define RSC_GPU_EMULATE_H

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>
#if !defined(__x86_64__)
#include <ucontext.h>
#endif

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __shared__ static
#define __align__(n) __attribute__((aligned(n)))

struct uint2 {
    uint32_t x, y;
};
struct uint4 {
    uint32_t x, y, z, w;
};
static inline uint2 make_uint2(uint32_t x, uint32_t y) { return uint2{x, y}; }
static inline uint4 make_uint4(uint32_t x, uint32_t y, uint32_t z, uint32_t w) { return uint4{x, y, z, w}; }

namespace emulated {

struct Index {
    unsigned x;
};
inline Index thread_index, block_index, block_size, grid_size;

const unsigned THREADS_MAX = 1024, WARP_LANES = 32;
const size_t STACK_BYTES = 256 << 10, SHARED_BYTES_MAX = 228 << 10;

#if defined(__x86_64__)
typedef void *Context;
extern "C" void rsc_emulated_switch(Context *from, Context to);
/* in one file of a program only */
asm(".text\n.globl rsc_emulated_switch\n.type rsc_emulated_switch,@function\nrsc_emulated_switch:\n"
    "pushq %rbp\npushq %rbx\npushq %r12\npushq %r13\npushq %r14\npushq %r15\n"
    "movq %rsp,(%rdi)\nmovq %rsi,%rsp\n"
    "popq %r15\npopq %r14\npopq %r13\npopq %r12\npopq %rbx\npopq %rbp\nret\n");
#else
typedef ucontext_t Context;
#endif

struct Warp {
    uint64_t slot[2][WARP_LANES]; /* values of the vote in progress, and of the one before */
    unsigned arrived;
    uint64_t votes;
};

inline Context scheduler, fibers[THREADS_MAX];
inline bool done[THREADS_MAX];
inline unsigned alive, at_barrier;
inline uint64_t barriers, progress, seen_progress;
inline unsigned idle_rounds;
inline Warp warps[THREADS_MAX / WARP_LANES];
inline std::vector<std::unique_ptr<unsigned char[]>> stacks;
alignas(16) inline unsigned char shared[SHARED_BYTES_MAX];
inline const std::function<void()> *body;
inline std::mutex device_lock;

inline void jump(Context *from, Context *to) {
#if defined(__x86_64__)
    rsc_emulated_switch(from, *to);
#else
    swapcontext(from, to);
#endif
}

/* To the next thread that has not returned; the last one to return goes back to launch(). */
inline void yield_from(unsigned self) {
    unsigned next = self;
    do {
        next = next + 1 == block_size.x ? 0 : next + 1;
        if (next == 0) {
            if (progress == seen_progress && ++idle_rounds > 2) {
                fprintf(stderr, "emulated kernel: a barrier that not all threads reach\n");
                abort();
            }
            if (progress != seen_progress) idle_rounds = 0;
            seen_progress = progress;
        }
    } while (done[next]);
    if (next == self) return;
    thread_index.x = next;
    jump(&fibers[self], &fibers[next]);
}

inline void fiber_main() {
    (*body)();
    unsigned self = thread_index.x;
    done[self] = true;
    progress++;
    if (--alive == 0) jump(&fibers[self], &scheduler);
    yield_from(self);
    abort(); /* nobody comes back to a thread that returned */
}

inline void sync_threads() {
    unsigned self = thread_index.x;
    uint64_t generation = barriers;
    progress++;
    if (++at_barrier == block_size.x) {
        at_barrier = 0;
        barriers++;
        return;
    }
    while (barriers == generation) yield_from(self);
}

/* All lanes give a value; the slots hold everyone's until the lanes' next vote but one. */
inline const uint64_t *vote(uint64_t value) {
    unsigned self = thread_index.x;
    Warp *warp = &warps[self / WARP_LANES];
    uint64_t generation = warp->votes;
    uint64_t *slot = warp->slot[generation & 1];
    slot[self % WARP_LANES] = value;
    progress++;
    if (++warp->arrived == WARP_LANES) {
        warp->arrived = 0;
        warp->votes++;
    } else {
        while (warp->votes == generation) yield_from(self);
    }
    return slot;
}

inline void launch(unsigned grid, unsigned threads, size_t shared_bytes, const std::function<void()> &kernel) {
    if (!threads || threads > THREADS_MAX || threads % WARP_LANES || shared_bytes > SHARED_BYTES_MAX) {
        fprintf(stderr, "emulated kernel: %u threads, %zu bytes\n", threads, shared_bytes);
        abort();
    }
    while (stacks.size() < threads) stacks.emplace_back(new unsigned char[STACK_BYTES]);
    body = &kernel;
    block_size.x = threads;
    grid_size.x = grid;
    for (unsigned block = 0; block < grid; block++) {
        block_index.x = block;
        memset(shared, 0xa5, shared_bytes);
        alive = threads;
        at_barrier = idle_rounds = 0;
        seen_progress = progress;
        for (Warp &warp : warps) warp.arrived = 0;
        for (unsigned t = 0; t < threads; t++) {
            done[t] = false;
#if defined(__x86_64__)
            uint64_t top = ((uint64_t)(stacks[t].get() + STACK_BYTES) & ~15ull) - 8;
            uint64_t *frame = (uint64_t *)top;
            *frame-- = 0;
            *frame-- = (uint64_t)fiber_main;
            for (int i = 0; i < 6; i++) *frame-- = 0;
            fibers[t] = frame + 1;
#else
            getcontext(&fibers[t]);
            fibers[t].uc_stack.ss_sp = stacks[t].get();
            fibers[t].uc_stack.ss_size = STACK_BYTES;
            fibers[t].uc_link = nullptr;
            makecontext(&fibers[t], fiber_main, 0);
#endif
        }
        thread_index.x = 0;
        jump(&scheduler, &fibers[0]);
    }
    body = nullptr;
}

} // namespace emulated

#define threadIdx emulated::thread_index
#define blockIdx emulated::block_index
#define blockDim emulated::block_size
#define gridDim emulated::grid_size
#define RSC_LAUNCH(kernel, grid, threads, shared_bytes, stream, ...) \
    emulated::launch((grid), (threads), (shared_bytes), [&] { kernel(__VA_ARGS__); })
#define RSC_SHARED_MEMORY(name) unsigned char *const name = emulated::shared
#define RSC_PAUSE() emulated::yield_from(threadIdx.x)
#define RSC_ONE_AT_A_TIME() std::lock_guard<std::mutex> turn(emulated::device_lock)

static inline void __syncthreads() { emulated::sync_threads(); }
static inline void __syncwarp() { emulated::vote(0); }
static inline uint32_t __ballot_sync(uint32_t, int predicate) {
    const uint64_t *slot = emulated::vote(predicate != 0);
    uint32_t mask = 0;
    for (unsigned i = 0; i < 32; i++) mask |= (uint32_t)slot[i] << i;
    return mask;
}
static inline int __all_sync(uint32_t mask, int predicate) { return __ballot_sync(mask, predicate) == 0xffffffffu; }
static inline uint32_t __shfl_sync(uint32_t, uint32_t value, unsigned lane) {
    return (uint32_t)emulated::vote(value)[lane % 32];
}
static inline uint32_t __shfl_up_sync(uint32_t, uint32_t value, unsigned by) {
    unsigned lane = threadIdx.x % 32;
    const uint64_t *slot = emulated::vote(value);
    return lane >= by ? (uint32_t)slot[lane - by] : value;
}
static inline uint32_t __shfl_down_sync(uint32_t, uint32_t value, unsigned by) {
    unsigned lane = threadIdx.x % 32;
    const uint64_t *slot = emulated::vote(value);
    return lane + by < 32 ? (uint32_t)slot[lane + by] : value;
}
static inline int __popc(uint32_t x) { return __builtin_popcount(x); }
static inline int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
static inline int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
static inline void __threadfence() {}
template <class T> static inline T atomicAdd(T *at, T by) {
    T old = *at;
    *at = (T)(old + by);
    return old;
}
template <class T> static inline T atomicMax(T *at, T by) {
    T old = *at;
    if (by > old) *at = by;
    return old;
}
template <class T> static inline T atomicOr(T *at, T by) {
    T old = *at;
    *at = (T)(old | by);
    return old;
}
template <class T> static inline T atomicCAS(T *at, T expected, T wanted) {
    T old = *at;
    if (old == expected) *at = wanted;
    return old;
}
template <class T> static inline T __ldg(const T *at) { return *at; }

/* ---- the run-time library: everything happens at once ---- */

typedef int cudaError_t;
typedef int cudaStream_t;
typedef int cudaEvent_t;
enum { cudaSuccess = 0, cudaErrorMemoryAllocation = 2, cudaErrorNoDevice = 100, cudaErrorInsufficientDriver = 35 };
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
enum {
    cudaStreamNonBlocking = 1,
    cudaEventDefault = 0,
    cudaEventBlockingSync = 1,
    cudaEventDisableTiming = 2,
    cudaHostAllocDefault = 0
};
enum { cudaFuncAttributeMaxDynamicSharedMemorySize = 8 };
struct cudaDeviceProp {
    char name[64];
    int multiProcessorCount;
    int major, minor;
    size_t sharedMemPerBlockOptin;
};

namespace emulated {
inline size_t memory_bytes = (size_t)1 << 30, memory_used; /* a test may make it small */
inline long fail_after = -1; /* calls until one fails, and all after it, as a lost device's do; -1: none does */
inline int devices = 1;      /* -1: no driver */
inline long calls;
inline cudaError_t call() {
    calls++;
    if (fail_after > 0) fail_after--;
    return fail_after == 0 ? 719 : cudaSuccess;
}
} // namespace emulated

static inline const char *cudaGetErrorString(cudaError_t e) {
    return e == cudaErrorMemoryAllocation ? "out of memory" : e ? "unspecified launch failure" : "no error";
}
template <class T> static inline cudaError_t cudaMalloc(T **out, size_t bytes) {
    if (emulated::memory_used + bytes > emulated::memory_bytes) return cudaErrorMemoryAllocation;
    size_t *block = (size_t *)malloc(bytes + 32);
    if (!block) return cudaErrorMemoryAllocation;
    block[0] = bytes;
    memset(block + 4, 0xa5, bytes);
    cudaError_t status = emulated::call();
    if (status) {
        free(block);
        return status;
    }
    emulated::memory_used += bytes;
    *out = (T *)(block + 4);
    return cudaSuccess;
}
static inline cudaError_t cudaFree(void *at) {
    if (!at) return cudaSuccess;
    size_t *block = (size_t *)at - 4;
    emulated::memory_used -= block[0];
    free(block);
    return cudaSuccess;
}
template <class T> static inline cudaError_t cudaHostAlloc(T **out, size_t bytes, unsigned) {
    cudaError_t status = emulated::call();
    if (!status) *out = (T *)malloc(bytes + 1);
    return status ? status : *out ? cudaSuccess : (cudaError_t)cudaErrorMemoryAllocation;
}
static inline cudaError_t cudaFreeHost(void *at) {
    free(at);
    return cudaSuccess;
}
static inline cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total) {
    *free_bytes = emulated::memory_bytes - emulated::memory_used;
    *total = emulated::memory_bytes;
    return emulated::call();
}
static inline cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind, cudaStream_t) {
    memmove(to, from, bytes);
    return emulated::call();
}
static inline cudaError_t cudaMemsetAsync(void *at, int value, size_t bytes, cudaStream_t) {
    memset(at, value, bytes);
    return emulated::call();
}
static inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t *s, unsigned) {
    *s = 0;
    return emulated::call();
}
static inline cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
static inline cudaError_t cudaStreamSynchronize(cudaStream_t) { return emulated::call(); }
static inline cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) { return emulated::call(); }
static inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t *e, unsigned) {
    *e = 1;
    return emulated::call();
}
static inline cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }
static inline cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) { return emulated::call(); }
static inline cudaError_t cudaEventSynchronize(cudaEvent_t) { return emulated::call(); }
static inline cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t, cudaEvent_t) {
    *ms = 0;
    return cudaSuccess;
}
static inline cudaError_t cudaGetLastError() { return emulated::call(); }
static inline cudaError_t cudaSetDevice(int device) { return device < emulated::devices ? emulated::call() : 101; }
static inline cudaError_t cudaGetDeviceCount(int *count) {
    if (emulated::devices < 0) return cudaErrorInsufficientDriver;
    *count = emulated::devices;
    return emulated::devices ? emulated::call() : (cudaError_t)cudaErrorNoDevice;
}
static inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int) {
    *properties = cudaDeviceProp{"the CPU, emulating", 2, 0, 0, 48 << 10}; /* not enough for all rows of rows.cuh */
    return cudaSuccess;
}
template <class F> static inline cudaError_t cudaFuncSetAttribute(F *, int, int) { return emulated::call(); }

#endif
