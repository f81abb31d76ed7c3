/*
 * symbols_reader.c - the child process that reads a module's debug information.
 *
 * libdw calls exit() when it gets no memory, fails an assertion where an allocation failed
 * inside it, and files may hold anything. So a fork of this process, one per file, reads
 * and answers questions about addresses; when it ends, what it answered stays, and the
 * rest has no lines. It shares all that was opened before, keeps no descriptor but the
 * socket, and never returns from here. Questions come in batches, since each batch costs
 * a switch between processes, and an answer is read only after its whole question was
 * sent, so neither side waits for the other to make room.
 */
#ifdef RSC_HAVE_LIBDW

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/grow.h"
#include "collect/symbols/symbols_module.h"

#define BATCH_MAX 256u /* addresses in a question */
#define ANSWER_BYTES_MAX (64u << 20)

struct question {
    uint32_t kind, count;
    uint64_t addresses[BATCH_MAX]; /* `count` are sent */
};

/* An answer's head; then `count` frames, each followed by its texts with their zeros. */
struct sent_answer {
    uint64_t start, bytes;
    uint64_t count;
};

struct sent_frame {
    uint32_t line, function_bytes, file_bytes; /* with the zero; 0: none */
};

/* All answers to a question. */
struct answers {
    char *bytes; /* owned */
    size_t used, room;
};

static size_t question_bytes(uint32_t count) { return offsetof(struct question, addresses) + count * sizeof(uint64_t); }

/* Returns 1, or 0 if the other end is gone. */
static int send_all(int fd, const void *from, size_t bytes) {
    for (size_t done = 0; done < bytes;) {
        ssize_t sent = send(fd, (const char *)from + done, bytes - done, MSG_NOSIGNAL);
        if (sent < 0 && errno != EINTR) return 0;
        if (sent > 0) done += (size_t)sent;
    }
    return 1;
}

static int receive_all(int fd, void *to, size_t bytes) {
    for (size_t done = 0; done < bytes;) {
        ssize_t got = recv(fd, (char *)to + done, bytes - done, 0);
        if (got == 0 || (got < 0 && errno != EINTR)) return 0;
        if (got > 0) done += (size_t)got;
    }
    return 1;
}

static int answer(struct symbols_shared *shared, struct symbols_module *module, enum symbols_question question,
                  uint64_t address, struct debug_answer *answer) {
    int found = 0;
    answer->start = answer->bytes = answer->count = 0;
    switch (question) {
    case ASK_FRAMES: return symbols_frames(shared, module, address, answer->frames, &answer->count);
    case ASK_DECLARATION:
        answer->frames[0] = (struct code_frame){0};
        found = symbols_declaration(shared, module, address, &answer->frames[0].file, &answer->frames[0].line);
        answer->count = found > 0;
        break;
    case ASK_FUNCTION: found = symbols_function_range(module, address, &answer->start, &answer->bytes); break;
    }
    return found < 0 ? found : 0;
}

/* ---- in the child ---- */

static void end_at_once(void) { _exit(1); }

static int append(struct answers *answers, const void *from, size_t bytes) {
    if (bytes > ANSWER_BYTES_MAX - answers->used) return 0;
    if (!bytes) return 1;
    if (RSC_GROW(answers->bytes, answers->room, answers->used + bytes)) return 0;
    memcpy(answers->bytes + answers->used, from, bytes);
    answers->used += bytes;
    return 1;
}

static int append_answer(struct answers *answers, const struct debug_answer *answer) {
    struct sent_answer head = {answer->start, answer->bytes, answer->count};
    int good = append(answers, &head, sizeof head);
    for (size_t i = 0; good && i < answer->count; i++) {
        const struct code_frame *frame = &answer->frames[i];
        struct sent_frame sent = {frame->line, frame->function ? (uint32_t)strlen(frame->function) + 1 : 0,
                                  frame->file ? (uint32_t)strlen(frame->file) + 1 : 0};
        good = append(answers, &sent, sizeof sent) && append(answers, frame->function, sent.function_bytes) &&
               append(answers, frame->file, sent.file_bytes);
    }
    return good;
}

/* Takes from this process all that it shares with the one that forked it, so that it can end in any way. */
static int keep_only(int fd) {
    struct rlimit none = {0, 0};
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL); /* they are for the other process */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setrlimit(RLIMIT_CORE, &none);
    fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    int quiet = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int i = 0; i < 3; i++)
        if (quiet < 0 || dup2(quiet, i) < 0) close(i);
    if (fd > 3 && dup2(fd, 3) < 0) _exit(1);
    closefrom(4);
    return atexit(end_at_once) ? -1 : 3;
}

static void serve(int fd, struct symbols_shared *shared, struct symbols_module *module) __attribute__((noreturn));

