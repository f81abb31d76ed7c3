# info: what a trace or a profile holds.
$ printf '0 0\n1 40\n2 1000\n2 1004\n' > t.din
$ reusescope info t.din
$ reusescope info t.din --format json
$ reusescope info - < t.din | head -2
$ cat t.din | reusescope info - | head -2
$ gzip -k t.din; reusescope info t.din.gz | head -2

# A native trace answers from its index; --count reads it to the end.
$ reusescope convert t.din -q -o t.rsct
$ reusescope info t.rsct | grep -v ^size
$ reusescope info t.rsct --count | tail -2
$ cat t.rsct | reusescope info - --format json | sed 's/"bytes":[0-9]*/"bytes":N/'

# A filtered copy remembers the filter and the totals of the whole.
$ reusescope convert t.din --kind R,W --every 2 -q -o some.rsct
$ reusescope info some.rsct | grep -v ^size
$ reusescope info some.rsct --format json | grep -o '"full_accesses":[0-9]*'

# Filters count what they keep.
$ reusescope info t.din --kind I | grep -E 'accesses|kinds'
$ reusescope info t.rsct --kind I | grep -E 'accesses|kinds'

# Profiles, too.
$ reusescope analyze t.din -q; reusescope analyze t.din -q -o t.json; reusescope analyze t.din -q --line 64,4096 -o two.data
$ reusescope info reusescope.data
$ reusescope info t.json | sed -n 2p
$ reusescope info two.data | grep -c '^format'
$ reusescope info - < t.json | sed -n 2p
$ reusescope info t.json --format json | grep -c '"schema"'

# --count finds damage that the index does not show.
$ printf '\377' | dd of=t.rsct bs=1 seek=250 conv=notrunc status=none
$ reusescope info t.rsct > /dev/null
$ reusescope info t.rsct --count
