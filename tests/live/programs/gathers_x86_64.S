# Gathers and masked moves of AVX2, lane by lane, as accesses_x86_64.S has all else.
        .bss
        .balign 4096
        .globl cells
cells:  .skip 8192
        .text
        .globl _start
        # Four numbers of 32 bits, or two of 64, without a memory access.
        .macro dwords register, a, b, c, d
        mov     $(((\b) << 32) | ((\a) & 0xffffffff)), %rax
        vmovq   %rax, \register
        mov     $(((\d) << 32) | ((\c) & 0xffffffff)), %rax
        vpinsrq $1, %rax, \register, \register
        .endm
        .macro qwords register, a, b
        mov     $(\a), %rax
        vmovq   %rax, \register
        mov     $(\b), %rax
        vpinsrq $1, %rax, \register, \register
        .endm
_start:
        lea     cells(%rip), %rbx
        dwords  %xmm1, 576, 600, 577, 900
        vinserti128 $1, %xmm1, %ymm1, %ymm4
        vpcmpeqd %ymm2, %ymm2, %ymm2
        vpgatherdd %xmm2, (%rbx,%xmm1,4), %xmm3 # R 2304 4, R 2400 4, R 2308 4, R 3600 4
        vpgatherdd %xmm2, (%rbx,%xmm1,4), %xmm3 # nothing: it has cleared its mask
        dwords  %xmm2, -1, 0, 1, -2
        vpgatherdd %xmm2, (%rbx,%xmm1,4), %xmm3 # R 2304 4, R 3600 4
        vpcmpeqd %ymm2, %ymm2, %ymm2
        vgatherdps %ymm2, (%rbx,%ymm4,4), %ymm3 # R 2304 4, R 2400 4, R 2308 4, R 3600 4, twice
        vpcmpeqd %ymm2, %ymm2, %ymm2
        vgatherdpd %ymm2, (%rbx,%xmm1,4), %ymm3 # R 2304 8, R 2400 8, R 2308 8, R 3600 8
        qwords  %xmm2, 0x8000000000000000, 0
        vpgatherdq %xmm2, (%rbx,%xmm1,4), %xmm3 # R 2304 8
        qwords  %xmm1, -1, 591
        vpcmpeqd %ymm2, %ymm2, %ymm2
        vgatherqps %xmm2, 2304(%rbx,%xmm1,1), %xmm3 # R 2303 4, R 2895 4
        vpcmpeqd %ymm2, %ymm2, %ymm2
        vpgatherqq %xmm2, 60(%rbx,%xmm1,8), %xmm3 # R 52 8, R 4788 8, the second over a line's end
        dwords  %xmm2, -1, 0, -1, 1
        vpmaskmovd 2432(%rbx), %xmm2, %xmm3 # R 2432 4, R 2440 4
        vpmaskmovd %xmm3, %xmm2, 2500(%rbx) # W 2500 4, W 2508 4
        vmaskmovps 2436(%rbx), %xmm2, %xmm3 # R 2436 4, R 2444 4
        vmaskmovps %xmm3, %xmm2, 2504(%rbx) # W 2504 4, W 2512 4
        qwords  %xmm2, 0, -1
        vinserti128 $1, %xmm2, %ymm2, %ymm2
        vpmaskmovq 2560(%rbx), %ymm2, %ymm3 # R 2568 8, R 2584 8
        vmaskmovpd %ymm3, %ymm2, 2620(%rbx) # W 2628 8, W 2644 8
        vpxor   %xmm2, %xmm2, %xmm2
        vpmaskmovd 2432(%rbx), %ymm2, %ymm3 # nothing
        vmaskmovps %ymm3, %ymm2, 2432(%rbx) # nothing
        vzeroupper                          # nothing
        mov     $60, %eax
        xor     %edi, %edi
        syscall