static void serve(int fd, struct symbols_shared *shared, struct symbols_module *module) {
    struct question question;
    struct answers answers = {0};
    fd = keep_only(fd);
    uint32_t state = (uint32_t)symbols_open_debug(shared, module);
    int good = fd >= 0 && send_all(fd, &state, sizeof state);
    while (good && receive_all(fd, &question, question_bytes(0)) && question.count <= BATCH_MAX &&
           receive_all(fd, question.addresses, question.count * sizeof *question.addresses)) {
        answers.used = 0;
        for (uint32_t i = 0; good && i < question.count; i++) {
            struct debug_answer one;
            good = !answer(shared, module, (enum symbols_question)question.kind, question.addresses[i], &one) &&
                   append_answer(&answers, &one);
        }
        uint32_t bytes = (uint32_t)answers.used;
        good = good && send_all(fd, &bytes, sizeof bytes) && send_all(fd, answers.bytes, bytes);
    }
    _exit(!good);
}

/* ---- in the parent ---- */

void symbols_reader_end(struct symbols_module *module) {
    if (!module->reader) return;
    close(module->reader_fd);
    kill(module->reader, SIGKILL);
    while (waitpid(module->reader, NULL, 0) < 0 && errno == EINTR) continue;
    module->reader = 0;
}

enum debug_state symbols_reader_start(struct symbols_shared *shared, struct symbols_module *module) {
    int ends[2];
    uint32_t state;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) return DEBUG_LOST;
    pid_t pid = fork();
    if (!pid) {
        close(ends[0]);
        serve(ends[1], shared, module);
    }
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return DEBUG_LOST;
    }
    module->reader = pid;
    module->reader_fd = ends[0];
    if (!receive_all(ends[0], &state, sizeof state)) state = DEBUG_LOST;
    if (state != DEBUG_READ) symbols_reader_end(module);
    return (enum debug_state)state;
}

static int take_bytes(struct answers *answers, size_t *at, void *to, size_t bytes) {
    if (bytes > answers->used - *at) return 0;
    memcpy(to, answers->bytes + *at, bytes);
    *at += bytes;
    return 1;
}

/* Returns 1, 0 if that is no text, or RSC_ENOMEM. */
static int take_text(struct symbols_shared *shared, struct answers *answers, size_t *at, uint32_t bytes,
                     const char **text) {
    *text = NULL;
    if (!bytes) return 1;
    if (bytes > answers->used - *at || answers->bytes[*at + bytes - 1]) return 0;
    *text = symbols_copied_text(shared, answers->bytes + *at);
    *at += bytes;
    return *text ? 1 : RSC_ENOMEM;
}

static int take_answer(struct symbols_shared *shared, struct answers *answers, size_t *at,
                       struct debug_answer *answer) {
    struct sent_answer head;
    struct sent_frame sent;
    if (!take_bytes(answers, at, &head, sizeof head) || head.count > FRAMES_MAX) return 0;
    *answer = (struct debug_answer){.start = head.start, .bytes = head.bytes, .count = head.count};
    for (size_t i = 0; i < head.count; i++) {
        if (!take_bytes(answers, at, &sent, sizeof sent)) return 0;
        answer->frames[i].line = sent.line;
        int good = take_text(shared, answers, at, sent.function_bytes, &answer->frames[i].function);
        if (good == 1) good = take_text(shared, answers, at, sent.file_bytes, &answer->frames[i].file);
        if (good != 1) return good;
    }
    return 1;
}

/* Returns 1 with the reader's answers, 0 if it has ended, or RSC_ENOMEM. */
static int exchange(struct symbols_module *module, const struct question *question, struct answers *answers) {
    uint32_t bytes;
    if (!send_all(module->reader_fd, question, question_bytes(question->count)) ||
        !receive_all(module->reader_fd, &bytes, sizeof bytes) || bytes > ANSWER_BYTES_MAX)
        return 0;
    if (RSC_GROW(answers->bytes, answers->room, (size_t)bytes + 1)) return RSC_ENOMEM;
    answers->used = bytes;
    return receive_all(module->reader_fd, answers->bytes, bytes);
}

int symbols_ask(struct symbols_shared *shared, struct symbols_module *module, enum symbols_question question,
                const uint64_t *addresses, size_t count, symbols_take *take, void *context) {
    struct answers answers = {0};
    struct debug_answer one;
    int rc = 0;
    symbols_begin_debug(shared, module);
    for (size_t i = 0, batch; !rc && i < count; i += batch) {
        struct question asked = {.kind = question};
        size_t at = 0;
        batch = count - i < BATCH_MAX ? count - i : BATCH_MAX;
        asked.count = (uint32_t)batch;
        memcpy(asked.addresses, addresses + i, batch * sizeof *addresses);
        int good = module->reader ? exchange(module, &asked, &answers) : 1;
        for (size_t k = 0; !rc && k < batch; k++) {
            one.start = one.bytes = one.count = 0;
            if (good > 0 && module->reader) good = take_answer(shared, &answers, &at, &one);
            else if (module->dwarf) rc = answer(shared, module, question, addresses[i + k], &one);
            if (good == 0 && module->reader) {
                one.start = one.bytes = one.count = 0;
                symbols_reader_end(module);
                rsc_log_line(&shared->log, RSC_LOG_WARNING,
                             "%s: reading its debug information ended early (out of memory?): lines are missing",
                             module->path);
            }
            if (good < 0) rc = good;
            if (!rc) rc = take(context, i + k, &one);
        }
    }
    free(answers.bytes);
    return rc;
}

#endif
