# sim: small traces in caches worked out by hand, and everything a user can ask for.
$ json() { reusescope sim "$@" -q --format json -o -; }
$ check() { /usr/bin/python3 $SOURCE/tests/sim_check.py $SOURCE/docs/schema/sim.schema.json -; }
$ body() { json "$@" > out.json && check < out.json && grep -v '"made"' out.json; }
$ field() { /usr/bin/python3 -c 'import json,sys; d=json.load(sys.stdin); print(*[l.get(k, 0) for l in d["levels"] for k in sys.argv[1:]])' "$@"; }

# Two blocks that share the one frame of their set: a (write), b, a again. The dirty a goes to make room for b.
$ printf '1 0\n0 80\n0 0\n2 1000\n' > aba.din
$ body aba.din --l1d 128,1,64
{"schema":"reusescope-sim/1",
 "instructions":1,"references":3,
 "accesses":4,"warm_accesses":0,"left_out":1,"memory_reads":3,"memory_writes":1,
 "levels":[
  {"name":"l1d","config":"128,1,64,lru","alternative":0,"accesses":3,"misses":3,"writebacks":1,"dirty_at_end":0,"mpi":3,"mpkr":1000,"local_miss_ratio":1,"global_miss_ratio":1,"writes_in":0,"writes_in_missed":0,"writethroughs":0,"blocks":2,"blocks_at_end":1,"kinds":{"R":{"accesses":2,"misses":2},"W":{"accesses":1,"misses":1}},"estimate":null}]}

# Two ways hold both.
$ body aba.din --l1 128,2,64 --l2 1K,2,64
{"schema":"reusescope-sim/1",
 "instructions":1,"references":4,
 "accesses":4,"warm_accesses":0,"left_out":0,"memory_reads":3,"memory_writes":0,
 "levels":[
  {"name":"l1","config":"128,2,64,lru","alternative":0,"accesses":4,"misses":3,"writebacks":0,"dirty_at_end":1,"mpi":3,"mpkr":750,"local_miss_ratio":0.75,"global_miss_ratio":0.75,"writes_in":0,"writes_in_missed":0,"writethroughs":0,"blocks":2,"blocks_at_end":2,"kinds":{"R":{"accesses":2,"misses":1},"W":{"accesses":1,"misses":1},"I":{"accesses":1,"misses":1}},"estimate":null},
  {"name":"l2","config":"1K,2,64,lru","alternative":0,"accesses":3,"misses":3,"writebacks":0,"dirty_at_end":0,"mpi":3,"mpkr":750,"local_miss_ratio":1,"global_miss_ratio":0.75,"writes_in":0,"writes_in_missed":0,"writethroughs":0,"blocks":16,"blocks_at_end":3,"kinds":{"R":{"accesses":1,"misses":1},"W":{"accesses":1,"misses":1},"I":{"accesses":1,"misses":1}},"estimate":null}]}

# Text; the fetch is left out where only data has a cache.
$ reusescope sim aba.din --l1d 128,1,64
3 references, 1 instructions
1 accesses are of kinds that no first-level cache handles
\
     cache            accesses  misses    local   global     MPKI wr-backs
l1d  128,1,64,lru            3       3    100 %    100 % 3000.000        1
\
     misses by kind
l1d  2 of 2 reads, 1 of 1 writes

# a b c a b a c in two ways: LRU and FIFO hit once, Belady twice.
$ printf '0 0\n0 40\n0 80\n0 0\n0 40\n0 0\n0 80\n' > abca.din
$ for policy in lru random fifo plru nru srrip brrip drrip opt; do printf '%s ' $policy; json abca.din --l1d 128,2,64,$policy | field misses; done
lru 6
random 5
fifo 6
plru 6
nru 6
srrip 6
brrip 5
drrip 6
opt 5

