# advise: what to change, with evidence.
$ export REUSESCOPE_TEST_CACHES=$PWD/caches; $SOURCE/tests/caches 32K,1M,16M caches
$ cp $SOURCE/tests/fuzz/corpus/profile/rows.json wave.json
$ reusescope advise wave.json --at 896K
For a cache of 896 KiB:
\
 Most misses are first touches  [cold]
   seen: 97 % of misses are first touches of memory (4.27 MiB in all), which no
         cache avoids. Most of it is grid.
   try:  Touch less memory: reuse buffers, use smaller types, merge the step
         that produces data with the one that uses it. Stream in order, so that
         the prefetcher works, and use huge pages.
   sure: high; every reference was counted.
\
 Little of each line is used  [line-use]
   seen: solver.c:71 causes 97 % of misses; each 64 B line it fetches serves
         only 1.00 references.
   try:  Access memory in storage order (interchange the loops, or transpose the
         data), or store data that is used together side by side: one array per
         field instead of an array of whole records.
   gain: Up to 61.2 k misses in 896 KiB, 61.2 k in L1d, 61.2 k in L2, 61.2 k in
         L3; they wait about 15.3 M cycles.
   sure: medium; every reference was counted; strides are not known.
$ reusescope advise wave.json --at 896K -o wave.advice.json && python3 -c 'import json; print([a["rule"] for p in json.load(open("wave.advice.json"))["profiles"] for a in p["advice"]])'
['cold', 'line-use']

# A working set that just does not fit, and one that does.
$ reusescope gen cyclic,lines=20K -n 400K -q -o t.rsct && reusescope analyze t.rsct -q
$ reusescope advise --at 1M
For a cache of 1 MiB:
\
 The working set just does not fit  [cache-cliff]
   seen: 256 KiB more cache than 1 MiB would remove 95 % of the misses: the miss
         ratio falls from 100 % to 5 % at 1.25 MiB.
   try:  Make the data that is used repeatedly 256 KiB smaller: smaller blocks,
         smaller types, no unused fields. Or run it on a machine with a cache of
         1.25 MiB.
   gain: Up to 389 k misses in 1 MiB.
   sure: high; every reference was counted.
$ reusescope advise --at 2M
For a cache of 2 MiB:
\
 Most misses are first touches  [cold]
   seen: 100 % of misses are first touches of memory (1.25 MiB in all), which no
         cache avoids.
   try:  Touch less memory: reuse buffers, use smaller types, merge the step
         that produces data with the one that uses it. Stream in order, so that
         the prefetcher works, and use huge pages.
   sure: high; every reference was counted.

# Pairs whose loops are known: two loops, one that steps over lines, one that comes back to all its data.
$ cp $SOURCE/tests/fuzz/corpus/profile/loops.json loops.json
$ reusescope advise loops.json --at 64K
For a cache of 64 KiB:
\
 Two loops go over the same data  [fusion]
   seen: 28.6 % of misses are lines of grid (wave.c:3) that the loop at
         wave.c:20 (first) uses (at wave.c:21) and the loop at
         wave.c:30 (second) uses again (at wave.c:31) after a median of 20.1 k
         other lines (1.23 MiB). Both run inside the loop at wave.c:10 (main).
   try:  Fuse the two loops, so that the second use comes right after the first;
         or run both block by block, with blocks of less than 64 KiB. It helps
         in caches of less than 1.23 MiB.
   gain: Up to 40.0 k misses in 64 KiB, 40.0 k in L1d, 40.0 k in L2; they wait
         about 2.40 M cycles.
   sure: high; every reference was counted.
\
 A loop steps over whole lines  [interchange]
   seen: 21.4 % of misses: wave.c:42 comes back to a line of heap block
         allocated at wave.c:60 (main) only after a median of 20.1 k other lines
         (1.23 MiB). The stride in the loop at wave.c:41 (columns) is 4 KiB
         (99 % of the steps seen): at most 8 bytes of each 64 B line are used
         before it is left.
   try:  Interchange it with the loop at wave.c:40 (columns), so that the next
         iteration uses the next bytes of the line; or transpose the data, so
         that data used together is side by side. It helps in caches of less
         than 1.23 MiB.
   gain: Up to 26.2 k misses in 64 KiB, 26.2 k in L1d, 26.2 k in L2; they wait
         about 1.57 M cycles.
   sure: high; every reference was counted; 99 % of 1,000 steps are alike.
