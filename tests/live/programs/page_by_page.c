/*
 * page_by_page [half]: a handler on a stack of its own opens each page at its first touch, as collectors of garbage
 * and user-level paging do, and the access is made again. Prints how often the handler ran.
 *
 * Truth. Each call of sweep() reads and writes one line of each page, and returns: 2 * PAGES + 1 references, however often
 * an access has to be made again. With `half` a page is first opened for reading only: two faults a page.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGES = 64, PAGE = 4096 };
static int faults, halves;
static _Alignas(16) char other_stack[1 << 16];
static uintptr_t readable;

static void on_fault(int number, siginfo_t *info, void *context) {
    const uintptr_t page = (uintptr_t)info->si_addr & ~(uintptr_t)(PAGE - 1);
    (void)number, (void)context;
    faults++;
    mprotect((void *)page, PAGE, halves && page != readable ? PROT_READ : PROT_READ | PROT_WRITE);
    readable = page;
}

__attribute__((noinline)) void sweep(volatile char *pages) {
    for (int i = 0; i < PAGES; i++) pages[i * PAGE] = (char)(pages[i * PAGE] + 1);
}

int main(int argc, char **argv) {
    const stack_t stack = {.ss_sp = other_stack, .ss_size = sizeof other_stack};
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    char *pages = mmap(NULL, PAGES * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    halves = argc > 1 && !strcmp(argv[1], "half");
    if (pages == MAP_FAILED || sigaltstack(&stack, NULL) || sigaction(SIGSEGV, &action, NULL)) return 1;
    sweep(pages);
    sweep(pages);
    printf("%d\n", faults);
    return 0;
}
