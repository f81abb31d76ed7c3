# analyze --requests: whole objects, distances and caches in bytes.
$ printf 'addr,size\n1,100\n2,50\n1,100\n3,1000\n1,100\n2,50\n' > r.csv
$ reusescope analyze --requests r.csv -q -o r.json
$ grep -vE '"made"|"lines":' r.json
{"schema":"reusescope-profile/1",
 "accesses":6,"references":6,"cold":3,"invalidated":0,"distinct":3,
 "last_touch":0,"pruned":0,"censored":0,
 "rd":[
  {"lo":149,"hi":149,"count":1},
  {"lo":1088,"hi":1103,"count":1},
  {"lo":1136,"hi":1151,"count":1}
 ],
 "ri":[
  {"lo":2,"hi":2,"count":2},
  {"lo":4,"hi":4,"count":1}
 ],
 "mrc":[
 ],
 "requests":{"bytes":1400,"cold_bytes":1150,"footprint_bytes":1150,"rd_bytes":[{"lo":149,"hi":149,"count":100},{"lo":1088,"hi":1103,"count":100},{"lo":1136,"hi":1151,"count":50}]},
 "code":[],"pairs":[],"objects":[],"contexts":[],
 "threads":[],
 "phases":[],
 "sharing":[],"false_sharing":[]}
$ grep -o '"model":"[a-z]*","line":[0-9]*' r.json
"model":"requests","line":1
$ python3 $SOURCE/tests/schema_check.py $SOURCE/docs/schema/profile.schema.json r.json

# A request hits just if others since and it itself fit: 1 after 2 in 150 bytes, 1 after 3 in 1100, 2 after 1 and 3 in 1150.
$ at() { grep "\"lines\":$1," r.json | grep -oE '"(miss_ratio|byte_miss_ratio)":[0-9.]*'; }
$ at 1
"miss_ratio":1
"byte_miss_ratio":1
$ at 149
"miss_ratio":1
"byte_miss_ratio":1
$ at 150
"miss_ratio":0.8333333333333334
"byte_miss_ratio":0.9285714285714286
$ at 1136
"miss_ratio":0.6666666666666666
"byte_miss_ratio":0.8571428571428571
$ at 1150
"miss_ratio":0.5
"byte_miss_ratio":0.8214285714285714

# Containers, CSV and text.
$ reusescope report r.json -q -o r.data
$ reusescope report r.data --format json -o - | cmp - r.json
$ reusescope report r.data --format csv | grep -E 'total,|rd_bytes|mrc_bytes,,(1|149|150|1150),'
0,requests,1,total,accesses,,,6,,,
0,requests,1,total,references,,,6,,,
0,requests,1,total,cold,,,3,,,
0,requests,1,total,invalidated,,,0,,,
0,requests,1,total,distinct,,,3,,,
0,requests,1,total,last_touch,,,0,,,
0,requests,1,total,pruned,,,0,,,
0,requests,1,total,censored,,,0,,,
0,requests,1,total,bytes,,,1400,,,
0,requests,1,total,cold_bytes,,,1150,,,
0,requests,1,total,footprint_bytes,,,1150,,,
0,requests,1,rd_bytes,,149,149,100,,,
0,requests,1,rd_bytes,,1088,1103,100,,,
0,requests,1,rd_bytes,,1136,1151,50,,,
0,requests,1,mrc_bytes,,1,1,,1,,
0,requests,1,mrc_bytes,,149,149,,1,,
0,requests,1,mrc_bytes,,150,150,,0.9285714285714286,,
0,requests,1,mrc_bytes,,1150,1150,,0.8214285714285714,,
$ reusescope analyze --requests r.csv --full -o - | sed -n '3,18p;/^ Byte miss/,$p' | sed '/made by/s/objects, .*/objects/'
 made by     requests, from trace, whole objects
 requests    6 by 1 thread, 1.37 KiB
 footprint   3 objects, 1.12 KiB at most
 cold        3 first requests, 50 % of requests and 82.1 % of bytes
\
 Reuse distance  bytes of other objects requested since, and its own
                    bytes    refs    share
                128-256 B       1   16.7 %  ############
                256-512 B       -
              512 B-1 KiB       -
                  1-2 KiB       2   33.3 %  ########################
      cold                      3   50.0 %  ####################################
