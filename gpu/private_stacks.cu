/* private_stacks.cu - see private_stacks.h: the steps of a chunk, and what is kept for the next. */
#include "private_stacks.h"

#include <algorithm>

#include <reusescope/error.h>

#include "bins.cuh"
#include "private_stacks.cuh"
#include "session_state.h"
#include "sort.cuh"

static const u32 KERNEL_THREADS = 256;
static u32 blocks_of_256(u64 n) { return (u32)std::max<u64>(1, (n + KERNEL_THREADS - 1) / KERNEL_THREADS); }
/* For kernels that mark: to the end of the last word. */
static u32 blocks_to_mark(u64 n) { return blocks_of_256(n + WARP); }

/*
 * Upper bounds of device memory. A reference: as an item 92 (lines, orders, keys, foreign writes, bytes used, marks, and the
 * sort's own 12), as two events and a position 2 * 55, its outcome 16, what it may take or miss 2 * 48, and as a new pair 36. A
 * pair: an item, an event and a position, something that may be taken, and twice itself. A quarter more to grow.
 */
static const u64 REFERENCE_BYTES = (92 + 2 * 55 + 16 + 2 * 48 + 36) * 5 / 4, PAIR_BYTES = (92 + 55 + 48 + 2 * 36) * 5 / 4;

u64 PrivateStacks::bytes_per_reference() { return REFERENCE_BYTES; }

PrivateStacks::PrivateStacks(const rsc_gpu_options &options, u32 processors, cudaStream_t stream)
    : shift_(options.stacks[0].line_shift), processors_(processors), stream_(stream) {
    most_.allocate(2, "counters");
    counters_.allocate(COUNTERS, "counters");
    check(cudaEventCreateWithFlags(&copied_, cudaEventDisableTiming), "event");
}

PrivateStacks::~PrivateStacks() { (void)cudaEventDestroy(copied_); }

/* ---- memory ---- */

template <class T> void PrivateStacks::make_room(DeviceArray<T> &array, u64 elements, const char *what) {
    if (array.room() >= elements && array.at()) return;
    check(cudaStreamSynchronize(stream_), "computing");
    array.allocate(elements + elements / 8, what);
}

u32 PrivateStacks::part_that_fits(u32 wanted) const {
    u64 kept = pairs_ * PAIR_BYTES + (u64)holes_ * 100, least = std::min(wanted, 1024u);
    u64 fits = budget_ > kept ? (budget_ - kept) / REFERENCE_BYTES : 0;
    u64 positions = (u64)pairs_ + places_;
    fits = std::min(fits, positions < POSITIONS_MOST ? (POSITIONS_MOST - positions) / 4 : 0);
    if (fits < least)
        fail(RSC_ELIMIT,
             "gpu engine: too many lines in private stacks for the device: %u so far, at %llu bytes each, and a chunk, at %llu "
             "bytes a reference, do not fit %.1f MiB; take a larger --line, or --engine exact",
             pairs_, (unsigned long long)PAIR_BYTES, (unsigned long long)REFERENCE_BYTES, (double)budget_ / (1 << 20));
    return (u32)std::min<u64>(wanted, fits);
}

/* ---- steps that others are made of ---- */

template <class Key, class Value>
void PrivateStacks::sort(const Key *keys, Key *sorted, const Value *values, Value *moved, u32 count, u32 bits) {
    size_t bytes = 0;
    check((sort_pairs<Key, Value>(nullptr, &bytes, keys, sorted, values, moved, count, bits, stream_)), "sort");
    make_room(space_, bytes, "sort");
    bytes = space_.room();
    check((sort_pairs<Key, Value>(space_.at(), &bytes, keys, sorted, values, moved, count, bits, stream_)), "sort");
}

template <class Value, class Join> void PrivateStacks::scan(Value *values, u32 count, Join join) {
    size_t bytes = 0;
    check(running_join(nullptr, &bytes, values, count, join, stream_), "scan");
    make_room(space_, bytes, "scan");
    bytes = space_.room();
    check(running_join(space_.at(), &bytes, values, count, join, stream_), "scan");
}

