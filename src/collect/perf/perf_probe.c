/* perf_probe.c - see perf_probe.h. */
#include "collect/perf/perf_probe.h"

#ifdef __x86_64__
#include <cpuid.h>
#endif
#include <errno.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fail.h"
#include "runtime/watch/perf_group.h"

#define TRAP_PERF_CODE 6 /* TRAP_PERF, missing in older C libraries */
#define BREAKPOINTS 4u

/* perf_event_open(2), which has no wrapper in libc; close on exec. Returns the file, or a negative errno. */
static int perf_open(struct perf_event_attr *attr, int tid, int cpu, int group) {
    attr->size = sizeof *attr;
    int fd = (int)syscall(SYS_perf_event_open, attr, tid, cpu, group, PERF_FLAG_FD_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

static int read_text(const char *path, char *text, size_t room) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return -1;
    ssize_t got = read(fd, text, room - 1);
    close(fd);
    if (got < 0) return -1;
    text[got] = 0;
    text[strcspn(text, "\n")] = 0;
    return 0;
}

int rsc_perf_paranoid(void) {
    char text[32];
    return read_text("/proc/sys/kernel/perf_event_paranoid", text, sizeof text) == 0 ? atoi(text) : -100;
}

/* ---- breakpoints ---- */

static volatile uint64_t watched[BREAKPOINTS];
static volatile sig_atomic_t trapped;

static void on_trap(int number, siginfo_t *info, void *context) {
    (void)number;
    (void)context;
    if (info->si_code == TRAP_PERF_CODE && info->si_addr == (void *)&watched[0]) trapped = 1;
}

/* In a separate process, so that its changes to signals end with it. */
static void try_breakpoints(struct rsc_perf_breakpoints *found) {
    struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    sigaction(SIGTRAP, &action, NULL);
    for (; found->count < BREAKPOINTS; found->count++) {
        struct perf_event_attr attr = {.type = PERF_TYPE_BREAKPOINT,
                                       .bp_type = HW_BREAKPOINT_RW,
                                       .bp_len = HW_BREAKPOINT_LEN_8,
                                       .bp_addr = (uintptr_t)&watched[found->count],
                                       .sample_period = 1,
                                       .exclude_kernel = 1,
                                       .exclude_hv = 1,
                                       .sigtrap = 1,
                                       .remove_on_exec = 1};
        int fd = perf_open(&attr, 0, -1, -1);
        if (fd < 0) {
            found->code = -fd;
            break;
        }
    }
    watched[0]++;
    found->sigtrap = trapped;
}

void rsc_perf_probe_breakpoints(struct rsc_perf_breakpoints *found) {
    int ends[2];
    memset(found, 0, sizeof *found);
    if (pipe2(ends, O_CLOEXEC) != 0) {
        found->code = errno;
        return;
    }
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        try_breakpoints(found);
        ssize_t wrote = write(ends[1], found, sizeof *found);
        _exit(wrote != (ssize_t)sizeof *found);
    }
    close(ends[1]);
    if (pid < 0 || read(ends[0], found, sizeof *found) != (ssize_t)sizeof *found) found->code = EAGAIN;
    close(ends[0]);
    if (pid > 0) waitpid(pid, NULL, 0);
}

void rsc_perf_explain_breakpoints(const struct rsc_perf_breakpoints *found, char *text, unsigned long room) {
    int code = found->code;
    if (found->count && !found->sigtrap)
        snprintf(
            text, room,
            "debug registers can be opened but do not trap: the hypervisor blocks them, or the kernel is older than 5.13");
    else if (found->count && (code == ENOSPC || code == EBUSY))
        snprintf(text, room, "%u of %u: a debugger or another profiler holds the others: end it", found->count,
                 BREAKPOINTS);
    else if (found->count) snprintf(text, room, "%u debug registers catch reuses", found->count);
    else if (code == EACCES || code == EPERM)
        snprintf(
            text, room,
            "perf_event_open is refused (kernel.perf_event_paranoid is %d): sysctl kernel.perf_event_paranoid=2, or in a "
            "container allow the system call (docker run --cap-add PERFMON --security-opt seccomp=unconfined)",
            rsc_perf_paranoid());
    else if (code == ENOSPC || code == EBUSY)
        snprintf(text, room, "a debugger or another profiler holds all debug registers: end it");
    else if (code == ENOSYS || code == ENOENT || code == EOPNOTSUPP)
        snprintf(
            text, room,
            "the kernel lacks perf events or breakpoints: CONFIG_PERF_EVENTS and CONFIG_HAVE_HW_BREAKPOINT are needed");
    else if (code == EINVAL)
        snprintf(text, room, "the kernel does not support breakpoints with sigtrap: 5.13 or newer is needed");
    else snprintf(text, room, "perf_event_open: %s", strerror(code));
}

