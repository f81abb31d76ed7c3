# The engine that picks: exact unless an error is allowed.
$ reusescope gen uniform,lines=300K -n 6M -q -o u.rsct
$ reusescope gen zipf,lines=20K -n 200K -q -o small.rsct
$ body() { reusescope analyze "$@" --format json -o -; }
$ pick() { python3 -c 'import json,sys; p=json.load(sys.stdin); print(p["made"]["by"], "|", p["made"]["sampling"], "|", p["accesses"], p["references"], sum(b["count"] for b in p["rd"])+p["cold"])'; }
$ strip() { sed 's/"by":"[^"]*"/"by":""/; s/"command":\[[^]]*\]//; s/"seconds":[0-9.]*//'; }
$ body small.rsct | strip > auto; body small.rsct --engine exact | strip > exact; cmp auto exact

# A small footprint stays exact, whatever is allowed.
$ body small.rsct --error 5% | strip > auto; cmp auto exact

# A large one is sampled after an exact beginning, and says so.
$ body u.rsct --error 0.05 | pick
exact, then shards | first 245760 references exactly, then lines by hash, rate 0.0625, seed 0, 19257 kept and 129 bursts; 90 % bars, 0.61 % wide to each side on average | 6291456 6291456 6291456

# Pipes too.
$ cat u.rsct | body - --error 0.05 | pick
exact, then shards | first 245760 references exactly, then lines by hash, rate 0.0625, seed 0, 19257 kept and 129 bursts; 90 % bars, 0.61 % wide to each side on average | 6291456 6291456 6291456

# What an error is, and who takes one.
$ reusescope analyze small.rsct --error 0
reusescope analyze: --error 0: not an error above 0 and below 1, such as 0.01 or 1%
[2]
$ reusescope analyze small.rsct --error 100%
reusescope analyze: --error 100%: not an error above 0 and below 1, such as 0.01 or 1%
[2]
$ reusescope analyze small.rsct --error x
reusescope analyze: --error x: not an error above 0 and below 1, such as 0.01 or 1%
[2]
$ reusescope analyze small.rsct --error 1% --engine exact
reusescope: --error applies only to --engine auto and --engine sampled
[2]
$ reusescope analyze small.rsct --error 1% --requests
reusescope: --error applies only to --engine auto and --engine sampled
[2]
$ reusescope analyze small.rsct --error 1% --phases 2
reusescope: the auto engine with an error allowed cannot do phases
[2]

# What will not fit says so beforehand, and what it offers fits.
$ reusescope analyze u.rsct --max-memory 8M -o no.json
reusescope: this analysis of about 305 k lines needs up to 11.6 MiB of memory, and the limit is 8 MiB (--max-memory): --engine shards-max:16384 fits, and has error bars
[1]
$ reusescope analyze u.rsct --max-memory 4M --engine hotl -o no.json
reusescope: this analysis of about 305 k lines needs up to 12 MiB of memory, and the limit is 4 MiB (--max-memory): --engine shards-max:4096 fits, and has error bars
[1]
$ reusescope analyze u.rsct --max-memory 4M --engine parallel -o no.json
reusescope: this analysis of about 305 k lines needs up to 46.6 MiB of memory, and the limit is 4 MiB (--max-memory): --engine shards-max:4096 fits, and has error bars
[1]
$ test -e no.json || echo nothing written
nothing written
$ reusescope analyze u.rsct --max-memory 8M --engine shards-max:16384 -q -o yes.json && echo fits
fits
$ reusescope analyze u.rsct --max-memory 1G -q -o yes.json && echo fits
fits
$ reusescope analyze u.rsct --max-memory many
reusescope analyze: --max-memory many: not a size in bytes, as 512M or 4G
[2]

# Where not even the smallest sample fits, none is offered.
$ reusescope analyze u.rsct --max-memory 1K -o no.json
reusescope: this analysis of about 305 k lines needs up to 11.6 MiB of memory, and the limit is 1 KiB (--max-memory): raise the limit with --max-memory
[1]

# Of a pipe it shows when it has grown too much.
$ cat u.rsct | reusescope analyze - --threads 1 --max-memory 5M -o no.json 2>&1 | sed 's/to [0-9.]* MiB/to N MiB/'
reusescope: the analysis has grown and now needs up to N MiB of memory, and the limit is 5 MiB (--max-memory): --engine shards-max:8192 fits, and has error bars

# A sample that decoding threads draw is checked like one drawn here.
$ for n in 1 2 8; do reusescope analyze u.rsct --threads $n --engine shards:0.9 --max-memory 6M -o no.json 2>&1 | sed 's/to [0-9.]* MiB/to N MiB/'; done
reusescope: the analysis has grown and now needs up to N MiB of memory, and the limit is 6 MiB (--max-memory): --engine shards-max:8192 fits, and has error bars
reusescope: the analysis has grown and now needs up to N MiB of memory, and the limit is 6 MiB (--max-memory): --engine shards-max:8192 fits, and has error bars
reusescope: the analysis has grown and now needs up to N MiB of memory, and the limit is 6 MiB (--max-memory): --engine shards-max:8192 fits, and has error bars
$ test -e no.json || echo nothing written
nothing written
$ reusescope analyze u.rsct --threads 2 --engine shards:0.1 --max-memory 6M -q -o yes.json && echo fits
fits

# Limits of the process count.
$ reusescope gen cyclic,lines=4M -n 8M -q -o wide.rsct
$ (ulimit -v 120000; reusescope analyze wide.rsct --threads 1 --engine exact -o no.json) 2>&1 | sed 's/limit is [0-9.]* MiB (/limit is N (/; s/max:[0-9]*/max:N/'
reusescope: this analysis of about 4.11 M lines needs up to 157 MiB of memory, and the limit is N (80 % of available memory; --max-memory changes it): --engine shards-max:N fits, and has error bars
$ test -e no.json || echo nothing written
nothing written
