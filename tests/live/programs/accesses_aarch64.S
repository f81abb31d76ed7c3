// As accesses_x86_64.S, for AArch64. Exclusive pairs are a read and a write.
        .bss
        .balign 4096
        .globl cells
cells:  .skip 4096
        .text
        .arch   armv8.1-a
        .globl _start, first, last
_start:
        adrp    x1, cells
        add     x1, x1, :lo12:cells
        add     sp, x1, #2048
first:
        mov     w2, #1
        strb    w2, [x1]                // W 0 1
        ldrh    w3, [x1, #2]            // R 2 2
        ldr     w3, [x1, #4]            // R 4 4
        str     x3, [x1, #8]            // W 8 8
        ldp     x4, x5, [x1, #16]       // R 16 16
        stp     x4, x5, [x1, #56]       // W 56 16, over a line's end
        ldr     q0, [x1, #96]           // R 96 16
        stp     q0, q1, [x1, #176]      // W 176 32, over a line's end
        ldp     w4, w5, [x1, #32]       // R 32 8
        str     x4, [sp, #-16]!         // W 2032 8
        ldr     x4, [sp], #16           // R 2032 8
        mov     x6, #5
        add     x7, x1, #128
        ldadd   x6, x8, [x7]            // R 128 8, W 128 8
        swp     w6, w8, [x7]            // R 128 4, W 128 4
        mov     x8, #0
        cas     x8, x6, [x7]            // R 128 8, W 128 8
        add     x7, x1, #256
again:  ldxr    x9, [x7]                // R 256 8
        add     x9, x9, #1
        stxr    w10, x9, [x7]           // W 256 8
        cbnz    w10, again
        add     x7, x1, #320
        ld1     {v0.16b, v1.16b}, [x7]  // R 320 32
        st1     {v0.8b}, [x7]           // W 320 8
        bl      leaf
        ldar    x9, [x7]                // R 320 8
last:
        mov     x8, #93
        mov     x0, #0
        svc     #0
leaf:   ret
