# advise: what to change, with evidence.
$ cp $SOURCE/tests/fuzz/corpus/profile/rows.json wave.json
$ reusescope advise wave.json --at 896K
For a cache of 896 KiB:
\
 Most misses are first touches  [cold]
   seen: 97 % of misses are first touches of memory (4.27 MiB in all), which no
         cache avoids. Most of it is grid.
   try:  Touch less memory: use buffers again instead of new ones, smaller
         types, a step that makes data joined with the one that uses it. What
         must be streamed: in order, so that the prefetcher sees it, and on huge
         pages.
\
 Little of each line is used  [line-use]
   seen: solver.c:71 makes 97 % of misses; each time a line of 64 B comes to it,
         only 1.00 references use it.
   try:  Go through memory in the order it lies in (exchange the loops, or store
         the other way round), or put what is used together side by side: arrays
         of the fields that are used instead of one of whole records.
$ reusescope advise wave.json --at 896K -o wave.advice.json && python3 -c 'import json; print([a["rule"] for p in json.load(open("wave.advice.json"))["profiles"] for a in p["advice"]])'
['cold', 'line-use']

# A working set that just does not fit, and one that does.
$ reusescope gen cyclic,lines=20K -n 400K -q -o t.rsct && reusescope analyze t.rsct -q
$ reusescope advise --at 1M
For a cache of 1 MiB:
\
 The working set just does not fit  [cache-cliff]
   seen: 256 KiB more cache than 1 MiB would remove 95 % of the misses: the miss
         ratio falls from 100 % to 5 % at 1.25 MiB.
   try:  Make what is gone through again and again 256 KiB smaller: smaller
         blocks, smaller types, no unused fields. Or run it where the cache is
         1.25 MiB.
$ reusescope advise --at 2M
For a cache of 2 MiB:
\
 Most misses are first touches  [cold]
   seen: 100 % of misses are first touches of memory (1.25 MiB in all), which no
         cache avoids.
   try:  Touch less memory: use buffers again instead of new ones, smaller
         types, a step that makes data joined with the one that uses it. What
         must be streamed: in order, so that the prefetcher sees it, and on huge
         pages.

# What makes no sense.
$ reusescope advise none.json
reusescope: none.json: No such file or directory
[1]
$ reusescope advise wave.json more.json
reusescope advise: more than one profile: more.json
[2]
$ reusescope advise wave.json --format html
reusescope advise: --format html: not one of text, json
[2]
$ reusescope advise wave.json --at big
reusescope advise: --at big: not a size in bytes, as 256K or 32M
[2]
