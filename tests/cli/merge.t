# merge: one profile out of several.
$ printf '0 0\n0 40\n0 0\n' > a.din
$ printf '0 0\n1 40\n0 80\n0 0\n2 40\n' > b.din
$ reusescope analyze a.din -q -o a.data
$ reusescope analyze a.din -q -o again.json
$ reusescope analyze b.din -q -o b.data
$ reusescope merge a.data again.json -q -o aa.data
$ reusescope report aa.data --format csv | head -12
profile,model,line_bytes,table,name,lo,hi,count,value,low,high
0,single,64,total,accesses,,,6,,,
0,single,64,total,references,,,6,,,
0,single,64,total,cold,,,4,,,
0,single,64,total,invalidated,,,0,,,
0,single,64,total,distinct,,,4,,,
0,single,64,total,last_touch,,,0,,,
0,single,64,total,pruned,,,0,,,
0,single,64,total,censored,,,0,,,
0,single,64,rd,,1,1,2,,,
0,single,64,ri,,2,2,2,,,
0,single,64,mrc,,1,1,,1,1,1

# Counts add up; the command is the merge's where the runs had different ones.
$ reusescope merge a.data b.data --format json -o - | grep -E '"(made|accesses)"' | sed 's/"seconds":[^,]*/"seconds":S/'
reusescope: warning: b.data: kinds left out: not the same in all files
 "made":{"by":"exact","source":"trace","model":"single","line":64,"threads":2,"workers":1,"sampling":null,"command":["reusescope","merge","a.data","b.data","--format","json","-o","-"],"seconds":S,"overhead":null,"coverage":null},
 "accesses":8,"references":8,"cold":5,"invalidated":0,"distinct":5,
$ reusescope report a.data --format json -o a.json -q
$ sed 's/"command":\[[^]]*\]/"command":["app"]/' a.json > one.json
$ sed 's/"command":\[[^]]*\]/"command":["app"]/' a.json > two.json
$ reusescope merge one.json two.json --format json -o - | grep -o '"command":[^]]*]'
"command":["app"]

# Text is drawn and the profile kept, like that of an analysis.
$ reusescope merge --full a.data a.data a.data 2>&1 | grep -E '^ (accesses|cold|made)|next' | sed 's/threads, .*/threads/'
 made by     exact, from trace, one stack over all threads
 accesses    9 accesses by 3 threads
 cold        6 first touches, 66.7 % of references
$ ls reusescope.data
reusescope.data
$ reusescope report --format json -o - | python3 $SOURCE/tests/schema_check.py $SOURCE/docs/schema/profile.schema.json -

# Kinds of access are those of all files, or of none.
$ reusescope merge b.data b.data --format csv -o - | grep -E ',kinds'
0,single,64,kinds,"read",,,6,,6,6
0,single,64,kinds_cold,"read",,,4,,,
0,single,64,kinds_invalidated,"read",,,0,,,
0,single,64,kinds_rd,"read",2,2,2,,,
0,single,64,kinds,"write",,,2,,2,2
0,single,64,kinds_cold,"write",,,2,,,
0,single,64,kinds_invalidated,"write",,,0,,,
0,single,64,kinds,"fetch",,,2,,2,2
0,single,64,kinds_cold,"fetch",,,0,,,
0,single,64,kinds_invalidated,"fetch",,,0,,,
0,single,64,kinds_rd,"fetch",2,2,2,,,
$ reusescope merge a.data b.data -q --format csv -o - | grep -c ',kinds'
0
[1]
$ reusescope merge a.data b.data --format csv -o - | grep warning
reusescope: warning: b.data: kinds left out: not the same in all files
[1]

