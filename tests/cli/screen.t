# The first screen of a profile: at most 40 lines of 80 columns, whatever file it is in.
$ export REUSESCOPE_TEST_CACHES=$PWD/caches; $SOURCE/tests/caches 32K,896K,16M caches
$ cp $SOURCE/tests/fuzz/corpus/profile/rows.json wave.json; cp wave.json reusescope.data
$ reusescope report
-- Memory reuse ----------------------------------------------------------------
 made by     exact, from trace, 250 ms
 references  77,060 by 1 thread, to 70,000 lines of 64 B (4.27 MiB)
\
 Misses  in caches of this machine's sizes
   L1d 32 KiB      93.7 %    72.2 k misses
   L2 896 KiB      93.7 %    72.2 k misses
   L3 16 MiB       90.8 %    70.0 k misses
   any size        first touches: 90.8 %
\
 Miss ratio  of a fully associative LRU cache, by its size
                                            + L1d             + L2         L3 +
  100 % +                                   :                 :               :
        |**********************************************************************
        |...................................:.................:...............:
   75 % +...................................:.................:...............:
        |...................................:.................:...............:
        |...................................:.................:...............:
   50 % +...................................:.................:...............:
        |...................................:.................:...............:
        |...................................:.................:...............:
   25 % +...................................:.................:...............:
        |...................................:.................:...............:
        |...................................:.................:...............:
    0 % ++-----------+----------+-----------+----------+-----------+----------+
       64 B        512 B      4 KiB      32 KiB     256 KiB      2 MiB   16 MiB
\
 Worst lines  of your code, by cycles lost: L2 15, L3 60, memory 250 (typical)
    cycles   share     L1d      L2      L3  where
    17.5 M  99.3 %  70.0 k  70.0 k  70.0 k  /home/u/wave/src/solver.c:71 sweep
     all its misses are first touches: streaming through new memory
     108 k   0.6 %   1,800   1,800       0  /home/u/wave/src/solver.c:88 relax
     data returns after a median of 2.45 MiB, more than L2 holds
    24.0 k   0.1 %     400     400       0  mem.c:10 copy
     8 % of references return after a median of 3.67 MiB, more than L2 holds
\
 Next  reusescope report -o report.html       one page: drag the cache size
       reusescope annotate                    source lines with their misses
       reusescope advise                      what to change
       reusescope report --full               everything that is known

# Named, it is the same but for the commands that name it.
$ reusescope report > bare; reusescope report wave.json > named; reusescope report -i wave.json | cmp - named
$ sed 's/ wave.json//' named | grep -v '^ Next\|^       reusescope' > a; grep -v '^ Next\|^       reusescope' bare | cmp - a
$ reusescope report wave.json -o t.txt; cmp t.txt named
$ tail -4 named
 Next  reusescope report wave.json -o report.html  one page: drag the cache size
       reusescope annotate wave.json          source lines with their misses
       reusescope advise wave.json            what to change
       reusescope report --full wave.json     everything that is known
$ reusescope report - < wave.json | grep -c Next
0
[1]
$ cp wave.json 'a b.json'; reusescope report 'a b.json' | grep -c Next
0
[1]

# Ranked at the largest cache that is too small, with the others beside it; or at any, by name.
$ heads() { grep -A2 '^ Worst lines'; }
$ reusescope report | heads
 Worst lines  of your code, by cycles lost: L2 15, L3 60, memory 250 (typical)
    cycles   share     L1d      L2      L3  where
    17.5 M  99.3 %  70.0 k  70.0 k  70.0 k  /home/u/wave/src/solver.c:71 sweep
$ $SOURCE/tests/caches 32K,8M,16M fit; REUSESCOPE_TEST_CACHES=$PWD/fit reusescope report | heads
 Worst lines  of your code, by cycles lost: L2 15, L3 60, memory 250 (typical)
    cycles   share     L1d      L2      L3  where
    17.5 M  99.8 %  70.0 k  70.0 k  70.0 k  /home/u/wave/src/solver.c:71 sweep