\
 Miss ratio  of requests, in an LRU cache of whole objects, by its size
  100 % +**********************************************
        |..............................................*
 Byte miss ratio  of the bytes requested, in the same cache
  100 % +**********************************************
        |..............................................******************
        |................................................................******
   75 % +......................................................................
        |......................................................................
        |......................................................................
   50 % +......................................................................
        |......................................................................
        |......................................................................
   25 % +......................................................................
        |......................................................................
        |......................................................................
    0 % ++------------+-----------+------------+-----------+------------+------
        1 B          4 B        16 B         64 B        256 B        1 KiB
\
 Distance that covers  this share of all repeated requests
            p50            p70            p80            p90            p95
       1.08 KiB       1.12 KiB       1.12 KiB       1.12 KiB       1.12 KiB
\
 In words
 - Half of all repeated requests hit in a cache of 1.08 KiB, nine in ten in one
   of 1.12 KiB.
 - The miss ratio falls most steeply between 1.06 KiB and 1.12 KiB: from 83.3 %
   to 50 %.
 - A cache of 1.12 KiB comes within 1 percentage point of the least possible:
   50 % of requests and 82.1 % of bytes are first requests.
$ reusescope info r.data | head -2
file           r.data
format         profile, by requests from trace, whole objects

# Sizes that change: the latest counts, for the object and for others.
$ printf 'addr,size\n1,10\n2,5\n1,20\n2,7\n' | reusescope analyze --requests - --format json -o - | grep -A3 '"rd":'
 "rd":[
  {"lo":24,"hi":24,"count":1},
  {"lo":26,"hi":26,"count":1}
 ],
$ printf 'addr,size\n1,10\n2,5\n1,20\n2,7\n' | reusescope analyze --requests - --format json -o - | grep '^ "requests"'
 "requests":{"bytes":42,"cold_bytes":15,"footprint_bytes":27,"rd_bytes":[{"lo":24,"hi":24,"count":20},{"lo":26,"hi":26,"count":7}]},

# An object larger than the cache pushes everything out; sums go past 4 GiB.
$ printf 'addr,size\n1,4000000000\n2,4000000000\n3,4000000000\n1,4000000000\n' > big.csv
$ reusescope analyze --requests big.csv --format csv -o - | grep -E 'bytes,,,|,rd,|rd_bytes'
0,requests,1,rd,,11945377792,12079595519,1,,,
0,requests,1,total,bytes,,,16000000000,,,
0,requests,1,total,cold_bytes,,,12000000000,,,
0,requests,1,total,footprint_bytes,,,12000000000,,,
0,requests,1,rd_bytes,,11945377792,12079595519,4000000000,,,
$ reusescope analyze --requests big.csv --format json -o - | grep '"lines":12000000000,'
  {"lines":12000000000,"bytes":12000000000,"miss_ratio":0.75,"low":0.75,"high":0.75,"byte_miss_ratio":0.75}

# No accesses.
$ printf 'addr,size\n' | reusescope analyze --requests - --format json -o - | grep -E '^ "(accesses|requests|mrc)"'
 "accesses":0,"references":0,"cold":0,"invalidated":0,"distinct":0,
 "mrc":[],
 "requests":{"bytes":0,"cold_bytes":0,"footprint_bytes":0,"rd_bytes":[]},

# Not with lines, other engines, or what only lines have.
$ reusescope analyze --requests r.csv --engine exact
reusescope: --requests takes --engine shards:RATE or none, which is exact, not --engine exact
[2]
$ reusescope analyze --requests r.csv --line 64
reusescope: --requests counts whole objects and cannot be used with --line
[2]
$ reusescope analyze --requests r.csv --model shared
reusescope: the requests engine has one model: 'shared' is not requests
[2]
$ reusescope analyze --requests r.csv --phases 3
reusescope: the requests engine cannot do phases
[2]
$ reusescope analyze --requests r.csv --max-distance 3
reusescope: the requests engine cannot do a largest distance
[2]
$ reusescope analyze --requests r.csv --top-lines 3
reusescope: the requests engine cannot do top lines
[2]
$ reusescope analyze --engine requests r.csv --format json -o - | grep -o '"by":"[a-z]*"'
"by":"requests"