/* ---- PMUs: the list in sysfs, and whether they can be opened ---- */

static int read_device(const char *root, const char *device, const char *file, char *text, size_t room) {
    char path[512];
    snprintf(path, sizeof path, "%s/sys/bus/event_source/devices/%s/%s", root, device, file);
    return read_text(path, text, room);
}

/* Sets the bits that a format such as "config:0-7,32-35" names. -1: not in a known config field. */
static int place(const char *format, uint64_t value, uint64_t *configs) {
    const char *at = strchr(format, ':');
    size_t which = !strncmp(format, "config1:", 8)   ? 1
                   : !strncmp(format, "config2:", 8) ? 2
                   : !strncmp(format, "config:", 7)  ? 0
                                                     : 3;
    if (!at || which == 3) return -1;
    for (at++; *at;) {
        char *end;
        unsigned long low = strtoul(at, &end, 10), high = low;
        if (end == at || low > 63) return -1;
        if (*end == '-') high = strtoul(end + 1, &end, 10);
        if (high > 63 || high < low) return -1;
        unsigned bits = (unsigned)(high - low + 1);
        uint64_t part = bits == 64 ? value : value & ((1ull << bits) - 1);
        configs[which] |= part << low;
        value = bits == 64 ? 0 : value >> bits;
        at = *end == ',' ? end + 1 : end;
        if (*end && *end != ',') return -1;
    }
    return 0;
}

/* Parses "event=0xcd,umask=0x1,ldlat=3" by the device's formats. -1: unknown term. */
static int parse_event(const char *root, const char *device, const char *text, uint64_t *configs) {
    char copy[256], *rest = copy, *term;
    snprintf(copy, sizeof copy, "%s", text);
    while ((term = strsep(&rest, ","))) {
        char file[128], format[128], *value = strchr(term, '=');
        if (value) *value++ = 0;
        snprintf(file, sizeof file, "format/%.100s", term);
        if (read_device(root, device, file, format, sizeof format) < 0) return -1;
        if (place(format, value ? strtoull(value, NULL, 0) : 1, configs) < 0) return -1;
    }
    return 0;
}

static int named_event(const char *root, const char *device, const char *name, uint64_t *configs) {
    char file[128], text[256];
    memset(configs, 0, 3 * sizeof *configs);
    snprintf(file, sizeof file, "events/%s", name);
    if (read_device(root, device, file, text, sizeof text) < 0) return -1;
    return parse_event(root, device, text, configs);
}

#define SAMPLED \
    (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_READ | PERF_SAMPLE_IDENTIFIER)

static int can_open(const struct rsc_perf_pmu *pmu, uint64_t config, uint64_t config1, int precise, uint64_t more,
                    int group) {
    struct perf_event_attr attr = {.type = pmu->type,
                                   .config = config,
                                   .config1 = config1,
                                   .config2 = pmu->config2,
                                   .sample_period = 1 << 20,
                                   .sample_type = SAMPLED | more,
                                   .disabled = 1,
                                   .read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED |
                                                  PERF_FORMAT_TOTAL_TIME_RUNNING,
                                   .exclude_kernel = pmu->user_only_by_exclude & 1,
                                   .exclude_hv = pmu->user_only_by_exclude & 1,
                                   .precise_ip = (unsigned)precise & 3};
    return perf_open(&attr, 0, -1, group);
}

/* The precise memory events, and the highest precise_ip with which they open. */
static int probe_intel(struct rsc_perf_pmu *pmu, const char *root, const char *device, int *code) {
    uint64_t loads[3], stores[3], aux[3] = {0};
    char text[32];
    if (named_event(root, device, "mem-loads", loads) < 0 || named_event(root, device, "mem-stores", stores) < 0)
        return -1;
    if (read_device(root, device, "type", text, sizeof text) < 0) return -1;
    *pmu = (struct rsc_perf_pmu){.kind = RSC_PMU_INTEL,
                                 .type = (uint32_t)strtoul(text, NULL, 10),
                                 .loads = loads[0],
                                 .stores = stores[0],
                                 .latency_config1 = loads[1],
                                 .user_only_by_exclude = 1};
    if (named_event(root, device, "mem-loads-aux", aux) == 0) pmu->leader = aux[0];
    snprintf(pmu->name, sizeof pmu->name, "%.40s: mem-loads and mem-stores", device);
    for (int precise = 3; precise > 0; precise--) {
        int leader = pmu->leader ? can_open(pmu, pmu->leader, 0, 0, 0, -1) : -1;
        int fd =
            can_open(pmu, pmu->loads, pmu->latency_config1, precise, PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC, leader);
        pmu->latency = fd >= 0;
        if (fd < 0) fd = can_open(pmu, pmu->loads, pmu->latency_config1, precise, 0, leader);
        if (fd < 0) *code = -fd;
        int other = fd >= 0 ? can_open(pmu, pmu->stores, 0, precise, 0, leader >= 0 ? leader : fd) : -1;
        pmu->counts_together = other >= 0;
        if (fd >= 0) close(fd);
        if (other >= 0) close(other);
        if (leader >= 0) close(leader);
        if (fd < 0) continue;
        pmu->precise = precise;
        return 0;
    }
    return -1;
}

