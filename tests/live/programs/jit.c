/* jit.c - makes a function at run time, lists it in /tmp/perf-PID.map as a runtime does, and calls it. Prints its pid. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Reads an int from each of `count` lines. */
static const uint8_t code[] = {
    0x8b, 0x07,             /* mov (%rdi),%eax */
    0x48, 0x83, 0xc7, 0x40, /* add $64,%rdi */
    0x48, 0xff, 0xce,       /* dec %rsi */
    0x75, 0xf5,             /* jnz to the first */
    0xc3,                   /* ret */
};

int main(void) {
    char name[64];
    uint8_t *made = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *data = calloc(1000, 64);
    if (made == MAP_FAILED || !data) return 1;
    memcpy(made + 256, code, sizeof code);
    snprintf(name, sizeof name, "/tmp/perf-%d.map", (int)getpid());
    FILE *map = fopen(name, "w");
    if (!map) return 1;
    fprintf(map, "%lx %x LScript;~walk_lines x.js:12\n", (unsigned long)(made + 256), (unsigned)sizeof code);
    fclose(map);
    for (int i = 0; i < 5; i++) ((int (*)(char *, long))(uintptr_t)(made + 256))(data, 1000);
    printf("%d\n", (int)getpid());
    return 0;
}
