/*
 * fault_preload.c - makes the n-th call of a kind fail, in a program that it is preloaded into (LD_PRELOAD), and finds
 * what the program then leaks.
 *
 *   FAULT_KIND    alloc, mmap, open, read, write, thread, fork or perf; not set: none fails
 *   FAULT_AT      which call of that kind fails, from 1
 *   FAULT_REPORT  a file that gets, at the end, lines of
 *                   calls KIND N      how many calls there were
 *                   path KIND HASH N SITE  the first call N that came by this path of callers, and where in the tool it
 *                                     returns to (only if none fails)
 *                   failed N          1 if the call was reached
 *                   lost N BYTES      blocks that nothing points to at the end, and their bytes
 *                   from ADDRESS... who allocated one of them, as MODULE+OFFSET (FAULT_WHO only)
 *
 * A block is lost if no word of the data of a module, of the main thread's own data or of a block that is not lost
 * points into it: as the usual leak checkers do, without another build of the program. Blocks whose owners were on
 * the stack of main() are lost as well: main() has returned or called exit().
 *
 * The process itself counts, and of its forked children the calls that the tool's own code, libdw and libelf make (not
 * those of a compiler's libraries, which are too many); not the programs that it starts. What the children count is in
 * memory that all share. Blocks are looked for in the process itself.
 */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum kind { NONE, ALLOC, MAP, OPEN, READ, WRITE, THREAD, FORK, PERF };
static const char *const names[] = {"", "alloc", "mmap", "open", "read", "write", "thread", "fork", "perf"};
static enum kind chosen;
static unsigned long at;
static pid_t owner;
static int wants_who, is_on, is_over;
static __thread int inside; /* of this library: what it calls is not counted */

extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *old, size_t bytes);
extern void *__libc_memalign(size_t alignment, size_t bytes);
extern void __libc_free(void *block);

/* ---- paths of callers ---- */

#define DEPTH 16
#define PATHS (1u << 15)
static struct shared {
    unsigned long calls[PERF + 1];
    pthread_mutex_t lock;
    struct {
        uint64_t hash;
        unsigned long call;
        uintptr_t site;
        enum kind kind;
    } paths[PATHS];
} *shared;

static struct {
    uintptr_t start, end, base;
    const char *name;
    int counts_in_children;
} modules[64];
static int module_count, own_module;

static int add_module(struct dl_phdr_info *info, size_t bytes, void *unused) {
    (void)bytes, (void)unused;
    uintptr_t end = 0;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz > end)
            end = info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
    if (module_count < 64) {
        if ((uintptr_t)&own_module - info->dlpi_addr < end) own_module = module_count;
        modules[module_count].start = modules[module_count].base = info->dlpi_addr;
        modules[module_count].end = info->dlpi_addr + end;
        modules[module_count].counts_in_children =
            !module_count || strstr(info->dlpi_name, "/libdw.") || strstr(info->dlpi_name, "/libelf.");
        modules[module_count++].name = info->dlpi_name;
    }
    return 0;
}

/* The same wherever modules are loaded. */
static uint64_t hash_path(uintptr_t *site) {
    void *frames[DEPTH];
    uint64_t hash = 14695981039346656037u;
    int count = backtrace(frames, DEPTH);
    *site = 0;
    for (int i = 0; i < count; i++)
        for (int m = 0; m < module_count; m++) {
            uintptr_t offset = (uintptr_t)frames[i] - modules[m].base;
            if (m == own_module || (uintptr_t)frames[i] < modules[m].start || (uintptr_t)frames[i] >= modules[m].end) continue;
            hash = (hash ^ (offset + (uint64_t)m)) * 1099511628211u;
            if (m == 0 && !*site) *site = offset;
        }
    return hash | 1;
}

static void note_path(enum kind kind, unsigned long call) {
    uintptr_t site;
    uint64_t hash = hash_path(&site);
    pthread_mutex_lock(&shared->lock);
    for (uint32_t slot = hash % PATHS, tries = 0; tries < PATHS; slot = (slot + 1) % PATHS, tries++) {
        if (shared->paths[slot].hash == hash && shared->paths[slot].kind == kind) break;
        if (shared->paths[slot].hash) continue;
        shared->paths[slot].hash = hash;
        shared->paths[slot].call = call;
        shared->paths[slot].kind = kind;
        shared->paths[slot].site = site;
        break;
    }
    pthread_mutex_unlock(&shared->lock);
}

#define fails(kind) fails_from(kind, (uintptr_t)__builtin_return_address(0))

static int counts_in_children(uintptr_t caller) {
    for (int m = 0; m < module_count; m++)
        if (modules[m].counts_in_children && caller >= modules[m].start && caller < modules[m].end) return 1;
    return 0;
}

