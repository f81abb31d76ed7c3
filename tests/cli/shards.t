# Engines that sample lines by hash.
$ reusescope gen uniform,lines=20K -n 200K -q -o u.rsct
$ body() { reusescope analyze u.rsct "$@" --format json -o -; }
$ pick() { python3 -c 'import json,sys; p=json.load(sys.stdin); print(p["made"]["by"], "|", p["made"]["sampling"], "|", p["accesses"], p["references"], sum(b["count"] for b in p["rd"])+p["cold"], sum(b["count"] for b in p["ri"])+p["cold"])'; }

# A rate may be written in three ways, and is told in one.
$ body --engine shards:0.05 | pick
shards:0.05 | lines by hash, rate 0.05, seed 0, 996 kept; 90 % bars; distinct 18908 to 20932 | 204800 204800 204800 204800
$ body --engine shards:1/20 | pick
shards:0.05 | lines by hash, rate 0.05, seed 0, 996 kept; 90 % bars; distinct 18908 to 20932 | 204800 204800 204800 204800
$ body --engine shards:5% | pick
shards:0.05 | lines by hash, rate 0.05, seed 0, 996 kept; 90 % bars; distinct 18908 to 20932 | 204800 204800 204800 204800
$ body --engine shards-max:1K | pick
shards-max:1024 | lines by hash, rate 0.0510885, seed 0, 1024 kept; 90 % bars; distinct 19623 to 21691 | 204800 204800 204800 204800

# Another seed, another sample; the same seed, the same.
$ body --engine shards:0.05 --seed 7 | pick
shards:0.05 | lines by hash, rate 0.05, seed 7, 1002 kept; 90 % bars; distinct 19025 to 21055 | 204800 204800 204800 204800
$ body --engine shards:0.05 --seed 7 > 1; body --engine shards:0.05 --seed 7 > 2
$ grep -v seconds 1 > 1.rest; grep -v seconds 2 > 2.rest; cmp 1.rest 2.rest

# Rate 1 is exact, bit for bit.
$ strip() { sed 's/"by":"[^"]*"/"by":""/; s/"command":\[[^]]*\]//; s/"seconds":[0-9.]*//'; }
$ body --engine shards:1 | strip > one; body --engine exact | strip > exact; cmp one exact

# Error bars: around every point, wider with more confidence, none at rate 1.
$ bars() { python3 -c 'import json,sys; p=json.load(sys.stdin); m=p["mrc"]; print(all(q["low"]<=q["miss_ratio"]<=q["high"] for q in m), sum(q["high"]-q["low"] for q in m)>0)'; }
$ body --engine shards:0.05 | bars
True True
$ body --engine shards:1 | bars
True False
$ width() { python3 -c 'import json,sys; p=json.load(sys.stdin); print(sum(q["high"]-q["low"] for q in p["mrc"]))'; }
$ a=$(body --engine shards:0.05 --confidence 50 | width); b=$(body --engine shards:0.05 --confidence 99 | width)
$ python3 -c "print($a < $b)"
True

# The text says what was sampled, and shows the bars.
$ reusescope analyze u.rsct --engine shards:0.05 --full -o - --format text | grep -A1 -e sampling -e '^   at '
 sampling    lines by hash, rate 0.05, seed 0, 996 kept; 90 % bars; distinct
             18908 to 20932
--
   at 32 KiB     93.7 %  (88.6 % to 99.1 %)
   at 512 KiB    57.5 %  (52.3 % to 63.3 %)
\

# Memory is said.
$ reusescope analyze u.rsct --engine shards-max:100 -v -o x.data 2>&1 | grep -o 'shards-max:100 (.*'
shards-max:100 (*): 100 lines kept, 0.07 MiB at most (glob)

