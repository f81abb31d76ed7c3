/* session.cu - see session.h: the device, words in, results out. */
#include <algorithm>
#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include <reusescope/error.h>

#include "hprda.h"
#include "private_stacks.h"
#include "session_state.h"

static const u64 BLOCK_WORDS_MOST = 1ull << 17; /* 1 MiB: from there on the bus is at its full rate */

/* Sessions of this process share what memory is free. */
static std::atomic<u32> open_sessions{0};

/* ---- failures ---- */

void fail(int code, const char *format, ...) {
    char text[RSC_GPU_MESSAGE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    throw Failure{code, text};
}

void check(cudaError_t status, const char *doing) {
    if (status == cudaSuccess) return;
    (void)cudaGetLastError(); /* so that a later session of this process does not find it */
    if (status == cudaErrorMemoryAllocation) fail(RSC_ENOMEM, "gpu engine: out of device memory (%s)", doing);
    fail(RSC_EIO, "gpu engine: the device failed (%s): %s", doing, cudaGetErrorString(status));
}

/* ---- opening ---- */

Session::Session(const rsc_gpu_options &options) : options_(options) {
    open_sessions++;
    try {
        work_ = new Work;
        open_device();
        if (options_.hprda.on) {
            hprda_ = new Hprda(options_, processors_, compute_stream_);
            hprda_->phase = [](void *session, u32 number) { ((Session *)session)->phase(number); };
            hprda_->phase_context = this;
        } else if (options_.private_stacks) {
            private_ = new PrivateStacks(options_, processors_, compute_stream_);
        } else {
            make_stacks();
        }
    } catch (...) {
        release();
        throw;
    }
}

Session::~Session() {
    (void)cudaSetDevice((int)options_.device);
    release();
}

void Session::use() const { check(cudaSetDevice((int)options_.device), "choosing the device"); }

/* At any moment, also in the middle of work and after a failure: what is under way ends first. */
void Session::release() {
    open_sessions--;
    for (cudaStream_t stream : streams_) (void)cudaStreamSynchronize(stream);
    for (Stack *stack : stacks_) delete stack;
    delete work_;
    delete hprda_;
    delete private_;
    for (Block *block : blocks_) delete block;
    for (void *memory : slabs_) (void)cudaFreeHost(memory);
    for (Found &found : found_)
        for (void *memory : {(void *)found.rd, (void *)found.last_tag, (void *)found.ri})
            if (memory) (void)cudaFreeHost(memory);
    if (host_counts_) (void)cudaFreeHost(host_counts_);
    for (cudaEvent_t event : events_) (void)cudaEventDestroy(event);
    for (cudaEvent_t event : marks_) (void)cudaEventDestroy(event);
    for (cudaStream_t stream : streams_) (void)cudaStreamDestroy(stream);
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
        fail(RSC_EUNSUPPORTED, "gpu engine: no device %u; this machine has %d, numbered from 0", options_.device, count);
    use();
    cudaDeviceProp properties;
    check(cudaGetDeviceProperties(&properties, (int)options_.device), "asking the device");
    device_name_ = properties.name;
    processors_ = (u32)properties.multiProcessorCount;
    shared_bytes_ = properties.sharedMemPerBlockOptin;

    for (cudaStream_t *stream : {&copy_stream_, &look_stream_, &compute_stream_, &found_stream_}) {
        check(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking), "stream");
        streams_.push_back(*stream);
    }
    for (Chunk &chunk : chunks_)
        for (cudaEvent_t *event : {&chunk.copied, &chunk.ready, &chunk.consumed}) {
            check(cudaEventCreateWithFlags(event, cudaEventDisableTiming), "event");
            events_.push_back(*event);
        }
    cudaEvent_t *others[] = {&found_[0].copied, &found_[1].copied, &outcomes_made_};
    for (cudaEvent_t *event : others) {
        check(cudaEventCreateWithFlags(event, cudaEventDisableTiming), "event");
        events_.push_back(*event);
    }
    check(cudaHostAlloc(&host_counts_, (HOST_REGIONS + RSC_GPU_STACKS_MAX) * sizeof *host_counts_, cudaHostAllocDefault),
          "page-locked memory");
    prepare_kernels();
}

