/* compute.cu - see session.h: one chunk through the kernels, stack after stack. */
#include <algorithm>

#include <reusescope/error.h>

#include "lines.cuh"
#include "pairs.cuh"
#include "rows.cuh"
#include "select.cuh"
#include "session_state.h"
#include "sort.cuh"

/* Blocks of `threads` for n items, each `per_thread`. */
static u32 blocks_for(u64 n, u32 threads, u32 per_thread = 1) {
    u64 per_block = (u64)threads * per_thread;
    return (u32)std::max<u64>(1, (n + per_block - 1) / per_block);
}

static RegionTable table_of(const Stack &stack) {
    return RegionTable{stack.slots.at(), stack.regions.at(), stack.region_counts.at(), stack.region_counts.at() + 1};
}

template <u32 BITS> static void allow_shared_memory() {
    check(cudaFuncSetAttribute(count_pass<BITS, true>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)tile_shared_bytes(BITS)), "shared memory");
    check(cudaFuncSetAttribute(count_pass<BITS, false>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)tile_shared_bytes(BITS)), "shared memory");
}

void Session::prepare_kernels() {
    allow_shared_memory<5>();
    allow_shared_memory<6>();
    allow_shared_memory<7>();
    allow_shared_memory<8>();
    check(cudaFuncSetAttribute(count_last, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)tile_shared_bytes(LAST_BITS)), "shared memory");
    check(cudaFuncSetAttribute(pair_up<u32>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)PAIR_SHARED_BYTES), "shared memory");
    check(cudaFuncSetAttribute(pair_up<u64>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)PAIR_SHARED_BYTES), "shared memory");
    check(cudaFuncSetAttribute(count_rows, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)rows_shared_bytes(rows_that_fit(shared_bytes_))), "shared memory");
}

void Session::make_stacks() {
    cudaStream_t stream = compute_stream_;
    for (u32 i = 0; i < options_.stack_count; i++) {
        Stack *stack = new Stack;
        stacks_.push_back(stack);
        stack->options = options_.stacks[i];
        stack->slots.allocate(REGION_SLOTS, "region table");
        stack->regions.allocate(REGIONS_MOST + 1, "region table");
        stack->region_counts.allocate(2, "region table");
        stack->histograms.allocate(2 * RSC_GPU_BINS + 1, "histograms");
        check(cudaMemsetAsync(stack->slots.at(), 0xff, REGION_SLOTS * sizeof(unsigned long long), stream), "clearing");
        check(cudaMemsetAsync(stack->region_counts.at(), 0, 2 * sizeof(u32), stream), "clearing");
        check(cudaMemsetAsync(stack->histograms.at(), 0, (2 * RSC_GPU_BINS + 1) * sizeof(unsigned long long), stream), "clearing");
        if (!options_.per_thread) continue;
        stack->thread_times.allocate(THREAD_NUMBERS, "threads");
        stack->own_start.allocate(THREAD_NUMBERS, "threads");
        check(cudaMemsetAsync(stack->thread_times.at(), 0, THREAD_NUMBERS * sizeof(u64), stream), "clearing");
    }
    work_->small.allocate(64 + BUCKETS, "counters");
    check(cudaStreamSynchronize(stream), "clearing");
}

static LineRule rule_of(const Stack &stack, const rsc_gpu_options &options) {
    return LineRule{stack.options.line_shift, options.per_thread ? THREAD_BITS : 0u};
}

/* ---- memory ---- */

bool Session::stacks_with_samples() const {
    for (const Stack *stack : stacks_)
        if (stack->options.sampled) return true;
    return false;
}

