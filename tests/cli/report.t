# report: profiles again, in any format.
$ printf '0 0\n0 40\n0 0\n' > t.din
$ reusescope analyze t.din -q
$ ls -A
reusescope.data
t.din
$ reusescope report --format csv
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
$ reusescope report --format json | grep -v '"made"'
{"schema":"reusescope-profile/1",
 "accesses":3,"references":3,"cold":2,"invalidated":0,"distinct":2,
 "last_touch":0,"pruned":0,"censored":0,
 "rd":[
  {"lo":1,"hi":1,"count":1}
 ],
 "ri":[
  {"lo":2,"hi":2,"count":1}
 ],
 "mrc":[
  {"lines":1,"bytes":64,"miss_ratio":1,"low":1,"high":1},
  {"lines":2,"bytes":128,"miss_ratio":0.6666666666666666,"low":0.6666666666666666,"high":0.6666666666666666}
 ],
 "code":[],"pairs":[],"objects":[],"contexts":[],
 "threads":[
  {"tid":0,"pid":0,"references":3,"cold":2,"invalidated":0,"rd":[{"lo":1,"hi":1,"count":1}]}
 ],
 "phases":[],
 "sharing":[],"false_sharing":[]}

# A container, its JSON and the JSON of that: all the same.
$ reusescope report reusescope.data --format json -o one.json
next: reusescope report one.json
$ reusescope report one.json --format json -o two.json
next: reusescope report two.json
$ cmp one.json two.json
$ reusescope report -i one.json -o back.data
next: reusescope report back.data
$ reusescope report back.data --format json -o - | cmp - one.json
$ reusescope report - < one.json --format json | cmp - one.json
$ cat reusescope.data | reusescope report - --format json | cmp - one.json

# Several files, several profiles.
$ reusescope report one.json reusescope.data --format json | grep -c '"schema":"reusescope-profile/1"'
2
$ reusescope report one.json -i two.json --format csv | cut -d, -f1 | sort | uniq -c | tr -s ' '
 12 0
 12 1
 1 profile

# Text: plain ASCII in the C locale, no wider than asked for.
$ reusescope report | LC_ALL=C grep -c '[^ -~]'
0
[1]
$ COLUMNS=60 reusescope report --full | awk 'length > 60' | wc -l
0
$ COLUMNS=40 reusescope report --full | awk 'length > 40' | wc -l
0
$ for width in 40 60 79; do COLUMNS=$width reusescope report | awk -v most=$width 'length > most' | wc -l; done
0
0
0
$ reusescope report --full | grep -E '^ (accesses|references|footprint|cold)'
 accesses    3 accesses by 1 thread
 references  3 references to lines of 64 B
 footprint   2 distinct lines, 128 B
 cold        2 first touches, 66.7 % of references
$ reusescope report --color=always | grep -q "$(printf '\033')\[" && echo colour
colour
$ reusescope report --color=never | grep -c "$(printf '\033')\["
0
[1]
$ reusescope report | grep -c "$(printf '\033')\["
0
[1]
$ reusescope report -q | head -1
-- Memory reuse ----------------------------------------------------------------
$ reusescope report -q -o r.txt && head -1 r.txt
-- Memory reuse ----------------------------------------------------------------

# A report leaves the data file alone.
$ ls -A
back.data
one.json
r.txt
reusescope.data
t.din
two.json

