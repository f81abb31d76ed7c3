# Traces of other tools. Those with a mark of their own are told by content, the others read by name.
$ acc() { reusescope info "$@" | grep -E '^(format|accesses|instructions|kinds|threads)'; }

# pinatrace, of both of Pin's tools.
$ printf '0x401136: R 0x7ffd1c0de8f8\n0x401139: W 0x7ffd1c0de8f0  8 0x2a\n#eof\n' > t.pinatrace
$ reusescope dump t.pinatrace
      access       tid  k         address   bytes              pc
           0         0  R  0x7ffd1c0de8f8       1  0x000000401136
           1         0  W  0x7ffd1c0de8f0       8  0x000000401139
$ head -c 57 t.pinatrace | reusescope analyze -
reusescope: standard input: cut at byte 57, inside a line (pinatrace)
[1]
$ head -1 t.pinatrace | reusescope dump - | tail -1
reusescope: warning: standard input: no "#eof" at the end: the trace may be cut (pinatrace)
           0         0  R  0x7ffd1c0de8f8       1  0x000000401136
$ printf '0x401136: R 0x10\n0x401136: X 0x10\n' | reusescope analyze -
reusescope: standard input: no trace format recognised (rsct, din, lackey, csv, list, pinatrace, perf-script, drmemtrace); 3 columns of text: --columns says which they are, as addr=3
[1]

# perf script.
$ cat > t.perf <<'END'
>            heat  1234/1235  [003]  9876.543210:      10001 cpu/mem-loads,ldlat=30/P:     7ffd1c0de8f8         68100142 |OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A       34     55d0c0de1139 main+0x19 (/usr/bin/heat)
>            heat  1234/1236  [001]  9876.543219:      10001 cpu/mem-stores/P:             7ffd1c0de8f0          5080184 |OP STORE|LVL L1 miss|SNP N/A|TLB N/A|LCK No                    0     55d0c0de1140 main+0x20 (/usr/bin/heat)
>            heat  1234/1236  [001]  9876.543219:      10001 cpu/mem-stores/P:                        0          5080184 |OP STORE|LVL N/A|SNP N/A|TLB N/A|LCK No                        0     55d0c0de1140 main+0x20 (/usr/bin/heat)
> END
$ reusescope dump t.perf
reusescope: warning: t.perf: skipped 1 of 3 samples: no address, or neither load nor store
      access       tid  k         address   bytes              pc
           0      1235  R  0x7ffd1c0de8f8       1  0x55d0c0de1139
           1      1236  W  0x7ffd1c0de8f0       1  0x55d0c0de1140
$ printf '     7ffd1c0de8f8     55d0c0de1139\n' | reusescope dump - --from perf-script
      access       tid  k         address   bytes              pc
           0         0  R  0x7ffd1c0de8f8       1  0x55d0c0de1139
$ printf 'heat 1234 9876.5: 10001 cycles:  55d0c0de1139 main+0x19 (heat)\n' | reusescope analyze - --from perf-script
reusescope: standard input: line 1 (byte 0): only one number: -F must list addr and one of ip and data_src (perf-script), found "heat 1234 9876.5: 10001 cycles:  55d0c0d..."
[1]

# What is worth a warning is said once, though a packed trace is read twice.
$ gzip -k t.perf; reusescope analyze t.perf.gz --format json -o - | sed -n 3p
reusescope: warning: t.perf.gz: skipped 1 of 3 samples: no address, or neither load nor store
 "accesses":2,"references":2,"cold":1,"invalidated":0,"distinct":1,

