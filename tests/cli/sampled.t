# Samples of references and of lines, for private and shared stacks.
$ reusescope gen zipf,lines=2000,skew=0.9,threads=4,write=0.2 -n 200K -q -o t.rsct
$ body() { reusescope analyze t.rsct "$@" -q --format json -o -; }
$ say() { python3 -c 'import json,sys; d=json.load(sys.stdin); [print(p["made"]["by"], p["made"]["model"], "|", p["made"]["sampling"], "|", p["references"], sum(b["count"] for b in p["rd"])+p["cold"]+p["invalidated"]+p["last_touch"]+p["pruned"]+p["censored"], all(m["low"]<=m["miss_ratio"]<=m["high"] for m in p["mrc"]), all(b["low"]<=b["count"]<=b["high"] for b in p["rd"] if "low" in b)) for p in d.get("profiles",[d])]'; }
$ body --engine sampled:period=100 --model both | say
sampled private | references at random, 1 in 100, seed 0, sequential order, 2048 samples; 100 % analysed; 90 % bars | 204800 204800 True True
sampled shared | references at random, 1 in 100, seed 0, sequential order, 2048 samples; 100 % analysed; 90 % bars | 204800 204800 True True

# The same from the same seed, another from another.
$ strip() { sed 's/"command":\[[^]]*\]//; s/"seconds":[0-9.e-]*//'; }
$ body --engine sampled:period=100 --model private | strip > a; body --engine sampled:period=100 --model private | strip > b; cmp a b
$ body --engine sampled:period=100 --model private --seed 1 | strip > b; cmp -s a b || echo apart
apart

# Every reference sampled is the exact histogram.
$ rd() { python3 -c 'import json,sys; print(json.load(sys.stdin)["rd"])'; }
$ for m in private shared; do body --model $m --engine exact | rd > a; body --model $m --engine sampled:period=1,prune=off | rd > b; cmp a b; done

# Orders; and as many samples as an error needs.
$ body --engine sampled:period=100,ordering=parallel --model private | say
sampled private | references at random, 1 in 100, seed 0, parallel order, 2048 samples; 100 % analysed; 90 % bars | 204800 204800 True True
$ body --error 0.02 --confidence 95 --engine sampled:error-kind=bucket --model shared | say
sampled shared | references at random, 1 in 8 to 64, seed 0, sequential order, 8486 samples; 100 % analysed; 95 % bars | 204800 204800 True True
$ reusescope analyze t.rsct --engine sampled:error-kind=aggregate --error 0.001 --format json -o /dev/null
reusescope: warning: sampled: the trace is too short for --error 0.001: it gave the equivalent of 29259 samples, an error of 0.14
next: reusescope report /dev/null

# Lines.
$ body --engine sampled:lines=1/8 --model both | say
sampled:lines=0.125 private | lines by hash, rate 0.125, seed 0, 249 kept; 90 % bars; distinct 1798 to 2186 | 204800 204800 True True
sampled:lines=0.125 shared | lines by hash, rate 0.125, seed 0, 249 kept; 90 % bars; distinct 1798 to 2186 | 204800 204800 True True

# Groups of threads.
$ body --engine sampled:period=100 --model private --cores 0-1,2-3 | say
sampled private | references at random, 1 in 100, seed 0, sequential order, 2048 samples; 100 % analysed; 90 % bars | 204800 204800 True True

# What is not understood.
$ reusescope analyze t.rsct --engine sampled:period=1/100
reusescope: engine 'sampled': period=1/100: not a number of references from 1 up
[2]
$ reusescope analyze t.rsct --engine sampled:lines=2
reusescope: engine 'sampled': lines=2: not a part of all lines, such as 1/64
[2]
$ reusescope analyze t.rsct --engine sampled:ordering=skew
reusescope: engine 'sampled': ordering=skew: not sequential or parallel
[2]
$ reusescope analyze t.rsct --engine sampled:error-kind=total
reusescope: engine 'sampled': error-kind=total: not bucket, relative, relative:SHARE, aggregate or aggregate:BINS
[2]
$ reusescope analyze t.rsct --engine shards:0.1,period=100
reusescope: engine 'shards:0.1,period=100': not a rate above 0 and up to 1, such as 0.01, 1/100 or 1%
[2]
$ reusescope analyze t.rsct --engine sampled:period=100 --error 0.01
reusescope: --error and period= both set how often to sample: give one of them
[2]
$ reusescope analyze t.rsct --engine sampled:lines=1/8,ordering=parallel
reusescope: engine 'sampled': ordering: a sample of lines is exact in itself, in the order of the trace
[2]
$ reusescope analyze t.rsct --engine sampled:lines=1/8 --bins 10
reusescope: a sample of lines has no second binning
[2]
$ reusescope analyze t.rsct --engine sampled:period=0
reusescope: engine 'sampled': period=0: not a number of references from 1 up
[2]
$ reusescope analyze t.rsct --engine sampled:speed=9
reusescope: engine 'sampled': 'speed': not one of period, lines, ordering, exact, active, prune, prune-after, error-kind
[2]
$ reusescope analyze t.rsct --engine sampled:period
reusescope: engine 'sampled': period: not a number of references from 1 up
[2]
$ reusescope analyze t.rsct --engine sampled --phases 2
reusescope: the sampled engine cannot do phases
[2]

