# gen: the same accesses from the same specification and seed, on every machine.
$ sum() { reusescope gen "$@" --to din -o - | md5sum; }
$ sum uniform,lines=1K -n 100K
4a7d3314bad41c225d718aa0d202a326  -
$ sum zipf,lines=1K,skew=0.9,write=0.25 -n 100K --seed 7
053af09dba19d89ff8fe310502eb86b0  -
$ sum cyclic,lines=1K -n 100K
f38e3de76ed96f54a1976021d8472183  -
$ sum stride,lines=1K,stride=24 -n 100K
3ee9ec64c44eb2348f459d7223c73586  -
$ sum stencil,lines=1K -n 100K
15e390c2fa205deeb3babbf957813ef7  -
$ sum chase,lines=1K -n 100K
7dfd3368375aaa308516c21e95abbea2  -
$ sum mix,lines=1K -n 100K
44a0ad82442945b38f757849be383ac1  -
$ sum zipf,lines=1K,threads=4 -n 100K
1c8e219d50c4c97ae0ee3b866e84d16b  -
$ sum cyclic,lines=4,base=0x1000,size=16 -n 6
5fc3d770fc1783358ca4172dd33fcbb8  -

# Another seed, another trace; the same seed, the same bytes.
$ sum uniform,lines=1K -n 100K --seed 2
e547bab706ef0616d606df4ca9584445  -
$ reusescope gen uniform,lines=1K -n 10K --seed 5 -q -o one.rsct
$ reusescope gen uniform,lines=1K -n 10K --seed 5 -q -o two.rsct
$ cmp one.rsct two.rsct

# A longer trace begins with the shorter one.
$ reusescope gen mix,lines=1K,write=0.3 -n 5000 --to din -o - > short
$ reusescope gen mix,lines=1K,write=0.3 -n 9000 --to din -o - | head -5000 | cmp - short

# What each kind does, from the start.
$ reusescope gen cyclic,lines=3 -n 5 --to csv -o -
addr,size,kind,tid,pid
0x10000000,8,R,0,0
0x10000040,8,R,0,0
0x10000080,8,R,0,0
0x10000000,8,R,0,0
0x10000040,8,R,0,0
$ reusescope gen stride,lines=4,stride=96,size=4,base=4K -n 4 --to csv -o -
addr,size,kind,tid,pid
0x1000,4,R,0,0
0x1060,4,R,0,0
0x10c0,4,R,0,0
0x1020,4,R,0,0
$ reusescope gen stencil,lines=8 -n 6 --to csv -o -
addr,size,kind,tid,pid
0x10000008,8,R,0,0
0x10000088,8,R,0,0
0x10000040,8,R,0,0
0x10000050,8,R,0,0
0x10000048,8,R,0,0
0x10000248,8,W,0,0
$ reusescope gen cyclic,lines=3,threads=2,write=1 -n 1000 --to csv -o - | cut -d, -f3,4 | sort | uniq -c | tr -s ' '
 480 W,0
 520 W,1
 1 kind,tid
$ reusescope gen chase,lines=64 -n 64 --to din -o - | sort -u | wc -l
64

# The suffix chooses the format, --to overrides it.
$ reusescope gen cyclic,lines=3 -n 3 -o t.din
t.din: 3 accesses, 0.0 MiB, 88.00 bits per access
next: reusescope analyze t.din
$ cat t.din
0 10000000
0 10000040
0 10000080
$ reusescope gen cyclic,lines=3 -n 3 -q -o t.csv; head -1 t.csv
addr,size,kind,tid,pid
$ reusescope gen cyclic,lines=3 -n 3 -q -o t.txt --to din; cat t.txt
0 10000000
0 10000040
0 10000080
$ reusescope gen cyclic,lines=3 -n 3 -o t.rsct
t.rsct: 3 accesses, 0.0 MiB, * bits per access (glob)
next: reusescope analyze t.rsct
$ reusescope info t.rsct | grep -v '^size'
file           t.rsct
format         rsct version 1
made by        reusescope gen
command        cyclic,lines=3
accesses       3
instructions   not known
frames         1
pcs            no

# A limit on the size ends the file cleanly, and says so.
$ reusescope gen uniform -n 1M --max-size 8K -o small.din
reusescope: warning: small.din: ended early: no room for more
next: reusescope analyze small.din
$ [ $(stat -c %s small.din) -le 8192 ] && reusescope info small.din -q | grep kinds
kinds          744 reads, 0 writes, 0 fetches
$ reusescope gen uniform -n 3M --max-size 4M -o small.rsct
reusescope: warning: small.rsct: ended early: no room for more
next: reusescope analyze small.rsct
$ [ $(stat -c %s small.rsct) -le 4194304 ] && reusescope info small.rsct --count | awk '$1 == "accesses" { print ($2 >= 1048576) }'
1

