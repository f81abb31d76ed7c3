# --top-lines: the cache lines that miss most at one size; and rows for each kind of access.
$ for round in 1 2 3; do for line in 0 40 80 c0 80; do echo "0 $line"; done; done > t.din
$ reusescope analyze t.din --top-lines 3,128 --format json -o - | sed -n '/"lines_at"/,/]$/p'
 "lines_at":128,"lines_asked":3,"lines":[
  {"address":"0x0","object":null,"kind":null,"misses":3,"error":0,"references":3,"cold":1,"rd":[{"lo":3,"hi":3,"count":2}]},
  {"address":"0x40","object":null,"kind":null,"misses":3,"error":0,"references":3,"cold":1,"rd":[{"lo":3,"hi":3,"count":2}]},
  {"address":"0x80","object":null,"kind":null,"misses":3,"error":0,"references":6,"cold":1,"rd":[{"lo":1,"hi":1,"count":3},{"lo":2,"hi":2,"count":2}]}
 ],
 "sharing":[],"false_sharing":[]}
$ reusescope analyze t.din --top-lines 2 --format csv -o - | grep ',lines'
0,single,64,lines,"0x0",,,1,32768,1,1
0,single,64,lines_references,"0x0",,,3,,,
0,single,64,lines_cold,"0x0",,,1,,,
0,single,64,lines_rd,"0x0",3,3,2,,,
0,single,64,lines,"0x40",,,1,32768,1,1
0,single,64,lines_references,"0x40",,,3,,,
0,single,64,lines_cold,"0x40",,,1,,,
0,single,64,lines_rd,"0x40",3,3,2,,,
$ reusescope analyze t.din --top-lines 2,64 --full -o - | sed -n '/^ Worst cache/,/^$/p'
 Worst cache lines  by misses in a cache of 64 B
    misses    share      refs             address  in
         6   40.0 %         6                0x80
         3   20.0 %         3                 0x0
$ reusescope analyze t.din --top-lines 2,64 --line 64,128 -q --format csv -o - | grep ',lines,'
0,single,64,lines,"0x80",,,6,64,6,6
0,single,64,lines,"0x0",,,3,64,3,3
1,single,128,lines,"0x0",,,3,64,3,3
1,single,128,lines,"0x80",,,3,64,3,3
$ reusescope analyze t.din --top-lines 2,64 --max-distance 2 -q -o c.json; python3 $SOURCE/tests/schema_check.py $SOURCE/docs/schema/profile.schema.json c.json

# More lines than the table has rows: every row states its error.
$ reusescope gen cyclic,lines=40K -n 200K -o big.rsct -q
$ reusescope analyze big.rsct --top-lines 2 -q --format csv -o - | grep ',lines,' | cut -d, -f8-
12,32768,1,12
12,32768,1,12
$ reusescope analyze big.rsct --top-lines 2 --full -o - | grep -A1 'Up to'
   Up to 11 of a row's misses may belong to lines dropped from a full table.

$ reusescope analyze t.din --top-lines 0
reusescope analyze: --top-lines 0: not a number of lines from 1 to 1024, or that and a size, as 10,1M
[2]
$ reusescope analyze t.din --top-lines 2000
reusescope analyze: --top-lines 2000: not a number of lines from 1 to 1024, or that and a size, as 10,1M
[2]
$ reusescope analyze t.din --top-lines 5,x
reusescope analyze: --top-lines 5,x: not a number of lines from 1 to 1024, or that and a size, as 10,1M
[2]
$ reusescope analyze t.din --top-lines 5,0
reusescope analyze: --top-lines 5,0: not a number of lines from 1 to 1024, or that and a size, as 10,1M
[2]

# Kinds: apart, and only where there is more than one.
$ reusescope analyze t.din --format json -o - | grep -c kinds
0
[1]
$ printf '0 0\n1 0\n2 1000\n0 40\n1 40\n2 1000\n0 0\n' > k.din
$ reusescope analyze k.din --format json -o - | sed -n '/"kinds"/,/]$/p'
 "kinds":[
  {"kind":"read","references":3,"cold":2,"invalidated":0,"rd":[{"lo":2,"hi":2,"count":1}],"rd_fine":[{"lo":2,"hi":2,"count":1}]},
  {"kind":"write","references":2,"cold":0,"invalidated":0,"rd":[{"lo":0,"hi":0,"count":2}],"rd_fine":[{"lo":0,"hi":0,"count":2}]},
  {"kind":"fetch","references":2,"cold":1,"invalidated":0,"rd":[{"lo":1,"hi":1,"count":1}],"rd_fine":[{"lo":1,"hi":1,"count":1}]}
 ],
 "sharing":[],"false_sharing":[]}
$ reusescope analyze k.din --format csv -o - | grep ',kinds'
0,single,64,kinds,"read",,,3,,3,3
0,single,64,kinds_cold,"read",,,2,,,
0,single,64,kinds_invalidated,"read",,,0,,,
0,single,64,kinds_rd,"read",2,2,1,,,
0,single,64,kinds,"write",,,2,,2,2
0,single,64,kinds_cold,"write",,,0,,,
0,single,64,kinds_invalidated,"write",,,0,,,
0,single,64,kinds_rd,"write",0,0,2,,,
0,single,64,kinds,"fetch",,,2,,2,2
0,single,64,kinds_cold,"fetch",,,1,,,
0,single,64,kinds_invalidated,"fetch",,,0,,,
0,single,64,kinds_rd,"fetch",1,1,1,,,
$ reusescope analyze k.din --full -o - | grep -E '^ kinds|^ Kinds|^ +(read|write|fetch) ' | sed 's/ *[0-9.]* %.*//'
 kinds       3 reads, 2 writes, 2 fetches
 Kinds  of access in one cache, and their miss ratios at two sizes
     read         3
    write         2
    fetch         2
$ reusescope analyze k.din --kind R,W --format csv -o - | grep ',kinds,'
0,single,64,kinds,"read",,,3,,3,3
0,single,64,kinds,"write",,,2,,2,2
$ reusescope analyze k.din --kind I --format csv -o - | grep -c ',kinds,'
0
[1]
$ reusescope analyze k.din --max-distance 1 -q -o k.json; python3 $SOURCE/tests/schema_check.py $SOURCE/docs/schema/profile.schema.json k.json