/* Device bytes per position of the work space, and per carried line of a stack; upper bounds. */
u64 Session::bytes_per_position(bool wide) const {
    u64 id = wide ? 8 : 4;
    u64 bytes = 2 * id + std::max<u64>(id + 4, 8) + 8 + 8; /* ids, temporary, positions, elements */
    bytes += 2 + (sizeof(u32) << DIGIT_BITS_MOST) / TILE;  /* ranks, status */
    bool sampled = stacks_with_samples();
    if (sampled || options_.per_thread) bytes += 8; /* times */
    if (sampled) bytes += 17;                       /* kept words and times, marks */
    if (options_.per_thread) bytes += id + 8;       /* unordered ids, threads */
    if (watch_.take) bytes += 8;                    /* distances by value and by reference */
    if (watch_.rows) bytes += 4;                    /* by value */
    if (watch_.tags) bytes += 8;                    /* tags of all and of previous uses */
    if (watch_.intervals) bytes += 8;
    return bytes;
}
u64 Session::bytes_per_line(bool wide) const { return (wide ? 8 : 4) + 16 + (watch_.tags ? sizeof(u32) : 0); }

/* How many of `wanted` words fit beside the carried lines; refuses when that is next to nothing. */
u64 Session::round_words(const Stack &stack, u64 wanted) {
    u64 fixed = 2 * chunk_words_ * word_bytes(), lines = 0;
    for (Stack *other : stacks_) lines += other->carried * bytes_per_line(other->wide);
    lines += stack.carried * bytes_per_line(stack.wide) / 4; /* room to grow */
    u64 left = budget_ > fixed + lines ? budget_ - fixed - lines : 0;
    u64 positions = std::min<u64>(left / bytes_per_position(stack.wide || work_->wide), POSITIONS_MOST);
    u64 least = std::min(wanted, std::max<u64>(1, chunk_words_ / 64));
    /* each new word may be a new line, to be carried as well */
    u64 fits = positions > stack.carried ? (positions - stack.carried) / 2 : 0;
    if (fits < least)
        fail(RSC_ELIMIT,
             "gpu engine: too many distinct lines for the device: %u so far, at %llu bytes each, and a chunk, at %llu bytes "
             "a reference, do not fit %.1f MiB; take a larger --line, or another engine",
             stack.carried, (unsigned long long)(bytes_per_line(stack.wide) * 5 / 4 + bytes_per_position(stack.wide || work_->wide)),
             (unsigned long long)(2 * word_bytes() + 2 * bytes_per_position(stack.wide || work_->wide)), (double)budget_ / (1 << 20));
    return std::min(wanted, fits);
}

