# Formats: each is told by its content, plain or packed.
$ acc() { reusescope info "$@" | grep -E '^(format|accesses|kinds)'; }
$ printf '# Dinero\n0 10\n1 0x20 what follows is ignored\n\n2 7fff0000\n' > t.din
$ acc t.din
$ reusescope dump t.din
$ printf '0 10\n3 0\n4 0\n1 20\n' | reusescope dump -

# lackey: M is a read and a write; the pc is the last fetch; other output is skipped and said so.
$ cat > t.lackey <<'END'
> ==4711== Lackey, an example Valgrind tool
> I  04001000,3
>  L 1fff000680,8
> I  04001003,5
>  S 1fff000678,8
>  M 0421ac10,4
> ==4711== done
> END
$ reusescope dump t.lackey
$ acc t.lackey
$ (cat t.lackey; echo 'hello from the program') | reusescope info - | grep accesses
$ (cat t.lackey; echo 'hello from the program') | reusescope info - -q | grep accesses

# CSV: columns by name, in any order; comma, semicolon or tab; missing is 1 byte, R, thread 0.
$ printf 'Addr\n16\n0x10\n' | reusescope dump -
$ printf 'kind;note;addr;size\nwrite;"a;b";0x40;4\nI;;64;\n' | reusescope dump -
$ printf 'tid\taddr\tpid\n8\t1\t2\n9\t2\t2\n' | reusescope dump -

# A text without its last newline is whole.
$ printf '0 10\n0 20' | reusescope info - | grep accesses

# raw64 is never guessed.
$ /usr/bin/python3 -c 'import struct, sys; sys.stdout.buffer.write(struct.pack("<3Q", 0, 64, 2**64 - 1))' > t.raw64
$ reusescope analyze t.raw64
$ reusescope dump t.raw64 --from raw64
$ head -c 20 t.raw64 > cut.raw64; reusescope analyze cut.raw64 --from raw64

# Packed: gzip, xz, zstd; by content, not by name; through pipes; member after member.
$ for tool in gzip xz zstd; do $tool -c -q t.lackey > t.$tool; acc t.$tool; done
$ for tool in gzip xz zstd; do reusescope analyze - -q --format json -o - < t.$tool | sed -n 3p; done | uniq | wc -l
$ (gzip -c t.din; gzip -c t.din) | acc -
$ reusescope convert t.lackey -q -o t.rsct; zstd -q t.rsct -o t.rsct.zst; acc t.rsct.zst
$ for tool in gzip xz zstd; do head -c 50 t.$tool > cut; reusescope analyze cut; done
$ (cat t.gzip; echo junk) > tail.gz; reusescope analyze tail.gz

# Native traces: cut, damaged, newer.
$ reusescope gen uniform,lines=1K -n 3M -q -o n.rsct
$ reusescope analyze n.rsct -q --format json -o - | sed -n 3p
$ flip() { cp "$1" bad.rsct; printf '\125' | dd of=bad.rsct bs=1 seek=$2 conv=notrunc status=none; }
$ size=$(stat -c %s n.rsct)
$ head -c $((size / 2)) n.rsct > bad.rsct; reusescope analyze bad.rsct
$ reusescope analyze bad.rsct --salvage -q --format json -o - | sed -n 3p
$ reusescope analyze bad.rsct --salvage --format json -o - | sed -n 3p
$ flip n.rsct $((size / 2)); reusescope analyze bad.rsct
$ reusescope analyze bad.rsct --salvage --format json -o - | sed -n 3p
$ reusescope info bad.rsct --salvage -q | grep -E '^(lost|kinds)'
$ reusescope convert bad.rsct --salvage -q -o good.rsct; reusescope info good.rsct --count | grep kinds
$ reusescope dump bad.rsct --salvage -q --window 1 | wc -l
$ flip n.rsct 40; reusescope analyze bad.rsct
$ flip n.rsct $((size - 10)); reusescope analyze bad.rsct
$ reusescope analyze bad.rsct --salvage -q --format json -o - | sed -n 3p
$ flip n.rsct 8; reusescope analyze bad.rsct
$ (cat n.rsct; echo) > bad.rsct; reusescope analyze bad.rsct
$ head -c 20 n.rsct > bad.rsct; reusescope analyze bad.rsct
$ cat n.rsct | reusescope analyze - --salvage
$ cat n.rsct | head -c $((size / 2)) | reusescope analyze -

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
