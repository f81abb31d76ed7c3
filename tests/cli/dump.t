# dump: a trace as lines.
$ printf 'addr,size,kind,tid,pc\n0x10,4,R,5,0x400000\n0x20,8,W,6,0x400004\n0x400008,2,I,5,0x400008\n' > t.csv
$ reusescope dump t.csv
$ reusescope dump t.csv -n 1
$ reusescope dump t.csv -n 9 | wc -l
$ printf '0 0\n1 40\n2 1000\n' | reusescope dump -

# A window keeps the numbers of the trace; other filters number what they keep.
$ reusescope dump t.csv --window 1
$ reusescope dump t.csv --window 1 -n 1
$ reusescope dump t.csv --tid 5
$ reusescope convert t.csv -q -o t.rsct; reusescope dump t.rsct > a; reusescope dump t.csv | cmp - a
$ reusescope dump t.rsct --window 2+1
$ reusescope dump t.rsct --window 3 | wc -l
$ reusescope dump t.csv --kind I --window 1+1 | wc -l

# It stops where damage begins, having said what came before.
$ (for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18; do echo 0 $i; done; echo bad) | reusescope dump - | tail -2