# drmemtrace: plain, gzip, zip; instructions counted; newer versions with a warning.
$ cat > make.py <<'END'
> import gzip, struct, zipfile
> def record(kind, size, value): return struct.pack("<HHQ", kind, size, value)
> body = (record(28, 9, 0x240) + record(22, 0, 77) + record(24, 0, 70) + record(28, 14, 0) + record(47, 3, 0x9090)
>         + record(10, 3, 0x401000) + record(0, 8, 0x7fff10) + record(1, 4, 0x7fff18) + record(17, 2, 0x0504)
>         + record(2, 1, 0x99) + record(28, 14, 1) + record(49, 2, 0x402000) + record(23, 0, 77))
> for version in (0, 1, 2, 5, 6, 7, 8):
>     whole = record(25, 0, version) + body + record(26, 0, 0)
>     open(f"v{version}.trace", "wb").write(whole)
> whole = open("v6.trace", "rb").read()
> open("t.trace.gz", "wb").write(gzip.compress(whole))
> open("cut.trace", "wb").write(whole[:-12])
> with zipfile.ZipFile("t.trace.zip", "w", zipfile.ZIP_DEFLATED) as archive:
>     for at in range(0, len(whole), 40): archive.writestr(f"chunk.{at:04}", whole[at:at + 40])
> with zipfile.ZipFile("stored.zip", "w") as archive: archive.writestr("all", whole)
> open("t.champsim", "wb").write(b"".join(
>     struct.pack("<QBB2B4B2Q4Q", 0x400000 + 4 * i, i % 2, 0, 1, 2, 3, 4, 5, 6, 0x1000 * i, 0, 0x2000 + 8 * i, 0, 0x33, 0)
>     for i in range(4)))
> sizes = {1: 100, 2: 50, 3: 1000}
> open("t.oracle", "wb").write(b"".join(struct.pack("<IQIq", 0, i, sizes[i], -1) for i in (1, 2, 1, 3, 1, 2)))
> open("t.vscsi2", "wb").write(b"".join(
>     struct.pack("<HHIIIQQQ", 0x2a if i == 2 else 0x28, 0x200, n, sizes[i], 1, i, n, n) for n, i in enumerate((1, 2, 1, 3, 1, 2))))
> open("t.vscsi1", "wb").write(b"".join(
>     struct.pack("<IIIHHQQ", n, sizes[i], 1, 0x2a if i == 2 else 0x28, 0x100, i, n) for n, i in enumerate((1, 2, 1, 3, 1, 2))))
> END
$ /usr/bin/python3 make.py
$ reusescope dump v6.trace
      access       tid  k         address   bytes              pc
       event  thread 0  marker  a=0x0 b=0x0
           0        77  I  0x000000401000       3  0x000000401000
           1        77  R  0x0000007fff10       8  0x000000401000
           2        77  W  0x0000007fff18       4  0x000000401000
           3        77  I  0x000000401003       4  0x000000401003
           4        77  I  0x000000401007       5  0x000000401007
       event  thread 0  marker  a=0x1 b=0x0
           5        77  I  0x000000402000       2  0x000000402000
       event  thread 0  thread-end  a=0x4d b=0x0
$ for file in v2.trace v6.trace t.trace.gz t.trace.zip stored.zip; do acc $file; done
format         drmemtrace
accesses       6
instructions   4
kinds          1 reads, 1 writes, 4 fetches
threads        1
format         drmemtrace
accesses       6
instructions   4
kinds          1 reads, 1 writes, 4 fetches
threads        1
format         drmemtrace, packed with gzip
accesses       6
instructions   4
kinds          1 reads, 1 writes, 4 fetches
threads        1
format         drmemtrace, packed with zip
accesses       6
instructions   4
kinds          1 reads, 1 writes, 4 fetches
threads        1
format         drmemtrace, packed with zip
accesses       6
instructions   4
kinds          1 reads, 1 writes, 4 fetches
threads        1
$ cat t.trace.zip | reusescope dump - | cmp - <(reusescope dump v6.trace)
$ for version in 1 7 8; do reusescope dump v$version.trace | cmp - <(reusescope dump v6.trace); done
reusescope: warning: v8.trace: version 8 is newer than this tool knows (7); read as that (drmemtrace)
$ reusescope analyze v0.trace
reusescope: v0.trace: record at byte 0: unsupported version 0 (known: 1 to 7) (drmemtrace)
[1]

