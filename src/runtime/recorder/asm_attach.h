/*
 * asm_attach.h - how `reusescope attach` reaches a rebuilt program that is running.
 *
 * The tool leaves a request, a file named by the program's process id in a folder of its
 * user in /dev/shm: "TOOL RING\n", its own process id and the descriptor of its ring. The
 * program's threads look for it now and then, and open the ring through /proc/TOOL/fd,
 * which the kernel allows to the same user only. Nothing is kept open, no thread, signal
 * or socket is needed, and a program that nobody asks for makes one failing system call
 * every RSC_ATTACH_LOOK_NS.
 */
#ifndef RSC_RUNTIME_RECORDER_ASM_ATTACH_H
#define RSC_RUNTIME_RECORDER_ASM_ATTACH_H

#include <stdint.h>
#include <string.h>

#define RSC_ATTACH_PATH 80
#define RSC_ATTACH_LOOK_NS 20000000ull
#define RSC_ATTACH_POLL \
    (1 << 21) /* accesses until a thread that nobody watches looks at the clock: about a millisecond */

/* Without stdio, which the program's side has not. Each returns the end of the text. */
static inline char *rsc_attach_text(char *to, const char *text) {
    size_t length = strlen(text);
    memcpy(to, text, length + 1);
    return to + length;
}

static inline char *rsc_attach_number(char *to, uint64_t number) {
    char digits[24];
    size_t at = sizeof digits;
    digits[--at] = 0;
    do digits[--at] = (char)('0' + number % 10);
    while (number /= 10);
    return rsc_attach_text(to, digits + at);
}

/* The folder of a user, and the request for a process in it. */
static inline void rsc_attach_folder(char path[RSC_ATTACH_PATH], uint32_t user) {
    rsc_attach_number(rsc_attach_text(path, "/dev/shm/reusescope-"), user);
}

static inline void rsc_attach_path(char path[RSC_ATTACH_PATH], uint32_t user, uint32_t pid) {
    rsc_attach_folder(path, user);
    rsc_attach_number(rsc_attach_text(path + strlen(path), "/"), pid);
}

/* In the program: the ring of a request for this process, open, or -1 if there is none. */
int rsc_attach_request(uint32_t user, uint32_t pid) __attribute__((visibility("hidden")));

#endif