# Several profiles in a file: those of one line size and model go together.
$ reusescope analyze a.din --line 64,1 -q -o a2.data
$ reusescope analyze b.din --line 1,64 -q -o b2.data
$ reusescope merge a2.data b2.data --format csv -o - -q | grep -E 'total,(references|distinct)'
0,single,64,total,references,,,8,,,
0,single,64,total,distinct,,,5,,,
1,single,1,total,references,,,8,,,
1,single,1,total,distinct,,,5,,,
$ reusescope merge a2.data b.data
reusescope: a2.data has a profile with 1-byte lines and model single; b.data has none to merge with it
[1]
$ reusescope merge b.data a2.data
reusescope: a2.data has a profile with 1-byte lines and model single; b.data has none to merge with it
[1]
$ reusescope analyze a.din --model shared -q -o shared.data
$ reusescope merge a.data shared.data
reusescope: shared.data has a profile with 64-byte lines and model shared; a.data has none to merge with it
[1]
$ reusescope analyze a.din --max-distance 1 -q -o capped.data
$ reusescope merge a.data capped.data
reusescope: a.data and capped.data: cannot merge profiles with different --max-distance
[1]
$ reusescope analyze a.din --top-lines 2 -q -o lines.data
$ reusescope analyze a.din --top-lines 2,1M -q -o lines1M.data
$ reusescope merge lines.data lines1M.data
reusescope: lines.data and lines1M.data: cannot merge profiles whose --top-lines miss at 32768 and at 1048576 bytes
[1]
$ reusescope merge lines.data a.data -o x.json | grep warning
reusescope: warning: a.data: lines left out: not the same in all files
next: reusescope report x.json
[1]
$ reusescope merge lines.data lines.data --format csv -o - | grep ',lines,'
0,single,64,lines,"0x0",,,1,32768,1,1
0,single,64,lines,"0x40",,,1,32768,1,1

# Exact and sampled: both engines are named, the error bars weighted, and it is said how.
$ sed -e 's/"by":"exact"/"by":"shards:0.01"/' -e 's/"sampling":null/"sampling":"1 line in 100"/' -e 's/"low":0.6666666666666666,"high":0.6666666666666666/"low":0.5666666666666666,"high":0.7666666666666666/' a.json > s.json
$ reusescope merge a.json s.json --format json -o - | grep -oE '"(by|sampling)":"[^"]*"|"lines":2.*'
"by":"exact+shards:0.01"
"sampling":"1 line in 100; merged, errors taken as independent"
"lines":2,"bytes":128,"miss_ratio":0.6666666666666666,"low":0.6166666666666667,"high":0.7166666666666666},
$ reusescope merge s.json s.json s.json s.json --format json -o - | grep -oE '"(by|sampling)":"[^"]*"|"lines":2.*'
"by":"shards:0.01"
"sampling":"1 line in 100; merged, errors taken as independent"
"lines":2,"bytes":128,"miss_ratio":0.6666666666666666,"low":0.6166666666666666,"high":0.7166666666666667},
$ reusescope merge a.json s.json --format json -o - | python3 $SOURCE/tests/schema_check.py $SOURCE/docs/schema/profile.schema.json -

# What makes no sense.
$ reusescope merge
reusescope merge: two or more profiles are needed: reusescope merge A.data B.data
[2]
$ reusescope merge a.data
reusescope merge: two or more profiles are needed: reusescope merge A.data B.data
[2]
$ reusescope merge a.data nothere.data
reusescope: nothere.data: No such file or directory
[1]
$ reusescope merge a.data a.din
reusescope: a.din: a trace, not a profile: reusescope analyze a.din
[1]
$ head -c 100 a.data > cut.data; reusescope merge a.data cut.data
reusescope: cut.data: cut at byte 100: * bytes are missing (glob)
[1]
$ reusescope merge a.data a.data -o /nowhere/x.data -q
reusescope: /nowhere/x.data: No such file or directory
[1]

# Error bars of bytes: requests sampled twice, merged, keep them.
$ reusescope gen zipf,lines=20K -n 40000 --seed 5 -q -o r1.rsct; reusescope gen zipf,lines=20K -n 40000 --seed 6 -q -o r2.rsct
$ for n in 1 2; do reusescope analyze r$n.rsct --requests --engine shards:0.1 -q -o r$n.data; done
$ reusescope merge r1.data r2.data -q -o both.json; for f in r1.data r2.data both.json; do reusescope report $f -q --format json -o - | /usr/bin/python3 -c 'import json,sys; p=[m for m in json.load(sys.stdin)["mrc"] if m["bytes"] <= 400][-1]; print(0 < p["byte_low"] < p["byte_miss_ratio"] < p["byte_high"] < 1)'; done
True
True
True
