# Private and shared stacks, threads that share one, and who takes lines from whom.

# The example of docs/guide/multicore.md: thread 1 reads A B C C, thread 2 writes A, thread 1 reads B A.
$ { echo addr,size,kind,tid,pc; for a in 0 64 128 128; do echo $a,8,R,1,0x10; done; echo 0,8,W,2,0x20; echo 64,8,R,1,0x10; echo 0,8,R,1,0x14; } > fig.csv
$ body() { reusescope analyze fig.csv "$@" --format json -o -; }
$ cat > show.py <<'PY'
> import json, sys
> d = json.load(sys.stdin)
> for p in d.get("profiles", [d]):
>     print(p["made"]["model"], "cold", p["cold"], "invalidated", p["invalidated"], "distinct", p["distinct"],
>           "rd", [(b["lo"], b["count"]) for b in p["rd"]], "ri", [(b["lo"], b["count"]) for b in p["ri"]],
>           "sharing", [(c["by"], c["from"], c["taken"], c["false_taken"], c["misses"]) for c in p["sharing"]])
> PY
$ body --model private | python3 show.py
private cold 4 invalidated 1 distinct 3 rd [(0, 1), (1, 1)] ri [(1, 1), (3, 1)] sharing [(2, 1, 1, 0, 1)]
$ body --model shared | python3 show.py
shared cold 3 invalidated 0 distinct 3 rd [(0, 1), (1, 1), (2, 2)] ri [(1, 1), (2, 1), (4, 2)] sharing []
$ body --model both | python3 show.py
private cold 4 invalidated 1 distinct 3 rd [(0, 1), (1, 1)] ri [(1, 1), (3, 1)] sharing [(2, 1, 1, 0, 1)]
shared cold 3 invalidated 0 distinct 3 rd [(0, 1), (1, 1), (2, 2)] ri [(1, 1), (2, 1), (4, 2)] sharing []
$ body --model both | grep -o '"schema":"reusescope-profiles/1"'
"schema":"reusescope-profiles/1"

# A group of both threads is one stack.
$ body --model private --cores 0-1 | python3 show.py
private cold 3 invalidated 0 distinct 3 rd [(0, 1), (1, 1), (2, 2)] ri [(1, 1), (2, 1), (4, 2)] sharing []
$ body --model private --cores 0+1 | python3 show.py
private cold 3 invalidated 0 distinct 3 rd [(0, 1), (1, 1), (2, 2)] ri [(1, 1), (2, 1), (4, 2)] sharing []
$ body --model both --cores 0-1 --engine exact --line 64,128 | python3 show.py
private cold 3 invalidated 0 distinct 3 rd [(0, 1), (1, 1), (2, 2)] ri [(1, 1), (2, 1), (4, 2)] sharing []
shared cold 3 invalidated 0 distinct 3 rd [(0, 1), (1, 1), (2, 2)] ri [(1, 1), (2, 1), (4, 2)] sharing []
private cold 2 invalidated 0 distinct 2 rd [(0, 4), (1, 1)] ri [(1, 4), (3, 1)] sharing []
shared cold 2 invalidated 0 distinct 2 rd [(0, 4), (1, 1)] ri [(1, 4), (3, 1)] sharing []

# Threads that write side by side: false sharing, with the bytes and the code of both.
$ { echo addr,size,kind,tid,pc; for i in 1 2 3; do echo 4096,8,W,7,0x100; echo 4104,8,W,8,0x200; done; } > side.csv
$ reusescope analyze side.csv --model private --format json -o - | sed -n '/"sharing"/,$p'
 "sharing":[
  {"by":8,"by_pid":0,"from":7,"from_pid":0,"taken":3,"false_taken":3,"misses":2,"false_misses":2,"error":0},
  {"by":7,"by_pid":0,"from":8,"from_pid":0,"taken":2,"false_taken":2,"misses":2,"false_misses":2,"error":0}
 ],
 "false_sharing":[
  {"address":"0x1000","object":null,"kind":null,"taken":5,"misses":4,"error":0,"users":[{"tid":8,"pid":0,"first":8,"last":15,"taken":3},{"tid":7,"pid":0,"first":0,"last":7,"taken":2}],"places":[{"writer":{"pc":"0x200","function":null,"file":null,"line":null,"module":null},"victim":{"pc":"0x100","function":null,"file":null,"line":null,"module":null},"taken":3},{"writer":{"pc":"0x100","function":null,"file":null,"line":null,"module":null},"victim":{"pc":"0x200","function":null,"file":null,"line":null,"module":null},"taken":2}]}
 ]}
