# Estimated cycles: report --machine, in text, JSON, CSV and the page.
$ cp $SOURCE/tests/fuzz/corpus/profile/rows.json wave.json
$ printf 'l1d 28K,7,64\nl2 896K,14,64\nl3 8M,16,64\nlatencies published l1d=4 l2=10 l3=40 memory=200\n' > here.caches

# JSON: every row's cycles, computed again from its distances; without --machine there are none.
$ reusescope report wave.json --machine ./here.caches -q -o cost.json
$ python3 $SOURCE/tests/schema_check.py $SOURCE/docs/schema/profile.schema.json cost.json
$ python3 - <<'PYTHON'
> import json
> profile = json.load(open("cost.json"))
> sizes, wait = [cache["bytes"] // 64 for cache in profile["cost"]["caches"]], [10, 40, 200]
> def beyond(rd, lines):
>     return sum(b["count"] if b["lo"] >= lines else b["count"] * (b["hi"] - lines + 1) / (b["hi"] - b["lo"] + 1) if b["hi"] >= lines else 0 for b in rd)
> def cycles(row):
>     missed = [row.get("cold", 0) + beyond(row["rd"], lines) for lines in sizes] + [0]
>     return 40 * row.get("invalidated", 0) + sum((missed[i] - missed[i + 1]) * wait[i] for i in range(3))
> rows = [row for table in ("code", "pairs", "objects") for row in profile[table]]
> print(len(rows), max(abs(row["cycles"] - cycles(row)) for row in rows) < 400)  # misses are whole numbers
> print({key: value for key, value in profile["cost"].items() if key != "caches"})
> print([(c["name"], c["bytes"], c["cycles"], c["misses"]) for c in profile["cost"]["caches"]])
> PYTHON
10 True
{'machine': 'here', 'latencies': 'published', 'memory_cycles': 200, 'cycles': 14088000}
[('L1d', 28672, 4, 72200), ('L2', 917504, 10, 72200), ('L3', 8388608, 40, 70000)]
$ reusescope report wave.json -q -o plain.json; grep -c cycles plain.json
0
[1]
$ reusescope report cost.json -q -o again.json && cmp again.json plain.json

# CSV: the same numbers.
$ reusescope report wave.json --machine ./here.caches --format csv | grep -E ',latency,|cycles' | head -7
0,single,64,latency,L1d,448,448,,4,,
0,single,64,latency,L2,14336,14336,,10,,
0,single,64,latency,L3,131072,131072,,40,,
0,single,64,latency,memory,,,,200,,
0,single,64,total,cycles,,,,14088000,,
0,single,64,code_cycles,"/home/u/wave/src/solver.c:71 sweep",,,,14000000,,
0,single,64,code_cycles,"mem.c:10 copy",,,,16000,,
$ reusescope report wave.json --format csv | grep -c cycles
0
[1]
$ reusescope report wave.json --machine ./here.caches --by file --format csv
profile,module,file,function,line,size_bytes,references,misses,cycles
"wave.json","","/home/u/wave/src/solver.c","",,917504,72000,71800,14072000
"wave.json","","mem.c","",,917504,5000,400,16000
"wave.json","","","",,917504,60,0,0
$ reusescope annotate wave.json --machine ./here.caches --format csv | head -2
profile,file,line,function,size_bytes,references,misses,cold,invalidated,median_lines,error,cycles
0,"/home/u/wave/src/solver.c",71,"sweep",28672,70000,70000,70000,0,,0,14000000

# Text: ranked by cycles unless a size is asked for.
$ reusescope report wave.json --machine ./here.caches --section lines
-- Memory reuse ----------------------------------------------------------------
\
 Worst lines  by cycles lost: L2 10, L3 40, memory 200 (published)
    cycles    share  L2 misses    ratio      refs  where
    14.0 M   99.4 %     70.0 k  100.0 %    70.0 k  ...wave/src/solver.c:71 sweep
    72.0 k    0.5 %      1,800   90.0 %     2,000  ...wave/src/solver.c:88 relax
    16.0 k    0.1 %        400    8.0 %     5,000  mem.c:10 copy
   +-7 (row 3): references that may belong to rows dropped from a full table.
 - solver.c:71: all its misses are first touches: streaming through new memory.
 - solver.c:88: data returns after a median of 2.45 MiB, more than L2 holds;
   last used at solver.c:71.
 - mem.c:10: 8 % of references return after a median of 3.67 MiB, more than
   L2 holds; last used by this same line.
$ reusescope report wave.json --machine ./here.caches --at L2 --section lines | sed -n 3,5p
 Worst lines  by misses in L2 (896 KiB)
    misses    share    ratio      refs  where
    70.0 k   97.0 %  100.0 %    70.0 k  /home/u/wave/src/solver.c:71 sweep
$ reusescope report wave.json --machine ./here.caches --by file
 wave.json: misses in a cache of 896 KiB, by cycles lost
    cycles    share    misses    ratio      refs  file
    14.1 M   99.9 %    71.8 k   99.7 %    72.0 k  /home/u/wave/src/solver.c
    16.0 k    0.1 %       400    8.0 %     5,000  mem.c
         0    0.0 %         0    0.0 %        60  not known
$ reusescope report wave.json --machine zen2 | grep -E 'Misses|Worst'
 Misses  in caches of zen2's sizes
 Worst lines  of your code, by cycles lost: L2 12, L3 39, memory 280 (published)
$ COLUMNS=80 reusescope annotate wave.json --machine ./here.caches | head -6
-- /home/u/wave/src/solver.c ---------------------------------------------------
   99.9 % of cycles lost, 99.4 % of misses in L2 (896 KiB), 93.4 % of references
   source not found: /home/u/wave/src/solver.c (--source-path DIR)
               misses in a cache of   median
   refs cycles    28K   896K     8M    dist.   line  source
 70.0 k 14.0 M 70.0 k 70.0 k 70.0 k        -     71
$ reusescope advise wave.json --machine zen2 --format json | grep -o '"cycles":[0-9]*'
"cycles":17150000

# The page has the machine; its own numbers are tested in a browser (live_report_page).
$ reusescope report wave.json --machine zen2 -o page.html 2>&1 | wc -l; grep -o '"machine_name":"[^"]*","memory_cycles":[0-9]*,"latencies":"[a-z]*","by":"[a-z]*"' page.html
1
"machine_name":"zen2","memory_cycles":280,"latencies":"published","by":"cycles"

# What is wrong.
$ reusescope report wave.json --machine vax
reusescope: --machine vax: no such machine: this, a path, or NAME for NAME.caches (man reusescope-sim)
[2]
$ reusescope report wave.json --at L2 --machine zen2
reusescope report: --machine zen2: give it before the option that names a cache
[2]
$ reusescope report wave.json --machine ./wave.json
reusescope: ./wave.json: line 1: not NAME SIZE,WAYS,BLOCK[,WORD...]
[1]
$ printf 'l1d 8K,2,64\nlatencies l1d=4\n' > bad.caches; reusescope report wave.json --machine ./bad.caches
reusescope: ./bad.caches: line 2: not latencies published|measured NAME=CYCLES ... memory=CYCLES, each name once
[1]
$ printf 'l1d 8K,2,64\nlatencies measured l1d=4 memory=9 L1D=5\n' > bad.caches; reusescope report wave.json --machine ./bad.caches
reusescope: ./bad.caches: line 2: not latencies published|measured NAME=CYCLES ... memory=CYCLES, each name once
[1]
$ REUSESCOPE_TEST_CACHES=/nowhere reusescope report wave.json --machine this
reusescope: --machine this: the kernel reports no caches
[1]
$ reusescope diff wave.json wave.json --machine ./here.caches --at L2 | head -3
wave.json against wave.json
 references     77,060, was 77,060
 footprint      4.27 MiB, was 4.27 MiB

# A machine file of this machine, measured.
$ export REUSESCOPE_TEST_CACHES=$PWD/small; $SOURCE/tests/caches 8K,64K small
$ reusescope doctor --latency -o mine.caches | sed -E 's/ [0-9]+(,| cycles)/ N\1/g'
L1d N, L2 N, memory N cycles
kept in mine.caches
$ sed -E 's/=[0-9.]+/=N/g' mine.caches
\# Caches as the kernel reports them; latencies by reusescope doctor --latency.
l1i 8192,8,64
l1d 8192,8,64
l2 65536,8,64
latencies measured L1d=N L2=N memory=N
$ reusescope report wave.json --machine ./mine.caches | grep -E 'Misses|Worst' | sed -E 's/ [0-9]+/ N/g'
 Misses  in caches of mine's sizes
 Worst lines  of your code, by cycles lost: L2 N, memory N (measured)
$ reusescope doctor -o mine.caches
reusescope doctor: -o needs --latency
[2]
