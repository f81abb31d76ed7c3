/*
 * cmd_doctor.c - `reusescope doctor`: checks what this machine and build can do, and
 * how to fix what is missing. Every check tries the real thing.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <reusescope/engine.h>

#include "base/cpu.h"
#include "base/fail.h"
#include "base/output_file.h"
#include "base/pool.h"
#include "cmd/latency.h"
#include "cmd/session.h"
#include "collect/collector.h"
#include "collect/launch/cc_command.h"
#include "collect/symbols/code_loops.h"
#include "collect/launch/qemu_files.h"
#include "collect/perf/perf_probe.h"
#include "collect/symbols/symbols.h"
#include "loops/front/c_source.h"
#include "base/machine.h"
#include "simulate/cache/machine_caches.h"
#include "report/draw/units.h"

/* One finding: "ok", "--" (optional and absent) or "no" (needed and missing), with the fix. */
struct checkup {
    int failed; /* something that `run` needs is missing */
};

static void say(const char *mark, const char *what, const char *detail) {
    printf("%-3s %-26s %s\n", mark, what, detail);
}

/* `absent`: the mark if it is not there. */
static int need(struct checkup *checkup, int there, const char *absent, const char *what, const char *detail,
                const char *fix) {
    say(there ? "ok" : absent, what, there ? detail : fix);
    if (!there && !strcmp(absent, "no")) checkup->failed = 1;
    return there;
}

static void optional(int there, const char *what, const char *detail, const char *fix) {
    say(there ? "ok" : "--", what, there ? detail : fix);
}

