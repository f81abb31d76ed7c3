# Usage errors: one line on standard error, exit status 2.
$ printf '0 100\n0 100\n' > a.din
$ reusescope foo
$ reusescope analyse a.din
$ reusescope repotr
$ reusescope -q
$ reusescope analyze
$ reusescope analyze a.din a.din
$ reusescope analyze --lines 64 a.din
$ reusescope analyze --salvge a.din
$ reusescope analyze --nothing-like-it a.din
$ reusescope analyze -x a.din
$ reusescope analyze -qx a.din
$ reusescope analyze a.din --line
$ reusescope analyze a.din -o
$ reusescope analyze --quiet=1 a.din
$ reusescope analyze --line 63 a.din
$ reusescope analyze --line 0 a.din
$ reusescope analyze --line 8192 a.din
$ reusescope analyze --line 64, a.din
$ reusescope analyze --line=abc a.din
$ reusescope analyze --engine nope a.din
$ reusescope analyze --model nope a.din
$ reusescope analyze --from nope a.din
$ reusescope analyze --format xml a.din
$ reusescope analyze --threads 0 a.din
$ reusescope analyze --threads 1025 a.din
$ reusescope analyze --phases 0 a.din
$ reusescope analyze --phases 10001 a.din
$ reusescope analyze --bins 0 a.din
$ reusescope analyze --bins 65 a.din
$ reusescope analyze --max-distance 0 a.din
$ reusescope analyze --max-distance 99999999999999999999 a.din
$ reusescope analyze --kind X a.din
$ reusescope analyze --kind '' a.din
$ reusescope analyze --tid x a.din
$ reusescope analyze --tid '' a.din
$ reusescope analyze --range 5 a.din
$ reusescope analyze --range 5-4 a.din
$ reusescope analyze --window x a.din
$ reusescope analyze --window 1+ a.din
$ reusescope analyze --window -1 a.din
$ reusescope analyze --bits 6-9 a.din
$ reusescope analyze --bits 9-6=0 a.din
$ reusescope analyze --bits 6-64=0 a.din
$ reusescope analyze --bits 6-7=4 a.din
$ reusescope analyze --every 0 a.din
$ reusescope analyze --color maybe a.din
$ reusescope info
$ reusescope info a.din a.din
$ reusescope info a.din --format csv
$ reusescope dump
$ reusescope dump a.din -n 0
$ reusescope convert -o x.rsct
$ reusescope convert a.din
$ reusescope convert a.din -o x.rsct --to xml
$ reusescope report --format xml

# A blank is no kind.
$ reusescope analyze --kind ' ' a.din
$ reusescope analyze --kind 'R W' a.din

# What is wrong with a command line is said before a long analysis, not after it.
$ reusescope analyze missing.din --format xml

# Errors stay on one line whatever the argument holds.
$ reusescope "$(printf 'a\nb')" 2>&1 | wc -l
$ reusescope analyze "--$(printf 'a\nb')" 2>&1 | wc -l
$ reusescope analyze --line "$(printf '1\n2')" a.din 2>&1 | wc -l
$ reusescope analyze "$(printf 'a\nb')" 2>&1 | wc -l
$ reusescope gen "$(printf 'a\nb')" -n 1 -o x 2>&1 | wc -l

# "--" ends the options.
$ reusescope analyze -- --line
$ reusescope analyze -- -

# Input errors: one line, exit status 1.
$ reusescope analyze missing.din
$ reusescope info missing.din
$ reusescope dump missing.din
$ reusescope convert missing.din -o x.rsct
$ reusescope report missing.data
$ reusescope report
$ reusescope analyze .
$ reusescope report .
$ reusescope info .
$ : > empty
$ reusescope analyze empty
$ reusescope info empty
$ reusescope dump empty
$ reusescope convert empty -o x.rsct
$ reusescope report empty
$ reusescope analyze empty --from raw64
$ reusescope analyze empty --from din
$ echo hello > junk
$ reusescope analyze junk
$ reusescope info junk
$ reusescope dump junk
$ reusescope convert junk -o x.rsct
$ reusescope report junk
$ reusescope analyze junk --from din
$ reusescope analyze junk --from lackey
$ reusescope analyze junk --from csv
$ reusescope analyze junk --from raw64
$ reusescope analyze junk --from rsct
$ mkdir closed; : > closed/a.din; chmod 000 closed
$ [ "$(id -u)" = 0 ] || reusescope analyze closed/a.din | grep -v denied; chmod 755 closed; rm -r closed

# A bad line is named.
$ (for i in $(seq 20); do echo 0 100; done; echo zzz) | reusescope analyze -
$ printf 'addr\nff\n' | reusescope analyze -
$ printf 'addr,size\n1,0\n' | reusescope analyze -
$ printf 'addr,size\n1\n' | reusescope analyze -
$ printf 'addr,kind\n1,Q\n' | reusescope analyze -
$ printf 'addr,addr\n1,1\n' | reusescope analyze -

# Nothing was left behind.
$ ls -A
