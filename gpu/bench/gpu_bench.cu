/*
 * gpu_bench.cu - how fast the plugin is, where the time goes, and how far that is
 * from what the memory and the bus allow.
 *
 *     gpu_bench [-n MEBIWORDS] [-c CPU_MEBIWORDS] [-k CHUNK_MEBIWORDS]... [RAW64_FILE...]
 *
 * Made-up traces: uniform over 1 Mi lines, zipf over 10 Mi (skew 1), cyclic over
 * 1 Mi; 8-byte addresses. `device`: the words are in device memory already.
 * `end to end`: from page-locked host memory to histograms on the host, best of
 * three. The CPU's engines run the first CPU_MEBIWORDS of the same words, and
 * their histograms are compared with the device's. A file shorter than MEBIWORDS is
 * measured as it is, then repeated to that length. -k adds end to end rates with
 * chunks of a fixed length. HP-RDA on the device is measured on the same words, with
 * its error rate e over H bins (one an octave, and one for no distance) and its
 * overlap with the exact histogram.
 */
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <cuda_runtime.h>

#include <reusescope/engine.h>

#include "distance/gpu/gpu_plugin.h"
extern "C" {
#include "profile/metrics.h"
#include "profile/profile_model.h"
#include "trace/generate/generate.h"
}

#include "../../bench/numbers.h"

extern "C" const struct rsc_gpu_plugin *rsc_gpu_plugin(void);

static void check(cudaError_t status, const char *what) {
    if (status == cudaSuccess) return;
    fprintf(stderr, "gpu_bench: %s: %s\n", what, cudaGetErrorString(status));
    exit(1);
}

static double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/* ---- traces ---- */

/* Parts of the trace are drawn from seeds of their own, by a thread each. */
static void generate(const char *spec, uint64_t *words, uint64_t count) {
    if (!strncmp(spec, "cyclic", 6)) {
        uint64_t lines = 1 << 20;
        for (uint64_t i = 0; i < count; i++) words[i] = 0x10000000 + i % lines * 64;
        return;
    }
    unsigned parts = 16;
    std::vector<std::thread> threads;
    for (unsigned part = 0; part < parts; part++)
        threads.emplace_back([=] {
            struct rsc_generator *generator;
            struct rsc_error error;
            uint64_t begin = count * part / parts, end = count * (part + 1) / parts;
            std::vector<uint64_t> meta(1 << 16);
            if (rsc_generator_new(&generator, spec, part + 1, &error) < 0) {
                fprintf(stderr, "gpu_bench: %s\n", error.message);
                exit(1);
            }
            while (begin < end) {
                uint64_t now = std::min<uint64_t>(end - begin, meta.size());
                rsc_generator_fill(generator, words + begin, meta.data(), now);
                begin += now;
            }
            rsc_generator_free(generator);
        });
    for (std::thread &thread : threads) thread.join();
}

/* ---- what the machine can do ---- */

static double copy_rate(void *device, const void *host, size_t bytes) {
    double best = 0;
    for (int i = 0; i < 3; i++) {
        double start = now();
        check(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice), "copy");
        best = std::max(best, bytes / (now() - start));
    }
    return best;
}
static double memory_rate(void *device, size_t bytes) {
    cudaEvent_t a, b;
    float best = 1e9f, ms;
    check(cudaEventCreate(&a), "event");
    check(cudaEventCreate(&b), "event");
    for (int i = 0; i < 5; i++) {
        check(cudaEventRecord(a), "event");
        check(cudaMemcpyAsync((char *)device + bytes / 2, device, bytes / 2, cudaMemcpyDeviceToDevice), "copy");
        check(cudaEventRecord(b), "event");
        check(cudaEventSynchronize(b), "copy");
        check(cudaEventElapsedTime(&ms, a, b), "event");
        best = std::min(best, ms);
    }
    check(cudaEventDestroy(a), "event");
    check(cudaEventDestroy(b), "event");
    return bytes / (best * 1e-3);
}

/* ---- runs ---- */