/* With the first words: by then all sessions that are to run together are open. */
void Session::begin() {
    std::lock_guard<std::mutex> hold(lock_);
    if (begun_) return;
    size_t free_bytes, all_bytes;
    check(cudaMemGetInfo(&free_bytes, &all_bytes), "asking for free memory");
    budget_ = (free_bytes - free_bytes / 16) / std::max(1u, open_sessions.load());
    if (options_.memory_bytes) budget_ = std::min<size_t>(budget_, options_.memory_bytes);
    /* a chunk takes its two copies and its share of the work space, which also has to hold the carried lines */
    u64 per_word = 2 * word_bytes() + (private_ ? PrivateStacks::bytes_per_reference() : bytes_per_position(true));
    chunk_words_ = options_.chunk_words ? options_.chunk_words : std::min<u64>(CHUNK_MOST, budget_ / per_word / 4);
    if (chunk_words_ < 1 || chunk_words_ > POSITIONS_MOST / 2 || chunk_words_ > budget_ / per_word)
        fail(RSC_ENOMEM, "gpu engine: %.1f MiB of device memory do not hold a chunk of %llu references, %llu bytes each",
             (double)budget_ / (1 << 20), (unsigned long long)std::max<u64>(1, chunk_words_), (unsigned long long)per_word);
    block_words_ = std::min(BLOCK_WORDS_MOST, chunk_words_);
    if (hprda_) hprda_->set_budget(budget_ - 2 * chunk_words_ * word_bytes(), chunk_words_);
    if (private_) private_->set_budget(budget_ - 2 * chunk_words_ * word_bytes());
    begun_ = true;
}

/* ---- words in ---- */

void Session::reserve(u64 words, u64 lines) {
    begin();
    words = std::min(words, chunk_words_);
    lines = std::min<u64>(lines, POSITIONS_MOST / 2);
    u64 copied = options_.chunk_words ? words : std::min(words, steady_words(lines));
    for (Chunk &chunk : chunks_) chunk.words.ensure(copied, "chunk");
    if (!hprda_ && !private_ && (words + lines) * bytes_per_position(false) < budget_ / 2) ensure_work((u32)(words + lines), false);
    for (Stack *stack : stacks_) {
        if (stack->carried || lines > budget_ / 8 / 20) continue;
        stack->carry_ids.ensure(lines * sizeof(u32), "carried lines");
        stack->carry_times.ensure(lines, "carried lines");
        stack->next_times.ensure(lines, "carried lines");
    }
    check(cudaStreamSynchronize(compute_stream_), "positions");
}

template <class T> static T *page_locked(u64 count) {
    T *at = nullptr;
    check(cudaHostAlloc(&at, count * sizeof *at, cudaHostAllocDefault), "page-locked memory");
    return at;
}

/*
 * Page-locking takes much longer than the rest of what decoders ask for, and they all begin at the same time: memory is
 * taken for SLAB_BLOCKS blocks at a time, by one of them, while blocks that have been copied go to the others.
 */
void Session::add_blocks(bool tags) {
    const u64 room = (block_words_ + 15) / 16 * 16; /* columns begin on cache lines */
    const u64 bytes = room * ((private_ ? 2 : 1) * sizeof(u64) + (tags ? 2 : 1) * sizeof(u32));
    unsigned char *slab = page_locked<unsigned char>(SLAB_BLOCKS * bytes);
    std::lock_guard<std::mutex> hold(lock_);
    slabs_.push_back(slab);
    for (u32 i = 0; i < SLAB_BLOCKS; i++, slab += bytes) {
        Block *block = new Block{};
        blocks_.push_back(block);
        check(cudaEventCreateWithFlags(&block->copied, cudaEventDisableTiming | cudaEventBlockingSync), "event");
        events_.push_back(block->copied);
        u64 *words = (u64 *)slab, *used = private_ ? words + room : nullptr;
        u32 *who = (u32 *)(words + (private_ ? 2 : 1) * room);
        block->columns = {words, tags ? who + room : nullptr, who, used, block_words_};
        unused_.push_back(block);
    }
}

/* One that is there already, or none; `copying`: the device may still copy from it. */
Session::Block *Session::take_block(bool &copying) {
    std::lock_guard<std::mutex> hold(lock_);
    std::deque<Block *> &from = copying_.size() >= COPYING_MOST ? copying_ : unused_;
    if (from.empty()) return nullptr;
    Block *block = from.front();
    from.pop_front();
    copying = &from == &copying_;
    return block;
}

/* The one that has been copied longest, if there are enough of them; else a new one. */
rsc_gpu_block *Session::block() {
    begin();
    bool copying = false;
    Block *block = take_block(copying);
    while (!block) {
        std::lock_guard<std::mutex> adding(adding_);
        if ((block = take_block(copying))) break; /* another thread has added some */
        bool tags;
        {
            std::lock_guard<std::mutex> hold(lock_);
            tags = watch_.tags;
        }
        add_blocks(tags);
    }
    if (copying) check(cudaEventSynchronize(block->copied), "copying to the device");
    return &block->columns;
}

