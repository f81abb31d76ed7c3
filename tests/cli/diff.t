# diff: what changed between two profiles.
$ cp $SOURCE/tests/fuzz/corpus/profile/rows.json old.json
$ cat > edit.py <<'PY'
> import json, sys
> p = json.load(open("old.json"))
> for row in p["code"]:
>     row["pc"] = hex(int(row["pc"], 16) + 0x5000)           # loaded somewhere else
>     if row.get("line"): row["line"] += 3                   # three lines were added on top of the file
>     if row.get("function") == "copy":
>         row["rd"] = [{"lo": 0, "hi": 0, "count": 1000}, {"lo": 57344, "hi": 65535, "count": 4000}]
>         row["error"] = 0
> for bin in p["rd"]:
>     if bin["lo"] == 0: bin["count"] -= 3600
>     if bin["lo"] <= 60000 <= bin["hi"]: bin["count"] += 3600
> for at in p["mrc"]:
>     misses = p["cold"] + sum(bin["count"] for bin in p["rd"] if bin["lo"] >= at["lines"])
>     at["miss_ratio"] = at["low"] = at["high"] = misses / p["references"]
> json.dump(p, open("new.json", "w"))
> PY
$ python3 edit.py
$ reusescope diff old.json new.json --at 28K,896K,112M
new.json against old.json
 references     77,060, was 77,060
 footprint      4.27 MiB, was 4.27 MiB
\
 Misses
   cache                  old       new    change
   28 KiB              72.2 k    75.8 k    +5.0 %  worse
   896 KiB             72.2 k    75.8 k    +5.0 %  worse
   112 MiB             70.0 k    70.0 k    +0.0 %  same
\
 Miss ratio
   cache                  old       new    change
   28 KiB              93.7 %    98.4 %    +5.0 %
   896 KiB             93.7 %    98.4 %    +5.0 %
   112 MiB             90.8 %    90.8 %    +0.0 %
\
 Functions  misses in a cache of 28 KiB
      old       new    change  where
      400     4,000  +900.0 %  copy in mem.c
\
 Lines  misses in a cache of 28 KiB
      old       new    change  where
      400     4,000  +900.0 %  mem.c:13 copy

# The same again is the same, wherever it was loaded.
$ reusescope diff old.json old.json --at 28K --fail-on 'miss_ratio>+0%,misses>+0,line.misses>+0,function.references>+0,footprint>+0%,cold>+0'
old.json against old.json
 references     77,060, was 77,060
 footprint      4.27 MiB, was 4.27 MiB
\
 Misses
   cache                  old       new    change
   28 KiB              72.2 k    72.2 k    +0.0 %  same
\
 Miss ratio
   cache                  old       new    change
   28 KiB              93.7 %    93.7 %    +0.0 %
\
 no regression by the 6 rules given

# Misses per 1000 instructions, if both profiles know theirs; a change of the run below 0.5 % is noise, but breaks a rule.
$ instructions() { /usr/bin/python3 -c 'import json, sys; p = json.load(open(sys.argv[1])); p["made"]["instructions"] = int(sys.argv[2]); json.dump(p, open(sys.argv[3], "w"))' "$@"; }
$ instructions old.json 722000 old_i.json; instructions new.json 379000 new_i.json
$ reusescope diff old_i.json new_i.json --at 896K | sed -n '/^ Misses per/,/^$/p'
 Misses per 1000 instructions
   cache                  old       new    change
   896 KiB              100.0     200.0  +100.0 %
\
$ reusescope diff old_i.json new.json --at 896K | grep -c 'Misses per'
0
[1]
$ sed 's/count": 4000}/count": 600}/; s/count": 1000}/count": 4400}/; s/3600/200/g' edit.py > little.py; python3 little.py; mv new.json little.json; python3 edit.py
$ reusescope diff old.json little.json --at 896K --fail-on 'misses>+0.1%' | sed -n '/^ Misses/,/^$/p;/^ misses>/,$p'
 Misses
   cache                  old       new    change
   896 KiB             72.2 k    72.4 k    +0.3 %  same
\
 misses>+0.1%
   misses in a cache of 896 KiB: 72,400, was 72,200 (+0.277 %); the line that
   gained most misses is mem.c:13