void Session::ensure_work(u32 total, bool wide) {
    Work &work = *work_;
    if (total <= work.room && (work.wide || !wide)) return;
    /* with some to spare, and at once for the chunks that will follow the first */
    u64 room = std::max<u64>(total, options_.chunk_words ? 1024 : std::min(chunk_words_, CHUNK_STEADY)) + total / 4;
    room = std::min<u64>(room, POSITIONS_MOST);
    check(cudaStreamSynchronize(compute_stream_), "computing");
    check(cudaStreamSynchronize(found_stream_), "computing");
    work.room = 0;
    work.wide |= wide;
    size_t id = work.wide ? 8 : 4;
    for (DeviceArray<unsigned char> *array : {&work.ids, &work.sorted_ids, &work.temporary, &work.sum_space,
                                              &work.unordered_ids})
        array->release();
    for (DeviceArray<u32> *array : {&work.positions, &work.sorted_positions, &work.counts, &work.before, &work.status,
                                    &work.threads, &work.sorted_threads, &work.tags, &work.by_value, &work.rd,
                                    &work.last_tag})
        array->release();
    for (DeviceArray<u64> *array : {&work.times, &work.ri}) array->release();
    for (DeviceArray<uint2> *array : {&work.elements, &work.ranks}) array->release();
    u64 lines = 0;
    for (Stack *stack : stacks_) lines += stack->carried * bytes_per_line(stack->wide);
    u64 most = (budget_ - std::min<u64>(budget_, lines + 2 * chunk_words_ * word_bytes())) / bytes_per_position(work.wide);
    room = std::max<u64>(total, std::min(room, most));

    size_t sort_bytes = 0, wide_bytes = 0, sum_bytes = 0;
    check(sort_pairs<u32, u32>(nullptr, &sort_bytes, nullptr, nullptr, nullptr, nullptr, (u32)room, 32, compute_stream_), "sort");
    if (work.wide)
        check(sort_pairs<u64, u32>(nullptr, &wide_bytes, nullptr, nullptr, nullptr, nullptr, (u32)room, 64, compute_stream_), "sort");
    sort_bytes = std::max(sort_bytes, wide_bytes);
    check(running_sum(nullptr, &sum_bytes, nullptr, nullptr, (u32)(room / 32 + 1), compute_stream_), "sum");
    work.ids.allocate(room * id, "lines");
    work.sorted_ids.allocate(room * id, "sorted lines");
    work.temporary.allocate(std::max<size_t>(sort_bytes, room * sizeof(uint2)), "sort");
    work.sum_space.allocate(sum_bytes, "sum");
    work.positions.allocate(room, "positions");
    work.sorted_positions.allocate(room, "sorted positions");
    work.elements.allocate(room, "elements");
    work.ranks.allocate(room / 32 + 1, "ranks");
    work.counts.allocate(room / 32 + 1, "ranks");
    work.before.allocate(room / 32 + 1, "ranks");
    work.status.allocate((room / TILE + 1) << DIGIT_BITS_MOST, "tiles");
    work.times.allocate(options_.per_thread || stacks_with_samples() ? room : 0, "times");
    if (options_.per_thread) {
        work.unordered_ids.allocate(room * id, "lines");
        work.threads.allocate(room, "threads");
        work.sorted_threads.allocate(room, "threads");
    }
    if (watch_.take || watch_.rows) work.by_value.allocate(room, "distances");
    if (watch_.take) work.rd.allocate(room, "distances");
    if (watch_.tags) {
        work.tags.allocate(room, "tags");
        work.last_tag.allocate(room, "tags");
    }
    if (watch_.intervals) work.ri.allocate(room, "intervals");
    RSC_LAUNCH(write_positions, blocks_for(room, 256), 256, 0, compute_stream_, work.positions.at(), (u32)room);
    check_launch("positions");
    work.room = (u32)room;
}

/* More regions than 16 bits can number: from here on ids are lines. */
void Session::widen(Stack &stack) {
    stack.wide = true;
    if (!stack.carried) return;
    DeviceArray<unsigned char> lines;
    lines.allocate(stack.carry_ids.room() / sizeof(u32) * sizeof(u64), "carried lines");
    RSC_LAUNCH(widen_ids, blocks_for(stack.carried, 256), 256, 0, compute_stream_, (const u32 *)stack.carry_ids.at(),
               (u64)stack.carried, table_of(stack), (u64 *)lines.at());
    check_launch("widening");
    check(cudaStreamSynchronize(compute_stream_), "widening");
    stack.carry_ids.swap(lines);
}

/* ---- before the sort ---- */

/* New regions of the words get their numbers; how many there are arrives in host_counts_. */
void Session::look_for_regions(const u64 *words, u64 count) {
    for (size_t i = 0; i < stacks_.size(); i++) {
        Stack &stack = *stacks_[i];
        if (stack.wide || !count) continue;
        u32 blocks = std::min(processors_ * 8, blocks_for(count, 256));
        RSC_LAUNCH(see_regions, blocks, 256, 0, look_stream_, words, count, rule_of(stack, options_), table_of(stack));
        check_launch("reading lines");
        RSC_LAUNCH(number_regions, 1, 1024, 0, look_stream_, table_of(stack));
        check_launch("numbering regions");
        check(cudaMemcpyAsync(&host_counts_[HOST_REGIONS + i], stack.region_counts.at(), sizeof(u32), cudaMemcpyDeviceToHost,
                              look_stream_), "reading lines");
    }
}

