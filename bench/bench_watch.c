/*
 * bench_watch.c - watching unmodified programs under Valgrind, beside Valgrind's own tools.
 *
 *   bench_watch [--no-exact] REUSESCOPE bench/programs/watch [ROUNDS [NAME...]]
 *
 * REUSESCOPE is the tool to measure. The variants alternate, ROUNDS times (2); the least processor time of each counts,
 * user and system, of the program and of everything that watches it:
 *
 *   none        valgrind --tool=none
 *   cachegrind  valgrind --tool=cachegrind with its cache model
 *   recorded    recording every access, while this process reads and decodes it
 *   exact       reusescope run: exact distances with code
 *   shards      reusescope run --engine shards:0.01
 *
 * and the ratios that have bars: recorded / cachegrind 0.6, exact / cachegrind 1.5 (elapsed time on two idle cores: 1.0),
 * shards / none 1.5. Then the most memory that a process of `exact` had at once, in MiB. --no-exact leaves the exact analysis out, which takes most of the time.
 */
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/numbers.h"
#include "bench/watched.h"

#define WORDS_MOST 24

enum way { NONE, CACHEGRIND, RECORDED, EXACT, SHARDS, WAYS };
static const char *const names[WAYS] = {"none", "cachegrind", "recorded", "exact", "shards"};
static const char *tool;
static int no_exact;
static char folder[] = "/tmp/bench_watch.XXXXXX";

/* $S: the folder of sources. */
static const struct subject {
    const char *name, *make;
    const char *argv[6];
} subjects[] = {
    {"qsort 1 M", "gcc -O2 -g $S/qsort.c -o qsort", {"./qsort"}},
    {"matmul 300", "gcc -O2 -g $S/matmul.c -o matmul", {"./matmul", "300"}},
    {"matmul 700", "gcc -O2 -g $S/matmul.c -o matmul", {"./matmul", "700"}},
    {"gzip 30 MB",
     "/usr/bin/python3 -c 'import random; r = random.Random(1); w = [\"%x\" % r.getrandbits(r.choice((8, 16, 24))) for _ "
     "in range(4000)]; f = open(\"text\", \"w\"); n = 0\nwhile n < 30000000: n += f.write(r.choice(w) + \" \")'",
     {"/usr/bin/gzip", "-c", "text"}},
    {"sqlite3", "cp $S/speed.sql .", {"/usr/bin/sqlite3", ":memory:", ".read speed.sql"}},
    {"python3", "cp $S/script.py .", {"/usr/bin/python3", "-I", "script.py"}},
    {"unordered_map", "g++ -O2 -g $S/map.cpp -o map", {"./map"}},
};

struct cost {
    double cpu, wall;
    double peak_mib; /* of the process with the most; 0: not known */
};

static double cpu_of_all(void) {
    struct rusage self, children;
    getrusage(RUSAGE_SELF, &self);
    getrusage(RUSAGE_CHILDREN, &children);
    return cpu_of(&self) + cpu_of(&children);
}

/* Returns the most memory that the command, or a process it waited for, had. */
static double run_command(const char *const *before, const struct subject *subject) {
    struct rusage used;
    const char *words[WORDS_MOST] = {NULL};
    size_t count = 0;
    int status = 0;
    while (*before) words[count++] = *before++;
    for (size_t i = 0; subject->argv[i]; i++) words[count++] = subject->argv[i];
    pid_t pid = fork();
    if (pid == 0) {
        int quiet = open("/dev/null", O_RDWR);
        dup2(quiet, STDOUT_FILENO);
        dup2(quiet, STDERR_FILENO);
        execvp(words[0], (char *const *)words);
        _exit(127);
    }
    need(wait4(pid, &status, 0, &used) == pid && status == 0 ? 0 : -1, words[0]);
    return (double)used.ru_maxrss / 1024;
}

static void record(const struct subject *subject) {
    struct rsc_target target;
    struct rsc_error error;
    struct rsc_run_facts facts;
    need(rsc_target_find(&target, subject->argv[0], &error), subject->argv[0]);
    struct rsc_collect_request request = {
        .target = &target, .command = (char *const *)subject->argv, .contexts = 1, .objects = 1, .seed = 1};
    int quiet = open("/dev/null", O_WRONLY), out = dup(STDOUT_FILENO);
    fflush(stdout);
    dup2(quiet, STDOUT_FILENO);
    watch_to_end(&rsc_collector_valgrind, &request, &facts);
    dup2(out, STDOUT_FILENO);
    close(quiet);
    close(out);
}

