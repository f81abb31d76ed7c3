/*
 * guest_calls.h - how code inside the guest calls the collector: markers that are
 * otherwise no-operations, and getpid() calls with extra arguments that only the
 * collector reads.
 */
#ifndef RSC_COLLECT_QEMU_GUEST_CALLS_H
#define RSC_COLLECT_QEMU_GUEST_CALLS_H

/* Also in include/reusescope/region.h, which is self-contained; a test compares them. */
#define RSC_MARKER_BEGIN 0x52534301u
#define RSC_MARKER_END 0x52534302u
#define RSC_MARKER_ALLOCATED 0x52534303u /* the next two only in guest_preload.c */
#define RSC_MARKER_FREED 0x52534304u
#define RSC_MARKER_BEGIN_AARCH64 0xd28a6a7fu /* movz xzr, #0x5353 */
#define RSC_MARKER_END_AARCH64 0xd28a8a9fu   /* movz xzr, #0x5454 */

/* getpid(MAGIC, what, a, b) */
#define RSC_GUEST_CALL_MAGIC 0x5253435f43414c4cull
enum { RSC_GUEST_ALLOC = 1, RSC_GUEST_FREE = 2 };

#endif
