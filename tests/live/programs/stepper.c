/*
 * stepper.c - an observer of its own: runs a program one instruction at a time with
 * ptrace and writes down what each instruction of one file accesses, told from its
 * operands (Zydis) and the registers of that moment. For what QEMU cannot run: AVX-512.
 *
 *     stepper OUTPUT START STOP PROGRAM       START and STOP: of its code, as in the file
 *
 * A line an access, as `reusescope dump` has them. Masked elements that are neighbours
 * are one access, elements of gathers and scatters one each.
 */
#include <cpuid.h>
#include <elf.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <Zydis/Zydis.h>

static pid_t pid;
static FILE *out;
static struct user_regs_struct regs;
static uint8_t state[16384];
static uint32_t place[8]; /* of state components: 2 YMM upper halves, 5 masks, 6 ZMM upper halves, 7 ZMM 16-31 */
static ZydisDecodedInstruction insn;
static ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];

static uint64_t general(ZydisRegister reg) {
    const uint64_t all[16] = {regs.rax, regs.rcx, regs.rdx, regs.rbx, regs.rsp, regs.rbp, regs.rsi, regs.rdi,
                              regs.r8,  regs.r9,  regs.r10, regs.r11, regs.r12, regs.r13, regs.r14, regs.r15};
    if (reg == ZYDIS_REGISTER_NONE) return 0;
    if (reg == ZYDIS_REGISTER_RIP) return regs.rip + insn.length;
    if (reg >= ZYDIS_REGISTER_EAX && reg <= ZYDIS_REGISTER_R15D) return (uint32_t)all[reg - ZYDIS_REGISTER_EAX];
    if (reg < ZYDIS_REGISTER_RAX || reg > ZYDIS_REGISTER_R15) abort();
    return all[reg - ZYDIS_REGISTER_RAX];
}

/* 64 bytes of a vector register, whatever its name. */
static void vector(ZydisRegister reg, uint8_t *to) {
    int number = ZydisRegisterGetId(reg);
    memset(to, 0, 64);
    if (number >= 16) {
        memcpy(to, state + place[7] + 64 * (number - 16), 64);
        return;
    }
    memcpy(to, state + 160 + 16 * number, 16);
    memcpy(to + 16, state + place[2] + 16 * number, 16);
    memcpy(to + 32, state + place[6] + 32 * number, 32);
}

static void tell(char kind, uint64_t address, uint64_t size) {
    if (size) fprintf(out, "0 0 %c 0x%llx %llu 0x%llx\n", kind, (unsigned long long)(address & 0xffffffffffffull),
                      (unsigned long long)size, (unsigned long long)regs.rip);
}

/* Bit i: element i is accessed. All ones without a mask. */
static uint64_t mask_of(uint32_t element_bits) {
    uint64_t mask = ~0ull;
    uint8_t bytes[64];
    if (insn.avx.mask.mode != ZYDIS_MASK_MODE_DISABLED && insn.avx.mask.reg != ZYDIS_REGISTER_NONE &&
        insn.avx.mask.reg != ZYDIS_REGISTER_K0)
        memcpy(&mask, state + place[5] + 8 * ZydisRegisterGetId(insn.avx.mask.reg), 8);
    switch (insn.mnemonic) { /* by the upper bits of a vector */
    case ZYDIS_MNEMONIC_VMASKMOVPS:
    case ZYDIS_MNEMONIC_VMASKMOVPD:
    case ZYDIS_MNEMONIC_VPMASKMOVD:
    case ZYDIS_MNEMONIC_VPMASKMOVQ: vector(operands[1].reg.value, bytes); break;
    case ZYDIS_MNEMONIC_VGATHERDPS:
    case ZYDIS_MNEMONIC_VGATHERDPD:
    case ZYDIS_MNEMONIC_VGATHERQPS:
    case ZYDIS_MNEMONIC_VGATHERQPD:
    case ZYDIS_MNEMONIC_VPGATHERDD:
    case ZYDIS_MNEMONIC_VPGATHERDQ:
    case ZYDIS_MNEMONIC_VPGATHERQD:
    case ZYDIS_MNEMONIC_VPGATHERQQ:
        if (insn.encoding != ZYDIS_INSTRUCTION_ENCODING_VEX) return mask;
        vector(operands[2].reg.value, bytes);
        break;
    default: return mask;
    }
    mask = 0;
    for (uint32_t i = 0; i < 512 / element_bits; i++) mask |= (uint64_t)(bytes[(i + 1) * element_bits / 8 - 1] >> 7) << i;
    return mask;
}

