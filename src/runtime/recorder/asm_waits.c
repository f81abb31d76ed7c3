/*
 * asm_waits.c - system calls by which threads of a rebuilt program wait for each other or
 * let others go on: futexes by syscall(), pipes, sockets, events, signals, sleeping. No header
 * declares these functions here: they are passed through as words.
 */
#include "runtime/recorder/asm_sync.h"
#include "runtime/trap/watch_thread.h"

RSC_SYNC_WAITING(syscall)
RSC_SYNC_WAITING(read)
RSC_SYNC_WAITING(readv)
RSC_SYNC_WAITING(recv)
RSC_SYNC_WAITING(recvfrom)
RSC_SYNC_WAITING(recvmsg)
RSC_SYNC_WAITING(accept)
RSC_SYNC_WAITING(accept4)
RSC_SYNC_WAITING(connect)
RSC_SYNC_WAITING(poll)
RSC_SYNC_WAITING(ppoll)
RSC_SYNC_WAITING(select)
RSC_SYNC_WAITING(pselect)
RSC_SYNC_WAITING(epoll_wait)
RSC_SYNC_WAITING(epoll_pwait)
RSC_SYNC_WAITING(eventfd_read)
RSC_SYNC_WAITING(flock)
RSC_SYNC_WAITING(recvmmsg)
RSC_SYNC_WAITING(__read_chk) /* as called by what was compiled with checks of sizes */
RSC_SYNC_WAITING(__recv_chk)
RSC_SYNC_WAITING(__recvfrom_chk)
RSC_SYNC_WAITING(__poll_chk)
RSC_SYNC_WAITING(__ppoll_chk)
RSC_SYNC_WAITING(wait)
RSC_SYNC_WAITING(waitpid)
RSC_SYNC_WAITING(wait4)
RSC_SYNC_WAITING(waitid)
RSC_SYNC_WAITING(pause)
RSC_SYNC_WAITING(sigsuspend)
RSC_SYNC_WAITING(sleep)
RSC_SYNC_WAITING(usleep)
RSC_SYNC_WAITING(nanosleep)
RSC_SYNC_WAITING(clock_nanosleep)
RSC_SYNC_WAITING(sched_yield)
RSC_SYNC_WAITING(thrd_sleep)
RSC_SYNC_WAITING(thrd_yield)
RSC_SYNC_WAITING(mq_receive)
RSC_SYNC_WAITING(msgrcv)
RSC_SYNC_WAITING(semop)
RSC_SYNC_WAITING(semtimedop)
RSC_SYNC_WAITING(mq_timedreceive)
RSC_SYNC_WAITING(write)
RSC_SYNC_WAITING(writev)
RSC_SYNC_WAITING(send)
RSC_SYNC_WAITING(sendto)
RSC_SYNC_WAITING(sendmsg)
RSC_SYNC_WAITING(eventfd_write)
RSC_SYNC_WAITING(mq_send)
RSC_SYNC_WAITING(msgsnd)
RSC_SYNC_WAITING(mq_timedsend)
RSC_SYNC_WAITING(sendmmsg)
RSC_SYNC_RELEASING(close) /* another thread reads the end */
RSC_SYNC_RELEASING(shutdown)
RSC_SYNC_SIGNALLING(kill)
RSC_SYNC_SIGNALLING(raise)
RSC_SYNC_SIGNALLING(pthread_kill)
RSC_SYNC_SIGNALLING(sigqueue)
RSC_SYNC_SIGNALLING(pthread_sigqueue)
RSC_SYNC_CALL(fork, rsc_asm_sync_creates(), (void)0)

/* sigwait() and its like are interposed there, for traps. */
void rsc_watch_signal_awaited(void) { rsc_asm_sync_before(RSC_SYNC_WAITS); }
void rsc_watch_signal_came(void) { rsc_asm_sync_after(RSC_SYNC_WAITS); }
int rsc_watch_timer_signal(void) { return rsc_asm_samples_signal(); }
int rsc_watch_timer_came(const void *info) { return rsc_asm_samples_is_one(info); }
