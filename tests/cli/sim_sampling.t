# Samples of sets and of time. A trace with fetches, which count as instructions.
$ reusescope gen mix,lines=8K,write=0.3 -n 40K --seed 5 -q -o data.din
$ awk '{ printf "2 %x\n%s\n", 4194304 + NR * 4 % 3000, $0 }' data.din > t.din; reusescope convert t.din -q -o t.rsct
$ reusescope info t.rsct | grep -E 'accesses|instructions'
accesses       81920
instructions   40960

$ pick() { /usr/bin/python3 -c "import json, sys; d = json.load(sys.stdin); l = d['levels'][0] if 'levels' in d else d['caches'][0]; e = l.get('estimate'); print($1)"; }

# The whole, and each value of constant bits in turn: the same.
$ reusescope sim t.rsct --l1i 4K,1,32 --l1d 4K,1,32 --l2 64K,2,64
81,920 references, 40,960 instructions
\
     cache            accesses  misses    local   global     MPKI wr-backs
l1i  4K,1,32,lru        41.0 k      94   0.23 %   0.11 %    2.295        0
l1d  4K,1,32,lru        41.0 k  31.0 k   75.7 %   37.8 %  756.567    9,050
l2   64K,2,64,lru       31.1 k  16.3 k   52.3 %   19.8 %  396.899    5,015
\
     misses by kind
l1i  94 of 41.0 k fetches
l1d  22.2 k of 31.4 k reads, 8,769 of 9,598 writes
l2   11.3 k of 22.2 k reads, 4,951 of 8,769 writes, 47 of 94 fetches
$ reusescope sim t.rsct --l1i 4K,1,32 --l1d 4K,1,32 --l2 64K,2,64 --sample-sets 1/4,bits:6-7=all
81,920 accesses, 40,960 instructions
constant bits 6-7, each value in turn: 81,920 accesses or parts simulated, 100 % of the sets
\
     cache                  accesses   misses       MPKI  90 % from         to
l1i  4K,1,32,lru              41.0 k       94     2.2949     2.2949     2.2949
l1d  4K,1,32,lru              41.0 k   31.0 k   756.5674   756.5674   756.5674
l2   64K,2,64,lru             31.1 k   16.3 k   396.8994   396.8994   396.8994
\
l1i: each sample's estimate (* 1000) and its error:
    0    2.3438   +2.1 %       1    2.3438   +2.1 %       2    2.3438   +2.1 %
    3    2.1484   -6.4 %
  4 of 4 within 10 %; coefficient of variation 3.7 %; variance of random samples over theirs 6.29
\
l1d: each sample's estimate (* 1000) and its error:
    0  748.9258   -1.0 %       1  763.3789   +0.9 %       2  765.4297   +1.2 %
    3  748.5352   -1.1 %
  4 of 4 within 10 %; coefficient of variation 1.0 %; variance of random samples over theirs 86.11
\
l2: each sample's estimate (* 1000) and its error:
    0  401.5625   +1.2 %       1  392.9688   -1.0 %       2  397.0703   +0.0 %
    3  395.9961   -0.2 %
  4 of 4 within 10 %; coefficient of variation 0.8 %; variance of random samples over theirs 1.60
\

# One value, random sets, and a fraction that finds its bits itself.
$ reusescope sim t.rsct --l1i 4K,1,32 --l1d 4K,1,32 --l2 64K,2,64 --sample-sets 1/4,bits:6-7=2
reusescope: warning: l1i: misses by set are too skewed for its interval to hold (34 sets would be needed)
81,920 accesses, 40,960 instructions
constant bits 6-7 = 2: 20,965 accesses or parts simulated, 25 % of the sets
\
     cache                  accesses   misses       MPKI  90 % from         to
l1i  4K,1,32,lru              10.4 k       24     2.3438     1.9869     2.7006
l1d  4K,1,32,lru              10.6 k    7,838   765.4297   634.8133   896.0461
l2   64K,2,64,lru              7,862    4,066   397.0703   390.2346   403.9061
\
l1i by sampled-instructions, which is less precise: 2.3139
l1d by sampled-instructions, which is less precise: 755.6884
l2 by sampled-instructions, which is less precise: 392.0170
Estimates divide by the sets' share of all instructions (fraction-instructions).
Confidence intervals assume a random sample; constant bits are not random.
$ reusescope sim -q t.rsct --l2 64K,2,64 --sample-sets 1/16,random:3
81,920 accesses, 40,960 instructions
random sets (seed 3): 5,906 accesses or parts simulated, 6.25 % of the sets
\
     cache                  accesses   misses       MPKI  90 % from         to