# Every policy and word through the schema, alternatives, families, threads.
$ reusescope gen mix,lines=4K,threads=4,write=0.3 -n 40000 --seed 3 -q -o t.rsct
$ for word in wt nwa wt,nwa pid pages prefetch victim=4 buffer=4 private per=2; do json t.rsct --l1d 4K,4,64,$word --l2 64K,8,64 | tee $word.json | check; field misses writebacks < $word.json; done
25605 0 22420 6845
27633 122 22420 6845
27633 0 22420 6845
25605 7716 22425 6840
25605 7716 22425 6840
25267 7820 21047 7045
25508 7677 22429 6840
25605 7716 22434 6834
25632 7619 22446 6806
25457 7651 22434 6821
$ json t.rsct --l1d 4K,4,64,private --l2 32K,8,64,per=2,inclusive --l3 64K,16,64,inclusive --coherent --classes > c.json; check < c.json; field misses cold capacity conflict coherence invalidated back_invalidated < c.json
25917 10613 14695 91 518 626 645 23435 6953 11412 4730 340 435 11646 22373 4402 6454 11517 0 0 0
$ json t.rsct --l1d 4K,4,64 --l2 64K,8,64 --l2 64K,8,64,srrip --l2 96K,12,64,opt --l2 all:32K-128K,4 > a.json; check < a.json; field config alternative misses < a.json
4K,4,64,lru 0 25605 64K,8,64,lru 0 22425 64K,8,64,srrip 1 22635 96K,12,64,opt 2 13851 32K,1,64,lru 3 23469 32K,2,64,lru 4 23731 32K,4,64,lru 5 23726 64K,1,64,lru 6 22211 64K,2,64,lru 7 22372 64K,4,64,lru 8 22535 128K,1,64,lru 9 19301 128K,2,64,lru 10 18713 128K,4,64,lru 11 20089
$ json t.rsct --l2 all:32K-64K,2 | tee f.json | check; field config alternative misses < f.json
32K,1,64,lru 0 28188 32K,2,64,lru 1 24058 64K,1,64,lru 2 26899 64K,2,64,lru 3 22683

# The family is what its members are alone; alternatives too; workers change nothing.
$ for size in 32K 64K 128K; do for ways in 1 4; do json t.rsct --l1d 4K,4,64 --l2 $size,$ways,64 | field misses | cut -d' ' -f2; done; done
23469
23726
22211
22535
19301
20089
$ json t.rsct --l1d 4K,4,64 --l2 64K,8,64,srrip | field misses
25605 22635
$ for threads in 1 2 4; do json t.rsct --l1d 4K,4,64 --l2 64K,8,64 --threads $threads | grep -v '"made"' | cksum; done
36656270 979
36656270 979
36656270 979

# Warming up and windows.
$ json t.rsct --l1d 4K,4,64 --l2 16K,4,64 --warm 10000 | field accesses misses
30000 20193 20193 19362
$ json t.rsct --l1d 4K,4,64 --l2 16K,4,64 --warm-fill 0.5 | grep -o '"warm_accesses":[0-9]*'
"warm_accesses":5120
$ json t.rsct --l1d 4K,4,64 --l2 16K,4,64 --windows 15000 --warm 5000 | tee w.json | check; grep -c '"first"' w.json
3
$ reusescope sim t.rsct --l1d 4K,4,64 --windows 15000
40,000 references
\
     cache            accesses  misses    local   global  /k refs wr-backs
l1d  4K,4,64,lru        40.0 k  25.6 k     64 %     64 %  640.125    7,716
\
     misses by kind
l1d  18.0 k of 29.9 k reads, 7,630 of 10.1 k writes
\
     window, from access    l1d misses
                       0        10.4 k
                  15,000        12.6 k
                  30,000         2,610

# A miss stream carries what the next level needs: the same misses of the second level, and of a family.
$ json t.rsct --l1d 4K,4,64 --l2 64K,8,64 --l2 all:32K-64K,2 | field misses writebacks writes_in
25605 7716 0 22425 6840 7716 23469 7241 7716 23731 7209 7716 22211 6902 7716 22372 6845 7716
$ reusescope sim t.rsct --l1d 4K,4,64 --miss-trace m.rsct -q -o /dev/null
$ json m.rsct --l2 64K,8,64 --l2 all:32K-64K,2 | field misses writebacks writes_in
22425 6840 7716 23469 7241 7716 23731 7209 7716 22211 6902 7716 22372 6845 7716
$ reusescope info m.rsct | grep -e filter -e unfiltered
filter         misses of l1d=4K,4,64,lru
unfiltered     40000 accesses

