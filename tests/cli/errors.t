# Usage errors: one line on standard error, exit status 2.
$ printf '0 100\n0 100\n' > a.din
$ reusescope foo
reusescope: no verb 'foo' (see: reusescope help)
[2]
$ reusescope analyse a.din
reusescope: no verb 'analyse' (did you mean analyze?)
[2]
$ reusescope repotr
reusescope: no verb 'repotr' (did you mean report?)
[2]
$ reusescope anotate
reusescope: no verb 'anotate' (did you mean annotate?)
[2]
$ reusescope docter
reusescope: no verb 'docter' (did you mean doctor?)
[2]
$ reusescope -q
reusescope: no verb '-q' (see: reusescope help)
[2]
$ reusescope /bin/true
reusescope: no verb '/bin/true' (to watch a program: reusescope run -- /bin/true)
[2]
$ reusescope analyze /bin/true
reusescope: /bin/true: a program, not a trace (to watch it: reusescope run -- PROGRAM)
[1]
$ reusescope analyze
reusescope analyze: a trace is missing: reusescope analyze TRACE (- is standard input)
[2]
$ reusescope analyze a.din a.din
reusescope analyze: more than one trace: a.din
[2]
$ reusescope analyze --lines 64 a.din
reusescope analyze: unknown option --lines (did you mean --line?)
[2]
$ reusescope analyze --salvge a.din
reusescope analyze: unknown option --salvge (did you mean --salvage?)
[2]
$ reusescope analyze --nothing-like-it a.din
reusescope analyze: unknown option --nothing-like-it (see: reusescope help analyze)
[2]
$ reusescope analyze -x a.din
reusescope analyze: unknown option -x (see: reusescope help analyze)
[2]
$ reusescope analyze -qx a.din
reusescope analyze: unknown option -x (see: reusescope help analyze)
[2]
$ reusescope analyze a.din --line
reusescope analyze: --line needs a value: --line BYTES,...
[2]
$ reusescope analyze a.din -o
reusescope analyze: --output needs a value: --output FILE
[2]
$ reusescope analyze --quiet=1 a.din
reusescope analyze: --quiet takes no value
[2]
$ reusescope analyze --line 63 a.din
reusescope analyze: --line 63: not a list of powers of two from 1 to 4096
[2]
$ reusescope analyze --line 0 a.din
reusescope analyze: --line 0: not a list of powers of two from 1 to 4096
[2]
$ reusescope analyze --line 8192 a.din
reusescope analyze: --line 8192: not a list of powers of two from 1 to 4096
[2]
$ reusescope analyze --line 64, a.din
reusescope analyze: --line 64,: not a list of powers of two from 1 to 4096
[2]
$ reusescope analyze --line=abc a.din
reusescope analyze: --line abc: not a list of powers of two from 1 to 4096
[2]
$ reusescope analyze --engine nope a.din
reusescope: engine 'nope': not one of auto, exact, parallel, gpu[:device=N], mpi, shards:RATE, shards-max:LINES, sampled[:KEY=VALUE,...], time:MODEL[:RATE], hp-rda[:local=N,adjust=off,device=N], featherlight[:KEY=VALUE,...], requests, requests-shards:RATE
[2]
$ reusescope analyze --model nope a.din
reusescope: model 'nope': not one of single, private, shared, both
[2]
$ reusescope analyze --from nope a.din
reusescope: format 'nope': not one of rsct, din, lackey, csv, list, pinatrace, perf-script, drmemtrace, champsim, oracleGeneral, vscsi, raw64
[2]
$ reusescope analyze --format xml a.din
reusescope analyze: --format xml: not one of text, json, csv, folded, speedscope, callgrind, pprof, html
[2]
$ reusescope analyze --threads 0 a.din
reusescope analyze: --threads 0: not a number from 1 to 1024
[2]
$ reusescope analyze --threads 1025 a.din
reusescope analyze: --threads 1025: not a number from 1 to 1024
[2]
$ reusescope analyze --phases 0 a.din
reusescope analyze: --phases 0: not a number from 1 to 10000
[2]
$ reusescope analyze --phases 10001 a.din
reusescope analyze: --phases 10001: not a number from 1 to 10000
[2]
$ reusescope analyze --bins 0 a.din
reusescope analyze: --bins 0: not a number from 1 to 64
[2]
$ reusescope analyze --bins 65 a.din
reusescope analyze: --bins 65: not a number from 1 to 64
[2]
$ reusescope analyze --max-distance 0 a.din
reusescope analyze: --max-distance 0: not a number of lines from 1 up
[2]
$ reusescope analyze --max-distance 99999999999999999999 a.din
reusescope analyze: --max-distance 99999999999999999999: not a number of lines from 1 up
[2]
$ reusescope analyze --kind X a.din
reusescope analyze: --kind X: not a list of R, W, I
[2]
$ reusescope analyze --kind '' a.din
reusescope analyze: --kind : not a list of R, W, I
[2]
$ reusescope analyze --tid x a.din
reusescope analyze: --tid x: not a list of up to 1024 thread ids
[2]
$ reusescope analyze --tid '' a.din
reusescope analyze: --tid : not a list of up to 1024 thread ids
[2]
$ reusescope analyze --range 5 a.din
reusescope analyze: --range 5: not LOW-HIGH, as 0x1000-0x1fff
[2]
$ reusescope analyze --range 5-4 a.din
reusescope analyze: --range 5-4: not LOW-HIGH, as 0x1000-0x1fff
[2]
$ reusescope analyze --window x a.din
reusescope analyze: --window x: not FIRST or FIRST+COUNT, as 10M+1M
[2]
$ reusescope analyze --window 1+ a.din
reusescope analyze: --window 1+: not FIRST or FIRST+COUNT, as 10M+1M
[2]
$ reusescope analyze --window -1 a.din
reusescope analyze: --window -1: not FIRST or FIRST+COUNT, as 10M+1M
[2]
$ reusescope analyze --bits 6-9 a.din
reusescope analyze: --bits 6-9: not LO-HI=VALUE with bits from 0 to 63, as 6-9=3
[2]
$ reusescope analyze --bits 9-6=0 a.din
reusescope analyze: --bits 9-6=0: not LO-HI=VALUE with bits from 0 to 63, as 6-9=3
[2]
$ reusescope analyze --bits 6-64=0 a.din
reusescope analyze: --bits 6-64=0: not LO-HI=VALUE with bits from 0 to 63, as 6-9=3
[2]
$ reusescope analyze --bits 6-7=4 a.din
reusescope analyze: --bits 6-7=4: not LO-HI=VALUE with bits from 0 to 63, as 6-9=3
[2]
$ reusescope analyze --every 0 a.din
reusescope analyze: --every 0: not a number from 1 up
[2]
$ reusescope analyze --at 0 a.din
reusescope analyze: --at 0: not a size in bytes, as 256K or 32M, nor a cache of this machine, as L2
[2]
$ reusescope analyze --at L9 a.din
reusescope analyze: --at L9: not a size in bytes, as 256K or 32M, nor a cache of this machine, as L2
[2]
$ reusescope analyze --no-code=1 a.din
reusescope analyze: --no-code takes no value
[2]
$ reusescope analyze --color maybe a.din
reusescope analyze: --color maybe: not one of auto, always, never
[2]
$ reusescope info
reusescope info: a file is missing: reusescope info FILE
[2]
$ reusescope info a.din a.din
reusescope info: more than one file: a.din
[2]
$ reusescope info a.din --format csv
reusescope info: --format csv: not one of text, json
[2]
$ reusescope dump
reusescope dump: a trace is missing: reusescope dump TRACE
[2]
$ reusescope dump a.din -n 0
reusescope dump: --count 0: not a number from 1 up
[2]
$ reusescope convert -o x.rsct
reusescope convert: a trace is missing: reusescope convert TRACE -o FILE
[2]
$ reusescope convert a.din
reusescope convert: an output file is missing: -o FILE (- is standard output)
[2]
$ reusescope convert a.din -o x.rsct --to xml
reusescope convert: --to xml: not one of rsct, din, csv
[2]
$ reusescope report --format xml
reusescope report: --format xml: not one of text, json, csv, folded, speedscope, callgrind, pprof, html
[2]