# The native format, too, keeps what fits in a small file.
$ reusescope gen uniform -n 1M --max-size 64K -q -o tiny.rsct
$ [ $(stat -c %s tiny.rsct) -le 65536 ] && reusescope info tiny.rsct | grep -c '^accesses *0$'
0
[1]

# Nor is a trace on standard output cut in silence.
$ reusescope gen uniform -n 10K --to din --max-size 4K -o - | wc -l
reusescope: warning: standard output: ended early: * (glob)
372

# Levels change the size, not the trace.
$ reusescope gen zipf -n 100K -q -o fast.rsct --level 1; reusescope gen zipf -n 100K -q -o slow.rsct --level 15
$ reusescope dump fast.rsct | md5sum > fast; reusescope dump slow.rsct | md5sum | cmp - fast

# Bad specifications.
$ reusescope gen
reusescope gen: a specification is missing: reusescope gen zipf,lines=64K -n 1M -o t.rsct
[2]
$ reusescope gen zipf
reusescope gen: a count is missing: -n COUNT, 1 or more
[2]
$ reusescope gen zipf -n 10
reusescope gen: an output file is missing: -o FILE (- is standard output)
[2]
$ reusescope gen -n 10 -o x.rsct
reusescope gen: a specification is missing: reusescope gen zipf,lines=64K -n 1M -o t.rsct
[2]
$ reusescope gen zipf zipf -n 10 -o x.rsct
reusescope gen: more than one specification: zipf
[2]
$ reusescope gen foo -n 10 -o x.rsct
reusescope: gen: unknown kind 'foo' (kinds: uniform, zipf, cyclic, stride, stencil, chase, mix)
[2]
$ reusescope gen zipf,foo=1 -n 10 -o x.rsct
reusescope: gen: unknown key 'foo' (keys: lines, skew, stride, threads, write, base, size)
[2]
$ reusescope gen zipf,lines -n 10 -o x.rsct
reusescope: gen: lines: a value is missing (lines=...)
[2]
$ reusescope gen zipf,lines=0 -n 10 -o x.rsct
reusescope: gen: lines=0: lines is a number from 1 to 1024G; K, M, G are powers of two
[2]
$ reusescope gen zipf,lines=-1 -n 10 -o x.rsct
reusescope: gen: lines=-1: lines is a number from 1 to 1024G; K, M, G are powers of two
[2]
$ reusescope gen zipf,skew=101 -n 10 -o x.rsct
reusescope: gen: skew=101: skew is a decimal number from 0 to 100
[2]
$ reusescope gen zipf,write=1.5 -n 10 -o x.rsct
reusescope: gen: write=1.5: write is a decimal number from 0 to 1
[2]
$ reusescope gen uniform,threads=0 -n 10 -o x.rsct
reusescope: gen: threads=0: threads is a number from 1 to 1M
[2]
$ reusescope gen cyclic,size=0 -n 10 -o x.rsct
reusescope: gen: size=0: size is bytes, from 1 to 4G - 1
[2]
$ reusescope gen stencil,lines=1 -n 10 -o x.rsct
reusescope: gen: lines=1: a stencil needs lines=2 or more to have an inner point
[2]
$ reusescope gen zipf -n 0 -o x.rsct
reusescope gen: a count is missing: -n COUNT, 1 or more
[2]
$ reusescope gen zipf -n ten -o x.rsct
reusescope gen: --count ten: not a number
[2]
$ reusescope gen zipf -n 10 --seed x -o x.rsct
reusescope gen: --seed x: not a number
[2]
$ reusescope gen zipf -n 10 --to xml -o x.rsct
reusescope gen: --to xml: not one of rsct, din, csv
[2]
$ reusescope gen zipf -n 10 --level 20 -o x.rsct
reusescope gen: --level 20: not a number from 1 to 19
[2]
$ reusescope gen zipf -n 10 --max-size 1 -o x.rsct
reusescope gen: --max-size 1: not a size of 4K or more, as 500M
[2]

# Places that cannot be written.
$ reusescope gen zipf -n 10 -o missing/x.rsct
reusescope: missing/x.rsct: No such file or directory
[1]
$ reusescope gen zipf -n 10 -o .
reusescope: .: Is a directory
[1]
$ reusescope gen zipf -n 10 -o /dev/full
reusescope: /dev/full: No space left on device
[1]
$ ls -A
fast
fast.rsct
one.rsct
short
slow.rsct
small.din
small.rsct
t.csv
t.din
t.rsct
t.txt
tiny.rsct
two.rsct
