/*
 * reusescope/region.h - marks a region of interest in your program.
 *
 *     reusescope_begin();
 *     solve(grid);
 *     reusescope_end();
 *
 * This header is all you need; there is nothing to link. Each call is a single
 * no-operation instruction that `reusescope run --roi marked` recognises. It has
 * no effect when the program is run in any other way.
 */
#ifndef REUSESCOPE_REGION_H
#define REUSESCOPE_REGION_H

#if defined(__x86_64__)
#define reusescope_begin() __asm__ volatile(".byte 0x0f,0x1f,0x84,0x00,0x01,0x43,0x53,0x52" ::: "memory")
#define reusescope_end() __asm__ volatile(".byte 0x0f,0x1f,0x84,0x00,0x02,0x43,0x53,0x52" ::: "memory")
#elif defined(__aarch64__)
#define reusescope_begin() __asm__ volatile(".inst 0xd28a6a7f" ::: "memory")
#define reusescope_end() __asm__ volatile(".inst 0xd28a8a9f" ::: "memory")
#else
#define reusescope_begin() ((void)0)
#define reusescope_end() ((void)0)
#endif

#endif
