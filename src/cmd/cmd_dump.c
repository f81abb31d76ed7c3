/* cmd_dump.c - `reusescope dump`: prints the accesses and events of a trace in order, one per line. */
#include <errno.h>
#include <string.h>

#include "base/fail.h"
#include "base/numbers.h"
#include "cmd/session.h"
#include "trace/filter.h"

enum { OPT_COUNT = RSC_OPT_VERB };

static const struct rsc_option options[] = {
    RSC_HEADING("output"),          {OPT_COUNT, 'n', "count", "N", "stop after N accesses", NULL},
    RSC_HEADING("resources"),       RSC_READ_THREADS_OPTION,
    {0, 0, NULL, NULL, NULL, NULL},
};

static const char *const event_names[] = {"?",    "thread-start", "thread-end", "barrier", "lock", "alloc",
                                          "free", "map",          "marker",     "time",    "call", "return"};

static void print_event(const struct rsc_event *event) {
    const char *name = event->type < sizeof event_names / sizeof *event_names ? event_names[event->type] : "?";
    printf("%12s  thread %u  %s  a=0x%llx b=0x%llx", "event", event->thread, name, (unsigned long long)event->a,
           (unsigned long long)event->b);
    if (event->type == RSC_EVENT_MARKER && event->data_bytes) {
        fputs("  \"", stdout);
        for (uint32_t i = 0; i < event->data_bytes; i++) {
            unsigned char c = ((const unsigned char *)event->data)[i];
            if (c < 0x20 || c >= 0x7f || c == '"') printf("\\x%02x", c);
            else putchar(c);
        }
        putchar('"');
    } else if (event->data_bytes) {
        printf("  %u bytes", event->data_bytes);
    }
    putchar('\n');
}

static void print_access(const struct rsc_batch *batch, uint32_t i, uint64_t index) {
    uint64_t meta = batch->meta[i];
    uint32_t number = rsc_meta_thread(meta);
    uint64_t tid = batch->threads && number < batch->thread_count ? batch->threads[number].tid : number;
    printf("%12llu  %8llu  %c  0x%012llx  %6u", (unsigned long long)index, (unsigned long long)tid,
           "RWI"[rsc_meta_kind(meta) % 3], (unsigned long long)batch -> addr[i], rsc_meta_size(meta));
    if (batch->pc) printf("  0x%012llx", (unsigned long long)batch->pc[i]);
    putchar('\n');
}

static int dump(struct rsc_trace *trace, uint64_t first, uint64_t count, struct rsc_error *error) {
    const struct rsc_batch *batch;
    uint64_t index = 0;
    int status, titled = 0;
    while (index < count && (status = rsc_trace_next(trace, &batch, error)) > 0) {
        uint32_t event = 0;
        if (!titled++)
            printf("%12s  %8s  %s  %14s  %6s%s\n", "access", "tid", "k", "address", "bytes",
                   batch->pc ? "              pc" : "");
        for (uint32_t i = 0; i < batch->count && index < count; i++, index++) {
            while (event < batch->event_count && batch->events[event].at <= i) print_event(&batch->events[event++]);
            print_access(batch, i, first + index);
        }
        if (index >= count) return 0;
        while (event < batch->event_count) print_event(&batch->events[event++]);
        if (ferror(stdout)) return rsc_fail_errno(error, errno ? errno : EIO, "standard output");
    }
    return index < count ? status : 0;
}

static int run_dump(const struct rsc_verb *verb, int argc, char **argv) {
    struct rsc_session session;
    struct rsc_option_parser parser;
    struct rsc_trace *trace;
    struct rsc_error error;
    const char *path = NULL;
    uint64_t count = UINT64_MAX;
    int id, leave = -1;
    rsc_session_start(&session, verb, argv);
    rsc_options_start(&parser, verb, argc, argv);
    while (leave < 0 && (id = rsc_options_next(&parser)) != RSC_OPTIONS_END) {
        if (id == OPT_COUNT) {
            if (rsc_parse_u64(parser.value, strlen(parser.value), &count) < 0 || !count)
                leave = rsc_option_refuse(&parser, "not a number from 1 up");
        } else if (id == RSC_OPERAND) {
            if (path) leave = rsc_usage_error(verb, "more than one trace: %.60s", parser.value);
            path = parser.value;
        } else {
            leave = rsc_session_option(&session, &parser, id);
        }
    }
    if (leave >= 0) return leave;
    if (!path) return rsc_usage_error(verb, "a trace is missing: reusescope dump TRACE");
    int status = rsc_session_open(&session, &trace, path, count == UINT64_MAX, &error);
    if (status < 0) return rsc_session_fail(&session, &error);
    /* With a window, accesses keep their numbers in the trace; other filters renumber. */
    struct rsc_filter rest = session.filter;
    rest.first = 0;
    rest.count = UINT64_MAX;
    status = dump(trace, rsc_filter_is_all(&rest) ? session.filter.first : 0, count, &error);
    rsc_trace_close(trace);
    fflush(stdout);
    return status < 0 ? rsc_session_fail(&session, &error) : RSC_EXIT_OK;
}

const struct rsc_verb rsc_verb_dump = {
    .name = "dump",
    .operands = "TRACE",
    .summary = "Print the accesses and events of a trace",
    .about = "Columns: number of the access (counted after any filter except --window), thread id, kind (R, W, "
             "I), address, size in bytes and, if the trace has it, the pc.",
    .example = "reusescope dump t.rsct --window 1M -n 20",
    .groups = {options, rsc_trace_options, rsc_common_options},
    .run = run_dump,
};