/* The words of the stack's sample go to work.kept_words; returns how many. */
u32 Session::keep_sample(Stack &stack, const u64 *words, u32 count) {
    Work &work = *work_;
    u32 groups = count / 32 + 1, blocks = blocks_for((u64)count + 32, 256);
    size_t bytes = 0;
    check(running_sum(nullptr, &bytes, nullptr, nullptr, groups, compute_stream_), "sum");
    if (work.kept_words.room() < count || work.kept_sum_space.room() < bytes) {
        check(cudaStreamSynchronize(compute_stream_), "computing");
        work.kept_words.allocate(count, "sample");
        work.kept_times.allocate(count, "sample");
        work.kept_marks.allocate(groups, "sample");
        work.kept_counts.allocate(groups, "sample");
        work.kept_before.allocate(groups, "sample");
        work.kept_sum_space.allocate(bytes, "sum");
    }
    RSC_LAUNCH(mark_kept, blocks, 256, 0, compute_stream_, words, count, stack.options, work.kept_marks.at(), work.kept_counts.at());
    check_launch("sample");
    bytes = work.kept_sum_space.room();
    check(running_sum(work.kept_sum_space.at(), &bytes, work.kept_counts.at(), work.kept_before.at(), groups, compute_stream_), "sum");
    RSC_LAUNCH(gather_kept, blocks, 256, 0, compute_stream_, words, count, (const u32 *)work.kept_marks.at(),
               (const u32 *)work.kept_before.at(), stack.time, work.kept_words.at(), work.kept_times.at(), work.small.at());
    check_launch("sample");
    check(cudaMemcpyAsync(&host_counts_[HOST_KEPT], work.small.at(), sizeof(u32), cudaMemcpyDeviceToHost, compute_stream_), "counts");
    check(cudaStreamSynchronize(compute_stream_), "computing");
    return host_counts_[HOST_KEPT];
}

/* From work.unordered_ids to ids and work.times: see select.cuh. */
template <class Id> void Session::order_by_thread(Stack &stack, u32 total, Id *ids) {
    Work &work = *work_;
    const Id *unordered = (const Id *)work.unordered_ids.at();
    u32 blocks = blocks_for(total, 256);
    size_t bytes = work.temporary.room();
    RSC_LAUNCH(write_threads<Id>, blocks, 256, 0, compute_stream_, unordered, total, table_of(stack), work.threads.at());
    check_launch("threads");
    check(sort_pairs<u32, u32>(work.temporary.at(), &bytes, work.threads.at(), work.sorted_threads.at(), work.positions.at(),
                               work.sorted_positions.at(), total, THREAD_BITS, compute_stream_), "sort");
    ByThread order = {work.sorted_threads.at(), work.sorted_positions.at(), total, stack.carried,
                      stack.own_start.at(), stack.thread_times.at()};
    RSC_LAUNCH(find_stretches, blocks, 256, 0, compute_stream_, order);
    check_launch("threads");
    RSC_LAUNCH(take_by_thread<Id>, blocks, 256, 0, compute_stream_, order, unordered, (const u64 *)stack.carry_times.at(), ids,
               work.times.at());
    check_launch("threads");
    RSC_LAUNCH(advance_threads, blocks, 256, 0, compute_stream_, order);
    check_launch("threads");
}

/* ---- computing ---- */

void Session::compute(Words from, u64 count, cudaEvent_t consumed) {
    for (size_t i = 0; i < stacks_.size(); i++) {
        Stack &stack = *stacks_[i];
        Words own = from;
        const u64 *times = nullptr;
        u64 left = count;
        if (!stack.wide) {
            stack.region_count = host_counts_[HOST_REGIONS + i];
            if (stack.region_count > REGIONS_MOST) widen(stack);
        }
        if (stack.options.sampled) {
            phase(PHASE_IDS);
            left = keep_sample(stack, from.words, (u32)count);
            own.words = work_->kept_words.at();
            times = work_->kept_times.at();
            check(cudaEventRecord(consumed, compute_stream_), "event");
            phase(PHASE_END);
        }
        stack.references += left;
        while (left) {
            u64 part = round_words(stack, left);
            if (stack.wide) compute_round<u64>(stack, own, times, (u32)part, consumed);
            else compute_round<u32>(stack, own, times, (u32)part, consumed);
            own = own.after(part);
            if (times) times += part;
            else stack.time += part;
            left -= part;
        }
        if (times) stack.time += count;
    }
    timing_.chunks++;
}

