# Every kind of access the collector must get right, once each, between two
# labels. No libc: the list in live_run_exact is all there is. `cells` is 64-byte
# aligned; offsets below are from it.
        .bss
        .balign 4096
        .globl cells
cells:  .skip 4096
        .text
        .globl _start, first, last
_start:
        lea     cells(%rip), %rbx
        lea     cells+2048(%rip), %rsp
first:
        movb    $1, 0(%rbx)                 # W 0 1
        movzwl  2(%rbx), %eax               # R 2 2
        mov     4(%rbx), %eax               # R 4 4
        mov     %rax, 8(%rbx)               # W 8 8
        movdqu  16(%rbx), %xmm0             # R 16 16
        movdqu  %xmm0, 56(%rbx)             # W 56 16, over a line's end
        vmovdqu 96(%rbx), %ymm1             # R 96 32
        vmovdqu %ymm1, 176(%rbx)            # W 176 32, over a line's end
        movhps  %xmm0, 40(%rbx)             # W 40 8
        addl    $1, 128(%rbx)               # R 128 4, W 128 4
        mov     $3, %eax
        lock xadd %rax, 136(%rbx)           # R 136 8, W 136 8
        lock incb 144(%rbx)                 # R 144 1, W 144 1
        xchg    %eax, 148(%rbx)             # R 148 4, W 148 4
        xor     %eax, %eax
        xor     %edx, %edx
        lock cmpxchg16b 160(%rbx)           # R 160 16, W 160 16
        push    %rax                        # W 2040 8
        pop     %rcx                        # R 2040 8
        pushq   8(%rbx)                     # R 8 8, W 2040 8
        popq    256(%rbx)                   # R 2040 8, W 256 8
        call    leaf                        # W 2040 8; ret: R 2040 8
        mov     $0x12345678, %eax
        lea     512(%rbx), %rdi
        mov     $100, %ecx
        rep stosb                           # W 512 64, W 576 36
        lea     512(%rbx), %rsi
        lea     768(%rbx), %rdi
        mov     $24, %ecx
        rep movsb                           # R 512 24, W 768 24
        lea     768(%rbx), %rdi
        lea     512(%rbx), %rsi
        mov     $24, %ecx
        repe cmpsb                          # R 768 24, R 512 24
        std
        lea     900(%rbx), %rdi
        mov     $8, %ecx
        rep stosb                           # W 896 5, W 893 3
        lea     519(%rbx), %rsi
        lea     839(%rbx), %rdi
        mov     $8, %ecx
        rep movsb                           # R 512 8, W 832 8
        cld
        lea     1024(%rbx), %rdi
        mov     $16, %ecx
        rep stosq                           # W 1024 64, W 1088 64
        xor     %ecx, %ecx
        rep stosb                           # nothing
        stosb                               # W 1152 1
        mov     $2, %ecx
again:  mov     1280(%rbx), %rax            # R 1280 8, twice: not joined
        dec     %ecx
        jnz     again
        mov     1288(%rbx), %rax            # R 1288 8: end to end, but another instruction
last:
        mov     $60, %eax
        xor     %edi, %edi
        syscall
leaf:   ret