void PrivateStacks::begin_marks(MarkArrays &arrays, u64 count) {
    for (DeviceArray<u32> *array : {&arrays.bits, &arrays.counts, &arrays.before}) make_room(*array, count / WARP + 1, "marks");
}

/* counter: where how many there are goes, COUNTERS: nowhere. */
void PrivateStacks::sum_marks(const MarkArrays &arrays, u32 count, int counter) {
    size_t bytes = 0;
    u32 words = count / WARP + 1;
    check(running_sum(nullptr, &bytes, nullptr, nullptr, words, stream_), "sum");
    make_room(space_, bytes, "sum");
    bytes = space_.room();
    check(running_sum(space_.at(), &bytes, arrays.counts.at(), arrays.before.at(), words, stream_), "sum");
    if (counter == COUNTERS) return;
    RSC_LAUNCH(store_total, 1, WARP, 0, stream_, marks_of(arrays), count, counters_.at() + counter);
    check_launch("counts");
}

void PrivateStacks::read_counters() {
    check(cudaMemcpyAsync(host_counters_, counters_.at(), sizeof host_counters_, cudaMemcpyDeviceToHost, stream_), "counts");
    check(cudaStreamSynchronize(stream_), "computing");
}

/* ---- a chunk ---- */

void PrivateStacks::take(const u64 *words, const u64 *bytes, const u32 *who, const u32 *tags, u32 count, cudaEvent_t consumed) {
    while (count) {
        u32 part = part_that_fits(count);
        compute(Items{pair_[0].pairs(), pairs_, part, words, bytes, who, watch_.tags ? tags : nullptr, shift_}, consumed);
        words += part;
        bytes += part;
        who += part;
        if (tags) tags += part;
        count -= part;
    }
}

template <class T> void PrivateStacks::bring(HostArray<T> &to, const DeviceArray<T> &from, u32 count) {
    to.ensure(count);
    if (!count) return;
    check(cudaMemcpyAsync(to.at(), from.at(), count * sizeof(T), cudaMemcpyDeviceToHost, stream_), "outcomes");
}

void PrivateStacks::compute(Items items, cudaEvent_t consumed) {
    look(items);
    rank_references(items);
    find_foreign_writes(items);
    link(items);
    find_losses(items);
    run_events(items);
    hand_over(); /* what came before, while the device works */

    u32 count = items.references;
    make_room(rd_, count, "distances");
    if (watch_.tags) make_room(last_tag_, count, "tags");
    if (watch_.intervals) make_room(ri_, count, "intervals");
    FoundArguments found = {items, starts(), rank_.at(), previous_.at(), larger_deletes_.at(), rd_.at(),
                            watch_.tags ? last_tag_.at() : nullptr, watch_.intervals ? ri_.at() : nullptr};
    RSC_LAUNCH(write_found, blocks_of_256(count), KERNEL_THREADS, 0, stream_, found);
    check_launch("outcomes");
    u32 losses = host_counters_[TAKEN], returned = host_counters_[RETURNS];
    bring(found_rd_, rd_, count);
    if (watch_.tags) bring(found_last_tag_, last_tag_, count);
    if (watch_.intervals) bring(found_ri_, ri_, count);
    bring(found_losses_, losses_, losses);
    bring(found_returned_, returned_, returned);
    check(cudaEventRecord(copied_, stream_), "event");
    found_ = {count, found_rd_.at(), watch_.tags ? found_last_tag_.at() : nullptr, watch_.intervals ? found_ri_.at() : nullptr,
              found_losses_.at(), found_returned_.at(), losses, returned};
    references_ += count;
    carry(items);
    check(cudaEventRecord(consumed, stream_), "event");
}

void PrivateStacks::hand_over() {
    if (!found_.count) return;
    check(cudaEventSynchronize(copied_), "copying from the device");
    rsc_gpu_outcomes outcomes = found_;
    found_.count = 0;
    if (!watch_.take) return;
    int status = watch_.take(watch_.context, &outcomes);
    if (status < 0) fail(status, "gpu engine: outcomes could not be counted");
}

void PrivateStacks::fill(rsc_gpu_result &result) const {
    result.references = references_;
    result.distinct = lines_;
}

