# The featherlight engine: words sampled and watched as debug registers would.
$ json() { reusescope analyze "$@" -q --format json -o -; }
$ check() { /usr/bin/python3 $SOURCE/tests/schema_check.py $SOURCE/docs/schema/profile.schema.json -; }

# a b c a b b, all watched: the exact intervals, at 8 bytes.
$ printf '0 0\n0 8\n0 10\n1 0\n0 8\n0 8\n2 4000\n' > abcabb.din
$ json abcabb.din --engine featherlight:period=1 > f.json; check < f.json
$ sed -n -e 's/.*"by":"\([^"]*\)".*"line":\([0-9]*\).*/\1 \2/p' -e '/"accesses"/p' -e '/"ri":/,/\]/p' f.json
featherlight:period=1,registers=4 8
 "accesses":6,"references":6,"cold":3,"invalidated":0,"distinct":3,
 "ri":[
  {"lo":1,"hi":1,"count":1},
  {"lo":3,"hi":3,"count":2}
 ],
$ json abcabb.din --kind R,W --line 8 --engine exact | sed -n '/"ri":/,/\]/p'
 "ri":[
  {"lo":1,"hi":1,"count":1},
  {"lo":3,"hi":3,"count":2}
 ],

# What was sampled is told, and the same comes of the same seed.
$ reusescope gen zipf,lines=10K,skew=0.8,write=0.3 -n 400K --seed 3 -q -o z.rsct
$ json z.rsct --engine featherlight:period=100,registers=2,skid=3,shadow=5,spacing=fixed,rd=shen,attribution=inverse | sed -n -e 's/"seconds":.*//' -e '/"by"/p'
 "made":{"by":"featherlight:period=100,registers=2,skid=3,shadow=5,spacing=fixed,attribution=inverse,rd=shen","source":"trace","model":"single","line":8,"threads":1,"workers":1,"sampling":"1 of 100 loads and 1 of 100 stores, 2 simulated debug registers per thread; 534 samples, 267 watched: 144 reused, 121 replaced, 2 not used again, 0 dropped; inverse chances; words of 8 bytes, threads apart; RD modelled from RI (shen); 90 % bars from a bootstrap of the samples and the error of the model","command":["reusescope","analyze","z.rsct","--engine","featherlight:period=100,registers=2,skid=3,shadow=5,spacing=fixed,rd=shen,attribution=inverse","-q","--format","json","-o","-"],
$ json z.rsct --engine featherlight:period=100 --seed 7 | sed 's/"seconds":[0-9.e-]*/"seconds":0/' > one; json z.rsct --engine featherlight:period=100 --seed 7 | sed 's/"seconds":[0-9.e-]*/"seconds":0/' | cmp - one && echo same
same
$ json z.rsct --engine featherlight:period=100 --seed 8 | sed 's/"seconds":[0-9.e-]*/"seconds":0/' | cmp -s - one || echo another sample
another sample
$ check < one

# Threads are apart, and nothing is made up of what was not seen.
$ reusescope gen uniform,lines=100,threads=3 -n 30000 --seed 3 -q -o t.rsct
$ json t.rsct --engine featherlight | sed -n 's/.*\("model":"[a-z]*"\).*\("threads":[0-9]*\).*/\1 \2/p'
"model":"private" "threads":3
$ json t.rsct --engine featherlight:period=1G | sed -n '/"accesses"/,/"censored"/p'
 "accesses":30000,"references":30000,"cold":0,"invalidated":0,"distinct":1,
 "last_touch":0,"pruned":0,"censored":30000,

# What it cannot do is said in one line.
$ reusescope analyze z.rsct --engine featherlight --line 32
reusescope: the featherlight engine watches words: line size 32 is neither 8 nor (modelled) 64
[2]
$ reusescope analyze z.rsct --engine featherlight --model shared
reusescope: the featherlight engine watches each thread by itself: it has no model 'shared'
[2]
$ reusescope analyze z.rsct --engine featherlight --phases 3
reusescope: the featherlight engine cannot do phases
[2]
$ reusescope analyze z.rsct --engine featherlight:period=none
reusescope: engine 'featherlight': period=none: not a number from 1 to 1099511627776
[2]
$ reusescope analyze z.rsct --engine featherlight:registers=0
reusescope: engine 'featherlight': registers=0: not a number from 1 to 4096
[2]
$ reusescope analyze z.rsct --engine featherlight:speed=5
reusescope: engine 'featherlight': 'speed': not one of period, registers, skid, shadow, spacing, replacement, attribution, rd
[2]
$ reusescope analyze z.rsct --engine featherlight:attribution=all
reusescope: engine 'featherlight': attribution=all: not one of censored, proportional, since-last, inverse, none
[2]

# Lines of 64 bytes are a model, and marked as one: of a stride of 8 bytes one reference in eight misses.
$ reusescope gen stride,lines=40K,stride=8 -n 800K -q -o s.rsct
$ json s.rsct --engine featherlight:period=10 --line 64 > l.json; check < l.json
$ python3 -c 'import json; p = json.load(open("l.json")); print(p["made"]["line"], p["made"]["modelled"]); m = [x for x in p["mrc"] if x["lines"] == 128][0]; print(0.11 < m["miss_ratio"] < 0.14, m["low"] < 0.125 < m["high"])'
64 lines of 64 bytes, of watched quarters and halves of them
False True
$ reusescope analyze s.rsct --engine featherlight:period=100 --line 64 -q -o - | grep -A1 modelled
 modelled    lines of 64 bytes, of watched quarters and halves of them
 sampling    1 of 100 loads and 1 of 100 stores, 4 simulated debug registers ...
$ json s.rsct --engine featherlight:period=100 --line 8,64 | grep -c '"modelled"'
1
$ reusescope analyze s.rsct --engine featherlight:registers=2 --line 64
reusescope: engine 'featherlight': lines of 64 bytes need registers=4: two or four of them watch a part of one
[2]
$ reusescope run --engine featherlight --with qemu -- true
reusescope run: --engine featherlight watches reuses while the program runs: that is --with perf (or record a trace, --trace FILE --no-analysis, then reusescope analyze --engine featherlight)
[2]
$ reusescope run --engine featherlight:period=100 -- true
reusescope run: --engine featherlight watches reuses while the program runs: that is --with perf (or record a trace, --trace FILE --no-analysis, then reusescope analyze --engine featherlight)
[2]
