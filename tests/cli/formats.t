# Formats: each is told by its content, plain or packed.
$ acc() { reusescope info "$@" | grep -E '^(format|accesses|kinds)'; }
$ printf '# Dinero\n0 10\n1 0x20 what follows is ignored\n\n2 7fff0000\n' > t.din
$ acc t.din
format         din
accesses       3
kinds          1 reads, 1 writes, 1 fetches
$ reusescope dump t.din
      access       tid  k         address   bytes
           0         0  R  0x000000000010       1
           1         0  W  0x000000000020       1
           2         0  I  0x00007fff0000       1
$ printf '0 10\n3 0\n4 0\n1 20\n' | reusescope dump -
reusescope: warning: standard input: 2 escape or flush lines (labels 3 and 4) were ignored
      access       tid  k         address   bytes
           0         0  R  0x000000000010       1
           1         0  W  0x000000000020       1

# lackey: M is a read and a write; the pc is the last fetch; other output is skipped and said so.
$ cat > t.lackey <<'END'
> ==4711== Lackey, an example Valgrind tool
> I  04001000,3
>  L 1fff000680,8
> I  04001003,5
>  S 1fff000678,8
>  M 0421ac10,4
> ==4711== Exit code:       0
> END
$ reusescope dump t.lackey
      access       tid  k         address   bytes              pc
           0         0  I  0x000004001000       3  0x000004001000
           1         0  R  0x001fff000680       8  0x000004001000
           2         0  I  0x000004001003       5  0x000004001003
           3         0  W  0x001fff000678       8  0x000004001003
           4         0  R  0x00000421ac10       4  0x000004001003
           5         0  W  0x00000421ac10       4  0x000004001003
$ acc t.lackey
format         lackey
accesses       6
kinds          2 reads, 2 writes, 2 fetches
$ (cat t.lackey; echo 'hello from the program') | reusescope info - | grep accesses
reusescope: warning: standard input: skipped 1 lines that are not lackey's (the program's own output?)
accesses       6
$ (cat t.lackey; echo 'hello from the program') | reusescope info - -q | grep accesses
accesses       6

# CSV: columns by name, in any order; comma, semicolon or tab; missing is 1 byte, R, thread 0.
$ printf 'Addr\n16\n0x10\n' | reusescope dump -
      access       tid  k         address   bytes
           0         0  R  0x000000000010       1
           1         0  R  0x000000000010       1
$ printf 'kind;note;addr;size\nwrite;"a;b";0x40;4\nI;;64;\n' | reusescope dump -
      access       tid  k         address   bytes
           0         0  W  0x000000000040       4
           1         0  I  0x000000000040       1
$ printf 'tid\taddr\tpid\n8\t1\t2\n9\t2\t2\n' | reusescope dump -
      access       tid  k         address   bytes
           0         8  R  0x000000000001       1
           1         9  R  0x000000000002       1

# A number at the end without a newline may be cut.
$ printf '0 10\n0 20' | reusescope info -
reusescope: standard input: cut at byte 9, inside a line (din)
[1]
$ head -c 71 t.lackey | reusescope info -
reusescope: standard input: cut at byte 71, inside a line (lackey)
[1]
$ head -4 t.lackey | tee cut.lackey | reusescope info -
reusescope: standard input: cut: valgrind's summary is missing after line 4 (to read what there is, leave valgrind's lines out: grep -v ^==) (lackey)
[1]
$ grep -v ^== cut.lackey | reusescope info - | grep accesses
accesses       3
$ sed 's/^I  04001003/output I  04001003/' t.lackey | reusescope info -
reusescope: standard input: line 4 (byte 72): an access that is cut or mixed with other text (record with valgrind --log-file=FILE) (lackey), found "output I  04001003,5"
[1]
$ printf 'addr\n10\n20' | reusescope info - | grep accesses
reusescope: warning: standard input: no newline at the end: the last line may be cut (csv)
accesses       2

# Lists: an address per line, decimal or hexadecimal, or a kind, an address and a size.
$ printf '4096\n64\n' | reusescope dump -
      access       tid  k         address   bytes
           0         0  R  0x000000001000       1
           1         0  R  0x000000000040       1
