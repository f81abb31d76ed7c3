# dump: a trace as lines.
$ printf 'addr,size,kind,tid,pc\n0x10,4,R,5,0x400000\n0x20,8,W,6,0x400004\n0x400008,2,I,5,0x400008\n' > t.csv
$ reusescope dump t.csv
      access       tid  k         address   bytes              pc
           0         5  R  0x000000000010       4  0x000000400000
           1         6  W  0x000000000020       8  0x000000400004
           2         5  I  0x000000400008       2  0x000000400008
$ reusescope dump t.csv -n 1
      access       tid  k         address   bytes              pc
           0         5  R  0x000000000010       4  0x000000400000
$ reusescope dump t.csv -n 9 | wc -l
4
$ printf '0 0\n1 40\n2 1000\n' | reusescope dump -
      access       tid  k         address   bytes
           0         0  R  0x000000000000       1
           1         0  W  0x000000000040       1
           2         0  I  0x000000001000       1

# A window keeps the numbers of the trace; other filters number what they keep.
$ reusescope dump t.csv --window 1
      access       tid  k         address   bytes              pc
           1         6  W  0x000000000020       8  0x000000400004
           2         5  I  0x000000400008       2  0x000000400008
$ reusescope dump t.csv --window 1 -n 1
      access       tid  k         address   bytes              pc
           1         6  W  0x000000000020       8  0x000000400004
$ reusescope dump t.csv --tid 5
      access       tid  k         address   bytes              pc
           0         5  R  0x000000000010       4  0x000000400000
           1         5  I  0x000000400008       2  0x000000400008
$ reusescope convert t.csv -q -o t.rsct; reusescope dump t.rsct > a; reusescope dump t.csv | cmp - a
$ reusescope dump t.rsct --window 2+1
      access       tid  k         address   bytes              pc
           2         5  I  0x000000400008       2  0x000000400008
$ reusescope dump t.rsct --window 3 | grep -c 0x
0
[1]
$ reusescope dump t.csv --kind I --window 1+1 | wc -l
1

# It stops where damage begins, having said what came before.
$ (for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18; do echo 0 $i; done; echo bad) | reusescope dump - | tail -2
reusescope: standard input: line 19 (byte 81): expected "0|1|2 ADDRESS" (din), found "bad"
          16         0  R  0x000000000017       1
          17         0  R  0x000000000018       1

# A full disk ends it at once, and is named.
$ reusescope gen cyclic,lines=10 -n 20K -o - | reusescope dump - > /dev/full
reusescope: standard output: No space left on device
[1]
