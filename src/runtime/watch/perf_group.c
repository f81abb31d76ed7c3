/* perf_group.c - see perf_group.h. */
#include "runtime/watch/perf_group.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE 4096u
#define LEAST_FD 3

static int open_event(const struct rsc_perf_events *events, pid_t tid, uint64_t config, uint64_t config1, int precise,
                      uint64_t period, int group) {
    struct perf_event_attr attr = {.type = events->type,
                                   .size = sizeof attr,
                                   .config = config,
                                   .config1 = config1,
                                   .config2 = events->config2,
                                   .sample_period = period,
                                   .disabled = group < 0,
                                   .exclude_kernel = events->exclude & 1,
                                   .exclude_hv = events->exclude & 1,
                                   .precise_ip = (unsigned)precise & 3,
                                   .wakeup_events = 1,
                                   .read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED |
                                                  PERF_FORMAT_TOTAL_TIME_RUNNING};
    attr.sample_type = rsc_perf_sample_type(events->layouts.layout, events->layouts.has_weight);
    return (int)syscall(SYS_perf_event_open, &attr, tid, -1, group, PERF_FLAG_FD_CLOEXEC);
}

int rsc_perf_group_open(struct rsc_perf_group *group, const struct rsc_perf_events *events, pid_t tid, uint64_t period,
                        uint32_t ring_bytes) {
    *group = (struct rsc_perf_group){
        .leader = -1, .loads = -1, .stores = -1, .ring_bytes = ring_bytes, .layouts = events->layouts};
    if (events->leader && (group->leader = open_event(events, tid, events->leader, 0, 0, 0, -1)) < 0) return -1;
    group->loads = open_event(events, tid, events->loads, events->config1, events->precise, period, group->leader);
    if (group->loads < 0) return -1;
    if (group->leader < 0) group->leader = group->loads;
    if (events->stores &&
        (group->stores = open_event(events, tid, events->stores, 0, events->precise, period, group->leader)) < 0)
        return -1;
    void *page = mmap(NULL, PAGE + ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, group->loads, 0);
    if (page == MAP_FAILED) return -1;
    group->page = page;
    if (ioctl(group->loads, PERF_EVENT_IOC_ID, &group->layouts.loads_id) != 0) return -1;
    if (group->stores < 0) return 0;
    return ioctl(group->stores, PERF_EVENT_IOC_SET_OUTPUT, group->loads) == 0 &&
                   ioctl(group->stores, PERF_EVENT_IOC_ID, &group->layouts.stores_id) == 0
               ? 0
               : -1;
}

void rsc_perf_group_close(struct rsc_perf_group *group) {
    int kept = errno;
    if (group->page) munmap(group->page, PAGE + group->ring_bytes);
    if (group->stores >= LEAST_FD) close(group->stores);
    if (group->loads >= LEAST_FD) close(group->loads);
    if (group->leader >= LEAST_FD && group->leader != group->loads) close(group->leader);
    *group = (struct rsc_perf_group){.leader = -1, .loads = -1, .stores = -1};
    errno = kept;
}

void rsc_perf_group_set_period(const struct rsc_perf_group *group, uint64_t period) {
    period &= ~15ull; /* IBS counts by 16 */
    ioctl(group->loads, PERF_EVENT_IOC_PERIOD, &period);
    if (group->stores >= 0) ioctl(group->stores, PERF_EVENT_IOC_PERIOD, &period);
}

uint32_t rsc_perf_group_next(struct rsc_perf_group *group, void *record) {
    struct perf_event_mmap_page *page = group->page;
    uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE), tail = page->data_tail, before;
    uint32_t bytes = 0;
    while (!bytes && (before = tail) != head) { /* a record that is too large is passed over */
        bytes = rsc_perf_ring_next((const uint8_t *)page + PAGE, group->ring_bytes, head, &tail, record);
        if (tail == before) break;
    }
    __atomic_store_n(&page->data_tail, tail, __ATOMIC_RELEASE);
    return bytes;
}

uint64_t rsc_perf_group_advance(struct rsc_perf_group *group, uint64_t count) {
    double share =
        group->layouts.layout == RSC_PERF_AMD_IBS && group->seen ? (double)group->memory / (double)group->seen : 1;
    double at = group->position + (double)(int64_t)(count - group->last_count) * share;
    if (count > group->last_count) {
        group->position = at;
        group->last_count = count;
    }
    return at > 0 ? (uint64_t)at : 0;
}

int rsc_perf_group_now(struct rsc_perf_group *group, uint64_t *position) {
    uint64_t words[3 + 2 * RSC_PERF_GROUP_MAX], value = 0;
    int is_shared = 1;
    ssize_t got = read(group->leader, words, sizeof words);
    int status = got > 0 ? rsc_perf_read_group(&group->layouts, words, (size_t)got / 8, &value, &is_shared) : -1;
    *position = rsc_perf_group_advance(group, status == 0 && !is_shared ? value : group->last_count);
    return status < 0 || is_shared ? -1 : 0;
}