/* `times` are the words' own, NULL where they follow each other. */
template <class Id>
void Session::compute_round(Stack &stack, const Words &from, const u64 *times, u32 count, cudaEvent_t consumed) {
    const u64 *words = from.words;
    const u32 *tags = from.tags;
    u32 carried = stack.carried, total = carried + count;
    ensure_work(total, sizeof(Id) == 8);
    Work &work = *work_;
    cudaStream_t stream = compute_stream_;
    Id *ids = (Id *)work.ids.at(), *sorted_ids = (Id *)work.sorted_ids.at();
    Id *made = options_.per_thread ? (Id *)work.unordered_ids.at() : ids;
    u32 *small = work.small.at();
    Clock clock = {stack.carry_times.at(), carried, stack.time, times || options_.per_thread ? work.times.at() : nullptr};

    phase(PHASE_IDS);
    if (carried)
        check(cudaMemcpyAsync(made, stack.carry_ids.at(), carried * sizeof(Id), cudaMemcpyDeviceToDevice, stream), "carried lines");
    RSC_LAUNCH(make_ids<Id>, std::min(processors_ * 16, blocks_for(count, 256)), 256, 0, stream, words, (u64)count,
               rule_of(stack, options_), table_of(stack), made + carried);
    check_launch("line numbers");
    if (tags && carried)
        check(cudaMemcpyAsync(work.tags.at(), stack.carry_tags.at(), carried * sizeof(u32), cudaMemcpyDeviceToDevice, stream), "tags");
    if (tags)
        check(cudaMemcpyAsync(work.tags.at() + carried, tags, count * sizeof(u32), cudaMemcpyDeviceToDevice, stream), "tags");
    if (!times && !from.who) check(cudaEventRecord(consumed, stream), "event");
    if (times && carried)
        check(cudaMemcpyAsync(work.times.at(), stack.carry_times.at(), carried * sizeof(u64), cudaMemcpyDeviceToDevice, stream), "times");
    if (times)
        check(cudaMemcpyAsync(work.times.at() + carried, times, count * sizeof(u64), cudaMemcpyDeviceToDevice, stream), "times");
    if (options_.per_thread) order_by_thread(stack, total, ids);

    phase(PHASE_SORT);
    u32 bits = sizeof(Id) == 8 ? 64 : std::min(32u, REGION_BITS + std::max(1u, bits_for(stack.region_count)));
    size_t sort_bytes = work.temporary.room();
    check(sort_pairs(work.temporary.at(), &sort_bytes, ids, sorted_ids, work.positions.at(), work.sorted_positions.at(), total,
                     bits, stream), "sort");

    phase(PHASE_PAIRS);
    check(cudaMemsetAsync(small, 0, work.small.room() * sizeof *small, stream), "clearing");
    u32 position_bits = bits_for(total);
    PairArguments<Id> pair = {sorted_ids, work.sorted_positions.at(), total,
                              position_bits > BUCKET_BITS ? position_bits - BUCKET_BITS : 0, small + 64, (uint2 *)work.temporary.at(), clock,
                              options_.no_ri ? nullptr : stack.histograms.at() + RSC_GPU_BINS};
    RSC_LAUNCH(pair_up<Id>, std::min(processors_ * 4, blocks_for(total, THREADS, ITEMS)), THREADS, PAIR_SHARED_BYTES, stream, pair);
    check_launch("pairs");

    find_previous(total);
    /* a carried line has no previous use, so it is not counted, wherever it stands */
    count_distances(stack, options_.per_thread ? 0 : carried, total);
    if (from.who) {
        count_rows_of(from.who, carried, total);
        check(cudaEventRecord(consumed, stream), "event");
    }
    if (watch_.take) copy_outcomes(carried, total, clock);

    phase(PHASE_CARRY);
    check(cudaStreamSynchronize(stream), "computing");
    u32 lines = host_counts_[HOST_LAST_USES];
    stack.next_times.ensure(stack.next_times.room() < lines ? std::min<u64>((u64)lines + lines / 4, POSITIONS_MOST) : 0, "carried lines");
    /* the old ids are in work.ids as well: theirs may be overwritten at once */
    if (stack.carry_ids.room() < lines * sizeof(Id)) stack.carry_ids.allocate(stack.next_times.room() * sizeof(Id), "carried lines");
    if (tags) stack.carry_tags.ensure(stack.carry_tags.room() < lines ? stack.next_times.room() : 0, "carried lines");
    RSC_LAUNCH(carry_over<Id>, blocks_for(total, 256), 256, 0, stream, (const uint2 *)work.ranks.at(), total, (const Id *)ids, clock,
               tags ? (const u32 *)work.tags.at() : nullptr, (Id *)stack.carry_ids.at(), stack.next_times.at(), stack.carry_tags.at());
    check_launch("carried lines");
    stack.carry_times.swap(stack.next_times);
    stack.carried = lines;
    phase(PHASE_END);
}