static int fails_from(enum kind kind, uintptr_t caller) {
    if (!is_on || inside || (chosen && kind != chosen)) return 0;
    if (getpid() != owner && !counts_in_children(caller)) return 0;
    unsigned long call = __atomic_add_fetch(&shared->calls[kind], 1, __ATOMIC_RELAXED);
    if (!chosen) {
        inside = 1;
        note_path(kind, call);
        inside = 0;
    }
    return chosen && call == at;
}

/* ---- blocks ---- */

#define BLOCKS (1u << 20)
#define WHO 12
static struct block {
    uintptr_t start; /* 0: free, 1: was one */
    size_t bytes;
    int is_found;
    void *who[WHO];
} *blocks;
static uint32_t block_count;

static uint32_t slot_of(uintptr_t start) { return (uint32_t)(start * 0x9e3779b97f4a7c15u >> 44) % BLOCKS; }

static void *note_block(void *made, size_t bytes) {
    if (!made || !blocks || inside) return made;
    void *who[WHO] = {NULL};
    inside = 1;
    if (wants_who) backtrace(who, WHO);
    pthread_mutex_lock(&shared->lock);
    for (uint32_t slot = slot_of((uintptr_t)made); block_count < BLOCKS / 2; slot = (slot + 1) % BLOCKS)
        if (blocks[slot].start < 2) {
            block_count += !blocks[slot].start;
            blocks[slot] = (struct block){.start = (uintptr_t)made, .bytes = bytes};
            memcpy(blocks[slot].who, who, sizeof blocks[slot].who);
            break;
        }
    pthread_mutex_unlock(&shared->lock);
    inside = 0;
    return made;
}

static void forget_block(void *block) {
    if (!block || !blocks || inside) return;
    pthread_mutex_lock(&shared->lock);
    for (uint32_t slot = slot_of((uintptr_t)block); blocks[slot].start; slot = (slot + 1) % BLOCKS)
        if (blocks[slot].start == (uintptr_t)block) {
            blocks[slot].start = 1;
            break;
        }
    pthread_mutex_unlock(&shared->lock);
}

/* ---- what is lost ---- */

static struct block **sorted;
static uint32_t sorted_count;

static int by_start(const void *left, const void *right) {
    uintptr_t a = (*(struct block *const *)left)->start, b = (*(struct block *const *)right)->start;
    return a < b ? -1 : a > b;
}

static struct block *block_at(uintptr_t place) {
    uint32_t low = 0, high = sorted_count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (sorted[middle]->start <= place) low = middle + 1;
        else high = middle;
    }
    struct block *block = low ? sorted[low - 1] : NULL;
    return block && place - block->start < block->bytes + !block->bytes ? block : NULL;
}

static struct block **waiting;
static uint32_t waiting_count;

__attribute__((no_sanitize("address"))) static void look_through(uintptr_t from, uintptr_t to) {
    from = (from + 7) & ~(uintptr_t)7;
    for (; from + 8 <= to; from += 8) {
        struct block *block = block_at(*(const uintptr_t *)from);
        if (!block || block->is_found) continue;
        block->is_found = 1;
        waiting[waiting_count++] = block;
    }
}

static int look_through_module(struct dl_phdr_info *info, size_t bytes, void *unused) {
    (void)bytes, (void)unused;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + part->p_vaddr;
        if (part->p_type == PT_LOAD && (part->p_flags & PF_W)) look_through(start, start + part->p_memsz);
        if (part->p_type == PT_TLS && info->dlpi_tls_data)
            look_through((uintptr_t)info->dlpi_tls_data, (uintptr_t)info->dlpi_tls_data + part->p_memsz);
    }
    return 0;
}

/* Pages that the program mapped itself (large tables, arenas) hold pointers too. */
static void look_through_maps(void) {
    char line[512];
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps)) {
        unsigned long start, end, inode;
        char how[8];
        if (sscanf(line, "%lx-%lx %7s %*s %*s %lu", &start, &end, how, &inode) != 4 || how[0] != 'r' || how[1] != 'w') continue;
        /* Not the heap, which is made of blocks, nor our own tables. */
        if (inode || strstr(line, "[heap]") || strstr(line, "[stack]") || end - start > 1ul << 28) continue;
        if (start <= (uintptr_t)blocks && (uintptr_t)blocks < end) continue;
        if (sorted_count && block_at(start + 16) && block_at(start + 16)->start == start + 16) continue; /* one large block */
        int is_heap = 0; /* of a thread */
        for (uint32_t i = 0; i < sorted_count && !is_heap; i++)
            is_heap = sorted[i]->start >= start && sorted[i]->start < end;
        if (!is_heap) look_through(start, end);
    }
    if (maps) fclose(maps);
}

