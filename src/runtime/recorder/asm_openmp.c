/*
 * asm_openmp.c - OpenMP for rebuilt programs: the entries of libgomp (gcc) and libomp
 * (clang, which has libgomp's as well) at which threads synchronise. Both libraries wait
 * and wake by themselves, so that nothing below these calls can be seen.
 *
 * The functions of parallel regions and of tasks are called through ours: they begin after
 * something was acquired, and end before it is released. Not in static executables, where
 * the linker would need these libraries for every program.
 */
#ifndef RSC_ASM_STATIC
#include <stdarg.h>
#include <string.h>

#include "runtime/recorder/asm_sync.h"

/* ---- libgomp: parallel regions ---- */

struct region {
    void (*function)(void *);
    void *data;
};
static void in_region(void *argument) {
    const struct region *region = argument;
    rsc_asm_sync_after(RSC_SYNC_WAITS);
    region->function(region->data);
    rsc_asm_sync_before(RSC_SYNC_WAITS);
}

/* Its first two arguments are a function and its data; it returns when all have ended. */
#define REGION(name)                                             \
    RSC_INTERPOSE(rsc_word, name, RSC_SYNC_PARAMETERS) {         \
        struct region region = {(void (*)(void *))a, (void *)b}; \
        a = (rsc_word)in_region;                                 \
        b = (rsc_word) & region;                                 \
        rsc_asm_sync_creates();                                  \
        rsc_word result = RSC_REAL(name) RSC_SYNC_ARGUMENTS;     \
        rsc_asm_sync_after(RSC_SYNC_WAITS);                      \
        return result;                                           \
    }
REGION(GOMP_parallel)
REGION(GOMP_parallel_reductions)
REGION(GOMP_parallel_sections)
REGION(GOMP_parallel_loop_static)
REGION(GOMP_parallel_loop_dynamic)
REGION(GOMP_parallel_loop_guided)
REGION(GOMP_parallel_loop_runtime)
REGION(GOMP_parallel_loop_nonmonotonic_dynamic)
REGION(GOMP_parallel_loop_nonmonotonic_guided)
REGION(GOMP_parallel_loop_nonmonotonic_runtime)
REGION(GOMP_parallel_loop_maybe_nonmonotonic_runtime)
REGION(GOMP_teams_reg)

/* Of older compilers: the caller runs the function itself, between these. */
#define OLD_REGION(name) RSC_SYNC_CALL(name, rsc_asm_sync_creates(), (void)0)
OLD_REGION(GOMP_parallel_start)
OLD_REGION(GOMP_parallel_sections_start)
OLD_REGION(GOMP_parallel_loop_static_start)
OLD_REGION(GOMP_parallel_loop_dynamic_start)
OLD_REGION(GOMP_parallel_loop_guided_start)
OLD_REGION(GOMP_parallel_loop_runtime_start)
RSC_SYNC_WAITING(GOMP_parallel_end)

/* ---- libgomp: loops, sections and so on ---- */