$ reusescope analyze side.csv --model private --full -o - | sed -n '/^ Sharing/,/^ Kinds/p'
 Sharing  misses of each thread on lines that other threads took
      taken by        7        8
             7        .        2
             8        2        .
   4 misses are on lines invalidated by another thread's write; 100 % of them
   are false sharing.
\
 False sharing  lines taken by writes to other bytes than those used
    misses     taken  line
         4         5  0x1000
                      thread 8 bytes 8 to 15, thread 7 bytes 0 to 7
                      0x200 writes, 0x100 used it
                      0x100 writes, 0x200 used it
$ reusescope analyze side.csv --model private -q -o side.data; reusescope report side.data --format csv -o - | grep sharing
0,private,64,sharing,"8 -> 7",,,2,,,
0,private,64,sharing_false,"8 -> 7",,,2,,,
0,private,64,sharing_taken,"8 -> 7",,,3,,,
0,private,64,sharing_false_taken,"8 -> 7",,,3,,,
0,private,64,sharing,"7 -> 8",,,2,,,
0,private,64,sharing_false,"7 -> 8",,,2,,,
0,private,64,sharing_taken,"7 -> 8",,,2,,,
0,private,64,sharing_false_taken,"7 -> 8",,,2,,,
0,private,64,false_sharing,"0x1000",,,4,,,
0,private,64,false_sharing_taken,"0x1000",,,5,,,
# Uncertain counts have their bars in every format, and keep them in a merge, where they are added.
$ reusescope analyze side.csv --model private --format json -o - | python3 -c '
> import json, sys
> d = json.load(sys.stdin)
> keys = {"taken": (1, 9), "false_taken": (0, 8), "misses": (1, 5), "false_misses": (0, 4)}
> d["sharing"][0]["bars"] = {k + end: v[i] for k, v in keys.items() for i, end in enumerate(("_low", "_high"))}
> d["false_sharing"][0]["bars"] = {"taken_low": 2, "taken_high": 17, "misses_low": 1, "misses_high": 9}
> json.dump(d, sys.stdout)' > barred.json
$ reusescope report barred.json --format csv -o - | grep sharing
0,private,64,sharing,"8 -> 7",,,2,,1,5
0,private,64,sharing_false,"8 -> 7",,,2,,0,4
0,private,64,sharing_taken,"8 -> 7",,,3,,1,9
0,private,64,sharing_false_taken,"8 -> 7",,,3,,0,8
0,private,64,sharing,"7 -> 8",,,2,,,
0,private,64,sharing_false,"7 -> 8",,,2,,,
0,private,64,sharing_taken,"7 -> 8",,,2,,,
0,private,64,sharing_false_taken,"7 -> 8",,,2,,,
0,private,64,false_sharing,"0x1000",,,4,,1,9
0,private,64,false_sharing_taken,"0x1000",,,5,,2,17
$ reusescope report barred.json --full -o - | sed -n '/^ Sharing/,/^ Kinds/p' | head -12
 Sharing  misses of each thread on lines that other threads took
   thread    taker  misses                        falsely
        7        8  2 (1 to 5)                    2 (0 to 4)
        8        7  2                             2
   4 misses are on lines invalidated by another thread's write; 100 % (50 % to
   100 %) of them are false sharing.
\
 False sharing  lines taken by writes to other bytes than those used
    misses     taken  line
         4         5  0x1000
                      1 to 9 misses, taken 2 to 17 times
                      thread 8 bytes 8 to 15, thread 7 bytes 0 to 7
