/* sort.cuh - the stable sort, the running sum and running joins: CUB's on the device, the standard library's in the emulation. */
#ifndef RSC_GPU_SORT_CUH
#define RSC_GPU_SORT_CUH

#include "device.cuh"

#ifdef RSC_GPU_EMULATED
#include <algorithm>
#include <numeric>

/* As CUB: with temporary == NULL only says how many bytes it needs. */
template <class Key, class Value>
static cudaError_t sort_pairs(void *temporary, size_t *bytes, const Key *keys, Key *sorted, const Value *values,
                              Value *moved, u32 count, u32 bits, cudaStream_t) {
    if (!temporary) {
        *bytes = (size_t)count * (sizeof(Key) + sizeof(Value)) + 1;
        return cudaSuccess;
    }
    Key mask = bits >= 8 * sizeof(Key) ? ~(Key)0 : ((Key)1 << bits) - 1;
    std::vector<u32> order(count);
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [&](u32 a, u32 b) { return (keys[a] & mask) < (keys[b] & mask); });
    for (u32 i = 0; i < count; i++) {
        sorted[i] = keys[order[i]];
        moved[i] = values[order[i]];
    }
    return emulated::call();
}

static inline cudaError_t running_sum(void *temporary, size_t *bytes, const u32 *in, u32 *out, u32 count, cudaStream_t) {
    if (!temporary) {
        *bytes = 1;
        return cudaSuccess;
    }
    for (u32 i = 0, sum = 0; i < count; i++) {
        u32 here = in[i];
        out[i] = sum;
        sum += here;
    }
    return emulated::call();
}

/* values[i] = join(values[i - 1], values[i]), for an operator that is associative. */
template <class Value, class Join>
static cudaError_t running_join(void *temporary, size_t *bytes, Value *values, u32 count, Join join, cudaStream_t) {
    if (!temporary) {
        *bytes = 1;
        return cudaSuccess;
    }
    for (u32 i = 1; i < count; i++) values[i] = join(values[i - 1], values[i]);
    return emulated::call();
}
#else
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

template <class Key, class Value>
static cudaError_t sort_pairs(void *temporary, size_t *bytes, const Key *keys, Key *sorted, const Value *values,
                              Value *moved, u32 count, u32 bits, cudaStream_t stream) {
    return cub::DeviceRadixSort::SortPairs(temporary, *bytes, keys, sorted, values, moved, count, 0, (int)bits, stream);
}

static inline cudaError_t running_sum(void *temporary, size_t *bytes, const u32 *in, u32 *out, u32 count,
                                      cudaStream_t stream) {
    return cub::DeviceScan::ExclusiveSum(temporary, *bytes, in, out, count, stream);
}

template <class Value, class Join>
static cudaError_t running_join(void *temporary, size_t *bytes, Value *values, u32 count, Join join, cudaStream_t stream) {
    return cub::DeviceScan::InclusiveScan(temporary, *bytes, values, values, join, count, stream);
}
#endif

#endif
