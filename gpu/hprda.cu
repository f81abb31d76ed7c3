/* hprda.cu - see hprda.h: groups, fragments, and the order in which HP-RDA's kernels run. */
#include "hprda.h"

#include <algorithm>
#include <cstring>

#include <reusescope/error.h>

#include "hprda.cuh"
#include "session_state.h"
#include "sort.cuh"

/* As long as a fragment: a thread for each local trace of 2,048 is 32,768, where an H200 has room for 270,000. */
#ifndef RSC_GPU_HPRDA_GROUP
#define RSC_GPU_HPRDA_GROUP 0x4000000u
#endif
static const u32 FRAGMENT_DEFAULT = 0x4000000, LOCAL_DEFAULT = 2048; /* as src/distance/hprda/hprda.h has them */

static u32 blocks_of(u64 n, u32 each) { return (u32)std::max<u64>(1, (n + each - 1) / each); }

/* ---- counts of pieces ---- */

void SpanTable::add(u32 count) {
    totals_.resize((size_t)count_ + 2);
    if (!count_) totals_[0] = 0;
    totals_[count_ + 1] = totals_[count_] + count;
    for (u32 level = 0; level < LEVELS && (level == 0 || 1u << level <= count_ + 1); level++) {
        levels_[level].resize((size_t)count_ + 1);
        levels_[level][count_] =
            level ? std::max(levels_[level - 1][count_], levels_[level - 1][count_ - (1u << (level - 1))]) : count;
    }
    count_++;
}

void SpanTable::upload(cudaStream_t stream) {
    if (count_ > room_) {
        check(cudaStreamSynchronize(stream), "computing");
        u32 room = std::max(2 * count_, 64u);
        total_.allocate((size_t)room + 1, "counts");
        most_.allocate((size_t)room * bits_for((u64)room + 1), "counts");
        room_ = room;
        uploaded_ = 0;
    }
    if (uploaded_ == count_) return;
    u32 added = count_ - uploaded_;
    check(cudaMemcpyAsync(total_.at() + uploaded_, &totals_[uploaded_], (added + 1) * sizeof(u64), cudaMemcpyHostToDevice, stream),
          "counts");
    for (u32 level = 0; level < LEVELS && 1u << level <= count_; level++)
        check(cudaMemcpyAsync(most_.at() + (size_t)level * room_ + uploaded_, &levels_[level][uploaded_], added * sizeof(u32),
                              cudaMemcpyHostToDevice, stream), "counts");
    uploaded_ = count_;
}

/* ---- opening ---- */

Hprda::Hprda(const rsc_gpu_options &options, u32 processors, cudaStream_t stream)
    : options_(options.hprda), shift_(options.stacks[0].line_shift), processors_(processors), stream_(stream),
      estimate_(RSC_GPU_BINS), low_(RSC_GPU_BINS), high_(RSC_GPU_BINS) {
    if (!options_.local) options_.local = LOCAL_DEFAULT;
    if (!options_.fragment) options_.fragment = FRAGMENT_DEFAULT;
    last_.allocate(1, "lines");
    counters_.allocate(HPRDA_COUNTERS, "counters");
    merged_.allocate(block_words(), "distances");
    histograms_.allocate((size_t)HISTOGRAMS * RSC_GPU_BINS, "histograms");
    check(cudaMemsetAsync(last_.at(), 0, sizeof(LastLine), stream_), "clearing");
    check(cudaMemsetAsync(counters_.at(), 0, HPRDA_COUNTERS * sizeof(u32), stream_), "clearing");
    check(cudaMemsetAsync(merged_.at(), 0, (size_t)block_words() * sizeof(u32), stream_), "clearing");
    check(cudaMemsetAsync(histograms_.at(), 0, histograms_.room() * sizeof(Counter), stream_), "clearing");
}

static u32 local_slot_bits(u32 local) { return bits_for(2ull * local); }

