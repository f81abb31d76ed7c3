/* session.cu - see session.h. */
#include "session.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include <reusescope/error.h>

#include "lines.cuh"
#include "pairs.cuh"
#include "sort.cuh"

/* One line size: what lasts from chunk to chunk. */
struct Stack {
    LineRule rule;
    bool wide = false; /* 64-bit ids */
    DeviceArray<unsigned long long> slots, regions, histograms; /* rd, then ri, then capped */
    DeviceArray<u32> region_counts;                             /* numbered, seen */
    u32 region_count = 0;
    DeviceArray<unsigned char> carry_ids; /* u32 or u64 */
    DeviceArray<u64> carry_times, next_times;
    u32 carried = 0;
    u64 time = 0; /* references so far */

    RegionTable table() const {
        return RegionTable{slots.at(), regions.at(), region_counts.at(), region_counts.at() + 1};
    }
};

/* Work space for `room` positions; shared by the line sizes. */
struct Work {
    u32 room = 0;
    bool wide = false;
    DeviceArray<unsigned char> ids, sorted_ids, temporary; /* sorted_ids later holds prev, temporary pairs and elements */
    DeviceArray<u32> positions, sorted_positions;
    DeviceArray<uint2> elements, ranks;
    DeviceArray<u32> counts, before, status, small;
    DeviceArray<unsigned char> sum_space;
    size_t sort_bytes = 0, sum_bytes = 0;
};

static const u64 CHUNK_WORDS_MOST = 64ull << 20;
static const u32 POSITIONS_MOST = 0x3ffffff0; /* PREV_NONE and the look-back words have 30 bits */
static const u64 PIECE_WORDS_MOST = 4ull << 20;

/* Phases of the timing, in the order they run. */
enum { PHASE_IDS, PHASE_SORT, PHASE_PAIRS, PHASE_RANK, PHASE_COUNT, PHASE_LAST, PHASE_CARRY, PHASE_END };

/* ---- failures ---- */

[[noreturn]] static void fail(int code, const char *format, ...) {
    char text[RSC_GPU_MESSAGE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    throw Failure{code, text};
}

static void check(cudaError_t status, const char *doing) {
    if (status == cudaSuccess) return;
    (void)cudaGetLastError(); /* so that a later session of this process does not find it */
    if (status == cudaErrorMemoryAllocation) fail(RSC_ENOMEM, "gpu: out of device memory (%s)", doing);
    fail(RSC_EIO, "gpu: %s: %s", doing, cudaGetErrorString(status));
}
static void check_launch(const char *kernel) { check(cudaGetLastError(), kernel); }

template <class T> void DeviceArray<T>::allocate(size_t elements, const char *what) {
    release();
    check(cudaMalloc(&at_, std::max<size_t>(elements, 1) * sizeof(T)), what);
    room_ = elements;
}
template <class T> void DeviceArray<T>::release() {
    if (at_) (void)cudaFree(at_);
    at_ = nullptr;
    room_ = 0;
}

/* Blocks of `threads` for n items, each `per_thread`. */
static u32 blocks_for(u64 n, u32 threads, u32 per_thread = 1) {
    u64 per_block = (u64)threads * per_thread;
    return (u32)std::max<u64>(1, (n + per_block - 1) / per_block);
}

/* ---- opening ---- */

Session::Session(const rsc_gpu_options &options) : options_(options) {
    try {
        work_ = new Work;
        open_device();
        choose_chunk();
        make_stacks();
    } catch (...) {
        release();
        throw;
    }
}

Session::~Session() { release(); }

void Session::release() {
    if (streams_made_) {
        (void)cudaStreamSynchronize(copy_stream_);
        (void)cudaStreamSynchronize(look_stream_);
        (void)cudaStreamSynchronize(compute_stream_);
    }
    for (Stack *stack : stacks_) delete stack;
    delete work_;
    for (Piece &piece : pieces_)
        if (piece.words) (void)cudaFreeHost(piece.words);
    if (host_counts_) (void)cudaFreeHost(host_counts_);
    for (cudaEvent_t event : events_) (void)cudaEventDestroy(event);
    for (cudaEvent_t event : marks_) (void)cudaEventDestroy(event);
    if (streams_made_) {
        (void)cudaStreamDestroy(copy_stream_);
        (void)cudaStreamDestroy(look_stream_);
        (void)cudaStreamDestroy(compute_stream_);
    }
}

template <u32 BITS> static void allow_shared_memory() {
    check(cudaFuncSetAttribute(count_pass<BITS, true>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)tile_shared_bytes(BITS)), "shared memory");
    check(cudaFuncSetAttribute(count_pass<BITS, false>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)tile_shared_bytes(BITS)), "shared memory");
}