$ printf '7fff1000\n7fff1040\n' | reusescope dump - | tail -1
           1         0  R  0x00007fff1040       1
$ printf 'r 0x1000 8\ns 0x1040 4\nI 0x10 2\n' > t.list; reusescope dump t.list; acc t.list
      access       tid  k         address   bytes
           0         0  R  0x000000001000       8
           1         0  W  0x000000001040       4
           2         0  I  0x000000000010       2
format         list
accesses       3
kinds          1 reads, 1 writes, 1 fetches

# Columns with other names, or none.
$ printf '17,load,1000,8\n18,store,1040,4\n' > t.csv; reusescope dump t.csv --columns kind=2,addr=3:hex,size=4
      access       tid  k         address   bytes
           0         0  R  0x000000001000       8
           1         0  W  0x000000001040       4
$ printf 'op where bytes\nR 64 8\n' | reusescope dump - --columns addr=where,size=bytes | tail -1
           0         0  R  0x000000000040       8
$ reusescope analyze t.csv
reusescope: t.csv: no trace format recognised (rsct, din, lackey, csv, list, pinatrace, perf-script, drmemtrace); 4 columns of text: --columns says which they are, as addr=1
[1]
$ printf 'when,op,where\n1,R,0x40\n' | reusescope analyze -
reusescope: standard input: no trace format recognised (rsct, din, lackey, csv, list, pinatrace, perf-script, drmemtrace); 3 columns of text: --columns says which they are, as addr=3
[1]
$ reusescope dump t.csv --columns size=4
reusescope: columns 'size=4': not addr=COLUMN with any of size, kind, tid, pid and pc, as addr=3,size=4 or addr=address:hex
[2]
$ reusescope dump t.csv --columns addr=9
reusescope: t.csv: line 1 (byte 0): fewer columns than --columns asks for (csv), found "17,load,1000,8"
[1]
$ reusescope dump t.din --from din --columns addr=2
reusescope: columns: din has none to choose from; csv has
[2]

# raw64 is never guessed.
$ /usr/bin/python3 -c 'import struct, sys; sys.stdout.buffer.write(struct.pack("<3Q", 0, 64, 2**64 - 1))' > t.raw64
$ reusescope analyze t.raw64
reusescope: t.raw64: no trace format recognised (rsct, din, lackey, csv, list, pinatrace, perf-script, drmemtrace); raw64, champsim, oracleGeneral and vscsi are read with --from only
[1]
$ reusescope dump t.raw64 --from raw64
      access       tid  k         address   bytes
           0         0  R  0x000000000000       1
           1         0  R  0x000000000040       1
           2         0  R  0xffffffffffffffff       1
$ head -c 20 t.raw64 > cut.raw64; reusescope analyze cut.raw64 --from raw64
reusescope: cut.raw64: cut at byte 16: the last address has 4 of its 8 bytes (raw64)
[1]

# Packed: gzip, xz, zstd; by content, not by name; through pipes; member after member.
$ for tool in gzip xz zstd; do $tool -c -q t.lackey > t.$tool; acc t.$tool; done
format         lackey, packed with gzip
accesses       6
kinds          2 reads, 2 writes, 2 fetches
format         lackey, packed with xz
accesses       6
kinds          2 reads, 2 writes, 2 fetches
format         lackey, packed with zstd
accesses       6
kinds          2 reads, 2 writes, 2 fetches
$ for tool in gzip xz zstd; do reusescope analyze - -q --format json -o - < t.$tool | sed -n 3p; done | uniq | wc -l
1
$ (gzip -c t.din; gzip -c t.din) | acc -
format         din, packed with gzip
accesses       6
kinds          2 reads, 2 writes, 2 fetches
$ reusescope convert t.lackey -q -o t.rsct; zstd -q t.rsct -o t.rsct.zst; acc t.rsct.zst
format         rsct version 1, packed with zstd
accesses       6
kinds          2 reads, 2 writes, 2 fetches
$ for tool in gzip xz zstd; do head -c 50 t.$tool > cut; reusescope analyze cut; done
reusescope: cut: gzip data is cut at byte 50 of the file
reusescope: cut: xz data is cut at byte 50 of the file
reusescope: cut: zstd data is cut at byte 50 of the file
[1]
$ (cat t.gzip; echo junk) > tail.gz; reusescope analyze tail.gz
reusescope: tail.gz: gzip data is damaged near byte * of the file (incorrect header check) (glob)
[1]

