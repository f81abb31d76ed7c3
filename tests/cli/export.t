# Exports: folded stacks, speedscope, CSV, callgrind, pprof; profiles to share.
$ cp $SOURCE/tests/fuzz/corpus/profile/rows.json wave.json

# Folded: misses at a size, by call path where a reuse has one; all of them, and no more.
$ reusescope report wave.json --format folded --at 896K
main;solve;solve;[unknown];step;relax;solver.c:88 900
[call path not known];relax;solver.c:88 900
[call path not known];sweep;solver.c:71 70000
[call path not known];copy;mem.c:10 400
$ reusescope report wave.json --format folded --at 896K --weight references
main;solve;solve;[unknown];step;relax;solver.c:88 1000
[call path not known];[unknown];0x0 10
[call path not known];relax;solver.c:88 1000
[call path not known];memcpy 50
[call path not known];sweep;solver.c:71 70000
[call path not known];copy;mem.c:10 5000
$ reusescope report wave.json --at 1K -o all.folded --weight references; awk '{ n += $NF } END { print n }' all.folded
77060
$ grep -o '"references":[0-9]*' wave.json | head -1
"references":77060

# speedscope: both weights, what was asked for first.
$ reusescope report wave.json --at 896K -o wave.speedscope.json
$ python3 $SOURCE/tests/speedscope_check.py wave.speedscope.json
$ grep -oE '"(name|activeProfileIndex|endValue)":("[a-z].*"|[0-9]*),"(unit|startValue|samples)"|"activeProfileIndex":.' wave.speedscope.json
"activeProfileIndex":0
"name":"misses in 896 KiB (single, 64-byte lines)","unit":"none","startValue"
"endValue":72200,"samples"
"name":"references (single, 64-byte lines)","unit":"none","startValue"
"endValue":77060,"samples"
$ reusescope report wave.json --at 896K --format speedscope --weight references | grep -o '"activeProfileIndex":.'
"activeProfileIndex":1

# A profile without code is one frame; one without references has no stack. Several profiles are told apart.
$ reusescope gen cyclic,lines=4 -n 10 -q -o c.rsct
$ reusescope analyze c.rsct -q --line 64,128 --at 128 -o two.data
$ reusescope report two.data --format folded --at 128
[single, 64-byte lines];[unknown] 10
[single, 128-byte lines];[unknown] 5
$ reusescope report two.data --at 128 -o two.speedscope.json; python3 $SOURCE/tests/speedscope_check.py two.speedscope.json
$ printf 'addr\n' | reusescope analyze - -q -o none.folded; wc -c < none.folded
0
$ printf 'addr\n' | reusescope analyze - -q -o none.speedscope.json; python3 $SOURCE/tests/speedscope_check.py none.speedscope.json

# From an analysis, in one go.
$ printf 'I  1000,4\n L 40,8\nI  1004,4\n L 40,8\nI  1008,4\n L 80,8\n' > t.lackey
$ reusescope analyze t.lackey --kind R -q --format folded --at 64 -o -
[unknown];0x1000 1
[unknown];0x1008 1

