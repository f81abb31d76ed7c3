/* test_output_file.c - files that appear whole or not at all, on a real file system. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/output_file.h"

/* What the functions below replace is recorded: f and d for files and folders that reach the disk, r for renames. */
static char order[16];
static int disk_fails;

static void record(char what) {
    size_t length = strlen(order);
    if (length + 1 < sizeof order) order[length] = what;
}

int fsync(int fd) {
    struct stat status;
    record(fstat(fd, &status) == 0 && S_ISDIR(status.st_mode) ? 'd' : 'f');
    if (!disk_fails) return (int)syscall(SYS_fsync, fd);
    errno = EIO;
    return -1;
}

int rename(const char *from, const char *to) {
    record('r');
    return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

static int enter_scratch(void **state) {
    const char *parent = getenv("TMPDIR");
    char *folder;
    if (asprintf(&folder, "%s/reusescope-test-XXXXXX", parent ? parent : "/tmp") < 0) return -1;
    if (!mkdtemp(folder) || chdir(folder) != 0) return -1;
    *state = folder;
    return 0;
}

static int leave_scratch(void **state) {
    char *command;
    if (asprintf(&command, "rm -rf '%s'", (char *)*state) < 0) return -1;
    int status = chdir("/") != 0 || system(command) != 0;
    free(command);
    free(*state);
    return status;
}

static void expect_content(const char *path, const char *expected) {
    char text[256] = "";
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t length = fread(text, 1, sizeof text - 1, file);
    text[length] = '\0';
    fclose(file);
    assert_string_equal(text, expected);
}

/* Names in the current folder. */
static int count_files(void) {
    int count = 0;
    DIR *folder = opendir(".");
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder));)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(folder);
    return count;
}

static void whole(const char *path, const char *text, int keep_old) {
    struct rsc_error error = {0};
    int status = rsc_output_whole(path, text, strlen(text), keep_old, &error);
    if (status < 0) print_message("%s\n", error.message);
    assert_int_equal(status, 0);
}

static void expect_refusal(const char *path) {
    struct rsc_output_file file;
    struct rsc_error error = {0};
    assert_true(rsc_output_open(&file, path, &error) < 0);
    assert_int_equal(error.code, RSC_EIO);
    assert_memory_equal(error.message, path, strlen(path));
    assert_int_equal(file.fd, -1);
    rsc_output_abort(&file); /* harmless */
}

static mode_t mode_of(const char *path) {
    struct stat status;
    assert_int_equal(lstat(path, &status), 0);
    return status.st_mode & 07777;
}

static void appears_on_commit_only(void **state) {
    (void)state;
    struct rsc_output_file file;
    struct rsc_error error;
    whole("a", "old", 0);
    assert_int_equal(rsc_output_open(&file, "a", &error), 0);
    assert_int_equal(rsc_output_write(&file, "new ", 4, &error), 0);
    assert_int_equal(rsc_output_write(&file, "", 0, &error), 0);
    assert_int_equal(rsc_output_write(&file, "text", 4, &error), 0);
    assert_int_equal(file.bytes, 8);
    expect_content("a", "old");
    assert_int_equal(rsc_output_commit(&file, 0, &error), 0);
    expect_content("a", "new text");
    rsc_output_abort(&file); /* harmless after commit */
    expect_content("a", "new text");
    assert_int_equal(count_files(), 1);
}

static void abort_leaves_nothing(void **state) {
    (void)state;
    struct rsc_output_file file;
    struct rsc_error error;
    for (int always_named = 0; always_named <= 1; always_named++) { /* RSC_OUTPUT_UNNAMED, RSC_OUTPUT_HIDDEN */
        assert_int_equal(rsc_output_open_with(&file, "a", (enum rsc_output_naming)always_named, &error), 0);
        assert_int_equal(rsc_output_write(&file, "x", 1, &error), 0);
        assert_int_equal(count_files(), file.unnamed ? 0 : 1);
        if (always_named) assert_false(file.unnamed);
        rsc_output_abort(&file);
        assert_int_equal(count_files(), 0);
        rsc_output_abort(&file);
    }
}

