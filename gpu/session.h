/*
 * session.h - a stream of words through the device: memory, chunks, and the order
 * in which kernels run. plugin.cu makes the C interface of it.
 *
 * Words are copied into one of two chunk buffers while the chunk in the other is
 * computed (session.cu). A chunk is computed for each stack in turn (compute.cu):
 * lines carried from before, in order of last use, stand in front of the chunk's
 * own references, so that distances across the cut come out as all others; only
 * the chunk's own are counted.
 *
 * Nothing of a chunk is computed before all of it has been copied, and the last
 * chunk's work overlaps with nothing. So chunks are short, longer only where many
 * lines are carried (session_state.h has the measurements), and shrink towards an
 * end that is known.
 *
 * Words come in blocks of page-locked memory, which any thread fills (block()) and the
 * session's thread sends, in order: lines that a trace's decoders cut are copied once,
 * by the bus.
 *
 * Rows by kind and thread are counted on the device. Where the outcome of every reference
 * is wanted (watch()), those of a chunk are copied back and taken by the host while the
 * next chunk is computed.
 */
#ifndef RSC_GPU_SESSION_H
#define RSC_GPU_SESSION_H

#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "device.cuh"
#include "distance/gpu/gpu_plugin.h"

/* What went wrong, in one line; code is an RSC_E... */
struct Failure {
    int code;
    std::string message;
};
[[noreturn]] void fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
void check(cudaError_t status, const char *doing);
static inline void check_launch(const char *kernel) { check(cudaGetLastError(), kernel); }