l2   64K,2,64,lru              5,906    1,056   412.5000   390.7732   434.2268
\
l2 by sampled-instructions, which is less precise: 301.3699
Estimates divide by the sets' share of all instructions (fraction-instructions).
$ reusescope sim -q t.rsct --l2 64K,2,64 --sample-sets 1/16,random:4 --confidence 99 | head -6
81,920 accesses, 40,960 instructions
random sets (seed 4): 3,203 accesses or parts simulated, 6.25 % of the sets
\
     cache                  accesses   misses       MPKI  99 % from         to
l2   64K,2,64,lru              3,203    1,006   392.9688   367.1425   418.7950
\
$ reusescope sim -q t.rsct --l2 64K,2,64 --sample-sets 1/16 --format json -o - | pick "e['method'], e['how'], e['fraction'], e['cold_start'], e['confidence'], e['observations'], e['population'], e['low'] <= e['mpi'] <= e['high']"
sets constant bits 6-9 = 0 0.0625 None 90 32 512 True

# A filtered trace is a sample, asked for or not, for every cache that indexes with its bits.
$ reusescope convert t.rsct --sample-sets 1/4,bits:6-7=2 -q -o s.rsct; reusescope info s.rsct | grep -E 'filter|unfiltered'
filter         sets=6-7=2
unfiltered     81920 accesses
$ reusescope sim -q s.rsct --l1i 4K,1,32 --l1d 4K,1,32 --l2 64K,2,64 | grep l2
l2   64K,2,64,lru              7,862    4,066   397.0703   390.2346   403.9061
$ reusescope sim -q s.rsct --l2 256K,4,32,srrip --format json -o - | pick "e['how'], e['fraction']"
constant bits 6-7 = 2 0.25
$ cat s.rsct | reusescope sim -q - --l2 64K,2,64 | sed -n 2p
constant bits 6-7 = 2: 20,965 accesses or parts simulated, 25 % of the sets
$ reusescope sim s.rsct --l2 64K,2,128
reusescope: a sample by bits 6-7 does not fit l2: bits below 7 are inside its blocks
[2]
$ reusescope sim s.rsct --l2 32K,1,64,pid
reusescope: a sample by bits 6-7 does not fit l2 beyond bit 6: its upper eight index bits are hashed with the process id
[2]
$ reusescope sim s.rsct --l2 1M,16,64,drrip
reusescope: l2 cannot be sampled by sets: drrip's set dueling makes its sets dependent (sample time instead)
[2]
$ reusescope sim s.rsct --l2 64K,2,64,prefetch
reusescope: l2 cannot be sampled by sets: its prefetches fill other sets than the one that missed (sample time instead)
[2]
$ reusescope sim s.rsct --l2 64K,2,64,victim=4
reusescope: l2 cannot be sampled by sets: all its sets share a victim cache (sample time instead)
[2]
$ reusescope sim s.rsct --l2 64K,2,64,buffer=4
reusescope: l2 cannot be sampled by sets: all its sets share a write buffer (sample time instead)
[2]
$ reusescope sim s.rsct --l2 64K,2,64 --sample-sets 1/4
reusescope: this trace is already a sample of sets (sets=6-7=2): --sample-sets cannot be used
[2]
$ reusescope sim s.rsct --l2 64K,2,64 --sample-time 5,1K
reusescope: this trace is a sample of sets (sets=6-7=2): time sampling needs the whole trace
[2]
$ reusescope sim t.rsct --l2 64K,2,64,pages --sample-sets 1/16,bits:9-12
reusescope: a sample by bits 9-12 does not fit l2 beyond bit 11: its bits above the page offset are translated
[2]
$ reusescope convert s.rsct --window 0+1000 -q -o w.rsct; reusescope sim w.rsct --l2 64K,2,64
reusescope: this sample of sets was cut by another filter (sets=6-7=2, then window=0+1000): accesses to its sets are missing
[2]