static void named_temporary_files_commit_too(void **state) {
    (void)state;
    struct rsc_output_file file;
    struct rsc_error error;
    whole("a", "old", 0);
    assert_int_equal(rsc_output_open_with(&file, "a", RSC_OUTPUT_HIDDEN, &error), 0);
    assert_int_equal(rsc_output_write(&file, "new", 3, &error), 0);
    assert_int_equal(rsc_output_commit(&file, 1, &error), 0);
    expect_content("a", "new");
    expect_content("a.old", "old");
    assert_int_equal(count_files(), 2);
}

static void mode_is_as_open_would_make_it(void **state) {
    (void)state;
    mode_t before = umask(027);
    whole("a", "x", 0);
    assert_int_equal(mode_of("a"), 0640);
    umask(before);
    chmod("a", 0600); /* a file that is there keeps its own */
    whole("a", "y", 0);
    assert_int_equal(mode_of("a"), 0600);
}

static void keeps_the_old_one(void **state) {
    (void)state;
    whole("a", "1", 1); /* none yet */
    assert_int_equal(count_files(), 1);
    whole("a", "2", 1);
    expect_content("a", "2");
    expect_content("a.old", "1");
    whole("a", "3", 1);
    expect_content("a", "3");
    expect_content("a.old", "2");
    assert_int_equal(count_files(), 2);
}

static void old_one_may_be_the_same_file(void **state) {
    (void)state;
    whole("a", "1", 0);
    assert_int_equal(link("a", "a.old"), 0);
    whole("a", "2", 1);
    expect_content("a", "2");
    expect_content("a.old", "1");
    assert_int_equal(count_files(), 2);
}

static void old_one_in_the_way_is_an_error(void **state) {
    (void)state;
    struct rsc_error error;
    whole("a", "1", 0);
    assert_int_equal(mkdir("a.old", 0777), 0);
    assert_int_equal(rsc_output_whole("a", "2", 1, 1, &error), RSC_EIO);
    expect_content("a", "1");
    assert_int_equal(count_files(), 2);
}