/* All that a group needs is taken at once. A third of the budget is for groups, the rest for the lines. */
void Hprda::set_budget(u64 bytes, u64 chunk_words) {
    u64 block = block_words(), slots = 4ull << local_slot_bits(options_.local);
    u64 per_block = block * (2 * 8 + 2 + 4 + sizeof(Node)) + BLOCK_TRACES * (slots + 4 * (options_.local / 32 + 1) + 4) +
                    (4ull << (local_slot_bits(options_.local) + 6)) + 16;
    u64 wanted = options_.group ? options_.group : std::min(options_.fragment, RSC_GPU_HPRDA_GROUP);
    u64 blocks = std::min<u64>(bytes / 3 / per_block, (wanted + block - 1) / block);
    if (!blocks)
        fail(RSC_ENOMEM, "gpu engine: %.1f MiB of device memory do not hold a block of hp-rda, %.1f MiB; take a smaller local=",
             (double)bytes / (1 << 20), 3.0 * per_block / (1 << 20));
    group_ = (u32)(blocks * block);
    u64 traces = blocks * BLOCK_TRACES;
    lines_.allocate(group_ + chunk_words, "lines");
    spare_.allocate(group_ + chunk_words, "lines");
    local_slots_.allocate(traces << local_slot_bits(options_.local), "local traces");
    bits_.allocate(traces * (options_.local / 32 + 1), "local traces");
    firsts_.allocate(group_, "local traces");
    infos_.allocate(group_, "local traces");
    trace_counts_.allocate(traces, "local traces");
    block_slots_.allocate(blocks << (local_slot_bits(options_.local) + 6), "blocks");
    nodes_.allocate(group_, "blocks");
    node_counts_.allocate(blocks, "blocks");
    local_counts_.allocate(blocks, "blocks");
}

/* ---- words in ---- */

void Hprda::read_counters() {
    check(cudaMemcpyAsync(host_counters_, counters_.at(), sizeof host_counters_, cudaMemcpyDeviceToHost, stream_), "counts");
    check(cudaStreamSynchronize(stream_), "computing");
}

/* Appends the words' lines to lines_. */
void Hprda::remove_runs(const u64 *words, u32 count, cudaEvent_t consumed) {
    u32 groups = count / 32 + 1, blocks = blocks_of((u64)count + 32, 256);
    size_t bytes = 0;
    check(running_sum(nullptr, &bytes, nullptr, nullptr, groups, stream_), "sum");
    marks_.ensure(groups, "runs");
    mark_counts_.ensure(groups, "runs");
    mark_before_.ensure(groups, "runs");
    sum_space_.ensure(bytes, "runs");
    bytes = sum_space_.room();
    RSC_LAUNCH(mark_changes, blocks, 256, 0, stream_, words, count, shift_, (const LastLine *)last_.at(), marks_.at(), mark_counts_.at());
    check_launch("runs");
    check(running_sum(sum_space_.at(), &bytes, mark_counts_.at(), mark_before_.at(), groups, stream_), "sum");
    RSC_LAUNCH(gather_changes, blocks, 256, 0, stream_, words, count, shift_, (const u32 *)marks_.at(), (const u32 *)mark_before_.at(),
               lines_.at() + filled_, last_.at(), counters_.at() + HPRDA_KEPT);
    check_launch("runs");
    check(cudaEventRecord(consumed, stream_), "event");
    read_counters();
    references_ += count;
    kept_ += host_counters_[HPRDA_KEPT];
    filled_ += host_counters_[HPRDA_KEPT];
}

void Hprda::take(const u64 *words, u32 count, cudaEvent_t consumed) {
    if (!count) return;
    begin(PHASE_HPRDA_RUNS);
    remove_runs(words, count, consumed);
    u32 used = 0;
    for (;;) {
        u32 left = options_.fragment - in_fragment_, wanted = std::min(left, group_);
        if (filled_ - used < wanted) break;
        run_group(lines_.at() + used, wanted);
        used += wanted;
        if (in_fragment_ == options_.fragment) end_of_fragment();
    }
    if (used) {
        if (filled_ > used)
            check(cudaMemcpyAsync(spare_.at(), lines_.at() + used, (filled_ - used) * sizeof(u64), cudaMemcpyDeviceToDevice, stream_),
                  "lines");
        lines_.swap(spare_);
        filled_ -= used;
    }
    begin(PHASE_END);
}

/* ---- a group ---- */

