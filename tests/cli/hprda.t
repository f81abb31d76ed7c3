# The hp-rda engine: an approximation with bounds.
$ json() { reusescope analyze "$@" -q --format json -o -; }
$ check() { /usr/bin/python3 $SOURCE/tests/schema_check.py $SOURCE/docs/schema/profile.schema.json -; }
$ body() { json "$@" > out.json && check < out.json && grep -v '"made"' out.json; }
$ made() { json "$@" | grep -o '"by".*"sampling":"[^"]*"'; }
$ for line in 4 1 3 2 3 7 5 6 1 6 2 1 2 1 7 1; do echo "0 ${line}00"; done > paper.din

# One local trace holds all: exact, and the bars say so.
$ body paper.din --engine hp-rda --threads 2
{"schema":"reusescope-profile/1",
 "accesses":16,"references":16,"cold":7,"invalidated":0,"distinct":7,
 "last_touch":0,"pruned":0,"censored":0,
 "rd":[
  {"lo":1,"hi":1,"count":5},
  {"lo":2,"hi":2,"count":1},
  {"lo":4,"hi":4,"count":1},
  {"lo":5,"hi":5,"count":2}
 ],
 "ri":[],
 "mrc":[
  {"lines":1,"bytes":64,"miss_ratio":1,"low":1,"high":1},
  {"lines":2,"bytes":128,"miss_ratio":0.6875,"low":0.6875,"high":0.6875},
  {"lines":3,"bytes":192,"miss_ratio":0.625,"low":0.625,"high":0.625},
  {"lines":4,"bytes":256,"miss_ratio":0.625,"low":0.625,"high":0.625},
  {"lines":5,"bytes":320,"miss_ratio":0.5625,"low":0.5625,"high":0.5625},
  {"lines":6,"bytes":384,"miss_ratio":0.4375,"low":0.4375,"high":0.4375},
  {"lines":7,"bytes":448,"miss_ratio":0.4375,"low":0.4375,"high":0.4375}
 ],
 "code":[],"pairs":[],"objects":[],"contexts":[],
 "threads":[],
 "phases":[],
 "sharing":[],"false_sharing":[]}
$ rd() { body "$@" | sed -n '/^ "rd"/,/^ ]/p;/"miss_ratio"/p'; }
$ rd paper.din > exact; rd paper.din --engine hp-rda | cmp - exact; wc -l < exact
13

# In local traces of 6 the reuse of line 7 is 6 lines by formula 1, really 4; M is 7, so the factor is not applied.
$ made paper.din --engine hp-rda:local=6 --threads 2
"by":"hp-rda","source":"trace","model":"single","line":64,"threads":1,"workers":2,"sampling":"local traces of 6 references, adjusted beyond M, 1 fragment of up to 67108864; low and high bound the truth"
$ body paper.din --engine hp-rda:local=6
{"schema":"reusescope-profile/1",
 "accesses":16,"references":16,"cold":7,"invalidated":0,"distinct":7,
 "last_touch":0,"pruned":0,"censored":0,
 "rd":[
  {"lo":1,"hi":1,"count":5},
  {"lo":2,"hi":2,"count":1},
  {"lo":5,"hi":5,"count":2},
  {"lo":6,"hi":6,"count":1}
 ],
 "ri":[],
 "mrc":[
  {"lines":1,"bytes":64,"miss_ratio":1,"low":1,"high":1},
  {"lines":2,"bytes":128,"miss_ratio":0.6875,"low":0.6875,"high":0.6875},
  {"lines":3,"bytes":192,"miss_ratio":0.625,"low":0.625,"high":0.625},
  {"lines":4,"bytes":256,"miss_ratio":0.625,"low":0.5,"high":0.625},
  {"lines":5,"bytes":320,"miss_ratio":0.625,"low":0.4375,"high":0.625},
  {"lines":6,"bytes":384,"miss_ratio":0.5,"low":0.4375,"high":0.5},
  {"lines":7,"bytes":448,"miss_ratio":0.4375,"low":0.4375,"high":0.4375}
 ],
 "code":[],"pairs":[],"objects":[],"contexts":[],
 "threads":[],
 "phases":[],
 "sharing":[],"false_sharing":[]}

