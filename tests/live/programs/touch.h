/* touch.h - work whose accesses can be counted: 2 * count + 1 in a call, the last being its return's. */
#ifndef TOUCH_H
#define TOUCH_H
static __attribute__((noinline, unused)) void touch(volatile int *cells, long count) {
    for (long i = 0; i < count; i++) cells[i]++;
}
#endif
