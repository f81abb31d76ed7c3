# run: a program, watched. Only what is the same on every machine; tests/live has the rest.
$ reusescope run
reusescope run: a program is missing: reusescope run -- ./app
[2]
$ reusescope run --
reusescope run: a program is missing: reusescope run -- ./app
[2]
$ reusescope run --with pin true
reusescope run: --with pin: not one of auto, asm, valgrind, qemu, perf
[2]
$ reusescope run --order random true
reusescope run: --order random: not one of time, strict
[2]
$ reusescope run --skip much true
reusescope run: --skip much: not a number
[2]
$ reusescope run --for -1 true
reusescope run: --for -1: not a number from 1 up
[2]
$ reusescope run --seed x true
reusescope run: --seed x: not a number
[2]
$ reusescope run --no-analysis true
reusescope run: --no-analysis needs --trace FILE
[2]
$ reusescope run --roi f --skip 1M true
reusescope run: --roi and --skip or --for exclude each other
[2]
$ reusescope run --roi f --for 1M true
reusescope run: --roi and --skip or --for exclude each other
[2]
$ reusescope run --line 63 true
reusescope run: --line 63: not a list of powers of two from 1 to 4096
[2]
$ reusescope run --trace
reusescope run: --trace needs a value: --trace FILE
[2]
$ reusescope run --folow true
reusescope run: unknown option --folow (did you mean --follow?)
[2]

$ reusescope run --native= true
reusescope run: --native : no file is named
[2]

# What cannot be watched.
$ reusescope run no-such-program
reusescope: no-such-program: no such program in PATH
[127]
$ reusescope run --native=./no-such-program true
reusescope: ./no-such-program: No such file or directory
[1]
$ echo hello > text; reusescope run --native=./text true
reusescope: ./text: not an executable file
[1]
$ reusescope run ./no-such-program
reusescope: ./no-such-program: No such file or directory
[127]
$ echo hello > text && reusescope run ./text
reusescope: ./text: not an executable file
[126]
$ chmod +x text && reusescope run ./text
reusescope: ./text: neither an ELF program nor a script
[1]
$ reusescope run .
reusescope: .: no such program in PATH
[127]
$ reusescope run ./
reusescope: ./: not an executable file
[126]
$ cp /bin/true set-uid && chmod u+s set-uid && reusescope run ./set-uid
reusescope: ./set-uid: set-user-id or set-group-id programs are not watched: they would run without their rights
[1]
$ chmod u-s,g+s set-uid && reusescope run ./set-uid
reusescope: ./set-uid: set-user-id or set-group-id programs are not watched: they would run without their rights
[1]
$ (printf '\177ELF\2\1\1\0\0\0\0\0\0\0\0\0\2\0\363\0\1\0\0\0'; head -c 100 /dev/zero) > riscv; chmod +x riscv
$ reusescope run ./riscv
reusescope: ./riscv: a program for ELF machine 243; x86-64 and AArch64 can be watched
[1]
$ (printf '\177ELF\1\1\1\0\0\0\0\0\0\0\0\0\2\0\3\0\1\0\0\0'; head -c 100 /dev/zero) > i386; chmod +x i386
$ reusescope run ./i386
reusescope: ./i386: not a 64-bit little-endian program
[1]
$ printf '#!./gone\n' > orphan; chmod +x orphan; reusescope run ./orphan
reusescope: ./gone: No such file or directory
[126]
$ PATH=.:$PATH reusescope run orphan
reusescope: ./gone: No such file or directory
[126]
$ printf '#!./text\n' > twice; chmod +x twice; reusescope run ./twice
reusescope: ./text: neither an ELF program nor a script
[1]

# Where the result cannot be written, nothing is run.
$ reusescope run -o no/such/folder.data -- sh -c 'echo ran'
reusescope: no/such/folder.data*: No such file or directory (glob)
[1]
$ ls
i386
orphan
riscv
set-uid
text
twice