# Of caches that tell processes apart, a record is by a thread of the process whose block it is, whoever evicted it.
$ awk 'BEGIN { print "addr,size,kind,tid,pid"; for (i = 0; i < 20000; i++) { x = (x * 1103515245 + 12345) % 2147483648; p = int(i / 700) % 3; printf "0x%x,8,%s,%d,%d\n", int(x / 65536) % 4096 * 64, i % 3 ? "R" : "W", 10 * p + i % 2, 7 + p } }' > three.csv
$ json three.csv --l1d 4K,4,64,pid --l2 64K,8,64,pid --l2 32K,2,64,pages | field accesses misses writebacks writes_in
20000 19737 6624 0 19737 18414 6111 6624 19737 18803 6357 6624
$ reusescope sim three.csv --l1d 4K,4,64,pid --miss-trace owners.rsct -q -o /dev/null; reusescope info owners.rsct | grep filter
filter         misses of l1d=4K,4,64,lru,pid (by process)
unfiltered     20000 accesses
$ json owners.rsct --l2 64K,8,64,pid --l2 32K,2,64,pages | field accesses misses writebacks writes_in
19737 18414 6111 6624 19737 18803 6357 6624
$ reusescope sim three.csv --l1d 4K,4,64,pages --miss-trace pages.rsct -q -o /dev/null
$ reusescope sim pages.rsct --l2 64K,8,64
reusescope: this miss stream is by process (from caches with pid or pages): a cache here needs pid or pages too
[2]
$ reusescope sim pages.rsct --l2 64K,8,64,pages --sample-sets 1/4
20,000 accesses
constant bits 6-7 = 0: 6,830 accesses or parts simulated, 25 % of the sets
\
     cache                  accesses   misses    /k acc.  90 % from         to
l2   64K,8,64,lru,pages        5,106    4,752   950.4000   922.7688   978.0312
\
Estimates divide by the sets' share of all instructions (fraction-instructions).
Confidence intervals assume a random sample; constant bits are not random.
$ reusescope sim t.rsct --l1d 4K,4,64,wt,nwa --miss-trace w.rsct -q -o /dev/null; reusescope info w.rsct | grep filter
filter         misses and writes of l1d=4K,4,64,lru,wt,nwa
unfiltered     40000 accesses
$ json t.rsct --l1d 4K,4,64,wt,nwa --l2 64K,8,64 | field misses writebacks; json w.rsct --l2 64K,8,64 | field misses writebacks
27633 0 22420 6845
22420 6845

# Instruction counts give misses per instruction; lackey has them.
$ printf 'I  1000,4\n L 2000,8\nI  1004,4\n S 3000,8\n' > i.lackey
$ json i.lackey --l1i 1K,2,64 --l1d 1K,2,64 | field accesses misses mpi mpkr
2 1 0.5 250 2 2 1 500
$ reusescope sim i.lackey --l1i 1K,2,64 --l1d 1K,2,64 --per instructions | head -5
4 references, 2 instructions
\
     cache            accesses  misses    local   global     MPKI wr-backs
l1i  1K,2,64,lru             2       1     50 %     25 %  500.000        0
l1d  1K,2,64,lru             2       2    100 %     50 % 1000.000        0
$ reusescope sim i.lackey --l1d 1K,2,64 --tid 0 --per instructions
reusescope: --per instructions: those of the filtered references are not known
[2]
$ reusescope sim -q i.lackey --l1i 64,1,64 --l1d 64,1,64 --miss-trace i.rsct >/dev/null; json i.rsct --l2 1K,2,64 | field accesses mpi; json i.rsct --l2 1K,2,64 --tid 0 | field accesses mpi
3 1.5
3 None
$ for filter in "--kind RW" "--tid 0"; do echo "$(json i.lackey --l1d 1K,2,64 $filter --windows 1 | grep -o '"instructions": *[0-9]' | wc -l)"; done
3
0
$ for filter in "--kind R" "--tid 0"; do json i.lackey --l1d 1K,2,64 $filter | field mpi mpkr; done
0.5 1000
None 1000
$ reusescope sim i.lackey --l1i 1K,2,64 --l1d 1K,2,64 --per references | head -5
4 references, 2 instructions
\
     cache            accesses  misses    local   global  /k refs wr-backs
