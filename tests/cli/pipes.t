# From verb to verb.
$ reusescope gen cyclic,lines=10 -n 100 -o - | reusescope analyze - -q --format json -o - | sed -n 3p
 "accesses":100,"references":100,"cold":10,"invalidated":0,"distinct":10,
$ reusescope gen cyclic,lines=10 -n 100 -o - | reusescope convert - --to csv -o - | reusescope convert - --kind R --to din -o - | reusescope analyze - -q --format json -o - | sed -n 3p
 "accesses":100,"references":100,"cold":10,"invalidated":0,"distinct":10,
$ reusescope gen zipf,lines=1K -n 50K -o - | gzip | reusescope dump - -n 2
      access       tid  k         address   bytes
           0         0  R  0x00001000ce40       8
           1         0  R  0x000010001200       8
$ reusescope gen cyclic,lines=10 -n 100 -o - | reusescope analyze - -q --format json -o - | reusescope report - --format csv | grep references
0,single,64,total,references,,,100,,,
$ reusescope gen cyclic,lines=10 -n 100 -o - | reusescope info - | grep -E 'frames|kinds'
frames         1
kinds          100 reads, 0 writes, 0 fetches

# A trace of many frames through a pipe is the trace of the file.
$ reusescope gen mix,lines=4K -n 3M -q -o m.rsct
$ reusescope analyze m.rsct -q --format json -o - | grep -v '"made"' | md5sum > a
$ cat m.rsct | reusescope analyze - -q --format json -o - | grep -v '"made"' | md5sum | cmp - a
$ cat m.rsct | reusescope analyze - -q --window 2M+10 --format json -o - | sed -n 3p
 "accesses":10,"references":10,"cold":10,"invalidated":0,"distinct":10,
$ reusescope analyze m.rsct -q --window 2M+10 --format json -o - | sed -n 3p
 "accesses":10,"references":10,"cold":10,"invalidated":0,"distinct":10,

# A reader that leaves early is no error worth a word.
$ reusescope gen cyclic -n 4M --to din -o - | head -1
0 10000000
$ reusescope dump m.rsct | head -1
      access       tid  k         address   bytes
$ reusescope analyze m.rsct -q --format json -o - | head -c 1; echo
{

# A writer that says nothing.
$ reusescope analyze - < /dev/null
reusescope: standard input: the file is empty
[1]
$ : | reusescope analyze -
reusescope: standard input: the file is empty
[1]
$ reusescope report - < /dev/null
reusescope: standard input: the file is empty
[1]
$ reusescope analyze - <&-
reusescope: standard input: Bad file descriptor
[1]

# Named pipes.
$ mkfifo fifo; reusescope gen cyclic,lines=10 -n 100 -q -o fifo & reusescope analyze fifo -q --format json -o - | sed -n 3p; wait
 "accesses":100,"references":100,"cold":10,"invalidated":0,"distinct":10,
$ ls -A
a
fifo
m.rsct

# What can be read only once is read only once.
$ timeout 10 reusescope analyze <(printf '0 10\n') -q --format json -o - | sed -n 3p
 "accesses":1,"references":1,"cold":1,"invalidated":0,"distinct":1,
$ timeout 10 reusescope info <(printf '0 10\n') | grep accesses
accesses       1
$ printf '0 10\n' | timeout 10 reusescope info /dev/stdin | grep accesses
accesses       1

# Ctrl-C in the middle of a trace: one line, ended by the signal, nothing written. (More than a pipe holds: it is reading.)
$ cat > interrupt.py << 'END'
> import signal, subprocess, sys
> tool = subprocess.Popen(["reusescope", "analyze", "-", "--from", "raw64", "-o", "never.json"], stdin=subprocess.PIPE,
>                         stderr=subprocess.PIPE, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
> tool.stdin.write(bytes(1 << 20))
> tool.stdin.flush()
> tool.send_signal(signal.SIGINT)
> print(tool.wait(), tool.stderr.read().decode(), end="")
> END
$ /usr/bin/python3 interrupt.py
-2 reusescope: interrupted; nothing was written
$ ls never.json
ls: cannot access 'never.json': No such file or directory
[2]