void Hprda::analyse(const u64 *lines, u32 count) {
    u32 traces = blocks_of(count, options_.local), blocks = blocks_of(traces, BLOCK_TRACES), slot_bits = local_slot_bits(options_.local);
    begin(PHASE_HPRDA_LOCAL);
    check(cudaMemsetAsync(local_slots_.at(), 0, ((size_t)traces << slot_bits) * sizeof(u32), stream_), "clearing");
    check(cudaMemsetAsync(bits_.at(), 0, (size_t)traces * (options_.local / 32 + 1) * sizeof(u32), stream_), "clearing");
    LocalArguments local = {lines, count, options_.local, traces, slot_bits, local_slots_.at(), bits_.at(), firsts_.at(), infos_.at(),
                            trace_counts_.at(), histogram(EXACT)};
    RSC_LAUNCH(analyse_locals, blocks, BLOCK_TRACES, 0, stream_, local);
    check_launch("local traces");
    begin(PHASE_HPRDA_THREADS);
    check(cudaMemsetAsync(block_slots_.at(), 0, ((size_t)blocks << (slot_bits + 6)) * sizeof(u32), stream_), "clearing");
    MergeArguments merge = {lines, infos_.at(), trace_counts_.at(), options_.local, traces, slot_bits + 6, block_slots_.at(),
                            nodes_.at(), node_counts_.at(), local_counts_.at(), merged_.at(), histogram(LOW), histogram(HIGH)};
    RSC_LAUNCH(merge_locals, blocks, MERGE_THREADS, 0, stream_, merge);
    check_launch("merging local traces");
}

/* For `nodes` more, each of which may be a new line and a distance that waits. */
void Hprda::make_room(u64 nodes) {
    u64 lines = host_counters_[HPRDA_LINES];
    if (lines + nodes > 1u << 30)
        fail(RSC_ELIMIT, "gpu engine: too many distinct lines for hp-rda after %llu; take a larger --line", (unsigned long long)lines);
    if (states_.room() < lines + nodes) {
        DeviceArray<LineState> states;
        states.allocate(lines + nodes + nodes / 2, "lines");
        if (lines)
            check(cudaMemcpyAsync(states.at(), states_.at(), lines * sizeof(LineState), cudaMemcpyDeviceToDevice, stream_), "lines");
        check(cudaStreamSynchronize(stream_), "computing");
        states_.swap(states);
    }
    u32 bits = std::max(8u, bits_for(2 * (lines + nodes)));
    if (bits > line_slot_bits_) {
        line_slots_.allocate((size_t)1 << bits, "lines");
        check(cudaMemsetAsync(line_slots_.at(), 0, sizeof(u32) << bits, stream_), "clearing");
        if (lines) {
            RSC_LAUNCH(place_lines, blocks_of(lines, 256), 256, 0, stream_, (const LineState *)states_.at(), (u32)lines, line_slots_.at(), bits);
            check_launch("lines");
        }
        line_slot_bits_ = bits;
    }
    for (u32 level = 0; level < 2 && !options_.no_adjust; level++) {
        u64 held = host_counters_[HPRDA_WAITING_BLOCKS + level];
        if (level && !fragment_spans_.count()) continue; /* nothing can come from an earlier fragment */
        if (waiting_[level].room() >= held + nodes) continue;
        DeviceArray<u64> waiting;
        waiting.allocate(held + nodes + nodes / 2, "distances");
        if (held)
            check(cudaMemcpyAsync(waiting.at(), waiting_[level].at(), held * sizeof(u64), cudaMemcpyDeviceToDevice, stream_), "distances");
        check(cudaStreamSynchronize(stream_), "computing");
        waiting_[level].swap(waiting);
    }
}

void Hprda::run_group(const u64 *lines, u32 count) {
    u32 blocks = blocks_of(count, block_words()), first_block = block_spans_.count();
    analyse(lines, count);
    begin(PHASE_HPRDA_BLOCKS);
    std::vector<u32> node_counts(blocks);
    std::vector<u64> local_counts(blocks);
    check(cudaMemcpyAsync(node_counts.data(), node_counts_.at(), blocks * sizeof(u32), cudaMemcpyDeviceToHost, stream_), "counts");
    check(cudaMemcpyAsync(local_counts.data(), local_counts_.at(), blocks * sizeof(u64), cudaMemcpyDeviceToHost, stream_), "counts");
    read_counters();
    u64 nodes = 0;
    for (u32 i = 0; i < blocks; i++) {
        block_spans_.add(node_counts[i]);
        counts_ += local_counts[i];
        nodes += node_counts[i];
    }
    block_spans_.upload(stream_);
    make_room(nodes);
    for (u32 i = 0; i < blocks; i++) {
        JoinArguments join = {nodes_.at() + (size_t)i * block_words(), node_counts_.at() + i, first_block + i, fragment_spans_.count(),
                              block_spans_.spans(), fragment_spans_.spans(), line_slots_.at(), line_slot_bits_, states_.at(), counters_.at(),
                              {host_counters_[HPRDA_IN_FRAGMENT], host_counters_[HPRDA_LINES]}, {waiting_[0].at(), waiting_[1].at()},
                              histogram(ESTIMATE), histogram(LOW), histogram(HIGH), histogram(HIGH_JOINED)};
        if (options_.no_adjust) join.known[0] = join.known[1] = ~0ull;
        RSC_LAUNCH(merge_blocks, std::min(processors_ * 2, blocks_of(node_counts[i], 256)), 256, 0, stream_, join);
        check_launch("merging blocks");
    }
    in_fragment_ += count;
}

