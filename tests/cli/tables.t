# report --suite: the distances that most reuses are within, over many profiles.
$ for n in 10 1000 3000; do reusescope gen cyclic,lines=$n -n 100K -q -o t.rsct && reusescope analyze t.rsct -q -o $n.data; done
$ reusescope report 10.data 1000.data 3000.data --suite
 Distance that covers this share of all reuses
  profile                        70 %        80 %        90 %        95 %
  10.data                       576 B       576 B       576 B       576 B
  1000.data                  62.4 KiB    62.4 KiB    62.4 KiB    62.4 KiB
  3000.data                   187 KiB     187 KiB     187 KiB     187 KiB
  max                         187 KiB     187 KiB     187 KiB     187 KiB
  median                     62.4 KiB    62.4 KiB    62.4 KiB    62.4 KiB
$ reusescope report 10.data 1000.data 3000.data --suite --format csv
profile,p70_bytes,p80_bytes,p90_bytes,p95_bytes
"10.data",576,576,576,576
"1000.data",63936,63936,63936,63936
"3000.data",191936,191936,191936,191936
"max",191936,191936,191936,191936
"median",63936,63936,63936,63936
$ printf '0 0\n' > once.din && reusescope analyze once.din -q -o once.data && reusescope report once.data 10.data --suite -o s.csv && cat s.csv
profile,p70_bytes,p80_bytes,p90_bytes,p95_bytes
"once.data",,,,
"10.data",576,576,576,576
"max",576,576,576,576
"median",576,576,576,576

# report --by: code in larger or smaller parts.
$ cp $SOURCE/tests/fuzz/corpus/profile/rows.json wave.json
$ for part in module file function line; do reusescope report wave.json --at 896K --by $part; done
 wave.json: misses in a cache of 896 KiB
    misses    share    ratio      refs  module
    72.2 k  100.0 %   93.8 %    77.0 k  /usr/bin/wave
         0    0.0 %    0.0 %        50  /lib/libc.so.6
         0    0.0 %    0.0 %        10  not known
 wave.json: misses in a cache of 896 KiB
    misses    share    ratio      refs  file
    71.8 k   99.4 %   99.7 %    72.0 k  /home/u/wave/src/solver.c
       400    0.6 %    8.0 %     5,000  mem.c
         0    0.0 %    0.0 %        60  not known
 wave.json: misses in a cache of 896 KiB
    misses    share    ratio      refs  function
    70.0 k   97.0 %  100.0 %    70.0 k  sweep
     1,800    2.5 %   90.0 %     2,000  relax
       400    0.6 %    8.0 %     5,000  copy
         0    0.0 %    0.0 %        50  memcpy
         0    0.0 %    0.0 %        10  not known
 wave.json: misses in a cache of 896 KiB
    misses    share    ratio      refs  line
    70.0 k   97.0 %  100.0 %    70.0 k  /home/u/wave/src/solver.c:71 sweep
     1,800    2.5 %   90.0 %     2,000  /home/u/wave/src/solver.c:88 relax
       400    0.6 %    8.0 %     5,000  mem.c:10 copy
         0    0.0 %    0.0 %        50  memcpy in /lib/libc.so.6
         0    0.0 %    0.0 %        10  0x0
$ reusescope report wave.json --at 896K --by line --format csv
profile,module,file,function,line,size_bytes,references,misses
"wave.json","/usr/bin/wave","/home/u/wave/src/solver.c","sweep",71,917504,70000,70000
"wave.json","/usr/bin/wave","/home/u/wave/src/solver.c","relax",88,917504,2000,1800
"wave.json","/usr/bin/wave","mem.c","copy",10,917504,5000,400
"wave.json","/lib/libc.so.6","","memcpy",,917504,50,0
"wave.json","","","",,917504,10,0
$ reusescope report wave.json --at 896K --by module --format csv
profile,module,file,function,line,size_bytes,references,misses
"wave.json","/usr/bin/wave","","",,917504,77000,72200
"wave.json","/lib/libc.so.6","","",,917504,50,0
"wave.json","","","",,917504,10,0
$ reusescope report 10.data --by file
reusescope: 10.data has no code rows: record it with pcs
[1]
$ cp $SOURCE/tests/fuzz/corpus/profile/loops.json loops.json; reusescope report loops.json --by loop --at 64K
 loops.json: misses in a cache of 64 KiB
    misses    share    ratio      refs  loop
    40.0 k   28.6 %  100.0 %    40.0 k  wave.c:20 first, 2 deep
    40.0 k   28.6 %  100.0 %    40.0 k  wave.c:30 second, 2 deep
    30.0 k   21.4 %   12.5 %     240 k  wave.c:51 rows, 2 deep
    30.0 k   21.4 %  100.0 %    30.0 k  wave.c:41 columns, 2 deep