void Session::open_device() {
    int count = 0;
    cudaError_t status = cudaGetDeviceCount(&count);
    if (status == cudaErrorInsufficientDriver)
        fail(RSC_EUNSUPPORTED, "gpu engine: the NVIDIA driver is missing, or older than this plugin needs");
    if (status == cudaErrorNoDevice || (status == cudaSuccess && count == 0))
        fail(RSC_EUNSUPPORTED, "gpu engine: no CUDA device on this machine");
    check(status, "looking for devices");
    if (options_.device >= (u32)count)
        fail(RSC_EUNSUPPORTED, "gpu engine: no device %u; this machine has %d, from 0", options_.device, count);
    check(cudaSetDevice((int)options_.device), "choosing the device");
    cudaDeviceProp properties;
    check(cudaGetDeviceProperties(&properties, (int)options_.device), "asking the device");
    device_name_ = properties.name;
    processors_ = (u32)properties.multiProcessorCount;

    check(cudaStreamCreateWithFlags(&copy_stream_, cudaStreamNonBlocking), "stream");
    check(cudaStreamCreateWithFlags(&look_stream_, cudaStreamNonBlocking), "stream");
    check(cudaStreamCreateWithFlags(&compute_stream_, cudaStreamNonBlocking), "stream");
    streams_made_ = true;
    for (Chunk &chunk : chunks_)
        for (cudaEvent_t *event : {&chunk.copied, &chunk.ready, &chunk.consumed}) {
            check(cudaEventCreateWithFlags(event, cudaEventDisableTiming), "event");
            events_.push_back(*event);
        }
    for (Piece &piece : pieces_) {
        check(cudaEventCreateWithFlags(&piece.copied, cudaEventDisableTiming), "event");
        events_.push_back(piece.copied);
    }
    check(cudaHostAlloc(&host_counts_, (2 + RSC_GPU_LINE_SIZES_MAX) * sizeof *host_counts_, cudaHostAllocDefault),
          "page-locked memory");
    allow_shared_memory<5>();
    allow_shared_memory<6>();
    allow_shared_memory<7>();
    allow_shared_memory<8>();
    check(cudaFuncSetAttribute(count_last, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)tile_shared_bytes(LAST_BITS)), "shared memory");
    check(cudaFuncSetAttribute(pair_up<u32>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)PAIR_SHARED_BYTES), "shared memory");
    check(cudaFuncSetAttribute(pair_up<u64>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)PAIR_SHARED_BYTES), "shared memory");
}

/* Device bytes per position of the work space, and per carried line of a stack; upper bounds. */
static u64 bytes_per_position(bool wide) {
    u64 id = wide ? 8 : 4;
    return 2 * id + std::max<u64>(id + 4, 8) + 8 + 8 + 2; /* ids, temporary, positions, elements; ranks, status */
}
static u64 bytes_per_line(bool wide) { return (wide ? 8 : 4) + 16; }

void Session::choose_chunk() {
    size_t free_bytes, all_bytes;
    check(cudaMemGetInfo(&free_bytes, &all_bytes), "asking for free memory");
    budget_ = free_bytes - free_bytes / 16;
    if (options_.memory_bytes) budget_ = std::min<size_t>(budget_, options_.memory_bytes);
    /* a chunk takes its two copies and its share of the work space, which also has to hold the carried lines */
    u64 per_word = 2 * sizeof(u64) + bytes_per_position(true);
    chunk_words_ = options_.chunk_words ? options_.chunk_words : std::min<u64>(CHUNK_WORDS_MOST, budget_ / per_word / 4);
    if (chunk_words_ < 1 || chunk_words_ > POSITIONS_MOST / 2 || chunk_words_ * per_word > budget_)
        fail(RSC_ENOMEM, "gpu: %zu MiB of device memory do not hold a chunk of %llu words", budget_ >> 20,
             (unsigned long long)chunk_words_);
    piece_words_ = std::min(PIECE_WORDS_MOST, chunk_words_);
}

