/*
 * session.h - a stream of words through the device: memory, chunks, and the order
 * in which kernels run. plugin.cu makes the C interface of it.
 *
 * Words are copied into one of two chunk buffers while the chunk in the other is
 * computed. A chunk is computed for each line size in turn (a Stack each): lines
 * carried from before, in order of last use, stand in front of the chunk's own
 * references, so that distances across the cut come out as all others; only the
 * chunk's own are counted.
 */
#ifndef RSC_GPU_SESSION_H
#define RSC_GPU_SESSION_H

#include <string>
#include <vector>

#include "device.cuh"
#include "distance/gpu_plugin.h"

/* What went wrong, in one line; code is an RSC_E... */
struct Failure {
    int code;
    std::string message;
};

/* Device memory that is freed with its owner. Counts itself into *used. */
template <class T> class DeviceArray {
  public:
    DeviceArray() = default;
    DeviceArray(const DeviceArray &) = delete;
    DeviceArray &operator=(const DeviceArray &) = delete;
    ~DeviceArray() { release(); }
    void allocate(size_t elements, const char *what);
    void release();
    void swap(DeviceArray &other) {
        std::swap(at_, other.at_);
        std::swap(room_, other.room_);
    }
    T *at() const { return at_; }
    size_t room() const { return room_; }

  private:
    T *at_ = nullptr;
    size_t room_ = 0;
};

struct Stack;         /* one line size: what lasts from chunk to chunk */
struct Work;          /* work space of the kernels, shared by the line sizes */
struct PassArguments;

class Session {
  public:
    explicit Session(const rsc_gpu_options &options);
    ~Session();
    void reserve(u64 words, u64 lines);
    void buffer(u64 **words, size_t *room);
    void commit(size_t count);
    void push(const u64 *words, u64 count);
    void push_device(const u64 *words, u64 count);
    void finish(rsc_gpu_result *results);
    rsc_gpu_timing timing();

  private:
    static const u32 PIECES = 4, CHUNKS = 2, PHASES = 8;
    struct Chunk {
        DeviceArray<u64> words;
        u64 filled = 0;
        cudaEvent_t copied, ready, consumed;
        bool waiting = false; /* copied, not yet computed */
    };
    struct Piece {
        u64 *words = nullptr;
        cudaEvent_t copied;
    };

    void release();
    void open_device();
    void choose_chunk();
    void make_stacks();
    void copy_words(const u64 *words, u64 count);
    void chunk_is_full();
    void look_for_regions(const u64 *words, u64 count);
    void compute_waiting(Chunk &chunk);
    void compute(const u64 *words, u64 count, cudaEvent_t consumed);
    u64 round_words(const Stack &stack, u64 wanted);
    void ensure_work(u32 total, bool wide);
    void widen(Stack &stack);
    template <class Id> void compute_round(Stack &stack, const u64 *words, u32 count, cudaEvent_t consumed);
    void count_distances(Stack &stack, u32 first, u32 total);
    template <u32 BITS> void launch_pass(bool first, PassArguments &arguments);
    void phase(u32 number);

    rsc_gpu_options options_;
    std::string device_name_;
    u32 processors_ = 1;
    size_t budget_ = 0; /* bytes of device memory we may use */
    u64 chunk_words_ = 0, piece_words_ = 0;
    cudaStream_t copy_stream_, look_stream_, compute_stream_;
    std::vector<cudaEvent_t> events_; /* all, to destroy */
    bool streams_made_ = false;
    Chunk chunks_[CHUNKS];
    Piece pieces_[PIECES];
    u32 filling_ = 0, next_piece_ = 0;
    std::vector<Stack *> stacks_;
    Work *work_ = nullptr;
    u32 *host_counts_ = nullptr; /* page-locked: last uses, reuses; regions of each stack */
    std::vector<cudaEvent_t> marks_; /* timing: phase events in order */
    std::vector<u32> mark_phases_;
    rsc_gpu_timing timing_{};
    u64 copies_timed_ = 0;
};

#endif
