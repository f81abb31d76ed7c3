# report: profiles again, in any format.
$ printf '0 0\n0 40\n0 0\n' > t.din
$ reusescope analyze t.din -q
$ ls -A
$ reusescope report --format csv
$ reusescope report --format json | grep -v '"made"'

# A container, its JSON and the JSON of that: all the same but for nothing.
$ reusescope report reusescope.data --format json -o one.json
$ reusescope report one.json --format json -o two.json
$ cmp one.json two.json
$ reusescope report -i one.json -o back.data
$ reusescope report back.data --format json -o - | cmp - one.json
$ reusescope report - < one.json --format json | cmp - one.json
$ cat reusescope.data | reusescope report - --format json | cmp - one.json

# Several files, several profiles.
$ reusescope report one.json reusescope.data --format json | grep -c '"schema":"reusescope-profile/1"'
$ reusescope report one.json -i two.json --format csv | cut -d, -f1 | sort | uniq -c | tr -s ' '

# Text: plain ASCII in the C locale, no wider than asked for.
$ reusescope report | LC_ALL=C grep -c '[^ -~]'
$ COLUMNS=60 reusescope report | awk 'length > 60' | wc -l
$ COLUMNS=40 reusescope report | awk 'length > 40' | wc -l
$ reusescope report | grep -E '^ (accesses|references|footprint|cold)'
$ reusescope report --color=always | grep -c "$(printf '\033')\["
$ reusescope report --color=never | grep -c "$(printf '\033')\["
$ reusescope report | grep -c "$(printf '\033')\["
$ reusescope report -q | head -1
$ reusescope report -o r.txt && head -1 r.txt

# A report leaves the data file alone.
$ ls -A

# Damage is noticed: a flipped bit, a cut file, something behind it, another version.
$ flip() { /usr/bin/python3 -c 'import sys
> data = bytearray(open(sys.argv[1], "rb").read()); data[int(sys.argv[2])] ^= int(sys.argv[3])
> open(sys.argv[4], "wb").write(data)' "$@"; }
$ flip reusescope.data 100 1 bad.data; reusescope report bad.data
$ flip reusescope.data 20 1 bad.data; reusescope report bad.data
$ flip reusescope.data 8 2 bad.data; reusescope report bad.data
$ head -c 100 reusescope.data > bad.data; reusescope report bad.data
$ head -c 20 reusescope.data > bad.data; reusescope report bad.data
$ (cat reusescope.data; echo) > bad.data; reusescope report bad.data
$ sed 's/"references":3/"references":4/' one.json > bad.json; reusescope report bad.json
$ sed 's/"count":1/"count":-1/' one.json > bad.json; reusescope report bad.json
$ head -c 300 one.json > bad.json; reusescope report bad.json
$ echo '{}' > bad.json; reusescope report bad.json
$ echo '[1, 2' > bad.json; reusescope report bad.json
$ sed 's,profile/1,profile/2,' one.json > bad.json; reusescope report bad.json
$ reusescope report one.json bad.json 2>&1 | wc -l
$ ls -A
