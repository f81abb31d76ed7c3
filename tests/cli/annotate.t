# annotate: source with the references and misses of each line.
$ cp $SOURCE/tests/fuzz/corpus/profile/rows.json wave.json
$ mkdir -p tree/src && for i in $(seq 90); do printf '\tstep(%d);\n' $i; done > tree/src/solver.c
$ reusescope annotate wave.json --at 896K,112M --source-path tree --context 1
-- /home/u/wave/src/solver.c ---------------------------------------------------
   99.4 % of misses in a cache of 896 KiB, 93.4 % of references
            misses in   median
   refs   896K   112M    dist.   line  source
                                   70          step(70);
 70.0 k 70.0 k 70.0 k        -     71          step(71);
                                   72          step(72);
    ...
                                   87          step(87);
  2,000  1,800      0 2.45 MiB     88          step(88);
                                   89          step(89);
\
-- mem.c -----------------------------------------------------------------------
   0.55 % of misses in a cache of 896 KiB, 6.49 % of references
   +-7: references that may belong to lines dropped from a full table
   source not found: mem.c (--source-path DIR)
            misses in   median
   refs   896K   112M    dist.   line  source
  5,000    400      0      0 B     10
$ reusescope annotate wave.json --source-path tree -o tree/src/solver.c
reusescope: tree/src/solver.c: this command reads or runs it: it would be overwritten
[2]

# A function, a file; sizes in any order, the first ranks.
$ reusescope annotate wave.json --at 112M,28K --source-path tree --function relax
-- /home/u/wave/src/solver.c ---------------------------------------------------
   0 % of misses in a cache of 112 MiB, 2.6 % of references
            misses in   median
   refs   112M    28K    dist.   line  source
  2,000      0  1,800 2.45 MiB     88          step(88);
$ reusescope annotate wave.json --at 896K --file mem
-- mem.c -----------------------------------------------------------------------
   0.55 % of misses in a cache of 896 KiB, 6.49 % of references
   +-7: references that may belong to lines dropped from a full table
   source not found: mem.c (--source-path DIR)
        misses   median
   refs   896K    dist.   line  source
  5,000    400      0 B     10
$ reusescope annotate wave.json --at 896K --file nowhere
reusescope: wave.json: no source line matches --file and --function
[1]
$ reusescope annotate wave.json --function nobody
reusescope: wave.json: no source line matches --file and --function
[1]

# Of a long file without source, what matters.
$ /usr/bin/python3 -c '
> import copy, json
> p = json.load(open("wave.json"))
> row = next(r for r in p["code"] if r["file"] == "mem.c")
> row["references"] -= 20; row["rd"][0]["count"] -= 20
> for i in range(20): p["code"].append(dict(copy.deepcopy(row), pc=hex(0x900000 + i), line=100 + i, references=1, cold=0, error=0, rd=[{"lo": 0, "hi": 0, "count": 1}]))
> json.dump(p, open("long.json", "w"))'
$ reusescope annotate long.json --at 896K --file mem
-- mem.c -----------------------------------------------------------------------
   0.55 % of misses in a cache of 896 KiB, 6.49 % of references
   +-7: references that may belong to lines dropped from a full table
   source not found: mem.c (--source-path DIR)
        misses   median
   refs   896K    dist.   line  source
  4,980    400      0 B     10
   and 20 lines with less than 2 % of them each

# CSV, here or by the name of the file.
$ reusescope annotate wave.json --at 896K --format csv
profile,file,line,function,size_bytes,references,misses,cold,invalidated,median_lines,error
0,"/home/u/wave/src/solver.c",71,"sweep",917504,70000,70000,70000,0,,0
0,"/home/u/wave/src/solver.c",88,"relax",917504,2000,1800,0,0,40164,0
0,"mem.c",10,"copy",917504,5000,400,0,0,0,7
$ reusescope annotate wave.json --at 896K --all -o wave.csv && wc -l < wave.csv
4
$ reusescope annotate wave.json --at 896K --source-path tree -o wave.txt && grep -c step wave.txt
90

# Special files are not source.
$ mkfifo tree/mem.c
$ reusescope annotate wave.json --at 896K --source-path tree --file mem | sed -n 4p
   source not found: mem.c (--source-path DIR)

