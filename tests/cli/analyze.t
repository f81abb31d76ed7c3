# analyze: small traces whose profiles were worked out by hand.
$ json() { reusescope analyze "$@" -q --format json -o -; }
$ check() { /usr/bin/python3 $SOURCE/tests/schema_check.py $SOURCE/docs/schema/profile.schema.json -; }
$ body() { json "$@" > out.json && check < out.json && grep -v '"made"' out.json; }

# a a: one cold, then interval 1 and distance 0.
$ printf '0 100\n0 100\n' > aa.din
$ json aa.din | sed 's/"seconds":[0-9.e-]*/"seconds":S/'
{"schema":"reusescope-profile/1",
 "made":{"by":"exact","source":"trace","model":"single","line":64,"threads":1,"workers":1,"sampling":null,"command":["reusescope","analyze","aa.din","-q","--format","json","-o","-"],"seconds":S,"overhead":null,"coverage":null},
 "accesses":2,"references":2,"cold":1,"invalidated":0,"distinct":1,
 "last_touch":0,"pruned":0,"censored":0,
 "rd":[
  {"lo":0,"hi":0,"count":1}
 ],
 "ri":[
  {"lo":1,"hi":1,"count":1}
 ],
 "mrc":[
  {"lines":1,"bytes":64,"miss_ratio":0.5,"low":0.5,"high":0.5}
 ],
 "code":[],"pairs":[],"objects":[],"contexts":[],
 "threads":[
  {"tid":0,"pid":0,"references":2,"cold":1,"invalidated":0,"rd":[{"lo":0,"hi":0,"count":1}]}
 ],
 "phases":[],
 "sharing":[],"false_sharing":[]}
$ json aa.din | check

# a b c a b b: a and b come back after two others (distance 2, interval 3), then b at once.
$ printf '0 0\n0 40\n0 80\n0 0\n0 40\n0 40\n' > abcabb.din
$ body abcabb.din
{"schema":"reusescope-profile/1",
 "accesses":6,"references":6,"cold":3,"invalidated":0,"distinct":3,
 "last_touch":0,"pruned":0,"censored":0,
 "rd":[
  {"lo":0,"hi":0,"count":1},
  {"lo":2,"hi":2,"count":2}
 ],
 "ri":[
  {"lo":1,"hi":1,"count":1},
  {"lo":3,"hi":3,"count":2}
 ],
 "mrc":[
  {"lines":1,"bytes":64,"miss_ratio":0.8333333333333334,"low":0.8333333333333334,"high":0.8333333333333334},
  {"lines":2,"bytes":128,"miss_ratio":0.8333333333333334,"low":0.8333333333333334,"high":0.8333333333333334},
  {"lines":3,"bytes":192,"miss_ratio":0.5,"low":0.5,"high":0.5}
 ],
 "code":[],"pairs":[],"objects":[],"contexts":[],
 "threads":[
  {"tid":0,"pid":0,"references":6,"cold":3,"invalidated":0,"rd":[{"lo":0,"hi":0,"count":1},{"lo":2,"hi":2,"count":2}]}
 ],
 "phases":[],
 "sharing":[],"false_sharing":[]}

# Without reuse intervals everything else is the same.
$ body abcabb.din > with.txt; body --no-ri abcabb.din > without.txt; diff with.txt without.txt
8,11c8
<  "ri":[
<   {"lo":1,"hi":1,"count":1},
<   {"lo":3,"hi":3,"count":2}
<  ],
---
\>  "ri":[],
[1]