$ reusescope merge barred.json side.data -q -o sum.data && reusescope report sum.data --format csv -o - | grep sharing
0,private,64,sharing,"8 -> 7",,,4,,3,7
0,private,64,sharing_false,"8 -> 7",,,4,,2,6
0,private,64,sharing_taken,"8 -> 7",,,6,,4,12
0,private,64,sharing_false_taken,"8 -> 7",,,6,,3,11
0,private,64,sharing,"7 -> 8",,,4,,,
0,private,64,sharing_false,"7 -> 8",,,4,,,
0,private,64,sharing_taken,"7 -> 8",,,4,,,
0,private,64,sharing_false_taken,"7 -> 8",,,4,,,
0,private,64,false_sharing,"0x1000",,,4,,1,9
0,private,64,false_sharing_taken,"0x1000",,,5,,2,17
0,private,64,false_sharing,"0x1000",,,4,,,
0,private,64,false_sharing_taken,"0x1000",,,5,,,
$ reusescope report sum.data --format json -o - | grep -c bars
2
$ reusescope advise barred.json --at 32K | tr -s ' \n' ' ' | grep -o '[^ ]* % of misses ([^)]*)'
66.7 % of misses (4; 2 to 6)
$ reusescope advise side.data --at 32K | head -3
For a cache of 32 KiB:
\
 Threads write side by side in one line  [false-sharing]

# Every verb takes a file of two models.
$ reusescope analyze side.csv --model both -q -o both.data
$ reusescope info both.data | grep format
format         profile, by exact from trace, private stack, 64-byte lines
format         profile, by exact from trace, shared stack, 64-byte lines
$ reusescope diff both.data both.data | grep model
 model          private, lines of 64 B
 model          shared, lines of 64 B
$ reusescope merge both.data both.data -q -o merged.data && reusescope report merged.data --format json -o - | python3 show.py
private cold 4 invalidated 8 distinct 2 rd [] ri [] sharing [(8, 7, 6, 6, 4), (7, 8, 4, 4, 4)]
shared cold 2 invalidated 0 distinct 2 rd [(0, 10)] ri [(1, 10)] sharing []
$ reusescope report both.data -o both.html -q && sed -n '/id="rsc-data"/,/<\/script>/p' both.html | grep -oE '"(private|shared)"'
"private"
"shared"
$ reusescope annotate both.data
reusescope: both.data: its code has no source lines: is the program compiled with -g?
[1]
$ reusescope report both.data --format json -o both.json -q && reusescope report both.json --format json -o - | python3 show.py
private cold 2 invalidated 4 distinct 1 rd [] ri [] sharing [(8, 7, 3, 3, 2), (7, 8, 2, 2, 2)]
shared cold 1 invalidated 0 distinct 1 rd [(0, 5)] ri [(1, 5)] sharing []

# With caps, phases, bins and without code.
$ body --model private --max-distance 1 --phases 2 --bins 10 --no-code --no-ri | python3 show.py
private cold 4 invalidated 1 distinct 3 rd [(0, 1), (1, 1)] ri [] sharing [(2, 1, 1, 0, 1)]

# What cannot be.
$ body --model both --engine parallel
reusescope: the parallel engine has no private stacks: take exact
[2]
$ body --model private --engine shards:0.1
reusescope: the shards engine has no private stacks: take exact
[2]
$ body --cores 0-1
reusescope: cores: only the private model has stacks to share among them
[2]
$ body --model private --cores 0-1,1
reusescope: cores '0-1,1': thread 1 appears twice
[2]
$ body --model private --cores 0-
reusescope: cores '0-': not groups of thread numbers, as 0-1,2-3 or 0+2,1+3
[2]
$ body --model private --cores ,
reusescope: cores ',': not groups of thread numbers, as 0-1,2-3 or 0+2,1+3
[2]
$ body --model private --cores 3-1
reusescope: cores '3-1': not groups of thread numbers, as 0-1,2-3 or 0+2,1+3
[2]
$ body --model private --cores 0-99999999
reusescope: cores '0-99999999': not groups of thread numbers, as 0-1,2-3 or 0+2,1+3
[2]
$ body --model private --cores 0-2,1-3
reusescope: cores '0-2,1-3': thread 1 appears twice
[2]
$ body --model private --cores ''
reusescope: cores '': not groups of thread numbers, as 0-1,2-3 or 0+2,1+3
[2]
$ body --model neither
reusescope: model 'neither': not one of single, private, shared, both
[2]

# Threads of which there are none: nothing else changes, and it is said. A range that reaches too far is not.
$ body --model private --cores 900,0-1,2+901 2>said | python3 show.py
private cold 3 invalidated 0 distinct 3 rd [(0, 1), (1, 1), (2, 2)] ri [(1, 1), (2, 1), (4, 2)] sharing []
$ cat said
reusescope: warning: cores: 2 of 3 groups are empty, such as the one with thread 2: threads are 0 to 1
$ body --model private --cores 0,1-63 | python3 show.py
private cold 4 invalidated 1 distinct 3 rd [(0, 1), (1, 1)] ri [(1, 1), (3, 1)] sharing [(2, 1, 1, 0, 1)]
$ body --model private --cores 7 --engine sampled:period=1 2>&1 >/dev/null
reusescope: warning: cores: 1 of 1 groups are empty, such as the one with thread 7: threads are 0 to 1