# Bad choices of sets.
$ reusescope sim t.rsct --l2 64K,2,64 --sample-sets 1/16,bits:6-8
reusescope sim: --sample-sets 1/16,bits:6-8: 3 constant bits take 1/8 of the sets
[2]
$ reusescope sim t.rsct --l2 64K,2,64 --sample-sets 1/10
reusescope sim: --sample-sets 1/10: constant bits take 1/2, 1/4, 1/8 ... of the sets; only random takes other fractions
[2]
$ reusescope sim t.rsct --l2 64K,2,64 --sample-sets half
reusescope sim: --sample-sets half: not a fraction of 1/2 or less, as 1/16 or 1/16,random or 1/16,bits:8-11=3
[2]
$ reusescope sim t.rsct --l2 64K,2,64 --sample-sets 1/16,bits:5-8
reusescope: a sample by bits 5-8 does not fit l2: bits below 6 are inside its blocks
[2]
$ reusescope sim t.rsct --l2 64K,2,64 --sample-sets 1/4096
reusescope: --sample-sets 1/4096 needs 12 bits that every cache indexes with; there are 9 (bits 6-14)
[2]
$ reusescope sim t.rsct --l2 64K,1024,64 --sample-sets 1/2
reusescope: no address bit is in the index of every cache: blocks take bits 0-5, and l2 has none from bit 6 on: its index ends there
[2]
$ reusescope convert t.rsct --sample-sets 1/4 -o x.rsct
reusescope convert: --sample-sets: convert needs the bits and one value, as 1/16,bits:8-11=3
[2]
$ reusescope convert t.rsct --sample-sets 1/4,bits:6-7=1 --kind R -o x.rsct
reusescope convert: --sample-sets cannot be combined with other filters: filter first, then take the sample
[2]
$ reusescope convert t.rsct --sample-sets 1/4,bits:6-7=1 -o x.din
reusescope convert: --sample-sets: only a native trace (.rsct) can record its sample
[2]

# Samples of time. What a method says; fewer than 30 intervals are too few; short ones are marked.
$ reusescope sim t.rsct --l1d 4K,1,32 --l2 64K,2,64 --sample-time 4,4K
reusescope: warning: 4 intervals: fewer than 30 are too few for reliable confidence intervals
reusescope: warning: l2: unreliable: in 3 of 4 intervals less than half the cache is loaded, or most misses are cold-start misses
81,920 accesses, 40,960 instructions
4 systematic intervals of 4096 instructions, initmr: 32,768 accesses simulated, 40 % of the instructions
\
     cache                  accesses   misses       MPKI  90 % from         to
l1d  4K,1,32,lru              16.4 k   12.3 k   736.8414   573.9509   899.7318
l2   64K,2,64,lru             12.3 k    6,196   348.6093     0.0000   767.6332
\
l1d: 75 % of it loaded in an interval
l2: 58 % of it loaded in an interval; UNRELIABLE: 3 of 4 intervals too short (about 32.8 k instructions needed)
Intervals around estimates exclude cold-start bias, and need 30 intervals or more.
$ for start in cold half prime stitch initmr warm; do reusescope sim -q t.rsct --l2 16K,2,64 --sample-time 30,1K --cold-start $start | grep l2 | head -1; done
l2   16K,2,64,lru             61.4 k   16.2 k   528.6458   466.0229   591.2687
l2   16K,2,64,lru             61.4 k   16.2 k   513.9974   449.9185   578.0763
l2   16K,2,64,lru             61.4 k   16.2 k   406.2404   343.3878   469.0930
l2   16K,2,64,lru             61.4 k   14.8 k   482.2266   414.9222   549.5309
l2   16K,2,64,lru             61.4 k   16.2 k   500.6721   435.1618   566.1825
l2   16K,2,64,lru             61.4 k   14.7 k   477.8971   410.0032   545.7911
$ reusescope sim -q t.rsct --l2 16K,2,64 --sample-time 30,1K,random:2 --format json -o - | pick "e['method'], e['how'], e['cold_start'], e['excludes'], e['observations'], e['population'], e['unreliable'], len(e['intervals'])"
time 30 random intervals of 1024 instructions initmr cold-start bias 30 40 14 30
$ reusescope sim -q t.rsct --l2 16K,2,64 --sample-time 30,2K,accesses --cold-start warm --format json -o - | pick "l['mpi'], e['per'], e['excludes']"
None access None

