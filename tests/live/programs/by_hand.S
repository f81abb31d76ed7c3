# What `reusescope cc` would make of
#     long sum(const long *cells, long count) { ... return total; }
# written by hand after src/runtime/pieces/asm_abi.h: the runtime without the rewriter.
    .text
    .globl sum
    .type sum, @function
sum:
    xorl %eax, %eax
    xorl %ecx, %ecx
.Lloop:
    subq $2, %fs:rsc_asm_thread@tpoff
    js .Lrecord
.Lback:
.Lpiece:
    addq (%rdi,%rax,8), %rcx
.Lsecond:
    addq %rax, other(%rip)
.Lsecond_end:
    incq %rax
.Lafter:
    cmpq %rsi, %rax
    jne .Lloop
    movq %rcx, %rax
    ret
.Lrecord:
    movl $24, %r8d
    xaddq %r8, %fs:rsc_asm_thread@tpoff+8
    cmpq %fs:rsc_asm_thread@tpoff+16, %r8
    jae .Lfull
    leaq .Ltable(%rip), %r9
    movq %r9, (%r8)
    movq %rdi, 8(%r8)
    movq %rax, 16(%r8)
    addq (%rdi,%rax,8), %rcx
    addq %rax, other(%rip)
    incq %rax
    jmp .Lafter
.Lfull:
    subq $24, %fs:rsc_asm_thread@tpoff+8
    leaq -128(%rsp), %rsp
    call *rsc_asm_room@GOTPCREL(%rip)
    leaq 128(%rsp), %rsp
    cmpq $0, %fs:rsc_asm_thread@tpoff
    jns .Lback
    jmp .Lrecord
    .size sum, .-sum

    .section rsc_asm_blocks, "ao", @progbits, .text
    .balign 8
.Ltable:
    .long .Lpiece - .           # pc
    .value .Lafter - 3 - .Lpiece, 3, 2, 3  # last, instructions, entries, words
    .byte 0, 1                  # ends, abi
    .value 3                    # reserved
    .value 0, 0                 # pc, order
    .byte 1, 1, 1, 2            # PLAIN, READS, base, index
    .long 0                     # disp
    .value 8                    # size
    .byte 8, 0                  # scale, count
    .value .Lsecond - .Lpiece, 1
    .byte 2, 3, 0, 0            # RIP, READS and WRITES
    .long 0
    .value 8
    .byte 7, 3                  # length, where the displacement is
    .section .note.GNU-stack, "", @progbits
