# doctor: what this machine can do. What it finds differs; how it says so does not.
$ reusescope doctor > found; echo $? > status; head -1 found
reusescope *.*.*  (glob)

# Every line is a mark, a thing and what was found or what to do about it.
$ sed 1d found | sed '/^$/,$d' | grep -vcE '^(ok|--|no) {1,2}[^ ].{25} [^ ]'
0
[1]
$ cut -c5-30 found | grep -oE '^(caches of this machine|processors|shared memory|qemu-x86_64|plugin|source lines)'
caches of this machine
processors
shared memory
qemu-x86_64
plugin
source lines

# It fails exactly if something needed is missing, and then says that at the end too.
$ [ "$(cat status)" = "$(grep -c '^no ' found | sed 's/^[1-9].*/1/')" ] && echo agrees
agrees
$ [ "$(cat status)" = "$(tail -1 found | grep -c 'cannot work yet')" ] && echo agrees
agrees

# A copy of the tool alone lacks its plugin.
$ cp "$(readlink -f "$(command -v reusescope)")" alone && ./alone doctor | grep '^no  plugin'
no  plugin                     build it: make
$ ./alone doctor | tail -1
`reusescope run` cannot work yet: see the lines marked 'no'.
$ ./alone doctor > /dev/null
[1]
$ ./alone run -q -- true
reusescope: libreusescope-qemu.so is missing beside the tool: build it again (make)
[1]

# A GPU is tried as well.
$ REUSESCOPE_GPU_PLUGIN=/nowhere ./alone doctor | grep 'engine gpu'
--  engine gpu                 the plugin cannot be loaded: /nowhere: cannot open shared object file: No such file or directory

$ reusescope doctor now
reusescope doctor: takes no operand: now
[2]
$ reusescope doctor --fix
reusescope doctor: unknown option --fix (see: reusescope help doctor)
[2]
$ ls
alone
found
status

# Sizes as reports have them.
$ $SOURCE/tests/caches 48K,1280K,32M caches; REUSESCOPE_TEST_CACHES=$PWD/caches reusescope doctor 2>&1 | grep '^ok  caches'
ok  caches of this machine     L1d 48 KiB, L2 1.25 MiB, L3 32 MiB

# Latencies of this machine: measured, kept, and used by reports.
$ mkdir measured; export REUSESCOPE_MACHINES=$PWD/measured REUSESCOPE_TEST_CACHES=$PWD/small; $SOURCE/tests/caches 8K,64K small
$ reusescope doctor --latency | sed -E 's/ [0-9]+(,| cycles)/ N\1/g; s|kept in .*/measured|kept in measured|'
L1d N, L2 N, memory N cycles
kept in measured/this.latency
$ sed -E 's/[0-9.]+$/N/' measured/this.latency
L1d N
L2 N
memory N
$ reusescope doctor | grep -c '^ok  latencies'
1
$ printf 'L1d 4\nL2 10\nmemory 100\n' > measured/this.latency
$ reusescope report $SOURCE/tests/fuzz/corpus/profile/rows.json | grep -A2 'Worst lines'
 Worst lines  of your code, by cycles lost: L2 10, memory 100 (measured)
    cycles   share     L1d      L2  where
    7.00 M  97.0 %  70.0 k  70.0 k  /home/u/wave/src/solver.c:71 sweep
