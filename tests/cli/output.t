# Where results go.
$ printf '0 0\n0 40\n0 0\n' > t.din
$ check() { /usr/bin/python3 $SOURCE/tests/schema_check.py $SOURCE/docs/schema/profile.schema.json "$@"; }

# Text, and the profile in reusescope.data; the one before it in .old.
$ reusescope analyze t.din > text; head -2 text; ls -A
-- Memory reuse ----------------------------------------------------------------
 command     reusescope analyze t.din
reusescope.data
t.din
text
$ cp reusescope.data first; reusescope analyze t.din --line 128 -q; cmp reusescope.data.old first; ls -A
first
reusescope.data
reusescope.data.old
t.din
text
$ reusescope analyze t.din -q; reusescope report reusescope.data.old --format json | grep -o '"line":[0-9]*'
"line":128
$ rm reusescope.data* first text

# With -o there is no default file; the suffix says what is written.
$ reusescope analyze t.din -q -o t.json; check t.json; reusescope analyze t.din -q -o t.csv; head -1 t.csv
profile,model,line_bytes,table,name,lo,hi,count,value,low,high
$ reusescope analyze t.din -q -o t.txt; head -1 t.txt; reusescope analyze t.din -q -o t.data; head -c 7 t.data; echo
-- Memory reuse ----------------------------------------------------------------
RSCPROF
$ reusescope analyze t.din -q -o other; head -c 7 other; echo
RSCPROF
$ reusescope analyze t.din -q --line 64,128 -o two.json; check two.json; head -1 two.json
{"schema":"reusescope-profiles/1","profiles":[
$ ls -A
other
t.csv
t.data
t.din
t.json
t.txt
two.json
$ rm t.csv t.txt t.data other two.json t.json

# The text is printed beside a file, and the next command works.
$ reusescope analyze t.din -o t.json | sed -n 1p
next: reusescope report t.json
-- Memory reuse ----------------------------------------------------------------
$ reusescope analyze t.din -o t.json 2>&1 >/dev/null
next: reusescope report t.json
$ $(reusescope analyze t.din -o t.json 2>&1 >/dev/null | sed 's/^next: //') | head -1
-- Memory reuse ----------------------------------------------------------------
$ $(reusescope analyze t.din -o t.data 2>&1 >/dev/null | sed 's/^next: //') | head -1
-- Memory reuse ----------------------------------------------------------------

# After a rendering that report cannot read, no command is offered that would fail.
$ reusescope analyze t.din -o t.csv 2>&1 >/dev/null | grep 'report t.csv'
[1]
$ reusescope analyze t.din -o t.txt 2>&1 >/dev/null | grep 'report t.txt'
[1]
$ reusescope analyze t.din -q; reusescope report -o t.csv 2>&1 | grep 'report t.csv'
[1]
$ rm t.json t.data t.csv t.txt reusescope.data

# --format beats the suffix.
$ reusescope analyze t.din -q --format csv -o t.json; head -1 t.json; rm t.json
profile,model,line_bytes,table,name,lo,hi,count,value,low,high

# On standard output: just the rendering, and nothing on standard error.
$ reusescope analyze t.din --format json -o - > t.json; check t.json; rm t.json
$ reusescope analyze t.din --format csv -o -
profile,model,line_bytes,table,name,lo,hi,count,value,low,high
0,single,64,total,accesses,,,3,,,
0,single,64,total,references,,,3,,,
0,single,64,total,cold,,,2,,,
0,single,64,total,invalidated,,,0,,,
0,single,64,total,distinct,,,2,,,
0,single,64,total,last_touch,,,0,,,
0,single,64,total,pruned,,,0,,,
0,single,64,total,censored,,,0,,,
0,single,64,rd,,1,1,1,,,
0,single,64,ri,,2,2,1,,,
0,single,64,mrc,,1,1,,1,1,1
0,single,64,mrc,,2,2,,0.6666666666666666,0.6666666666666666,0.6666666666666666
$ reusescope analyze t.din -o - | head -1
-- Memory reuse ----------------------------------------------------------------
$ ls -A
t.din

# --format alone: that on standard output, and the data file as ever.
$ reusescope analyze t.din --format csv | head -1; ls -A; rm reusescope.data
profile,model,line_bytes,table,name,lo,hi,count,value,low,high
reusescope.data
t.din

# -q: nothing but what was asked for.
$ reusescope analyze t.din -q; ls -A; rm reusescope.data
reusescope.data
t.din
$ reusescope analyze t.din -q -o - | head -1
-- Memory reuse ----------------------------------------------------------------

# %p is the process id.
$ reusescope analyze t.din -q -o run-%p.json; ls | grep -c '^run-[1-9][0-9]*\.json$'; rm run-*
1

# JSON is the same from run to run but for made.seconds and made.command.
$ for i in 1 2; do reusescope analyze t.din -q --format json -o - | sed 's/"seconds":[^,]*//' | md5sum; done | uniq | wc -l
1

# A link is followed, a device written in place, an existing file replaced whole.
$ echo old > target; ln -s target link; reusescope analyze t.din -q -o link --format csv; readlink link; head -1 target
target
profile,model,line_bytes,table,name,lo,hi,count,value,low,high
$ reusescope analyze t.din -q --format csv -o /dev/stdout | head -1
profile,model,line_bytes,table,name,lo,hi,count,value,low,high
$ reusescope analyze t.din -q -o /dev/null
$ rm link target

# What cannot be written is an error, and leaves nothing.
$ reusescope analyze t.din -q -o missing/t.json
reusescope: missing/t.json: No such file or directory
[1]
$ reusescope analyze t.din -q -o .
reusescope: .: Is a directory
[1]
$ reusescope analyze t.din -q --format json -o /dev/full
reusescope: /dev/full: No space left on device
[1]
$ reusescope report t.din -o x.json
reusescope: t.din: a trace, not a profile: reusescope analyze t.din
[1]
$ mkdir readonly; chmod 555 readonly
$ [ "$(id -u)" = 0 ] || ! reusescope analyze t.din -q -o readonly/t.json 2>/dev/null && ls -A readonly
$ rmdir readonly; ls -A
t.din

# A full standard output is an error of one line in every verb.
$ reusescope analyze t.din --format json -o - > /dev/full
reusescope: standard output: * (glob)
[1]
$ reusescope analyze t.din -o - > /dev/full
reusescope: standard output: * (glob)
[1]
$ reusescope convert t.din --to din -o - > /dev/full
reusescope: standard output: * (glob)
[1]
$ reusescope gen cyclic -n 10 -o - > /dev/full
reusescope: standard output: * (glob)
[1]
$ reusescope dump t.din > /dev/full
reusescope: standard output: * (glob)
[1]
$ reusescope info t.din > /dev/full
reusescope: standard output: * (glob)
[1]
$ reusescope help > /dev/full
reusescope: standard output: * (glob)
[1]
$ reusescope help --completion bash > /dev/full
reusescope: standard output: * (glob)
[1]
$ reusescope version > /dev/full
reusescope: standard output: * (glob)
[1]

# Names that are no UTF-8 still give JSON.
$ cp t.din "$(printf 'n\377.din')"; reusescope analyze "$(printf 'n\377.din')" -q --format json -o - | check -
$ cp t.din 'a"b\c.din'; reusescope analyze 'a"b\c.din' -q --format json -o - | check -

# %r is the MPI rank, as Open MPI or another launcher tells it, and 0 without one.
$ mkdir ranks && cd ranks && printf '0 10\n0 10\n' > t.din
$ OMPI_COMM_WORLD_RANK=3 reusescope analyze t.din -q -o rank-%r.json
$ PMI_RANK=12 reusescope analyze t.din -q -o rank-%r.json
$ reusescope analyze t.din -q -o rank-%r.json
$ ls
rank-0.json
rank-12.json
rank-3.json
t.din

# No result replaces what it is made from.
$ printf '0 0\n0 40\n' > in.din; reusescope convert in.din -q -o in.rsct; ln in.rsct same.rsct; ln -s in.rsct link.rsct
$ cp in.rsct kept.rsct; cp /bin/true prog; cp prog kept.prog; echo 'void f(void) {}' > m.c
$ reusescope analyze in.rsct -o in.rsct
reusescope analyze: in.rsct is named twice: it would be overwritten
[2]
$ reusescope analyze in.rsct -o same.rsct
reusescope analyze: same.rsct is named twice: it would be overwritten
[2]
$ reusescope analyze link.rsct --output=./in.rsct
reusescope analyze: ./in.rsct is named twice: it would be overwritten
[2]
$ reusescope sim in.rsct --l1d 32K,8,64 -o in.rsct
reusescope sim: in.rsct is named twice: it would be overwritten
[2]
$ reusescope sim in.rsct --l1d 32K,8,64 --miss-trace in.rsct
reusescope sim: in.rsct is named twice: it would be overwritten
[2]
$ reusescope loops m.c -o m.c
reusescope loops: m.c is named twice: it would be overwritten
[2]
$ reusescope run -o prog -- ./prog
reusescope run: prog is named twice: it would be overwritten
[2]
$ reusescope run --trace prog -- ./prog
reusescope run: prog is named twice: it would be overwritten
[2]
$ reusescope analyze in.rsct -q -o p.data; cp p.data kept.data
$ reusescope report p.data --format text -o p.data
reusescope report: p.data is named twice: it would be overwritten
[2]
$ reusescope report --input=p.data -o p.data
reusescope report: p.data is named twice: it would be overwritten
[2]
$ reusescope diff p.data p.data --format json -o p.data
reusescope diff: p.data is named twice: it would be overwritten
[2]
$ reusescope advise p.data --format json -o p.data
reusescope advise: p.data is named twice: it would be overwritten
[2]
$ cmp in.rsct kept.rsct; cmp prog kept.prog; cmp p.data kept.data; cat m.c
void f(void) {}

# Nor two results over each other, which is known before the work: nothing is left.
$ reusescope sim in.rsct --l1d 32K,8,64 --miss-trace two -o two
reusescope sim: two is also the file of the result: it would be overwritten
[2]
$ reusescope sim in.rsct --l1d 32K,8,64 --miss-trace two.%p -o ./two.%p
reusescope sim: two.%p is also the file of the result: it would be overwritten
[2]
$ reusescope run --trace two -o two -- ./prog
reusescope run: two is also the file of the result: it would be overwritten
[2]
$ rm -f reusescope.data; reusescope run --trace reusescope.data -- ./prog
reusescope run: reusescope.data is also the file of the result: it would be overwritten
[2]
$ ls two* reusescope.data 2>/dev/null
[2]
$ reusescope sim in.rsct --l1d 32K,8,64 --miss-trace two -q -o /dev/null && rm two

# Nor a file that the command line does not name: the default profile, standard input, a program in PATH, a member of a
# folder, the sources of a project, the source that a profile names.
$ cp p.data reusescope.data
$ reusescope report --format text -o reusescope.data
reusescope: reusescope.data: this command reads or runs it: it would be overwritten
[2]
$ reusescope advise --format json -o reusescope.data
reusescope: reusescope.data: this command reads or runs it: it would be overwritten
[2]
$ reusescope report - --format text -o p.data < p.data
reusescope: p.data: this command reads or runs it: it would be overwritten
[2]
$ reusescope analyze - -o in.rsct < in.rsct
reusescope: in.rsct: this command reads or runs it: it would be overwritten
[2]
$ mkdir bin; cp prog bin/prog2; PATH=$PWD/bin:$PATH reusescope run -o bin/prog2 -- prog2
reusescope: bin/prog2: this command reads or runs it: it would be overwritten
[2]
$ PATH=$PWD/bin:$PATH reusescope run --trace bin/prog2 -- prog2
reusescope: bin/prog2: this command reads or runs it: it would be overwritten
[2]
$ printf '#!%s/bin/prog2\n' "$PWD" > script; chmod +x script; reusescope run -o bin/prog2 -- ./script
reusescope: bin/prog2: this command reads or runs it: it would be overwritten
[2]
$ cmp p.data kept.data; cmp reusescope.data kept.data; cmp in.rsct kept.rsct; cmp bin/prog2 kept.prog; rm reusescope.data

# What is made from files that others may not read, they may not read either, also where there was a file that they may.
$ cp in.rsct s.rsct; chmod 600 s.rsct; echo old > s.json; echo old > misses.rsct; chmod 666 s.json
$ reusescope analyze s.rsct -q -o s.json; reusescope analyze s.rsct -q; stat -c '%a %n' s.json reusescope.data
600 s.json
600 reusescope.data
$ reusescope convert s.rsct -q -o s2.rsct; reusescope sim s.rsct --l1d 32K,8,64 -q --miss-trace misses.rsct > s.txt; stat -c '%a %n' s2.rsct misses.rsct
600 s2.rsct
600 misses.rsct
$ chmod 600 p.data; reusescope merge p.data kept.data -q -o sum.data; chmod 644 p.data; reusescope merge p.data kept.data -q -o open.data
$ stat -c '%a %n' sum.data open.data
600 sum.data
644 open.data
$ rm s.rsct s2.rsct s.json reusescope.data misses.rsct s.txt sum.data open.data

# A converted trace and a merged profile may take the place of one they are made from.
$ reusescope convert in.rsct -q --level 1 -o in.rsct; reusescope merge p.data p.data -q -o p.data
$ reusescope info in.rsct | grep accesses; reusescope report p.data --format csv | grep total,acc
accesses       2
0,single,64,total,accesses,,,4,,,