# Both words of a line are one line; at 8 bytes they are two.
$ printf '0 0\n0 8\n0 0\n' > words.din
$ body words.din | sed -n '2,10p'
 "accesses":3,"references":3,"cold":1,"invalidated":0,"distinct":1,
 "last_touch":0,"pruned":0,"censored":0,
 "rd":[
  {"lo":0,"hi":0,"count":2}
 ],
 "ri":[
  {"lo":1,"hi":1,"count":2}
 ],
 "mrc":[
$ body words.din --line 8 | sed -n '2,12p'
 "accesses":3,"references":3,"cold":2,"invalidated":0,"distinct":2,
 "last_touch":0,"pruned":0,"censored":0,
 "rd":[
  {"lo":1,"hi":1,"count":1}
 ],
 "ri":[
  {"lo":2,"hi":2,"count":1}
 ],
 "mrc":[
  {"lines":1,"bytes":8,"miss_ratio":1,"low":1,"high":1},
  {"lines":2,"bytes":16,"miss_ratio":0.6666666666666666,"low":0.6666666666666666,"high":0.6666666666666666}

# Eight bytes from 0x3c on reach into the second line: two references, in address order.
$ printf 'addr,size\n0x3c,8\n0x0,1\n' > straddle.csv
$ body straddle.csv
{"schema":"reusescope-profile/1",
 "accesses":2,"references":3,"cold":2,"invalidated":0,"distinct":2,
 "last_touch":0,"pruned":0,"censored":0,
 "rd":[
  {"lo":1,"hi":1,"count":1}
 ],
 "ri":[
  {"lo":2,"hi":2,"count":1}
 ],
 "mrc":[
  {"lines":1,"bytes":64,"miss_ratio":1,"low":1,"high":1},
  {"lines":2,"bytes":128,"miss_ratio":0.6666666666666666,"low":0.6666666666666666,"high":0.6666666666666666}
 ],
 "code":[],"pairs":[],"objects":[],"contexts":[],
 "threads":[
  {"tid":0,"pid":0,"references":3,"cold":2,"invalidated":0,"rd":[{"lo":1,"hi":1,"count":1}]}
 ],
 "phases":[],
 "sharing":[],"false_sharing":[]}
$ body straddle.csv --line 128 | sed -n 2p
 "accesses":2,"references":2,"cold":1,"invalidated":0,"distinct":1,

# An access over three lines.
$ printf 'addr,size\n0x20,160\n0x40,1\n' > wide.csv
$ body wide.csv | sed -n '2,10p'
 "accesses":2,"references":4,"cold":3,"invalidated":0,"distinct":3,
 "last_touch":0,"pruned":0,"censored":0,
 "rd":[
  {"lo":1,"hi":1,"count":1}
 ],
 "ri":[
  {"lo":2,"hi":2,"count":1}
 ],
 "mrc":[

# An access may end at the last byte there is.
$ printf 'addr,size\n0xffffffffffffffff,1\n0xffffffffffffffff,64\n' > top.csv
$ body top.csv | sed -n '2,10p'
 "accesses":2,"references":2,"cold":1,"invalidated":0,"distinct":1,
 "last_touch":0,"pruned":0,"censored":0,
 "rd":[
  {"lo":0,"hi":0,"count":1}
 ],
 "ri":[
  {"lo":1,"hi":1,"count":1}
 ],
 "mrc":[

# Two threads, one stack: what 9 brings in, 7 finds.
$ printf 'addr,tid,pid\n0,7,1\n0,9,1\n64,9,1\n0,7,1\n' > threads.csv
$ body threads.csv
{"schema":"reusescope-profile/1",
 "accesses":4,"references":4,"cold":2,"invalidated":0,"distinct":2,
 "last_touch":0,"pruned":0,"censored":0,
 "rd":[
  {"lo":0,"hi":0,"count":1},
  {"lo":1,"hi":1,"count":1}
 ],
 "ri":[
  {"lo":1,"hi":1,"count":1},
  {"lo":2,"hi":2,"count":1}
 ],
 "mrc":[
  {"lines":1,"bytes":64,"miss_ratio":0.75,"low":0.75,"high":0.75},
  {"lines":2,"bytes":128,"miss_ratio":0.5,"low":0.5,"high":0.5}
 ],
 "code":[],"pairs":[],"objects":[],"contexts":[],
 "threads":[
  {"tid":7,"pid":1,"references":2,"cold":1,"invalidated":0,"rd":[{"lo":1,"hi":1,"count":1}]},
  {"tid":9,"pid":1,"references":2,"cold":1,"invalidated":0,"rd":[{"lo":0,"hi":0,"count":1}]}
 ],
 "phases":[],
 "sharing":[],"false_sharing":[]}
$ body threads.csv --tid 7 | sed -n '2,10p'
 "accesses":2,"references":2,"cold":1,"invalidated":0,"distinct":1,
 "last_touch":0,"pruned":0,"censored":0,
 "rd":[
  {"lo":0,"hi":0,"count":1}
 ],
 "ri":[
  {"lo":1,"hi":1,"count":1}
 ],
 "mrc":[
$ body threads.csv --tid 7,9 | sed -n 2p
 "accesses":4,"references":4,"cold":2,"invalidated":0,"distinct":2,
$ body threads.csv --tid 8 | sed -n '2,6p'
 "accesses":0,"references":0,"cold":0,"invalidated":0,"distinct":0,
 "last_touch":0,"pruned":0,"censored":0,
 "rd":[],
 "ri":[],
 "mrc":[],

# Kinds.
$ printf '0 0\n1 0\n2 1000\n0 40\n2 1004\n1 0\n' > kinds.din
$ body kinds.din --kind R | sed -n 2p
 "accesses":2,"references":2,"cold":2,"invalidated":0,"distinct":2,
$ body kinds.din --kind w | sed -n '2,8p'
 "accesses":2,"references":2,"cold":1,"invalidated":0,"distinct":1,
 "last_touch":0,"pruned":0,"censored":0,
 "rd":[
  {"lo":0,"hi":0,"count":1}
 ],
 "ri":[
  {"lo":1,"hi":1,"count":1}
$ body kinds.din --kind I | sed -n '2,8p'
 "accesses":2,"references":2,"cold":1,"invalidated":0,"distinct":1,
 "last_touch":0,"pruned":0,"censored":0,
 "rd":[
  {"lo":0,"hi":0,"count":1}
 ],
 "ri":[
  {"lo":1,"hi":1,"count":1}
$ body kinds.din --kind R,W | sed -n 2p
 "accesses":4,"references":4,"cold":2,"invalidated":0,"distinct":2,
$ body kinds.din --kind RWI | sed -n 2p
 "accesses":6,"references":6,"cold":3,"invalidated":0,"distinct":3,

# Other filters; they combine.
$ body abcabb.din --range 0x40-0x7f | sed -n '2,8p'
 "accesses":3,"references":3,"cold":1,"invalidated":0,"distinct":1,
 "last_touch":0,"pruned":0,"censored":0,
 "rd":[
  {"lo":0,"hi":0,"count":2}
 ],
 "ri":[
  {"lo":1,"hi":1,"count":2}
$ body abcabb.din --window 3 | sed -n '2,10p'
 "accesses":3,"references":3,"cold":2,"invalidated":0,"distinct":2,
 "last_touch":0,"pruned":0,"censored":0,
 "rd":[
  {"lo":0,"hi":0,"count":1}
 ],
 "ri":[
  {"lo":1,"hi":1,"count":1}
 ],
 "mrc":[
$ body abcabb.din --window 1+2 | sed -n 2p
 "accesses":2,"references":2,"cold":2,"invalidated":0,"distinct":2,
$ body abcabb.din --window 6 | sed -n 2p
 "accesses":0,"references":0,"cold":0,"invalidated":0,"distinct":0,
$ body abcabb.din --window 0+0 | sed -n 2p
 "accesses":0,"references":0,"cold":0,"invalidated":0,"distinct":0,
$ body abcabb.din --bits 6-6=1 | sed -n '2,8p'
 "accesses":3,"references":3,"cold":1,"invalidated":0,"distinct":1,
 "last_touch":0,"pruned":0,"censored":0,
 "rd":[
  {"lo":0,"hi":0,"count":2}
 ],
 "ri":[
  {"lo":1,"hi":1,"count":2}
$ body abcabb.din --every 2 | sed -n '2,6p'
 "accesses":3,"references":3,"cold":3,"invalidated":0,"distinct":3,
 "last_touch":0,"pruned":0,"censored":0,
 "rd":[],
 "ri":[],
 "mrc":[
$ body abcabb.din --bits 6-6=0 --every 3 | sed -n '2,6p'
 "accesses":1,"references":1,"cold":1,"invalidated":0,"distinct":1,
 "last_touch":0,"pruned":0,"censored":0,
 "rd":[],
 "ri":[],
 "mrc":[

# A window past the end keeps nothing, whatever the format.
$ reusescope convert abcabb.din -q -o abcabb.rsct
$ body abcabb.rsct --window 3 | sed -n '2,10p'
 "accesses":3,"references":3,"cold":2,"invalidated":0,"distinct":2,
 "last_touch":0,"pruned":0,"censored":0,
 "rd":[
  {"lo":0,"hi":0,"count":1}
 ],
 "ri":[
  {"lo":1,"hi":1,"count":1}
 ],
 "mrc":[
$ body abcabb.rsct --window 6 | sed -n 2p
 "accesses":0,"references":0,"cold":0,"invalidated":0,"distinct":0,

# A cap: distances from 2 on in one bin without an end.
$ body abcabb.din --max-distance 2
{"schema":"reusescope-profile/1",
 "accesses":6,"references":6,"cold":3,"invalidated":0,"distinct":3,
 "last_touch":0,"pruned":0,"censored":0,"max_distance":2,
 "rd":[
  {"lo":0,"hi":0,"count":1},
  {"lo":2,"hi":null,"count":2}
 ],
 "ri":[
  {"lo":1,"hi":1,"count":1},
  {"lo":3,"hi":3,"count":2}
 ],
 "mrc":[
  {"lines":1,"bytes":64,"miss_ratio":0.8333333333333334,"low":0.8333333333333334,"high":0.8333333333333334},
  {"lines":2,"bytes":128,"miss_ratio":0.8333333333333334,"low":0.8333333333333334,"high":0.8333333333333334}
 ],
 "code":[],"pairs":[],"objects":[],"contexts":[],
 "threads":[
  {"tid":0,"pid":0,"references":6,"cold":3,"invalidated":0,"rd":[{"lo":0,"hi":0,"count":1},{"lo":2,"hi":null,"count":2}]}
 ],
 "phases":[],
 "sharing":[],"false_sharing":[]}
$ body abcabb.din --max-distance 3 | sed -n '2,8p'
 "accesses":6,"references":6,"cold":3,"invalidated":0,"distinct":3,
 "last_touch":0,"pruned":0,"censored":0,"max_distance":3,
 "rd":[
  {"lo":0,"hi":0,"count":1},
  {"lo":2,"hi":2,"count":2}
 ],
 "ri":[

# Two halves; ten references in four parts.
$ body abcabb.din --phases 2 | sed -n '/phases/,$p'
 "phases":[
  {"first":0,"references":3,"cold":3,"invalidated":0,"rd":[]},
  {"first":3,"references":3,"cold":0,"invalidated":0,"rd":[{"lo":0,"hi":0,"count":1},{"lo":2,"hi":2,"count":2}]}
 ],
 "sharing":[],"false_sharing":[]}
$ printf '0 %x\n' 0 64 128 192 256 320 384 448 512 576 > ten.din
$ body ten.din --phases 4 | sed -n '/phases/,$p'
 "phases":[
  {"first":0,"references":3,"cold":3,"invalidated":0,"rd":[]},
  {"first":3,"references":2,"cold":2,"invalidated":0,"rd":[]},
  {"first":5,"references":3,"cold":3,"invalidated":0,"rd":[]},
  {"first":8,"references":2,"cold":2,"invalidated":0,"rd":[]}
 ],
 "sharing":[],"false_sharing":[]}
$ body aa.din --phases 5 | sed -n '/phases/,$p'
 "phases":[
  {"first":0,"references":1,"cold":1,"invalidated":0,"rd":[]},
  {"first":1,"references":1,"cold":0,"invalidated":0,"rd":[{"lo":0,"hi":0,"count":1}]}
 ],
 "sharing":[],"false_sharing":[]}

# A second binning.
$ body abcabb.din --bins 1 | grep bins
 "bins":{"per_octave":1,"rd":[{"lo":0,"hi":0,"count":1},{"lo":2,"hi":3,"count":2}],"ri":[{"lo":1,"hi":1,"count":1},{"lo":2,"hi":3,"count":2}]},

# Several line sizes in one pass are one document.
$ json words.din --line 8,64 > both.json; check < both.json; grep -v '"made"' both.json | head -3
{"schema":"reusescope-profiles/1","profiles":[
  {"schema":"reusescope-profile/1",
   "accesses":3,"references":3,"cold":2,"invalidated":0,"distinct":2,
$ grep -c '"schema":"reusescope-profile/1"' both.json
2
$ json words.din --line 1,2,4,8,16,32,64,128,256,512,1K,2K,4K | grep -o '"line":[0-9]*' | tr '\n' ' '
"line":1 "line":2 "line":4 "line":8 "line":16 "line":32 "line":64 "line":128 "line":256 "line":512 "line":1024 "line":2048 "line":4096  (no-eol)

# Whatever the number of threads, the result is the same.
$ reusescope gen mix,lines=2K,threads=3,write=0.2 -n 100K -q -o mix.rsct
$ for threads in 1 2 7; do body mix.rsct --line 16,64 --threads $threads | md5sum; done | uniq | wc -l
1

# Known beforehand: n lines in a circle, every reuse at distance n - 1.
$ reusescope gen cyclic,lines=100 -n 1000 -q -o cyclic.rsct
$ body cyclic.rsct | sed -n '/"rd"/,/"mrc"/p'
 "rd":[
  {"lo":99,"hi":99,"count":900}
 ],
 "ri":[
  {"lo":100,"hi":100,"count":900}
 ],
 "mrc":[
  {"tid":0,"pid":0,"references":1000,"cold":100,"invalidated":0,"rd":[{"lo":96,"hi":111,"count":900}]}
 ],
 "phases":[],
 "sharing":[],"false_sharing":[]}
$ body cyclic.rsct | grep -E '"lines":(1|99|100),'
  {"lines":1,"bytes":64,"miss_ratio":1,"low":1,"high":1},
  {"lines":99,"bytes":6336,"miss_ratio":1,"low":1,"high":1},
  {"lines":100,"bytes":6400,"miss_ratio":0.1,"low":0.1,"high":0.1}

# Distances from 1024 on share bins: 64 an octave.
$ reusescope gen cyclic,lines=5000 -n 10000 -q -o long.rsct
$ body long.rsct | sed -n '/"rd"/,/"mrc"/p'
 "rd":[
  {"lo":4992,"hi":5055,"count":5000}
 ],
 "ri":[
  {"lo":4992,"hi":5055,"count":5000}
 ],
 "mrc":[
  {"tid":0,"pid":0,"references":10000,"cold":5000,"invalidated":0,"rd":[{"lo":4096,"hi":5119,"count":5000}]}
 ],
 "phases":[],
 "sharing":[],"false_sharing":[]}
$ body long.rsct | grep -c miss_ratio
1167

# A valid trace without accesses: zeros, no curve, exit status 0.
$ printf 'addr,size\n' > none.csv
$ body none.csv
{"schema":"reusescope-profile/1",
 "accesses":0,"references":0,"cold":0,"invalidated":0,"distinct":0,
 "last_touch":0,"pruned":0,"censored":0,
 "rd":[],
 "ri":[],
 "mrc":[],
 "code":[],"pairs":[],"objects":[],"contexts":[],
 "threads":[],
 "phases":[],
 "sharing":[],"false_sharing":[]}
$ reusescope convert none.csv -q -o none.rsct; body none.rsct | md5sum > a; body none.csv | md5sum | cmp - a
$ body none.rsct --phases 3 --bins 4 --max-distance 9 --line 1 | sed -n 2p
 "accesses":0,"references":0,"cold":0,"invalidated":0,"distinct":0,
$ reusescope analyze none.csv -o -
-- Memory reuse ----------------------------------------------------------------
 command     reusescope analyze none.csv -o -
 made by     exact, from trace, one stack over all threads, * (glob)
 accesses    no accesses
$ reusescope analyze none.csv --format csv -o - | grep -v total
profile,model,line_bytes,table,name,lo,hi,count,value,low,high

# The engine by name.
$ body aa.din --engine exact --model single | sed -n 2p
 "accesses":2,"references":2,"cold":1,"invalidated":0,"distinct":1,
$ body aa.din --engine auto | sed -n 2p
 "accesses":2,"references":2,"cold":1,"invalidated":0,"distinct":1,
$ ls -A *.data* 2>&1
ls: cannot access '*.data*': No such file or directory
[2]

# The parallel engine says the same, whatever it was given; it only signs its name.
$ reusescope gen mix,lines=5000,threads=3 -n 300000 --seed 3 -q -o mix.rsct
$ body mix.rsct --phases 5 --bins 4 --max-distance 3000 > serial
$ body mix.rsct --phases 5 --bins 4 --max-distance 3000 --engine parallel > same && cmp serial same
$ body mix.rsct --phases 5 --bins 4 --max-distance 3000 --engine parallel --threads 5 > same && cmp serial same
$ json mix.rsct --engine parallel --threads 2 | grep -o '"by":[^,]*\|"workers":[^,]*'
"by":"parallel"
"workers":2
$ json mix.rsct --engine parallel --threads 5 --line 64,4096 | grep -o '"by":[^,]*\|"workers":[^,]*'
"by":"parallel"
"workers":2
"by":"parallel"
"workers":2
$ body none.csv --engine parallel --phases 3 | sed -n 2p
 "accesses":0,"references":0,"cold":0,"invalidated":0,"distinct":0,
$ body aa.din --engine parallel --threads 1 | sed -n 2p
 "accesses":2,"references":2,"cold":1,"invalidated":0,"distinct":1,
$ reusescope analyze mix.rsct --engine parallel --threads 2 -v -q -o out.json 2>&1 | grep parallel
reusescope: parallel engine (*): in two stages, * blocks, * MiB at most (glob)
$ reusescope analyze mix.rsct --engine parallel --threads 5 -v -q -o out.json 2>&1 | grep -E 'parallel|processor time'
reusescope: parallel engine (*): 5 workers, 300000 references in 1 rounds, * compactions (glob)
reusescope: its processor time, ns per reference: cut *, gather *, look up *, foresee *, build *, answer * (glob)
$ reusescope analyze mix.rsct --engine parallel:3 -o out.json
reusescope: engine 'parallel:3': parallel takes no parameter
[2]

# The curve at every size: distances counted one by one, against what an LRU stack says.
$ cat > every.py <<'END'
> import json, random, subprocess
> random.seed(7)
> lines = [random.randrange(random.choice((40, 3000, 5000))) for _ in range(20000)] + list(range(5000)) * 2
> open("every.list", "w").write("".join(f"{64 * line}\n" for line in lines))
> stack, misses = [], [0] * 6000
> for line in lines:
>     depth = stack.index(line) if line in stack else 6000
>     if depth < 6000: stack.pop(depth)
>     stack.insert(0, line)
>     misses[min(depth, 5999)] += 1
> for size in range(5998, -1, -1): misses[size] += misses[size + 1]
> def profile(*options):
>     return json.loads(subprocess.run(["reusescope", "analyze", "every.list", "--format", "json", "-o", "-", *options],
>                                      capture_output=True, check=True).stdout)
> for options in ([], ["--engine", "exact", "--no-ri"], ["--model", "private"], *(["--engine", "parallel", "--threads", n] for n in "125")):
>     points, at, ratio = profile("--every-size", *options)["mrc"], 0, None
>     for size in range(1, len(set(lines)) + 1):
>         if at < len(points) and points[at]["lines"] == size: ratio, at = points[at]["miss_ratio"], at + 1
>         if ratio != misses[size] / len(lines): print(options, size, ratio, misses[size] / len(lines))
>     if at != len(points): print("points past the footprint")
> coarse, fine = profile()["mrc"], profile("--every-size")["mrc"]
> print(len(coarse) < 1300, len(fine) > 2500, fine[-1] == coarse[-1])
> END
$ /usr/bin/python3 every.py
True True True
$ for line in 64 8,4096; do body mix.rsct --every-size --line $line > serial; for n in 1 2 5; do body mix.rsct --every-size --line $line --engine parallel --threads $n | cmp - serial; done; done
$ reusescope analyze every.list --every-size -q -o every.json; reusescope report every.json --format json -o - | cmp - every.json
$ python3 $SOURCE/tests/schema_check.py $SOURCE/docs/schema/profile.schema.json every.json
$ reusescope analyze every.list --every-size --max-distance 100 --format json -o - | grep -c '"lines":100,'
1
$ reusescope analyze every.list --every-size --engine shards:0.5
reusescope: --every-size needs the exact or parallel engine: the shards engine has no single distances
[2]
$ reusescope analyze every.list --every-size --requests
reusescope: --every-size cannot be used with --requests, whose sizes are bytes
[2]

# What a filter left out is said, and misses of a part are not divided by all instructions.
$ reusescope gen cyclic,lines=4K -n 40000 -q -o whole.rsct; reusescope convert whole.rsct -q --every 10 -o tenth.rsct; reusescope convert whole.rsct -q --sample-sets 1/4,bits:6-7=1 -o sets.rsct
$ reusescope analyze tenth.rsct --format csv -o - > /dev/null
reusescope: warning: the trace was filtered when it was written (every=10): these are the numbers of what is left
$ reusescope analyze sets.rsct --format csv -o - > /dev/null
reusescope: warning: the trace has only a sample of the sets of a cache (sets=6-7=1), and these are its numbers, not those of the whole: reusescope sim knows such samples
$ reusescope analyze whole.rsct --every 10 --format csv -o - > /dev/null
$ (for i in $(seq 100); do echo "I  04000$i,3"; echo " L 1f$i,8"; done) > whole.lackey
$ for filter in "--kind IR" "--kind R" "--every 10" "--tid 0"; do echo "$filter: $(reusescope analyze -q whole.lackey $filter --format json -o - | grep -o '"instructions":[0-9]*')"; done
--kind IR: "instructions":100
--kind R: "instructions":100
--every 10: 
--tid 0: 