# Damage is noticed: a flipped bit, a cut file, something behind it, another version.
$ flip() { /usr/bin/python3 -c 'import sys
> data = bytearray(open(sys.argv[1], "rb").read()); data[int(sys.argv[2])] ^= int(sys.argv[3])
> open(sys.argv[4], "wb").write(data)' "$@"; }
$ flip reusescope.data 100 1 bad.data; reusescope report bad.data
reusescope: bad.data: checksum mismatch, the file is damaged
[1]
$ flip reusescope.data 20 1 bad.data; reusescope report bad.data
reusescope: bad.data: checksum mismatch, the file is damaged
[1]
$ flip reusescope.data 8 2 bad.data; reusescope report bad.data
reusescope: bad.data: container version 3 is newer than this tool
[1]
$ head -c 100 reusescope.data > bad.data; reusescope report bad.data
reusescope: bad.data: cut at byte 100: * bytes are missing (glob)
[1]
$ head -c 20 reusescope.data > bad.data; reusescope report bad.data
reusescope: bad.data: cut at byte 20, inside the header
[1]
$ (cat reusescope.data; echo) > bad.data; reusescope report bad.data
reusescope: bad.data: 1 extra bytes at the end
[1]
$ sed 's/"references":3/"references":4/' one.json > bad.json; reusescope report bad.json
reusescope: bad.json: rd, cold and other references without a distance sum to 1 fewer than references
[1]
$ sed 's/"count":1/"count":-1/' one.json > bad.json; reusescope report bad.json
reusescope: bad.json: rd[0].count must be a whole number from 0 to 9223372036854775807
[1]
$ head -4 one.json > bad.json; reusescope report bad.json
reusescope: bad.json: line 5: * (glob)
[1]
$ echo '{}' > bad.json; reusescope report bad.json
reusescope: bad.json: schema is missing
[1]
$ echo '[1, 2' > bad.json; reusescope report bad.json
reusescope: bad.json: neither a reusescope profile nor JSON
[1]
$ sed 's,profile/1,profile/2,' one.json > bad.json; reusescope report bad.json
reusescope: bad.json: written as reusescope-profile/2, newer than this tool
[1]
$ reusescope report one.json bad.json 2>&1 | wc -l
1
$ ls -A
back.data
bad.data
bad.json
one.json
r.txt
reusescope.data
t.din
two.json

# A page: one file, whose data is the profile and nothing that ends its element.
$ reusescope report one.json --format html | head -2
<!doctype html>
<html lang="en">
$ reusescope report one.json reusescope.data -o both.html
next: xdg-open both.html   (a self-contained page)
$ grep -o '"names":[^]]*]' both.html
"names":["one.json","reusescope.data"]
$ grep -c '<script' both.html
2
$ reusescope analyze t.din -q -o t.html
$ grep -o '"machine":' t.html
"machine":
$ printf '{"schema":"reusescope-sim/1","references":3,"levels":[{"name":"l1","config":"</script>","accesses":3,"misses":2,"writebacks":0,"mpi":null}]}' > sim.json
$ reusescope report sim.json -q -o sim.html
$ grep -o '"documents":.*levels' sim.html
"documents":[{"schema":"reusescope-sim/1","references":3,"levels
$ grep -c '"config":"\\u003c/script\\u003e"' sim.html
1
$ reusescope report sim.json
reusescope report: sim.json: not a profile; only a page can show this result (-o report.html)
[2]
$ printf '{"schema":"reusescope-sim/1","levels":[]}' > bad.json
$ reusescope report bad.json -o bad.html
reusescope: bad.json: a simulation's result with parts missing
[1]
$ reusescope report one.json --embed-source
reusescope report: --embed-source needs a page (-o report.html)
[2]
$ reusescope report one.json --source-path . -o x.html
reusescope report: --source-path needs --embed-source
[2]

# A profile may name any file. Only files below this folder or --source-path that everyone may read are embedded.
$ umask 022; mkdir work outside; echo 'int mine;' > work/a.c; echo 'int ours;' > outside/b.c; echo 'int key;' > outside/c.c
$ chmod 644 work/a.c outside/b.c; chmod 640 outside/c.c; ln -s ../outside/b.c work/link.c; mkfifo work/pipe.c
$ row() { printf '{"pc":"0x%d","function":"f","file":"%s","line":1,"references":0,"cold":0,"rd":[]}' $1 "$2"; }
$ names() { sed "s|\"code\":\[\]|\"code\":[$(row 1 "$PWD/work/a.c"),$(row 2 "$PWD/outside/b.c"),$(row 3 "$PWD/outside/c.c"),$(row 4 "$PWD/work/link.c"),$(row 5 "$PWD/work/../outside/b.c"),$(row 6 /etc/passwd),$(row 7 /dev/zero),$(row 8 "$PWD/work/pipe.c")]|" one.json; }
$ names > work/named.json; chmod 640 work/named.json
$ cd work
$ reusescope report named.json --embed-source -o page.html 2>&1 | sed "s|$PWD|WORK|; s|${PWD%/work}|ABOVE|" | sort
next: xdg-open page.html   (a self-contained page)
reusescope: embedded WORK/a.c
reusescope: warning: /etc/passwd: not embedded: outside the current folder (--source-path DIR)
reusescope: warning: ABOVE/outside/b.c: not embedded: outside the current folder (--source-path DIR)
reusescope: warning: ABOVE/outside/c.c: not embedded: outside the current folder (--source-path DIR)
reusescope: warning: WORK/../outside/b.c: not embedded: outside the current folder (--source-path DIR)
reusescope: warning: WORK/link.c: not embedded: outside the current folder (--source-path DIR)
$ grep -c 'int mine;' page.html; grep -c 'int ours;\|int key;\|root:x' page.html; stat -c %a page.html
1
0
640
$ chmod 644 page.html; reusescope report named.json -q -o page.html; stat -c %a page.html
640
$ chmod 600 named.json; chmod 664 page.html; reusescope report named.json -q -o page.html; stat -c %a page.html
600
$ reusescope report - -q -o page2.html < named.json; stat -c %a page2.html
600
$ chmod 640 named.json; rm page2.html
$ reusescope report named.json --embed-source --source-path ../outside -o page.html 2>&1 | sed "s|$PWD|WORK|; s|${PWD%/work}|ABOVE|" | grep 'b.c\|c.c\|link'
reusescope: embedded ABOVE/outside/b.c
reusescope: warning: ABOVE/outside/c.c: not embedded: not readable by others
reusescope: embedded WORK/../outside/b.c
reusescope: embedded WORK/link.c
$ grep -c 'int key;' page.html
0
[1]