/* The first line a command prints, or "" if it cannot be run. */
static void first_line(const char *path, const char *argument, char *line, size_t room) {
    int ends[2];
    line[0] = 0;
    if (!path || pipe2(ends, O_CLOEXEC) != 0) return;
    pid_t pid = fork();
    if (pid == 0) {
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        execl(path, path, argument, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    size_t used = 0;
    ssize_t got;
    while (pid > 0 && used < room - 1 && (got = read(ends[0], line + used, room - 1 - used)) > 0) used += (size_t)got;
    line[used] = 0;
    line[strcspn(line, "\n")] = 0;
    close(ends[0]);
    if (pid > 0) waitpid(pid, NULL, 0);
}

/* Does a program really run under this collector, and does it write into the ring? */
static int try_collector(const struct rsc_collector_kind *kind, char *detail, size_t room) {
    struct rsc_target target;
    struct rsc_error error;
    char *argv[] = {(char *)"/bin/true", NULL};
    struct rsc_collect_request request = {.target = &target, .command = argv, .seed = 1};
    struct rsc_collector collector;
    rsc_collector_init(&collector, kind, &request);
    if (rsc_target_find(&target, argv[0], &error) < 0 || collector.kind->check(&request, &error) < 0 ||
        rsc_collector_start(&collector, &error) < 0) {
        snprintf(detail, room, "%s", error.message);
        rsc_collector_close(&collector);
        return 0;
    }
    /* /bin/true fills only a small part of the ring, so nothing needs to drain it. */
    while (!rsc_launch_poll(&collector.launch)) usleep(1000);
    uint64_t blocks = collector.launch.ring->slots[0].published;
    int status = collector.launch.status, well = WIFEXITED(status) && WEXITSTATUS(status) == 0 && blocks > 0;
    snprintf(detail, room, well ? "/bin/true was watched" : "/bin/true ended with status 0x%x and %llu blocks",
             (unsigned)status, (unsigned long long)blocks);
    rsc_collector_close(&collector);
    return well;
}

/* `is_needed`: nothing else watches a program that was not built with `cc`. */
static void look_at_qemu(struct checkup *checkup, int is_needed) {
    char line[256], detail[512];
    struct rsc_target own = {.guest = RSC_GUEST_UNKNOWN};
    struct rsc_error error;
    const char *mark = is_needed ? "no" : "--", *fix = "apt-get install qemu-user";
    const char *qemu = rsc_qemu_path(RSC_GUEST_X86_64);
    first_line(qemu, "--version", line, sizeof line);
    rsc_target_find(&own, "/bin/true", &error);
    int is_arm = own.guest == RSC_GUEST_AARCH64, there = rsc_qemu_path(own.guest) != NULL;
    need(checkup, qemu != NULL, is_arm ? "--" : mark, "qemu-x86_64", line, fix);
    need(checkup, rsc_qemu_path(RSC_GUEST_AARCH64) != NULL, is_arm ? mark : "--", "qemu-aarch64",
         "AArch64 programs can be watched", fix);
    optional(access("/usr/aarch64-linux-gnu/lib", X_OK) == 0, "AArch64 libraries", "/usr/aarch64-linux-gnu",
             "for dynamic AArch64 programs: apt-get install libc6-arm64-cross, or --sysroot DIR");
    there &= need(checkup, rsc_qemu_plugin_path() != NULL, mark, "plugin", rsc_qemu_plugin_path(), "build it: make");
    optional(rsc_qemu_preload_path(RSC_GUEST_X86_64) != NULL, "heap blocks by name",
             rsc_qemu_preload_path(RSC_GUEST_X86_64), "libreusescope-guest-x86_64.so is missing: make");
    if (there) {
        int works = try_collector(&rsc_collector_qemu, detail, sizeof detail);
        need(checkup, works, mark, "watching under QEMU", detail, detail);
    }
}

/* x86-64 programs run under Valgrind; without it, under QEMU. */
static int look_at_valgrind(void) {
    char detail[512], text[700];
    const int works = try_collector(&rsc_collector_valgrind, detail, sizeof detail);
    snprintf(
        text, sizeof text,
        "%s; threads in turns of 4 accesses, or less where they write to one line, the same in every run (--quantum)",
        detail);
    if (!works) snprintf(text, sizeof text, "%s (until then: QEMU)", detail);
    optional(works, "x86-64 under Valgrind", text, text);
    return works;
}

/* Rebuilding needs the pass and the runtime; the user brings the compiler. */
static void look_at_rebuilding(void) {
    struct rsc_cc_files files;
    struct rsc_error error;
    int works = rsc_cc_find(&files, &error) == 0;
    optional(works, "rebuilding programs", works ? files.pass : "", error.message);
}

/* run --with perf: rebuilt programs need only debug registers; others also need a PMU that samples addresses. */
static void look_at_perf(void) {
    struct rsc_perf_breakpoints found;
    struct rsc_perf_pmu pmu;
    struct rsc_error error;
    char text[400];
    int paranoid = rsc_perf_paranoid();
    rsc_perf_probe_breakpoints(&found);
    rsc_perf_explain_breakpoints(&found, text, sizeof text);
    optional(found.count && found.sigtrap, "debug registers", text, text);
    snprintf(text, sizeof text, "kernel.perf_event_paranoid is %d: your own programs may be sampled", paranoid);
    optional(paranoid <= 2 || geteuid() == 0, "perf events", text,
             "kernel.perf_event_paranoid forbids them: sysctl kernel.perf_event_paranoid=2");
    int there = rsc_perf_probe_pmu(&pmu, "", &error) == 0;
    snprintf(text, sizeof text, "%s, precise %d%s%s", pmu.name, pmu.precise, pmu.latency ? ", with latencies" : "",
             pmu.counts_together ? "" : "; loads and stores do not fit in one group");
    optional(there, "PMU with addresses", text, error.message);
    optional(there || (found.count && found.sigtrap), "run --with perf",
             there ? "any dynamic program (experimental), and programs built with reusescope cc"
                   : "programs built with reusescope cc; others need a PMU",
             "needs debug registers: see above");
    optional(1, "attach",
             there && found.count
                 ? "any running program of yours (experimental where it was not built with reusescope cc)"
                 : "running programs built with reusescope cc; others need a PMU",
             "");
}

static void look_at_symbols(void) {
    struct rsc_symbols *symbols;
    struct rsc_error error;
    int works = rsc_symbols_new(&symbols, NULL, &error) == 0;
    optional(works, "source lines", "libdw", "rebuild with libdw-dev: apt-get install libdw-dev libelf-dev && make");
    if (works) rsc_symbols_free(symbols);
    optional(works && rsc_code_loops_known(), "loops of programs", "Zydis decodes x86-64 code",
             "rebuild with libzydis-dev, on x86-64: apt-get install libzydis-dev && make");
    optional(getenv("DEBUGINFOD_URLS") != NULL, "debuginfod", "asked with run --debuginfod",
             "DEBUGINFOD_URLS is not set: debug files come from this machine only");
}

/* "L1d 5, L2 15, memory 250 cycles". */
static void put_cycles(const struct rsc_machine *machine, char *text, size_t room) {
    size_t used = 0;
    for (size_t i = 0; i < machine->level_count && used < room; i++)
        used +=
            (size_t)snprintf(text + used, room - used, "%s %.0f, ", machine->levels[i].name, machine->levels[i].cycles);
    if (used < room) snprintf(text + used, room - used, "memory %.0f cycles", machine->memory_cycles);
}

/* A machine file of this machine, with its caches and what was measured. */
static int put_machine_file(const struct rsc_machine *machine, char *text, size_t room, size_t *used,
                            struct rsc_error *error) {
    struct rsc_sim_config config = {0};
    int status = rsc_machine_caches_add_this(&config, NULL, error);
    *used = (size_t)snprintf(text, room,
                             "# Caches as the kernel reports them; latencies by reusescope doctor --latency.\n");
    for (size_t i = 0; !status && i < config.count; i++)
        *used += (size_t)snprintf(text + *used, room - *used, "%s %" PRIu64 ",%" PRIu32 ",%" PRIu32 "\n",
                                  config.caches[i].name, config.caches[i].size_bytes, config.caches[i].ways,
                                  config.caches[i].block_bytes);
    if (status < 0) return status;
    *used += (size_t)snprintf(text + *used, room - *used, "latencies measured");
    for (size_t i = 0; i < machine->level_count; i++)
        *used += (size_t)snprintf(text + *used, room - *used, " %s=%.1f", machine->levels[i].name,
                                  machine->levels[i].cycles);
    *used += (size_t)snprintf(text + *used, room - *used, " memory=%.1f\n", machine->memory_cycles);
    return 0;
}

/* Measures, prints and keeps this machine's latencies: where reports look for them, or in a machine file. */
static int measure_latencies(struct rsc_session *session) {
    struct rsc_machine machine;
    struct rsc_error error;
    char path[RSC_MACHINE_PATH], text[2048], shown[160];
    size_t used = 0;
    rsc_machine_read(&machine, NULL);
    int status = rsc_latency_measure(&machine, &error);
    if (!status && session->output) {
        status = put_machine_file(&machine, text, sizeof text, &used, &error);
        if (!status) status = rsc_output_whole(session->output, text, used, 0, &error);
        if (status < 0) return rsc_session_fail(session, &error);
        if (!strcmp(session->output, "-")) return RSC_EXIT_OK;
        put_cycles(&machine, shown, sizeof shown);
        printf("%s\nkept in %s\n", shown, session->output);
        return RSC_EXIT_OK;
    }
    if (!status && rsc_machine_latency_path(path) < 0)
        status = rsc_fail(&error, RSC_EINVAL, "--latency: set HOME or REUSESCOPE_MACHINES to a folder to keep them in");
    for (size_t i = 0; !status && i < machine.level_count; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s %.1f\n", machine.levels[i].name,
                                 machine.levels[i].cycles);
    if (!status) {
        used += (size_t)snprintf(text + used, sizeof text - used, "memory %.1f\n", machine.memory_cycles);
        for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
            *slash = 0;
            mkdir(path, 0777); /* what is missing; writing fails if it cannot be made */
            *slash = '/';
        }
        status = rsc_output_whole(path, text, used, 0, &error);
    }
    if (status < 0) return rsc_session_fail(session, &error);
    put_cycles(&machine, shown, sizeof shown);
    printf("%s\nkept in %s\n", shown, path);
    return RSC_EXIT_OK;
}

static void look_at_machine(void) {
    struct rsc_machine machine;
    char text[160] = "";
    rsc_machine_read(&machine, NULL);
    for (size_t i = 0; i < machine.level_count; i++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%s %s", i ? ", " : "", machine.levels[i].name,
                 rsc_show_bytes(machine.levels[i].size_bytes).text);
    }
    optional(machine.level_count > 0, "caches of this machine", text,
             "not found in sysfs: pictures have no cache marks");
    char cycles[160];
    put_cycles(&machine, cycles, sizeof cycles);
    if (machine.level_count)
        optional(machine.latencies == RSC_LATENCIES_MEASURED, "latencies", cycles,
                 "typical ones are used: reusescope doctor --latency measures");
    snprintf(text, sizeof text, "%u processors, loops for %s", rsc_pool_cpu_count(), rsc_simd_name(rsc_simd_best()));
    say("ok", "processors", text);
    int fd = memfd_create("reusescope-doctor", MFD_CLOEXEC);
    optional(fd >= 0, "shared memory", "memfd", "the kernel does not support memfd: run cannot work");
    if (fd >= 0) close(fd);
}

