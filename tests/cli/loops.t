# loops: the verb. Numbers of one thread are exact; others belong to the models' own tests.
$ ln -s "$SOURCE/tests" "$SOURCE/examples" .
$ reusescope loops examples/loops/matmul.c -D N=16 -t 1 --at 1K
examples/loops/matmul.c:10  kernel, static
  16,384 references, 96 lines of 64 B (6 KiB); drift
\
   80 % +
        |aaaaaaaaaaa
        |
        |           a
        |            a
        |
 36.4 % +             a
        |              a
        |
        |               a
        |                aaaaaaa
    0 % +                       aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
        +----------------------------------------------------------------------
       64 B               256 B               1 KiB               4 KiB
         a 1 thread
\
      cache         1 thread
      4 KiB           0.59 %
     16 KiB           0.59 %
\
  misses in a shared cache of 1 KiB, 1 thread:
         512 88.9 %  line 12: read b[k][j]
          32  5.6 %  line 12: read a[i][k]
          32  5.6 %  line 12: read c[i][j]
         576 in all: 36 KiB fetched, without write-backs

# Loops in the order of the file, with what is not affine in them.
$ reusescope loops examples/loops/fields.c --list
examples/loops/fields.c:12: kernel: static nowait; static, 14 references in the source
$ reusescope loops examples/loops/half_size.c --list
examples/loops/half_size.c:13: kernel: static, 5 references in the source
examples/loops/half_size.c:17: kernel: static, 2 references in the source
$ reusescope loops tests/loops/gaps.c --function gaps --set n=10 --list | head -8
tests/loops/gaps.c:10: gaps: sequential, 1 reference in the source
tests/loops/gaps.c:10:   not affine: subscript index_of[i] is not affine: index_of[i] is loaded from memory
tests/loops/gaps.c:11: gaps: sequential, 0 references in the source
tests/loops/gaps.c:11:   not affine: loop left out: bound is not affine: unknown is not known (--set unknown=NUMBER gives it)
tests/loops/gaps.c:12: gaps: sequential, 0 references in the source
tests/loops/gaps.c:13:   not affine: loop left out: bound is not affine: a product of two variables is not affine
tests/loops/gaps.c:14: gaps: sequential, 0 references in the source
tests/loops/gaps.c:15:   not affine: subscript i * j is not affine: a product of two variables is not affine
$ reusescope loops tests/loops/constructs.c --set n=10 --list
tests/loops/constructs.c:10: parallel_for: dynamic,4, 2 references in the source
tests/loops/constructs.c:16: for_in_parallel: guided nowait; static collapse(2); static,1, 12 references in the source
tests/loops/constructs.c:38: ignored: sequential, 1 reference in the source
tests/loops/constructs.c:41: ignored: static, 3 references in the source
tests/loops/constructs.c:51: conditional: sequential, 1 reference in the source
tests/loops/constructs.c:53: conditional: static, 1 reference in the source
tests/loops/constructs.c:58: orphaned: static, 1 reference in the source

# Nothing is left out silently: while loops outside all others, barriers where none may be.
$ printf 'double a[9][9], b[9];\nvoid f(int go) {\n  while (go) {\n    for (int i = 0; i < 9; i++) b[i] += a[i][i];\n    go = b[3] < 2;\n  }\n#pragma omp parallel for\n  for (int i = 0; i < 9; i++) {\n    a[i][0] = 1;\n#pragma omp barrier\n    b[i] = 2;\n    if (i > 4) {\n#pragma omp barrier\n    }\n  }\n}\n' > silent.c; reusescope loops silent.c --list
silent.c:3: f: sequential, 0 references in the source
silent.c:3:   not affine: a while loop whose trip count is not known: the condition's variable is not started and moved by the loop; only for loops inside it are analysed
silent.c:4: f: sequential, 3 references in the source
silent.c:8: f: static, 2 references in the source
silent.c:11:   not affine: a barrier inside a shared loop or single, which OpenMP forbids
silent.c:12:   not affine: a barrier inside a shared loop or single, which OpenMP forbids