$ $SOURCE/tests/caches 8M,9M,16M large; REUSESCOPE_TEST_CACHES=$PWD/large reusescope report | heads
 Worst lines  of your code, by cycles lost: L2 15, L3 60, memory 250 (typical)
    cycles   share     L1d      L2      L3  where
    17.5 M 100.0 %  70.0 k  70.0 k  70.0 k  /home/u/wave/src/solver.c:71 sweep
$ for level in L1 l1d L2 L3; do reusescope report --at $level | heads; done
 Worst lines  of your code, by misses in L1d (32 KiB)
       L1d   share      L2      L3  where
    70.0 k  97.0 %  70.0 k  70.0 k  /home/u/wave/src/solver.c:71 sweep
 Worst lines  of your code, by misses in L1d (32 KiB)
       L1d   share      L2      L3  where
    70.0 k  97.0 %  70.0 k  70.0 k  /home/u/wave/src/solver.c:71 sweep
 Worst lines  of your code, by misses in L2 (896 KiB)
        L2   share     L1d      L3  where
    70.0 k  97.0 %  70.0 k  70.0 k  /home/u/wave/src/solver.c:71 sweep
 Worst lines  of your code, by misses in L3 (16 MiB)
        L3   share     L1d      L2  where
    70.0 k 100.0 %  70.0 k  70.0 k  /home/u/wave/src/solver.c:71 sweep
$ for level in L1d L3; do reusescope annotate wave.json --at $level 2>&1 | sed -n 2p; reusescope advise wave.json --at $level | head -2; done
   99.4 % of misses in L1d (32 KiB), 93.4 % of references
For a cache of 32 KiB:
\
   100 % of misses in L3 (16 MiB), 93.4 % of references
For a cache of 16 MiB:
\
$ reusescope report --at L3 --format folded | wc -l; reusescope report --at L4
1
reusescope report: --at L4: not a size in bytes, as 256K or 32M, nor a cache of this machine, as L2
[2]
$ reusescope diff wave.json wave.json --at L1d,L3 | grep -c 'L1d\|L3'
4