static void look_at_gpu(void) {
    struct rsc_engine_options options = {.struct_bytes = sizeof options, .engine = "gpu"};
    struct rsc_engine *engine;
    struct rsc_error error;
    int works = rsc_engine_new(&engine, &options, &error) == 0;
    /* skip the engine's name: the line starts with it already */
    const char *why = works ? "" : strstr(error.message, ": ");
    optional(works, "engine gpu", "a session was opened on device 0", why ? why + 2 : error.message);
    rsc_engine_free(engine);
}

/* Really loads libclang; whether a file parses depends on its source. */
static void look_at_loops(void) {
    struct rsc_error error = {0};
    optional(rsc_c_source_check(&error) == 0, "loops of C source", "libclang 19 was loaded", error.message);
}

enum { OPT_LATENCY = RSC_OPT_VERB };

static const struct rsc_option options[] = {
    RSC_HEADING("measuring"),
    {OPT_LATENCY, 0, "latency", NULL,
     "measure and keep how long loads wait for each cache and for memory, for estimates of cycles (seconds; best on an "
     "idle machine)",
     NULL},
    {RSC_OPT_OUTPUT, 'o', "output", "FILE",
     "with --latency: write a machine file instead, with the caches too, for --machine ./FILE (- is standard output)",
     NULL},
    {0, 0, NULL, NULL, NULL, NULL},
};