void Session::make_stacks() {
    for (u32 i = 0; i < options_.line_count; i++) {
        Stack *stack = new Stack;
        stacks_.push_back(stack);
        stack->rule = LineRule{options_.line_shifts[i], options_.private_stacks ? 16u : 0u};
        stack->slots.allocate(REGION_SLOTS, "region table");
        stack->regions.allocate(REGIONS_MOST + 1, "region table");
        stack->region_counts.allocate(2, "region table");
        stack->histograms.allocate(2 * RSC_GPU_BINS + 1, "histograms");
        check(cudaMemsetAsync(stack->slots.at(), 0xff, REGION_SLOTS * sizeof(unsigned long long), compute_stream_), "clearing");
        check(cudaMemsetAsync(stack->region_counts.at(), 0, 2 * sizeof(u32), compute_stream_), "clearing");
        check(cudaMemsetAsync(stack->histograms.at(), 0, (2 * RSC_GPU_BINS + 1) * sizeof(unsigned long long), compute_stream_),
              "clearing");
    }
    work_->small.allocate(64 + BUCKETS, "counters");
    check(cudaStreamSynchronize(compute_stream_), "clearing");
}

/* ---- words in ---- */

void Session::reserve(u64 words, u64 lines) {
    words = std::min(words, chunk_words_);
    lines = std::min<u64>(lines, POSITIONS_MOST / 2);
    for (Chunk &chunk : chunks_)
        if (!chunk.words.room()) chunk.words.allocate(chunk_words_, "chunk");
    if ((words + lines) * bytes_per_position(false) < budget_ / 2) ensure_work((u32)(words + lines), false);
    for (Stack *stack : stacks_) {
        if (stack->carried || lines * bytes_per_line(false) > budget_ / 8) continue;
        stack->carry_ids.allocate(lines * sizeof(u32), "carried lines");
        stack->carry_times.allocate(lines, "carried lines");
        stack->next_times.allocate(lines, "carried lines");
    }
    check(cudaStreamSynchronize(compute_stream_), "positions");
}

void Session::buffer(u64 **words, size_t *room) {
    Piece &piece = pieces_[next_piece_];
    if (!piece.words) {
        u64 *at;
        check(cudaHostAlloc(&at, piece_words_ * sizeof *at, cudaHostAllocDefault), "page-locked memory");
        piece.words = at;
    } else {
        check(cudaEventSynchronize(piece.copied), "copying to the device");
    }
    *words = piece.words;
    *room = piece_words_;
}

void Session::commit(size_t count) {
    Piece &piece = pieces_[next_piece_];
    if (count) copy_words(piece.words, count);
    check(cudaEventRecord(piece.copied, copy_stream_), "event");
    next_piece_ = (next_piece_ + 1) % PIECES;
}

void Session::push(const u64 *words, u64 count) { copy_words(words, count); }

void Session::copy_words(const u64 *words, u64 count) {
    while (count) {
        Chunk &chunk = chunks_[filling_];
        if (!chunk.words.room()) chunk.words.allocate(chunk_words_, "chunk");
        u64 part = std::min(count, chunk_words_ - chunk.filled);
        check(cudaMemcpyAsync(chunk.words.at() + chunk.filled, words, part * sizeof *words, cudaMemcpyHostToDevice,
                              copy_stream_), "copying to the device");
        chunk.filled += part;
        words += part;
        count -= part;
        if (chunk.filled == chunk_words_) chunk_is_full();
    }
}

/* The chunk's copy is under way; the one before it is computed meanwhile, and its buffer filled next. */
void Session::chunk_is_full() {
    Chunk &chunk = chunks_[filling_];
    chunk.waiting = true;
    check(cudaEventRecord(chunk.copied, copy_stream_), "event");
    filling_ = (filling_ + 1) % CHUNKS;
    Chunk &other = chunks_[filling_];
    if (other.waiting) {
        compute_waiting(other);
        check(cudaStreamWaitEvent(copy_stream_, other.consumed, 0), "event");
    }
}

void Session::compute_waiting(Chunk &chunk) {
    check(cudaStreamWaitEvent(look_stream_, chunk.copied, 0), "event");
    look_for_regions(chunk.words.at(), chunk.filled);
    check(cudaEventRecord(chunk.ready, look_stream_), "event");
    check(cudaEventSynchronize(chunk.ready), "copying to the device");
    compute(chunk.words.at(), chunk.filled, chunk.consumed);
    chunk.waiting = false;
    chunk.filled = 0;
}

