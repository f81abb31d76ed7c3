# convert: there and back again.
$ reusescope gen mix,lines=1K,threads=3,write=0.4 -n 50K -q -o a.rsct
$ reusescope convert a.rsct -q -o a.csv; reusescope convert a.csv -q -o b.rsct; reusescope convert b.rsct -q -o b.csv
$ cmp a.csv b.csv
$ reusescope convert a.rsct -q -o a.din; reusescope convert b.rsct -q -o b.din
$ cmp a.din b.din
$ reusescope convert a.din -q -o c.rsct; reusescope convert c.rsct --to din -o - | cmp - a.din
$ reusescope dump a.rsct | md5sum > a; reusescope dump b.rsct | md5sum | cmp - a
$ head -3 a.csv
addr,size,kind,tid,pid
0x1000dd80,8,W,0,0
0x10004b80,8,W,0,0

# Sizes, kinds, threads, processes and pcs survive; --no-pc leaves those out.
$ printf 'pc,addr,size,kind,tid,pid\n0x401000,0x7fffffffe000,8,W,12,10\n0x401004,1,4294967295,R,13,10\n0x401000,0xffffffffffffffff,1,I,12,10\n' > full.csv
$ reusescope convert full.csv -q -o full.rsct; reusescope convert full.rsct -o - --to csv
addr,size,kind,tid,pid,pc
0x7fffffffe000,8,W,12,10,0x401000
0x1,4294967295,R,13,10,0x401004
0xffffffffffffffff,1,I,12,10,0x401000
$ reusescope convert full.csv --no-pc -o - --to csv | head -2
addr,size,kind,tid,pid
0x7fffffffe000,8,W,12,10
$ reusescope convert full.csv --no-pc -q -o nopc.rsct; reusescope convert nopc.rsct -o - --to csv
addr,size,kind,tid,pid
0x7fffffffe000,8,W,12,10
0x1,4294967295,R,13,10
0xffffffffffffffff,1,I,12,10
$ reusescope info full.rsct | grep pcs; reusescope info nopc.rsct | grep pcs
pcs            yes
pcs            no

# Filters.
$ printf '0 0\n1 40\n2 1000\n0 80\n1 0\n2 1004\n' > k.din
$ reusescope convert k.din --kind R,I -o - --to din
0 0
2 1000
0 80
2 1004
$ reusescope convert k.din --range 0x40-0x80 -o - --to din
1 40
0 80
$ reusescope convert k.din --window 4 -o - --to din
1 0
2 1004
$ reusescope convert k.din --window 1+1 -o - --to din
1 40
$ reusescope convert k.din --bits 6-7=1 -o - --to din
1 40
$ reusescope convert k.din --every 4 -o - --to din
0 0
1 0
$ reusescope convert full.csv --tid 13 -o - --to din
0 1
$ reusescope convert k.din --kind I --every 2 --window 3 -q -o f.rsct; reusescope info f.rsct | grep -E 'filter|accesses'
filter         kinds=I window=3+ every=2
accesses       1
unfiltered     6 accesses
$ reusescope convert k.din --kind I -q -o i.rsct; reusescope convert i.rsct --every 2 -q -o ii.rsct
$ reusescope info ii.rsct | grep -E 'filter|accesses'
filter *kinds=I*every=2 (glob)
accesses       1
unfiltered     6 accesses

# A window of a native trace begins anywhere.
$ reusescope convert a.rsct --window 30000+5 -o - --to din > w; sed -n 30001,30005p a.din | cmp - w

# Onto itself.
$ cp a.rsct self.rsct; reusescope convert self.rsct -q -o self.rsct; cmp a.rsct self.rsct
$ reusescope dump self.rsct | md5sum | cmp - a

# What is said.
$ reusescope convert k.din -o k.rsct
k.rsct: 6 accesses, 0.0 MiB, * bits per access (glob)
next: reusescope analyze k.rsct
$ reusescope convert k.din -q -o k.rsct
$ reusescope convert k.din -o - --to csv 2>&1 >/dev/null

# A limit.
$ reusescope convert a.rsct --max-size 4K -o cut.csv
reusescope: warning: cut.csv: ended early: no room for more
next: reusescope analyze cut.csv
$ tail -1 cut.csv | tr -dc , | wc -c
4

# A full disk: the old file stays, what fitted is beside it, and the status is 1. Frames hold 2^20 accesses.
$ reusescope gen uniform,lines=1M -n 3M -q -o big.rsct; cp big.rsct copy.rsct
$ (trap '' XFSZ; ulimit -f 5000; reusescope convert big.rsct --level 1 -o big.rsct)
reusescope: big.rsct: no room on the disk; the first 1048576 accesses are in big.rsct.partial
[1]
$ cmp big.rsct copy.rsct; reusescope info big.rsct.partial | grep accesses
accesses       1048576
$ (trap '' XFSZ; ulimit -f 100; reusescope gen uniform,lines=1M -n 3M --seed 2 -o big.rsct)
reusescope: big.rsct: no room on the disk; nothing was written
[1]
$ cmp big.rsct copy.rsct; ls big*
big.rsct
big.rsct.partial
$ (trap '' XFSZ; ulimit -f 3000; reusescope convert big.rsct -o big.csv)
reusescope: big.csv: no room on the disk; the first * accesses are in big.csv.partial (glob)
[1]
$ tail -1 big.csv.partial | tr -dc , | wc -c; rm big* copy.rsct
4

# Bad input leaves no output.
$ (head -20 k.din; head -20 k.din;  head -20 k.din; echo oops) > bad.din; reusescope convert bad.din -o bad.rsct
reusescope: bad.din: line 19 (byte 96): expected "0|1|2 ADDRESS" (din), found "oops"
[1]
$ head -c 1000 a.rsct > bad.rsct; reusescope convert bad.rsct -o bad.csv
reusescope: bad.rsct: frame 1 at byte 1000: the file is cut inside a frame
[1]
$ ls -A | grep -E '^(bad|\.)'
bad.din
bad.rsct
$ reusescope convert k.din -o missing/k.rsct
reusescope: missing/k.rsct: No such file or directory
[1]