$ reusescope diff old_i.json new_i.json --at 896K --format json | grep -o '"mpki":{"old":{"value":[0-9.]*'
"mpki":{"old":{"value":100
$ reusescope merge old_i.json old_i.json -q -o twice.json; grep -o '"instructions":[0-9]*' twice.json
"instructions":1444000

# Regressions, by any rule.
$ reusescope diff old.json new.json --at 896K --fail-on 'miss_ratio>+5%' | tail -4
      old       new    change  where
      400     4,000  +900.0 %  mem.c:13 copy
\
 no regression by the 1 rule given
$ reusescope diff old.json new.json --at 896K --fail-on 'miss_ratio>+4%' | tail -4; echo ${PIPESTATUS[0]}
\
 miss_ratio>+4%
   miss ratio in a cache of 896 KiB: 98.4 %, was 93.7 % (+4.99 %); the line that
   gained most misses is mem.c:13
3
$ reusescope diff old.json new.json --at 896K --fail-on 'function.misses>+10%' --fail-on 'line.miss_ratio>+0.5' -q -o found.txt
[3]
$ tail -5 found.txt
 function.misses>+10%
   misses of function copy in a cache of 896 KiB: 4,000, was 400 (+900 %); the
   line that gained most misses is mem.c:13
 line.miss_ratio>+0.5
   miss ratio of mem.c:13 in a cache of 896 KiB: 80 %, was 8 % (+900 %)
$ reusescope diff new.json old.json --at 896K --fail-on 'function.misses>+10%,misses>+0' | tail -1
 no regression by the 2 rules given

# For other programs.
$ reusescope diff old.json new.json --at 896K --fail-on 'misses>+1K' --format github
::error file=mem.c,line=13,title=misses>+1K::misses in a cache of 896 KiB: 75,800, was 72,200 (+4.99 %25); the line that gained most misses is mem.c:13
::warning file=mem.c,line=13,title=more misses::misses of mem.c:13 in a cache of 896 KiB: 4,000, was 400 (+900 %25)
[3]
$ reusescope diff old.json new.json --at 896K --fail-on 'misses>+1K' -o found.sarif
[3]
$ python3 $SOURCE/tests/sarif_check.py $SOURCE/tests/sarif.schema.json found.sarif && tail -n +2 found.sarif
    {"ruleId":"misses\u003e+1K","ruleIndex":0,"level":"error","message":{"text":"misses in a cache of 896 KiB: 75,800, was 72,200 (+4.99 %); the line that gained most misses is mem.c:13"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"mem.c"},"region":{"startLine":13}},"logicalLocations":[{"fullyQualifiedName":"copy","kind":"function"}]}],"properties":{"old":72200,"new":75800,"cacheBytes":917504}},
    {"ruleId":"more-misses","ruleIndex":1,"level":"warning","message":{"text":"misses of mem.c:13 in a cache of 896 KiB: 4,000, was 400 (+900 %)"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"mem.c"},"region":{"startLine":13}},"logicalLocations":[{"fullyQualifiedName":"copy","kind":"function"}]}],"properties":{"old":400,"new":4000,"cacheBytes":917504}}]}]}