void Session::push_device(const u64 *words, u64 count) {
    while (count) {
        u64 part = std::min(count, chunk_words_);
        look_for_regions(words, part);
        check(cudaStreamSynchronize(look_stream_), "reading lines");
        compute(words, part, chunks_[0].consumed);
        words += part;
        count -= part;
    }
}

/* New regions of the words get their numbers; how many there are arrives in host_counts_. */
void Session::look_for_regions(const u64 *words, u64 count) {
    for (size_t i = 0; i < stacks_.size(); i++) {
        Stack &stack = *stacks_[i];
        if (stack.wide || !count) continue;
        u32 blocks = std::min(processors_ * 8, blocks_for(count, 256));
        RSC_LAUNCH(see_regions, blocks, 256, 0, look_stream_, words, count, stack.rule, stack.table());
        check_launch("reading lines");
        RSC_LAUNCH(number_regions, 1, 1024, 0, look_stream_, stack.table());
        check_launch("numbering regions");
        check(cudaMemcpyAsync(&host_counts_[2 + i], stack.region_counts.at(), sizeof(u32), cudaMemcpyDeviceToHost,
                              look_stream_), "reading lines");
    }
}

/* ---- computing ---- */

void Session::compute(const u64 *words, u64 count, cudaEvent_t consumed) {
    for (size_t i = 0; i < stacks_.size(); i++) {
        Stack &stack = *stacks_[i];
        if (!stack.wide) {
            stack.region_count = host_counts_[2 + i];
            if (stack.region_count > REGIONS_MOST) widen(stack);
        }
        for (u64 done = 0; done < count;) {
            u64 part = round_words(stack, count - done);
            if (stack.wide) compute_round<u64>(stack, words + done, (u32)part, consumed);
            else compute_round<u32>(stack, words + done, (u32)part, consumed);
            done += part;
        }
    }
    timing_.chunks++;
}

/* How many of `wanted` words fit beside the carried lines; refuses when that is next to nothing. */
u64 Session::round_words(const Stack &stack, u64 wanted) {
    u64 fixed = 2 * chunk_words_ * sizeof(u64), lines = 0;
    for (Stack *other : stacks_) lines += other->carried * bytes_per_line(other->wide);
    lines += stack.carried * bytes_per_line(stack.wide) / 4; /* room to grow */
    u64 left = budget_ > fixed + lines ? budget_ - fixed - lines : 0;
    u64 positions = std::min<u64>(left / bytes_per_position(stack.wide), POSITIONS_MOST);
    u64 least = std::min(wanted, std::max<u64>(1, chunk_words_ / 64));
    /* each new word may be a new line, to be carried as well */
    u64 fits = positions > stack.carried ? (positions - stack.carried) / 2 : 0;
    if (fits < least)
        fail(RSC_ELIMIT,
             "gpu: %u distinct lines of %u bytes, %llu bytes each, leave no room in %zu MiB of device memory "
             "for %llu more references; take a larger --line, or another engine",
             stack.carried, 1u << stack.rule.shift,
             (unsigned long long)(bytes_per_line(stack.wide) + bytes_per_position(stack.wide)), budget_ >> 20,
             (unsigned long long)least);
    return std::min(wanted, fits);
}

