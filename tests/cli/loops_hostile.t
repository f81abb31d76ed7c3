# Sources that are wrong, hostile or absurd: one clear line each, and an end.
$ try() { cat > x.c; timeout 60 reusescope loops x.c "$@"; }

# Not C, or cut.
$ echo 'void f( { for' | try
reusescope: x.c:1: expected parameter declarator
[1]
$ echo 'void f(void) { for (int i = 0; i < 10; i++) {' | try
reusescope: x.c:1: expected '}'
[1]
$ printf '\0\1\2\377\376' | try
reusescope: x.c:1: expected identifier or '('
[1]
$ : | try
reusescope: x.c: no loops
[1]
$ echo 'int x;' | try
reusescope: x.c: no loops
[1]
$ echo '#error no' | try
reusescope: x.c:1:2: error: #error no
[1]
$ echo '#include "nowhere.h"' | try
reusescope: x.c:1:10: fatal error: nowhere.h: No such file or directory
[1]
$ reusescope loops nowhere.c
reusescope: nowhere.c: No such file or directory
[1]
$ mkdir folder.c && reusescope loops folder.c
reusescope: folder.c: cc1: fatal error: folder.c: No such file or directory
[1]
$ echo 'void f(void) { undeclared(a); }' | try
reusescope: x.c:1: call to undeclared function 'undeclared'; ISO C99 and later do not support implicit function declarations
[1]

# A header without end, and one that is a device.
$ echo '#include "x.c"' | try 2>&1 | cut -c1-90
reusescope: x.c:1:15: error: #include nested depth 200 exceeds maximum of 200 (use -fmax-i
$ echo '#include "/dev/zero"' | try 2>&1 | cut -c1-60
reusescope: x.c: *  (glob)

# Macros that grow without bound, and a source that is far too large.
$ for i in $(seq 1000); do printf '%01000d\n' 7; done > numbers.h; for i in $(seq 80); do echo '#include "numbers.h"'; done | try
reusescope: x.c: preprocessed, the source is larger than 64 MiB
[1]
$ { echo '#define A0 x x x x x x x x'; for i in 1 2 3 4 5 6 7 8 9; do echo "#define A$i A$((i-1)) A$((i-1)) A$((i-1)) A$((i-1)) A$((i-1)) A$((i-1)) A$((i-1)) A$((i-1))"; done; echo A9; } | try --max-seconds 2
reusescope: x.c: reading the source took longer than 2 s
[1]
$ { echo '#define R R R'; echo 'double a[4]; void f(void) { for (int i = 0; i < 4; i++) a[i] = 0; }'; } | try --list
x.c:2: f: sequential, 1 reference in the source

# Brackets and operators without end.
$ { printf 'int x; void f(void) { x = '; printf '(%.0s' $(seq 5000); printf '1'; printf ')%.0s' $(seq 5000); echo '; }'; } | try
reusescope: x.c:1: bracket nesting level exceeded maximum of 256
[1]
$ { printf 'int a[9]; void f(void) { for (int i = 0; i < 4; i++) a[i] = 0'; printf ' + a[i]%.0s' $(seq 20000); echo '; }'; } | try --list
x.c:1: f: sequential, 393 references in the source
x.c:1:   not affine: an expression is nested too deep
x.c:1:   not affine: an expression is nested too deep
x.c:1:   not affine: it is nested too deep
x.c:1:   not affine: an expression is nested too deep
x.c:1:   not affine: it is nested too deep
x.c:1:   not affine: subscript i is not affine: it is nested too deep
$ { printf 'double a[9]; void f(void) {'; for i in $(seq 40); do printf 'for (int i%d = 0; i%d < 2; i%d++) ' $i $i $i; done; echo 'a[0] = 1; }'; } | try --list
x.c:1: f: sequential, 0 references in the source
x.c:1:   not affine: loop left out: loops are nested too deep (16 at most)