$ reusescope diff old.json new.json --at 896K,112M --format json | head -4
{"schema":"reusescope-diff/1","old":"old.json","new":"new.json","failed":false,"regressions":[],"comparisons":[
  {"model":"single","line_bytes":64,"references":[77060,77060],"cold":[70000,70000],"footprint":[70000,70000],"sizes":[
    {"bytes":917504,"name":null,"misses":{"old":{"value":72200,"low":72200,"high":72200},"new":{"value":75800,"low":75800,"high":75800},"verdict":"worse"},"miss_ratio":{"old":{"value":0.9369322605761744,"low":0.9369322605761744,"high":0.9369322605761744},"new":{"value":0.983649104593823,"low":0.983649104593823,"high":0.983649104593823},"verdict":"worse"}},
    {"bytes":117440512,"name":null,"misses":{"old":{"value":70000,"low":70000,"high":70000},"new":{"value":70000,"low":70000,"high":70000},"verdict":"same"},"miss_ratio":{"old":{"value":0.9083830781209448,"low":0.9083830781209448,"high":0.9083830781209448},"new":{"value":0.9083830781209448,"low":0.9083830781209448,"high":0.9083830781209448},"verdict":"same"}}],"functions":[
$ reusescope diff old.json new.json --at 896K,112M --fail-on 'misses>+1,line.misses>+1,references>+0' -o diff.json
[3]
$ python3 -m jsonschema -i diff.json $SOURCE/docs/schema/diff.schema.json 2>/dev/null && echo valid
valid

# Names of files are no commands and no other URI.
$ for f in old new; do sed 's|"mem.c"|"/home/u/wave/a,b: %\\n::x.c"|' $f.json > odd_$f.json; done
$ reusescope diff odd_old.json odd_new.json --at 896K --format github
::warning file=/home/u/wave/a%2Cb%3A %25%0A%3A%3Ax.c,line=13,title=more misses::misses of a,b: %25?::x.c:13 in a cache of 896 KiB: 4,000, was 400 (+900 %25)
$ reusescope diff odd_old.json odd_new.json --at 896K --format sarif | grep -o '"uri":"[^"]*"'
"uri":"file:///home/u/wave/a%2Cb%3A%20%25%0A%3A%3Ax.c"

# Two models or line sizes are not compared.
$ printf '0 0\n0 40\n0 0\n' > t.din && reusescope analyze t.din -q -o a.data && reusescope analyze t.din --line 128 -q -o b.data
$ reusescope diff a.data b.data
reusescope: b.data has no profile with the model and line size of a.data to compare with
[1]
$ reusescope analyze t.din --line 64,128 -q -o both.data && reusescope diff both.data a.data --at 1K
a.data against both.data
 references     3, was 3
 footprint      128 B, was 128 B
\
 Misses
   cache                  old       new    change
   1 KiB                    2         2    +0.0 %  same
\
 Miss ratio
   cache                  old       new    change
   1 KiB               66.7 %    66.7 %    +0.0 %
\
 1 profile without a partner in the other file

# Sampled profiles: a difference within the error bars is none, though the estimates differ.
$ reusescope gen zipf,lines=64K -n 300K --seed 1 -q -o z.rsct
$ for s in 1 2; do reusescope analyze z.rsct --engine shards:0.1 --seed $s -q -o s$s.data; done
$ reusescope diff s1.data s2.data --at 256K --fail-on 'miss_ratio>+0%' | grep -E 'KiB|regression'
   256 KiB             96.3 k     101 k    +4.4 %  same
   256 KiB             31.3 %    32.7 %    +4.4 %
 no regression by the 1 rule given

# The papers' measures, worked out by hand: all reuses of one are an octave above those of the other.
# Intervals 4,096 and 8,192: neighbouring bins, whose means share half. Distances 4,095 and 8,191: the first bin has
# one neighbour, so they share three quarters. Of 87 sizes, the 8 from 4,096 to before 8,192 differ by 0.5.
$ for n in 4096 8192; do reusescope gen cyclic,lines=$n -n $((2 * n)) -q -o c$n.rsct && reusescope analyze c$n.rsct -q -o c$n.data; done
$ reusescope diff --accuracy c4096.data c8192.data
c8192.data against c4096.data
 single by exact against single by exact, lines of 64 B
                              S     S-hat       EMD
   reuse intervals       0.0000    0.5000    1.0000
   reuse distances       0.0000    0.7500    1.0000
   distances in the profile's bins, references without one included: overlap 0.5000
   miss ratio: MAE 0.04598, at most 0.50000, over 87 sizes
$ reusescope diff --accuracy c4096.data c4096.data --format json
{"schema":"reusescope-accuracy/1","old":"c4096.data","new":"c4096.data","unmatched":0,"comparisons":[
  {"old":{"by":"exact","model":"single","references":8192},"new":{"by":"exact","model":"single","references":8192},"line_bytes":64,"ri":{"s":1,"s_hat":1,"emd":0},"rd":{"s":1,"s_hat":1,"emd":0},"overlap":1,"mae":0,"worst":0,"sizes":79,"within_bars":null}]}
# An estimate has bars; intervals that were not counted are not compared; files with several profiles.
$ reusescope analyze z.rsct -q -o exact.data && reusescope analyze z.rsct --no-ri -q -o plain.data
$ reusescope diff --accuracy exact.data s1.data -o accuracy.json && python3 -m jsonschema -i accuracy.json $SOURCE/docs/schema/accuracy.schema.json 2>/dev/null && echo valid
valid
$ reusescope diff --accuracy exact.data s1.data | grep bars
   the error bars meet at 100 % of these sizes
$ reusescope diff --accuracy exact.data plain.data | grep -e intervals -e MAE
   reuse intervals            -         -         -
   miss ratio: MAE 0.00000, at most 0.00000, over 105 sizes
$ reusescope diff --accuracy both.data a.data | tail -1
 1 profile without a partner in the other file
# What cannot be compared.
$ printf '0 0\n0 40\n' > once.din && reusescope analyze once.din -q -o once.data && reusescope diff --accuracy a.data once.data
reusescope: a.data and once.data cannot be compared: one has no reuses
[1]
$ reusescope analyze z.rsct --line 128 -q -o wide.data && reusescope diff --accuracy exact.data wide.data
reusescope: exact.data and wide.data cannot be compared: their line sizes differ
[1]
$ reusescope analyze z.rsct --max-distance 100 -q -o cut.data && reusescope diff --accuracy exact.data cut.data
reusescope: exact.data and cut.data cannot be compared: --max-distance cut off distances
[1]
$ reusescope gen uniform,lines=100,threads=2 -n 5000 -q -o two.rsct && reusescope analyze two.rsct --model both -q -o models.data && reusescope analyze two.rsct --model private -q -o private.data && reusescope analyze two.rsct -q -o single.data
$ reusescope diff --accuracy private.data single.data
reusescope: private.data and single.data cannot be compared: one is of private stacks, the other of one stack
[1]
$ reusescope diff --accuracy models.data models.data | grep by
 private by exact against private by exact, lines of 64 B
 shared by exact against shared by exact, lines of 64 B
$ reusescope analyze two.rsct --requests -q -o requests.data && reusescope diff --accuracy requests.data single.data
reusescope: requests.data and single.data cannot be compared: one is of requests for whole objects
[1]
$ reusescope diff --accuracy exact.data s1.data --at 1M
reusescope diff: --accuracy does not take --at
[2]
$ reusescope diff --accuracy exact.data s1.data --format github
reusescope diff: github is not a format for this result: text, json
[2]

# What makes no sense.
$ reusescope diff old.json
reusescope diff: two profiles are needed: OLD NEW
[2]
$ reusescope diff old.json new.json more.json
reusescope diff: more than two profiles: more.json
[2]
$ reusescope diff old.json none.json
reusescope: none.json: No such file or directory
[1]
$ reusescope diff old.json new.json --at 1M,x
reusescope diff: --at 1M,x: not a list of up to 8 sizes in bytes or caches of this machine, as 32K,1M,L2
[2]

# A rule about code of profiles that count none is named: it would pass for ever.
$ reusescope gen cyclic,lines=99 -n 1000 -q -o bare.rsct; reusescope analyze bare.rsct -q -o bare.data
$ reusescope diff bare.data bare.data --at 4K --fail-on 'misses>+0,function.misses>+5%,line.references>+1' -q -o bare.txt
$ reusescope diff bare.data bare.data --at 4K --fail-on 'misses>+0,function.misses>+5%,line.references>+1' -o bare.txt
reusescope: warning: --fail-on function.misses>+5%: neither profile counts functions, so nothing can break it
reusescope: warning: --fail-on line.references>+1: neither profile counts lines of source, so nothing can break it

# Rules that are none.
$ reusescope diff old.json new.json --fail-on 'miss_ratio'
reusescope diff: --fail-on miss_ratio: not a rule as miss_ratio>+5%, misses>+1000, function.misses>+10% (of miss_ratio, misses, references, footprint, cold)
[2]
$ reusescope diff old.json new.json --fail-on 'function.cold>+5%'
reusescope diff: --fail-on function.cold>+5%: not a rule as miss_ratio>+5%, misses>+1000, function.misses>+10% (of miss_ratio, misses, references, footprint, cold)
[2]
$ reusescope diff old.json new.json --fail-on 'misses>5%%'
reusescope diff: --fail-on misses>5%%: not a rule as miss_ratio>+5%, misses>+1000, function.misses>+10% (of miss_ratio, misses, references, footprint, cold)
[2]
$ reusescope diff old.json new.json --format csv
reusescope diff: --format csv: not one of text, json, sarif, github
[2]
$ reusescope diff old.json new.json --source-root nowhere
reusescope diff: --source-root nowhere: no such folder
[2]
