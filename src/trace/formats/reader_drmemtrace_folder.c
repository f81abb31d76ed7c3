/*
 * reader_drmemtrace_folder.c - a folder of DynamoRIO's drmemtrace: the files of all
 * threads (or cores), merged by their time stamps.
 *
 * Every file is read by a reader of its own (reader_drmemtrace.c). The file whose last
 * time stamp is earliest (among equals: whose name is first) goes on, until it meets a
 * time stamp later than that of another file. So accesses keep the order of their
 * thread, and threads take turns as finely as the trace has time stamps (from version 6
 * on, also around system calls).
 *
 * The files are drmemtrace.*.trace with any packing, in the folder itself or in the
 * subfolder `trace`; schedules, logs and raw files beside them are not read. All are open
 * at a time: about 1.5 MB each, FILES_MAX at most.
 *
 * With several threads, each file's next batch is unpacked and decoded by one of them
 * while the batch before it is merged. What a reader warns of comes out with its batch,
 * so that neither that nor the merged trace depends on the number of threads.
 */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "base/grow.h"
#include "base/pool.h"
#include "trace/formats/readers.h"

#define FILES_MAX 1000u /* below the usual limit of open files, 1024 */
#define EVENTS_MAX 1024u

/* A line of a file's reader. */
struct line {
    enum rsc_log_level level;
    char text[512];
};

/* A file's next batch: its decoder's until it is `done`. */
struct ahead {
    int asked, done; /* done: under the reader's lock */
    int status;
    struct rsc_batch batch;
    uint64_t first_time; /* us; UINT64_MAX: none yet */
    struct rsc_error error;
    struct line *lines;
    size_t line_count, line_room;
};

/* One file. */
struct lane {
    struct folder_reader *reader;
    struct rsc_input *input;
    struct rsc_source *source;
    struct rsc_log log; /* its reader's */
    struct ahead ahead;
    struct rsc_batch batch;
    uint64_t first_time;        /* us; that its events count from */
    struct rsc_thread *threads; /* of the batches so far: the reader's table may move */
    size_t thread_count, thread_room;
    uint32_t at, event;  /* in it: the next ones */
    uint64_t time;       /* of its last time stamp, ns; before the first one, that of the first */
    uint32_t *numbers;   /* its threads' numbers in the merged trace + 1; 0: not known yet */
    size_t numbers_room;
    int ended;
};

struct folder_reader {
    struct rsc_source source;
    const struct rsc_log *log;
    struct rsc_pool *pool; /* decodes; NULL: the merging thread does */
    pthread_mutex_t lock;
    pthread_cond_t done;
    struct lane *lanes;
    size_t lane_count;
    struct rsc_thread_table threads;
    uint64_t first_time; /* of all files, ns */
    int started;
    int filtered;     /* some file has no count of instructions */
    int fetches_seen;
    struct rsc_error failure; /* reported once what came before it has been delivered */
    int status;
    uint32_t count, events;
    uint64_t fetches;
    struct rsc_event event[EVENTS_MAX];
    uint64_t addr[RSC_BATCH_ACCESSES], meta[RSC_BATCH_ACCESSES], pcs[RSC_BATCH_ACCESSES];
};

/* ---- files ---- */