# A blank is no kind.
$ reusescope analyze --kind ' ' a.din -o -
reusescope analyze: --kind  : not a list of R, W, I
[2]
$ reusescope analyze --kind 'R W' a.din -o -
reusescope analyze: --kind R W: not a list of R, W, I
[2]

# What is wrong with a command line is said before a long analysis, not after it.
$ reusescope analyze missing.din --format xml
reusescope analyze: --format xml: not one of text, json, csv, folded, speedscope, callgrind, pprof, html
[2]

# Errors stay on one line whatever the argument holds.
$ reusescope "$(printf 'a\nb')" 2>&1 | wc -l
1
$ reusescope analyze "--$(printf 'a\nb')" 2>&1 | wc -l
1
$ reusescope analyze --line "$(printf '1\n2')" a.din 2>&1 | wc -l
1
$ reusescope analyze "$(printf 'a\nb')" 2>&1 | wc -l
1
$ reusescope gen "$(printf 'a\nb')" -n 1 -o x 2>&1 | wc -l
1

# "--" ends the options.
$ reusescope analyze -- --line
reusescope: --line: No such file or directory
[1]
$ reusescope analyze -- -
reusescope: standard input: the file is empty
[1]

# Input errors: one line, exit status 1.
$ reusescope analyze missing.din
reusescope: missing.din: No such file or directory
[1]
$ reusescope info missing.din
reusescope: missing.din: No such file or directory
[1]
$ reusescope dump missing.din
reusescope: missing.din: No such file or directory
[1]
$ reusescope convert missing.din -o x.rsct
reusescope: missing.din: No such file or directory
[1]
$ reusescope report missing.data
reusescope: missing.data: No such file or directory
[1]
$ reusescope report
reusescope: reusescope.data: No such file or directory
[1]
$ reusescope analyze .
reusescope: .: a folder without traces; DynamoRIO's are drmemtrace.*.trace in it or in its subfolder trace
[1]
$ reusescope report .
reusescope: .: Is a directory
[1]
$ reusescope info .
reusescope: .: a folder without traces; DynamoRIO's are drmemtrace.*.trace in it or in its subfolder trace
[1]
$ : > empty
$ reusescope analyze empty
reusescope: empty: the file is empty
[1]
$ reusescope info empty
reusescope: empty: the file is empty
[1]
$ reusescope dump empty
reusescope: empty: the file is empty
[1]
$ reusescope convert empty -o x.rsct
reusescope: empty: the file is empty
[1]
$ reusescope report empty
reusescope: empty: the file is empty
[1]
$ reusescope analyze empty --from raw64
reusescope: empty: the file is empty
[1]
$ reusescope analyze empty --from din
reusescope: empty: the file is empty
[1]
$ echo hello > junk
$ reusescope analyze junk
reusescope: junk: no trace format recognised (rsct, din, lackey, csv, list, pinatrace, perf-script, drmemtrace); name it with --from if it is one
[1]
$ reusescope info junk
reusescope: junk: no trace format recognised (rsct, din, lackey, csv, list, pinatrace, perf-script, drmemtrace); name it with --from if it is one
[1]
$ reusescope dump junk
reusescope: junk: no trace format recognised (rsct, din, lackey, csv, list, pinatrace, perf-script, drmemtrace); name it with --from if it is one
[1]
$ reusescope convert junk -o x.rsct
reusescope: junk: no trace format recognised (rsct, din, lackey, csv, list, pinatrace, perf-script, drmemtrace); name it with --from if it is one
[1]
$ reusescope report junk
reusescope: junk: neither a reusescope profile nor JSON
[1]
$ reusescope analyze junk --from din
reusescope: junk: line 1 (byte 0): expected "0|1|2 ADDRESS" (din), found "hello"
[1]
$ reusescope analyze junk --from lackey
reusescope: junk: none of its 1 lines matches "I  ADDRESS,SIZE" (lackey)
[1]
$ reusescope analyze junk --from csv
reusescope: junk: line 1 (byte 0): the first line must name the columns, including addr (csv), found "hello"
[1]
$ reusescope analyze junk --from raw64
reusescope: junk: cut at byte 0: the last address has 6 of its 8 bytes (raw64)
[1]
$ reusescope analyze junk --from rsct
reusescope: junk: header at byte 0: the file is cut
[1]
$ mkdir closed; : > closed/a.din; chmod 000 closed
$ [ "$(id -u)" = 0 ] || reusescope analyze closed/a.din 2>&1 | grep -v denied; chmod 755 closed; rm -r closed