# A folder: the threads' files merged by their time stamps, whatever packs them; beside them, files that are none.
$ cat > folder.py <<'END'
> import gzip, os, struct, zipfile
> def record(kind, size, value): return struct.pack("<HHQ", kind, size, value)
> def thread(tid, *uses):
>     body = b"".join(record(28, 2, time) + record(0, 8, address) for time, address in uses)
>     return record(25, 0, 7) + record(28, 12, 7) + record(22, 0, tid) + record(24, 0, 70) + body + record(23, 0, tid) + record(26, 0, 0)
> os.makedirs("app.dir/trace"); os.makedirs("app.dir/raw")
> open("app.dir/trace/drmemtrace.app.1.1.trace", "wb").write(thread(1, (1000, 0xa0), (1020, 0xa1), (1050, 0xa2)))
> open("app.dir/trace/drmemtrace.app.2.2.trace.gz", "wb").write(gzip.compress(thread(2, (1010, 0xb0), (1030, 0xb1), (1040, 0xb2))))
> with zipfile.ZipFile("app.dir/trace/drmemtrace.app.3.3.trace.zip", "w") as archive: archive.writestr("x", thread(3, (1045, 0xc0)))
> open("app.dir/trace/cpu_schedule.bin.zip", "wb").write(b"x")
> END
$ /usr/bin/python3 folder.py
$ reusescope dump app.dir
      access       tid  k         address   bytes              pc
       event  thread 0  time  a=0x0 b=0x0
           0         1  R  0x0000000000a0       8  0x000000000000
       event  thread 1  time  a=0x2710 b=0x0
           1         2  R  0x0000000000b0       8  0x000000000000
       event  thread 0  time  a=0x4e20 b=0x0
           2         1  R  0x0000000000a1       8  0x000000000000
       event  thread 1  time  a=0x7530 b=0x0
           3         2  R  0x0000000000b1       8  0x000000000000
       event  thread 1  time  a=0x9c40 b=0x0
           4         2  R  0x0000000000b2       8  0x000000000000
       event  thread 1  thread-end  a=0x2 b=0x0
       event  thread 2  time  a=0xafc8 b=0x0
           5         3  R  0x0000000000c0       8  0x000000000000
       event  thread 2  thread-end  a=0x3 b=0x0
       event  thread 0  time  a=0xc350 b=0x0
           6         1  R  0x0000000000a2       8  0x000000000000
       event  thread 0  thread-end  a=0x1 b=0x0
$ reusescope dump app.dir/trace | cmp - <(reusescope dump app.dir)

# A program's own name may have a .trace too: only the end of the name, without its packing, matters.
$ mkdir twice; cp app.dir/trace/drmemtrace.app.1.1.trace twice/drmemtrace.my.tracer.1.1.trace; cp app.dir/trace/drmemtrace.app.2.2.trace.gz twice/drmemtrace.a.trace.2.2.trace.gz
$ cp app.dir/trace/cpu_schedule.bin.zip twice/drmemtrace.a.trace.2.2.raw; cp app.dir/trace/cpu_schedule.bin.zip twice/drmemtrace.a.trace.log.txt
$ reusescope analyze twice -q --format csv -o - | grep -E 'total,(references|distinct)'
0,single,64,total,references,,,6,,,
0,single,64,total,distinct,,,1,,,
$ reusescope analyze app.dir -q --format csv -o - | grep -E 'total,(references|distinct)'
0,single,64,total,references,,,7,,,
0,single,64,total,distinct,,,2,,,
$ reusescope analyze app.dir -o app.dir/trace/drmemtrace.app.1.1.trace
reusescope: app.dir/trace/drmemtrace.app.1.1.trace: this command reads or runs it: it would be overwritten
[2]
$ reusescope sim app.dir --l1d 32K,8,64 --miss-trace app.dir/trace/drmemtrace.app.2.2.trace.gz
reusescope: app.dir/trace/drmemtrace.app.2.2.trace.gz: this command reads or runs it: it would be overwritten
[2]
$ reusescope analyze app.dir --from din
reusescope: app.dir: a folder; only DynamoRIO's traces are read as folders
[1]
$ head -c 100 app.dir/trace/drmemtrace.app.1.1.trace > cut && mv cut app.dir/trace/drmemtrace.app.1.1.trace
$ reusescope analyze app.dir
reusescope: app.dir/trace/drmemtrace.app.1.1.trace: cut at byte 100: the footer is missing (drmemtrace)
[1]
$ reusescope analyze cut.trace
reusescope: cut.trace: cut at byte 168: the footer is missing (drmemtrace)
[1]
$ cat v6.trace v5.trace | acc -
format         drmemtrace
accesses       12
instructions   8
kinds          2 reads, 2 writes, 8 fetches
threads        1
$ head -c 300 t.trace.zip > cut.zip; reusescope analyze cut.zip
reusescope: cut.zip: zip data is cut at byte 300 of the file
[1]
$ (cat t.trace.zip; echo) > tail.zip; reusescope analyze tail.zip
reusescope: tail.zip: bytes after the end of the zip at byte 616
[1]