# Names that would break a line: ; separates frames, and nothing unprintable gets out.
$ sed 's/"relax"/"re;lax\\n\\u001b[1m\\"x\\""/' wave.json > odd.json
$ reusescope report odd.json --format folded --at 896K | grep lax
main;solve;solve;[unknown];step;re,lax??[1m"x";solver.c:88 900
[call path not known];re,lax??[1m"x";solver.c:88 900
$ reusescope report odd.json --at 896K -o odd.speedscope.json; python3 $SOURCE/tests/speedscope_check.py odd.speedscope.json

# CSV has the rows of code, pairs and objects, quoted so that names may hold anything.
$ reusescope report odd.json --format csv -o odd.csv
$ cat > rows.py <<'END'
> import collections, csv
> rows = list(csv.DictReader(open("odd.csv", newline="")))
> tables = collections.Counter(row["table"] for row in rows)
> print(*(f"{table} {tables[table]}" for table in ("code", "pairs", "objects")))
> print(sum(int(row["count"]) for row in rows if row["table"] == "code"))
> print(sorted({row["name"] for row in rows if "lax" in row["name"] and row["table"] == "code"}))
> END
$ python3 rows.py
code 6 pairs 2 objects 2
77060
['/home/u/wave/src/solver.c:88 re;lax??[1m"x"']

# Wrong values.
$ reusescope report wave.json --weight lines
reusescope report: --weight lines: not one of misses, references
[2]
$ reusescope report wave.json --format flame
reusescope report: --format flame: not one of text, json, csv, folded, speedscope, callgrind, pprof, html
[2]

# --no-command: no command line, no folders of absolute paths, in every output; all numbers stay.
$ reusescope report wave.json --no-command -q -o shared.json
$ python3 $SOURCE/tests/schema_check.py $SOURCE/docs/schema/profile.schema.json shared.json
$ grep -c '/home\|/usr\|/lib' wave.json; grep -c '/home\|/usr\|/lib' shared.json
10
0
[1]
$ reusescope analyze t.lackey -q --format json -o - | grep -o '"command":[^]]*]'
"command":["reusescope","analyze","t.lackey","-q","--format","json","-o","-"]
$ reusescope analyze t.lackey -q --no-command --format json -o - | grep -o '"command":[^]]*]'
"command":[]
$ reusescope analyze t.lackey -q --no-command -o shared.data; reusescope report shared.data --format json | grep -o '"command":[^]]*]'
"command":[]
$ sed -E 's|"/[^"]*/([^"/]*)"|"\1"|g; s|"command":\[[^]]*\]|"command":[]|' wave.json | cmp - shared.json
$ reusescope report wave.json --no-command --format folded | grep -c /
0
[1]

# A name that a spreadsheet would take for a formula gets a quote before it.
$ printf '0 0\n0 0\n' > f.din; reusescope analyze f.din -q --format json -o f.json
$ sed -i 's|"code":\[\]|"code":[{"pc":"0x1","function":"=cmd","file":"@a,b","line":1,"references":1,"cold":1,"rd":[]},{"pc":"0x2","function":"-f","file":null,"line":null,"references":1,"cold":0,"rd":[{"lo":0,"hi":0,"count":1}]}]|' f.json
$ reusescope report f.json --format csv | grep code,
0,single,64,code,"'@a,b:1 =cmd",,,1,,1,1
0,single,64,code,"'-f 0x2",,,1,,1,1
$ sed -i 's|"file":"@a,b"|"module":"+m",&|; s|"file":null,"line":null|"file":"=g","line":3|' f.json; cp f.json =f.json
$ reusescope annotate f.json --at 32K --format csv
profile,file,line,function,size_bytes,references,misses,cold,invalidated,median_lines,error
0,"'@a,b",1,"'=cmd",32768,1,1,1,0,,0
0,"'=g",3,"'-f",32768,1,0,0,0,0,0
$ reusescope report =f.json --by line --at 32K --format csv
profile,module,file,function,line,size_bytes,references,misses
"'=f.json","'+m","'@a,b","'=cmd",1,32768,1,1
"'=f.json","","'=g","'-f",3,32768,1,0
$ reusescope report =f.json --suite --format csv | grep json; reusescope report =f.json --cdf --format csv | grep json
"'=f.json",0,0,0,0
"'=f.json",0,1,1.000000000
$ sed 's/"function":"relax"/"function":"=relax"/' wave.json > =rows.json; reusescope report =rows.json --select 90,1 --at 896K --format csv | cut -d, -f1-8 | sed -n 2p
"'=rows.json","single",14336,1,0x1300,"'=relax","/home/u/wave/src/solver.c",88
$ printf 'loops 1 array a 8 [40] nest "=n" function "+f" @"=g.c":5 { for i = 0 to 30 { read a[i] } }' > =x.loop
$ reusescope loops =x.loop -t 1 -q --format csv -o - | sed -n 2p
"'=g.c",5,"'+f","",1,drift,1,64,0.1290322581,0.1290322581,0.1290322581

# callgrind: what callgrind_annotate makes of it; sums of self costs, and of calls.
$ reusescope report wave.json --at 896K -o wave.callgrind
$ sed -n '/^part/,$p' wave.callgrind
part: 1
positions: line
event: Misses : misses in 896 KiB
event: References : references
events: Misses References
summary: 72200 77060
\
fl=main.c
fn=main
cfi=solver.c
cfn=solve
calls=1 0
0 900 1000
\
fl=solver.c
fn=solve
cfi=solver.c
cfn=solve
calls=1 0
0 900 1000
cfi=???
cfn=[unknown]
calls=1 0
0 900 1000
\
fl=???
fn=[unknown]
cfi=solver.c
cfn=step
calls=1 0
0 900 1000
cfi=???
cfn=0x0
calls=1 0
0 0 10
\
fl=solver.c
fn=step
cfi=/home/u/wave/src/solver.c
cfn=relax
calls=1 0
0 900 1000
\
fl=/home/u/wave/src/solver.c
fn=relax
88 1800 2000
\
fl=???
fn=[call path not known]
cfi=???
cfn=[unknown]
calls=1 0
0 0 10
cfi=/home/u/wave/src/solver.c
cfn=relax
calls=1 0
0 900 1000
cfi=???
cfn=memcpy
calls=1 0
0 0 50
cfi=/home/u/wave/src/solver.c
cfn=sweep
calls=1 0
0 70000 70000
cfi=mem.c
cfn=copy
calls=1 0
0 400 5000
\
fl=???
fn=0x0
0 0 10
\
fl=???
fn=memcpy
0 0 50
\
fl=/home/u/wave/src/solver.c
fn=sweep
71 70000 70000
\
fl=mem.c
fn=copy
10 400 5000
$ callgrind_annotate --auto=no wave.callgrind | grep -E 'TOTALS|:sweep|:relax|:step' | tr -s ' '
72,200 (100.0%) 77,060 (100.0%) PROGRAM TOTALS
70,000 (96.95%) 70,000 (90.84%) /home/u/wave/src/solver.c:sweep
 1,800 ( 2.49%) 2,000 ( 2.60%) /home/u/wave/src/solver.c:relax

# pprof: its message, decoded.
$ reusescope report wave.json --at 896K -o wave.pb.gz
$ python3 $SOURCE/tests/pprof_check.py wave.pb.gz
misses in 896 KiB (count) references (count)
900 1000 main;solve;solve;[unknown];step;relax:88
0 10 [call path not known];[unknown];0x0
900 1000 [call path not known];relax:88
0 50 [call path not known];memcpy
70000 70000 [call path not known];sweep:71
400 5000 [call path not known];copy:10
$ reusescope report wave.json --at 896K --format pprof --weight references -o - | python3 $SOURCE/tests/pprof_check.py - | sed -n 1p
references (count) misses in 896 KiB (count)