# A bad line is named.
$ (for i in $(seq 20); do echo 0 100; done; echo zzz) | reusescope analyze -
reusescope: standard input: line 21 (byte 120): expected "0|1|2 ADDRESS" (din), found "zzz"
[1]
$ printf 'addr\nff\n' | reusescope analyze -
reusescope: standard input: line 2 (byte 5): hexadecimal digits need a leading 0x (or --columns addr=N:hex) (csv), found "ff"
[1]
$ printf 'addr,size\n1,4G\n' | reusescope analyze -
reusescope: standard input: line 2 (byte 10): unexpected text after a value (csv), found "1,4G"
[1]
$ printf 'addr,size\n1,4294967296\n' | reusescope analyze -
reusescope: standard input: line 2 (byte 10): size must be at most 4294967295 bytes (csv), found "1,4294967296"
[1]
$ printf 'addr,size\n1\n' | reusescope analyze -
reusescope: standard input: line 2 (byte 10): fewer values than there are columns (csv), found "1"
[1]
$ printf 'addr,kind\n1,Q\n' | reusescope analyze -
reusescope: standard input: line 2 (byte 10): expected a kind: R, W or I (csv), found "1,Q"
[1]
$ printf 'addr,addr\n1,1\n' | reusescope analyze -
reusescope: standard input: line 1 (byte 0): the header names a column twice (csv), found "addr,addr"
[1]