# Native traces: cut, damaged, newer.
$ reusescope gen uniform,lines=1K -n 3M -q -o n.rsct
$ reusescope analyze n.rsct -q --format json -o - | sed -n 3p
 "accesses":3145728,"references":3145728,"cold":1024,"invalidated":0,"distinct":1024,
$ flip() { cp "$1" bad.rsct; printf '\125' | dd of=bad.rsct bs=1 seek=$2 conv=notrunc status=none; }
$ size=$(stat -c %s n.rsct)
$ head -c $((size / 2)) n.rsct > bad.rsct; reusescope analyze bad.rsct
reusescope: bad.rsct: frame 2 at byte *: the file is cut inside a frame (the first 1 frames are intact; --salvage reads them) (glob)
[1]
$ reusescope analyze bad.rsct --salvage -q --format json -o - | sed -n 3p
 "accesses":1048576,"references":1048576,"cold":1024,"invalidated":0,"distinct":1024,
$ reusescope analyze bad.rsct --salvage --format json -o - | sed -n 3p
reusescope: warning: bad.rsct: salvaged 1 frames; lost * bytes in 1 places, with at least 0 accesses (glob)
 "accesses":1048576,"references":1048576,"cold":1024,"invalidated":0,"distinct":1024,
$ flip n.rsct $((size / 2)); reusescope analyze bad.rsct
reusescope: bad.rsct: frame 2 at byte *: checksum mismatch (the first 1 frames are intact; --salvage reads them) (glob)
[1]
$ reusescope analyze bad.rsct --salvage --format json -o - | sed -n 3p
reusescope: warning: bad.rsct: salvaged 2 frames; lost * bytes in 1 places, with at least 1048576 accesses (glob)
 "accesses":2097152,"references":2097152,"cold":1024,"invalidated":0,"distinct":1024,
$ reusescope info bad.rsct --salvage -q | grep -E '^(lost|kinds)'
lost           * bytes (glob)
kinds          2097152 reads, 0 writes, 0 fetches
$ reusescope convert bad.rsct --salvage -q -o good.rsct; reusescope info good.rsct --count | grep kinds
kinds          2097152 reads, 0 writes, 0 fetches
$ reusescope dump bad.rsct --salvage -q --window 1 | wc -l
2097152
$ flip n.rsct 40; reusescope analyze bad.rsct
reusescope: bad.rsct: header at byte 0: checksum mismatch
[1]
$ flip n.rsct $((size - 10)); reusescope analyze bad.rsct
reusescope: bad.rsct: index at byte *: the file is cut or damaged in the index or trailer (all 3 frames are intact; --salvage reads them) (glob)
[1]
$ reusescope analyze bad.rsct --salvage -q --format json -o - | sed -n 3p
 "accesses":3145728,"references":3145728,"cold":1024,"invalidated":0,"distinct":1024,
$ flip n.rsct 8; reusescope analyze bad.rsct
reusescope: bad.rsct: trace format version 85 is newer than this tool (it reads 1)
[1]
$ (cat n.rsct; echo) > bad.rsct; reusescope analyze bad.rsct
reusescope: bad.rsct: index at byte *: the file is cut or damaged in the index or trailer (all 3 frames are intact; --salvage reads them) (glob)
[1]
$ head -c 20 n.rsct > bad.rsct; reusescope analyze bad.rsct
reusescope: bad.rsct: header at byte 0: the file is cut
[1]
$ cat n.rsct | reusescope analyze - --salvage
reusescope: standard input: --salvage needs an uncompressed file, not a pipe
[1]
$ cat n.rsct | head -c $((size / 2)) | reusescope analyze -
reusescope: standard input: frame 2 at byte *: the file is cut inside a frame (the first 1 frames are intact; --salvage reads them) (glob)
[1]

