/*
 * asm_entry.c - calls from rebuilt code into C. Every register is preserved, since the
 * compiler of that code does not know of the call. Also markers (reusescope/region.h)
 * in the program, which are patched to call the runtime too.
 *
 * Vector, mask and x87 registers are saved with XSAVE in its standard form: at most
 * 2,696 bytes for the requested state (0xe7), on every processor.
 */
#include "runtime/recorder/asm_runtime.h"

#include <string.h>
#include <sys/mman.h>

#define STRING(x) #x
#define KEEP_ALL(name, argument, function)                                                                     \
    __asm__(".text\n.globl " name "\n.type " name ", @function\n.balign 16\n" name ":\n"                       \
            ".cfi_startproc\n\tpushq %rbp\n.cfi_def_cfa_offset 16\n.cfi_offset %rbp, -16\n"                    \
            "\tmovq %rsp, %rbp\n.cfi_def_cfa_register %rbp\n"                                                  \
            "\tpushfq\n\tpushq %rax\n\tpushq %rcx\n\tpushq %rdx\n\tpushq %rsi\n\tpushq %rdi\n"                 \
            "\tpushq %r8\n\tpushq %r9\n\tpushq %r10\n\tpushq %r11\n\tcld\n"                                    \
            "\tandq $-64, %rsp\n\tsubq $2752, %rsp\n\txorl %eax, %eax\n"                                       \
            "\tmovq %rax, 512(%rsp)\n\tmovq %rax, 520(%rsp)\n\tmovq %rax, 528(%rsp)\n\tmovq %rax, 536(%rsp)\n" \
            "\tmovq %rax, 544(%rsp)\n\tmovq %rax, 552(%rsp)\n\tmovq %rax, 560(%rsp)\n\tmovq %rax, 568(%rsp)\n" \
            "\txorl %edx, %edx\n\tmovl $0xe7, %eax\n\txsave (%rsp)\n" argument "\tcall " function "\n"         \
            "\txorl %edx, %edx\n\tmovl $0xe7, %eax\n\txrstor (%rsp)\n\tleaq -80(%rbp), %rsp\n"                 \
            "\tpopq %r11\n\tpopq %r10\n\tpopq %r9\n\tpopq %r8\n\tpopq %rdi\n\tpopq %rsi\n\tpopq %rdx\n"        \
            "\tpopq %rcx\n\tpopq %rax\n\tpopfq\n\tpopq %rbp\n.cfi_def_cfa %rsp, 8\n\tret\n.cfi_endproc\n"      \
            ".size " name ", .-" name "\n")

KEEP_ALL("rsc_asm_room", "\tleaq 8(%rbp), %rdi\n", "rsc_asm_room_in_c");
/* The patched marker's argument is above the return address. */
__asm__(".hidden rsc_asm_marker");
KEEP_ALL("rsc_asm_marker", "\tmovq 16(%rbp), %rdi\n", "rsc_asm_marker_in_c");
void rsc_asm_marker(void) __attribute__((visibility("hidden")));

/* ---- markers ---- */

#define MARKER_BYTES 8u
#define STUBS_BYTES 65536u
static const uint8_t marker_head[5] = {0x0f, 0x1f, 0x84, 0x00, 0x01}; /* reusescope_begin(); 0x02: _end() */
static const uint8_t marker_tail[3] = {0x43, 0x53, 0x52};

/* Below the red zone: pushes the argument, calls, and returns after the marker. */
struct stub {
    uint8_t lower[5];   /* lea -128(%rsp), %rsp */
    uint8_t push[2];    /* push $begins */
    uint8_t call[6];    /* call *target(%rip) */
    uint8_t raise[8];   /* lea 136(%rsp), %rsp */
    uint8_t jump[5];    /* jmp after the marker */
    uint8_t pad[6];
    uint64_t target;
};
_Static_assert(sizeof(struct stub) == 40, "packed by its order");

static struct stub *stubs;
static uint32_t stub_count;
static uintptr_t stubs_near;

/* Within reach of a 32-bit jump from the code. */
static struct stub *next_stub(uintptr_t code) {
    if (stubs && stub_count < STUBS_BYTES / sizeof *stubs && code - stubs_near + (1u << 30) < (2ull << 30))
        return &stubs[stub_count++];
    for (uintptr_t try = 1; try < 512; try++) {
        uintptr_t place = (code + try * (2u << 20)) & ~(uintptr_t)0xffff;
        void *made = mmap((void *)place, STUBS_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
        if (made == MAP_FAILED) continue;
        if ((uintptr_t)made != place) {
            munmap(made, STUBS_BYTES);
            continue;
        }
        stubs = made;
        stubs_near = place;
        stub_count = 1;
        return stubs;
    }
    return NULL;
}

static void patch(uint8_t *marker, int begins) {
    struct stub *stub = next_stub((uintptr_t)marker);
    uint8_t *page = (uint8_t *)((uintptr_t)marker & ~(uintptr_t)4095);
    int32_t distance;
    if (!stub || mprotect(page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) {
        if (!stub || mprotect(page, 4096, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) return;
    }
    *stub = (struct stub){.lower = {0x48, 0x8d, 0x64, 0x24, 0x80},
                          .push = {0x6a, (uint8_t)begins},
                          .call = {0xff, 0x15},
                          .raise = {0x48, 0x8d, 0xa4, 0x24, 0x88},
                          .jump = {0xe9},
                          .target = (uintptr_t)rsc_asm_marker};
    distance = (int32_t)((uint8_t *)&stub->target - stub->raise);
    memcpy(stub->call + 2, &distance, 4);
    distance = (int32_t)(marker + MARKER_BYTES - stub->pad);
    memcpy(stub->jump + 1, &distance, 4);
    distance = (int32_t)((uint8_t *)stub - (marker + 5));
    marker[0] = 0xe9;
    memcpy(marker + 1, &distance, 4);
    mprotect(page, 8192, PROT_READ | PROT_EXEC);
    mprotect(page, 4096, PROT_READ | PROT_EXEC);
}

void rsc_asm_patch_markers(uintptr_t start, uintptr_t stop) {
    for (uint8_t *at = (uint8_t *)start; at + MARKER_BYTES <= (uint8_t *)stop; at++) {
        if (at[0] != marker_head[0] || at[1] != marker_head[1]) continue;
        if (memcmp(at, marker_head, 4) || (at[4] != 1 && at[4] != 2) || memcmp(at + 5, marker_tail, 3)) continue;
        patch(at, at[4] == 1);
    }
}