void Session::ensure_work(u32 total, bool wide) {
    Work &work = *work_;
    if (total <= work.room && (work.wide || !wide)) return;
    u64 room = work.wide || !wide ? (u64)total + total / 4 : total;
    room = std::min<u64>(std::max<u64>(room, 1024), POSITIONS_MOST);
    check(cudaStreamSynchronize(compute_stream_), "computing");
    work.room = 0;
    work.wide |= wide;
    size_t id = work.wide ? 8 : 4;
    for (DeviceArray<unsigned char> *array : {&work.ids, &work.sorted_ids, &work.temporary, &work.sum_space}) array->release();
    for (DeviceArray<u32> *array : {&work.positions, &work.sorted_positions, &work.counts, &work.before, &work.status})
        array->release();
    for (DeviceArray<uint2> *array : {&work.elements, &work.ranks}) array->release();
    u64 lines = 0;
    for (Stack *stack : stacks_) lines += stack->carried * bytes_per_line(stack->wide);
    u64 most = (budget_ - std::min<u64>(budget_, lines + 2 * chunk_words_ * sizeof(u64))) / bytes_per_position(work.wide);
    room = std::max<u64>(total, std::min(room, most));

    size_t sort_bytes = 0, wide_bytes = 0;
    check(sort_pairs<u32, u32>(nullptr, &sort_bytes, nullptr, nullptr, nullptr, nullptr, (u32)room, 32, compute_stream_), "sort");
    if (work.wide)
        check(sort_pairs<u64, u32>(nullptr, &wide_bytes, nullptr, nullptr, nullptr, nullptr, (u32)room, 64, compute_stream_), "sort");
    work.sort_bytes = std::max(sort_bytes, wide_bytes);
    check(running_sum(nullptr, &work.sum_bytes, nullptr, nullptr, (u32)(room / 32 + 1), compute_stream_), "sum");
    work.ids.allocate(room * id, "lines");
    work.sorted_ids.allocate(room * id, "sorted lines");
    work.temporary.allocate(std::max<size_t>(work.sort_bytes, room * sizeof(uint2)), "sort");
    work.sum_space.allocate(work.sum_bytes, "sum");
    work.positions.allocate(room, "positions");
    work.sorted_positions.allocate(room, "sorted positions");
    work.elements.allocate(room, "elements");
    work.ranks.allocate(room / 32 + 1, "ranks");
    work.counts.allocate(room / 32 + 1, "ranks");
    work.before.allocate(room / 32 + 1, "ranks");
    work.status.allocate((room / TILE + 1) << DIGIT_BITS_MOST, "tiles");
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
               (u64)stack.carried, stack.table(), (u64 *)lines.at());
    check_launch("widening");
    check(cudaStreamSynchronize(compute_stream_), "widening");
    stack.carry_ids.swap(lines);
}

template <class Id> void Session::compute_round(Stack &stack, const u64 *words, u32 count, cudaEvent_t consumed) {
    u32 carried = stack.carried, total = carried + count;
    ensure_work(total, sizeof(Id) == 8);
    Work &work = *work_;
    cudaStream_t stream = compute_stream_;
    Id *ids = (Id *)work.ids.at(), *sorted_ids = (Id *)work.sorted_ids.at();
    u32 *small = work.small.at(), *prev = (u32 *)work.sorted_ids.at();
    uint2 *pairs = (uint2 *)work.temporary.at();
    Clock clock = {stack.carry_times.at(), carried, stack.time};

    phase(PHASE_IDS);
    if (carried)
        check(cudaMemcpyAsync(ids, stack.carry_ids.at(), carried * sizeof(Id), cudaMemcpyDeviceToDevice, stream), "carried lines");
    RSC_LAUNCH(make_ids<Id>, std::min(processors_ * 16, blocks_for(count, 256)), 256, 0, stream, words, (u64)count, stack.rule,
               stack.table(), ids + carried);
    check_launch("line numbers");
    check(cudaEventRecord(consumed, stream), "event");

    phase(PHASE_SORT);
    u32 bits = sizeof(Id) == 8 ? 64 : std::min(32u, REGION_BITS + std::max(1u, bits_for(stack.region_count)));
    size_t sort_bytes = work.temporary.room();
    check(sort_pairs(work.temporary.at(), &sort_bytes, ids, sorted_ids, work.positions.at(), work.sorted_positions.at(), total,
                     bits, stream), "sort");

    phase(PHASE_PAIRS);
    check(cudaMemsetAsync(small, 0, work.small.room() * sizeof *small, stream), "clearing");
    u32 position_bits = bits_for(total);
    PairArguments<Id> pair = {sorted_ids, work.sorted_positions.at(), total,
                              position_bits > BUCKET_BITS ? position_bits - BUCKET_BITS : 0, small + 64, pairs, clock,
                              options_.no_ri ? nullptr : stack.histograms.at() + RSC_GPU_BINS};
    RSC_LAUNCH(pair_up<Id>, std::min(processors_ * 4, blocks_for(total, THREADS, ITEMS)), THREADS, PAIR_SHARED_BYTES, stream, pair);
    check_launch("pairs");

    phase(PHASE_RANK);
    RSC_LAUNCH(place, blocks_for(total, 256, PLACE_ITEMS), 256, 0, stream, (const uint2 *)pairs, total, prev);
    check_launch("previous uses");
    RSC_LAUNCH(mark_last_uses, blocks_for((u64)total + 32, 256), 256, 0, stream, (const u32 *)prev, total, work.ranks.at(),
               work.counts.at());
    check_launch("last uses");
    size_t sum_bytes = work.sum_space.room();
    check(running_sum(work.sum_space.at(), &sum_bytes, work.counts.at(), work.before.at(), total / 32 + 1, stream), "sum");
    RSC_LAUNCH(finish_ranks, blocks_for(total / 32 + 1, 256), 256, 0, stream, work.ranks.at(), (const u32 *)work.before.at(), total,
               small, small + 1);
    check_launch("ranks");
    check(cudaMemcpyAsync(host_counts_, small, 2 * sizeof(u32), cudaMemcpyDeviceToHost, stream), "counts");
    phase(PHASE_COUNT);
    count_distances(stack, carried, total);

    phase(PHASE_CARRY);
    check(cudaStreamSynchronize(stream), "computing");
    u32 lines = host_counts_[0];
    if (stack.next_times.room() < lines) {
        u64 room = std::min<u64>((u64)lines + lines / 4, POSITIONS_MOST);
        stack.next_times.allocate(room, "carried lines");
    }
    /* the old ids are in work.ids as well: theirs may be overwritten at once */
    if (stack.carry_ids.room() < lines * sizeof(Id)) stack.carry_ids.allocate(stack.next_times.room() * sizeof(Id), "carried lines");
    RSC_LAUNCH(carry_over<Id>, blocks_for(total, 256), 256, 0, stream, (const uint2 *)work.ranks.at(), total, (const Id *)ids, clock,
               (Id *)stack.carry_ids.at(), stack.next_times.at());
    check_launch("carried lines");
    stack.carry_times.swap(stack.next_times);
    stack.carried = lines;
    stack.time += count;
    phase(PHASE_END);
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
                          stack.histograms.at() + 2 * RSC_GPU_BINS};
    RSC_LAUNCH(count_last, std::min(tiles, processors_ * 4), THREADS, tile_shared_bytes(LAST_BITS), compute_stream_, last);
    check_launch("counting");
}