/* work.temporary has pairs; leaves the previous uses in work.sorted_ids, by position, and the ranks. */
void Session::find_previous(u32 total) {
    Work &work = *work_;
    uint2 *pairs = (uint2 *)work.temporary.at();
    u32 *small = work.small.at(), *prev = (u32 *)work.sorted_ids.at();
    phase(PHASE_RANK);
    RSC_LAUNCH(place, blocks_for(total, 256, PLACE_ITEMS), 256, 0, compute_stream_, (const uint2 *)pairs, total, prev);
    check_launch("previous uses");
    RSC_LAUNCH(mark_last_uses, blocks_for((u64)total + 32, 256), 256, 0, compute_stream_, (const u32 *)prev, total, work.ranks.at(),
               work.counts.at());
    check_launch("last uses");
    size_t sum_bytes = work.sum_space.room();
    check(running_sum(work.sum_space.at(), &sum_bytes, work.counts.at(), work.before.at(), total / 32 + 1, compute_stream_), "sum");
    RSC_LAUNCH(finish_ranks, blocks_for(total / 32 + 1, 256), 256, 0, compute_stream_, work.ranks.at(), (const u32 *)work.before.at(), total,
               small, small + 1);
    check_launch("ranks");
    check(cudaMemcpyAsync(&host_counts_[HOST_LAST_USES], small, 2 * sizeof(u32), cudaMemcpyDeviceToHost, compute_stream_), "counts");
}

template <u32 BITS> void Session::launch_pass(bool first, PassArguments &arguments) {
    check(cudaMemsetAsync(arguments.status, 0, ((size_t)arguments.tiles << BITS) * sizeof(u32), compute_stream_), "clearing");
    u32 blocks = std::min(arguments.tiles, processors_ * 4);
    if (first)
        RSC_LAUNCH((count_pass<BITS, true>), blocks, THREADS, tile_shared_bytes(BITS), compute_stream_, arguments);
    else
        RSC_LAUNCH((count_pass<BITS, false>), blocks, THREADS, tile_shared_bytes(BITS), compute_stream_, arguments);
    check_launch("counting");
}