/* Device memory that is freed with its owner. */
template <class T> class DeviceArray {
  public:
    DeviceArray() = default;
    DeviceArray(const DeviceArray &) = delete;
    DeviceArray &operator=(const DeviceArray &) = delete;
    ~DeviceArray() { release(); }
    void allocate(size_t elements, const char *what) {
        release();
        check(cudaMalloc(&at_, (elements ? elements : 1) * sizeof(T)), what);
        room_ = elements;
    }
    void ensure(size_t elements, const char *what) {
        if (room_ < elements) allocate(elements, what);
    }
    void release() {
        if (at_) (void)cudaFree(at_);
        at_ = nullptr;
        room_ = 0;
    }
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

struct Stack; /* what lasts from chunk to chunk; session_state.h */
struct Work;  /* work space of the kernels, shared by the stacks */
struct PassArguments;
struct Clock;
class Hprda;  /* takes the chunks instead of stacks; hprda.h */
class PrivateStacks; /* the same; private_stacks.h */

class Session {
  public:
    explicit Session(const rsc_gpu_options &options);
    ~Session();
    void use() const; /* the device, for the calling thread; before anything else */
    void reserve(u64 words, u64 lines);
    void watch(const rsc_gpu_watch &watch, rsc_gpu_result *so_far);
    void rows(rsc_gpu_rows *rows);
    rsc_gpu_block *block();
    void send(rsc_gpu_block *block, size_t count);
    void push(const u64 *words, u64 count);
    void push_device(const u64 *words, u64 count);
    void finish(rsc_gpu_result *results);
    void bounds(rsc_gpu_bounds *bounds) const;
    rsc_gpu_timing timing();

  private:
    static const u32 COPYING_MOST = 8, SLAB_BLOCKS = 16, CHUNKS = 2;
    struct Chunk {
        DeviceArray<u64> words;
        DeviceArray<u32> tags, who;
        DeviceArray<u64> bytes;
        u64 filled = 0, target = 0;
        cudaEvent_t copied, ready, consumed;
        bool waiting = false; /* copied, not yet computed */
    };
    struct Block {
        rsc_gpu_block columns; /* first: the caller has its address */
        cudaEvent_t copied;
    };
    /* Words and what comes with them, NULL where nothing does; on the host or on the device. */
    struct Words {
        const u64 *words;
        const u32 *tags, *who;
        const u64 *bytes;
        Words after(u64 count) const {
            return {words + count, tags ? tags + count : nullptr, who ? who + count : nullptr,
                    bytes ? bytes + count : nullptr};
        }
    };
    /* Outcomes of a round, page-locked. */
    struct Found {
        u32 *rd = nullptr, *last_tag = nullptr;
        u64 *ri = nullptr;
        u32 room = 0, count = 0; /* count: waiting to be taken */
        cudaEvent_t copied;
    };

    /* session.cu */
    void add_blocks(bool tags);
    Block *take_block(bool &copying);
    void release();
    void open_device();
    void begin();
    u64 next_target(u64 coming) const;
    void make_room(Chunk &chunk);
    void copy_words(Words from, u64 count, bool all_there);
    void compute_all();
    void results(rsc_gpu_result *results);
    void make_found(Found &found, u32 count);
    void take_found(Found &found);
    u64 word_bytes() const {
        return sizeof(u64) + (watch_.tags ? sizeof(u32) : 0) + (has_who() ? sizeof(u32) : 0) +
               (private_ ? sizeof(u64) : 0);
    }
    bool has_who() const { return watch_.rows || private_; }
    void chunk_is_full();
    void compute_waiting(Chunk &chunk);
    void phase(u32 number);

    /* compute.cu */
    void prepare_kernels();
    void make_stacks();
    void look_for_regions(const u64 *words, u64 count);
    void compute(Words words, u64 count, cudaEvent_t consumed);
    bool stacks_with_samples() const;
    u64 bytes_per_position(bool wide) const;
    u64 bytes_per_line(bool wide) const;
    u64 round_words(const Stack &stack, u64 wanted);
    void ensure_work(u32 total, bool wide);
    void widen(Stack &stack);
    u32 keep_sample(Stack &stack, const u64 *words, u32 count);
    template <class Id> void order_by_thread(Stack &stack, u32 total, Id *ids);
    template <class Id>
    void compute_round(Stack &stack, const Words &from, const u64 *times, u32 count, cudaEvent_t consumed);
    void count_rows_of(const u32 *who, u32 carried, u32 total);
    void copy_outcomes(u32 carried, u32 total, const Clock &clock);
    void find_previous(u32 total);
    void count_distances(Stack &stack, u32 first, u32 total);
    template <u32 BITS> void launch_pass(bool first, PassArguments &arguments);

    rsc_gpu_options options_;
    std::string device_name_;
    u32 processors_ = 1;
    u64 shared_bytes_ = 0; /* of shared memory, for a block of threads */
    bool begun_ = false;
    size_t budget_ = 0; /* bytes of device memory we may use */
    u64 chunk_words_ = 0, block_words_ = 0, chunks_begun_ = 0;
    cudaStream_t copy_stream_, look_stream_, compute_stream_, found_stream_;
    cudaEvent_t outcomes_made_;
    std::vector<cudaEvent_t> events_; /* all, to destroy */
    std::vector<cudaStream_t> streams_;
    Chunk chunks_[CHUNKS];
    std::mutex lock_; /* for what any thread may touch: begin(), and the blocks */
    std::vector<Block *> blocks_;
    std::deque<Block *> copying_; /* the oldest first */
    std::deque<Block *> unused_;
    std::vector<void *> slabs_; /* of page-locked memory */
    std::mutex adding_;         /* held while blocks are added, before lock_ */
    Found found_[2];
    rsc_gpu_watch watch_{};      /* neither rows nor take: none */
    DeviceArray<unsigned long long> rows_; /* struct rsc_gpu_rows */
    u32 filling_ = 0, next_found_ = 0;
    std::vector<Stack *> stacks_;
    Work *work_ = nullptr;
    Hprda *hprda_ = nullptr;
    PrivateStacks *private_ = nullptr;
    u32 *host_counts_ = nullptr; /* page-locked: last uses, reuses, kept; regions of each stack */
    std::vector<cudaEvent_t> marks_; /* timing: phase events in order */
    std::vector<u32> mark_phases_;
    rsc_gpu_timing timing_{};
};

#endif