# The program's output and status are its own; -q says nothing else.
$ reusescope run -q -- true
$ reusescope run -q -- sh -c 'echo out; echo error >&2; exit 7'
out
error
[7]
$ echo in | reusescope run -q cat -
in
$ printf '#!/bin/sh\necho script $1\nexit 3\n' > script; chmod +x script; reusescope run -q -- ./script argument
script argument
[3]
$ reusescope run -q -- sh -c 'kill -TERM $$'
reusescope: sh: ended by signal 15 (Terminated)
[143]
$ reusescope record -q -- sh -c 'exit 4'
[4]

# The profile is kept, as for a trace.
$ ls reusescope.data*
reusescope.data
reusescope.data.old
$ reusescope report --format json -o - | grep -cE '"by":"exact","source":"(valgrind|qemu)","model":"shared"'
1

# What is said at the end.
$ reusescope run -v -o t.json -- true 2>&1 >/dev/null | grep -E 'slowdown|accesses/s|waited|next'
reusescope: slowdown not measured (--native first runs the program once unwatched)
reusescope: * s, * million accesses by 1 thread in * million instructions, * M accesses/s (glob)
reusescope: its threads together waited * s for the analysis, * % of that and their processor time; unseen: 0.0 % of its instructions, and its time in the kernel (*) (glob)
next: reusescope report t.json
$ reusescope run -o t.json -- sh -c '/bin/true; /bin/true; exit 0' 2>&1 >/dev/null | grep warning
reusescope: warning: not watched: 2 forked children, 2 programs it started (--follow watches them)
$ reusescope run --follow -o t.json -- sh -c '/bin/true; /bin/true; exit 0' 2>&1 >/dev/null | grep -c warning
0
[1]

# A trace beside it, or alone; both runs give the same accesses.
$ reusescope run -q --trace a.rsct -o a.json -- true && reusescope run -q --trace b.rsct --no-analysis -- true
$ accesses() { reusescope dump $1 | grep -v event; }
$ accesses a.rsct > a.txt; accesses b.rsct | cmp - a.txt
$ reusescope run --trace b.rsct --no-analysis -- true 2>&1 | tail -1
next: reusescope analyze b.rsct
$ reusescope info a.rsct | grep -vE '^(size|accesses|instructions|frames)'
file           a.rsct
format         rsct version 1
made by        reusescope run (*) (glob)
command        true
pcs            yes
$ reusescope analyze a.rsct -q -o again.json
$ counts() { grep -oE '"(accesses|references|cold)":[0-9]+' $1 | head -3; }
$ counts a.json > a.counts; counts again.json | cmp - a.counts && wc -l < a.counts
3
$ reusescope dump a.rsct | grep -c 'thread-start'
1

# What sampling cannot do.
$ reusescope run --rate 5 true
reusescope run: --rate needs --with perf: the others see every access
[2]
$ reusescope run --with perf --rate 0 true
reusescope run: --rate 0: not a number from 1 to 100000
[2]
$ reusescope run --with perf --trace t.rsct true
reusescope run: --trace needs every access: --with asm, valgrind or qemu, not perf
[2]
$ reusescope run --with perf --roi main true
reusescope: --roi needs every access: --with asm, valgrind or qemu, not perf
[2]
$ reusescope run --with perf --line 32 true
reusescope: --line: debug registers watch words of 8 bytes: --with perf can do --line 8, or 64 as a model
[2]
$ reusescope run --with perf --engine exact true
reusescope: --with perf samples: --engine exact needs every access (--with asm or qemu)
[2]
$ reusescope run --with perf --engine featherlight:registers=5 true
reusescope: --engine featherlight: registers=5: x86-64 has 4 debug registers
[2]
$ reusescope run --with perf --engine featherlight:skid=3 true
reusescope: --engine featherlight: skid, shadow, spacing and replacement are for traces: here the machine is real
[2]
$ reusescope run --with perf --rate 5 --engine featherlight:period=3 true
reusescope: --rate and period= exclude each other
[2]

# A command cannot send escapes to the terminal from a trace's header.
$ reusescope run -q --trace c.rsct --no-analysis -- true "$(printf '\033]0;x\007\302\233\n31m')"
$ reusescope info c.rsct | grep -A1 ^command | cat -v | sed 's/^accesses .*/accesses/'
command        true ?]0;x????31m
accesses