/* Whether the name ends in .trace or .trace.PACKING: a program's own name, in the middle, may have a .trace too. */
static int is_trace(const char *name) {
    const char *end = name + strlen(name), *last = strrchr(name, '.');
    if (strncmp(name, "drmemtrace.", 11)) return 0;
    if (strcmp(last, ".trace")) end = last;
    return end - name >= 6 && !strncmp(end - 6, ".trace", 6);
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* The paths of the traces in a folder, in order of their names; each is to be freed. */
static int list_files(const char *folder, char ***paths, size_t *count, struct rsc_error *error) {
    size_t room = 0;
    DIR *entries = opendir(folder);
    const struct dirent *entry;
    int status = 0;
    if (!entries) return rsc_fail_errno(error, errno, folder);
    while (!status && (entry = readdir(entries))) {
        if (!is_trace(entry->d_name)) continue;
        char *path = NULL;
        if (asprintf(&path, "%s/%s", folder, entry->d_name) < 0) path = NULL;
        if (!path || RSC_GROW(*paths, room, *count + 1)) {
            free(path);
            status = rsc_fail_memory(error, "folder");
        } else {
            (*paths)[(*count)++] = path;
        }
    }
    closedir(entries);
    if (!status && *count) qsort(*paths, *count, sizeof **paths, by_name);
    return status;
}

static void keep_line(void *user, enum rsc_log_level level, const char *text) {
    struct ahead *ahead = &((struct lane *)user)->ahead;
    if (RSC_GROW(ahead->lines, ahead->line_room, ahead->line_count + 1)) return;
    struct line *line = &ahead->lines[ahead->line_count++];
    line->level = level;
    snprintf(line->text, sizeof line->text, "%s", text);
}

static int open_lane(struct folder_reader *reader, const char *path, const struct rsc_reader_options *options,
                     struct rsc_error *error) {
    struct lane *lane = &reader->lanes[reader->lane_count++];
    struct rsc_reader_options own = options ? *options : (struct rsc_reader_options){0};
    lane->reader = reader;
    lane->log = (struct rsc_log){keep_line, lane};
    own.log = &lane->log;
    int status = rsc_input_open(&lane->input, path, error);
    if (!status) status = rsc_drmemtrace_open(&lane->source, lane->input, &own, error);
    return status;
}

/* ---- decoding ---- */

static void decode(void *argument) {
    struct lane *lane = argument;
    struct folder_reader *reader = lane->reader;
    struct ahead *ahead = &lane->ahead;
    ahead->status = lane->source->ops->next(lane->source, &ahead->batch, &ahead->error);
    ahead->first_time = rsc_drmemtrace_first_time(lane->source);
    if (!reader->pool) return;
    pthread_mutex_lock(&reader->lock);
    ahead->done = 1;
    pthread_cond_signal(&reader->done);
    pthread_mutex_unlock(&reader->lock);
}

/* Has the file's next batch decoded by another thread, if there is one. */
static void ask(struct folder_reader *reader, struct lane *lane) {
    if (!reader->pool || lane->ahead.asked) return;
    lane->ahead.asked = 1;
    lane->ahead.done = 0;
    rsc_pool_submit(reader->pool, decode, lane);
}

/* The file's next batch. Returns 1, 0 at the end of the file, or negative. */
static int take_batch(struct folder_reader *reader, struct lane *lane) {
    struct ahead *ahead = &lane->ahead;
    ask(reader, lane);
    if (reader->pool) {
        pthread_mutex_lock(&reader->lock);
        while (!ahead->done) pthread_cond_wait(&reader->done, &reader->lock);
        pthread_mutex_unlock(&reader->lock);
    } else {
        decode(lane);
    }
    ahead->asked = 0;
    for (size_t i = 0; i < ahead->line_count; i++)
        rsc_log_line(reader->log, ahead->lines[i].level, "%s", ahead->lines[i].text);
    ahead->line_count = 0;
    lane->batch = ahead->status > 0 ? ahead->batch : (struct rsc_batch){0};
    lane->first_time = ahead->first_time;
    if (ahead->status < 0) reader->failure = ahead->error;
    if (ahead->status <= 0) return ahead->status;
    size_t before = lane->thread_count;
    if (RSC_GROW(lane->threads, lane->thread_room, lane->batch.thread_count))
        return rsc_fail_memory(&reader->failure, "thread table");
    lane->thread_count = lane->batch.thread_count;
    for (size_t i = before; i < lane->thread_count; i++) lane->threads[i] = lane->batch.threads[i];
    ask(reader, lane);
    return 1;
}

/* ---- merging ---- */

static uint64_t time_of(const struct lane *lane, const struct rsc_event *event) {
    return lane->first_time * 1000 + event->a;
}

/* The next batch of a file, if the last one was used up. Returns negative if it failed. */
static int load(struct folder_reader *reader, struct lane *lane) {
    while (!lane->ended && lane->at == lane->batch.count && lane->event == lane->batch.event_count) {
        int status = take_batch(reader, lane);
        lane->at = lane->event = 0;
        lane->ended = status <= 0;
        if (status < 0) return status;
    }
    return 0;
}

/* Reads the beginning of every file, for its first time stamp. */
static int start(struct folder_reader *reader) {
    reader->started = 1;
    reader->first_time = UINT64_MAX;
    for (size_t i = 0; i < reader->lane_count; i++) ask(reader, &reader->lanes[i]);
    for (size_t i = 0; i < reader->lane_count; i++) {
        struct lane *lane = &reader->lanes[i];
        int status = load(reader, lane);
        if (status < 0) return status;
        for (uint32_t k = 0; k < lane->batch.event_count && !lane->time; k++)
            if (lane->batch.events[k].type == RSC_EVENT_TIME) lane->time = time_of(lane, &lane->batch.events[k]);
        if (lane->time && lane->time < reader->first_time) reader->first_time = lane->time;
    }
    return 0;
}

/* The file that goes on, NULL if all ended; *until: the least time of the others. */
static struct lane *choose(struct folder_reader *reader, uint64_t *until) {
    struct lane *best = NULL;
    *until = UINT64_MAX;
    for (size_t i = 0; i < reader->lane_count; i++) {
        struct lane *lane = &reader->lanes[i];
        if (lane->ended) continue;
        if (!best || lane->time < best->time) {
            if (best) *until = best->time;
            best = lane;
        } else if (lane->time < *until) {
            *until = lane->time;
        }
    }
    return best;
}

/* The merged number of a file's thread, or negative. */
static int64_t number_of(struct folder_reader *reader, struct lane *lane, uint32_t thread) {
    size_t room = lane->numbers_room;
    if (thread >= room) {
        if (RSC_GROW(lane->numbers, lane->numbers_room, thread + 1)) return RSC_ENOMEM;
        memset(lane->numbers + room, 0, (lane->numbers_room - room) * sizeof *lane->numbers);
    }
    if (!lane->numbers[thread]) {
        const struct rsc_thread *known = &lane->threads[thread];
        int64_t number = rsc_thread_number(&reader->threads, known->pid, known->tid);
        if (number < 0) return number;
        lane->numbers[thread] = (uint32_t)number + 1;
    }
    return lane->numbers[thread] - 1;
}

static int take_access(struct folder_reader *reader, struct lane *lane) {
    uint64_t meta = lane->batch.meta[lane->at];
    int64_t number = number_of(reader, lane, rsc_meta_thread(meta));
    if (number < 0) return (int)number;
    reader->addr[reader->count] = lane->batch.addr[lane->at];
    reader->meta[reader->count] = rsc_meta(rsc_meta_size(meta), rsc_meta_kind(meta), (uint32_t)number);
    reader->pcs[reader->count++] = lane->batch.pc[lane->at++];
    if (rsc_meta_kind(meta) != RSC_FETCH) return 0;
    reader->fetches++;
    reader->filtered |= lane->batch.instructions == RSC_UNKNOWN;
    return 0;
}

static int take_event(struct folder_reader *reader, struct lane *lane) {
    struct rsc_event event = lane->batch.events[lane->event++];
    int64_t number = number_of(reader, lane, event.thread);
    if (number < 0) return (int)number;
    if (event.type == RSC_EVENT_TIME) event.a = lane->time > reader->first_time ? lane->time - reader->first_time : 0;
    event.at = reader->count;
    event.thread = (uint32_t)number;
    reader->event[reader->events++] = event;
    return 0;
}

/* Takes from one file until it is later than `until`, its batch is used up, or the merged batch is full. */
static int take_turn(struct folder_reader *reader, struct lane *lane, uint64_t until) {
    int status = 0;
    while (!status && lane->time <= until && reader->count < RSC_BATCH_ACCESSES && reader->events < EVENTS_MAX) {
        const struct rsc_batch *batch = &lane->batch;
        if (lane->event < batch->event_count && batch->events[lane->event].at <= lane->at) {
            const struct rsc_event *event = &batch->events[lane->event];
            if (event->type == RSC_EVENT_TIME) lane->time = time_of(lane, event);
            if (lane->time > until) break; /* the time stamp comes with the turn that it begins */
            status = take_event(reader, lane);
        } else if (lane->at < batch->count) {
            status = take_access(reader, lane);
        } else {
            break;
        }
    }
    if (status == RSC_ENOMEM) return rsc_fail_memory(&reader->failure, "thread table");
    if (status < 0)
        return rsc_fail(&reader->failure, status, "%s: too many threads (drmemtrace)", rsc_input_name(lane->input));
    return load(reader, lane);
}

static int folder_next(struct rsc_source *source, struct rsc_batch *batch, struct rsc_error *error) {
    struct folder_reader *reader = (struct folder_reader *)source;
    struct lane *lane;
    uint64_t until;
    reader->count = reader->events = 0;
    reader->fetches = 0;
    if (!reader->started) reader->status = start(reader);
    while (!reader->status && reader->count < RSC_BATCH_ACCESSES && reader->events < EVENTS_MAX &&
           (lane = choose(reader, &until)))
        reader->status = take_turn(reader, lane, until);
    if (!reader->count && !reader->events) {
        if (reader->status < 0 && error) *error = reader->failure;
        return reader->status;
    }
    uint64_t instructions = rsc_instructions_of(reader->fetches, &reader->fetches_seen);
    *batch = (struct rsc_batch){.count = reader->count,
                                .event_count = reader->events,
                                .addr = reader->addr,
                                .meta = reader->meta,
                                .pc = reader->pcs,
                                .events = reader->event,
                                .threads = reader->threads.threads,
                                .thread_count = reader->threads.count,
                                .instructions = reader->filtered ? RSC_UNKNOWN : instructions};
    return 1;
}

/* Counts that filtered files have of their own add up. Not while batches are merged. */
static void folder_info(struct rsc_source *source, struct rsc_trace_info *info) {
    struct folder_reader *reader = (struct folder_reader *)source;
    uint64_t instructions = 0, bytes = 0;
    if (reader->pool) rsc_pool_wait(reader->pool); /* where one file failed, others are still decoded */
    for (size_t i = 0; i < reader->lane_count; i++) {
        struct rsc_trace_info one = {.instructions = RSC_UNKNOWN};
        struct lane *lane = &reader->lanes[i];
        lane->source->ops->info(lane->source, &one);
        instructions = one.instructions == RSC_UNKNOWN || instructions == RSC_UNKNOWN ? RSC_UNKNOWN
                                                                                      : instructions + one.instructions;
        bytes += rsc_input_file_bytes(lane->input);
        info->source = one.source;
    }
    info->has_pc = 1;
    info->file_bytes = bytes;
    if (reader->filtered) info->instructions = instructions;
}

static void folder_close(struct rsc_source *source) {
    struct folder_reader *reader = (struct folder_reader *)source;
    rsc_pool_free(reader->pool);
    for (size_t i = 0; i < reader->lane_count; i++) {
        struct lane *lane = &reader->lanes[i];
        if (lane->source) lane->source->ops->close(lane->source);
        rsc_input_close(lane->input);
        free(lane->ahead.lines);
        free(lane->threads);
        free(lane->numbers);
    }
    pthread_cond_destroy(&reader->done);
    pthread_mutex_destroy(&reader->lock);
    rsc_thread_table_free(&reader->threads);
    free(reader->lanes);
    free(reader);
}

static const struct rsc_source_ops folder_ops = {.next = folder_next, .info = folder_info, .close = folder_close};

int rsc_drmemtrace_folder_open(struct rsc_source **out, struct rsc_input *input,
                               const struct rsc_reader_options *options, struct rsc_error *error) {
    const char *name = rsc_input_name(input);
    struct folder_reader *reader = calloc(1, sizeof *reader);
    char **paths = NULL, *below = NULL;
    size_t count = 0;
    struct stat status_of;
    int status = reader ? 0 : rsc_fail_memory(error, "drmemtrace reader");
    if (!status) status = list_files(name, &paths, &count, error);
    if (!status && !count) {
        if (asprintf(&below, "%s/trace", name) < 0) below = NULL;
        if (!below) status = rsc_fail_memory(error, "folder");
        else if (!stat(below, &status_of) && S_ISDIR(status_of.st_mode))
            status = list_files(below, &paths, &count, error);
    }
    if (!status && !count)
        status = rsc_fail(error, RSC_EFORMAT,
                          "%s: a folder without traces; DynamoRIO's are drmemtrace.*.trace in it or "
                          "in its subfolder trace",
                          name);
    if (!status && count > FILES_MAX)
        status = rsc_fail(error, RSC_ELIMIT, "%s: %zu traces; at most %u are merged", name, count, FILES_MAX);
    if (reader) {
        reader->source.ops = &folder_ops;
        reader->log = options ? options->log : NULL;
        pthread_mutex_init(&reader->lock, NULL);
        pthread_cond_init(&reader->done, NULL);
    }
    if (!status && !(reader->lanes = calloc(count, sizeof *reader->lanes))) status = rsc_fail_memory(error, "folder");
    if (!status && options && options->workers > 1 && count > 1)
        status = rsc_pool_new(&reader->pool, (unsigned)options->workers, error);
    for (size_t i = 0; i < count; i++) {
        if (!status) status = open_lane(reader, paths[i], options, error);
        free(paths[i]);
    }
    free(paths);
    free(below);
    if (status < 0 && reader) folder_close(&reader->source);
    else if (reader) *out = &reader->source;
    return status;
}