/* How many bits lines have, and how many stacks there are now. */
void PrivateStacks::look(const Items &items) {
    unsigned long long most[2] = {largest_line_, stacks_ ? stacks_ - 1 : 0};
    check(cudaMemcpyAsync(most_.at(), most, sizeof most, cudaMemcpyHostToDevice, stream_), "counters");
    RSC_LAUNCH(see_items, std::min(processors_ * 8, blocks_of_256(items.references)), KERNEL_THREADS, 0, stream_, items, most_.at());
    check_launch("reading lines");
    check(cudaMemcpyAsync(most, most_.at(), sizeof most, cudaMemcpyDeviceToHost, stream_), "counters");
    check(cudaMemsetAsync(counters_.at(), 0, COUNTERS * sizeof(u32), stream_), "clearing");
    check(cudaStreamSynchronize(stream_), "computing");
    largest_line_ = most[0];
    u32 known = stacks_;
    stacks_ = (u32)most[1] + 1;
    if (bit_start_.room() <= stacks_) { /* keeping what it has */
        DeviceArray<u32> starts;
        DeviceArray<u64> times;
        starts.allocate(2 * (size_t)stacks_ + 64, "stacks");
        times.allocate(2 * (size_t)stacks_ + 64, "stacks");
        if (known) {
            check(cudaMemcpyAsync(starts.at(), bit_start_.at(), known * sizeof(u32), cudaMemcpyDeviceToDevice, stream_), "stacks");
            check(cudaMemcpyAsync(times.at(), times_.at(), known * sizeof(u64), cudaMemcpyDeviceToDevice, stream_), "stacks");
        }
        check(cudaStreamSynchronize(stream_), "stacks");
        starts.swap(bit_start_);
        times.swap(times_);
        reference_start_.allocate(bit_start_.room(), "stacks");
    }
    u64 count = (u64)items.pairs + items.references;
    make_room(keys_, count, "lines");
    make_room(sorted_keys_, count, "lines");
    for (DeviceArray<u32> *array : {&numbers_, &order_, &stack_order_, &stack_keys_, &sorted_stacks_, &foreign_})
        make_room(*array, count, "lines");
    for (DeviceArray<u32> *array : {&rank_, &previous_}) make_room(*array, items.references, "references");
    RSC_LAUNCH(write_keys, blocks_of_256(count), KERNEL_THREADS, 0, stream_, items, keys_.at(), numbers_.at(), stack_keys_.at());
    check_launch("lines");
    /* the references' stacks are sorted at once: their room is needed again */
    sort<u32, u32>(stack_keys_.at(), sorted_stacks_.at(), numbers_.at(), stack_order_.at(), items.references, stack_bits());
    RSC_LAUNCH(find_starts, blocks_of_256((u64)stacks_ + 1), KERNEL_THREADS, 0, stream_, (const u32 *)sorted_stacks_.at(),
               items.references, stacks_, known, places_, reference_start_.at(), bit_start_.at(), times_.at());
    check_launch("stacks");
}

void PrivateStacks::rank_references(const Items &items) {
    RSC_LAUNCH(write_ranks, blocks_of_256(items.references), KERNEL_THREADS, 0, stream_, (const u32 *)stack_order_.at(),
               items.references, rank_.at());
    check_launch("stacks");
}

/* By line and time; then by stack, line and time. */
void PrivateStacks::find_foreign_writes(const Items &items) {
    u32 count = items.pairs + items.references;
    u32 line_bits = largest_line_ ? highest_bit(largest_line_) + 1 : 1;
    make_room(uses_, count, "uses");
    sort<u64, u32>(keys_.at(), sorted_keys_.at(), numbers_.at(), order_.at(), count, line_bits);
    RSC_LAUNCH(write_uses, blocks_of_256(count), KERNEL_THREADS, 0, stream_, items, (const u64 *)sorted_keys_.at(),
               (const u32 *)order_.at(), uses_.at());
    check_launch("writes");
    scan(uses_.at(), count, JoinUses());
    RSC_LAUNCH(find_foreign, blocks_to_mark(count), KERNEL_THREADS, 0, stream_, items, (const u64 *)sorted_keys_.at(),
               (const u32 *)order_.at(), (const uint2 *)uses_.at(), foreign_.at(), stack_keys_.at(), counters_.at() + NEW_LINES);
    check_launch("writes");
    sort<u32, u32>(stack_keys_.at(), sorted_stacks_.at(), order_.at(), stack_order_.at(), count, stack_bits());
}