l1i  1K,2,64,lru             2       1     50 %     25 %  250.000        0
l1d  1K,2,64,lru             2       2    100 %     50 %  500.000        0

# By code where the trace has program counters.
$ printf 'kind,addr,size,pc\nR,0x1000,8,0x400000\nR,0x2000,8,0x400000\nW,0x3000,8,0x400010\nR,0x1000,8,0x400020\n' > pc.csv
$ json pc.csv --l1d 4K,4,64 --code | tee pc.json | check; grep -A4 '"code"' pc.json
 "code":[
  {"pc":"0x400000","function":null,"file":null,"line":0,"misses":{"l1d":2}},
  {"pc":"0x400010","function":null,"file":null,"line":0,"misses":{"l1d":1}}],
 "objects":[]}
$ reusescope sim pc.csv --l1d 4K,4,64 --code | tail -4
\
     code, by misses of l1d
          2   66.7 %  0x400000
          1   33.3 %  0x400010

# Machines: files by path and by name; what is given replaces theirs.
$ printf '# mine\nl1d 4K,4,64\nl2 64K,8,64,srrip\n' > my.caches
$ json t.rsct --machine ./my.caches | field config
4K,4,64,lru 64K,8,64,srrip
$ REUSESCOPE_MACHINES=. json t.rsct --machine my --l2 32K,4,64 | field config
4K,4,64,lru 32K,4,64,lru
$ json t.rsct --machine zen2 | field name config
l1i 32K,8,64,lru l1d 32K,8,64,lru l2 512K,8,64,lru l3 16M,16,64,lru
$ json t.rsct --machine ./my.caches --l1i 1K,1,64,private --coherent | field config
1K,1,64,lru,private 4K,4,64,lru,private 64K,8,64,srrip
$ reusescope sim t.rsct --machine this -q > this.txt || cat this.txt

# No accesses: zeros.
$ printf 'kind,addr\n' > empty.csv; reusescope sim empty.csv --l1d 4K,4,64 --format json -o - -q | grep -v made
{"schema":"reusescope-sim/1",
 "instructions":null,"references":0,
 "accesses":0,"warm_accesses":0,"left_out":0,"memory_reads":0,"memory_writes":0,
 "levels":[
  {"name":"l1d","config":"4K,4,64,lru","alternative":0,"accesses":0,"misses":0,"writebacks":0,"dirty_at_end":0,"mpi":null,"mpkr":null,"local_miss_ratio":null,"global_miss_ratio":null,"writes_in":0,"writes_in_missed":0,"writethroughs":0,"blocks":64,"blocks_at_end":0,"kinds":{},"estimate":null}]}

