/*
 * private_stacks.h - stacks that take lines from each other: what takes a Session's chunks instead of its stacks. The
 * kernels and the idea are in private_stacks.cuh.
 *
 * Between chunks the device keeps every pair of a stack and a line it used: the line's place in the stack, or who took it;
 * and the holes. Outcomes of a chunk, with what writes took from other stacks, are handed over while the next one is
 * computed.
 */
#ifndef RSC_GPU_PRIVATE_STACKS_H
#define RSC_GPU_PRIVATE_STACKS_H

#include "private_stacks_types.cuh"
#include "session.h"

/* A page-locked array that is freed with its owner. */
template <class T> class HostArray {
  public:
    HostArray() = default;
    HostArray(const HostArray &) = delete;
    HostArray &operator=(const HostArray &) = delete;
    ~HostArray() { release(); }
    void ensure(size_t elements) {
        if (elements <= room_) return;
        release();
        check(cudaHostAlloc(&at_, elements * sizeof(T), cudaHostAllocDefault), "page-locked memory");
        room_ = elements;
    }
    T *at() const { return at_; }

  private:
    void release() {
        if (at_) (void)cudaFreeHost(at_);
        at_ = nullptr;
        room_ = 0;
    }
    T *at_ = nullptr;
    size_t room_ = 0;
};

/* A set of marks that can be made anew for any number of things. */
struct MarkArrays {
    DeviceArray<u32> bits, counts, before;
};

struct PairArrays {
    DeviceArray<u64> line, time, used;
    DeviceArray<u32> stack, state, tag;
    Pairs pairs() const { return {line.at(), time.at(), used.at(), stack.at(), state.at(), tag.at()}; }
};

class PrivateStacks {
  public:
    PrivateStacks(const rsc_gpu_options &options, u32 processors, cudaStream_t stream);
    ~PrivateStacks();
    /* Before the first words. `bytes` of device memory may be taken. */
    void set_budget(u64 bytes) { budget_ = bytes; }
    void watch(const rsc_gpu_watch &watch) { watch_ = watch; }
    void take(const u64 *words, const u64 *bytes, const u32 *who, const u32 *tags, u32 count, cudaEvent_t consumed);
    /* Hands over the last chunk's outcomes, if nobody took them yet. */
    void hand_over();
    void fill(rsc_gpu_result &result) const;
    u32 carried() const { return pairs_; }
    /* Device memory for a reference of a chunk. */
    static u64 bytes_per_reference();

  private:
    enum { NEW_LINES, TAKEN, HITS, RETURNS, ENDS, REMAINING, HOLES, COUNTERS };
    u32 part_that_fits(u32 wanted) const;
    void compute(Items items, cudaEvent_t consumed);
    void look(const Items &items);
    void rank_references(const Items &items);
    void find_foreign_writes(const Items &items);
    void link(const Items &items);
    void find_losses(const Items &items);
    void run_events(const Items &items);
    void carry(const Items &items);
    template <class T> void make_room(DeviceArray<T> &array, u64 elements, const char *what);
    void begin_marks(MarkArrays &arrays, u64 count);
    static Marks marks_of(const MarkArrays &arrays) {
        return {arrays.bits.at(), arrays.counts.at(), arrays.before.at()};
    }
    void sum_marks(const MarkArrays &arrays, u32 count, int counter);
    void read_counters();
    template <class Value, class Join> void scan(Value *values, u32 count, Join join);
    template <class Key, class Value>
    void sort(const Key *keys, Key *sorted, const Value *values, Value *moved, u32 count, u32 bits);
    Starts starts() const { return {reference_start_.at(), bit_start_.at(), times_.at(), stacks_}; }
    u32 stack_bits() const { return stacks_ > 1 ? bits_for(stacks_) : 1; }

    u32 shift_, processors_;
    cudaStream_t stream_;
    cudaEvent_t copied_;
    u64 budget_ = 0;
    rsc_gpu_watch watch_{};

    /* kept between chunks */
    PairArrays pair_[2]; /* [0]: now; [1]: being made */
    u32 pairs_ = 0, places_ = 0, holes_ = 0, stacks_ = 0; /* places_: lines and holes */
    DeviceArray<u32> hole_place_, hole_stack_, bit_start_;
    DeviceArray<u64> times_;
    u64 references_ = 0, lines_ = 0;
    u64 largest_line_ = 0;

    /* of a chunk */
    DeviceArray<unsigned long long> most_;
    DeviceArray<u32> counters_;
    DeviceArray<u64> keys_, sorted_keys_;
    DeviceArray<u32> numbers_, order_, stack_order_, stack_keys_, sorted_stacks_, rank_, reference_start_, foreign_,
        previous_;
    DeviceArray<u32> writes_, sorted_writes_, places_taken_, sorted_places_, event_stacks_, sorted_event_stacks_,
        larger_deletes_;
    DeviceArray<uint4> walk_, used_;
    DeviceArray<uint2> uses_, events_, moved_;
    DeviceArray<unsigned char> was_hole_, filled_, space_;
    DeviceArray<u32> rd_, last_tag_;
    DeviceArray<u64> ri_;
    DeviceArray<rsc_gpu_loss> losses_, returned_;
    MarkArrays taken_, ends_, hits_, returns_, halves_, remaining_, open_;
    u32 host_counters_[COUNTERS] = {};

    /* outcomes that the host has not taken yet */
    template <class T> void bring(HostArray<T> &to, const DeviceArray<T> &from, u32 count);
    HostArray<u32> found_rd_, found_last_tag_;
    HostArray<u64> found_ri_;
    HostArray<rsc_gpu_loss> found_losses_, found_returned_;
    rsc_gpu_outcomes found_{};
};

#endif