static void links_stay_links(void **state) {
    (void)state;
    struct stat status;
    assert_int_equal(mkdir("d", 0777), 0);
    whole("d/target", "1", 0);
    assert_int_equal(symlink("d/target", "one"), 0);
    assert_int_equal(symlink("one", "two"), 0);
    whole("two", "2", 1);
    expect_content("d/target", "2");
    expect_content("d/target.old", "1");
    assert_int_equal(lstat("one", &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    assert_int_equal(lstat("two", &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    assert_int_equal(count_files(), 3);

    assert_int_equal(symlink("d/fresh", "dangling"), 0);
    whole("dangling", "3", 0);
    expect_content("d/fresh", "3");

    char absolute[PATH_MAX];
    snprintf(absolute, sizeof absolute, "%s/d/far", (char *)*state);
    assert_int_equal(symlink(absolute, "abs"), 0);
    whole("abs", "4", 0);
    expect_content("d/far", "4");
}

/* As the kernel does (fs.protected_symlinks): in a folder open to all, only own links and the folder owner's are followed. */
static void planted_links_are_refused(void **state) {
    (void)state;
    struct rsc_error error;
    if (geteuid() != 0) skip(); /* only root can make a link of someone else */
    assert_int_equal(mkdir("open", 0700), 0);
    whole("open/target", "old", 0);
    assert_int_equal(symlink("target", "open/link"), 0);
    assert_int_equal(chmod("open", 01777), 0);
    assert_int_equal(lchown("open/link", 12345, 12345), 0);
    assert_int_equal(rsc_output_whole("open/link", "new", 3, 1, &error), RSC_EIO);
    assert_non_null(strstr(error.message, "another user made this link or pipe"));
    expect_content("open/target", "old");
    assert_int_equal(mkfifo("open/pipe", 0666), 0);
    assert_int_equal(lchown("open/pipe", 12345, 12345), 0);
    assert_int_equal(rsc_output_whole("open/pipe", "new", 3, 1, &error), RSC_EIO);
    assert_int_equal(lchown("open/link", 0, 0), 0);
    whole("open/link", "own", 0);
    expect_content("open/target", "own");
    assert_int_equal(lchown("open/link", 12345, 12345), 0);
    assert_int_equal(chmod("open", 0700), 0); /* nobody else can make files here */
    whole("open/link", "new", 0);
    expect_content("open/target", "new");
}

static void bad_names_are_refused_at_once(void **state) {
    (void)state;
    char long_name[300];
    memset(long_name, 'x', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    assert_int_equal(mkdir("folder", 0777), 0);
    assert_int_equal(symlink("loop", "loop"), 0);
    expect_refusal("folder");
    expect_refusal("folder/");
    expect_refusal("missing/a");
    expect_refusal("missing/");
    expect_refusal("");
    expect_refusal("loop");
    expect_refusal(long_name);
    assert_int_equal(count_files(), 2);
    /* the longest name there can be is fine, although the temporary one beside it has its own length */
    long_name[NAME_MAX] = '\0';
    whole(long_name, "x", 0);
}

static void read_only_files_are_refused(void **state) {
    (void)state;
    whole("a", "1", 0);
    chmod("a", 0444);
    chmod(".", 0777);
    int is_root = geteuid() == 0; /* who may write everywhere: be somebody else for a moment */
    if (is_root && seteuid(65534) != 0) skip();
    struct rsc_error error = {0};
    int status = rsc_output_whole("a", "2", 1, 0, &error);
    if (is_root) assert_int_equal(seteuid(0), 0);
    assert_int_equal(status, RSC_EIO);
    expect_content("a", "1");
    assert_int_equal(count_files(), 1);
}

static void devices_are_written_in_place(void **state) {
    (void)state;
    struct rsc_error error = {0};
    whole("/dev/null", "x", 1);
    struct stat status;
    assert_int_equal(stat("/dev/null", &status), 0);
    assert_true(S_ISCHR(status.st_mode));
    if (access("/dev/full", W_OK) != 0) skip();
    assert_int_equal(rsc_output_whole("/dev/full", "x", 1, 0, &error), RSC_EIO);
    assert_memory_equal(error.message, "/dev/full: ", 11);
}

static void open_descriptors_are_written_in_place(void **state) {
    (void)state;
    int ends[2];
    char path[64], text[8] = "";
    assert_int_equal(pipe(ends), 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", ends[1]);
    whole(path, "piped", 0);
    assert_int_equal(read(ends[0], text, sizeof text), 5);
    assert_string_equal(text, "piped");
    close(ends[0]);
    close(ends[1]);

    int fd = open("a", O_WRONLY | O_CREAT, 0666);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    whole(path, "same file", 1);
    struct stat by_fd, by_name;
    assert_int_equal(fstat(fd, &by_fd), 0);
    assert_int_equal(stat("a", &by_name), 0);
    assert_true(by_fd.st_ino == by_name.st_ino);
    expect_content("a", "same file");
    assert_int_equal(count_files(), 1);
    close(fd);
}

static void closed_pipe_is_an_error(void **state) {
    (void)state;
    int ends[2];
    char path[64];
    struct rsc_error error = {0};
    void (*before)(int) = signal(SIGPIPE, SIG_IGN);
    assert_int_equal(pipe(ends), 0);
    struct rsc_output_file file;
    snprintf(path, sizeof path, "/proc/self/fd/%d", ends[1]);
    assert_int_equal(rsc_output_open(&file, path, &error), 0);
    close(ends[0]);
    assert_int_equal(rsc_output_write(&file, "x", 1, &error), RSC_EIO);
    rsc_output_abort(&file);
    close(ends[1]);
    signal(SIGPIPE, before);
}

static void non_blocking_pipe_is_waited_for(void **state) {
    (void)state;
    int ends[2];
    char path[64];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) { /* the reader: 1 MiB must come through */
        char buffer[4096];
        size_t total = 0;
        close(ends[1]);
        for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;) total += (size_t)n;
        _exit(total == 1 << 20 ? 0 : 1);
    }
    close(ends[0]);
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    snprintf(path, sizeof path, "/proc/self/fd/%d", ends[1]);
    struct rsc_output_file file;
    struct rsc_error error;
    char *data = calloc(1, 1 << 20);
    assert_int_equal(rsc_output_open(&file, path, &error), 0);
    fcntl(file.fd, F_SETFL, O_NONBLOCK);
    assert_int_equal(rsc_output_write(&file, data, 1 << 20, &error), 0);
    assert_int_equal(rsc_output_commit(&file, 0, &error), 0);
    close(ends[1]);
    free(data);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* A limit on file size stands in for a full disk: the write is partial first, then refused. */
static void full_disk_leaves_the_old_file(void **state) {
    (void)state;
    struct rlimit before, limit;
    struct rsc_error error = {0};
    static char data[100000];
    whole("a", "old", 0);
    getrlimit(RLIMIT_FSIZE, &before);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    limit = before;
    limit.rlim_cur = 50000;
    setrlimit(RLIMIT_FSIZE, &limit);
    int status = rsc_output_whole("a", data, sizeof data, 1, &error);
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, handler);
    assert_int_equal(status, RSC_EIO);
    assert_memory_equal(error.message, "a: ", 3);
    expect_content("a", "old");
    assert_int_equal(count_files(), 1);
}

/* Data, then the name, then the folder; what does not reach the disk does not replace the old file. */
static void data_reaches_the_disk_before_the_name(void **state) {
    (void)state;
    struct rsc_error error = {0};
    whole("a", "old", 0);
    memset(order, 0, sizeof order);
    whole("a", "new", 0);
    assert_string_equal(order, "frd");
    disk_fails = 1;
    int status = rsc_output_whole("a", "newer", 5, 0, &error);
    disk_fails = 0;
    assert_int_equal(status, RSC_EIO);
    expect_content("a", "new");
    assert_int_equal(count_files(), 1);
}

static void dash_is_standard_output(void **state) {
    (void)state;
    fflush(stdout);
    int saved = dup(STDOUT_FILENO), fd = open("out", O_WRONLY | O_CREAT, 0666);
    dup2(fd, STDOUT_FILENO);
    close(fd);
    struct rsc_error error;
    printf("before ");
    int status = rsc_output_whole("-", "data ", 5, 1, &error);
    printf("after"); /* still open */
    fflush(stdout);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    assert_int_equal(status, 0);
    expect_content("out", "before data after");
    assert_int_equal(count_files(), 1);
}

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, enter_scratch, leave_scratch)

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(appears_on_commit_only),
        IN_SCRATCH(abort_leaves_nothing),
        IN_SCRATCH(named_temporary_files_commit_too),
        IN_SCRATCH(mode_is_as_open_would_make_it),
        IN_SCRATCH(keeps_the_old_one),
        IN_SCRATCH(old_one_may_be_the_same_file),
        IN_SCRATCH(old_one_in_the_way_is_an_error),
        IN_SCRATCH(links_stay_links),
        IN_SCRATCH(planted_links_are_refused),
        IN_SCRATCH(bad_names_are_refused_at_once),
        IN_SCRATCH(read_only_files_are_refused),
        IN_SCRATCH(devices_are_written_in_place),
        IN_SCRATCH(open_descriptors_are_written_in_place),
        IN_SCRATCH(closed_pipe_is_an_error),
        IN_SCRATCH(non_blocking_pipe_is_waited_for),
        IN_SCRATCH(full_disk_leaves_the_old_file),
        IN_SCRATCH(data_reaches_the_disk_before_the_name),
        IN_SCRATCH(dash_is_standard_output),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