# A whole trace as one interval of what it was taken from.
$ reusescope sim -q t.rsct --l2 16K,2,64 --cold-start initmr
81,920 accesses, 40,960 instructions
the whole trace as one interval, initmr: 81,920 accesses simulated, 100 % of the instructions
\
     cache                  accesses   misses       MPKI  90 % from         to
l2   16K,2,64,lru             81.9 k   19.5 k   474.6163        n/a        n/a
\
l2: 100 % of it loaded in an interval
$ cat t.din | reusescope sim -q - --l2 16K,2,64 --cold-start prime | grep l2
l2   16K,2,64,lru             81.9 k   19.5 k   480.9095        n/a        n/a
l2: 100 % of it loaded in an interval
$ reusescope sim t.rsct --l2 16K,2,64 --cold-start warm
reusescope: --cold-start warm needs --sample-time: nothing precedes a whole trace
[2]
$ reusescope sim t.din --l2 16K,2,64 --cold-start half
reusescope: --cold-start half needs a native trace in a file: the length of this one is not known
[1]

# Bad intervals.
$ reusescope sim t.rsct --l2 16K,2,64 --sample-time 0,1K
reusescope sim: --sample-time 0,1K: N and LEN must be at least 1
[2]
$ reusescope sim t.rsct --l2 16K,2,64 --sample-time 30
reusescope sim: --sample-time 30: not N,LEN[,systematic|random[:SEED]][,accesses], as 30,10M
[2]
$ reusescope sim t.rsct --l2 16K,2,64 --sample-time 30,1G
reusescope: --sample-time: 30 intervals of 1073741824 instructions do not fit in a trace of 40960
[2]
$ reusescope sim t.rsct --l2 16K,2,64 --sample-time 30,1K,sometimes
reusescope sim: --sample-time 30,1K,sometimes: after N,LEN: systematic, random[:SEED], instructions or accesses
[2]
$ reusescope sim t.din --l2 16K,2,64 --sample-time 30,1K
reusescope: --sample-time needs a native trace in a file, whose length is known: reusescope convert
[1]
$ reusescope convert data.din -q -o n.rsct; reusescope sim n.rsct --l2 16K,2,64 --sample-time 30,1K
reusescope: this trace has no instruction counts: give the intervals in accesses (--sample-time 30,1024,accesses)
[2]
$ reusescope sim t.rsct --l2 16K,2,64 --sample-time 30,1K --cold-start tepid
reusescope sim: --cold-start tepid: not one of cold, half, prime, stitch, initmr, warm
[2]
$ reusescope sim t.rsct --l2 16K,2,64 --sample-time 30,1K --confidence 100
reusescope sim: --confidence 100: not a percentage from 50 to 99.99
[2]
$ reusescope sim t.rsct --l2 16K,2,64 --confidence 95
reusescope sim: --confidence needs --sample-sets or --sample-time
[2]
# The instructions are those of all threads and references: none of a part, in samples too.
$ reusescope convert -q t.rsct --every 2 -o half.rsct
$ for options in "t.rsct --sample-sets 1/4" "t.rsct --every 2 --sample-sets 1/4" "half.rsct --sample-sets 1/4" "half.rsct --sample-time 20,1K,accesses"; do echo "$(reusescope sim -q $options --l2 64K,2,64 --format json -o - 2>&1 | grep -c '"instructions": *[0-9]')"; done
1
0
0
0
$ reusescope sim t.rsct --l2 16K,2,64 --study sampling --confidence 95
reusescope sim: --confidence cannot be used with --study sampling
[2]