#define LOOP(name)              \
    RSC_SYNC_BOTH(name##_start) \
    RSC_SYNC_BOTH(name##_next)
LOOP(GOMP_loop_static)
LOOP(GOMP_loop_dynamic)
LOOP(GOMP_loop_guided)
LOOP(GOMP_loop_runtime)
LOOP(GOMP_loop_nonmonotonic_dynamic)
LOOP(GOMP_loop_nonmonotonic_guided)
LOOP(GOMP_loop_nonmonotonic_runtime)
LOOP(GOMP_loop_maybe_nonmonotonic_runtime)
LOOP(GOMP_loop_ordered_static)
LOOP(GOMP_loop_ordered_dynamic)
LOOP(GOMP_loop_ordered_guided)
LOOP(GOMP_loop_ordered_runtime)
LOOP(GOMP_loop_ull_static)
LOOP(GOMP_loop_ull_dynamic)
LOOP(GOMP_loop_ull_guided)
LOOP(GOMP_loop_ull_runtime)
LOOP(GOMP_loop_ull_nonmonotonic_dynamic)
LOOP(GOMP_loop_ull_nonmonotonic_guided)
LOOP(GOMP_loop_ull_nonmonotonic_runtime)
LOOP(GOMP_loop_ull_maybe_nonmonotonic_runtime)
LOOP(GOMP_loop_ull_ordered_static)
LOOP(GOMP_loop_ull_ordered_dynamic)
LOOP(GOMP_loop_ull_ordered_guided)
LOOP(GOMP_loop_ull_ordered_runtime)
RSC_SYNC_BOTH(GOMP_loop_start)
RSC_SYNC_BOTH(GOMP_loop_ordered_start)
RSC_SYNC_BOTH(GOMP_loop_doacross_start)
RSC_SYNC_BOTH(GOMP_loop_doacross_static_start)
RSC_SYNC_BOTH(GOMP_loop_doacross_dynamic_start)
RSC_SYNC_BOTH(GOMP_loop_doacross_guided_start)
RSC_SYNC_BOTH(GOMP_loop_doacross_runtime_start)
RSC_SYNC_BOTH(GOMP_loop_ull_start)
RSC_SYNC_BOTH(GOMP_loop_ull_ordered_start)
RSC_SYNC_BOTH(GOMP_loop_ull_doacross_start)
RSC_SYNC_BOTH(GOMP_loop_ull_doacross_static_start)
RSC_SYNC_BOTH(GOMP_loop_ull_doacross_dynamic_start)
RSC_SYNC_BOTH(GOMP_loop_ull_doacross_guided_start)
RSC_SYNC_BOTH(GOMP_loop_ull_doacross_runtime_start)
RSC_SYNC_WAITING(GOMP_loop_end)
RSC_SYNC_WAITING(GOMP_loop_end_cancel)
RSC_SYNC_RELEASING(GOMP_loop_end_nowait)
RSC_SYNC_RELEASING(GOMP_doacross_post)
RSC_SYNC_RELEASING(GOMP_doacross_ull_post)
RSC_SYNC_WAITING(GOMP_doacross_wait)
RSC_SYNC_WAITING(GOMP_doacross_ull_wait)
RSC_SYNC_WAITING(GOMP_ordered_start)
RSC_SYNC_RELEASING(GOMP_ordered_end)
RSC_SYNC_WAITING(GOMP_barrier)
RSC_SYNC_WAITING(GOMP_barrier_cancel)
RSC_SYNC_WAITING(GOMP_critical_start)
RSC_SYNC_RELEASING(GOMP_critical_end)
RSC_SYNC_WAITING(GOMP_critical_name_start)
RSC_SYNC_RELEASING(GOMP_critical_name_end)
RSC_SYNC_WAITING(GOMP_atomic_start)
RSC_SYNC_RELEASING(GOMP_atomic_end)
RSC_SYNC_BOTH(GOMP_sections_start)
RSC_SYNC_BOTH(GOMP_sections2_start)
RSC_SYNC_BOTH(GOMP_sections_next)
RSC_SYNC_WAITING(GOMP_sections_end)
RSC_SYNC_WAITING(GOMP_sections_end_cancel)
RSC_SYNC_RELEASING(GOMP_sections_end_nowait)
RSC_SYNC_BOTH(GOMP_single_start)
RSC_SYNC_WAITING(GOMP_single_copy_start)
RSC_SYNC_WAITING(GOMP_single_copy_end)
RSC_SYNC_BOTH(GOMP_scope_start)
RSC_SYNC_WAITING(GOMP_workshare_task_reduction_unregister)
RSC_SYNC_BOTH(GOMP_cancel)
RSC_SYNC_ACQUIRING(GOMP_cancellation_point)

/* ---- locks of both libraries, as C and Fortran call them ---- */

#define OMP_LOCK(name)                     \
    RSC_SYNC_WAITING(omp_set_##name)       \
    RSC_SYNC_WAITING(omp_set_##name##_)    \
    RSC_SYNC_ACQUIRING(omp_test_##name)    \
    RSC_SYNC_ACQUIRING(omp_test_##name##_) \
    RSC_SYNC_RELEASING(omp_unset_##name)   \
    RSC_SYNC_RELEASING(omp_unset_##name##_)
OMP_LOCK(lock)
OMP_LOCK(nest_lock)

/* ---- libgomp: tasks ---- */

RSC_SYNC_WAITING(GOMP_taskwait)
RSC_SYNC_WAITING(GOMP_taskwait_depend)
RSC_SYNC_WAITING(GOMP_taskyield)
RSC_SYNC_RELEASING(GOMP_taskgroup_start)
RSC_SYNC_WAITING(GOMP_taskgroup_end)

#define TASK_REDUCTION (1u << 12)
#define TASK_DETACH (1u << 13)

/*
 * libgomp copies a task's data, by the compiler's function if there is one. Ours copies the data behind a head that
 * names the task's own function. The first two words of a task of a loop are the library's: its bounds.
 */
struct task_head {
    long bounds[2];
    void (*function)(void *);
    void *data; /* the copy */
};
struct task_made {
    void (*function)(void *), (*copy)(void *, void *);
    void *data;
    size_t bytes, offset; /* of the copy, from the head on */
};

static void copy_task(void *to, void *from) {
    const struct task_made *made = from;
    struct task_head *head = to;
    head->function = made->function;
    head->data = (char *)to + made->offset;
    if (made->copy) made->copy(head->data, made->data);
    else __builtin_memcpy(head->data, made->data, made->bytes);
}

static void in_task(void *argument) {
    const struct task_head *head = argument;
    rsc_asm_sync_after(RSC_SYNC_ACQUIRES);
    head->function(head->data);
    rsc_asm_sync_before(RSC_SYNC_RELEASES);
}

static void in_loop_task(void *argument) {
    const struct task_head *head = argument;
    __builtin_memcpy(head->data, head->bounds, sizeof head->bounds);
    in_task(argument);
}

/* Arguments: function, data, copying function, bytes, alignment, ...; `flags` is the seventh or the sixth. */
#define TASK(name, flags, body)                                                                      \
    RSC_INTERPOSE(rsc_word, name, RSC_SYNC_PARAMETERS) {                                             \
        struct task_made made = {(void (*)(void *))a, (void (*)(void *, void *))c, (void *)b, d, 0}; \
        if (rsc_asm_sync_matters() && !((flags) & (TASK_REDUCTION | TASK_DETACH))) {                 \
            if (e < 16) e = 16;                                                                      \
            made.offset = (sizeof(struct task_head) + e - 1) & ~(e - 1);                             \
            a = (rsc_word)body, b = (rsc_word) & made, c = (rsc_word)copy_task, d += made.offset;    \
        }                                                                                            \
        rsc_asm_sync_before(RSC_SYNC_WAITS);                                                         \
        rsc_word result = RSC_REAL(name) RSC_SYNC_ARGUMENTS;                                         \
        rsc_asm_sync_after(RSC_SYNC_WAITS);                                                          \
        return result;                                                                               \
    }
TASK(GOMP_task, g, in_task)
TASK(GOMP_taskloop, f, in_loop_task)
TASK(GOMP_taskloop_ull, f, in_loop_task)

/* ---- libomp ---- */

struct outlined {
    void *function, **arguments; /* at least four */
    size_t count;
};

/* function(thread, bound, arguments...): six arguments are in registers, the others on the stack. */
void rsc_asm_call_outlined(void *function, int *thread, int *bound, void **arguments, size_t count);
__asm__(".pushsection .text\n"
        ".type rsc_asm_call_outlined, @function\n"
        "rsc_asm_call_outlined:\n"
        "    .cfi_startproc\n"
        "    push %rbp\n"
        "    .cfi_def_cfa_offset 16\n"
        "    .cfi_offset %rbp, -16\n"
        "    mov %rsp, %rbp\n"
        "    .cfi_def_cfa_register %rbp\n"
        "    mov %rdi, %r11\n"
        "    mov %rcx, %r10\n"
        "    mov %rsi, %rdi\n"
        "    mov %rdx, %rsi\n"
        "    cmp $4, %r8\n"
        "    jbe 2f\n"
        "    lea -3(%r8), %rax\n" /* one more if they are odd: the stack is a multiple of 16 */
        "    and $-2, %rax\n"
        "    shl $3, %rax\n"
        "    sub %rax, %rsp\n"
        "1:  mov -8(%r10,%r8,8), %rax\n"
        "    mov %rax, -40(%rsp,%r8,8)\n"
        "    dec %r8\n"
        "    cmp $4, %r8\n"
        "    ja 1b\n"
        "2:  mov (%r10), %rdx\n"
        "    mov 8(%r10), %rcx\n"
        "    mov 16(%r10), %r8\n"
        "    mov 24(%r10), %r9\n"
        "    xor %eax, %eax\n"
        "    call *%r11\n"
        "    leave\n"
        "    .cfi_def_cfa %rsp, 8\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size rsc_asm_call_outlined, .-rsc_asm_call_outlined\n"
        ".popsection\n");

static void in_outlined(int *thread, int *bound, const struct outlined *outlined) {
    rsc_asm_sync_after(RSC_SYNC_WAITS);
    rsc_asm_call_outlined(outlined->function, thread, bound, outlined->arguments, outlined->count);
    rsc_asm_sync_before(RSC_SYNC_WAITS);
}

#define OUTLINED(name)                                                                   \
    RSC_INTERPOSE(void, name, (void *place, int count, void *function, ...)) {           \
        void *arguments[count > 4 ? count : 4];                                          \
        struct outlined outlined = {function, arguments, count > 0 ? (size_t)count : 0}; \
        va_list list;                                                                    \
        va_start(list, function);                                                        \
        for (int i = 0; i < count; i++) arguments[i] = va_arg(list, void *);             \
        va_end(list);                                                                    \
        rsc_asm_sync_creates();                                                          \
        RSC_REAL(name)(place, 1, (void *)in_outlined, &outlined);                        \
        rsc_asm_sync_after(RSC_SYNC_WAITS);                                              \
    }
OUTLINED(__kmpc_fork_call)
OUTLINED(__kmpc_fork_teams)

#define DISPATCH(suffix)                         \
    RSC_SYNC_BOTH(__kmpc_dispatch_init_##suffix) \
    RSC_SYNC_BOTH(__kmpc_dispatch_next_##suffix) \
    RSC_SYNC_RELEASING(__kmpc_dispatch_fini_##suffix)
DISPATCH(4)
DISPATCH(4u)
DISPATCH(8)
DISPATCH(8u)
RSC_SYNC_WAITING(__kmpc_barrier)
RSC_SYNC_WAITING(__kmpc_cancel_barrier)
RSC_SYNC_WAITING(__kmpc_critical)
RSC_SYNC_WAITING(__kmpc_critical_with_hint)
RSC_SYNC_RELEASING(__kmpc_end_critical)
RSC_SYNC_WAITING(__kmpc_reduce)
RSC_SYNC_WAITING(__kmpc_reduce_nowait)
RSC_SYNC_WAITING(__kmpc_end_reduce)
RSC_SYNC_RELEASING(__kmpc_end_reduce_nowait)
RSC_SYNC_WAITING(__kmpc_ordered)
RSC_SYNC_RELEASING(__kmpc_end_ordered)
RSC_SYNC_BOTH(__kmpc_single)
RSC_SYNC_RELEASING(__kmpc_end_single)
RSC_SYNC_WAITING(__kmpc_copyprivate)
RSC_SYNC_RELEASING(__kmpc_doacross_post)
RSC_SYNC_WAITING(__kmpc_doacross_wait)
RSC_SYNC_BOTH(__kmpc_flush)
RSC_SYNC_WAITING(__kmpc_omp_task)
RSC_SYNC_WAITING(__kmpc_omp_task_with_deps)
RSC_SYNC_WAITING(__kmpc_omp_taskwait)
RSC_SYNC_WAITING(__kmpc_omp_taskyield)
RSC_SYNC_WAITING(__kmpc_omp_wait_deps)
RSC_SYNC_RELEASING(__kmpc_taskgroup)
RSC_SYNC_WAITING(__kmpc_end_taskgroup)
RSC_SYNC_WAITING(__kmpc_taskloop)
RSC_SYNC_WAITING(__kmpc_taskloop_5)

/* What libomp calls a task; its shared variables lie behind it. */
struct task {
    void **shareds;
    int (*function)(int, struct task *);
};

/* The task's own function is the word before its shared variables: the task is made longer by it. */
static int in_libomp_task(int thread, struct task *task) {
    rsc_asm_sync_after(RSC_SYNC_ACQUIRES);
    int result = ((int (*)(int, struct task *))task->shareds[-1])(thread, task);
    rsc_asm_sync_before(RSC_SYNC_RELEASES);
    return result;
}

RSC_INTERPOSE(struct task *, __kmpc_omp_task_alloc,
              (void *place, int thread, int flags, size_t bytes, size_t shareds_bytes,
               int (*function)(int, struct task *))) {
    if (!rsc_asm_sync_matters())
        return RSC_REAL(__kmpc_omp_task_alloc)(place, thread, flags, bytes, shareds_bytes, function);
    struct task *task = RSC_REAL(__kmpc_omp_task_alloc)(place, thread, flags, ((bytes + 7) & ~(size_t)7) + 8,
                                                        shareds_bytes ? shareds_bytes : 8, in_libomp_task);
    task->shareds[-1] = (void *)function;
    return task;
}
#endif