# ChampSim: one record one instruction; xz and gzip.
$ reusescope dump t.champsim --from champsim | head -6
      access       tid  k         address   bytes              pc
           0         0  I  0x000000400000       1  0x000000400000
           1         0  R  0x000000002000       1  0x000000400000
           2         0  R  0x000000000033       1  0x000000400000
           3         0  I  0x000000400004       1  0x000000400004
           4         0  R  0x000000002008       1  0x000000400004
$ xz -k t.champsim; gzip -k t.champsim; for file in t.champsim t.champsim.xz t.champsim.gz; do acc $file --from ChampSim; done
format         champsim
accesses       15
instructions   4
kinds          8 reads, 3 writes, 4 fetches
threads        1
format         champsim, packed with xz
accesses       15
instructions   4
kinds          8 reads, 3 writes, 4 fetches
threads        1
format         champsim, packed with gzip
accesses       15
instructions   4
kinds          8 reads, 3 writes, 4 fetches
threads        1
$ reusescope analyze t.champsim
reusescope: t.champsim: no trace format recognised (rsct, din, lackey, csv, list, pinatrace, perf-script, drmemtrace); raw64, champsim, oracleGeneral and vscsi are read with --from only
[1]
$ head -c 100 t.champsim | reusescope analyze - --from champsim
reusescope: standard input: cut at byte 64: the last instruction has 36 of its 64 bytes (champsim)
[1]
$ head -c 192 v6.trace | reusescope analyze - --from champsim
reusescope: standard input: invalid record at byte 64: its branch flags are neither 0 nor 1 (champsim)
[1]

# Requests keep the sizes of their objects: the same as the CSV of requests.t.
$ printf 'addr,size\n1,100\n2,50\n1,100\n3,1000\n1,100\n2,50\n' > r.csv
$ body() { reusescope analyze --requests "$@" -q --format json -o - | sed 2d; }
$ body r.csv > wanted; body t.oracle --from oracleGeneral | cmp - wanted
$ zstd -q t.oracle; body t.oracle.zst --from oraclegeneral | cmp - wanted
$ for file in t.vscsi1 t.vscsi2; do body $file --from vscsi | cmp - wanted; reusescope info $file --from vscsi | grep 'made by'; done
made by        vscsi version 1
made by        vscsi version 2
$ reusescope dump t.vscsi2 --from vscsi
      access       tid  k         address   bytes
           0         0  R  0x000000000200     100
           1         0  W  0x000000000400      50
           2         0  R  0x000000000200     100
           3         0  R  0x000000000600    1000
           4         0  R  0x000000000200     100
           5         0  W  0x000000000400      50
$ for verb in 'analyze' 'sim --l2 1M,4,64'; do reusescope $verb t.oracle --from oracleGeneral; done
reusescope: t.oracle: requests for objects, not accesses to addresses: use --requests
reusescope: t.oracle: requests for objects, not accesses to addresses: use --requests
[1]
$ python3 -c 'import random, sys; random.seed(1); sys.stdout.buffer.write(random.randbytes(48000))' > garbage; seq 10000 > numbers
$ for file in garbage numbers; do reusescope analyze $file --from oracleGeneral --requests; done
reusescope: garbage: not a trace of requests: * of the first * have times or next requests that cannot be (oracleGeneral) (glob)
reusescope: numbers: not a trace of requests: * of the first * have times or next requests that cannot be (oracleGeneral) (glob)
[1]
$ head -c 70 t.oracle | reusescope analyze - --requests --from oracleGeneral
reusescope: standard input: cut at byte 48: the last request has 22 of its 24 bytes (oracleGeneral)
[1]
$ reusescope analyze t.oracle --requests --from vscsi
reusescope: t.oracle: at byte 0: neither version 1 (32-byte requests) nor version 2 (40 bytes) of vscsi
[1]
$ reusescope analyze t.oracle --from oracle
reusescope: format 'oracle': not one of rsct, din, lackey, csv, list, pinatrace, perf-script, drmemtrace, champsim, oracleGeneral, vscsi, raw64
[2]

# What is read can be kept in the native format, sizes, threads, windows and instructions with it.
$ reusescope convert t.trace.zip -q -o t.rsct; reusescope dump t.rsct | cmp - <(reusescope dump v6.trace); acc t.rsct | grep instr
instructions   4
$ reusescope convert t.oracle --from oracleGeneral -q -o o.rsct; body o.rsct | cmp - wanted; reusescope analyze o.rsct
reusescope: o.rsct: requests for objects, not accesses to addresses: use --requests
[1]