static struct cost measure(const struct subject *subject, enum way way) {
    const char *none[] = {"valgrind", "-q", "--tool=none", NULL};
    const char *cachegrind[] = {
        "valgrind", "-q", "--tool=cachegrind", "--cache-sim=yes", "--cachegrind-out-file=/dev/null", NULL};
    const char *exact[] = {tool, "run", "-q", "--with", "valgrind", "-o", "profile", "--", NULL};
    const char *shards[] = {tool,          "run", "-q",      "--with", "valgrind", "--engine",
                            "shards:0.01", "-o",  "profile", "--",     NULL};
    double cpu = cpu_of_all(), wall = seconds_now(), peak_mib = 0;
    if (way == RECORDED) record(subject);
    else
        peak_mib = run_command(way == NONE         ? none
                               : way == CACHEGRIND ? cachegrind
                               : way == EXACT      ? exact
                                                   : shards,
                               subject);
    return (struct cost){cpu_of_all() - cpu, seconds_now() - wall, peak_mib};
}

static void number(double value) {
    if (isinf(value)) printf(" - |"); /* not measured */
    else printf(" %.2f |", value);
}

static void compare(const struct subject *subject, int rounds) {
    struct cost least[WAYS];
    need(system(subject->make) == 0 ? 0 : -1, subject->make);
    for (int way = 0; way < WAYS; way++) least[way] = (struct cost){INFINITY, INFINITY, INFINITY};
    for (int round = 0; round < rounds; round++)
        for (int way = 0; way < WAYS; way++) {
            if (way == EXACT && no_exact) continue;
            struct cost cost = measure(subject, (enum way)way);
            if (cost.cpu < least[way].cpu) least[way].cpu = cost.cpu;
            if (cost.wall < least[way].wall) least[way].wall = cost.wall;
            if (cost.peak_mib < least[way].peak_mib) least[way].peak_mib = cost.peak_mib;
        }
    for (int way = 0; way < WAYS; way++) {
        if (isinf(least[way].cpu)) continue;
        put_number("processor seconds", least[way].cpu, "%s/%s", subject->name, names[way]);
        put_number("seconds", least[way].wall, "%s/%s", subject->name, names[way]);
        if (least[way].peak_mib > 0) put_number("MiB", least[way].peak_mib, "%s/%s", subject->name, names[way]);
    }
    printf("| %s |", subject->name);
    for (int way = 0; way < WAYS; way++) number(least[way].cpu);
    number(least[RECORDED].cpu / least[CACHEGRIND].cpu);
    number(least[EXACT].cpu / least[CACHEGRIND].cpu);
    number(least[EXACT].wall / least[CACHEGRIND].wall);
    number(least[SHARDS].cpu / least[NONE].cpu);
    number(least[EXACT].peak_mib);
    printf("\n");
    fflush(stdout);
}

static int is_wanted(const struct subject *subject, int argc, char **argv) {
    for (int i = 4; i < argc; i++)
        if (!strcmp(argv[i], subject->name)) return 1;
    return argc <= 4;
}

int main(int argc, char **argv) {
    no_exact = argc > 1 && !strcmp(argv[1], "--no-exact");
    argc -= no_exact;
    argv += no_exact;
    int rounds = argc > 3 ? atoi(argv[3]) : 2;
    char own[PATH_MAX], sources[PATH_MAX], command[64];
    if (argc < 3 || rounds < 1 || !realpath(argv[1], own) || !realpath(argv[2], sources)) {
        fprintf(stderr, "usage: bench_watch [--no-exact] REUSESCOPE bench/programs/watch [ROUNDS [NAME...]]\n");
        return 2;
    }
    tool = own;
    setenv("S", sources, 1);
    need(mkdtemp(folder) ? chdir(folder) : -1, "a folder in /tmp");
    printf("| program |");
    for (int way = 0; way < WAYS; way++) printf(" %s |", names[way]);
    printf(" recorded / cachegrind | exact / cachegrind | the same, elapsed | shards / none | MiB, exact |\n| --- |");
    for (int column = 0; column < WAYS + 5; column++) printf(" ---: |");
    printf("\n");
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++)
        if (is_wanted(&subjects[i], argc, argv)) compare(&subjects[i], rounds);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) == 0 ? 0 : 1;
}