static void find_lost(int fd) {
    uint64_t count = 0, bytes = 0;
    for (uint32_t i = 0; i < BLOCKS; i++) sorted_count += blocks[i].start > 1;
    sorted = __libc_calloc(sorted_count + 1, sizeof *sorted);
    waiting = __libc_calloc(sorted_count + 1, sizeof *waiting);
    if (!sorted || !waiting) return;
    for (uint32_t i = 0, next = 0; i < BLOCKS; i++)
        if (blocks[i].start > 1) sorted[next++] = &blocks[i];
    qsort(sorted, sorted_count, sizeof *sorted, by_start);
    dl_iterate_phdr(look_through_module, NULL);
    look_through_maps();
    look_through((uintptr_t)pthread_self(), (uintptr_t)pthread_self() + 2304); /* what libc keeps there */
    while (waiting_count) {
        struct block *block = waiting[--waiting_count];
        look_through(block->start, block->start + block->bytes);
    }
    for (uint32_t i = 0; i < sorted_count; i++) {
        if (sorted[i]->is_found) continue;
        bytes += sorted[i]->bytes;
        if (wants_who && count++ < 8) {
            dprintf(fd, "from");
            for (int w = 0; w < WHO && sorted[i]->who[w]; w++)
                for (int m = 0; m < module_count; m++)
                    if (m != own_module && (uintptr_t)sorted[i]->who[w] >= modules[m].start && (uintptr_t)sorted[i]->who[w] < modules[m].end)
                        dprintf(fd, " %s+0x%lx", modules[m].name[0] ? modules[m].name : "tool",
                                (unsigned long)((uintptr_t)sorted[i]->who[w] - modules[m].base - 1));
            dprintf(fd, "\n");
        } else if (!wants_who) {
            count++;
        }
    }
    if (count) dprintf(fd, "lost %lu %lu\n", (unsigned long)count, (unsigned long)bytes);
}

/* ---- begin and end ---- */

static __attribute__((constructor)) void start(void) {
    const char *kind = getenv("FAULT_KIND"), *which = getenv("FAULT_AT");
    void *frames[2];
    at = which ? strtoul(which, NULL, 10) : 0;
    wants_who = getenv("FAULT_WHO") != NULL;
    owner = getpid();
    inside = 1;
    backtrace(frames, 2); /* loads what it needs */
    dl_iterate_phdr(add_module, NULL);
    void *table = (void *)syscall(SYS_mmap, NULL, BLOCKS * sizeof *blocks, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    blocks = table == MAP_FAILED ? NULL : table;
    shared = (void *)syscall(SYS_mmap, NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        blocks = NULL;
        return;
    }
    pthread_mutexattr_t among_all;
    pthread_mutexattr_init(&among_all);
    pthread_mutexattr_setpshared(&among_all, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&shared->lock, &among_all);
    inside = 0;
    for (int i = 1; kind && i <= PERF; i++)
        if (!strcmp(kind, names[i])) chosen = (enum kind)i;
    unsetenv("LD_PRELOAD");
    is_on = 1;
}

static __attribute__((destructor)) void end(void) {
    const char *path = getenv("FAULT_REPORT");
    if (!is_on || getpid() != owner || !path || is_over) return;
    inside = is_over = 1;
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0) return;
    for (int kind = 1; kind <= PERF; kind++) dprintf(fd, "calls %s %lu\n", names[kind], shared->calls[kind]);
    for (uint32_t i = 0; i < PATHS; i++)
        if (shared->paths[i].hash)
            dprintf(fd, "path %s %016lx %lu %lx\n", names[shared->paths[i].kind], (unsigned long)shared->paths[i].hash,
                    shared->paths[i].call, (unsigned long)shared->paths[i].site);
    if (chosen) dprintf(fd, "failed %d\n", shared->calls[chosen] >= at);
    if (blocks) find_lost(fd);
    close(fd);
}

/* ---- the calls ---- */

static void *no_memory(void) {
    errno = ENOMEM;
    return NULL;
}

void *malloc(size_t bytes) { return fails(ALLOC) ? no_memory() : note_block(__libc_malloc(bytes), bytes); }
void *calloc(size_t count, size_t bytes) {
    return fails(ALLOC) ? no_memory() : note_block(__libc_calloc(count, bytes), count * bytes);
}
void *realloc(void *old, size_t bytes) {
    if (fails(ALLOC)) return no_memory();
    forget_block(old);
    return note_block(__libc_realloc(old, bytes), bytes);
}
void *reallocarray(void *old, size_t count, size_t bytes) {
    size_t all;
    return __builtin_mul_overflow(count, bytes, &all) ? no_memory() : realloc(old, all);
}
void *aligned_alloc(size_t alignment, size_t bytes) {
    return fails(ALLOC) ? no_memory() : note_block(__libc_memalign(alignment, bytes), bytes);
}
int posix_memalign(void **out, size_t alignment, size_t bytes) {
    void *made = fails(ALLOC) ? NULL : note_block(__libc_memalign(alignment, bytes), bytes);
    if (!made) return ENOMEM;
    *out = made;
    return 0;
}
void free(void *block) {
    forget_block(block);
    __libc_free(block);
}