# Huge constants and bounds that overflow.
$ echo 'double a[4]; void f(void) { for (long i = 0; i < 9223372036854775807; i++) a[i] = 0; }' | try --list
x.c:1: f: sequential, 0 references in the source
x.c:1:   not affine: loop left out: bound is not affine: a number passes 2^56
$ echo 'double a[4]; void f(void) { for (long i = 0; i < 70000000000000000; i++) a[0] = 0; }' | try --list
x.c:1: f: sequential, 1 reference in the source
$ echo 'double a[1]; void f(void) { for (long i = 0; i < 36028797018963968; i++) a[8 * i] = 0; }' | try --list
reusescope: x.c:1: a subscript's value is too large (2^56 bytes are the most)
[1]
$ echo 'double a[4]; void f(long n) { for (long i = 0; i < n * n; i++) a[0] = 0; }' | try --list --set n=1G
x.c:1: f: sequential, 0 references in the source
x.c:1:   not affine: loop left out: bound is not affine: a number passes 2^56
$ echo 'double a[4]; void f(int n) { for (int i = 0; i <= 2147483647; i++) a[i] = 0; }' | try --list
x.c:1: f: sequential, 0 references in the source
x.c:1:   not affine: loop left out: the loop's variable could pass the end of its type
$ echo 'double a[100000000][100000000][100000000]; void f(void) { for (int i = 0; i < 4; i++) a[i][0][0] = 0; }' | try --list
reusescope: x.c:1: array is too large (100000000 elements)
[1]
$ echo 'double a[4]; void f(void) { for (int i = 0; i < 1 / 0; i++) a[i] = 0; }' | try --list
x.c:1: f: sequential, 0 references in the source
x.c:1:   not affine: loop left out: bound is not affine: a division by 0
$ echo 'double a[4]; void f(void) { for (int i = 0; i < 4; i += 0) a[i] = 0; }' | try --list
x.c:1: f: sequential, 0 references in the source
x.c:1:   not affine: loop left out: the step is 0
$ echo 'double a[4]; void f(void) { for (int i = 0; i < 4; i++) a[i % 0] = 0; }' | try --list
x.c:1: f: sequential, 0 references in the source
x.c:1:   not affine: subscript i % 0 is not affine: a division by 0

# Loops without iterations are loops of no references.
$ echo 'double a[4]; void f(void) { for (int i = 3; i < 3; i++) a[i] = 0; for (int i = 0; i > 5; i--) a[i] = 0; }' | try -q --format csv -o -
file,line,function,what_if,threads,interleave,lines,bytes,miss_ratio,low,high
$ echo 'double a[4]; void f(void) { for (int i = 0; i < 4; i++) for (int j = i; j < 0; j++) a[j] = 0; }' | try --format csv -o -
file,line,function,what_if,threads,interleave,lines,bytes,miss_ratio,low,high

# Triangular nests, four deep, in little memory: an answer with every reference counted, or one line.
$ echo 'double a[N][N], b[N][N], c[N], d[N][N][N]; void f(void) { for (int i = 0; i < N; i++) for (int j = 0; j <= i; j++) for (int k = j; k <= i; k++) for (int l = j; l < k; l++) a[i][l] += b[k][l] * c[i - j + k] + d[i][j][k]; }' > deep.c
$ counted() { (ulimit -v 900000; timeout 60 reusescope loops deep.c -D N=$1 -t 1 -q --format json -o deep.json); /usr/bin/python3 -c "import json; n = $1; print(json.load(open('deep.json'))['loops'][0]['references'] == 5 * (n - 1) * n * (n + 1) * (n + 2) // 24)"; }
$ counted 60; counted 1000
True
True
$ echo 'double a[N][N], b[3 * N]; void f(void) { for (int i = 0; i < N; i++) for (int j = 0; j <= i; j++) for (int k = 0; k <= j; k++) for (int l = 0; l < i + j - k; l++) a[i][j] += b[l] * a[j][k]; }' | (ulimit -v 2000000; try -D N=10000)
reusescope: f:1: uneven loops of more than 33554432 iterations, or of more than 1 GiB of counts, are not analysed: smaller sizes (-D, --set) may show the same
[1]