static int is_one_of(const char *text) { return strstr(ZydisMnemonicGetString(insn.mnemonic), text) != NULL; }

static void gathered(const ZydisDecodedOperand *operand, char kind, uint64_t base) {
    const int wide = is_one_of("gatherq") || is_one_of("scatterq"); /* indices of 8 bytes */
    const uint32_t size = is_one_of("ps") || is_one_of("dd") || is_one_of("qd") ? 4 : 8;
    uint32_t count = ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, operand->mem.index) / (wide ? 64 : 32);
    uint32_t data = 0;
    for (int i = 0; i < insn.operand_count_visible; i++)
        if (operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER && operands[i].reg.value < ZYDIS_REGISTER_K0)
            data = ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, operands[i].reg.value) / 8 / size;
    if (data && data < count) count = data;
    uint64_t mask = mask_of(size * 8);
    uint8_t index[64];
    vector(operand->mem.index, index);
    for (uint32_t i = 0; i < count; i++) {
        int64_t at;
        int32_t narrow;
        memcpy(&narrow, index + 4 * (i < 16 ? i : 0), 4);
        if (wide) memcpy(&at, index + 8 * i, 8);
        else at = narrow;
        if (mask >> i & 1) tell(kind, base + (uint64_t)at * operand->mem.scale, size);
    }
}

static void elements(const ZydisDecodedOperand *operand, char kind, uint64_t address) {
    const uint32_t bits = operand->element_size ? operand->element_size : operand->size, count = operand->size / bits;
    uint64_t mask = mask_of(bits);
    if (count < 64) mask &= (1ull << count) - 1;
    if (is_one_of("compress") || is_one_of("expand")) {
        tell(kind, address, (uint64_t)__builtin_popcountll(mask) * bits / 8);
        return;
    }
    for (uint32_t i = 0; i < count;) {
        uint32_t first = i;
        while (i < count && mask >> i & 1) i++;
        tell(kind, address + first * bits / 8, (uint64_t)(i - first) * bits / 8);
        i += i == first;
    }
}

static void look(const ZydisDecodedOperand *operand, char kind) {
    uint64_t base = general(operand->mem.base), address = base + (uint64_t)operand->mem.disp.value;
    if (operand->mem.segment == ZYDIS_REGISTER_FS) address += regs.fs_base;
    if (operand->mem.type == ZYDIS_MEMOP_TYPE_VSIB) {
        gathered(operand, kind, address);
        return;
    }
    address += general(operand->mem.index) * operand->mem.scale;
    /* Pushes name where the stack pointer was. */
    if (operand->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN && operand->mem.base == ZYDIS_REGISTER_RSP && kind == 'W')
        address -= operand->size / 8;
    int masked = insn.avx.mask.mode != ZYDIS_MASK_MODE_DISABLED && insn.avx.mask.reg != ZYDIS_REGISTER_K0 &&
                 insn.avx.mask.reg != ZYDIS_REGISTER_NONE;
    if (masked && (insn.avx.broadcast.mode != ZYDIS_BROADCAST_MODE_INVALID || is_one_of("broadcast"))) {
        /* Is any element wanted of what the vector is wide? */
        uint32_t bits = operands[0].element_size, count = bits ? operands[0].size / bits : 1;
        uint64_t mask = mask_of(bits);
        if (count < 64) mask &= (1ull << count) - 1;
        if (mask) tell(kind, address, operand->size / 8);
    } else if (masked || is_one_of("maskmov")) {
        elements(operand, kind, address);
    } else {
        tell(kind, address, operand->size / 8);
    }
}