# Thread ids far apart; and thousands of threads, of which 715 read one line that the last of them writes.
$ python3 - > far.csv <<'PY'
> print("addr,size,kind,tid")
> for i in range(400): print("%d,8,%s,%d" % (i // 4 % 5 * 64, "W" if i % 16 == 0 else "R", [3, 70000, 4294967295, 18446744073709551615][i % 4]))
> PY
$ cat > sums.py <<'PY'
> import json, sys
> d = json.load(sys.stdin)
> for p in d.get("profiles", [d]):
>     counted = p["cold"] + p["invalidated"] + p["last_touch"] + p["pruned"] + p["censored"] + sum(b["count"] for b in p["rd"])
>     print(p["made"]["model"], p["references"], counted == p["references"], "cold", p["cold"], "invalidated", p["invalidated"],
>           "distinct", p["distinct"], "threads", len(p["threads"]), [t["tid"] for t in p["threads"]][:4])
> PY
$ reusescope analyze far.csv --model both --format json -o - | python3 sums.py
private 400 True cold 20 invalidated 69 distinct 5 threads 4 [3, 70000, 4294967295, 18446744073709551615]
shared 400 True cold 5 invalidated 0 distinct 5 threads 4 [3, 70000, 4294967295, 18446744073709551615]
$ python3 - > crowd.csv <<'PY'
> print("addr,size,kind,tid")
> for i in range(15000): print("%d,8,%s,%d" % (i % 5000 % 7 * 64, "W" if i % 5000 == 4999 else "R", 1000000 + i % 5000 * 7919))
> PY
$ reusescope analyze crowd.csv --model both --format json -o - 2>said | python3 sums.py
private 15000 True cold 5000 invalidated 1428 distinct 7 threads 4096 [1000000, 1007919, 1015838, 1023757]
shared 15000 True cold 7 invalidated 0 distinct 7 threads 4096 [1000000, 1007919, 1015838, 1023757]
$ cat said
reusescope: warning: 5000 threads; only the first 4096 have rows of their own
reusescope: warning: 5000 threads; only the first 4096 have rows of their own
$ reusescope analyze crowd.csv --model private --cores 0-2499,2500-4999 --format json -o - -q | python3 sums.py
private 15000 True cold 14 invalidated 2 distinct 7 threads 4096 [1000000, 1007919, 1015838, 1023757]
$ reusescope analyze crowd.csv --model private --engine sampled:lines=1/2 --format json -o - -q | python3 sums.py
private 15000 True cold 2856 invalidated 0 distinct 4 threads 4096 [1000000, 1007919, 1015838, 1023757]
$ reusescope analyze crowd.csv --model private --engine sampled:period=100,exact=256,active=4 -o -
reusescope: sampled engine: more than 1024 threads at once; a sample of lines (lines=1/64) takes any number
[1]
$ reusescope analyze crowd.csv --model private --cores $(seq -s+ 0 4999) -o - 2>&1 | cut -c1-40,80-
reusescope: cores '0+1+2+3+4+5+6+7+8+9+1': too many groups

# A trace without accesses, and one without anything.
$ echo addr,size,kind,tid > none.csv; : > nothing.csv
$ for e in "--engine exact" "--engine sampled" "--engine sampled:lines=1/4"; do reusescope analyze none.csv --model both $e --cores 0-1 --format json -o - | python3 sums.py; done
private 0 True cold 0 invalidated 0 distinct 0 threads 0 []
shared 0 True cold 0 invalidated 0 distinct 0 threads 0 []
private 0 True cold 0 invalidated 0 distinct 0 threads 0 []
shared 0 True cold 0 invalidated 0 distinct 0 threads 0 []
private 0 True cold 0 invalidated 0 distinct 0 threads 0 []
shared 0 True cold 0 invalidated 0 distinct 0 threads 0 []
$ reusescope analyze nothing.csv --model both -o -
reusescope: nothing.csv: the file is empty
[1]