# Every way to cut or flip a small one is an error of one line.
$ reusescope gen cyclic,lines=4 -n 10 -q -o s.rsct
$ cat > harm.py <<'END'
> import subprocess, sys
> whole = open("s.rsct", "rb").read()
> def refused(data, what):
>     open("harm.rsct", "wb").write(data)
>     ran = subprocess.run(["reusescope", "analyze", "harm.rsct", "--format", "json", "-o", "-"], capture_output=True)
>     if ran.returncode != 1 or ran.stdout or ran.stderr.count(b"\n") != 1:
>         print(what, ran.returncode, ran.stderr.decode())
> for at in range(len(whole)):
>     refused(whole[:at], f"cut at {at}")
>     refused(whole[:at] + bytes([whole[at] ^ 1 << at % 8]) + whole[at + 1:], f"flip at {at}")
> END
$ /usr/bin/python3 harm.py

# Salvage says what was lost, wherever the file was cut.
$ cat > salvage.py <<'END'
> import subprocess
> whole = open("s.rsct", "rb").read()
> header = int.from_bytes(whole[12:16], "little")
> for at in range(header, len(whole)):
>     open("harm.rsct", "wb").write(whole[:at])
>     ran = subprocess.run(["reusescope", "info", "harm.rsct", "--salvage"], capture_output=True, text=True)
>     if ran.returncode or "warning" not in ran.stderr:
>         print(f"cut {at - header} bytes into the frames: {ran.returncode} {ran.stderr.strip()}")
> END
$ /usr/bin/python3 salvage.py

# An intact index tells how many accesses a damaged frame had.
$ flip s.rsct 220; reusescope info bad.rsct --salvage 2>&1 | grep -o 'with .*'
with at least 10 accesses

# Addresses of letters alone, among others with figures, are hexadecimal too; words alone are no list.
$ printf 'ffffffff\n7fff1040\n10\n' | reusescope dump - | cut -c27-41
        address
 0x0000ffffffff
 0x00007fff1040
 0x000000000010
$ printf 'r d\nread 40 8\n' | reusescope dump -
reusescope: standard input: no trace format recognised (rsct, din, lackey, csv, list, pinatrace, perf-script, drmemtrace); name it with --from if it is one
[1]
$ printf 'r d\nread 40\n' | reusescope dump -
      access       tid  k         address   bytes
           0         0  R  0x00000000000d       1
           1         0  R  0x000000000040       1
$ printf 'add\nbad\n' | reusescope dump -
reusescope: standard input: no trace format recognised (rsct, din, lackey, csv, list, pinatrace, perf-script, drmemtrace); name it with --from if it is one
[1]

# A byte order mark is no part of the first line, and does not make it a header. UTF-16 is named.
$ mark='\357\273\277'; printf "${mark}4096\n64\n" | reusescope dump - --columns addr=1
      access       tid  k         address   bytes
           0         0  R  0x000000001000       1
           1         0  R  0x000000000040       1
$ printf "${mark}0x10\n" | gzip | reusescope info - | grep -E 'format|accesses'
format         list, packed with gzip
accesses       1
$ printf "${mark}0 10\n1 20\n" | reusescope info - | grep -E 'format|kinds'
format         din
kinds          1 reads, 1 writes, 0 fetches
$ printf "${mark}0 10\nzzz\n" | reusescope info - --from din
reusescope: standard input: line 2 (byte 8): expected "0|1|2 ADDRESS" (din), found "zzz"
[1]
$ printf '\377\3760\0x\0001\0\n\0' | reusescope info -
reusescope: standard input: text in UTF-16, not in ASCII or UTF-8: use iconv -f UTF-16 -t UTF-8
[1]

# What packs a trace and is not read is named too, with what unpacks it: not a hint to read it as raw addresses.
$ printf 'BZh91AY&SY' > t.bz2; tar -cf t.tar t.list; gzip -c t.tar > t.tgz; gzip -c t.list | gzip -c > twice.gz
$ for file in t.bz2 t.tar t.tgz twice.gz; do reusescope analyze $file; done
reusescope: t.bz2: packed with bzip2, which is not read: use bzip2 -dc
reusescope: t.tar: an archive of tar, not a trace: use tar -xO
reusescope: t.tgz: an archive of tar, not a trace: use tar -xO
reusescope: twice.gz: packed twice: use gzip -dc
[1]