# Functions that call themselves; directives that make no sense.
$ echo 'double a[4]; void g(int n) { a[n] = 0; g(n - 1); } void f(void) { for (int i = 0; i < 4; i++) g(i); }' | try --list
x.c:1: f: sequential, 1 reference in the source
x.c:1:   not affine: g calls itself
$ printf 'double a[4];\nvoid f(void) {\n#pragma omp parallel for schedule(sideways, 3)\n for (int i = 0; i < 4; i++) a[i] = 0;\n#pragma omp parallel for collapse(9999999999999999999999)\n for (int i = 0; i < 4; i++) a[i] = 0;\n#pragma omp parallel for num_threads(0) schedule(static, -1)\n for (int i = 0; i < 4; i++) a[i] = 0;\n#pragma omp for (((\n a[0] = 1;\n#pragma omp\n}\n' | try --list
x.c:4: f: sequential, 0 references in the source
x.c:4:   not affine: the clause schedule is not supported
x.c:6: f: sequential, 0 references in the source
x.c:6:   not affine: loop left out: collapse is not a number from 1 to 16: 9999999999999999999999
x.c:8: f: sequential, 0 references in the source
x.c:8:   not affine: num_threads(0): not a positive number
x.c:10: f: sequential, 0 references in the source
x.c:10:   not affine: the directive is not followed by a for loop

# Nothing of the source is run.
$ printf '#pragma GCC dependency "x"\n#include_next <stdio.h>\n__attribute__((constructor)) void c(void) { __builtin_trap(); }\ndouble a[2]; void f(void) { for (int i = 0; i < 2; i++) a[i] = 0; }\n' | try --list 2>&1 | tail -1
reusescope: x.c: cc1: fatal error: x: No such file or directory

# The text form.
$ tree() { cat > x.loop; timeout 60 reusescope loops x.loop "$@" --emit-ir; }
$ : | tree
reusescope: x.loop:1: 'loops' is missing before the end
[1]
$ echo 'loops 2' | tree
reusescope: x.loop:1: the text form's version is newer than this tool
[1]
$ echo 'loops 1 array a 8 [4] nest n { read b[0] }' | tree
reusescope: x.loop:1: no array has this name: b
[1]
$ echo 'loops 1 array a 8 [4] nest n { for i = 0 to 3 { read a[i*i] } }' | tree
reusescope: x.loop:1: a product of two variables is not affine
[1]
$ echo 'loops 1 array a 8 [4] nest n { for i = 0 to 99999999999999999999 { read a[i] } }' | tree
reusescope: x.loop:1: not a number: 99999999999999999999
[1]
$ echo 'loops 1 array a 8 [] nest n { for i = 0 to 72057594037927936 { for j = 0 to 10 { read a[i] } } }' | tree
reusescope: x.loop: n: a subscript's value is too large (2^56 bytes are the most)
[1]
$ echo 'loops 1 array a 8 [4] nest n { for i = 0 to 3 share static { read a[i] } }' | tree
reusescope: x.loop: n: a shared loop, single or barrier outside of parallel
[1]
$ echo 'loops 1 array a 8 [4] nest n { parallel { for i = 0 to 3 share static collapse 2 { read a[i] } } }' | tree
reusescope: x.loop: n: collapse needs perfectly nested loops
[1]
$ { echo 'loops 1 array a 8 [4] nest n {'; printf 'block {%.0s' $(seq 1000); } | tree
reusescope: x.loop:2: blocks are nested too deep (200 at most)
[1]
$ { echo 'loops 1 array a 8 [4] nest n { read a['; printf '(%.0s' $(seq 1000); } | tree
reusescope: x.loop:2: an expression is nested too deep
[1]
$ echo 'loops 1 param N = 4 nest n { for i = 0 to N step 0 { } }' | tree
reusescope: x.loop:1: a step is 0
[1]
$ echo 'loops 1 array a 8 [4] nest n { for i = min(0, 1) to 3 { read a[i] } }' | tree
reusescope: x.loop:1: a loop upwards goes from max(...) to min(...)
[1]
$ echo 'loops 1 param N = 4' | tree --set N=1 --set M=2
reusescope: warning: --set M: x.loop has no parameter M
loops 1

# Too little memory for libclang is not taken for a missing libclang.
$ echo 'double x[9]; void f(void) { for (int i = 0; i < 9; i++) x[i] = 0; }' > memory.c
$ (ulimit -v 100000; reusescope loops memory.c)
reusescope: out of memory (libclang 19 needs 0.3 GiB of address space: * (glob)
[1]