# The user's code: a library's lines count where they were inlined or called, the loader is one place, templates' arguments
# and the current folder are left out, and so is less than 0.1 %.
$ /usr/bin/python3 -c '
> import json, os
> p = json.load(open("wave.json"))
> vector = "std::vector<std::pair<int, int>, std::allocator<std::pair<int, int> > >::operator[](unsigned long)"
> for row in p["code"][:2]: row["module"] = "/home/u/wave/app"
> p["code"][1].update(function=vector, file="/usr/include/c++/12/bits/stl_vector.h",
>                     inlined=[{"function": "bool operator< <int>(Box<int> const&)", "file": os.getcwd() + "/src/box.cpp", "line": 9}])
> for row in p["code"][2:4]: row.update(function="memcpy", file="../sysdeps/memcpy.S", module="/lib/libc.so.6", inlined=[])
> p["pairs"][0]["reuse"].update(function="memcpy", file="../sysdeps/memcpy.S", module="/lib/libc.so.6")
> for row in p["code"][4:]: row.update(module="/lib64/ld-linux-x86-64.so.2", rd=[{"lo": 57344, "hi": 65535, "count": row["references"]}])
> json.dump(p, open("cpp.json", "w"))'
$ reusescope report cpp.json | sed -n '/^ Worst lines/,/^$/p'
 Worst lines  of your code, by cycles lost: L2 15, L3 60, memory 250 (typical)
    cycles   share     L1d      L2      L3  where
    17.5 M  99.3 %  70.0 k  70.0 k  70.0 k  /home/u/wave/src/solver.c:71 sweep
     all its misses are first touches: streaming through new memory
     108 k   0.6 %   1,800   1,800       0  solver.c:21 solve
     data returns after a median of 2.45 MiB, more than L2 holds
    24.0 k   0.1 %     400     400       0  ....cpp:9 bool operator< <>(Box<>...
     8 % of references return after a median of 3.67 MiB, more than L2 holds
\
$ reusescope report cpp.json --full-names --section lines | tail -n +5 | head -4
    17.5 M   99.3 %     70.0 k  100.0 %    70.0 k  ...wave/src/solver.c:71 sweep
     108 k    0.6 %      1,800   90.0 %     2,000  ../sysdeps/memcpy.S:88 memcpy
    24.0 k    0.1 %        400    8.0 %     5,000  ..._vector.h:10 std::vecto...
   +-7 (row 3): references that may belong to rows dropped from a full table.
$ reusescope report cpp.json --by function | sed -n 3,8p
    17.5 M   99.3 %    70.0 k  100.0 %    70.0 k  sweep
     108 k    0.6 %     1,800   90.0 %     2,000  memcpy
    24.0 k    0.1 %       400    8.0 %     5,000  std::vector<>::operator[](u...
     3,000   <0.1 %        50  100.0 %        50  memcpy
       600   <0.1 %        10  100.0 %        10  not known
$ reusescope report cpp.json --by function --full-names | grep vector
    24.0 k    0.1 %       400    8.0 %     5,000  std::vector<std::pair<int, ...
$ reusescope report cpp.json --by line | tail -1
     3,600   <0.1 %        60  100.0 %        60  the dynamic loader
$ /usr/bin/python3 -c '
> import json
> p = json.load(open("wave.json"))
> for row in p["code"]: row.update(file=None, line=None, inlined=[])
> for row in p["contexts"]: row.update(file=None, line=None)
> for row in p["pairs"]: row["use"].update(file=None, line=None), row["reuse"].update(file=None, line=None)
> json.dump(p, open("nodebug.json", "w"))'
$ reusescope report nodebug.json | sed -n '/^ Worst lines/,/^$/p'
 Worst lines  by cycles lost: L2 15, L3 60, memory 250 (typical)
   No source lines of the program are known: compile it with -g.
    cycles   share     L1d      L2      L3  where
    17.5 M  99.3 %  70.0 k  70.0 k  70.0 k  sweep in /usr/bin/wave
     all its misses are first touches: streaming through new memory
     108 k   0.6 %   1,800   1,800       0  relax in /usr/bin/wave
     data returns after a median of 2.45 MiB, more than L2 holds
    24.0 k   0.1 %     400     400       0  copy in /usr/bin/wave
     8 % of references return after a median of 3.67 MiB, more than L2 holds
\
$ /usr/bin/python3 -c '
> import json
> p = json.load(open("nodebug.json"))
> for row in p["code"]: row.update(module="/usr/bin/perl5.36")
> p["code"][0].update(module=None, function=None); p["code"][0].pop("offset", 0)
> json.dump(p, open("script.json", "w"))'
$ reusescope report script.json | sed -n '/^ Worst lines/,/^$/p' | head -4
 Worst lines  by cycles lost: L2 15, L3 60, memory 250 (typical)
   These are places in perl itself: the lines of your program are not seen.
    cycles   share     L1d      L2      L3  where
    17.5 M  99.3 %  70.0 k  70.0 k  70.0 k  0x1210 generated code

# Everything, or parts of it.
$ reusescope report --full | grep '^ [A-Z]'
 Reuse distance  other lines touched between two uses of a line
 Miss ratio  of a fully associative LRU cache, by its size
 Distance that covers  this share of all reuses
 In words
 Worst lines  by cycles lost: L2 15, L3 60, memory 250 (typical)
 Worst pairs  by cycles lost: L2 15, L3 60, memory 250 (typical)
 Worst objects  by cycles lost: L2 15, L3 60, memory 250 (typical)
$ reusescope report --section objects,pairs
-- Memory reuse ----------------------------------------------------------------
\
 Worst pairs  by cycles lost: L2 15, L3 60, memory 250 (typical)
    cycles    share    median distance  used, then used again
     108 k    0.6 %   40.2 k  2.45 MiB  /home/u/wave/src/solver.c:71 sweep
                                     -> /home/u/wave/src/solver.c:88 relax
                                        both called from solver.c:20 solve
    23.6 k    0.1 %   60.2 k  3.67 MiB  mem.c:10 copy
                                     -> mem.c:10 copy
   +-7 (row 2): references that may belong to rows dropped from a full table.
\
 Worst objects  by cycles lost: L2 15, L3 60, memory 250 (typical)
    cycles    share  L2 misses       size  kind    name
    17.5 M   99.3 %     70.0 k   4.27 MiB  global  grid
     108 k    0.6 %      1,797      1 MiB  heap    array allocated at solver....
   +-3 (row 2): references that may belong to rows dropped from a full table.
$ reusescope report --section phases
-- Memory reuse ----------------------------------------------------------------
\
 Phases  of the run, and their miss ratios at two cache sizes
   None in this profile.
$ reusescope report --section pairs,worst
reusescope report: --section pairs,worst: not a list of sections (reusescope help report)
[2]
$ reusescope help report | grep -A3 -e --section
      --section NAME,...      only these parts of --full: facts, distances,
                              curve, quantiles, words, lines, pairs, objects,
                              cache-lines, phases, threads, sharing,
                              false-sharing, kinds

# Two models are one screen: what differs is said.
$ { echo addr,size,kind,tid,pc; for i in $(seq 300); do echo $((64 * i)),8,W,7,0x100; echo $((64 * i + 8)),8,W,8,0x200; echo $((64 * i)),8,R,7,0x300; done; } > side.csv
$ reusescope analyze side.csv --model both | sed '/^ made by/s/,[^,]*$//'
-- Memory reuse ----------------------------------------------------------------
 command     reusescope analyze side.csv --model both
 made by     exact, from trace
 references  900 by 2 threads, to 300 lines of 64 B (18.8 KiB)
\
 Misses            one cache per thread          one cache for all threads
   L1d 32 KiB       100 %                        33.3 %
   L2 896 KiB       100 %                        33.3 %
   L3 16 MiB        100 %                        33.3 %
   any size        66.7 % first touches          33.3 % first touches
                   33.3 % lines that other threads wrote
   One L1d each misses 66.7 points more often than one for all: they write to
   each other's lines.
\
 Miss ratio  of a fully associative LRU cache, by its size
  100 % +aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
        |
        |
        |
 42.9 % +
        |bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb
        |
    0 % +
        +----------------------------------------------------------------------
       64 B           256 B          1 KiB           4 KiB         16 KiB
         a one cache per thread   b one cache for all threads
\
 Worst lines  by cycles lost: L2 15, L3 60, memory 250 (typical)
    cycles   share     L1d      L2      L3  where
    75.0 k  44.6 %     300     300     300  0x100
     all its misses are first touches: streaming through new memory
    75.0 k  44.6 %     300     300     300  0x200
     all its misses are first touches: streaming through new memory
    18.0 k  10.7 %     300     300     300  0x300
     mostly lines that another thread had written in between
\
 Next  reusescope report -o report.html       one page: drag the cache size
       reusescope annotate                    source lines with their misses
       reusescope advise                      what to change
       reusescope report --full               everything that is known
$ { echo addr,size,kind,tid; for k in 1 2 3; do for i in $(seq 400); do echo $((64 * i)),8,R,7; echo $((64 * i + 131072)),8,R,8; done; done; } > apart.csv
$ reusescope analyze apart.csv --model both | sed -n '/^ Misses/,/^$/p'
 Misses            one cache per thread          one cache for all threads
   L1d 32 KiB      33.3 %                         100 %
   L2 896 KiB      33.3 %                        33.3 %
   L3 16 MiB       33.3 %                        33.3 %
   any size        33.3 % first touches          33.3 % first touches
   Threads compete: one L1d for all misses 66.7 points more often than one each.
\
$ { echo addr,size,kind,tid; for i in 1 2 3; do echo 64,8,R,7; echo 4096,8,R,8; done; } > alike.csv
$ reusescope analyze alike.csv --model both | sed -n '/^ Misses/,/^$/p'
 Misses            one cache per thread          one cache for all threads
   L1d 32 KiB      33.3 %                        33.3 %
   L2 896 KiB      33.3 %                        33.3 %
   L3 16 MiB       33.3 %                        33.3 %
   any size        33.3 % first touches          33.3 % first touches
   One cache each and one for all miss alike.
\
$ reusescope analyze apart.csv --model both --line 64,128 | grep -c 'Memory reuse'
2

# Never longer: sampled, with error bars and notes, of requests, without a line of code, with no caches known.
$ reusescope gen mix,lines=20000,threads=4 -n 200K --seed 1 -q -o mix.rsct
$ most() { awk 'length > 80 { wide++ } END { print (NR <= 40), wide + 0 }'; }
$ for engine in exact shards:0.05 statstack aet; do reusescope analyze mix.rsct --engine $engine 2>&1 | most; done
1 0
1 0
1 0
1 0
$ reusescope analyze mix.rsct --model both -o both.data 2>&1 | most
1 0
$ printf 'addr,size\n1,100\n2,50\n1,100\n3,1000\n1,100\n2,50\n' > r.csv; reusescope analyze --requests r.csv 2>&1 | most
1 0
$ REUSESCOPE_TEST_CACHES=/nowhere reusescope report both.data 2>&1 | most
1 0
$ : > empty.csv; echo addr > empty.csv; reusescope analyze empty.csv 2>&1 | most
1 0
$ /usr/bin/python3 -c 'import json; p = json.load(open("wave.json")); p["made"].update(instructions=900000, sampling="some"); [at.update(low=at["miss_ratio"] * 0.9) for at in p["mrc"]]; json.dump(p, open("bars.json", "w"))'
$ reusescope report bars.json | most; reusescope report bars.json | grep MPKI
1 0
   L1d 32 KiB      93.7 % (84.3 % to 93.7 %)  72.2 k misses, 80.2 MPKI
   L2 896 KiB      93.7 % (84.3 % to 93.7 %)  72.2 k misses, 80.2 MPKI
   L3 16 MiB       90.8 % (81.8 % to 90.8 %)  70.0 k misses, 77.8 MPKI
$ reusescope run -- true 2>&1 | most
1 0

# A command that does not fit ends in dots; one that does keeps its last word.
$ reusescope analyze ./././././././././././mix.rsct -q --threads 1; reusescope report | grep '^ command'
 command     reusescope analyze ./././././././././././mix.rsct -q --threads 1
$ reusescope analyze ./././././././././././././././././mix.rsct -q --threads 1; reusescope report | grep '^ command'
 command     reusescope analyze ./././././././././././././././././mix.rsct -q...

# A bar that says next to nothing is put in words, with what to do.
$ reusescope gen uniform,lines=3K -n 20000 -q -o few.rsct; reusescope analyze few.rsct --engine shards:0.002 -q -o few.data; reusescope report few.data | grep -c "says next to nothing"
1
$ reusescope analyze few.rsct -q -o all.data; reusescope report all.data | grep -c "says next to nothing"
0
[1]

# A fall is the whole of a fall: 1000 lines at random miss less and less until all fit.
$ reusescope gen uniform,lines=1000 -n 100000 -q -o gradual.rsct; reusescope analyze gradual.rsct -q; reusescope report --section words --color never | grep -A1 steeply
 - Beyond 4 KiB the miss ratio falls most steeply between 44.9 KiB and 61.5 KiB:
   from 28.5 % to 2.52 %.

# What was asked for is on the screen; where nothing is known of two models they are not alike.
$ reusescope gen zipf,lines=4K,threads=4,write=0.1 -n 20K -q -o four.rsct
$ reusescope analyze four.rsct --top-lines 2,32K | grep -A1 'Worst cache lines'
 Worst cache lines
    misses    share      refs             address  in
$ reusescope analyze four.rsct --phases 2 | grep -c -E '^ Phases|^ +[12] +10.2 k'
3
$ reusescope analyze four.rsct --model both --max-distance 4 | grep -c -E 'alike|misses .* more often'
0
[1]

# Threads are those that made references: others have numbers only.
$ reusescope gen -q uniform,lines=1K,threads=4 -n 1K -o four4.rsct
$ reusescope analyze four4.rsct --tid 2 | grep '^ references' | cut -d, -f1
 references  151 by 1 thread
$ reusescope analyze four4.rsct | grep '^ references' | sed 's/.*by//; s/,.*//'
 4 threads