/* The passes over the values' digits; positions first..total-1 are the chunk's own. */
void Session::count_distances(Stack &stack, u32 first, u32 total) {
    Work &work = *work_;
    u32 *small = work.small.at();
    phase(PHASE_COUNT);
    u32 tiles = blocks_for(total - first, THREADS, ITEMS);
    u32 bits = std::max(bits_for(total), TILE_BITS + 1), above = bits - TILE_BITS;
    u32 passes = (above + DIGIT_BITS_MOST - 1) / DIGIT_BITS_MOST;
    uint2 *from = (uint2 *)work.temporary.at(), *to = work.elements.at();
    for (u32 pass = 0; pass < passes; pass++) {
        u32 digit_bits = (above + passes - pass - 1) / (passes - pass);
        PassArguments arguments = {(const u32 *)work.sorted_ids.at(), work.ranks.at(), from, to, work.status.at(),
                                   small + 2 + pass, small + 1, first, total, tiles, TILE_BITS + above - digit_bits,
                                   (1u << digit_bits) - 1, TILE_BITS + above};
        switch (std::max(digit_bits, DIGIT_BITS_LEAST)) {
        case 5: launch_pass<5>(pass == 0, arguments); break;
        case 6: launch_pass<6>(pass == 0, arguments); break;
        case 7: launch_pass<7>(pass == 0, arguments); break;
        default: launch_pass<8>(pass == 0, arguments); break;
        }
        above -= digit_bits;
        std::swap(from, to);
    }
    phase(PHASE_LAST);
    LastArguments last = {from, small + 1, tiles, options_.rd_cap ? options_.rd_cap : ~0ull, stack.histograms.at(),
                          stack.histograms.at() + 2 * RSC_GPU_BINS,
                          watch_.take || watch_.rows ? work.by_value.at() : nullptr};
    RSC_LAUNCH(count_last, std::min(tiles, processors_ * 4), THREADS, tile_shared_bytes(LAST_BITS), compute_stream_, last);
    check_launch("counting");
}

void Session::count_rows_of(const u32 *who, u32 carried, u32 total) {
    Work &work = *work_;
    RowArguments arguments = {(const u32 *)work.sorted_ids.at(), work.by_value.at(), work.ranks.at(), who, carried, total,
                              (u32)std::min<u64>(options_.rd_cap ? options_.rd_cap : ~0u, ~0u),
                              rows_that_fit(shared_bytes_), rows_.at()};
    RSC_LAUNCH(count_rows, std::min(processors_, blocks_for(total - carried, ROWS_THREADS)), ROWS_THREADS,
               rows_shared_bytes(arguments.shared_threads), compute_stream_, arguments);
    check_launch("rows");
}

/* Sends the outcomes of the round on their way, and takes those of the round before while the device works. */
void Session::copy_outcomes(u32 carried, u32 total, const Clock &clock) {
    Work &work = *work_;
    Found &found = found_[next_found_], &before = found_[1 - next_found_];
    u32 count = total - carried;
    next_found_ = 1 - next_found_;
    make_found(found, count);
    check(cudaStreamWaitEvent(compute_stream_, before.copied, 0), "event"); /* the arrays are free again */
    OutcomeArguments arguments = {(const u32 *)work.sorted_ids.at(), work.by_value.at(), work.ranks.at(),
                                  watch_.tags ? work.tags.at() : nullptr, clock, total, work.rd.at(), work.last_tag.at(),
                                  watch_.intervals ? work.ri.at() : nullptr};
    RSC_LAUNCH(write_outcomes, blocks_for(count, 256), 256, 0, compute_stream_, arguments);
    check_launch("outcomes");
    check(cudaEventRecord(outcomes_made_, compute_stream_), "event");
    check(cudaStreamWaitEvent(found_stream_, outcomes_made_, 0), "event");
    check(cudaMemcpyAsync(found.rd, work.rd.at(), count * sizeof(u32), cudaMemcpyDeviceToHost, found_stream_), "outcomes");
    if (watch_.tags)
        check(cudaMemcpyAsync(found.last_tag, work.last_tag.at(), count * sizeof(u32), cudaMemcpyDeviceToHost, found_stream_), "outcomes");
    if (watch_.intervals)
        check(cudaMemcpyAsync(found.ri, work.ri.at(), count * sizeof(u64), cudaMemcpyDeviceToHost, found_stream_), "outcomes");
    check(cudaEventRecord(found.copied, found_stream_), "event");
    found.count = count;
    take_found(before);
}