# Bad input: one line each.
$ reusescope sim t.rsct --l1i 4K,4,64 --l1d 4K,4,64,private --coherent
reusescope sim: --coherent: the first level is not private (32K,8,64,private)
[2]
$ reusescope sim t.rsct
reusescope sim: no cache is given: --l1d 32K,8,64 --l2 1M,16,64, or --machine this
[2]
$ reusescope sim --l1d 4K,4,64
reusescope sim: a trace is missing: reusescope sim TRACE --l1d 32K,8,64
[2]
$ reusescope sim t.rsct --l1d 4K
reusescope sim: --l1d 4K: not SIZE,WAYS,BLOCK[,POLICY], as 32K,8,64,lru
[2]
$ reusescope sim t.rsct --l1d 4K,3,64
reusescope sim: --l1d 4K,3,64: the size must be a multiple of ways x block = 192 bytes
[2]
$ reusescope sim t.rsct --l1d 4K,0,64
reusescope sim: --l1d 4K,0,64: the associativity must be from 1 to 65535 ways
[2]
$ reusescope sim t.rsct --l1d 4K,4,48
reusescope sim: --l1d 4K,4,48: the block size must be a power of two from 16 to 1M bytes
[2]
$ reusescope sim t.rsct --l1d 4K,4,64,mru
reusescope sim: --l1d 4K,4,64,mru: mru: not a policy (lru, random, fifo, plru, nru, srrip, brrip, drrip, opt) or another known word
[2]
$ reusescope sim t.rsct --l1d 4K,4,64,victim=0
reusescope sim: --l1d 4K,4,64,victim=0: victim=0: number out of range
[2]
$ reusescope sim t.rsct --l1d 5G,5,64,per=
reusescope sim: --l1d 5G,5,64,per=: per=: number out of range
[2]
$ reusescope sim t.rsct --l1 4K,4,64 --l1d 4K,4,64
reusescope sim: --l1 serves instructions and data: it excludes --l1i and --l1d
[2]
$ reusescope sim t.rsct --l1d 4K,4,64 --l3 4M,4,64
reusescope sim: --l3 without --l2
[2]
$ reusescope sim t.rsct --l1d 4K,4,64,inclusive
reusescope sim: --l1d cannot be inclusive: there is nothing above it
[2]
$ reusescope sim t.rsct --l1d 4K,4,64 --l2 2K,4,64,inclusive
reusescope sim: --l2 is inclusive and smaller than --l1d above it
[2]
$ reusescope sim aba.din -q --l1d 256,1,64 --l2 128,1,64 -o small.txt
$ reusescope sim aba.din --l1d 256,1,64 --l2 128,1,64 -o small.txt
reusescope: warning: --l2 is smaller than --l1d above it
$ reusescope sim aba.din --l1d 128,1,64 --l2 256,1,64 --l2 64,1,64 -o small.txt
reusescope: warning: --l2 is smaller than --l1d above it
$ reusescope sim t.rsct --l1d 4K,4,64 --window 5+0
reusescope sim: --window 5+0: the window is empty
[2]
$ reusescope sim t.rsct --l1d 4K,4,64 --window 0+0 --sample-sets 1/2
reusescope sim: --window 0+0: the window is empty
[2]
$ reusescope sim t.rsct --l1d 4K,4,64 --l2 64K,4,64 --l2 64K,4,64,inclusive
reusescope sim: an alternative --l2 cannot be inclusive: the caches above it are the primary's
[2]
$ reusescope sim t.rsct --l1d 4K,4,64 --l2 64K,4,64,private
reusescope sim: --l2 serves fewer threads than --l1d above it
[2]
$ reusescope sim t.rsct --l1d 4K,4,64 --l2 64K,4,64 --l2 64K,4,64,private
reusescope sim: --l2 serves fewer threads than --l1d above it
[2]
$ reusescope sim t.rsct --l1d 4K,4,64 --coherent
reusescope sim: --coherent: the first level is not private (32K,8,64,private)
[2]
$ reusescope sim t.rsct --l1d 4K,4,64,private,opt
reusescope sim: --l1d: opt is for a shared cache that is not inclusive and has no prefetcher or victim cache
[2]
$ reusescope sim t.rsct --l1d 12K,3,64,pid --l2 192K,3,64,pid --l2 36864,3,64,pid
reusescope sim: --l2 36864,3,64,pid: hashing with the process id needs a power of two of sets
[2]
$ reusescope sim t.rsct --l2 all:3M-4M
reusescope sim: --l2 all:3M-4M: sizes must be powers of two, the smaller first
[2]
$ reusescope sim t.rsct --l2 all:1M
reusescope sim: --l2 all:1M: not all:LOW-HIGH[,WAYS[,BLOCK]], as all:256K-64M,16,64
[2]
$ reusescope sim t.rsct --l2 all:1M-4M --l3 8M,8,64
reusescope sim: --l2 all: with --l3, a --l2 of one size is needed too
[2]
$ reusescope sim t.rsct --l1d 4K,4,64 --warm 50K
reusescope: --warm 51200: the trace has only 40000 accesses
[2]
$ reusescope sim t.rsct --l1d 4K,4,64 --warm-fill 1.5
reusescope sim: --warm-fill 1.5: not a fraction above 0 and up to 1
[2]
$ reusescope sim t.rsct --l1d 4M,4,64 --warm-fill 1
reusescope: --warm-fill 1: the trace of 40000 accesses does not fill the last level that far
[2]
$ reusescope sim t.rsct --l1d 4K,4,64 --warm 1 --warm-fill 0.5
reusescope sim: --warm and --warm-fill exclude each other
[2]
$ reusescope sim t.rsct --l1d 4K,4,64 --windows 0
reusescope sim: --windows 0: not a number from 1 up
[2]
$ reusescope sim t.rsct --l1d 4K,4,64,opt --windows 10
reusescope: opt needs two passes: it excludes windows, --warm-fill, a miss trace, code and objects
[2]
$ reusescope sim t.rsct --l1d 4K,4,64 --per instructions
reusescope: --per instructions: the trace has no instruction count
[2]
$ reusescope sim t.rsct --l1d 4K,4,64 --per page
reusescope sim: --per page: not one of instructions, references
[2]
$ reusescope sim t.rsct --l1d 4K,4,64 --format folded
reusescope sim: --format folded: not one of text, json, csv, html
[2]
$ reusescope sim t.rsct --l1d 4K,4,64 --format sarif
reusescope sim: --format sarif: not one of text, json, csv, html
[2]
$ reusescope sim t.rsct --l1d 4K,4,64,prefetch --miss-trace x.rsct
reusescope sim: --miss-trace excludes prefetch: its reads would count as misses
[2]
$ reusescope sim t.rsct --l1d 4K,4,64,nwa --miss-trace x.rsct
reusescope sim: --miss-trace: write-backs and writes of one level cannot be distinguished
[2]
$ reusescope sim t.rsct --l1d 4K,4,64,pid,per=2 --miss-trace x.rsct
reusescope sim: --miss-trace excludes per=N with pid or pages: a write-back cannot record both its process and its caches
[2]
$ reusescope sim t.rsct --l1d 4K,4,64 --miss-trace /nowhere/x.rsct
reusescope: /nowhere/x.rsct: No such file or directory
[1]
$ reusescope sim t.rsct --machine pdp11
reusescope sim: --machine pdp11: no such machine: this, a path, or NAME for NAME.caches (man reusescope-sim)
[2]
$ reusescope sim t.rsct --machine ./none.caches
reusescope: ./none.caches: No such file or directory
[1]
$ reusescope sim t.rsct --machine /dev/zero
reusescope: /dev/zero: more than 1000 lines: not a list of caches
[1]
$ printf 'l1d 4K\n' > bad.caches; reusescope sim t.rsct --machine ./bad.caches
reusescope: ./bad.caches: line 1: --l1d 4K: not SIZE,WAYS,BLOCK[,POLICY], as 32K,8,64,lru
[1]
$ printf '#\n' > none.caches; reusescope sim t.rsct --machine ./none.caches
reusescope: ./none.caches: no caches listed
[1]
$ reusescope sim t.rsct --l1d 4K,4,64 --threads 0
reusescope sim: --threads 0: not a number from 1 up
[2]
$ reusescope sim none.rsct --l1d 4K,4,64
reusescope: none.rsct: No such file or directory
[1]