# Nothing was left behind.
$ ls -A
a.din
empty
junk

# A profile where a trace is due, and a trace where a profile is: the verb that takes it.
$ reusescope gen cyclic,lines=10 -n 100 -q -o t.rsct; reusescope analyze t.rsct -q -o t.data; reusescope analyze t.rsct -q -o t.json
$ for verb in report annotate advise; do reusescope $verb t.rsct; done; reusescope diff t.data t.rsct; reusescope merge t.data t.rsct
reusescope: t.rsct: a trace, not a profile: reusescope analyze t.rsct
reusescope: t.rsct: a trace, not a profile: reusescope analyze t.rsct
reusescope: t.rsct: a trace, not a profile: reusescope analyze t.rsct
reusescope: t.rsct: a trace, not a profile: reusescope analyze t.rsct
reusescope: t.rsct: a trace, not a profile: reusescope analyze t.rsct
[1]
$ reusescope analyze t.data; reusescope analyze t.json; reusescope convert t.data -o x.rsct
reusescope: t.data: a profile, not a trace: reusescope report t.data
reusescope: t.json: a profile, not a trace: reusescope report t.json
reusescope: t.data: a profile, not a trace: reusescope report t.data
[1]
$ echo nonsense > x; reusescope report x
reusescope: x: neither a reusescope profile nor JSON
[1]

# Small files that would take days: accesses of 4 GiB, and a million caches to keep coherent.
$ python3 -c 'print("addr,size"); [print(f"{i << 32},4294967295") for i in range(20)]' > wide.csv
$ reusescope analyze wide.csv --engine exact -q -o wide.json
reusescope: accesses of 1 MiB and more make over 2^30 references: larger lines make fewer (--line 4096), and analyze --requests counts whole objects
[1]
$ for engine in parallel shards:0.01 shards-max:1000 hp-rda sampled time:statstack; do timeout 60 reusescope analyze wide.csv --engine $engine -q -o wide.json 2>&1 | cut -c1-67; done | uniq -c | sed 's/^ *//'
6 reusescope: accesses of 1 MiB and more make over 2^30 references: l

$ reusescope sim wide.csv --l1d 32K,8,64 -q -o -
reusescope: accesses of 1 MiB and more make over 2^30 references: larger lines make fewer (--line 4096), and analyze --requests counts whole objects
[1]