# In local traces of 2 distances pass M, and the factor is applied unless told not to.
$ made paper.din --engine hp-rda:local=2,adjust=off --threads 2
"by":"hp-rda","source":"trace","model":"single","line":64,"threads":1,"workers":2,"sampling":"local traces of 2 references, not adjusted, 1 fragment of up to 67108864; low and high bound the truth"
$ body paper.din --engine hp-rda:local=2 | grep hi
  {"lo":1,"hi":1,"count":5},
  {"lo":2,"hi":2,"count":1},
  {"lo":3,"hi":3,"count":1},
  {"lo":6,"hi":6,"count":2}
  {"lines":1,"bytes":64,"miss_ratio":1,"low":1,"high":1},
  {"lines":2,"bytes":128,"miss_ratio":0.6875,"low":0.625,"high":0.6875},
  {"lines":3,"bytes":192,"miss_ratio":0.625,"low":0.4375,"high":0.625},
  {"lines":4,"bytes":256,"miss_ratio":0.5625,"low":0.4375,"high":0.625},
  {"lines":5,"bytes":320,"miss_ratio":0.5625,"low":0.4375,"high":0.625},
  {"lines":6,"bytes":384,"miss_ratio":0.5625,"low":0.4375,"high":0.625},
  {"lines":7,"bytes":448,"miss_ratio":0.4375,"low":0.4375,"high":0.4375}
$ body paper.din --engine hp-rda:local=2,adjust=off | grep hi
  {"lo":1,"hi":1,"count":5},
  {"lo":2,"hi":2,"count":1},
  {"lo":6,"hi":6,"count":2},
  {"lo":8,"hi":8,"count":1}
  {"lines":1,"bytes":64,"miss_ratio":1,"low":1,"high":1},
  {"lines":2,"bytes":128,"miss_ratio":0.6875,"low":0.625,"high":0.6875},
  {"lines":3,"bytes":192,"miss_ratio":0.625,"low":0.4375,"high":0.625},
  {"lines":4,"bytes":256,"miss_ratio":0.625,"low":0.4375,"high":0.625},
  {"lines":5,"bytes":320,"miss_ratio":0.625,"low":0.4375,"high":0.625},
  {"lines":6,"bytes":384,"miss_ratio":0.625,"low":0.4375,"high":0.625},
  {"lines":7,"bytes":448,"miss_ratio":0.5,"low":0.4375,"high":0.5}

# Threads and line sizes in one pass change no number.
$ reusescope gen zipf,lines=20000 -n 300000 -q -o z.rsct
$ json z.rsct --engine hp-rda:local=256 --threads 1 --line 64 | grep -v '"made"' | md5sum > one
$ json z.rsct --engine hp-rda:local=256 --threads 5 --line 64 | grep -v '"made"' | md5sum | cmp - one
$ json z.rsct --engine hp-rda:local=256 --threads 4 --line 64,4096 | grep -c '"schema":"reusescope-profile/1"'
2

# A profile of it is read back, and -v says where the time went.
$ reusescope analyze z.rsct --engine hp-rda -q -o z.data && reusescope report z.data --format json -o - | check
$ reusescope analyze z.rsct --engine hp-rda -v -o z.data 2>&1 | grep 'hp-rda engine'
reusescope: hp-rda engine: * processor seconds: local analysis *%, merging thread results *%, merging block results *%, adjustment *% (glob)

# No accesses.
$ echo addr,size > none.csv; body none.csv --engine hp-rda
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

# What it cannot do, and what only it can.
$ reusescope analyze paper.din --engine parallel:local=512
reusescope: engine 'parallel:local=512': parallel takes no parameter
[2]
$ reusescope analyze paper.din --engine hp-rda:adjust=no
reusescope: engine 'hp-rda': adjust=no: not one of on, off
[2]
$ reusescope analyze paper.din --engine hp-rda:local=1
reusescope: engine 'hp-rda': local=1: not a number of references from 2 to 65536
[2]
$ reusescope analyze paper.din --engine hp-rda:local=65537
reusescope: engine 'hp-rda': local=65537: not a number of references from 2 to 65536
[2]
$ reusescope analyze paper.din --engine hp-rda --phases 4
reusescope: the hp-rda engine cannot do phases
[2]
$ reusescope analyze paper.din --engine hp-rda --bins 4
reusescope: the hp-rda engine cannot do a second binning
[2]
$ reusescope analyze paper.din --engine hp-rda --max-distance 4
reusescope: the hp-rda engine cannot do a largest distance
[2]
$ reusescope analyze paper.din --engine hp-rda:4
reusescope: engine 'hp-rda': '4': not one of local, adjust, device
[2]