# A table: a row per cache.
$ reusescope sim t.rsct --l1d 4K,4,64 --l2 64K,8,64 --l2 8K,8,64 --format csv
name,config,alternative,accesses,misses,writebacks,local_miss_ratio,global_miss_ratio,mpki,estimate,low,high
l1d,"4K,4,64,lru",0,40000,25605,7716,0.640125,0.640125,,,,
l2,"64K,8,64,lru",0,25605,22425,6840,0.8758055067,0.560625,,,,
l2,"8K,8,64,lru",1,25605,25120,7544,0.981058387,0.628,,,,
$ reusescope sim t.rsct --l1d 4K,4,64 --sample-sets 1/2 -o x.csv; cat x.csv; rm x.csv
name,config,alternative,accesses,misses,writebacks,local_miss_ratio,global_miss_ratio,mpki,estimate,low,high
l1d,"4K,4,64,lru",0,27745,20343,6132,0.7332131916,0.7332131916,,1017.15,636.1512528,1398.148747
$ reusescope sim t.rsct --l2 4K,4,64 --study sampling --format csv
reusescope sim: --format csv: not one of text, json, html
[2]

# A page.
$ reusescope sim t.rsct --l1d 4K,4,64 -o x.html; grep -c '"schema":"reusescope-sim/1"' x.html
next: xdg-open x.html   (a self-contained page)
1
$ reusescope sim t.rsct --l1d 4K,4,64 --format html -o - | grep -c '"schema":"reusescope-sim/1"'
1
$ reusescope sim t.rsct --l2 4K,4,64 --study sampling -o y.html
reusescope: --study sampling needs misses per instruction: a native trace in a file, with instruction counts
[2]
$ ls x.* y.*
ls: cannot access 'y.*': No such file or directory
x.html
[2]

