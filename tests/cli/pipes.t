# From verb to verb.
$ reusescope gen cyclic,lines=10 -n 100 -o - | reusescope analyze - -q --format json -o - | sed -n 3p
$ reusescope gen cyclic,lines=10 -n 100 -o - | reusescope convert - --to csv -o - | reusescope convert - --kind R --to din -o - | reusescope analyze - -q --format json -o - | sed -n 3p
$ reusescope gen zipf,lines=1K -n 50K -o - | gzip | reusescope dump - -n 2
$ reusescope gen cyclic,lines=10 -n 100 -o - | reusescope analyze - -q --format json -o - | reusescope report - --format csv | grep references
$ reusescope gen cyclic,lines=10 -n 100 -o - | reusescope info - | grep -E 'frames|kinds'

# A trace of many frames through a pipe is the trace of the file.
$ reusescope gen mix,lines=4K -n 3M -q -o m.rsct
$ reusescope analyze m.rsct -q --format json -o - | grep -v '"made"' | md5sum > a
$ cat m.rsct | reusescope analyze - -q --format json -o - | grep -v '"made"' | md5sum | cmp - a
$ cat m.rsct | reusescope analyze - -q --window 2M+10 --format json -o - | sed -n 3p
$ reusescope analyze m.rsct -q --window 2M+10 --format json -o - | sed -n 3p

# A reader that leaves early is no error worth a word.
$ reusescope gen cyclic -n 4M --to din -o - | head -1
$ reusescope dump m.rsct | head -1
$ reusescope analyze m.rsct -q --format json -o - | head -c 1; echo

# A writer that says nothing.
$ reusescope analyze - < /dev/null
$ : | reusescope analyze -
$ reusescope report - < /dev/null
$ reusescope analyze - <&-

# Named pipes.
$ mkfifo fifo; reusescope gen cyclic,lines=10 -n 100 -q -o fifo & reusescope analyze fifo -q --format json -o - | sed -n 3p; wait
$ ls -A