# The headers that real programs include.
$ printf '#include <%s>\n' stdio.h stdlib.h math.h omp.h string.h unistd.h sys/time.h sys/resource.h sched.h > headers.c; echo 'double a[9]; void f(void) { for (int i = 0; i < 9; i++) a[i] = sqrt(i); }' >> headers.c; reusescope loops headers.c --list
headers.c:10: f: sequential, 1 reference in the source
$ echo '#include <immintrin.h>' > vector.c; echo 'double a[64], b[64]; void f(void) { for (int i = 0; i < 64; i += 4) _mm256_storeu_pd(a + i, _mm256_loadu_pd(b + i)); }' >> vector.c; reusescope loops vector.c --emit-ir | grep -o 'for .*{\|read.*size ..\|write.*size ..\|without.*'
for i = 0 to 63 step 4 @2 {
read b[i] size 32
write a[i] size 32
# A benchmark suite's support file (aligned memory, cache flush, timers, inline assembly) and a kernel that uses it.
$ reusescope loops tests/loops/benchmark_support.c --list
tests/loops/benchmark_support.c:39: bench_flush_cache: static, 1 reference in the source
$ reusescope loops tests/loops/benchmark_user.c --list
tests/loops/benchmark_user.c:10: init_array: sequential, 2 references in the source
tests/loops/benchmark_user.c:15: print_array: sequential, 1 reference in the source
tests/loops/benchmark_user.c:17:   not affine: a call of fprintf, whose body is not in the source
tests/loops/benchmark_user.c:18:   not affine: a call of fprintf, whose body is not in the source
tests/loops/benchmark_user.c:24: kernel: static, 6 references in the source

# Kernels first: loops that initialise or print are one line, unless all are asked for.
$ reusescope loops tests/loops/benchmark_user.c -t 1 | grep 'benchmark_user.c:[0-9]*  \|--all'
tests/loops/benchmark_user.c:24  kernel, static
2 loops that initialise or print: --all shows them
$ reusescope loops tests/loops/benchmark_user.c -t 1 --all | grep 'benchmark_user.c:[0-9]*  \|--all'
tests/loops/benchmark_user.c:10  init_array, sequential
tests/loops/benchmark_user.c:15  print_array, sequential
tests/loops/benchmark_user.c:24  kernel, static
$ reusescope loops tests/loops/benchmark_user.c -t 1 --function init_array | grep 'benchmark_user.c:[0-9]*  \|--all'
tests/loops/benchmark_user.c:10  init_array, sequential
$ reusescope loops tests/loops/benchmark_user.c -t 1 -q --format json -o - | grep -o '"name":"[^"]*"'
"name":"init_array:10"
"name":"print_array:15"
"name":"kernel:24"

# A loop that is too large is left out by itself, and a change where a loop does not allow it.
$ printf 'double a[99], big[1L << 40];\nvoid f(void) {\n  for (long i = 0; i < 1L << 40; i += 1L << 20)\n    for (long j = 0; j < 9; j++) big[i + j] = 0;\n  for (int i = 0; i < 9; i++)\n    for (int j = 0; j < 9; j++) a[11 * i + j] = 0;\n  for (int i = 0; i < 9; i++) a[i] = 0;\n}\n' > large.c; reusescope loops large.c -t 1-3 --what-if interchange=i,j 2>&1 | grep 'large.c\|not analysed\|references,\|what if .*left'
reusescope: warning: what if 'interchange=i,j': the loops are not nested in each other (left out for 1 of 2 loops)
large.c:3  f, sequential
  not analysed for these (1):
    large.c:3: f:3: references span 137438953473 lines: too many to count
large.c:5  f, sequential
  81 references, 13 lines of 64 B (832 B); drift
large.c:7  f, sequential
  9 references, 2 lines of 64 B (128 B); drift
# Code that one thread runs is the same at any number of threads.
$ printf 'double a[4000]; void f(void) { for (int k = 0; k < 9999; k++) for (int i = 0; i < 4000; i++) a[i] = k; }' > alone.c; reusescope loops alone.c -t 1,2,64 --format csv -o - | sed 1d | cut -d, -f6- | sort | uniq -c | awk "{print \$1}" | sort -u
3

# A loop that is not affine is not analysed, unless that is asked for; the result says so.
$ printf 'double a[9]; int at[9];\nvoid f(void) {\n  for (int i = 0; i < 9; i++)\n    a[at[i]] = 1;\n}\n' > gap.c
$ reusescope loops gap.c
reusescope: gap.c:4: subscript at[i] is not affine: at[i] is loaded from memory (--skip-nonaffine analyses without it; --list shows all)
[1]
$ reusescope loops gap.c --format json -o - > gap.json
reusescope: gap.c:4: subscript at[i] is not affine: at[i] is loaded from memory (--skip-nonaffine analyses without it; --list shows all)
[1]
$ cat gap.json
{"schema":"reusescope-loops/1","line_bytes":64,"loops":[
  {"file":"gap.c","line":3,"function":"f","name":"f:3","schedule":"sequential","references":null,"distinct":null,"nonaffine":[
    {"file":"gap.c","line":4,"reason":"subscript at[i] is not affine: at[i] is loaded from memory","text":"a[at[i]]"}],"assumptions":[],"threads":[],"what_if":[]}]}
$ reusescope loops gap.c -t 1 --skip-nonaffine -q --at 1K --format json -o - | head -12
{"schema":"reusescope-loops/1","line_bytes":64,"loops":[
  {"file":"gap.c","line":3,"function":"f","name":"f:3","schedule":"sequential","references":9,"distinct":1,"nonaffine":[
    {"file":"gap.c","line":4,"reason":"subscript at[i] is not affine: at[i] is loaded from memory","text":"a[at[i]]"}],"assumptions":[],"threads":[
    {"t":1,"interleave":"drift","exact":true,"samples":9,"executed":9,"distinct":1,"mrc":[
      {"lines":1,"bytes":64,"miss_ratio":0.1111111111111111,"low":0.1111111111111111,"high":0.1111111111111111}],"at_bytes":1024,"fetched_bytes":64,"references":[
      {"file":"gap.c","line":4,"array":"at","kind":"read","text":"at[i]","references":9,"samples":9,"cold":1,"misses":1,"rd":[{"lo":0,"hi":0,"count":8}]}],"private":null}],"what_if":[]}]}
$ reusescope loops gap.c -t 1 --skip-nonaffine | head -4
gap.c:3  f, sequential
  analysed without these (1, not affine):
    gap.c:4: subscript at[i] is not affine: at[i] is loaded from memory
  9 references, 1 lines of 64 B (64 B); drift
$ cat gap.c <(printf 'void g(void) { for (int i = 0; i < 9; i++) a[i] = 0; }\n') > both.c; reusescope loops both.c -t 1 | grep 'both.c\|not\|references'
both.c:3  f, sequential
  not analysed for these (1, not affine):
    both.c:4: subscript at[i] is not affine: at[i] is loaded from memory
both.c:6  g, sequential
  9 references, 2 lines of 64 B (128 B); drift

# A triangular collapse(2) against a simulation of its own.
$ reusescope loops tests/loops/triangle.c -t 3 --interleave lockstep --samples 0 -q --format json -o triangle.json
$ /usr/bin/python3 tests/loops/triangle.py triangle.json
True

# JSON by the published schema, for every kernel that is quick.
$ for kernel in heat cholesky covariances clamped pair_distances; do reusescope loops examples/loops/$kernel.c -t 1,3 -q --what-if chunk=1 --format json -o $kernel.json || echo failed; done 2>&1 | sort -u
$ /usr/bin/python3 -c 'import json, sys, jsonschema; schema = json.load(open(sys.argv[1])); [jsonschema.validate(json.load(open(name)), schema) for name in sys.argv[2:]]' "$SOURCE/docs/schema/loops.schema.json" *.json && echo valid
valid
$ /usr/bin/python3 -c 'import json; r = json.load(open("covariances.json"))["loops"]; print(len(r), r[0]["schedule"], r[0]["references"], r[0]["distinct"], [t["t"] for t in r[0]["threads"]], r[0]["what_if"][0]["what"], all(abs(sum(m["references"] for m in t["references"]) - r[0]["references"]) == 0 for t in r[0]["threads"]))'
1 static; dynamic,4 367872 1160 [1, 3] chunk=1 True
$ reusescope loops examples/loops/heat.c -t 1,3 -q --what-if chunk=1 --format json -o - | cmp - heat.json

# JSON is read as profiles: the same as the file of profiles, but for intervals, time and the command.
$ printf 'double a[N][N], b[N][N], c[N][N];\nvoid kernel(void) {\n#pragma omp parallel for\n  for (int i = 0; i < N; i++)\n    for (int j = 0; j < N; j++)\n      for (int k = 0; k < N; k++) c[i][j] += a[i][k] * b[k][j];\n}\n' > dot.c
$ for as in dot.data dot.json; do reusescope loops dot.c -D N=96 -t 1,4 -q --what-if interchange=j,k -o $as; done
$ for file in dot.data dot.json; do reusescope report $file --format csv -o - | grep -v ',ri,\|,made,\|seconds\|command' > $file.csv; done; cmp dot.data.csv dot.json.csv; grep -c ',code' dot.json.csv
199
$ reusescope advise dot.json --at 4K | grep 'Profile\|seen' | head -2
Profile 1: kernel, 1 thread: For a cache of 4 KiB:
   seen: dot.c:6 causes 100 % of misses; each 64 B line it fetches serves only
$ reusescope advise dot.json --at 4K | grep 'Profile 3'
Profile 3: kernel with interchange=j,k, 1 thread: Nothing to advise for a cache of 4 KiB.
# b[k][j] with k inside: every line is fetched again for each j, which interchanging the loops avoids.
$ reusescope loops dot.c -D N=48 -t 4,1 -q -o half.json; reusescope diff half.json dot.json --at 4K | grep 'loop\|references\|4 KiB\|unmatched\|without' | head -3
 loop           kernel, 4 threads
 references     3,538,944, was 442,368
 footprint      216 KiB, was 54 KiB
# 64 lines hold a column of b and a row of a: b is read 48 times (288 lines each), a and c once: 14,400 misses.
$ reusescope loops dot.c -D N=48 -t 1 -q -o one.json; reusescope annotate one.json --at 4K | grep 'for (int k' | cut -c1-43
  442 k 14.4 k    128 B      6        for (
$ sed 's/"executed":/"exceuted":/' dot.json > bad.json; reusescope advise bad.json
reusescope: bad.json: loops[0].threads[0].executed is missing
[1]
$ sed 's/"count":[0-9]*/"count":9000000000000000000/' dot.json > bad.json; reusescope diff bad.json dot.json
reusescope: bad.json: loops[0].threads[0].references[0].rd sums to more than references
[1]
$ sed 's,loops/1,loops/2,' dot.json > bad.json; reusescope advise bad.json
reusescope: bad.json: written as reusescope-loops/2, newer than this tool
[1]
$ reusescope advise gap.json
reusescope: gap.json: no loop was analysed
[1]
$ reusescope report gap.json -q -o gap.html
$ reusescope loops $PWD/examples/loops/matmul.c -D N=8 -t 1 -q --no-command -o - --format json | grep -c "$PWD"
0
[1]

# CSV; profiles that report reads.
$ reusescope loops examples/loops/transpose_add.c -D N=8 -t 1 --format csv -o -
file,line,function,what_if,threads,interleave,lines,bytes,miss_ratio,low,high
"examples/loops/transpose_add.c",10,"kernel","",1,drift,1,64,0.6666666667,0.6666666667,0.6666666667
"examples/loops/transpose_add.c",10,"kernel","",1,drift,2,128,0.1875,0.1875,0.1875
"examples/loops/transpose_add.c",10,"kernel","",1,drift,3,192,0.1875,0.1875,0.1875
"examples/loops/transpose_add.c",10,"kernel","",1,drift,4,256,0.1875,0.1875,0.1875
"examples/loops/transpose_add.c",10,"kernel","",1,drift,5,320,0.08854166667,0.08854166667,0.08854166667
"examples/loops/transpose_add.c",10,"kernel","",1,drift,6,384,0.04166666667,0.04166666667,0.04166666667
"examples/loops/transpose_add.c",10,"kernel","",1,drift,7,448,0.04166666667,0.04166666667,0.04166666667
"examples/loops/transpose_add.c",10,"kernel","",1,drift,8,512,0.04166666667,0.04166666667,0.04166666667
$ reusescope loops examples/loops/transpose_add.c -D N=8 -t 1,2 -q && ls reusescope.data && reusescope report --format json -o - | grep -c '"by":"loops:drift'
reusescope.data
2
$ reusescope report --format csv -o - | grep ',references,' | cut -d, -f1-5,8-9
0,single,64,total,references,192,
1,shared,64,total,references,192,
$ reusescope loops examples/loops/transpose_add.c -D N=8 -t 1 -q -o t.prof && reusescope info t.prof | head -3
file           t.prof
format         profile, by loops:drift:kernel:10 from loops, single stack, 64-byte lines
references     192
$ reusescope loops examples/loops/transpose_add.c -D N=8 -t 1 -q -o t.csv && head -2 t.csv
file,line,function,what_if,threads,interleave,lines,bytes,miss_ratio,low,high
"examples/loops/transpose_add.c",10,"kernel","",1,drift,1,64,0.6666666667,0.6666666667,0.6666666667

# One thread is exact: the same curve as the trace of the same references.
$ reusescope gen cyclic,lines=64 -n 640 -q -o cyclic.rsct && reusescope analyze cyclic.rsct -q --format csv -o - | grep ',mrc,' | awk -F, '{print $6, $9}' | awk '$1 == 1 || $1 == 63 || $1 == 64' > traced
$ printf 'loops 1 array a 64 [64] nest n { for t = 1 to 10 { for i = 0 to 63 { read a[i] size 8 } } }' > cyclic.loop
$ reusescope loops cyclic.loop -t 1 -q --format csv -o - | sed 1d | awk -F, '{print $7, $9}' | awk '$1 == 1 || $1 == 64'
1 1
64 0.1
$ cat traced
1 1
63 1
64 0.1

# Line sizes, one loop of several, addresses.
$ reusescope loops examples/loops/half_size.c --loop 17 -t 1 -q --line 128 --format json -o - | grep '"line_bytes"\|"distinct"' | cut -c1-120
{"schema":"reusescope-loops/1","line_bytes":128,"loops":[
  {"file":"examples/loops/half_size.c","line":17,"function":"kernel","name":"kernel:17","schedule":"static","references"
    {"t":1,"interleave":"drift","exact":true,"samples":38400,"executed":38400,"distinct":750,"mrc":[
$ reusescope loops examples/loops/half_size.c --loop 99
reusescope: --loop 99: no loop starts there (--list shows all)
[2]
$ reusescope loops examples/loops/half_size.c --loop kernel:13 --list
examples/loops/half_size.c:13: kernel: static, 5 references in the source
$ reusescope loops examples/loops/matmul.c --base q=0 --list
reusescope: --base q: no array has this name (--emit-ir lists them)
[2]

# The interleaving of a recorded run: turns of 16 accesses on average by 4 threads are bursts of 12, since a burst may be
# followed by one of the same thread.
$ reusescope gen uniform,lines=1000,threads=4 -n 200000 --seed 3 -q -o turns.rsct; reusescope analyze turns.rsct --model shared -q -o turns.prof; reusescope loops examples/loops/matmul.c -D N=16 --like turns.prof -v --format csv -o like.csv
reusescope: turns.prof: bursty:12, 4.0 threads at the same time
$ reusescope loops examples/loops/matmul.c -D N=16 --interleave bursty:12 -t 4 -q --format csv -o - | cmp - like.csv
$ reusescope loops examples/loops/matmul.c -D N=16 --like turns.prof -t 1,2 -q --format csv -o - | cut -d, -f5-6 | sort -u
1,bursty:12
2,bursty:12
threads,interleave
$ reusescope analyze turns.rsct -q -o single.prof; reusescope loops examples/loops/matmul.c --like single.prof
reusescope: --like single.prof: does not have the order of its threads (record several threads with run --sample none --model shared, or analyze a trace with --model shared)
[2]
$ reusescope loops examples/loops/matmul.c --like missing.prof
reusescope: missing.prof: No such file or directory
[1]
$ reusescope loops examples/loops/matmul.c --like turns.prof --interleave iid
reusescope loops: --like and --interleave both give the interleaving
[2]

# The caches of a machine: 2048 lines in turn do not fit the first level, and the second has only first uses to fetch.
$ printf 'loops 1 array a 64 [2048] nest n { for t = 1 to 10 { for i = 0 to 2047 { read a[i] size 8 } } }' > cycle.loop; reusescope loops cycle.loop -t 1 --machine zen2 -q --format json -o - | grep -A3 -o '"machine".*\|{"name":"l.*' | cut -d} -f1
"machine":{"name":"zen2","made":"simulated","levels":[
{"name":"l1d","bytes":32768,"ways":8,"per_thread":true,"miss_ratio":1,"low":1,"high":1
{"name":"l2","bytes":524288,"ways":8,"per_thread":true,"miss_ratio":0.1,"low":0.1,"high":0.1
{"name":"l3","bytes":16777216,"ways":16,"per_thread":false,"miss_ratio":0.1,"low":0.1,"high":0.1
# Sixteen lines in one set of the first level miss although it would hold them 32 times: the estimate does not know.
$ printf 'loops 1 array a 64 [1024][64] nest n { for t = 1 to 10 { for i = 0 to 15 { read a[i][0] size 8 } } }' > column.loop; reusescope loops column.loop -t 1 --machine zen2 -q --format json -o - | grep -o '{"name":"l.*' | cut -d} -f1
{"name":"l1d","bytes":32768,"ways":8,"per_thread":true,"miss_ratio":1,"low":1,"high":1
{"name":"l2","bytes":524288,"ways":8,"per_thread":true,"miss_ratio":0.1,"low":0.1,"high":0.1
{"name":"l3","bytes":16777216,"ways":16,"per_thread":false,"miss_ratio":0.1,"low":0.1,"high":0.1
$ reusescope loops column.loop -t 1 --machine zen2 --samples 16 | tail -3
  zen2, share of references that miss:
                l1d 32 KiB,8     l2 512 KiB,8     l3 16 MiB,16
   1 thread 10.00 +- 10.00 % 10.00 +- 10.00 % 10.00 +- 10.00 %  estimated
$ reusescope loops column.loop --machine nosuch
reusescope: --machine nosuch: no such machine: this, a path, or NAME for NAME.caches (man reusescope-sim)
[2]
$ reusescope loops column.loop --machine zen2 --line 128
reusescope: --line 128: the lines of --machine zen2 are of 64 bytes
[2]

# What is given and means nothing, or makes no sense.
$ reusescope loops examples/loops/matmul.c --set M=3 --list
reusescope: warning: --set M: examples/loops/matmul.c has no parameter M
examples/loops/matmul.c:10: kernel: static, 4 references in the source
$ reusescope loops
reusescope loops: a file is missing: reusescope loops solver.c -D N=1024 -t 1,4,64
[2]
$ reusescope loops a.c b.c
reusescope loops: more than one file: b.c
[2]
$ reusescope loops a.c -t 0
reusescope loops: --threads 0: not a list of numbers or ranges from 1 to 4096
[2]
$ reusescope loops a.c -t 1,5000
reusescope loops: --threads 1,5000: not a list of numbers or ranges from 1 to 4096
[2]
$ reusescope loops a.c --set n
reusescope loops: --set n: not NAME=NUMBER
[2]
$ reusescope loops a.c --set n=x
reusescope loops: --set n=x: not NAME=NUMBER
[2]
$ reusescope loops a.c --line 48
reusescope loops: --line 48: not a power of two up to 4096
[2]
$ reusescope loops a.c --interleave sideways
reusescope loops: --interleave sideways: not drift, iid, lockstep, bursty:N or racetrack
[2]
$ reusescope loops a.c --base a
reusescope loops: --base a: not ARRAY=ADDRESS
[2]
$ reusescope loops a.c --confidence 100
reusescope loops: --confidence 100: not a number from 1 to 99.9
[2]
$ reusescope loops a.c --max-seconds 0
reusescope loops: --max-seconds 0: not a number from 0.1 to 86400
[2]
# Work that would take hours ends in time, and is named.
$ printf 'loops 1 array a 8 [16777216] nest long { for i = 0 to 1048575 { for j = 0 to 1048575 { when (3*i + 5*j) %% 7 == 0 and (i + j) %% 11 != 3 { write a[3*i + 5*j] } } } }' > long.loop; reusescope loops long.loop --max-seconds 0.3
reusescope: warning: out of time (--max-seconds 0.3): the result names what was left out
reusescope: long: out of time (--max-seconds 0.3)
[1]
$ reusescope loops long.loop --max-seconds 0.3 -q --format json -o out.json || grep -o '"reason":"[^"]*"' out.json
reusescope: long: out of time (--max-seconds 0.3)
"reason":"long: out of time (--max-seconds 0.3)"
$ reusescope loops examples/loops/matmul.c --schedule sideways -t 2
reusescope: schedule 'sideways': not static, dynamic or guided, with an optional ,CHUNK
[2]
$ reusescope loops examples/loops/matmul.c --what-if magic=1 -t 1
reusescope: what if 'magic=1': not chunk=N, schedule=KIND, tile=i:N,j:N, interchange=i,j, fuse=i or pad=a:N
[2]
$ reusescope loops examples/loops/matmul.c --what-if chunk=x -t 1
reusescope: what if 'chunk=x': a chunk is of 1 iteration or more
[2]
$ reusescope loops examples/loops/matmul.c --what-if interchange=i,zz -t 1
reusescope: what if 'interchange=i,zz': the loops are not nested in each other
[2]
$ reusescope loops examples/loops/matmul.c --function nothing
reusescope: examples/loops/matmul.c: no function nothing is defined here
[2]
$ reusescope loops - < /dev/null
reusescope: -:1: 'loops' is missing before the end
[1]

# A page, and what a loop's source has none of.
$ reusescope loops $SOURCE/examples/loops/matmul.c -D N=8 -t 1 -q -o x.html; grep -c '"schema":"reusescope-loops/1"' x.html
1
$ reusescope loops $SOURCE/examples/loops/matmul.c -D N=8 -t 1 -o x.folded
reusescope loops: folded is not a format for this result: text, json, csv, html
[2]
$ reusescope loops $SOURCE/examples/loops/matmul.c -D N=8 -t 1 --format speedscope
reusescope loops: --format speedscope: not one of text, json, csv, html
[2]
$ reusescope loops $SOURCE/examples/loops/matmul.c -D N=8 -t 1 --weight misses 2>&1 | head -1
reusescope loops: unknown option --weight (see: reusescope help loops)
$ reusescope loops --help | grep -c 'folded\|speedscope\|--weight'
0
[1]
$ ls x.*
x.html

# Minima and maxima as PPCG writes them.
$ printf '%s\n' '#define min(x,y) ({ __typeof__(x) _x = (x); __typeof__(y) _y = (y); _x < _y ? _x : _y; })' '#define max(x,y) ({ __typeof__(x) _x = (x); __typeof__(y) _y = (y); _x > _y ? _x : _y; })' 'static double a[500][500], b[500][500];' 'void kernel(void) {' '#pragma omp parallel for' 'for (int c0 = 0; c0 < 500; c0 += 32)' 'for (int c1 = 0; c1 < 500; c1 += 32)' 'for (int c2 = 0; c2 <= min(31, 499 - c0); c2++)' 'for (int c3 = max(0, 1 - c1); c3 <= min(31, min(499, 600 - c0) - c1); c3++)' 'a[c0 + c2][c1 + c3] = b[c0 + c2][c1 + c3]; }' > ppcg.c; reusescope loops ppcg.c --emit-ir
loops 1
array a 8 [500][500]
array b 8 [500][500]
\
nest "kernel:6" function kernel @"ppcg.c":6 {
  parallel @6 {
    for c0 = 0 to 499 step 32 share static @6 {
      for c1 = 0 to 499 step 32 @7 {
        for c2 = 0 to min(31, -c0 + 499) @8 {
          for c3 = max(0, -c1 + 1) to min(31, -c1 + 499, -c0 - c1 + 600) @9 {
            read b[c0 + c2][c1 + c3] @10 "b[c0 + c2][c1 + c3]"
            write a[c0 + c2][c1 + c3] @10 "a[c0 + c2][c1 + c3]"
          }
        }
      }
    }
  }
}
$ echo 'int a[9], b[9]; void f(void) { for (int i = 0; i < 9; i++) a[i] = ({ int t = b[i]; t + 1; }); }' > value.c; reusescope loops value.c --list
value.c:1: f: sequential, 2 references in the source
$ echo 'int a[9], b[9]; void f(void) { for (int i = 0; i < 9; i++) a[i] = ({ int t = b[i]; t++; t; }); }' > value.c; reusescope loops value.c --list
value.c:1: f: sequential, 1 reference in the source
value.c:1:   not affine: a statement in an expression

# Other languages.
$ echo 'fn main() {}' > x.rs; reusescope loops x.rs
reusescope: x.rs: Rust is not read, C and C++ only: write its loops as a .loop file (docs/guide/loop-tree.md)
[1]
$ echo 'end' > x.F90; reusescope loops x.F90
reusescope: x.F90: Fortran is not read, C and C++ only: write its loops as a .loop file (docs/guide/loop-tree.md)
[1]

# A folder with the name of a compiler is not one.
$ mkdir -p bin/cc bin/gcc; PATH=$PWD/bin:$PATH reusescope loops $SOURCE/examples/loops/matmul.c -D N=16 -t 1 -q --format json -o - | grep -c '"line"'
5

# Conditions that depend on data, in branches of different lengths: as many references counted as enumerated.
$ for taken in 50 30 75; do reusescope loops tests/loops/recurrence.c -t 1 --taken $taken -q --format json -o - | /usr/bin/python3 -c 'import json, sys; r = json.load(sys.stdin)["loops"][0]; t = r["threads"][0]; print(t["exact"], r["references"] == t["executed"], r["distinct"] == t["distinct"], r["distinct"])'; done
True True True 159
True True True 159
True True True 159

# Directives of a function count in its callers, wherever it is defined, and so do its barriers.
$ printf 'double a[100], h[100];\nstatic void work(void) {\n#pragma omp for\n    for (int i = 0; i < 100; i++) h[i] += a[i];\n}\nvoid kernel(void) {\n#pragma omp parallel\n    {\n        work();\n        work();\n    }\n}\n' > above.c
$ printf 'double a[64];\nstatic void meet(void) {\n#pragma omp barrier\n    ;\n}\nvoid kernel(void) {\n#pragma omp parallel\n    {\n#pragma omp for nowait\n        for (int i = 0; i < 64; i++) a[i] = 1;\n        meet();\n#pragma omp for\n        for (int i = 0; i < 64; i++) a[i] += 1;\n    }\n}\n' > meet.c
$ printf 'double a[64];\nvoid kernel(void) {\n#pragma omp parallel master\n    for (int i = 0; i < 64; i++) a[i] = 1;\n}\n' > master.c
$ for file in above meet master; do reusescope loops $file.c --function kernel -t 2,8 -q --format json -o - | /usr/bin/python3 -c 'import json, sys; r = json.load(sys.stdin)["loops"][0]; print(r["references"], [t["executed"] for t in r["threads"]])'; done
600 [600, 600]
192 [192, 192]
64 [64, 64]

# A bound that the body changes, and a continue in a block of its own, are not taken for what they were before.
$ printf 'double a[100];\nvoid kernel(void) {\n    int n = 30;\n    for (int i = 0; i < n; i++) {\n        a[i] = 1;\n        n--;\n    }\n}\n' > bound.c; reusescope loops bound.c
reusescope: bound.c:4: loop left out: n, a bound or step of the loop, is changed in the loop (--skip-nonaffine analyses without it; --list shows all)
[1]
$ printf 'double a[100];\nvoid kernel(void) {\n    for (int i = 1; i < 7; i++) {\n        { if (i > 3) continue; }\n        a[i] = 1;\n    }\n}\n' > block.c; reusescope loops block.c
reusescope: block.c:4: a jump that skips the rest of the loop (--skip-nonaffine analyses without it; --list shows all)
[1]

# Private caches of a small loop are those of its halves, whatever the order in its lines.
$ printf 'double A[1024], B[1024];\nvoid kernel(void) {\n#pragma omp parallel for\n    for (int i = 0; i < 32; i++)\n        for (int j = 0; j < 32; j++) A[j * 32 + i] = B[i * 32 + j] + B[j * 32 + i];\n}\n' > turned.c
$ for seed in 1 2 3; do reusescope loops turned.c -t 2 --seed $seed -q --format json -o - | /usr/bin/python3 -c 'import json, sys; t = json.load(sys.stdin)["loops"][0]["threads"][0]; m = {p["lines"]: p["miss_ratio"] for p in t["private"]["mrc"]}; print(abs(m[32] - 0.698) < 0.03, m[70] < 0.2)'; done
True True
True True
True True

# What a call may change through a reference is not known afterwards.
$ printf '#include <algorithm>\ndouble A[100], B[100];\nstatic void add(double &x, double y) { x += y; }\nstatic void step(int &k) { k += 2; }\nvoid element() { for (int i = 0; i < 100; i++) add(A[i], B[i]); }\nvoid counter() { int k = 0; for (int i = 0; i < 10; i++) { A[k] = 1; step(k); } }\nvoid bound() { int n = 10, m = 20; std::swap(n, m); for (int i = 0; i < n; i++) A[i] = 1; }\n' > references.cc
$ for function in element counter bound; do reusescope loops references.cc --function $function; done
reusescope: references.cc:5: add changes a number through a reference, which is not followed (--skip-nonaffine analyses without it; --list shows all)
reusescope: references.cc:6: subscript k is not affine: k changes in the loop at line 6 (--skip-nonaffine analyses without it; --list shows all)
reusescope: references.cc:7: loop left out: bound is not affine: n may change in a call at line 7 (--skip-nonaffine analyses without it; --list shows all)
[1]

# So is one with a reference that may cross a line, and one whose subscripts are too large.
$ printf 'struct odd { char c[12]; double d[8]; } __attribute__((packed));\nstruct odd o[64]; double a[64]; extern double big[];\nvoid crossing(void) { for (int i = 0; i < 64; i++) o[i].d[1] = 1; }\nvoid far(void) { for (long i = 0; i < 1000000000; i++) big[i * 1000000000L] = 1; }\nvoid good(void) { for (int i = 0; i < 64; i++) a[i] = 1; }\n' > cross.c; reusescope loops cross.c -t 1 | grep 'cross.c\|not analysed\|references,'
cross.c:3  crossing, sequential
  not analysed for these (1):
    cross.c:3: an access of 8 bytes to o may cross a line of 64 bytes: the models count one line per access
cross.c:4  far, sequential
  not analysed for these (1, not affine):
    cross.c:4: a subscript's value is too large (2^56 bytes are the most)
cross.c:5  good, sequential
  64 references, 8 lines of 64 B (512 B); drift
$ reusescope loops cross.c -t 1 --loop 3
reusescope: cross.c:3: an access of 8 bytes to o may cross a line of 64 bytes: the models count one line per access
[1]
$ reusescope loops cross.c -t 1 --loop 4
reusescope: cross.c:4: a subscript's value is too large (2^56 bytes are the most) (--skip-nonaffine analyses without it; --list shows all)
[1]
$ reusescope loops cross.c -t 1 --skip-nonaffine --loop 4
cross.c:4  far, sequential
  analysed without these (1, not affine):
    cross.c:4: a subscript's value is too large (2^56 bytes are the most)
  0 references, 0 lines of 64 B (0 B)
$ printf 'struct odd { char c[12]; double d[8]; } __attribute__((packed));\nstruct odd o[64]; double a[64]; int k[64];\nvoid both(void) {\n  for (int i = 0; i < 64; i++) {\n    a[k[i]] = 1;\n    o[i].d[1] = 1;\n  }\n}\n' > both.c; reusescope loops both.c -t 1 --skip-nonaffine
reusescope: both.c:6: an access of 8 bytes to o may cross a line of 64 bytes: the models count one line per access
[1]