void *mmap(void *place, size_t bytes, int protection, int flags, int fd, off_t offset) {
    if (!fails(MAP)) return (void *)syscall(SYS_mmap, place, bytes, protection, flags, fd, offset);
    errno = ENOMEM;
    return MAP_FAILED;
}

static int open_at(int folder, const char *path, int flags, mode_t mode, int is_failing) {
    if (!is_failing) return (int)syscall(SYS_openat, folder, path, flags, mode);
    errno = EMFILE;
    return -1;
}

#define MODE_OF(flags)                          \
    __extension__({                             \
        va_list words;                          \
        va_start(words, flags);                 \
        mode_t mode_ = (mode_t)va_arg(words, int); \
        va_end(words);                          \
        mode_;                                  \
    })

int open(const char *path, int flags, ...) { return open_at(AT_FDCWD, path, flags, MODE_OF(flags), fails(OPEN)); }
int openat(int folder, const char *path, int flags, ...) { return open_at(folder, path, flags, MODE_OF(flags), fails(OPEN)); }

FILE *fopen(const char *path, const char *how) {
    static FILE *(*real)(const char *, const char *);
    if (!real) real = (FILE * (*)(const char *, const char *)) dlsym(RTLD_NEXT, "fopen");
    if (!fails(OPEN)) return real(path, how);
    errno = EMFILE;
    return NULL;
}

int memfd_create(const char *name, unsigned flags) {
    if (!fails(OPEN)) return (int)syscall(SYS_memfd_create, name, flags);
    errno = EMFILE;
    return -1;
}

ssize_t read(int fd, void *to, size_t bytes) {
    if (!fails(READ)) return syscall(SYS_read, fd, to, bytes);
    errno = EIO;
    return -1;
}

ssize_t pread(int fd, void *to, size_t bytes, off_t offset) {
    if (!fails(READ)) return syscall(SYS_pread64, fd, to, bytes, offset);
    errno = EIO;
    return -1;
}

/* The results, not the messages. */
ssize_t write(int fd, const void *from, size_t bytes) {
    if (fd == STDERR_FILENO || !fails(WRITE)) return syscall(SYS_write, fd, from, bytes);
    errno = ENOSPC;
    return -1;
}

int fsync(int fd) {
    if (!fails(WRITE)) return (int)syscall(SYS_fsync, fd);
    errno = EIO;
    return -1;
}

int rename(const char *from, const char *to) {
    if (!fails(WRITE)) return (int)syscall(SYS_rename, from, to);
    errno = ENOSPC;
    return -1;
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags) {
    if (!fails(WRITE)) return (int)syscall(SYS_linkat, from_folder, from, to_folder, to, flags);
    errno = ENOSPC;
    return -1;
}

int ftruncate(int fd, off_t bytes) {
    if (!fails(WRITE)) return (int)syscall(SYS_ftruncate, fd, bytes);
    errno = ENOSPC;
    return -1;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*routine)(void *), void *argument) {
    static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    if (fails(THREAD)) return EAGAIN;
    if (!real) real = (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))dlsym(RTLD_NEXT, "pthread_create");
    return real(thread, attributes, routine, argument);
}

/* The tool becomes another program, as `cc` does the compiler: this is its end. */
int execvp(const char *file, char *const words[]) {
    static int (*real)(const char *, char *const[]);
    if (!real) real = (int (*)(const char *, char *const[]))dlsym(RTLD_NEXT, "execvp");
    end();
    return real(file, words);
}

pid_t fork(void) {
    static pid_t (*real)(void);
    if (!real) real = (pid_t(*)(void))dlsym(RTLD_NEXT, "fork");
    if (!fails(FORK)) return real();
    errno = EAGAIN;
    return -1;
}

long syscall(long number, ...) {
    static long (*real)(long, ...);
    va_list words;
    long w[6];
    va_start(words, number);
    for (int i = 0; i < 6; i++) w[i] = va_arg(words, long);
    va_end(words);
    if (!real) real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    if (number == SYS_perf_event_open && fails(PERF)) {
        errno = EACCES;
        return -1;
    }
    return real(number, w[0], w[1], w[2], w[3], w[4], w[5]);
}