# What does not go together.
$ reusescope sim t.rsct --l2 16K,2,64 --sample-time 30,1K --sample-sets 1/4
reusescope sim: --sample-sets and --sample-time exclude each other
[2]
$ reusescope sim t.rsct --l2 16K,2,64 --cold-start half --sample-sets 1/4
reusescope sim: --cold-start applies only to time sampling: sampled sets see the whole trace
[2]
$ reusescope sim t.rsct --l2 16K,2,64 --study sampling --sample-sets 1/4
reusescope sim: --study sampling cannot be used with --sample-sets, --sample-time or --cold-start
[2]
$ reusescope sim t.rsct --l2 16K,2,64 --sample-sets 1/4 --warm 100
reusescope sim: samples cover the whole trace: --warm, --warm-fill and windows cannot be used
[2]
$ reusescope sim t.rsct --l2 16K,2,64 --sample-time 30,1K --kind R
reusescope sim: time sampling cannot be used with filters: filter first, with convert
[2]
$ reusescope sim t.rsct --l2 16K,2,64,opt --sample-time 30,1K
reusescope sim: opt needs the future of every access and cannot be used with time sampling
[2]

# A study, in the tables of the paper.
$ reusescope gen mix,lines=64K,write=0.3 -n 300K --seed 6 -q -o big.din
$ awk '{ printf "2 %x\n%s\n", 4194304 + NR * 4 % 30000, $0 }' big.din > u.din; reusescope convert u.din -q -o u.rsct
$ reusescope sim u.rsct --l1i 4K,1,32 --l1d 4K,1,32 --l2 64K,1,64 --l2 256K,4,64,random --study sampling
u.rsct: 307200 instructions, 614400 accesses, 307200 of them fetches
\
Constant bits: the address bits of samples of sets, one sample for each of their values
  cache                        MPI*1000        1/16        1/64
  64K,1,64,lru                 1042.812        7-10        6-11
  256K,4,64,random             1036.387        7-10        6-11
\
Table 2: coefficient of variation, 1/16 of the sets, constant bits
  cache                        MPI*1000  fraction-instr  sampled-instr  sampled-refs  sampled-data
  64K,1,64,lru                 1042.812           44.4%          44.4%         23.3%          1.7%
  256K,4,64,random             1036.387           44.7%          44.6%         23.6%          1.3%
\
Table 3: variance of random samples over that of constant-bits samples (above 1: constant bits are better)
  cache                        MPI*1000        1/16        1/64
  64K,1,64,lru                 1042.812        0.04        0.06
  256K,4,64,random             1036.387        0.04        0.06
\
Tables 4 and 10: precision of set samples, constant bits (+: fewer than 90% of the samples within 10%)
  cache                        MPI*1000     1/16 <=10%       CV     1/64 <=10%       CV
  64K,1,64,lru                 1042.812          0/16+    44.4%          0/64+    76.9%
  256K,4,64,random             1036.387          0/16+    44.7%          0/64+    77.3%
\
Table 5: 90% confidence intervals that contain the truth (constant bits; random sets)
  cache                        MPI*1000  normal?  hot sets    1/16: bits   random    1/64: bits   random
  64K,1,64,lru                 1042.812      yes         0          0/16    87.2%          0/64    86.4%
  256K,4,64,random             1036.387      yes         0          0/16    87.2%          0/64    86.4%
\
Which bits: coefficient of variation of 1/16 of the sets by constant index bits from the one given up, and of
random sets ((): hashed or translated, so no filter of addresses)
  64K,1,64,lru                 1042.812  random 9.3%; 6: 76.9% 7: 44.4% 8: 0.2% 9: 0.6% 10: 0.9% 11: 1.2% 12: 4.4%
  256K,4,64,random             1036.387  random 9.4%; 6: 77.3% 7: 44.7% 8: 0.2% 9: 0.5% 10: 0.7% 11: 1.0% 12: 3.7%
\
Similarity of sets: rank correlation of the misses of sets at this distance
  cache                        MPI*1000      1      2      4      8     16     32     64    128
  64K,1,64,lru                 1042.812   0.10   0.07   0.88   0.88   0.87   0.85   0.80   0.71
  256K,4,64,random             1036.387   0.10   0.07   0.87   0.88   0.87   0.85   0.80   0.71
\
Tables 7 and 11: bias of cold-start techniques, intervals of 0.1 million instructions
  cache                       MPIs*1000      cold      half     prime    stitch    initmr
  64K,1,64,lru                 1044.010       +0%       +2%       +0%       +0%       +0%
  256K,4,64,random             1035.620       +0%       +2%       +4%       +0%       +0%