# Wide numbers: a blank always separates columns.
$ python3 -c 'print("addr,size,kind\n0,1,I"); [print(f"{64 * i},1,R") for i in range(3000)]' > few.csv
$ reusescope sim few.csv --l1d 4K,4,64 -q | sed -n 4,5p
     cache            accesses  misses    local   global     MPKI wr-backs
l1d  4K,4,64,lru         3,000   3,000    100 %    100 % 3000000.000     0

# Prefetchers by parameter: 64 blocks in a row. The next three after a miss: every fourth misses. A stream: the first two miss,
# then each use of a fetched block fetches what lies ahead; falling addresses too. The last two fetch 4 past the end in all.
$ /usr/bin/python3 -c 'print(*[f"0 {64 * i:x}" for i in range(64)], sep="\n")' > up.din
$ tac up.din > down.din
$ for words in prefetch prefetch=3 stream=1 stream=4,depth=8; do json up.din --l1d 32K,8,64,$words | field accesses misses prefetches prefetches_used; done
64 32 32 32
64 16 48 48
64 2 66 62
64 2 70 62
$ json down.din --l1d 32K,8,64,stream=2 | field accesses misses prefetches prefetches_used
64 2 62 62
$ json up.din --l1d 32K,8,64,stream=2 | grep -o '"config":"[^"]*"'
"config":"32K,8,64,lru,stream=2,depth=4"
$ reusescope sim up.din --l1d 32K,8,64,stream=2,prefetch
reusescope sim: --l1d 32K,8,64,stream=2,prefetch: prefetch and stream exclude each other
[2]
$ reusescope sim up.din --l1d 32K,8,64,depth=2
reusescope sim: --l1d 32K,8,64,depth=2: depth is the distance of a stream prefetcher: it needs stream=N
[2]
$ reusescope sim up.din --l1d 32K,8,64,stream=65
reusescope sim: --l1d 32K,8,64,stream=65: stream=65: number out of range
[2]

# Where instructions are: at the fetches, in a file of any format, in windows, after --warm and in cuts.
$ awk 'BEGIN { print "addr,kind"; for (i = 0; i < 40000; i++) printf "%d,%s\n", i % 512 * 64, i < 30000 || i % 4 == 0 ? "I" : "R" }' > busy.csv
$ reusescope convert busy.csv -q -o busy.rsct; reusescope convert busy.rsct --window 5K+30K -q -o cut.rsct
$ for file in busy.csv busy.rsct; do json $file --l1 4K,4,64 --windows 10000 | tr -d ' \n' | grep -oE '"accesses":10000,"instructions":[0-9]+' | cut -d: -f3; json $file --l1 4K,4,64 --warm 35000 | grep -o '"instructions":[0-9]*'; done | xargs
10000 10000 10000 2500 instructions:1250 10000 10000 10000 2500 instructions:1250
$ for file in busy.csv busy.rsct cut.rsct; do reusescope info $file --window 24K+8K | grep instr; done
instructions   6116
instructions   6116
instructions   1764