void PrivateStacks::link(const Items &items) {
    u32 count = items.pairs + items.references;
    make_room(used_, count, "uses");
    begin_marks(taken_, count);
    begin_marks(ends_, count);
    begin_marks(hits_, items.references);
    begin_marks(returns_, items.references);
    LinkArguments arguments = {items, stack_order_.at(), sorted_stacks_.at(), foreign_.at(), previous_.at(), used_.at(),
                               marks_of(taken_), marks_of(ends_)};
    RSC_LAUNCH(link_uses, blocks_to_mark(count), KERNEL_THREADS, 0, stream_, arguments);
    check_launch("uses");
    scan(used_.at(), count, JoinUsed());
    RSC_LAUNCH(mark_references, blocks_to_mark(items.references), KERNEL_THREADS, 0, stream_, (const u32 *)previous_.at(),
               items.references, marks_of(hits_), marks_of(returns_));
    check_launch("uses");
    sum_marks(taken_, count, TAKEN);
    sum_marks(ends_, count, ENDS);
    sum_marks(hits_, items.references, HITS);
    sum_marks(returns_, items.references, RETURNS);
    read_counters();
    lines_ += host_counters_[NEW_LINES];
}

/* What is taken, by write and then by stack; and the references that miss it. */
void PrivateStacks::find_losses(const Items &items) {
    u32 count = items.pairs + items.references, taken = host_counters_[TAKEN], returned = host_counters_[RETURNS];
    for (DeviceArray<u32> *array : {&writes_, &sorted_writes_, &places_taken_, &sorted_places_}) make_room(*array, taken, "lost lines");
    make_room(losses_, taken, "lost lines");
    make_room(returned_, returned, "lost lines");
    LossArguments arguments = {items, stack_order_.at(), foreign_.at(), previous_.at(), used_.at(), sorted_writes_.at(),
                               sorted_places_.at(), taken, marks_of(returns_), losses_.at(), returned_.at()};
    if (taken) {
        RSC_LAUNCH(gather_taken, blocks_of_256(count), KERNEL_THREADS, 0, stream_, items, (const u32 *)stack_order_.at(),
                   (const u32 *)foreign_.at(), marks_of(taken_), writes_.at(), places_taken_.at());
        check_launch("lost lines");
        sort<u32, u32>(writes_.at(), sorted_writes_.at(), places_taken_.at(), sorted_places_.at(), taken,
                       std::max(1u, bits_for(items.references)));
        RSC_LAUNCH(write_losses, blocks_of_256(taken), KERNEL_THREADS, 0, stream_, arguments);
        check_launch("lost lines");
    }
    if (!returned) return;
    RSC_LAUNCH(write_returns, blocks_of_256(count), KERNEL_THREADS, 0, stream_, arguments);
    check_launch("lost lines");
}