static void step(void) {
    uint8_t bytes[16];
    struct iovec part = {state, sizeof state};
    ZydisDecoder decoder;
    for (int i = 0; i < 2; i++) {
        long word = ptrace(PTRACE_PEEKTEXT, pid, (void *)(uintptr_t)(regs.rip + 8 * (unsigned)i), NULL);
        memcpy(bytes + 8 * i, &word, 8);
    }
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    if (ZYAN_FAILED(ZydisDecoderDecodeFull(&decoder, bytes, sizeof bytes, &insn, operands))) abort();
    if (insn.mnemonic == ZYDIS_MNEMONIC_LEA || insn.mnemonic == ZYDIS_MNEMONIC_NOP) return;
    if (ptrace(PTRACE_GETREGSET, pid, (void *)NT_X86_XSTATE, &part) != 0) abort();
    for (int write = 0; write < 2; write++)
        for (int i = 0; i < insn.operand_count; i++) {
            if (operands[i].type != ZYDIS_OPERAND_TYPE_MEMORY || operands[i].mem.type == ZYDIS_MEMOP_TYPE_AGEN) continue;
            if (operands[i].actions & (write ? ZYDIS_OPERAND_ACTION_MASK_WRITE : ZYDIS_OPERAND_ACTION_MASK_READ))
                look(&operands[i], write ? 'W' : 'R');
        }
}

/* Where the file's first byte lies. */
static uint64_t loaded_at(const char *program) {
    char name[64], line[4096], *real = realpath(program, NULL);
    unsigned long long start = 0;
    snprintf(name, sizeof name, "/proc/%d/maps", (int)pid);
    FILE *maps = fopen(name, "r");
    while (maps && fgets(line, sizeof line, maps))
        if (real && strstr(line, real) && sscanf(line, "%llx", &start) == 1) break;
    if (maps) fclose(maps);
    free(real);
    return start;
}

/* Runs up to where the program begins: what the dynamic linker does are many steps. */
static int run_to_entry(const char *program, uint64_t load) {
    Elf64_Ehdr header;
    int status;
    FILE *file = fopen(program, "r");
    if (!file || fread(&header, sizeof header, 1, file) != 1) return -1;
    fclose(file);
    void *entry = (void *)(uintptr_t)(header.e_entry + load);
    long word = ptrace(PTRACE_PEEKTEXT, pid, entry, NULL);
    ptrace(PTRACE_POKETEXT, pid, entry, (void *)((word & ~0xffl) | 0xcc));
    if (ptrace(PTRACE_CONT, pid, NULL, NULL) != 0 || waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status)) return -1;
    ptrace(PTRACE_POKETEXT, pid, entry, (void *)word);
    if (ptrace(PTRACE_GETREGS, pid, NULL, &regs) != 0 || regs.rip != (uintptr_t)entry + 1) return -1;
    regs.rip--;
    return (int)ptrace(PTRACE_SETREGS, pid, NULL, &regs);
}

int main(int argc, char **argv) {
    uint32_t a, b, c, d;
    int status;
    if (argc < 5 || !(out = fopen(argv[1], "w"))) return 2;
    for (uint32_t i = 2; i < 8; i++) {
        __cpuid_count(0xd, i, a, b, c, d);
        place[i] = b;
    }
    if ((pid = fork()) == 0) {
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        execv(argv[4], argv + 4);
        _exit(127);
    }
    if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status)) return 3;
    uint64_t load = loaded_at(argv[4]), start = strtoull(argv[2], NULL, 0) + load, stop = strtoull(argv[3], NULL, 0) + load;
    if (run_to_entry(argv[4], load) != 0) return 8;
    for (int signal = 0; WIFSTOPPED(status);) {
        if (ptrace(PTRACE_GETREGS, pid, NULL, &regs) != 0) return 4;
        if (regs.rip >= start && regs.rip < stop) step();
        if (ptrace(PTRACE_SINGLESTEP, pid, NULL, (void *)(intptr_t)signal) != 0) return 5;
        if (waitpid(pid, &status, 0) != pid) return 6;
        signal = WIFSTOPPED(status) && WSTOPSIG(status) != SIGTRAP ? WSTOPSIG(status) : 0;
    }
    return fclose(out) != 0 || !WIFEXITED(status) ? 7 : WEXITSTATUS(status);
}
