# Where results go.
$ printf '0 0\n0 40\n0 0\n' > t.din
$ check() { /usr/bin/python3 $SOURCE/tests/schema_check.py $SOURCE/docs/schema/profile.schema.json "$@"; }

# Text, and the profile in reusescope.data; the one before it in .old.
$ reusescope analyze t.din > text; head -2 text; ls -A
$ cp reusescope.data first; reusescope analyze t.din --line 128 -q; cmp reusescope.data.old first; ls -A
$ reusescope analyze t.din -q; reusescope report reusescope.data.old --format json | grep -o '"line":[0-9]*'
$ rm reusescope.data* first text

# With -o there is no default file; the suffix says what is written.
$ reusescope analyze t.din -q -o t.json; check t.json; reusescope analyze t.din -q -o t.csv; head -1 t.csv
$ reusescope analyze t.din -q -o t.txt; head -1 t.txt; reusescope analyze t.din -q -o t.data; head -c 7 t.data; echo
$ reusescope analyze t.din -q -o other; head -c 7 other; echo
$ reusescope analyze t.din -q --line 64,128 -o two.json; check two.json; head -1 two.json
$ ls -A
$ rm t.csv t.txt t.data other two.json t.json

# The text is printed beside a file, and the next command works.
$ reusescope analyze t.din -o t.json | sed -n 1p
$ reusescope analyze t.din -o t.json 2>&1 >/dev/null
$ $(reusescope analyze t.din -o t.json 2>&1 >/dev/null | sed 's/^next: //') | head -1
$ $(reusescope analyze t.din -o t.data 2>&1 >/dev/null | sed 's/^next: //') | head -1

# After a rendering that report cannot read, no command is offered that would fail.
$ reusescope analyze t.din -o t.csv 2>&1 >/dev/null
$ reusescope analyze t.din -o t.txt 2>&1 >/dev/null
$ reusescope analyze t.din -q; reusescope report -o t.csv
$ rm t.json t.data t.csv t.txt reusescope.data

# --format beats the suffix.
$ reusescope analyze t.din -q --format csv -o t.json; head -1 t.json; rm t.json

# On standard output: just the rendering, and nothing on standard error.
$ reusescope analyze t.din --format json -o - > t.json; check t.json; rm t.json
$ reusescope analyze t.din --format csv -o -
$ reusescope analyze t.din -o - | head -1
$ ls -A

# --format alone: that on standard output, and the data file as ever.
$ reusescope analyze t.din --format csv | head -1; ls -A; rm reusescope.data

# -q: nothing but what was asked for.
$ reusescope analyze t.din -q; ls -A; rm reusescope.data
$ reusescope analyze t.din -q -o - | head -1

# %p is the process id.
$ reusescope analyze t.din -q -o run-%p.json; ls | grep -c '^run-[1-9][0-9]*\.json$'; rm run-*

# JSON is the same from run to run but for made.seconds and made.command.
$ for i in 1 2; do reusescope analyze t.din -q --format json -o - | sed 's/"seconds":[^,]*//' | md5sum; done | uniq | wc -l

# A link is followed, a device written in place, an existing file replaced whole.
$ echo old > target; ln -s target link; reusescope analyze t.din -q -o link --format csv; readlink link; head -1 target
$ reusescope analyze t.din -q --format csv -o /dev/stdout | head -1
$ reusescope analyze t.din -q -o /dev/null
$ rm link target

# What cannot be written is an error, and leaves nothing.
$ reusescope analyze t.din -q -o missing/t.json
$ reusescope analyze t.din -q -o .
$ reusescope analyze t.din -q --format json -o /dev/full
$ reusescope report t.din -o x.json
$ mkdir readonly; chmod 555 readonly
$ [ "$(id -u)" = 0 ] || ! reusescope analyze t.din -q -o readonly/t.json 2>/dev/null && ls -A readonly
$ rmdir readonly; ls -A

# A full standard output is an error of one line in every verb.
$ reusescope analyze t.din --format json -o - > /dev/full
$ reusescope analyze t.din -o - > /dev/full
$ reusescope convert t.din --to din -o - > /dev/full
$ reusescope gen cyclic -n 10 -o - > /dev/full
$ reusescope dump t.din > /dev/full
$ reusescope info t.din > /dev/full
$ reusescope help > /dev/full
$ reusescope help --completion bash > /dev/full
$ reusescope version > /dev/full

# Names that are no UTF-8 still give JSON.
$ cp t.din "$(printf 'n\377.din')"; reusescope analyze "$(printf 'n\377.din')" -q --format json -o - | check -
$ cp t.din 'a"b\c.din'; reusescope analyze 'a"b\c.din' -q --format json -o - | check -
