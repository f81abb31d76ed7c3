# gen: the same accesses from the same specification and seed, on every machine.
$ sum() { reusescope gen "$@" --to din -o - | md5sum; }
$ sum uniform,lines=1K -n 100K
$ sum zipf,lines=1K,skew=0.9,write=0.25 -n 100K --seed 7
$ sum cyclic,lines=1K -n 100K
$ sum stride,lines=1K,stride=24 -n 100K
$ sum stencil,lines=1K -n 100K
$ sum chase,lines=1K -n 100K
$ sum mix,lines=1K -n 100K
$ sum zipf,lines=1K,threads=4 -n 100K
$ sum cyclic,lines=4,base=0x1000,size=16 -n 6

# Another seed, another trace; the same seed, the same bytes.
$ sum uniform,lines=1K -n 100K --seed 2
$ reusescope gen uniform,lines=1K -n 10K --seed 5 -q -o one.rsct
$ reusescope gen uniform,lines=1K -n 10K --seed 5 -q -o two.rsct
$ cmp one.rsct two.rsct

# A longer trace begins with the shorter one.
$ reusescope gen mix,lines=1K,write=0.3 -n 5000 --to din -o - > short
$ reusescope gen mix,lines=1K,write=0.3 -n 9000 --to din -o - | head -5000 | cmp - short

# What each kind does, from the start.
$ reusescope gen cyclic,lines=3 -n 5 --to csv -o -
$ reusescope gen stride,lines=4,stride=96,size=4,base=4K -n 4 --to csv -o -
$ reusescope gen stencil,lines=8 -n 6 --to csv -o -
$ reusescope gen cyclic,lines=3,threads=2,write=1 -n 1000 --to csv -o - | cut -d, -f3,4 | sort | uniq -c | tr -s ' '
$ reusescope gen chase,lines=64 -n 64 --to din -o - | sort -u | wc -l

# The suffix chooses the format, --to overrides it.
$ reusescope gen cyclic,lines=3 -n 3 -o t.din
$ cat t.din
$ reusescope gen cyclic,lines=3 -n 3 -q -o t.csv; head -1 t.csv
$ reusescope gen cyclic,lines=3 -n 3 -q -o t.txt --to din; cat t.txt
$ reusescope gen cyclic,lines=3 -n 3 -o t.rsct
$ reusescope info t.rsct | grep -v '^size'

# A limit on the size ends the file cleanly, and says so.
$ reusescope gen uniform -n 1M --max-size 8K -o small.din
$ [ $(stat -c %s small.din) -le 8192 ] && reusescope info small.din -q | grep kinds
$ reusescope gen uniform -n 3M --max-size 4M -o small.rsct
$ [ $(stat -c %s small.rsct) -le 4194304 ] && reusescope info small.rsct --count | grep accesses

# The native format, too, keeps what fits in a small file.
$ reusescope gen uniform -n 1M --max-size 64K -q -o tiny.rsct
$ [ $(stat -c %s tiny.rsct) -le 65536 ] && reusescope info tiny.rsct | grep -c '^accesses *0 *$'

# Nor is a trace on standard output cut in silence.
$ reusescope gen uniform -n 10K --to din --max-size 4K -o - | wc -l

# Levels change the size, not the trace.
$ reusescope gen zipf -n 100K -q -o fast.rsct --level 1; reusescope gen zipf -n 100K -q -o slow.rsct --level 15
$ reusescope dump fast.rsct | md5sum > fast; reusescope dump slow.rsct | md5sum | cmp - fast

# Bad specifications.
$ reusescope gen
$ reusescope gen zipf
$ reusescope gen zipf -n 10
$ reusescope gen -n 10 -o x.rsct
$ reusescope gen zipf zipf -n 10 -o x.rsct
$ reusescope gen foo -n 10 -o x.rsct
$ reusescope gen zipf,foo=1 -n 10 -o x.rsct
$ reusescope gen zipf,lines -n 10 -o x.rsct
$ reusescope gen zipf,lines=0 -n 10 -o x.rsct
$ reusescope gen zipf,lines=-1 -n 10 -o x.rsct
$ reusescope gen zipf,skew=101 -n 10 -o x.rsct
$ reusescope gen zipf,write=1.5 -n 10 -o x.rsct
$ reusescope gen uniform,threads=0 -n 10 -o x.rsct
$ reusescope gen cyclic,size=0 -n 10 -o x.rsct
$ reusescope gen stencil,lines=1 -n 10 -o x.rsct
$ reusescope gen zipf -n 0 -o x.rsct
$ reusescope gen zipf -n ten -o x.rsct
$ reusescope gen zipf -n 10 --seed x -o x.rsct
$ reusescope gen zipf -n 10 --to xml -o x.rsct
$ reusescope gen zipf -n 10 --level 20 -o x.rsct
$ reusescope gen zipf -n 10 --max-size 1 -o x.rsct

# Places that cannot be written.
$ reusescope gen zipf -n 10 -o missing/x.rsct
$ reusescope gen zipf -n 10 -o .
$ reusescope gen zipf -n 10 -o /dev/full
$ ls -A
