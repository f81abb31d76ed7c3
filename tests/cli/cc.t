# cc: what it refuses, in one line each. What it builds is the live tests' to say.
$ reusescope cc
reusescope cc: a compiler is missing: reusescope cc gcc -O2 -g app.c -o app
[2]
$ reusescope cc --verify
reusescope cc: a compiler is missing: reusescope cc gcc -O2 -g app.c -o app
[2]
$ reusescope cc --max-blocks x gcc -c a.c
reusescope cc: --max-blocks x: not a number
[2]
$ reusescope cc --only "" gcc -c a.c
reusescope cc: --only : a name is missing
[2]
$ reusescope cc --O2 gcc -c a.c
reusescope cc: unknown option --O2 (a compiler comes before its options: reusescope cc gcc -O2 -g app.c -o app)
[2]
$ reusescope cc -O2 app.c -o app
reusescope cc: unknown option -O (a compiler comes before its options: reusescope cc gcc -O2 -g app.c -o app)
[2]
$ reusescope cc gcc -O2 -flto -c a.c
reusescope: -flto: the linker would generate the code, which is not rebuilt: remove it (-fno-lto)
[1]
$ reusescope cc gcc -flto=auto -c a.c
reusescope: -flto: the linker would generate the code, which is not rebuilt: remove it (-fno-lto)
[1]
$ reusescope cc gcc -fnon-call-exceptions -c a.c
reusescope: -fnon-call-exceptions: exceptions thrown by accesses would not be caught in recording copies
[1]
$ reusescope cc gcc -m32 -c a.c
reusescope: -m32: only 64-bit programs are rebuilt
[1]
$ reusescope cc gcc -masm=intel -c a.c
reusescope: -masm=intel: assembly must be in AT&T syntax to be rebuilt
[1]
$ reusescope cc clang --target=aarch64-linux-gnu -c a.c
reusescope: --target=aarch64-linux-gnu: only x86-64 programs are rebuilt
[1]
$ reusescope cc clang -target riscv64 -c a.c
reusescope: riscv64: only x86-64 programs are rebuilt
[1]
$ reusescope cc clang -fintegrated-as -c a.c
reusescope: -fintegrated-as: a separate assembler program is needed to rebuild the code
[1]
$ reusescope cc no-such-compiler -c a.c
reusescope: no-such-compiler: no such compiler; one comes first: reusescope cc gcc -O2 -g app.c -o app
[1]

# Options that are taken back are not refused; the compiler's own errors and status are its own.
$ echo 'int f(int *p) { return *p; }' > a.c
$ reusescope cc gcc -flto -fno-lto -fnon-call-exceptions -fno-non-call-exceptions -c a.c -o a.o && objdump -h a.o | grep -c rsc_asm_blocks
1
$ reusescope cc gcc -c missing.c 2>&1 | head -1
cc1: fatal error: missing.c: No such file or directory
$ reusescope cc gcc -dumpmachine | cut -d- -f1
x86_64
$ reusescope cc -v gcc -O1 -c a.c
reusescope cc: a.c: 2 accesses in 1 blocks, of 2 instructions in 1 functions (0 left alone)

# What is not seen is said, once for a file; --strict makes it an error.
$ printf 'void f(int *p) { __asm__ volatile("incl %%0" : "+m"(*p)); }\nvoid g(int *p) { __asm__ volatile("decl %%0\\n\\tincl %%0" : "+m"(*p)); }\n' > b.c
$ reusescope cc gcc -O2 -c b.c -o b.o
reusescope cc: b.c: 3 lines of inline assembly, first in f: their accesses are not recorded
$ reusescope cc -q gcc -O2 -c b.c -o b.o
$ reusescope cc --strict gcc -pipe -O2 -c b.c -o c.o
reusescope cc: standard input: b.c: 3 lines of inline assembly, first in f: their accesses are not recorded
[1]
$ test ! -e c.o && objdump -h b.o | grep -c rsc_asm_blocks
1
$ printf 'int f(void) { int x; __asm__(""); return *(int __seg_gs *)16; }\n' > g.c
$ reusescope cc gcc -O2 -w -c g.c -o g.o
reusescope cc: g.c: 1 instruction whose accesses are not recorded: 'movl %gs:16, %eax' in f: an address relative to %gs

# Only some functions.
$ printf 'int one(int *p) { return *p; }\nint two(int *p) { return p[1]; }\n' > d.c
$ for how in "--only one" "--skip one,two" "--only two" ""; do reusescope cc $how gcc -O2 -c d.c -o d.o; objdump -t d.o | grep -c 'UND.*rsc_asm_thread'; objdump -r d.o | grep -c TPOFF32; done
1
5
0
0
1
5
1
10

# The first blocks of a file, to find the one that makes a difference; and what recording copies are called.
$ for n in 0 1 2 9; do reusescope cc -v --verify --max-blocks $n gcc -O2 -c d.c -o d.o; done
reusescope cc: d.c: 0 accesses in 0 blocks, of 4 instructions in 2 functions (0 left alone)
reusescope cc: d.c: 2 accesses in 1 blocks, of 4 instructions in 2 functions (0 left alone)
reusescope cc: d.c: 4 accesses in 2 blocks, of 4 instructions in 2 functions (0 left alone)
reusescope cc: d.c: 4 accesses in 2 blocks, of 4 instructions in 2 functions (0 left alone)
$ objdump -t d.o | grep -o '[a-z]*\.recording.*'
one.recording
two.recording