static double run_plugin(const uint64_t *words, uint64_t count, bool on_device, bool timed, uint64_t chunk_words,
                         rsc_gpu_result *result, rsc_gpu_timing *timing, rsc_gpu_hprda_options hprda = {}) {
    const struct rsc_gpu_plugin *plugin = rsc_gpu_plugin();
    char message[RSC_GPU_MESSAGE_BYTES];
    rsc_gpu_options options = {};
    options.struct_bytes = sizeof options;
    options.stacks[0].line_shift = 6;
    options.stack_count = 1;
    options.chunk_words = chunk_words;
    options.timing = timed;
    options.hprda = hprda;
    void *session;
    int status = plugin->open(&session, &options, message);
    if (!status) status = plugin->reserve(session, count, 12 << 20, message);
    double seconds = 0;
    if (!status) {
        double start = now();
        status = on_device ? plugin->push_device(session, words, count, message) : plugin->push(session, words, count, message);
        if (!status) status = plugin->finish(session, result, message);
        seconds = now() - start;
    }
    if (!status) status = plugin->timing(session, timing, message);
    if (status) {
        fprintf(stderr, "gpu_bench: %s\n", message);
        exit(1);
    }
    plugin->close(session);
    return seconds;
}

/* Seconds of an engine of the library, or -1 where this build has none of that name. */
static double run_engine(const char *name, unsigned workers, const uint64_t *words, uint64_t count, const rsc_gpu_result *wanted) {
    struct rsc_engine_options options = {};
    struct rsc_engine *engine;
    struct rsc_profile *profile;
    struct rsc_error error;
    options.struct_bytes = sizeof options;
    options.engine = name;
    options.workers = workers;
    options.attribute = 2;
    if (rsc_engine_new(&engine, &options, &error) < 0) return -1;
    std::vector<uint64_t> meta(1 << 20);
    double start = now();
    int status = 0;
    for (uint64_t done = 0; !status && done < count; done += meta.size()) {
        struct rsc_batch batch = {};
        batch.count = (uint32_t)std::min<uint64_t>(meta.size(), count - done);
        batch.addr = words + done;
        batch.meta = meta.data();
        batch.instructions = RSC_UNKNOWN;
        status = rsc_engine_push(engine, &batch, &error);
    }
    if (!status) status = rsc_engine_finish(engine, &profile, &error);
    double seconds = now() - start;
    if (status) {
        fprintf(stderr, "gpu_bench: %s: %s\n", name, error.message);
        exit(1);
    }
    bool same = profile->references == wanted->references && profile->distinct == wanted->distinct &&
                !memcmp(profile->rd.count, wanted->rd, sizeof wanted->rd) && !memcmp(profile->ri.count, wanted->ri, sizeof wanted->ri);
    if (!same) printf("    DIFFERENT from the %s engine\n", name);
    else printf("    identical to the %s engine\n", name);
    rsc_profile_free(profile);
    rsc_engine_free(engine);
    return seconds;
}

/* ---- HP-RDA beside exact ---- */

static struct rsc_profile *profile_of(const rsc_gpu_result *result) {
    struct rsc_profile *profile = rsc_profile_new();
    if (!profile) exit(1);
    profile->references = result->references;
    profile->cold = profile->distinct = result->distinct;
    memcpy(profile->rd.count, result->rd, sizeof result->rd);
    return profile;
}