\
Table 8: scores over all caches: bias within 10%, and nearest to none
  interval (million)           cold         half        prime       stitch       initmr
                          10%   win    10%   win    10%   win    10%   win    10%   win
  0.1                       2     0      2     0      2     0      2     0      2     2
  all                       2     0      2     0      2     0      2     0      2     2
\
Table 9: bias of initmr by interval length (*: half the cache loaded, and at least as many misses to full sets)
  cache                        MPI*1000       0.1 M         1 M        10 M       100 M
  64K,1,64,lru                 1042.812        +0%*
  256K,4,64,random             1036.387        +0%*
\
Figure 4: middle 90% of time samples' estimates over the truth; within 10%; 90% intervals that contain the truth
  cache                       interval number  of trace           initmr   <=10%      CI         true state   <=10%      CI
  64K,1,64,lru                   0.1M      1    0.3255    0.98 to  1.02  100.0%     n/a     0.98 to  1.02  100.0%     n/a
  256K,4,64,random               0.1M      1    0.3255    0.98 to  1.02  100.0%     n/a     0.98 to  1.02  100.0%     n/a
\
The 10% goal: at least 90% of the samples of at most 10% of the trace within 10%
  64K,1,64,lru                 1042.812  sets, constant bits: no  sets, random: no (70.4%)
  256K,4,64,random             1036.387  sets, constant bits: no  sets, random: no (70.0%)
$ reusescope sim u.rsct --l2 64K,1,64 --study sampling --format json -o - | pick "d['schema'], d['instructions'], [(s['constant_bits']['low'], s['constant_bits']['high']) for s in l['sets']], len(l['sets'][0]['constant_bits']['mpi']), l['time'][0]['interval'], sorted(l['time'][0]['bias'])"
reusescope-sampling-study/1 307200 [(7, 10), (6, 11)] 16 100000 ['cold', 'half', 'initmr', 'prime', 'stitch']
$ reusescope sim n.rsct --l2 64K,1,64 --study sampling
reusescope: --study sampling needs misses per instruction: a native trace in a file, with instruction counts
[2]
$ reusescope sim u.rsct --l2 64K,1,64,opt --study sampling
reusescope: --study sampling does not support Belady's optimum, which needs the future
[2]
$ reusescope sim u.rsct --l2 64K,1,64 --study life
reusescope sim: --study life: not sampling
[2]

# Write-backs of a miss stream do not say whose they are.
$ printf 'addr,size,kind,tid,pid\n0x0,8,W,1,1\n0x1000,8,W,2,2\n0x2000,8,R,1,1\n' > p.csv
$ reusescope sim -q p.csv --l1 4K,1,64 --miss-trace m.rsct -o p.txt; reusescope sim -q m.rsct --l2 64K,2,64 | grep l2 | head -1
l2   64K,2,64,lru            3       3    100 %    100 % 1000.000        0
$ reusescope sim m.rsct --l2 64K,2,64,pid
reusescope: the write-backs of this miss stream have no process ids: for pid or pages, record it from caches with pid or pages
[1]

# Intervals by true instruction counts inside a frame: a thousand instructions without data, then a thousand that miss 20 times
# each. An even spread over the frame's 22,000 accesses would put most of the second half into the first interval.
$ awk 'BEGIN { for (i = 0; i < 1000; i++) print "2 1000"; for (i = 0; i < 1000; i++) { print "2 1000"; for (k = 0; k < 20; k++) printf "0 %x\n", 1048576 + (i * 20 + k) * 64 } }' > halves.din
$ reusescope convert halves.din -q -o halves.rsct
$ reusescope sim halves.rsct -q --l1d 4K,4,64 --sample-time 2,1000 --cold-start stitch --format json -o - 2> /dev/null | grep -o '"first_access":[0-9]*,"mpi":[0-9.]*'
"first_access":0,"mpi":0
"first_access":1000,"mpi":20

