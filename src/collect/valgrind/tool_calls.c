/* tool_calls.c - see tool_calls.h. */
#include "collect/valgrind/tool_calls.h"

#include <linux/futex.h>
#include <poll.h>
#include <sys/syscall.h>

#include <pub_tool_libcfile.h>
#include <pub_tool_vki.h>

#define PIPE_ATOMIC 4096u /* PIPE_BUF: what a pipe with room takes at once */

Short rsc_call_events(UWord number) {
    switch (number) {
    case SYS_read:
    case SYS_readv:
    case SYS_accept:
    case SYS_accept4:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_recvmmsg: return POLLIN;
    case SYS_write:
    case SYS_writev:
    case SYS_sendto:
    case SYS_sendmsg: return POLLOUT;
    default: return 0;
    }
}

int rsc_call_may_be_too_large(const struct rsc_tool_call *call) {
    struct vg_stat file;
    if (call->number == SYS_write && call->args[2] <= PIPE_ATOMIC) return 0;
    return VG_(fstat)((Int)call->args[0], &file) == 0 && (VKI_S_ISFIFO(file.mode) || VKI_S_ISSOCK(file.mode));
}

static int waits_for_futex(UWord operation) {
    switch (operation & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
    case FUTEX_LOCK_PI:
    case FUTEX_LOCK_PI2:
    case FUTEX_WAIT_REQUEUE_PI: return 1;
    default: return 0;
    }
}

int rsc_call_waits_outside(const struct rsc_tool_call *call) {
    switch (call->number) {
    case SYS_poll: return (Int)call->args[2] != 0;
    case SYS_epoll_wait:
    case SYS_epoll_pwait: return (Int)call->args[3] != 0;
    case SYS_futex: return waits_for_futex(call->args[1]);
    case SYS_fcntl: return call->args[1] == 7 || call->args[1] == 38; /* F_SETLKW, F_OFD_SETLKW */
    case SYS_select:
    case SYS_pause:
    case SYS_nanosleep:
    case SYS_connect:
    case SYS_wait4:
    case SYS_semop:
    case SYS_msgsnd:
    case SYS_msgrcv:
    case SYS_flock:
    case SYS_rt_sigtimedwait:
    case SYS_rt_sigsuspend:
    case SYS_io_getevents:
    case SYS_semtimedop:
    case SYS_clock_nanosleep:
    case SYS_mq_timedsend:
    case SYS_mq_timedreceive:
    case SYS_waitid:
    case SYS_pselect6:
    case SYS_ppoll:
    case SYS_io_uring_enter:
    case SYS_epoll_pwait2: return 1;
    default: return 0;
    }
}

int rsc_call_must_not_wait(const struct rsc_tool_call *call) {
    const UWord flags = call->number == SYS_recvfrom || call->number == SYS_sendto || call->number == SYS_recvmmsg
                            ? call->args[3]
                        : call->number == SYS_recvmsg || call->number == SYS_sendmsg ? call->args[2]
                                                                                     : 0;
    return flags & 0x40 /* MSG_DONTWAIT */ || VG_(fcntl)((Int)call->args[0], VKI_F_GETFL, 0) & VKI_O_NONBLOCK;
}