# What is no rate, and no number of lines.
$ reusescope analyze u.rsct --engine shards
reusescope: engine 'shards': a rate is missing, such as shards:0.01
[2]
$ reusescope analyze u.rsct --engine shards:
reusescope: engine 'shards:': not a rate above 0 and up to 1, such as 0.01, 1/100 or 1%
[2]
$ reusescope analyze u.rsct --engine shards:0
reusescope: engine 'shards:0': not a rate above 0 and up to 1, such as 0.01, 1/100 or 1%
[2]
$ reusescope analyze u.rsct --engine shards:0/1
reusescope: engine 'shards:0/1': not a rate above 0 and up to 1, such as 0.01, 1/100 or 1%
[2]
$ reusescope analyze u.rsct --engine shards:1.01
reusescope: engine 'shards:1.01': not a rate above 0 and up to 1, such as 0.01, 1/100 or 1%
[2]
$ reusescope analyze u.rsct --engine shards:101%
reusescope: engine 'shards:101%': not a rate above 0 and up to 1, such as 0.01, 1/100 or 1%
[2]
$ reusescope analyze u.rsct --engine shards:1/0
reusescope: engine 'shards:1/0': not a rate above 0 and up to 1, such as 0.01, 1/100 or 1%
[2]
$ reusescope analyze u.rsct --engine shards:nan
reusescope: engine 'shards:nan': not a rate above 0 and up to 1, such as 0.01, 1/100 or 1%
[2]
$ reusescope analyze u.rsct --engine shards:inf
reusescope: engine 'shards:inf': not a rate above 0 and up to 1, such as 0.01, 1/100 or 1%
[2]
$ reusescope analyze u.rsct --engine shards:-0.1
reusescope: engine 'shards:-0.1': not a rate above 0 and up to 1, such as 0.01, 1/100 or 1%
[2]
$ reusescope analyze u.rsct --engine 'shards:0.1 '
reusescope: engine 'shards:0.1 ': not a rate above 0 and up to 1, such as 0.01, 1/100 or 1%
[2]
$ reusescope analyze u.rsct --engine shards:%
reusescope: engine 'shards:%': not a rate above 0 and up to 1, such as 0.01, 1/100 or 1%
[2]
$ reusescope analyze u.rsct --engine shards-max
reusescope: engine 'shards-max': a number of lines is missing, such as shards-max:8K
[2]
$ reusescope analyze u.rsct --engine shards-max:0
reusescope: engine 'shards-max:0': not a number of lines from 64 to 268435456
[2]
$ reusescope analyze u.rsct --engine shards-max:63
reusescope: engine 'shards-max:63': not a number of lines from 64 to 268435456
[2]
$ reusescope analyze u.rsct --engine shards-max:1G
reusescope: engine 'shards-max:1G': not a number of lines from 64 to 268435456
[2]
$ reusescope analyze u.rsct --engine shards-max:many
reusescope: engine 'shards-max:many': not a number of lines from 64 to 268435456
[2]
$ reusescope analyze u.rsct --seed x
reusescope analyze: --seed x: not a number from 0 up
[2]
$ reusescope analyze u.rsct --engine exact --confidence 95 --format csv -o - 2>&1 >exact.csv
reusescope: warning: --confidence changes nothing: nothing was sampled
$ reusescope analyze u.rsct --engine shards:0.5 --confidence 95 --format csv -o - 2>&1 >bars.csv
$ reusescope analyze u.rsct --confidence 0
reusescope analyze: --confidence 0: not a percentage above 0 and below 100
[2]
$ reusescope analyze u.rsct --confidence 100
reusescope analyze: --confidence 100: not a percentage above 0 and below 100
[2]
$ reusescope analyze u.rsct --confidence nan
reusescope analyze: --confidence nan: not a percentage above 0 and below 100
[2]

# What sampling cannot tell apart.
$ reusescope analyze u.rsct --engine shards:0.1 --phases 4
reusescope: the shards engine cannot do phases
[2]
$ reusescope analyze u.rsct --engine shards:0.1 --bins 8
reusescope: the shards engine cannot do a second binning
[2]
$ body --engine shards:0.05 --max-distance 1K | python3 -c 'import json,sys; p=json.load(sys.stdin); print(p["mrc"][-1]["lines"], p["rd"][-1]["hi"], sum(b["count"] for b in p["rd"])+p["cold"])'
1024 None 204800