/* ---- the end ---- */

void Session::finish(rsc_gpu_result *results) {
    /* the chunk that waits came before the one being filled */
    for (u32 i = 1; i <= CHUNKS; i++) {
        Chunk &chunk = chunks_[(filling_ + i) % CHUNKS];
        if (!chunk.filled) continue;
        if (!chunk.waiting) check(cudaEventRecord(chunk.copied, copy_stream_), "event");
        compute_waiting(chunk);
    }
    check(cudaStreamSynchronize(copy_stream_), "copying to the device");
    for (size_t i = 0; i < stacks_.size(); i++) {
        Stack &stack = *stacks_[i];
        rsc_gpu_result &result = results[i];
        memset(&result, 0, sizeof result);
        std::vector<unsigned long long> counts(2 * RSC_GPU_BINS + 1);
        check(cudaMemcpyAsync(counts.data(), stack.histograms.at(), counts.size() * sizeof counts[0], cudaMemcpyDeviceToHost,
                              compute_stream_), "results");
        check(cudaStreamSynchronize(compute_stream_), "computing");
        for (u32 bin = 0; bin < RSC_GPU_BINS; bin++) {
            result.rd[bin] = counts[bin];
            result.ri[bin] = counts[RSC_GPU_BINS + bin];
        }
        result.rd_capped = counts[2 * RSC_GPU_BINS];
        result.references = stack.time;
        result.distinct = stack.carried;
    }
}

/* ---- timing ---- */

void Session::phase(u32 number) {
    if (!options_.timing) return;
    cudaEvent_t event;
    check(cudaEventCreateWithFlags(&event, cudaEventDefault), "event");
    marks_.push_back(event);
    mark_phases_.push_back(number);
    check(cudaEventRecord(event, compute_stream_), "event");
}

rsc_gpu_timing Session::timing() {
    double *sums[] = {&timing_.ids, &timing_.sort, &timing_.pairs, &timing_.rank, &timing_.count, &timing_.last, &timing_.carry};
    check(cudaStreamSynchronize(compute_stream_), "computing");
    for (double *sum : sums) *sum = 0;
    for (size_t i = 0; i + 1 < marks_.size(); i++) {
        float ms = 0;
        if (mark_phases_[i] == PHASE_END) continue;
        check(cudaEventElapsedTime(&ms, marks_[i], marks_[i + 1]), "timing");
        *sums[mark_phases_[i]] += ms;
    }
    size_t free_bytes, all_bytes;
    check(cudaMemGetInfo(&free_bytes, &all_bytes), "memory");
    timing_.device_bytes = all_bytes - free_bytes;
    snprintf(timing_.device_name, sizeof timing_.device_name, "%s", device_name_.c_str());
    return timing_;
}