# The code that misses.
$ awk 'BEGIN { for (r = 0; r < 20; r++) for (i = 0; i < 1000; i++) { printf "0x20: R 0x%x\n0x10: R 0x%x\n", 1048576 + i * 64, 4096 + i % 3 * 64; if (i % 5 == 0) printf "0x30: W 0x%x\n", 524288 + i * 64 } }' > p.out
$ reusescope analyze p.out --from pinatrace --bins 10 -q -o exact.data
$ reusescope analyze p.out --from pinatrace --bins 10 --engine sampled:period=20 -q -o sampled.data
$ reusescope report --select 90 exact.data sampled.data
 exact.data, single: 2 instructions have 90 % of the 22,800 reuses that miss in 64 KiB
      misses    share   in all  code
      19.0 k   83.3 %   83.3 %  0x20
       3,800   16.7 %  100.0 %  0x30
\
 sampled.data, single: 2 instructions have 90 % of the 22,700 reuses that miss in 64 KiB
      misses    share   in all  code
      19.0 k   83.9 %   83.9 %  0x20
       3,660   16.1 %  100.0 %  0x30
             against exact.data, single, and its 2: weight matching 100.0 %, key matching 100.0 %
             accuracy of distances: 99.5 %, without distance 0: 99.5 %
$ reusescope report --select 80,50 exact.data --format csv
profile,model,lines,rank,pc,function,file,line,misses,invalidated,share,weight_matching,key_matching
"exact.data","single",1024,1,0x20,"","",0,19000,0,0.833333,,
$ reusescope report --select 99 --at 32K exact.data
 exact.data, single: 2 instructions have 99 % of the 22,800 reuses that miss in 32 KiB
      misses    share   in all  code
      19.0 k   83.3 %   83.3 %  0x20
       3,800   16.7 %  100.0 %  0x30
# Private stacks: what another thread took misses in any size. In each of 21 rounds thread 2 writes 10 lines (0x20), which
# thread 1 reads (0x10) before it sweeps 100 lines (0x40) and then stays on one (0x30): 20 x 100 reuses at distance 110, 20 x 10
# invalidated ones in its private stack. In the shared stack 0x10 finds the lines that 0x20 has just written, and 0x20 misses.
$ awk 'BEGIN { print "addr,size,kind,tid,pc"; for (r = 0; r < 21; r++) { for (i = 0; i < 10; i++) print i * 64 ",8,W,2,0x20"; for (i = 0; i < 10; i++) print i * 64 ",8,R,1,0x10"; for (i = 0; i < 100; i++) print 65536 + i * 64 ",8,R,1,0x40"; for (i = 0; i < 200; i++) print "32768,8,R,1,0x30" } }' > taken.csv
$ reusescope analyze taken.csv --model both -q -o both.data && reusescope analyze taken.csv --model private -q -o private.data
$ reusescope report --select 99 both.data private.data
 both.data, private: 2 instructions have 99 % of the 2,220 reuses that miss in 6 KiB (200 of them invalidated)
      misses    share   in all  code
       2,000   90.1 %   90.1 %  0x40
         200    9.0 %   99.1 %  0x10
\
 both.data, shared: 2 instructions have 99 % of the 2,220 reuses that miss in 6 KiB
      misses    share   in all  code
       2,000   90.1 %   90.1 %  0x40
         200    9.0 %   99.1 %  0x20
\
 private.data, private: 2 instructions have 99 % of the 2,220 reuses that miss in 6 KiB (200 of them invalidated)
      misses    share   in all  code
       2,000   90.1 %   90.1 %  0x40
         200    9.0 %   99.1 %  0x10
             against both.data, private, and its 2: weight matching 100.0 %, key matching 100.0 %
$ reusescope report --select 90 private.data both.data --at 1M --format csv
profile,model,lines,rank,pc,function,file,line,misses,invalidated,share,weight_matching,key_matching
"private.data","private",16384,1,0x10,"","",0,200,200,1.000000,,
"both.data","private",16384,1,0x10,"","",0,200,200,1.000000,1.000000,1.000000
$ reusescope report --select 0 exact.data
reusescope report: --select 0: not a percentage of misses, or that and one of reuses, as 90 or 90,10
[2]
$ reusescope report --select 90 --cdf exact.data
reusescope report: only one of --suite, --by, --cdf and --select can be given
[2]

# Rows of threads are whole: reuses, first touches and what others took are all of a thread's references.
$ reusescope gen zipf,lines=4K,threads=4,write=0.1 -n 100K -q -o four.rsct; for model in private shared; do reusescope analyze four.rsct --model $model --engine sampled -q --format json -o - | /usr/bin/python3 -c 'import json, sys; p = json.load(sys.stdin); print([t["references"] == t["cold"] + t["invalidated"] + sum(b["count"] for b in t["rd"]) and t["cold"] > 0 for t in p["threads"]])'; done
[True, True, True, True]
[True, True, True, True]