struct asked {
    struct rsc_session session;
    int latency;
};

static int take_option(void *context, const struct rsc_option_parser *parser, int id) {
    struct asked *asked = context;
    if (id != OPT_LATENCY) return rsc_session_option(&asked->session, parser, id);
    asked->latency = 1;
    return -1;
}

static int run_doctor(const struct rsc_verb *verb, int argc, char **argv) {
    struct asked asked = {.latency = 0};
    struct checkup checkup = {0};
    rsc_session_start(&asked.session, verb, argv);
    int leave = rsc_session_take(&asked.session, argc, take_option, &asked, NULL, NULL);
    if (leave >= 0) return leave;
    if (asked.session.output && !asked.latency) return rsc_usage_error(verb, "-o needs --latency");
    if (asked.latency) return measure_latencies(&asked.session);
    printf("reusescope %s\n", rsc_version());
    look_at_machine();
    look_at_qemu(&checkup, !look_at_valgrind());
    look_at_rebuilding();
    look_at_perf();
    look_at_symbols();
    look_at_gpu();
    look_at_loops();
    if (checkup.failed) printf("\n`reusescope run` cannot work yet: see the lines marked 'no'.\n");
    return checkup.failed ? RSC_EXIT_ERROR : RSC_EXIT_OK;
}

const struct rsc_verb rsc_verb_doctor = {
    .name = "doctor",
    .operands = "",
    .summary = "Check what this machine can do, and how to fix what is missing",
    .about = "Tries what `run` needs, on a real program. Each line is marked ok (works), -- (optional and "
             "absent) or no (needed and missing), with what to do.",
    .example = "reusescope doctor",
    .groups = {options, rsc_common_options},
    .run = run_doctor,
};