# The default file, and profiles without code.
$ reusescope annotate
reusescope: reusescope.data: No such file or directory
[1]
$ printf '0 0\n0 40\n' > t.din && reusescope analyze t.din -q
$ reusescope annotate
reusescope: reusescope.data has no code rows: record it with pcs (reusescope run, or a trace with pcs)
[1]
$ reusescope report wave.json -q -o reusescope.data && reusescope annotate --at 896K --source-path tree | head -1
-- /home/u/wave/src/solver.c ---------------------------------------------------

# No wider than asked for, plain ASCII, colour when told so.
$ COLUMNS=40 reusescope annotate wave.json --source-path tree | awk 'length > 40' | wc -l
0
$ reusescope annotate wave.json --source-path tree | LC_ALL=C grep -c '[^ -~]'
0
[1]
$ reusescope annotate wave.json --source-path tree --color=always | grep -q "$(printf '\033')\[31m" && echo hot
hot
$ reusescope annotate wave.json --source-path tree --color=never | grep -c "$(printf '\033')\["
0
[1]

# What makes no sense.
$ reusescope annotate wave.json --at 1M,x
reusescope annotate: --at 1M,x: not a list of up to 8 sizes in bytes or caches of this machine, as 32K,1M,L2
[2]
$ reusescope annotate wave.json --at 0
reusescope annotate: --at 0: not a list of up to 8 sizes in bytes or caches of this machine, as 32K,1M,L2
[2]
$ reusescope annotate wave.json --context -1
reusescope annotate: --context -1: not a number of lines from 0 to 1000000
[2]
$ reusescope annotate wave.json --format json
reusescope annotate: --format json: not one of text, csv
[2]
$ reusescope annotate wave.json other.json
reusescope annotate: more than one profile: other.json
[2]
$ reusescope annotate none.json
reusescope: none.json: No such file or directory
[1]

# report ranks at one size, too.
$ reusescope report wave.json --full --at 896K | sed -n '/Worst lines/,$p'
 Worst lines  by misses in a cache of 896 KiB
    misses    share    ratio      refs  where
    70.0 k   97.0 %  100.0 %    70.0 k  /home/u/wave/src/solver.c:71 sweep
     1,800    2.5 %   90.0 %     2,000  /home/u/wave/src/solver.c:88 relax
       400    0.6 %    8.0 %     5,000  mem.c:10 copy
   +-7 (row 3): references that may belong to rows dropped from a full table.
 - solver.c:71: all its misses are first touches: streaming through new memory.
 - solver.c:88: data returns after a median of 2.45 MiB, more than 896 KiB can
   hold; last used at solver.c:71.
 - mem.c:10: 8 % of references return after a median of 3.67 MiB, more than
   896 KiB can hold; last used by this same line.
\
 Worst pairs  by misses in a cache of 896 KiB
    misses    share    median distance  used, then used again
     1,800    2.5 %   40.2 k  2.45 MiB  /home/u/wave/src/solver.c:71 sweep
                                     -> /home/u/wave/src/solver.c:88 relax
                                        both called from solver.c:20 solve
       393    0.5 %   60.2 k  3.67 MiB  mem.c:10 copy
                                     -> mem.c:10 copy
   +-7 (row 2): references that may belong to rows dropped from a full table.
\
 Worst objects  by misses in a cache of 896 KiB
    misses    share       size  kind    name
    70.0 k   97.0 %   4.27 MiB  global  grid
     1,797    2.5 %      1 MiB  heap    array allocated at solver.c:12
   +-3 (row 2): references that may belong to rows dropped from a full table.
$ reusescope report wave.json --at 112M | grep -c solver.c:88
0
[1]
$ reusescope report wave.json --at big
reusescope report: --at big: not a size in bytes, as 256K or 32M, nor a cache of this machine, as L2
[2]
$ reusescope report wave.json --format csv | grep 'mem.c:10 copy"'
0,single,64,code,"mem.c:10 copy",,,5000,,4993,5000
0,single,64,code_cold,"mem.c:10 copy",,,0,,,
0,single,64,code_invalidated,"mem.c:10 copy",,,0,,,
0,single,64,code_rd,"mem.c:10 copy",0,0,4600,,,
0,single,64,code_rd,"mem.c:10 copy",57344,65535,400,,,
0,single,64,pairs,"mem.c:10 copy -> mem.c:10 copy",,,400,,393,400
0,single,64,pairs_rd,"mem.c:10 copy -> mem.c:10 copy",57344,65535,393,,,