$ reusescope report loops.json --by loop --at 64K --format csv
profile,module,file,function,line,size_bytes,references,misses,depth
"loops.json","wave","wave.c","first",20,65536,40000,40000,2
"loops.json","wave","wave.c","second",30,65536,40000,40000,2
"loops.json","wave","wave.c","rows",51,65536,240000,30000,2
"loops.json","wave","wave.c","columns",41,65536,30000,30000,2
$ reusescope report wave.json --by loop
reusescope: wave.json has no loops: they are found in the code of a program for x86-64 while it is watched
[1]

# report --cdf: distances as a cumulative distribution.
$ reusescope report wave.json --cdf
 wave.json: share of 7,060 reuses within each distance
 lines up to bytes up to      reuses    share
           0         0 B       4,860   68.8 %  #######################
      65.5 k       4 MiB       7,060  100.0 %  ##################################
$ reusescope report wave.json --cdf --format csv
profile,lines_up_to,reuses,share
"wave.json",0,4860,0.688385269
"wave.json",40447,6660,0.943342776
"wave.json",60415,7060,1.000000000
$ reusescope report once.data --cdf
 once.data: share of 0 reuses within each distance
 lines up to bytes up to      reuses    share

# What makes no sense.
$ reusescope report wave.json --by loops
reusescope report: --by loops: not one of module, file, function, loop, line
[2]
$ reusescope report wave.json --by line --suite
reusescope report: only one of --suite, --by, --cdf and --select can be given
[2]
$ reusescope report wave.json --cdf --format json
reusescope report: --format json: not one of text, csv
[2]

# report without a name: the newest, within 40 lines.
$ reusescope report wave.json -q -o reusescope.data && reusescope report --at 896K | grep -E '^ [A-Z]|^   reusescope'
 Misses  in caches of * (glob)
 Miss ratio  of a fully associative LRU cache, by its size
 Worst lines  of your code, by misses in a cache of 896 KiB
 Next  reusescope report -o report.html       one page: drag the cache size
$ for n in 10 1000 3000; do cp $n.data reusescope.data; reusescope report | wc -l | awk '{ print $1 <= 40 }'; done
1
1
1
$ reusescope analyze t.rsct --engine shards:0.3 -q && reusescope report | wc -l | awk '{ print $1 <= 40 }'
1
$ COLUMNS=50 reusescope report | wc -l | awk '{ print $1 <= 40 }'
1

# Lines of the dynamic loader are one row, which has no line; diff tells them apart.
$ cat > loader.py <<'PY'
> import json, os
> p = json.load(open(os.environ["SOURCE"] + "/tests/fuzz/corpus/profile/rows.json"))
> for row in p["code"][:2]: row.update(module="/lib64/ld-linux-x86-64.so.2", file="elf/dl-reloc.c", function="relocate")
> json.dump(p, open("loader.json", "w"))
> PY
$ python3 loader.py; reusescope report loader.json --by line --at 1M --format csv -o - | grep ld-linux
"loader.json","/lib64/ld-linux-x86-64.so.2","","",,1048576,75000,70400
$ reusescope diff $SOURCE/tests/fuzz/corpus/profile/rows.json loader.json --at 64K | sed -n '/ Lines/,$p'
 Lines  misses in a cache of 64 KiB
      old       new    change  where
        0    70.0 k       new  elf/dl-reloc.c:71 relocate
   70.0 k         0  -100.0 %  /home/u/wave/src/solver.c:71 sweep
      400         0  -100.0 %  mem.c:10 copy
        0       400       new  elf/dl-reloc.c:10 relocate
