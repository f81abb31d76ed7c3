# info: what a trace or a profile holds.
$ printf '0 0\n1 40\n2 1000\n2 1004\n' > t.din
$ reusescope info t.din
file           t.din
format         din
size           23 bytes
accesses       4
instructions   2
kinds          1 reads, 1 writes, 2 fetches
threads        1
$ reusescope info t.din --format json
{"schema":"reusescope-trace-info/1","file":"t.din","format":"din","compression":"none","bytes":23,"source":"","command":"","filter":"","accesses":4,"instructions":2,"full_accesses":4,"full_instructions":2,"frames":0,"lost_bytes":0,"reads":1,"writes":1,"fetches":2,"threads":1}
$ reusescope info - < t.din | head -2
file           -
format         din
$ cat t.din | reusescope info - | head -2
file           -
format         din
$ gzip -k t.din; reusescope info t.din.gz | head -2
file           t.din.gz
format         din, packed with gzip

# A native trace answers from its index; --count reads it to the end.
$ reusescope convert t.din -q -o t.rsct
$ reusescope info t.rsct | grep -v ^size
file           t.rsct
format         rsct version 1
made by        din
accesses       4
instructions   2
frames         1
pcs            no
$ reusescope info t.rsct --count | tail -2
kinds          1 reads, 1 writes, 2 fetches
threads        1
$ cat t.rsct | reusescope info - --format json
{"schema":"reusescope-trace-info/1","file":"-","format":"rsct","compression":"none","bytes":null,"source":"din","command":"","filter":"","accesses":4,"instructions":2,"full_accesses":4,"full_instructions":2,"frames":1,"lost_bytes":0,"reads":1,"writes":1,"fetches":2,"threads":1}

# A filtered copy remembers the filter and the totals of the whole.
$ reusescope convert t.din --kind R,W --every 2 -q -o some.rsct
$ reusescope info some.rsct | grep -v ^size
file           some.rsct
format         rsct version 1
made by        din
filter         kinds=RW every=2
accesses       1
instructions   2
unfiltered     4 accesses
frames         1
pcs            no
$ reusescope info some.rsct --format json | grep -o '"full_accesses":[0-9]*'
"full_accesses":4

# Filters count what they keep.
$ reusescope info t.din --kind I | grep -E 'accesses|kinds'
accesses       2
kinds          0 reads, 0 writes, 2 fetches
$ reusescope info t.rsct --kind I | grep -E 'accesses|kinds'
accesses       2
kinds          0 reads, 0 writes, 2 fetches

# Profiles, too.
$ reusescope analyze t.din -q; reusescope analyze t.din -q -o t.json; reusescope analyze t.din -q --line 64,4096 -o two.data
$ reusescope info reusescope.data
file           reusescope.data
format         profile, by exact from trace, single stack, 64-byte lines
references     4
distinct       3 lines
$ reusescope info t.json | sed -n 2p
format         profile, by exact from trace, single stack, 64-byte lines
$ reusescope info two.data | grep -c '^format'
2

# A profile that cannot be read is a damaged profile, not an unknown trace.
$ cp two.data bad.data; printf '\377' | dd of=bad.data bs=1 seek=60 conv=notrunc status=none; reusescope info bad.data
reusescope: bad.data: checksum mismatch, the file is damaged
[1]
$ head -c 500 t.json > cut.json; reusescope info cut.json
reusescope: cut.json: line * (glob)
[1]

# Any number of threads counts the same.
$ reusescope gen mix,lines=5000,threads=3,write=0.3 -n 3M -q -o m.rsct
$ for n in 1 2 5; do reusescope info m.rsct --count --threads $n | md5sum; done | uniq | wc -l
1
$ reusescope info m.rsct --count | grep -E '^(accesses|threads)'; reusescope info m.rsct --count | awk '/^kinds/ { print $2 + $4 + $6 }'
accesses       3145728
threads        3
3145728

# --count finds damage that the index does not show.
$ printf '\377' | dd of=t.rsct bs=1 seek=170 conv=notrunc status=none
$ reusescope info t.rsct | grep accesses
accesses       4
$ reusescope info t.rsct --count
reusescope: t.rsct: frame 1 at byte 55: checksum mismatch
[1]

# A file that may not be read is that, whatever it holds, and no other is blamed. (Root reads all, but not without its rights.)
$ chmod 000 t.json two.data t.din
$ powerless() { if [ "$(id -u)" = 0 ]; then setpriv --inh-caps=-all --bounding-set=-all "$@"; else "$@"; fi; }
$ for file in t.json two.data t.din; do powerless reusescope info $file; echo $?; done
reusescope: t.json: Permission denied
1
reusescope: two.data: Permission denied
1
reusescope: t.din: Permission denied
1
$ chmod 644 t.json two.data t.din

# Names from a file cannot send escapes to the terminal.
$ printf '0 0\n' > e.din; reusescope analyze e.din -q --format json -o e.json
$ sed -i 's|"by":"exact"|"by":"ex\\u001b]0;x\\u0007\\u009b31m\\u202eact"|' e.json
$ reusescope info e.json | cat -v
file           e.json
format         profile, by ex?]0;x???31m???act from trace, single stack, 64-byte lines
references     1
distinct       1 lines
$ sed 's|"/usr/bin/wave"|"/usr/\\u001b]0;x\\u0007\\u009b31m\\nwave"|' $SOURCE/tests/fuzz/corpus/profile/modules.json > m.json
$ reusescope info m.json | grep wave | cat -v
module         /usr/?]0;x???31m?wave, build id 0123456789abcdef0123456789abcdef01234567
