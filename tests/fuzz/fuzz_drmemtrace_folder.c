/*
 * fuzz_drmemtrace_folder.c - any bytes as a folder of drmemtrace files.
 *
 * The first byte: bits 0 and 1 are the number of files less 1, bit 2 puts them into the
 * subfolder `trace`. Each file is a u16 length, little-endian, and that many bytes; the
 * last one is the rest. Files are links to memory files, in folders made once and removed
 * at the end.
 */
#include <fcntl.h>
#include <sys/stat.h>

#include "fuzz_memory.h"

#define FILES 4u

static char root[] = "/tmp/reusescope-fuzz-XXXXXX";
static int files[FILES];

/* The folder with `count` files. */
static void folder_name(char *to, size_t room, unsigned count, int below, const char *more) {
    snprintf(to, room, "%s/%u%s%s%s", root, count, below ? "b" : "", below ? "/trace" : "", more);
}

static void remove_folders(void) {
    char path[128];
    for (unsigned which = 0; which < 2 * FILES; which++) {
        unsigned count = which / 2 + 1;
        for (unsigned i = 0; i < count; i++) {
            char name[40];
            snprintf(name, sizeof name, "/drmemtrace.%u.trace", i);
            folder_name(path, sizeof path, count, which & 1, name);
            unlink(path);
        }
        folder_name(path, sizeof path, count, which & 1, "");
        rmdir(path);
        snprintf(path, sizeof path, "%s/%u%s", root, count, which & 1 ? "b" : "");
        rmdir(path);
    }
    rmdir(root);
}

static void make_folders(void) {
    char path[128], target[64];
    FUZZ_CHECK(mkdtemp(root));
    atexit(remove_folders);
    for (unsigned i = 0; i < FILES; i++) FUZZ_CHECK((files[i] = memfd_create("fuzz", MFD_CLOEXEC)) >= 0);
    for (unsigned which = 0; which < 2 * FILES; which++) {
        unsigned count = which / 2 + 1;
        snprintf(path, sizeof path, "%s/%u%s", root, count, which & 1 ? "b" : "");
        FUZZ_CHECK(mkdir(path, 0700) == 0);
        folder_name(path, sizeof path, count, which & 1, "");
        FUZZ_CHECK(!(which & 1) || mkdir(path, 0700) == 0);
        for (unsigned i = 0; i < count; i++) {
            char name[40];
            snprintf(name, sizeof name, "/drmemtrace.%u.trace", i);
            folder_name(path, sizeof path, count, which & 1, name);
            snprintf(target, sizeof target, "/proc/self/fd/%d", files[i]);
            FUZZ_CHECK(symlink(target, path) == 0);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    static int made;
    struct rsc_input *input = NULL;
    struct rsc_error error;
    char path[128];
    if (!bytes) return 0;
    if (!made++) make_folders();
    unsigned count = (data[0] & 3u) + 1;
    int below = (data[0] & 4) != 0;
    data++, bytes--;
    for (unsigned i = 0; i < count; i++) {
        size_t length = bytes;
        if (i + 1 < count) {
            size_t head = bytes < 2 ? bytes : 2;
            length = head == 2 ? (size_t)(data[0] | data[1] << 8) : 0;
            data += head, bytes -= head;
            if (length > bytes) length = bytes;
        }
        FUZZ_CHECK(ftruncate(files[i], 0) == 0 && pwrite(files[i], data, length, 0) == (ssize_t)length);
        data += length, bytes -= length;
    }
    snprintf(path, sizeof path, "%s/%u%s", root, count, below ? "b" : "");
    FUZZ_CHECK(rsc_input_open_folder(&input, path, &error) == 1);
    fuzz_read_all(rsc_drmemtrace_folder_open, input);
    return 0;
}
