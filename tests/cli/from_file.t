# bench/from-file: every way to read every file has its row, with the other tools of docs/measured, and every goal its line.
$ $SOURCE/bench/from-file --tool reusescope --accesses 30K --steps 0 --rounds 1 --threads 2 --folder made > table; echo $?
0
$ grep -v ' gpu ' table | sed -E 's/ +-?[0-9.]+x?\b/ N/g; s/ +$//'
0 M references a file, N threads, best of N
                                   M/s, N   M/s, N   faster  processor  other tool, M/s
uniform.rsct    decoding N N N N
uniform.rsct    shards:0.01 N N N N N, libCacheSim mrcProfiler
uniform.rsct    exact N N N N N, Increment-and-Freeze
uniform.rsct    parallel N N N N N, Increment-and-Freeze
uniform.raw64   decoding N N N N
uniform.raw64   shards:0.01 N N N N N, libCacheSim mrcProfiler
uniform.din     decoding N N N N
uniform.din     shards:0.01 N N N N N, libCacheSim mrcProfiler
zipf.rsct       decoding N N N N
zipf.rsct       shards:0.01 N N N N N, libCacheSim mrcProfiler
zipf.rsct       exact N N N N N, Increment-and-Freeze
zipf.rsct       parallel N N N N N, Increment-and-Freeze
zipf.raw64      decoding N N N N
zipf.raw64      shards:0.01 N N N N N, libCacheSim mrcProfiler
zipf.din        decoding N N N N
zipf.din        shards:0.01 N N N N N, libCacheSim mrcProfiler
stencil.rsct    decoding N N N N
stencil.rsct    shards:0.01 N N N N
stencil.rsct    exact N N N N
stencil.rsct    parallel N N N N
stencil.raw64   decoding N N N N
stencil.raw64   shards:0.01 N N N N
stencil.din     decoding N N N N
stencil.din     shards:0.01 N N N N
writes.rsct     decoding N N N N
writes.rsct     shards:0.01 N N N N
writes.rsct     exact N N N N
writes.rsct     parallel N N N N
writes.raw64    decoding N N N N
writes.raw64    shards:0.01 N N N N
writes.din      decoding N N N N
writes.din      shards:0.01 N N N N
uniform.rsct: shards:0.01 is N times as fast with N threads as with one
zipf.rsct: shards:0.01 is N times as fast with N threads as with one
stencil.rsct: shards:0.01 is N times as fast with N threads as with one
writes.rsct: shards:0.01 is N times as fast with N threads as with one
uniform.rsct: parallel is N times as fast as exact with N workers, N times as fast as exact with N workers
zipf.rsct: parallel is N times as fast as exact with N workers, N times as fast as exact with N workers
uniform.rsct: sim with N/16 of the sets takes the time of decoding and N of the simulation's with one thread, N with N
zipf.rsct: sim with N/16 of the sets takes the time of decoding and N of the simulation's with one thread, N with N
stencil.rsct: sim with N/16 of the sets takes the time of decoding and N of the simulation's with one thread, N with N
other engines, in memory and from files: docs/measured/exact-engines.md, docs/measured/approximate.md