# Requests to memory are not counted in a sample: null, not 0.
$ reusescope gen zipf,lines=4K -n 20K -q -o few.rsct; reusescope sim few.rsct --l1d 8K,4,64 --sample-sets 1/4 -q --format json -o - 2>err.txt | grep -o '"memory_[a-z]*":[a-z0-9]*'
"memory_reads":null
"memory_writes":null

# With a filter, misses are per instruction and access of what it keeps, as in the simulation of the whole; --window 8K+16K has
# 8,192 instructions. The same of a file that was filtered before, and of its whole as one interval.
$ rates() { reusescope sim "$@" --l2 64K,2,64 -q --format json -o - 2> /dev/null | pick '"%s" % l["mpi"] + " " + ("%s of %s" % (e["mpi"], e["misses"]) if e else "")'; }
$ reusescope convert t.rsct --window 8K+16K -q -o cut.rsct
$ for of in 't.rsct --window 8K+16K' 't.din --window 8K+16K' cut.rsct 't.rsct --kind R,W'; do rates $of; rates $of --sample-sets 1/4,bits:6-7=all; done
0.055908203125 
0.055908203125 0.055908203125 of 458
0.055908203125 
0.055908203125 0.055908203125 of 458
0.055908203125 
0.055908203125 0.055908203125 of 458
0.3951416015625 
0.3951416015625 0.3951416015625 of 16185
$ rates cut.rsct --cold-start cold
0.055908203125 0.055908203125 of 458
$ per() { reusescope sim "$@" --l2 64K,2,64 -q --format json -o - 2> /dev/null | pick '"%.6f" % (e["rate"] if e else l["mpkr"] / 1000)'; }
$ reusescope gen mix,lines=8K,write=0.3 -n 40K --seed 5 -q -o plain.rsct; reusescope convert plain.rsct --kind W -q -o writes.rsct
$ per plain.rsct --kind W; per plain.rsct --kind W --sample-sets 1/4,bits:6-7=all; per writes.rsct --sample-sets 1/4,bits:6-7=all
0.528443
0.528443
0.528443

# Without fetches, counts at the ends of batches say where instructions are, for a sample as for the whole: an even share is 3,756.
$ awk 'BEGIN { for (i = 0; i < 30000; i++) print "2 1000"; for (i = 0; i < 30100; i++) { print "2 1000"; for (k = 0; k < (i < 100 ? 20 : 1); k++) printf "0 %x\n", 1048576 + i * k * 64 } }' > late.din
$ reusescope convert late.din -q -o late.rsct; reusescope convert late.rsct --kind R,W -q -o late.data.rsct
$ for sets in '' '--sample-sets 1/2,bits:6-6=all'; do reusescope sim late.data.rsct --l1 4K,4,64 --window 0+2000 $sets -q --format json -o - 2> /dev/null | grep -o '"instructions":[0-9]*'; done
"instructions":5430
"instructions":5430

# A sample of a filtered trace, and copies of a sample and of a miss stream, know the same whole.
$ reusescope convert writes.rsct --sample-sets 1/4,bits:6-7=1 -q -o part.rsct; reusescope convert part.rsct -q -o copy.rsct
$ per plain.rsct --kind W --sample-sets 1/4,bits:6-7=1; per part.rsct; per copy.rsct
0.530944
0.530944
0.530944
$ reusescope sim plain.rsct --l1 4K,1,32 --miss-trace m1.rsct -q -o m.txt; reusescope convert m1.rsct -q -o m2.rsct; per m1.rsct; per m2.rsct
0.395386
0.395386
$ reusescope convert plain.rsct --sample-sets 1/4,bits:6-7=1 --max-size 16K -q -o ended.rsct
reusescope convert: --sample-sets cannot be combined with --max-size: a sample of sets is of all accesses
[2]
$ reusescope sim part.rsct --l2 64K,2,64 --kind W
reusescope: this trace is a sample of sets (kinds=W, then sets=6-7=1) and cannot be filtered: filter the whole trace, then take the sample
[2]

# Estimates are per instruction where those are known, else per access.
$ reusescope sim t.rsct --l2 64K,2,64 --sample-sets 1/4 --per references
reusescope sim: --per cannot be used with samples
[2]
$ reusescope sim s.rsct --l2 64K,2,64 --per references
reusescope sim: --per cannot be used with samples
[2]