# A sample of objects: totals of requests and bytes are exact, both curves have bars; the same saved and loaded; all objects are the exact result.
$ python3 -c 'import random; random.seed(5); print("addr,size"); [print(f"{int(random.paretovariate(0.4)) % 20000},{random.choice((10, 1000, 30000))}") for i in range(50000)]' > web.csv
$ reusescope analyze --requests web.csv --engine shards:0.1 -q -o s.json
$ python3 $SOURCE/tests/schema_check.py $SOURCE/docs/schema/profile.schema.json s.json
$ grep -oE '"by":"[a-z-]*"|"references":[0-9]*' s.json; grep -o 'objects by hash, rate 0.1, seed 0' s.json
"by":"requests-shards"
"references":50000
objects by hash, rate 0.1, seed 0
$ python3 -c 'import json; d = json.load(open("s.json")); print(all(p["low"] <= p["miss_ratio"] <= p["high"] and p["byte_low"] <= p["byte_miss_ratio"] <= p["byte_high"] for p in d["mrc"]), d["mrc"][-1]["high"] > d["mrc"][-1]["low"])'
True True
$ reusescope report s.json -q -o s.data && reusescope report s.data --format json -o - | cmp - s.json
$ reusescope report s.data --format csv | grep mrc_bytes | cut -d, -f9-11 | grep -vc '^[0-9.e-]*,[0-9.e-]*,[0-9.e-]*$'
0
[1]
$ reusescope analyze --requests web.csv --engine shards:1 -q --format json -o - | grep -v '"made"' > all.json
$ reusescope analyze --requests web.csv -q --format json -o - | grep -v '"made"' | cmp - all.json
$ reusescope analyze web.csv --engine requests-shards:2
reusescope: engine 'requests-shards': a rate above 0 and up to 1 is missing, such as requests-shards:0.01
[2]

# Two runs merged: sums of bytes.
$ reusescope merge r.json r.json -q --format csv -o - | grep total
0,requests,1,total,accesses,,,12,,,
0,requests,1,total,references,,,12,,,
0,requests,1,total,cold,,,6,,,
0,requests,1,total,invalidated,,,0,,,
0,requests,1,total,distinct,,,6,,,
0,requests,1,total,last_touch,,,0,,,
0,requests,1,total,pruned,,,0,,,
0,requests,1,total,censored,,,0,,,
0,requests,1,total,bytes,,,2800,,,
0,requests,1,total,cold_bytes,,,2300,,,
0,requests,1,total,footprint_bytes,,,2300,,,
$ reusescope analyze r.csv --line 1 -q -o lines.data
$ reusescope merge r.json lines.data
reusescope: lines.data has a profile with 1-byte lines and model single; r.json has none to merge with it
[1]

# A file of huge objects takes no longer than one of small ones: 4 GiB is one object, not a row of lines.
$ python3 -c 'print("addr,size"); [print(f"{i % 1000},4294967295") for i in range(100000)]' > huge.csv
$ reusescope analyze --requests huge.csv -q --format csv -o - | grep -E 'total,(references|distinct|bytes)'
0,requests,1,total,references,,,100000,,,
0,requests,1,total,distinct,,,1000,,,
0,requests,1,total,bytes,,,429496729500000,,,

# Empty objects, as in the log of a web server, count as 1 byte each, in any number of threads.
$ python3 -c 'print("addr,size"); [print(f"{i % 9},{i % 3 * 40}") for i in range(90000)]' > empty.csv
$ for threads in 1 3; do reusescope analyze --requests empty.csv --threads $threads --format csv -o - | grep -E 'total,(references|distinct|bytes)'; done
reusescope: warning: empty.csv: 30000 accesses of 0 bytes counted as 1 byte each
0,requests,1,total,references,,,90000,,,
0,requests,1,total,distinct,,,9,,,
0,requests,1,total,bytes,,,3630000,,,
reusescope: warning: empty.csv: 30000 accesses of 0 bytes counted as 1 byte each
0,requests,1,total,references,,,90000,,,
0,requests,1,total,distinct,,,9,,,
0,requests,1,total,bytes,,,3630000,,,
$ reusescope sim --requests 160,1K empty.csv -q | tail -2
lru            160 B      90.0 k       100 %       100 %      90.0 k           0
lru            1 KiB           9     0.010 %     0.010 %           0           0
$ printf 'r 0x10 0\n' | reusescope dump -
reusescope: warning: standard input: 1 accesses of 0 bytes counted as 1 byte each
      access       tid  k         address   bytes
           0         0  R  0x000000000010       1
