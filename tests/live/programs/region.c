/* Three functions of known traffic. The region is `inside`, called in the ways compilers make of calls. */
#include <reusescope/region.h>
#include <stdio.h>
#include <string.h>

static volatile int cells[1000];

__attribute__((noinline)) static void outside(void) {
    for (int i = 0; i < 1000; i++) cells[i] += i;
}

__attribute__((noinline)) static void helper(void) {
    for (int i = 0; i < 1000; i++) cells[i] -= i;
}

__attribute__((noinline)) static int inside(int depth) {
    for (int i = 0; i < 1000; i++) cells[i] ^= i;
    helper();
    int below = depth ? inside(depth - 1) : 0;
    cells[0]++;
    return below + 1;
}

/* Its call of inside() is a jump at -O2. */
__attribute__((noinline)) static int by_jump(int depth) {
    outside();
    return inside(depth);
}

int main(int argc, char **argv) {
    const char *way = argc > 1 ? argv[1] : "call";
    int done = 0;
    outside();
    if (!strcmp(way, "call"))
        for (int i = 0; i < 3; i++) {
            done += inside(0);
            outside();
        }
    if (!strcmp(way, "recursive")) done = inside(2);
    if (!strcmp(way, "jump")) done = by_jump(2);
    if (!strcmp(way, "marked"))
        for (int i = 0; i < 3; i++) {
            reusescope_begin();
            done += inside(0);
            reusescope_end();
            outside();
        }
    outside();
    printf("%d %d\n", done, cells[7]);
    return 0;
}
