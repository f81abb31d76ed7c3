# sim: TLBs, sectors and up to six levels, worked out by hand; each against a model in property_sim.
$ json() { reusescope sim "$@" -q --format json -o -; }
$ check() { /usr/bin/python3 $SOURCE/tests/sim_check.py $SOURCE/docs/schema/sim.schema.json -; }
$ field() { /usr/bin/python3 -c 'import json,sys; d=json.load(sys.stdin); print(*[l.get(k, 0) for l in d["levels"] for k in sys.argv[1:]])' "$@"; }
$ pages() { /usr/bin/python3 -c 'import json,sys; [print(p["page"], p["walks"], *[(t["name"], t["accesses"], t["misses"]) for t in p["tlbs"]]) for p in json.load(sys.stdin)["pages"]]'; }

# 65 pages of 4 KiB, ten times around: 64 entries of LRU never hit; a second level of 128 misses each page once; all of it
# lies in one page of 2 MiB.
$ awk 'BEGIN { for (i = 0; i < 650; i++) printf "0 %x\n", i % 65 * 4096 }' > around.din
$ json around.din --dtlb 64,64,4K | tee tlb.json | check; pages < tlb.json
4096 650 ('dtlb', 650, 650)
$ json around.din --dtlb 64,64,4K+2M --tlb2 128,8,4K --l1d 32K,8,64 | tee tlb.json | check; pages < tlb.json; field misses < tlb.json
4096 65 ('dtlb', 650, 650) ('tlb2', 650, 65)
2097152 1 ('dtlb', 650, 1)
650
$ reusescope sim around.din --dtlb 64,64,4K --dtlb 4,4,1G --tlb2 128,8,4K
650 references
\
       TLB, 4 KiB pages  lookups  misses    local  /k refs
dtlb   64,64,4K,lru          650     650    100 % 1000.000
tlb2   128,8,4K,lru          650      65     10 %  100.000
       page walks                     65           100.000
\
       TLB, 1 GiB pages  lookups  misses    local  /k refs
dtlb   4,4,1G,lru            650       1   0.15 %    1.538
       page walks                      1             1.538
$ reusescope sim around.din -q --dtlb 64,64,4K --tlb2 128,8,4K --format csv -o -
name,config,alternative,accesses,misses,writebacks,local_miss_ratio,global_miss_ratio,mpki,estimate,low,high
dtlb,"64,64,4K,lru",0,650,650,0,1,1,,,,
tlb2,"128,8,4K,lru",0,650,65,0,0.1,0.1,,,,

# An access across two pages looks up both; fetches have a TLB of their own; --warm fills it without counting.
$ printf 'addr,size,kind\n0xffd,4,W\n0x1000,4,I\n0x1ffe,4,I\n0x2000,4,R\n' > cross.csv
$ json cross.csv --itlb 4,4,4K --dtlb 4,4,4K | pages
4096 5 ('itlb', 3, 2) ('dtlb', 3, 3)
$ json cross.csv --tlb 4,4,4K --warm 2 | pages
4096 1 ('tlb', 3, 1)

# The TLBs of a machine, with --pages; one given separately replaces those of its name.
$ json around.din --machine skylake-x --pages 4K,2M,1G | pages
4096 65 ('itlb', 0, 0) ('dtlb', 650, 110) ('tlb2', 110, 65)
2097152 1 ('itlb', 0, 0) ('dtlb', 650, 1) ('tlb2', 1, 1)
1073741824 1 ('dtlb', 650, 1) ('tlb2', 1, 1)
$ json around.din --machine zen2 --pages 4K --dtlb 16,4,4K | pages
4096 65 ('itlb', 0, 0) ('dtlb', 650, 650) ('itlb2', 0, 0) ('dtlb2', 650, 65)
$ json around.din --machine zen2 | grep -c pages
0
[1]

# What makes no sense.
$ reusescope sim around.din --dtlb 64,4,5K
reusescope sim: --dtlb 64,4,5K: pages are powers of two from 4K to 1G, as 4K or 4K+2M
[2]
$ reusescope sim around.din --dtlb 63,4,4K
reusescope sim: --dtlb 63,4,4K: entries (up to 16M) must be a multiple of the ways (up to 65535)
[2]
$ reusescope sim around.din --dtlb 64,4,4K,opt
reusescope sim: --dtlb 64,4,4K,opt: opt: not a policy (lru, random, fifo, plru, nru, srrip, brrip, drrip), private, per=N or shared
[2]
$ reusescope sim around.din --dtlb 64
reusescope sim: --dtlb 64: not ENTRIES,WAYS,PAGE[+PAGE...][,POLICY], as 1536,12,4K+2M
[2]
$ reusescope sim around.din --dtlb 64,4,4K --tlb 64,4,4K+2M
reusescope sim: --dtlb and --tlb hold pages of 4K for the same accesses
[2]
$ reusescope sim around.din --dtlb 64,4,4K --pages 2M
reusescope sim: --pages 2M: no TLB for pages of that size is given: --dtlb 64,4,2M
[2]
$ reusescope sim around.din --pages 3K
reusescope sim: --pages 3K: pages are powers of two from 4K to 1G, as 4K,2M
[2]
$ reusescope sim around.din --l1d 32K,8,64 --dtlb 64,4,4K --sample-sets 1/4
reusescope sim: --pages or a TLB cannot be used with samples
[2]

