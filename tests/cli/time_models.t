# The engines that model distances from intervals: statstack, aet, hotl, shen.
$ json() { reusescope analyze "$@" -q --format json -o -; }
$ check() { /usr/bin/python3 $SOURCE/tests/schema_check.py $SOURCE/docs/schema/profile.schema.json -; }

# a b c a b b: intervals 3, 3, 1. P(1) = 5/6, P(2) = 5/6: a and b come back after 1.67 lines, so 2.
$ printf '0 0\n0 40\n0 80\n0 0\n0 40\n0 40\n' > abcabb.din
$ json abcabb.din --engine statstack > s.json; check < s.json
$ sed 's/"seconds":[0-9.e-]*/"seconds":S/' s.json
{"schema":"reusescope-profile/1",
 "made":{"by":"statstack","source":"trace","model":"single","line":64,"threads":1,"workers":1,"sampling":"none; RD modelled from RI (StatStack); 90 % bars by true distances of 6 references and 3 lines, widened to the model","command":["reusescope","analyze","abcabb.din","--engine","statstack","-q","--format","json","-o","-"],"seconds":S,"overhead":null,"coverage":null},
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

# All know the same about what they do not model.
$ known() { json abcabb.din --engine $1 | sed -n -e '/"accesses"/p' -e '/"ri":/,/\]/p'; }
$ known exact > exact.txt; for e in statstack aet hotl shen; do known $e | cmp - exact.txt && wc -l < exact.txt; done
5
5
5
5

# A cycle is a step at its length, in all of them.
$ reusescope gen cyclic,lines=100 -n 10000 -o cycle.rsct -q
$ for e in statstack aet hotl shen; do json cycle.rsct --engine $e | grep -A3 '"rd":\[$' ; done
 "rd":[
  {"lo":99,"hi":99,"count":9900}
 ],
 "ri":[
 "rd":[
  {"lo":99,"hi":99,"count":9900}
 ],
 "ri":[
 "rd":[
  {"lo":99,"hi":99,"count":9900}
 ],
 "ri":[
 "rd":[
  {"lo":99,"hi":99,"count":9900}
 ],
 "ri":[

# No accesses, one, and nothing but first uses.
$ json abcabb.din --kind W --engine aet | grep -e '"accesses"' -e '"mrc"'
 "accesses":0,"references":0,"cold":0,"invalidated":0,"distinct":0,
 "mrc":[],
$ printf '0 0\n' > one.din; for e in statstack aet hotl shen; do json one.din --engine $e | grep -A2 -e '"mrc"'; done | sort | uniq -c
      4   {"lines":1,"bytes":64,"miss_ratio":1,"low":1,"high":1}
      4  "mrc":[
      4  ],
$ printf '0 0\n0 40\n0 80\n' > cold.din; json cold.din --engine shen | grep -A8 -e '"rd":'
 "rd":[],
 "ri":[],
 "mrc":[
  {"lines":1,"bytes":64,"miss_ratio":1,"low":1,"high":1},
  {"lines":2,"bytes":128,"miss_ratio":1,"low":1,"high":1},
  {"lines":3,"bytes":192,"miss_ratio":1,"low":1,"high":1}
 ],
 "code":[],"pairs":[],"objects":[],"contexts":[],
 "threads":[
  {"tid":0,"pid":0,"references":3,"cold":3,"invalidated":0,"rd":[]}
 ],
 "phases":[],
 "sharing":[],"false_sharing":[]}

# What they cannot do is said.
$ reusescope analyze abcabb.din --engine aet --phases 4
reusescope: the time engine cannot do phases
[2]
$ reusescope analyze abcabb.din --engine shen --max-distance 10
reusescope: the time engine cannot do a largest distance
[2]
$ reusescope analyze abcabb.din --engine hotl --bins 4
reusescope: the time engine cannot do a second binning
[2]
$ reusescope analyze abcabb.din --engine statstack:5
reusescope: engine 'statstack:5': not a rate above 0 and up to 1, such as 0.01, 1/100 or 1%
[2]
$ reusescope analyze abcabb.din --engine aet:
reusescope: engine 'aet:': not a rate above 0 and up to 1, such as 0.01, 1/100 or 1%
[2]

# Beyond 128 Ki lines intervals are those of a sample, and the result says so; the same seed gives the same.
$ reusescope gen uniform,lines=300000 -n 1000000 -o many.rsct -q
$ said() { json many.rsct --engine "$@" | sed -n 's/.*"by":"\([^"]*\)".*"sampling":"\([^"]*\)".*/\1: \2/p'; }
$ said aet
aet: intervals of uses at random, rate 0.03125, seed 0, of all in the first * references; distinct * to *; RD modelled from RI (AET); 90 % bars by true distances of * references and * lines, widened to the model (glob)
$ said hotl:1/20 --seed 7
hotl:0.05: intervals of uses at random, rate 0.05, seed 7; distinct * to *; RD modelled from RI (HOTL); 90 % bars by true distances of * references and * lines, widened to the model (glob)
$ said shen:100%
shen:1: none; RD modelled from RI (Shen); 90 % bars by true distances of * references and * lines, widened to the model (glob)
$ for i in 1 2; do json many.rsct --engine hotl | sed 's/"seconds":[0-9.e-]*//' | md5sum; done | uniq | wc -l
1
$ for seed in 1 2; do json many.rsct --engine hotl --seed $seed | grep -A1 '"accesses"'; done | uniq | grep -c accesses
2
$ json many.rsct --engine aet | check

# With all lines, what is measured is exact again.
$ known() { json many.rsct --engine $1 | sed -n -e '/"accesses"/p' -e '/"ri":/,/\]/p'; }
$ known exact > exact.txt; known aet:1 | cmp - exact.txt && echo same
same

# One engine with a model; the models' names alone are the same.
$ for m in statstack aet hotl shen; do json abcabb.din --engine $m | grep -v command > a; json abcabb.din --engine time:$m | grep -v command | cmp - a; done
$ json abcabb.din --engine time:aet:0.5 | grep -o '"by":"[^"]*"'
"by":"aet:0.5"
$ reusescope analyze abcabb.din --engine time
reusescope: engine 'time': not time:MODEL or time:MODEL:RATE with one of statstack, aet, hotl, shen
[2]
$ reusescope analyze abcabb.din --engine time:lru:0.5
reusescope: engine 'time:lru:0.5': not time:MODEL or time:MODEL:RATE with one of statstack, aet, hotl, shen
[2]

# The same sample, and the same bars, of a native trace and of text, whose batches end elsewhere.
$ reusescope gen mix,lines=3K,threads=3 -n 150K --seed 4 -q -o whole.rsct; reusescope convert whole.rsct -q -o whole.csv
$ body() { reusescope analyze "$@" -q --format json -o - | grep -v '"made"' | md5sum; }
$ for engine in hotl aet:0.1 statstack:1 shen; do for file in whole.rsct whole.csv; do body $file --engine $engine; done | uniq | wc -l; done | xargs
1 1 1 1