/* ---- the end of a fragment, and of all ---- */

void Hprda::end_of_fragment() {
    if (!in_fragment_) return;
    read_counters();
    u32 lines = host_counters_[HPRDA_LINES], distinct = host_counters_[HPRDA_IN_FRAGMENT];
    RSC_LAUNCH(end_fragment, blocks_of(lines, 256), 256, 0, stream_, states_.at(), lines, fragment_spans_.count(), block_spans_.spans(),
               block_spans_.count());
    check_launch("end of a fragment");
    counts_so_far_ += counts_;
    begin(PHASE_HPRDA_ADJUST);
    Factor inside = {distinct, counts_}, across = {lines, counts_so_far_};
    if (options_.no_adjust) inside = across = Factor{~0ull, 1};
    RSC_LAUNCH(adjust_merged, blocks_of(block_words(), 256), 256, 0, stream_, merged_.at(), block_words(), inside, histogram(ESTIMATE));
    check_launch("adjustment");
    for (u32 level = 0; level < 2; level++) {
        u32 held = host_counters_[HPRDA_WAITING_BLOCKS + level];
        if (!held) continue;
        RSC_LAUNCH(adjust_waiting, std::min(processors_ * 4, blocks_of(held, 256)), 256, 0, stream_, (const u64 *)waiting_[level].at(), held,
                   level ? across : inside, histogram(ESTIMATE));
        check_launch("adjustment");
    }
    collect(distinct);
    fragment_spans_.add(distinct);
    fragment_spans_.upload(stream_);
    check(cudaMemsetAsync(counters_.at() + HPRDA_IN_FRAGMENT, 0, 3 * sizeof(u32), stream_), "clearing");
    block_spans_.clear();
    counts_ = 0;
    in_fragment_ = 0;
}

/* Counts of distances that are at least `distinct` become distances of distinct - 1. */
static void fold(Counter *counts, u64 distinct) {
    u32 largest = fine_bin(distinct ? distinct - 1 : 0);
    for (u32 bin = largest + 1; bin < RSC_GPU_BINS; bin++) {
        counts[largest] += counts[bin];
        counts[bin] = 0;
    }
}

void Hprda::collect(u64 distinct) {
    std::vector<Counter> counts((size_t)HISTOGRAMS * RSC_GPU_BINS);
    check(cudaMemcpyAsync(counts.data(), histograms_.at(), counts.size() * sizeof(Counter), cudaMemcpyDeviceToHost, stream_), "results");
    check(cudaMemsetAsync(histograms_.at(), 0, counts.size() * sizeof(Counter), stream_), "clearing");
    check(cudaStreamSynchronize(stream_), "computing");
    auto of = [&](u32 number) { return counts.data() + (size_t)number * RSC_GPU_BINS; };
    fold(of(HIGH), distinct);
    fold(of(HIGH_JOINED), host_counters_[HPRDA_LINES]);
    for (u32 bin = 0; bin < RSC_GPU_BINS; bin++) {
        estimate_[bin] += of(EXACT)[bin] + of(ESTIMATE)[bin];
        low_[bin] += of(EXACT)[bin] + of(LOW)[bin];
        high_[bin] += of(EXACT)[bin] + of(HIGH)[bin] + of(HIGH_JOINED)[bin];
    }
}

void Hprda::finish(rsc_gpu_result &result) {
    if (filled_) run_group(lines_.at(), filled_);
    filled_ = 0;
    end_of_fragment();
    begin(PHASE_END);
    u64 repeats = references_ - kept_;
    for (std::vector<u64> *counts : {&estimate_, &low_, &high_}) (*counts)[0] += repeats;
    kept_ = references_;
    std::copy(estimate_.begin(), estimate_.end(), result.rd);
    result.references = references_;
    result.distinct = host_counters_[HPRDA_LINES];
}

void Hprda::bounds(rsc_gpu_bounds &bounds) const {
    std::copy(low_.begin(), low_.end(), bounds.low);
    std::copy(high_.begin(), high_.end(), bounds.high);
    bounds.fragments = fragment_spans_.count();
}
