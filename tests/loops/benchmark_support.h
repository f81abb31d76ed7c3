#ifndef BENCHMARK_SUPPORT_H
#define BENCHMARK_SUPPORT_H
#include <stdlib.h>
#define BENCH_ALLOC_2D(type, n, m) ((type (*)[n][m])bench_alloc((size_t)(n) * (m), sizeof(type)))
#define BENCH_2D(x) (*x)
extern void *bench_alloc(size_t n, size_t bytes);
extern void bench_flush_cache(void);
extern void bench_timer_start(void);
extern void bench_timer_stop(void);
extern void bench_timer_print(void);
#endif