void Session::send(rsc_gpu_block *columns, size_t count) {
    Block *block = (Block *)columns;
    if (count > columns->room) fail(RSC_EINVAL, "gpu engine: more words than the block has");
    if (watch_.tags && !columns->tags) fail(RSC_EINVAL, "gpu engine: a block from before words had tags");
    copy_words({columns->words, watch_.tags ? columns->tags : nullptr, has_who() ? columns->who : nullptr, columns->bytes}, count,
               false);
    check(cudaEventRecord(block->copied, copy_stream_), "event");
    std::lock_guard<std::mutex> hold(lock_);
    copying_.push_back(block);
}

void Session::push(const u64 *words, u64 count) {
    begin();
    if (watch_.tags || has_who()) fail(RSC_EINVAL, "gpu engine: words without tags");
    copy_words({words, nullptr, nullptr, nullptr}, count, true);
}

/* How many words the next chunk is to have; `coming` are known to follow (0: not known). */
u64 Session::next_target(u64 coming) const {
    if (options_.chunk_words) return chunk_words_;
    u64 carried = 0;
    for (const Stack *stack : stacks_) carried = std::max<u64>(carried, stack->carried);
    if (private_) carried = private_->carried();
    u64 target = chunks_begun_ ? steady_words(carried) : CHUNK_FIRST;
    if (coming && coming < 2 * target) target = std::max({coming / 2, CHUNK_FIRST, carried});
    return std::min(target, chunk_words_);
}

/* The chunk's own words, if it had any, have been computed. */
void Session::make_room(Chunk &chunk) {
    u64 room = options_.chunk_words ? chunk_words_ : std::min(chunk_words_, CHUNK_STEADY);
    if (chunk.words.room() < chunk.target) {
        check(cudaStreamSynchronize(compute_stream_), "computing");
        chunk.words.allocate(std::max(room, chunk.target), "chunk");
    }
    if (watch_.tags && chunk.tags.room() < chunk.words.room()) chunk.tags.allocate(chunk.words.room(), "chunk");
    if (private_ && chunk.bytes.room() < chunk.words.room()) chunk.bytes.allocate(chunk.words.room(), "chunk");
    if (has_who() && chunk.who.room() < chunk.words.room()) chunk.who.allocate(chunk.words.room(), "chunk");
}

template <class T> static void copy_column(T *to, const T *from, u64 count, cudaStream_t stream) {
    if (from) check(cudaMemcpyAsync(to, from, count * sizeof *to, cudaMemcpyHostToDevice, stream), "copying to the device");
}