/* IBS tags uops (cnt_ctl=1); loads and stores with a valid address count. */
static int probe_amd(struct rsc_perf_pmu *pmu, const char *root, int *code) {
    uint64_t configs[3] = {0};
    char text[64];
    if (read_device(root, "ibs_op", "type", text, sizeof text) < 0) return -1;
    *pmu = (struct rsc_perf_pmu){.kind = RSC_PMU_AMD_IBS, .type = (uint32_t)strtoul(text, NULL, 10)};
    if (read_device(root, "ibs_op", "format/cnt_ctl", text, sizeof text) < 0 || place(text, 1, configs) < 0) return -1;
    pmu->config = configs[0];
    if (read_device(root, "ibs_op", "format/swfilt", text, sizeof text) == 0 && place(text, 1, configs) == 0) {
        pmu->config = configs[0];
        pmu->config2 = configs[2];
        pmu->user_only_by_exclude = 1;
    }
    snprintf(pmu->name, sizeof pmu->name, "ibs_op (uops)");
    int fd = can_open(pmu, pmu->config, 0, 0, PERF_SAMPLE_RAW | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC, -1);
    pmu->latency = fd >= 0;
    if (fd < 0) fd = can_open(pmu, pmu->config, 0, 0, PERF_SAMPLE_RAW, -1);
    if (fd < 0) {
        *code = -fd;
        return -1;
    }
    pmu->counts_together = 1; /* the event itself counts uops */
    close(fd);
    return 0;
}

int rsc_perf_probe_pmu(struct rsc_perf_pmu *pmu, const char *root, struct rsc_error *error) {
    static const char *const intel[] = {"cpu", "cpu_core"};
    int code = 0, listed = 0;
    char text[64];
    memset(pmu, 0, sizeof *pmu);
    /* For tests on machines without a PMU: page faults also have addresses and counts, and use the same code. */
    if (getenv("REUSESCOPE_TEST_PMU") && !strcmp(getenv("REUSESCOPE_TEST_PMU"), "page-faults")) {
        *pmu = (struct rsc_perf_pmu){.kind = RSC_PMU_PAGE_FAULTS,
                                     .type = PERF_TYPE_SOFTWARE,
                                     .loads = PERF_COUNT_SW_PAGE_FAULTS_MIN,
                                     .stores = PERF_COUNT_SW_PAGE_FAULTS_MAJ,
                                     .user_only_by_exclude = 1,
                                     .counts_together = 1,
                                     .name = "page faults (a test)"};
        return 0;
    }
    for (size_t i = 0; i < sizeof intel / sizeof *intel; i++) {
        listed |= read_device(root, intel[i], "type", text, sizeof text) == 0;
        if (probe_intel(pmu, root, intel[i], &code) == 0) return 0;
    }
    if (probe_amd(pmu, root, &code) == 0) return 0;
    memset(pmu, 0, sizeof *pmu);
    if (code == EACCES || code == EPERM)
        return rsc_fail(error, RSC_EUNSUPPORTED,
                        "no permission to use the PMU: sysctl kernel.perf_event_paranoid=2 (it is %d)",
                        rsc_perf_paranoid());
    if (code) return rsc_fail(error, RSC_EUNSUPPORTED, "the PMU cannot sample addresses here: %s", strerror(code));
    return rsc_fail(error, RSC_EUNSUPPORTED,
                    listed ? "the PMU lists neither mem-loads and mem-stores nor IBS"
                           : "no PMU: virtual machines and containers often have none");
}

int rsc_perf_is_virtual(void) {
#ifdef __x86_64__
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) && c >> 31;
#else
    return 0;
#endif
}

void rsc_perf_events_of(const struct rsc_perf_pmu *pmu, struct rsc_perf_events *events) {
    int ibs = pmu->kind == RSC_PMU_AMD_IBS;
    *events = (struct rsc_perf_events){.type = pmu->type,
                                       .loads = ibs ? pmu->config : pmu->loads,
                                       .stores = pmu->stores,
                                       .leader = pmu->leader,
                                       .config1 = pmu->latency_config1,
                                       .config2 = pmu->config2,
                                       .precise = pmu->precise,
                                       .exclude = pmu->user_only_by_exclude,
                                       .layouts = {ibs ? RSC_PERF_AMD_IBS : RSC_PERF_INTEL, pmu->latency, 0, 0}};
}
