# analyze: small traces whose profiles were worked out by hand.
$ json() { reusescope analyze "$@" -q --format json -o -; }
$ check() { /usr/bin/python3 $SOURCE/tests/schema_check.py $SOURCE/docs/schema/profile.schema.json -; }
$ body() { json "$@" > out.json && check < out.json && grep -v '"made"' out.json; }

# a a: one cold, then interval 1 and distance 0.
$ printf '0 100\n0 100\n' > aa.din
$ json aa.din | sed 's/"seconds":[0-9.e-]*/"seconds":S/'
$ json aa.din | check

# a b c a b b: a and b come back after two others (distance 2, interval 3), then b at once.
$ printf '0 0\n0 40\n0 80\n0 0\n0 40\n0 40\n' > abcabb.din
$ body abcabb.din

# Both words of a line are one line; at 8 bytes they are two.
$ printf '0 0\n0 8\n0 0\n' > words.din
$ body words.din | sed -n '2,10p'
$ body words.din --line 8 | sed -n '2,12p'

# Eight bytes from 0x3c on reach into the second line: two references, in address order.
$ printf 'addr,size\n0x3c,8\n0x0,1\n' > straddle.csv
$ body straddle.csv
$ body straddle.csv --line 128 | sed -n 2p

# An access over three lines.
$ printf 'addr,size\n0x20,160\n0x40,1\n' > wide.csv
$ body wide.csv | sed -n '2,10p'

# An access may end at the last byte there is.
$ printf 'addr,size\n0xffffffffffffffff,1\n0xffffffffffffffff,64\n' > top.csv
$ body top.csv | sed -n '2,10p'

# Two threads, one stack: what 9 brings in, 7 finds.
$ printf 'addr,tid,pid\n0,7,1\n0,9,1\n64,9,1\n0,7,1\n' > threads.csv
$ body threads.csv
$ body threads.csv --tid 7 | sed -n '2,10p'
$ body threads.csv --tid 7,9 | sed -n 2p
$ body threads.csv --tid 8 | sed -n '2,6p'

# Kinds.
$ printf '0 0\n1 0\n2 1000\n0 40\n2 1004\n1 0\n' > kinds.din
$ body kinds.din --kind R | sed -n 2p
$ body kinds.din --kind w | sed -n '2,8p'
$ body kinds.din --kind I | sed -n '2,8p'
$ body kinds.din --kind R,W | sed -n 2p
$ body kinds.din --kind RWI | sed -n 2p

# Other filters; they combine.
$ body abcabb.din --range 0x40-0x7f | sed -n '2,8p'
$ body abcabb.din --window 3 | sed -n '2,10p'
$ body abcabb.din --window 1+2 | sed -n 2p
$ body abcabb.din --window 6 | sed -n 2p
$ body abcabb.din --window 0+0 | sed -n 2p
$ body abcabb.din --bits 6-6=1 | sed -n '2,8p'
$ body abcabb.din --every 2 | sed -n '2,6p'
$ body abcabb.din --bits 6-6=0 --every 3 | sed -n '2,6p'

# A window past the end keeps nothing, whatever the format.
$ reusescope convert abcabb.din -q -o abcabb.rsct
$ body abcabb.rsct --window 3 | sed -n '2,10p'
$ body abcabb.rsct --window 6 | sed -n 2p

# A cap: distances from 2 on in one bin without an end.
$ body abcabb.din --max-distance 2
$ body abcabb.din --max-distance 3 | sed -n '2,8p'

# Two halves; ten references in four parts.
$ body abcabb.din --phases 2 | sed -n '/phases/,$p'
$ printf '0 %x\n' 0 64 128 192 256 320 384 448 512 576 > ten.din
$ body ten.din --phases 4 | sed -n '/phases/,$p'
$ body aa.din --phases 5 | sed -n '/phases/,$p'

# A second binning.
$ body abcabb.din --bins 1 | grep bins

# Several line sizes in one pass are one document.
$ json words.din --line 8,64 > both.json; check < both.json; grep -v '"made"' both.json | head -3
$ grep -c '"schema":"reusescope-profile/1"' both.json
$ json words.din --line 1,2,4,8,16,32,64,128,256,512,1K,2K,4K | grep -o '"line":[0-9]*' | tr '\n' ' '

# Whatever the number of threads, the result is the same.
$ reusescope gen mix,lines=2K,threads=3,write=0.2 -n 100K -q -o mix.rsct
$ for threads in 1 2 7; do body mix.rsct --line 16,64 --threads $threads | md5sum; done | uniq | wc -l

# Known beforehand: n lines in a circle, every reuse at distance n - 1.
$ reusescope gen cyclic,lines=100 -n 1000 -q -o cyclic.rsct
$ body cyclic.rsct | sed -n '/"rd"/,/"mrc"/p'
$ body cyclic.rsct | grep -E '"lines":(1|99|100),'

# Distances from 1024 on share bins: 64 an octave.
$ reusescope gen cyclic,lines=5000 -n 10000 -q -o long.rsct
$ body long.rsct | sed -n '/"rd"/,/"mrc"/p'
$ body long.rsct | grep -c miss_ratio

# A valid trace without accesses: zeros, no curve, exit status 0.
$ printf 'addr,size\n' > none.csv
$ body none.csv
$ reusescope convert none.csv -q -o none.rsct; body none.rsct | md5sum > a; body none.csv | md5sum | cmp - a
$ body none.rsct --phases 3 --bins 4 --max-distance 9 --line 1 | sed -n 2p
$ reusescope analyze none.csv -o -
$ reusescope analyze none.csv --format csv -o - | grep -v total

# The engine by name.
$ body aa.din --engine exact --model single | sed -n 2p
$ body aa.din --engine auto | sed -n 2p
$ ls -A *.data* 2>&1
