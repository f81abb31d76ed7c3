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
        # In one piece of straight code: what is certain of an instruction and what is not, mixed.
        cmpq    $0, 1344(%rbx)              # R 1344 8
        setne   1352(%rbx)                  # W 1352 1
        cmove   1356(%rbx), %eax            # R 1356 4, taken or not
        cmovne  1356(%rbx), %eax            # R 1356 4
        notl    1360(%rbx)                  # R 1360 4, W 1360 4
        negw    1364(%rbx)                  # R 1364 2, W 1364 2
        shlq    $3, 1368(%rbx)              # R 1368 8, W 1368 8
        rcrl    %cl, 1376(%rbx)             # R 1376 4, W 1376 4
        btl     $1, 1380(%rbx)              # R 1380 4
        imul    1384(%rbx), %rax            # R 1384 8
        testb   $1, 1392(%rbx)              # R 1392 1
        incw    1394(%rbx)                  # R 1394 2, W 1394 2
        xorps   %xmm0, %xmm0
        movaps  1408(%rbx), %xmm2           # R 1408 16
        paddd   1424(%rbx), %xmm2           # R 1424 16
        movaps  %xmm2, 1440(%rbx)           # W 1440 16
        movsd   1456(%rbx), %xmm3           # R 1456 8
        addss   1464(%rbx), %xmm3           # R 1464 4
        movss   %xmm3, 1468(%rbx)           # W 1468 4
        movq    %xmm3, 1472(%rbx)           # W 1472 8
        movd    1480(%rbx), %xmm4           # R 1480 4
        movlps  %xmm4, 1488(%rbx)           # W 1488 8
        vmovdqa 1408(%rbx), %ymm5           # R 1408 32
        vmovdqa %ymm5, 1600(%rbx)           # W 1600 32
        vmovups 1608(%rbx), %ymm6           # R 1608 32, over a line's end
        vmovupd %ymm6, 1641(%rbx)           # W 1641 32, and not aligned
        vmovdqu 1608(%rbx), %xmm6           # R 1608 16
        vmovaps %xmm6, 1712(%rbx)           # W 1712 16
        vmovntdq %ymm6, 1728(%rbx)          # W 1728 32
        movntps %xmm6, 1760(%rbx)           # W 1760 16
        movntdq %xmm6, 1776(%rbx)           # W 1776 16
        vmovsd  1736(%rbx), %xmm7           # R 1736 8
        vmovss  %xmm7, 1740(%rbx)           # W 1740 4
        vaddsd  1744(%rbx), %xmm7, %xmm7    # R 1744 8
        vaddss  1748(%rbx), %xmm7, %xmm7    # R 1748 4
        vmovq   1752(%rbx), %xmm7           # R 1752 8
        vmovq   %xmm7, 1760(%rbx)           # W 1760 8
        vmovd   1768(%rbx), %xmm7           # R 1768 4
        vmovhps %xmm7, 1776(%rbx)           # W 1776 8
        vpcmpeqb 1600(%rbx), %ymm5, %ymm0   # R 1600 32
        vpminub 1608(%rbx), %ymm5, %ymm0    # R 1608 32
        vpxor   1600(%rbx), %xmm5, %xmm0    # R 1600 16
        vaddpd  1632(%rbx), %ymm5, %ymm0    # R 1632 32
        vxorps  1632(%rbx), %ymm5, %ymm0    # R 1632 32
        vsqrtps 1632(%rbx), %ymm0           # R 1632 32
        vpbroadcastb 1633(%rbx), %ymm0      # R 1633 1
        pcmpeqb 1600(%rbx), %xmm0           # R 1600 16
        pand    1600(%rbx), %xmm0           # R 1600 16
        psubq   1616(%rbx), %xmm0           # R 1616 16
        addps   1616(%rbx), %xmm0           # R 1616 16
        minpd   1632(%rbx), %xmm0           # R 1632 16
        orps    1632(%rbx), %xmm0           # R 1632 16
        sqrtpd  1632(%rbx), %xmm0           # R 1632 16
        vzeroupper                          # nothing
        movsbl  1496(%rbx), %eax            # R 1496 1
        movslq  1500(%rbx), %rax            # R 1500 4
        nopw    1504(%rbx)                  # nothing
        lea     1504(%rbx), %rax            # nothing
        prefetcht0 1504(%rbx)               # nothing
        movbe   1504(%rbx), %rax            # R 1504 8
        movsq                               # R 511 8, W 1153 8
        push    $7                          # W 2040 8
        mov     %rsp, %rbp
        leave                               # R 2040 8
        lea     cells+2048(%rip), %rsp
        lea     leaf(%rip), %rax
        mov     %rax, 1536(%rbx)            # W 1536 8
        call    *1536(%rbx)                 # R 1536 8, W 2040 8; ret: R 2040 8
        call    *%rax                       # W 2040 8; ret: R 2040 8
        lea     last(%rip), %rax
        mov     %rax, 1536(%rbx)            # W 1536 8
        jmp     *1536(%rbx)                 # R 1536 8
last:
        mov     $60, %eax
        xor     %edi, %edi
        syscall
leaf:   ret