$ python3 -c 'print("addr,size,kind,tid"); [print(f"{i * 64},4,W,{i}") for i in range(5000)]' > crowd.csv
$ reusescope sim crowd.csv --coherent --l1d 32K,8,64,private -q -o -
reusescope: --coherent keeps up to 4096 private caches coherent: select threads with --tid
[2]

$ reusescope sim crowd.csv --coherent --l1d 32K,8,64,private --tid 3,4 -q --format csv -o - | head -1 | cut -c1-5
name,

# A device without an end is not a profile: its first bytes say so.
$ (ulimit -v 200000; reusescope report /dev/zero)
reusescope: /dev/zero: neither a reusescope profile nor JSON
[1]
# Nor is it a trace, unless --from says so of numbers in a row, and then a part can be had.
$ endless() { (ulimit -v 2000000; timeout 60 reusescope "$@" 2>&1 | cut -c1-51; echo ${PIPESTATUS[0]}); }
$ endless analyze /dev/zero -q; endless info /dev/zero; endless dump /dev/zero; endless convert /dev/zero -q -o zero.rsct; endless sim /dev/zero --l1d 32K,8,64 -q; endless analyze /dev/zero --requests -q
reusescope: /dev/zero: no trace format recognised (
1
reusescope: /dev/zero: no trace format recognised (
1
reusescope: /dev/zero: no trace format recognised (
1
reusescope: /dev/zero: no trace format recognised (
1
reusescope: /dev/zero: no trace format recognised (
1
reusescope: /dev/zero: no trace format recognised (
1
$ for format in din lackey csv list pinatrace perf-script; do endless info /dev/zero --from $format; done | uniq -c | sed 's/^ *//' | sort | uniq -c | sed 's/^ *//'
6 1 1
6 1 reusescope: /dev/zero: line 1 (byte 0): a NUL byte * (glob)
$ endless info /dev/zero --from drmemtrace; endless info /dev/zero --from rsct; endless info /dev/zero --from vscsi
reusescope: /dev/zero: record at byte 0: no header 
1
reusescope: /dev/zero: header at byte 0: not a nati
1
reusescope: /dev/zero: at byte 0: neither version 1
1
$ endless convert /dev/zero --from raw64 --max-size 8K -q -o zero.rsct; [ $(stat -c %s zero.rsct) -le 8192 ] && reusescope analyze zero.rsct -q --format csv -o - | grep -c total,acc
0
1
$ endless diff /dev/zero /dev/zero; endless loops /dev/zero; endless loops - < /dev/zero; endless run -q -- /dev/zero
reusescope: /dev/zero: neither a reusescope profile
1
reusescope: /dev/zero: /usr/bin/cc -E ended with st
1
reusescope: -: larger than 16 MiB
1
reusescope: /dev/zero: not an executable file
126

# A pipe is read once: what is in it is not looked for again.
$ mkfifo pipe; for verb in analyze info dump report; do { echo hello > pipe & } ; timeout 60 reusescope $verb pipe 2>&1 | cut -c1-45; done
reusescope: pipe: no trace format recognised 
reusescope: pipe: no trace format recognised 
reusescope: pipe: no trace format recognised 
reusescope: pipe: neither a reusescope profil

# attach: what is no process, and what is no time.
$ reusescope attach
reusescope attach: a process id is missing: reusescope attach $(pidof server)
[2]
$ reusescope attach nobody
reusescope attach: nobody: not a process id
[2]
$ reusescope attach 4194305
reusescope: process 4194305: there is none
[2]
$ reusescope attach $$ 2
reusescope attach: only one process can be watched
[2]
$ reusescope attach $$ --for soon
reusescope attach: --for soon: not a time, such as 10s, 500ms or 2m
[2]
$ reusescope attach $$ --for 0
reusescope attach: --for 0: not a time, such as 10s, 500ms or 2m
[2]
$ reusescope attach $$ --model both 2>&1 | head -1
reusescope attach: --model needs a program that was built with reusescope cc
$ reusescope attach $$ --rate 0
reusescope attach: --rate 0: not a number from 1 to 100000
[2]
