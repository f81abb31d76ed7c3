# sim --requests: caches of whole objects, policies worked out by hand.
$ json() { reusescope sim "$@" -q --format json -o - > out.json && /usr/bin/python3 -c "import json, jsonschema, sys; jsonschema.validate(json.load(open(sys.argv[2])), json.load(open(sys.argv[1])))" $SOURCE/docs/schema/objects.schema.json out.json && grep -v '"made"' out.json; }
$ misses() { reusescope sim "$@" --format csv -o - | cut -d, -f1,2,4,7,9; }

# Three objects of 10 bytes in 20 bytes: a b a c a b. LRU keeps a and loses b to c: b misses again, 4 misses.
# FIFO loses a to c, and a b to a b: 6 - 1 hit (the second a) = 5.
$ printf 'addr,size\n1,10\n2,10\n1,10\n3,10\n1,10\n2,10\n' > abacab.csv
$ misses abacab.csv --requests 20 --policy lru,fifo,clock,sieve,lfu,belady
policy,bytes,misses,missed_bytes,too_large
lru,20,4,40,0
fifo,20,5,50,0
clock,20,4,40,0
sieve,20,4,40,0
lfu,20,4,40,0
belady,20,4,40,0
$ json abacab.csv --requests 20,30
{"schema":"reusescope-objects/1",
 "requests":6,"requested_bytes":60,"warm_requests":0,"objects":3,"objects_bytes":30,
 "caches":[
  {"policy":"lru","bytes":20,"misses":4,"miss_ratio":0.6666666666666666,"missed_bytes":40,"byte_miss_ratio":0.6666666666666666,"too_large":0,"evictions":2,"objects_at_end":2,"bytes_at_end":20},
  {"policy":"lru","bytes":30,"misses":3,"miss_ratio":0.5,"missed_bytes":30,"byte_miss_ratio":0.5,"too_large":0,"evictions":0,"objects_at_end":3,"bytes_at_end":30}
 ]}

# A scan of 100 objects between two uses of ten that were used twice: LRU and FIFO lose the ten, the others keep them.
$ python3 -c 'print("addr,size"); a = list(range(10)); [print(f"{o},1") for o in a + a + a + list(range(100, 200)) + a]' > scan.csv
$ misses scan.csv --requests 20 --policy lru,fifo,sieve,lfu,arc,lirs,s3-fifo,w-tinylfu
policy,bytes,misses,missed_bytes,too_large
lru,20,120,120,0
fifo,20,120,120,0
sieve,20,110,110,0
lfu,20,110,110,0
arc,20,110,110,0
lirs,20,110,110,0
s3-fifo,20,110,110,0
w-tinylfu,20,110,110,0

# An object larger than the cache misses and evicts nothing; 4 GiB is one object.
$ printf 'addr,size\n1,10\n2,4294967295\n1,10\n2,4294967295\n' | reusescope sim - --requests 100,4G --policy lru
requests    4, 8 GiB
objects     2, 4 GiB
\
policy          size      misses  miss ratio byte misses   evictions   too large
lru            100 B           3        75 %    > 99.9 %           0           2
lru            4 GiB           4       100 %       100 %           3           0

# Requests of the first N warm the cache.
$ misses abacab.csv --requests 20 --warm 3
policy,bytes,misses,missed_bytes,too_large
lru,20,2,20,0
$ misses abacab.csv --requests 20 --warm 6
policy,bytes,misses,missed_bytes,too_large
lru,20,0,0,0
$ reusescope sim abacab.csv --requests 20 --warm 7
reusescope: --warm 7: the trace has only 6 requests
[2]

# The same for any number of threads.
$ for n in 1 2 5; do reusescope sim scan.csv --requests 5,20,50 --policy all --threads $n --format csv -o - | md5sum; done | uniq | wc -l
1

# Nothing, and mistakes.
$ printf 'addr,size\n' | reusescope sim - --requests 1K | tail -1
lru            1 KiB           0           -           -           0           0
$ reusescope sim scan.csv --requests 0
reusescope sim: --requests 0: '0' is not a size in bytes, as 64M
[2]
$ reusescope sim scan.csv --requests 1K --policy lru,mru
reusescope sim: --policy lru,mru: 'mru' is not a policy: lru, fifo, clock, sieve, lfu, arc, lirs, s3-fifo, w-tinylfu, belady or all
[2]
$ reusescope sim scan.csv --requests 1K --policy lru,lru
reusescope sim: --policy lru,lru: 'lru' is given twice
[2]
$ reusescope sim scan.csv --l1d 32K,8,64 --policy lru
reusescope sim: --policy needs --requests; for caches of blocks it is a word: --l2 4M,16,64,fifo
[2]
$ reusescope sim scan.csv --requests 1K --l1d 32K,8,64
reusescope sim: --requests cannot be used with caches of blocks
[2]
$ reusescope sim scan.csv --requests 1K --sample-sets 1/4
reusescope sim: --requests cannot be used with samples
[2]
$ reusescope sim scan.csv --requests 1K -o x.html
next: xdg-open x.html   (a self-contained page)