/* `device`: the same words in its memory. */
static void measure_hprda(const char *name, const uint64_t *words, const uint64_t *device, uint64_t count, uint64_t cpu_count, const rsc_gpu_result *exact) {
    rsc_gpu_result *result = new rsc_gpu_result;
    rsc_gpu_timing timing = {}, unused;
    struct rsc_profile *truth = profile_of(exact);
    for (uint32_t no_adjust = 0; no_adjust < 2; no_adjust++) {
        rsc_gpu_hprda_options hprda = {};
        hprda.on = 1;
        hprda.no_adjust = no_adjust;
        double on_device = 1e9, end_to_end = 1e9;
        for (int i = 0; i < 2; i++) on_device = std::min(on_device, run_plugin(device, count, true, true, 0, result, &timing, hprda));
        for (int i = 0; i < 2; i++) end_to_end = std::min(end_to_end, run_plugin(words, count, false, false, 0, result, &unused, hprda));
        struct rsc_profile *estimate = profile_of(result);
        uint32_t used = 0;
        double rate = rsc_profile_error_rate(estimate, truth, rsc_bins_per_octave(1), &used), scale = 64.0 * (1 << 20) / count;
        printf("    hp-rda%s  device %.2f G refs/s, end to end %.2f; e %.3f%% (H = %u), overlap %.4f;"
               " ms per 64 Mi: runs %.2f, local %.2f, threads %.2f, blocks %.2f, adjust %.2f\n", no_adjust ? ", not adjusted" : "",
               count / on_device / 1e9, count / end_to_end / 1e9, 100 * rate, used, rsc_profile_overlap(estimate, truth), timing.runs * scale,
               timing.local * scale, timing.merge_locals * scale, timing.merge_blocks * scale, timing.adjust * scale);
        const char *way = no_adjust ? "not adjusted" : "adjusted";
        double all = timing.local + timing.merge_locals + timing.merge_blocks + timing.adjust;
        put_number("G/s", count / on_device / 1e9, "%s/hp-rda %s", name, way);
        put_number("G/s end to end", count / end_to_end / 1e9, "%s/hp-rda %s", name, way);
        put_number("e", rate, "%s/hp-rda %s", name, way);
        put_number("local", timing.local / all, "%s/hp-rda %s", name, way);
        put_number("merge threads", timing.merge_locals / all, "%s/hp-rda %s", name, way);
        put_number("merge blocks", timing.merge_blocks / all, "%s/hp-rda %s", name, way);
        put_number("adjust", timing.adjust / all, "%s/hp-rda %s", name, way);
        rsc_profile_free(estimate);
    }
    rsc_profile_free(truth);
    if (cpu_count) {
        rsc_gpu_hprda_options hprda = {};
        hprda.on = 1;
        run_plugin(words, cpu_count, false, false, 0, result, &unused, hprda);
        unsigned cores = std::thread::hardware_concurrency();
        double seconds = run_engine("hp-rda", cores, words, cpu_count, result);
        printf("    hp-rda, %u cores   %6.1f M refs/s\n", cores, cpu_count / seconds / 1e6);
    }
    delete result;
}

static double memory_peak, bus_peak;
static std::vector<uint64_t> fixed_chunks;

static void measure(const char *name, const uint64_t *words, uint64_t count, uint64_t cpu_count) {
    rsc_gpu_result *result = new rsc_gpu_result, *part = new rsc_gpu_result;
    rsc_gpu_timing timing = {}, timed = {}, unused;
    uint64_t *device;
    check(cudaMalloc(&device, count * sizeof *device), "device memory");
    check(cudaMemcpy(device, words, count * sizeof *device, cudaMemcpyHostToDevice), "copy");
    double on_device = 1e9, end_to_end = 1e9;
    for (int i = 0; i < 3; i++) {
        double seconds = run_plugin(device, count, true, true, 0, result, &unused);
        if (seconds < on_device) {
            on_device = seconds;
            timing = unused;
        }
    }
    for (int i = 0; i < 3; i++) end_to_end = std::min(end_to_end, run_plugin(words, count, false, false, 0, part, &timed));
    double work = timing.ids + timing.sort + timing.pairs + timing.rank + timing.count + timing.last + timing.carry;
    double scale = 64.0 * (1 << 20) / count;
    printf("%s: %.0f Mi references, %.2f M distinct lines; %llu chunks, end to end %llu\n", name, count / 1048576.0,
           result->distinct / 1e6, (unsigned long long)timing.chunks, (unsigned long long)timed.chunks);
    put_number("G/s", count / on_device / 1e9, "%s/exact", name);
    put_number("G/s end to end", count / end_to_end / 1e9, "%s/exact", name);
    printf("    device      %6.2f G refs/s (kernels alone %.2f)\n", count / on_device / 1e9, count / work / 1e6);
    printf("    end to end  %6.2f G refs/s, %.0f%% of the bus (%.1f GB/s: %.2f G)%s\n", count / end_to_end / 1e9,
           100 * count * 8 / end_to_end / bus_peak, bus_peak / 1e9, bus_peak / 8e9,
           memcmp(result, part, sizeof *result) ? "  DIFFERENT RESULT" : "");
    for (uint64_t words_k : fixed_chunks) {
        double best = 1e9;
        for (int i = 0; i < 3; i++) best = std::min(best, run_plugin(words, count, false, false, words_k, part, &unused));
        printf("        chunks of %3llu Mi: %.2f G refs/s\n", (unsigned long long)(words_k >> 20), count / best / 1e9);
    }
    printf("    ms per 64 Mi: ids %.2f, sort %.2f, pairs %.2f, rank %.2f, count %.2f, last and histogram %.2f, carry %.2f;"
           " kernels %.2f, wall %.2f\n", timing.ids * scale, timing.sort * scale, timing.pairs * scale, timing.rank * scale,
           timing.count * scale, timing.last * scale, timing.carry * scale, work * scale, on_device * 1e3 * scale);
    /* 12 ids; 20 + 16 a further pass of the sort; 16 pairs; 8 + 4 + 4 place; 12 first pass; 16 second; 8 last */
    double bytes = 12 + 52 + 16 + 16 + 12 + 16 + 8;
    printf("    memory: about %.0f bytes a reference must move: %.0f%% of %.2f TB/s; %.1f GiB of the device in use\n", bytes,
           100 * bytes * count / (work * 1e-3) / memory_peak, memory_peak / 1e12, timing.device_bytes / 1073741824.0);
    if (cpu_count > count) cpu_count = count;
    measure_hprda(name, words, device, count, cpu_count, result);
    check(cudaFree(device), "device memory");
    if (cpu_count) {
        run_plugin(words, cpu_count, false, false, 0, part, &unused);
        unsigned cores = std::thread::hardware_concurrency();
        double one = run_engine("exact", 1, words, cpu_count, part);
        double all = run_engine("parallel", cores, words, cpu_count, part);
        put_number("times one core", count / end_to_end / (cpu_count / one), "%s/exact", name);
        if (all > 0) put_number("times all cores", count / end_to_end / (cpu_count / all), "%s/exact", name);
        printf("    exact, 1 core    %8.1f M refs/s: the device end to end is %.0f times that\n", cpu_count / one / 1e6,
               count / end_to_end / (cpu_count / one));
        if (all > 0)
            printf("    parallel, %u cores %6.1f M refs/s: %.1f times\n", cores, cpu_count / all / 1e6,
                   count / end_to_end / (cpu_count / all));
        else printf("    parallel: not in this build\n");
    }
    fflush(stdout);
    delete result;
    delete part;
}

