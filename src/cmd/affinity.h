/*
 * affinity.h - the processors that the tool was started with.
 *
 * libgomp binds the first thread of whatever is linked with it when OMP_PROC_BIND is set, before main(). A program that
 * the tool starts would inherit that: all its threads would share one processor.
 */
#ifndef RSC_CMD_AFFINITY_H
#define RSC_CMD_AFFINITY_H

/* Gives the calling thread the processors that the process was started with. Call first thing in main(). */
void rsc_affinity_restore(void);

#endif
