/*
 * hprda.h - HP-RDA on the device: what takes a Session's chunks instead of its stacks.
 *
 * A chunk's words lose their runs and join those that wait. As soon as there are enough
 * for a group of blocks, or for the rest of the fragment, the group goes through the
 * kernels of hprda.cuh. Between a group's two merges the host reads how many lines its
 * blocks have: room is made for them, and the sums of counts that formula 1 needs.
 */
#ifndef RSC_GPU_HPRDA_H
#define RSC_GPU_HPRDA_H

#include "hprda_types.cuh"
#include "session.h"

/* The host's side of a Spans, which it mirrors on the device. */
class SpanTable {
  public:
    void add(u32 count);
    void upload(cudaStream_t stream); /* what was added since */
    void clear() { count_ = uploaded_ = 0; }
    u32 count() const { return count_; }
    Spans spans() const { return Spans{total_.at(), most_.at(), room_}; }

  private:
    static const u32 LEVELS = 32;
    std::vector<u64> totals_;
    std::vector<u32> levels_[LEVELS];
    DeviceArray<u64> total_;
    DeviceArray<u32> most_;
    u32 count_ = 0, uploaded_ = 0, room_ = 0;
};

class Hprda {
  public:
    Hprda(const rsc_gpu_options &options, u32 processors, cudaStream_t stream);
    /* Once, before the first words: `bytes` of device memory may be taken, words come at most `chunk_words` at a time. */
    void set_budget(u64 bytes, u64 chunk_words);
    void take(const u64 *words, u32 count, cudaEvent_t consumed);
    void finish(rsc_gpu_result &result);
    void bounds(rsc_gpu_bounds &bounds) const;
    /* Called before each step, with a PHASE_HPRDA_... of session_state.h. */
    void (*phase)(void *context, u32 number) = nullptr;
    void *phase_context = nullptr;

  private:
    enum { EXACT, ESTIMATE, LOW, HIGH, HIGH_JOINED, HISTOGRAMS };
    u32 block_words() const { return options_.local * BLOCK_TRACES; }
    Counter *histogram(u32 number) { return histograms_.at() + (size_t)number * RSC_GPU_BINS; }
    void begin(u32 number) { phase(phase_context, number); }
    void read_counters();
    void remove_runs(const u64 *words, u32 count, cudaEvent_t consumed);
    void run_group(const u64 *lines, u32 count);
    void analyse(const u64 *lines, u32 count);
    void make_room(u64 nodes);
    void end_of_fragment();
    void collect(u64 distinct);

    rsc_gpu_hprda_options options_;
    u32 shift_, processors_, group_ = 0; /* group_: references in one, whole blocks */
    cudaStream_t stream_;
    DeviceArray<LastLine> last_;
    DeviceArray<u32> marks_, mark_counts_, mark_before_;
    DeviceArray<unsigned char> sum_space_;
    DeviceArray<u64> lines_, spare_; /* without runs, not yet analysed */
    u32 filled_ = 0;
    DeviceArray<u32> local_slots_, bits_, infos_, trace_counts_, block_slots_, node_counts_;
    DeviceArray<u16> firsts_;
    DeviceArray<Node> nodes_;
    DeviceArray<u64> local_counts_;
    DeviceArray<u32> line_slots_, counters_, merged_;
    DeviceArray<LineState> states_;
    DeviceArray<u64> waiting_[2];
    DeviceArray<Counter> histograms_;
    u32 line_slot_bits_ = 0;
    SpanTable block_spans_, fragment_spans_;
    u32 in_fragment_ = 0; /* references of the fragment that were analysed */
    u64 counts_ = 0, counts_so_far_ = 0; /* of local traces: in the fragment, in finished ones */
    u64 references_ = 0, kept_ = 0;
    u32 host_counters_[HPRDA_COUNTERS] = {};
    std::vector<u64> estimate_, low_, high_; /* of finished fragments */
};

#endif