int main(int argc, char **argv) {
    uint64_t count = 512ull << 20, cpu_count = 64ull << 20;
    std::vector<const char *> files;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "-n") && i + 1 < argc) count = strtoull(argv[++i], NULL, 10) << 20;
        else if (!strcmp(argv[i], "-c") && i + 1 < argc) cpu_count = strtoull(argv[++i], NULL, 10) << 20;
        else if (!strcmp(argv[i], "-k") && i + 1 < argc) fixed_chunks.push_back(strtoull(argv[++i], NULL, 10) << 20);
        else files.push_back(argv[i]);
    }
    uint64_t *words;
    check(cudaHostAlloc(&words, count * sizeof *words, cudaHostAllocDefault), "page-locked memory");
    void *device;
    size_t bytes = std::min<uint64_t>(count * 8, 4ull << 30);
    check(cudaMalloc(&device, bytes), "device memory");
    memset(words, 1, bytes);
    bus_peak = copy_rate(device, words, bytes);
    memory_peak = memory_rate(device, bytes);
    check(cudaFree(device), "device memory");
    static const struct { const char *name, *spec; } traces[] = {
        {"uniform 1 Mi", "uniform,lines=1M"}, {"zipf 10 Mi", "zipf,lines=10M"}, {"cyclic 1 Mi", "cyclic,lines=1M"}};
    for (auto &trace : traces) {
        double start = now();
        generate(trace.spec, words, count);
        fprintf(stderr, "(%s made in %.1f s)\n", trace.name, now() - start);
        measure(trace.name, words, count, cpu_count);
    }
    for (const char *file : files) {
        FILE *in = fopen(file, "rb");
        if (!in) {
            perror(file);
            return 1;
        }
        uint64_t got = fread(words, sizeof *words, count, in);
        fclose(in);
        if (!got) {
            fprintf(stderr, "gpu_bench: %s is empty\n", file);
            return 1;
        }
        measure(file, words, got, cpu_count);
        if (got >= count) continue;
        for (uint64_t at = got; at < count; at++) words[at] = words[at - got];
        measure((std::string(file) + ", repeated").c_str(), words, count, 0);
    }
    check(cudaFreeHost(words), "page-locked memory");
    return 0;
}