# Sectors of 16 bytes in one block of 64: a miss of the block, of a sector, a hit, a sector. Then two sectors are written;
# the next block evicts them, each a write-back of its own.
$ printf '0 0\n0 10\n0 4\n0 30\n' > sectors.din
$ json sectors.din --l1d 64,1,64,sector=16 | tee s.json | check; field misses sector_misses writebacks blocks_at_end < s.json; grep -o '"memory.*' s.json
3 2 0 1
"memory_reads":3,"memory_writes":0,
$ printf '1 0\n1 30\n0 40\n0 0\n' | reusescope sim - --l1d 64,1,64,sector=16 --l2 1K,4,64
4 references
\
     cache                 accesses  misses    local   global  /k refs wr-backs
l1d  64,1,64,lru,sector=16        4       4    100 %    100 % 1000.000        2
l2   1K,4,64,lru                  4       2     50 %     50 %  500.000        0
\
     misses by kind
l1d  2 of 2 reads, 2 of 2 writes; 1 found the block without the sector
l2   1 of 2 reads, 1 of 2 writes
$ reusescope sim sectors.din --l1d 64,1,64,sector=64
reusescope sim: --l1d 64,1,64,sector=64: a sector must be 1/2, 1/4 ... 1/64 of a block
[2]
$ reusescope sim sectors.din --l1d 64,1,64,sector=16,victim=4
reusescope sim: --l1d 64,1,64,sector=16,victim=4: sector excludes victim, buffer and opt
[2]
$ reusescope sim sectors.din --l1d 64,1,64,sector=16 --classes
reusescope: --classes: misses of sectors have no classes
[2]
$ reusescope sim sectors.din --l1d 64,1,64,sector=16 --sample-time 3,2
reusescope sim: what a set holds at the start of an interval is estimated by whole blocks: with sector, --sample-sets or --cold-start cold, stitch or warm
[2]

# A miss of a sector fetches the next block whole, so that its four sectors hit; a block that is there in part is left alone.
$ printf '0 0\n0 40\n0 50\n0 60\n0 70\n0 10\n0 90\n' > ahead.din
$ json ahead.din --l1d 256,4,64,sector=16,prefetch --l2 1K,4,64 | field accesses misses sector_misses prefetches prefetches_used
7 3 1 2 1 3 2 0 0 0
$ reusescope sim sectors.din --l1d 64,1,64,sector=16,private --coherent
reusescope sim: --l1d: --coherent does not support prefetch, stream, victim, buffer, sector or private alternatives
[2]

# Four blocks in turn, three times: one block and two are too few, four are enough; the levels below see each once.
$ awk 'BEGIN { for (i = 0; i < 12; i++) printf "0 %x\n", i % 4 * 64 }' > four.din
$ json four.din --l1d 64,1,64 --l2 128,2,64 --l3 256,4,64 --l4 512,4,64 --l5 1K,4,64 --l6 2K,4,64 | tee l.json | check; field accesses misses < l.json
12 12 12 12 12 4 4 4 4 4 4 4
$ reusescope sim four.din --l1d 64,1,64 --l2 128,2,64 --l4 512,4,64
reusescope sim: --l4 without --l3
[2]
$ json four.din --l1d 64,1,64 --l2 128,2,64 --l3 all:128-256,4,64 | field config misses
64,1,64,lru 12 128,2,64,lru 12 128,1,64,lru 12 128,2,64,lru 12 256,1,64,lru 4 256,2,64,lru 4 256,4,64,lru 4

# Fetches without a TLB of their own look in the second level, which data that miss the first change: 0x1000 was driven out of
# it, and data did not use it before.
$ printf 'addr,kind\n0x1000,I\n0x2000,R\n0x3000,R\n0x1000,I\n0x1000,R\n' > apart.csv
$ json apart.csv --dtlb 1,1,4K --tlb2 2,2,4K | pages
4096 4 ('dtlb', 3, 3) ('tlb2', 5, 4)