\
 A loop comes back to all its data  [tiling]
   seen: 21.4 % of misses: the loop at wave.c:51 (rows) goes through its data of
         heap block allocated at wave.c:60 (main) in order, and wave.c:52 comes
         back to a line only after a median of 20.1 k other lines (1.23 MiB), in
         a later iteration of the loop at wave.c:50 (rows).
   try:  Cut it into tiles of less than 64 KiB, and do all the work of the loop
         around it on one tile before going on to the next. It helps in caches
         of less than 1.23 MiB.
   gain: Up to 30.0 k misses in 64 KiB, 30.0 k in L1d, 30.0 k in L2; they wait
         about 1.80 M cycles.
   sure: high; every reference was counted; 99 % of 1,000 steps are alike.
$ reusescope advise loops.json --at 2M
For a cache of 2 MiB:
\
 Most misses are first touches  [cold]
   seen: 100 % of misses are first touches of memory (2.44 MiB in all), which no
         cache avoids.
   try:  Touch less memory: reuse buffers, use smaller types, merge the step
         that produces data with the one that uses it. Stream in order, so that
         the prefetcher works, and use huge pages.
   sure: high; every reference was counted.
$ reusescope advise loops.json --at 64K --format json | python3 -c 'import json, sys; [print(a["rule"], a["loop"] and a["loop"]["line"], a["pays_below_bytes"], [(q["use"]["line"], q["reuse"]["line"], q["median_lines"], q["object"]) for q in a["pairs"]]) for a in json.load(sys.stdin)["profiles"][0]["advice"]]'
fusion 10 1292672 [(21, 31, 20096, 'grid (wave.c:3)')]
interchange 41 1292672 [(42, 42, 20096, 'heap block allocated at wave.c:60 (main)')]
tiling 51 1292672 [(52, 52, 20096, 'heap block allocated at wave.c:60 (main)')]
# A report names the loop around both ends.
$ reusescope report loops.json --full --at 56K | sed -n '/Worst pairs/,/^$/p'
 Worst pairs  by misses in a cache of 56 KiB
    misses    share    median distance  used, then used again
    40.0 k   28.6 %   20.1 k  1.23 MiB  wave.c:21 first
                                     -> wave.c:31 second
                                        both in the loop wave.c:10 main
    30.0 k   21.4 %   20.1 k  1.23 MiB  wave.c:52 rows
                                     -> wave.c:52 rows
                                        both in the loop wave.c:51 rows
    30.0 k   21.4 %   20.1 k  1.23 MiB  wave.c:42 columns
                                     -> wave.c:42 columns
                                        both in the loop wave.c:41 columns

# Two models of a run: what holds for both is said once.
$ /usr/bin/python3 -c '
> import json
> p = json.load(open("wave.json"))
> two = [dict(p, made=dict(p["made"], model=m, threads=2)) for m in ("private", "shared")]
> json.dump({"schema": "reusescope-profiles/1", "profiles": two}, open("models.json", "w"))'
$ reusescope advise models.json --at 896K | grep -v "^  "
Profile 1 (one cache per thread): For a cache of 896 KiB:
\
 Most misses are first touches  [cold]
\
 Little of each line is used  [line-use]
\
Profile 2 (one cache for all threads): For a cache of 896 KiB:
\
 The same as before.

# What makes no sense.
$ reusescope advise none.json
reusescope: none.json: No such file or directory
[1]
$ reusescope advise wave.json more.json
reusescope advise: more than one profile: more.json
[2]
$ reusescope advise wave.json --format html
reusescope advise: --format html: not one of text, json
[2]
$ reusescope advise wave.json --at big
reusescope advise: --at big: not a size in bytes, as 256K or 32M, nor a cache of this machine, as L2
[2]