/* Which hole each reference fills, and how many were filled above each line that is used again. */
void PrivateStacks::run_events(const Items &items) {
    u32 taken = host_counters_[TAKEN], positions = places_ + items.references;
    u32 count = holes_ + items.references + host_counters_[HITS] + taken;
    for (DeviceArray<uint2> *array : {&events_, &moved_}) make_room(*array, count, "holes");
    for (DeviceArray<u32> *array : {&event_stacks_, &sorted_event_stacks_}) make_room(*array, count, "holes");
    make_room(walk_, count, "holes");
    make_room(larger_deletes_, positions, "positions");
    make_room(was_hole_, positions, "positions");
    make_room(filled_, positions, "positions");
    begin_marks(halves_, count);
    EventArguments arguments = {items, starts(), rank_.at(), stack_order_.at(), previous_.at(), hole_place_.at(), hole_stack_.at(),
                                sorted_writes_.at(), sorted_places_.at(), holes_, taken, marks_of(hits_), moved_.at(),
                                event_stacks_.at()};
    RSC_LAUNCH(write_events, blocks_of_256(std::max(std::max(holes_, taken), items.references)), KERNEL_THREADS, 0, stream_, arguments);
    check_launch("holes");
    sort<u32, uint2>(event_stacks_.at(), sorted_event_stacks_.at(), moved_.at(), events_.at(), count, stack_bits());
    for (u32 bit = bits_for((u64)positions + 1); bit-- > 0;) {
        RSC_LAUNCH(write_walk, blocks_of_256(count), KERNEL_THREADS, 0, stream_, (const uint2 *)events_.at(), count, bit, walk_.at());
        check_launch("holes");
        scan(walk_.at(), count, JoinWalks());
        RSC_LAUNCH(choose_half, blocks_to_mark(count), KERNEL_THREADS, 0, stream_, events_.at(), count, bit,
                   (const uint4 *)walk_.at(), marks_of(halves_));
        check_launch("holes");
        sum_marks(halves_, count, COUNTERS);
        RSC_LAUNCH(move_halves, blocks_of_256(count), KERNEL_THREADS, 0, stream_, (const uint2 *)events_.at(), count, marks_of(halves_),
                   moved_.at());
        check_launch("holes");
        events_.swap(moved_);
    }
    check(cudaMemsetAsync(was_hole_.at(), 0, positions, stream_), "clearing");
    check(cudaMemsetAsync(filled_.at(), 0, positions, stream_), "clearing");
    RSC_LAUNCH(end_events, blocks_of_256(count), KERNEL_THREADS, 0, stream_, (const uint2 *)events_.at(), count, starts(),
               larger_deletes_.at(), was_hole_.at(), filled_.at());
    check_launch("holes");
}

/* What the next chunk begins with. */
void PrivateStacks::carry(const Items &items) {
    u32 positions = places_ + items.references, pairs = host_counters_[ENDS], count = items.pairs + items.references;
    begin_marks(remaining_, positions);
    begin_marks(open_, positions);
    RSC_LAUNCH(mark_remaining, blocks_to_mark(positions), KERNEL_THREADS, 0, stream_, (const unsigned char *)was_hole_.at(),
               (const unsigned char *)filled_.at(), positions, marks_of(remaining_), marks_of(open_));
    check_launch("carried lines");
    sum_marks(remaining_, positions, REMAINING);
    sum_marks(open_, positions, HOLES);
    read_counters();
    holes_ = host_counters_[HOLES];
    make_room(hole_place_, holes_, "carried holes");
    make_room(hole_stack_, holes_, "carried holes");
    RSC_LAUNCH(carry_holes, blocks_of_256(positions), KERNEL_THREADS, 0, stream_, starts(), positions, marks_of(remaining_),
               marks_of(open_), hole_place_.at(), hole_stack_.at());
    check_launch("carried holes");
    PairArrays &next = pair_[1];
    for (DeviceArray<u64> *array : {&next.line, &next.time, &next.used}) make_room(*array, pairs, "carried lines");
    for (DeviceArray<u32> *array : {&next.stack, &next.state}) make_room(*array, pairs, "carried lines");
    if (watch_.tags) make_room(next.tag, pairs, "carried lines");
    CarryArguments arguments = {items, starts(), rank_.at(), stack_order_.at(), foreign_.at(), used_.at(), marks_of(taken_),
                                marks_of(ends_), marks_of(remaining_), next.pairs()};
    RSC_LAUNCH(carry_pairs, blocks_of_256(count), KERNEL_THREADS, 0, stream_, arguments);
    check_launch("carried lines");
    RSC_LAUNCH(carry_starts, blocks_of_256((u64)stacks_ + 1), KERNEL_THREADS, 0, stream_, starts(), marks_of(remaining_),
               bit_start_.at(), times_.at());
    check_launch("carried lines");
    PairArrays &now = pair_[0];
    now.line.swap(next.line);
    now.time.swap(next.time);
    now.used.swap(next.used);
    now.stack.swap(next.stack);
    now.state.swap(next.state);
    now.tag.swap(next.tag);
    pairs_ = pairs;
    places_ = host_counters_[REMAINING];
}