void Session::copy_words(Words from, u64 count, bool all_there) {
    while (count) {
        Chunk &chunk = chunks_[filling_];
        if (!chunk.filled) {
            chunk.target = next_target(all_there ? count : 0);
            make_room(chunk);
            chunks_begun_++;
        }
        u64 part = std::min(count, chunk.target - chunk.filled);
        copy_column(chunk.words.at() + chunk.filled, from.words, part, copy_stream_);
        copy_column(chunk.tags.at() + chunk.filled, from.tags, part, copy_stream_);
        copy_column(chunk.who.at() + chunk.filled, from.who, part, copy_stream_);
        copy_column(chunk.bytes.at() + chunk.filled, from.bytes, part, copy_stream_);
        chunk.filled += part;
        from = from.after(part);
        count -= part;
        if (chunk.filled == chunk.target) chunk_is_full();
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
    if (hprda_) hprda_->take(chunk.words.at(), (u32)chunk.filled, chunk.consumed);
    else if (private_)
        private_->take(chunk.words.at(), chunk.bytes.at(), chunk.who.at(), chunk.tags.at(), (u32)chunk.filled, chunk.consumed);
    else
        compute({chunk.words.at(), watch_.tags ? chunk.tags.at() : nullptr, watch_.rows ? chunk.who.at() : nullptr, nullptr},
                chunk.filled, chunk.consumed);
    chunk.waiting = false;
    chunk.filled = 0;
}

void Session::push_device(const u64 *words, u64 count) {
    begin();
    if (watch_.tags || has_who()) fail(RSC_EINVAL, "gpu engine: words without tags");
    while (count) {
        u64 part = std::min(count, chunk_words_);
        look_for_regions(words, part);
        check(cudaStreamSynchronize(look_stream_), "reading lines");
        if (hprda_) hprda_->take(words, (u32)part, chunks_[0].consumed);
        else compute({words, nullptr, nullptr, nullptr}, part, chunks_[0].consumed);
        words += part;
        count -= part;
    }
}

/* ---- outcomes ---- */

/* Of one stack of all lines, as the plugin's table promises. */
void Session::watch(const rsc_gpu_watch &watch, rsc_gpu_result *so_far) {
    if (private_ && !watch_.take && watch.take && !chunks_begun_) {
        std::lock_guard<std::mutex> hold(lock_);
        watch_ = watch;
        private_->watch(watch);
        memset(so_far, 0, sizeof *so_far);
        return;
    }
    if (hprda_ || options_.per_thread || stacks_.size() != 1 || stacks_[0]->options.sampled || watch_.take ||
        (watch_.rows && watch.rows))
        fail(RSC_EINVAL, "gpu engine: outcomes are for one stack of all lines");
    compute_all();
    results(so_far);
    if (watch.tags && so_far->references) fail(RSC_EINVAL, "gpu engine: tags come too late");
    {
        std::lock_guard<std::mutex> hold(lock_); /* block() reads it */
        watch_ = watch;
        if (watch.tags) unused_.clear(); /* they have no room for tags */
    }
    work_->room = 0; /* it needs more arrays */
    if (!watch.rows) return;
    rows_.allocate(sizeof(rsc_gpu_rows) / sizeof(u64), "rows");
    check(cudaMemsetAsync(rows_.at(), 0, sizeof(rsc_gpu_rows), compute_stream_), "clearing");
}

void Session::rows(rsc_gpu_rows *rows) {
    memset(rows, 0, sizeof *rows);
    if (!rows_.at()) return;
    compute_all();
    check(cudaMemcpyAsync(rows, rows_.at(), sizeof *rows, cudaMemcpyDeviceToHost, compute_stream_), "rows");
    check(cudaStreamSynchronize(compute_stream_), "computing");
}

/* Room for the outcomes of `count` references. */
void Session::make_found(Found &found, u32 count) {
    if (found.room >= count) return;
    for (void *memory : {(void *)found.rd, (void *)found.last_tag, (void *)found.ri})
        if (memory) check(cudaFreeHost(memory), "page-locked memory");
    found.rd = found.last_tag = nullptr;
    found.ri = nullptr;
    found.room = 0;
    u32 room = (u32)std::max<u64>(count, std::min(chunk_words_, CHUNK_STEADY));
    found.rd = page_locked<u32>(room);
    if (watch_.tags) found.last_tag = page_locked<u32>(room);
    if (watch_.intervals) found.ri = page_locked<u64>(room);
    found.room = room;
}

void Session::take_found(Found &found) {
    if (!found.count) return;
    check(cudaEventSynchronize(found.copied), "copying from the device");
    rsc_gpu_outcomes outcomes = {found.count, found.rd, found.last_tag, found.ri};
    found.count = 0;
    int status = watch_.take(watch_.context, &outcomes);
    if (status < 0) fail(status, "gpu engine: outcomes could not be counted");
}

/* ---- the end ---- */

void Session::compute_all() {
    begin();
    /* the chunk that waits came before the one being filled */
    for (u32 i = 1; i <= CHUNKS; i++) {
        Chunk &chunk = chunks_[(filling_ + i) % CHUNKS];
        if (!chunk.filled) continue;
        if (!chunk.waiting) check(cudaEventRecord(chunk.copied, copy_stream_), "event");
        compute_waiting(chunk);
    }
    if (private_) private_->hand_over();
    for (u32 i = 0; i < 2; i++) take_found(found_[(next_found_ + i) % 2]); /* the older one first */
    check(cudaStreamSynchronize(copy_stream_), "copying to the device");
}

void Session::finish(rsc_gpu_result *results) {
    compute_all();
    this->results(results);
}

void Session::results(rsc_gpu_result *results) {
    if (hprda_) {
        memset(results, 0, sizeof *results);
        hprda_->finish(*results);
    }
    if (private_) {
        memset(results, 0, sizeof *results);
        private_->fill(*results);
    }
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
        result.references = stack.references;
        result.distinct = stack.carried;
    }
}

void Session::bounds(rsc_gpu_bounds *bounds) const {
    if (!hprda_) fail(RSC_EINVAL, "gpu engine: bounds of exact distances");
    hprda_->bounds(*bounds);
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
    double *sums[] = {&timing_.ids, &timing_.sort, &timing_.pairs, &timing_.rank, &timing_.count, &timing_.last, &timing_.carry,
                      &timing_.runs, &timing_.local, &timing_.merge_locals, &timing_.merge_blocks, &timing_.adjust};
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
