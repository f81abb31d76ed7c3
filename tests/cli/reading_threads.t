# Whatever wrote a trace and however many threads read it, every verb gives the same bytes.
$ cat > write.py <<'END'
> import gzip, os, random, struct, zipfile
> random.seed(7)
> N = 60000
> uses = [(random.choice("RWI"), 0x400000 + 8 * int(random.paretovariate(0.6)) % (1 << 22), random.choice((1, 4, 8, 60)), random.randrange(5), 0x1000 + random.randrange(200)) for _ in range(N)]
> def text(name, lines): open(name, "w").write("".join(line + "\n" for line in lines))
> text("t.din", ["%d %x" % ("RWI".index(k), a) if i % 5000 else "4 0" for i, (k, a, s, t, p) in enumerate(uses)])
> text("t.list", ["%s 0x%x %d" % (k.lower(), a, s) for k, a, s, t, p in uses])
> text("plain.list", ["%d" % a for k, a, s, t, p in uses * 2])
> text("t.csv", ["addr,size,kind"] + ["%d,%d,%s" % (a, s, k) for k, a, s, t, p in uses])
> text("pc.csv", ["addr;pc;kind"] + ["%d;%d;%s" % (a, p, k) for k, a, s, t, p in uses])
> text("threads.csv", ["pid,tid,addr,size,kind"] + ["%d,%d,%d,%d,%s" % (9 - i // 20000, t + i // 9000, a, s, k) for i, (k, a, s, t, p) in enumerate(uses)])
> late = ["%d,%s" % (a, "R" if i < 30000 else k) for i, (k, a, s, t, p) in enumerate(uses)]
> text("late.csv", ["addr,kind"] + late)
> shapes = {"I": "I  %08x,%d", "R": " L %08x,%d", "W": " S %08x,%d"}
> text("t.lackey", ["==1== Lackey"] + [shapes[k] % (a, s) for k, a, s, t, p in uses] + ["==1== Exit code:       0"])
> text("t.pinatrace", ["0x%x: %s 0x%x" % (p, "RW"[k == "W"], a) for k, a, s, t, p in uses] + ["#eof"])
> text("t.perf", ["cat  12/%d [00%d] %d.5: 1 cpu/mem-loads/P: %x 68100142 |OP %s|LVL L1 hit|SNP None|TLB L1 hit|LCK No 0 %x main+0x1 (/bin/cat)" % (100 + t + i // 9000, t, i, a, "LOAD", p) for i, (k, a, s, t, p) in enumerate(uses[:20000])])
> text("chains.perf", [line for i, (k, a, s, t, p) in enumerate(uses[:20000]) for line in ["cat  12/%d [00%d] %d.5: 1 cpu/mem-loads/P: %x 68100142 |OP LOAD|LVL L1 hit|SNP None|TLB L1 hit|LCK No 0" % (100 + t, t, i, a)] + ["\t%x f%d+0x1 (/bin/cat)" % (p + d, d) for d in range(p % 4)] + [""]])
> text("bare.perf", ["%20x %20x f+0x1 (/bin/cat)" % (a, p) for k, a, s, t, p in uses])
> text("chains.pcs", ["0x%012x" % (p if p % 4 else 0) for k, a, s, t, p in uses[:20000]])
> big = (uses * 19)[:1100000]
> open("t.raw64", "wb").write(struct.pack("<%dQ" % len(big), *(a for k, a, s, t, p in big)))
> open("t.champsim", "wb").write(b"".join(struct.pack("<QBB2B4B2Q4Q", 0x1000 + p, i % 7 == 0, i % 14 == 0, 0, 0, 0, 0, 0, 0, a if k == "W" else 0, 0, a if k != "W" else 0, 0, 0, 0) for i, (k, a, s, t, p) in enumerate((uses * 3)[:140000])))
> open("t.oracle", "wb").write(b"".join(struct.pack("<IQIq", 5 + i // 100, a, s * 100, -1) for i, (k, a, s, t, p) in enumerate((uses * 7)[:400000])))
> open("t.vscsi", "wb").write(b"".join(struct.pack("<HHIIIQQQ", 0x2a if k == "W" else 0x28, 0x200, i, 512 * s, 1, a, i, i) for i, (k, a, s, t, p) in enumerate(uses)))
> text("requests.csv", ["time,key,bytes"] + ["%d,%d,%d" % (i, a, s * 100) for i, (k, a, s, t, p) in enumerate(uses)])
> def record(kind, size, value): return struct.pack("<HHQ", kind, size, value)
> def thread(tid, times):
>     body = (record(28, 2, i * 3 + tid % 3) if i % 50 == 0 else record(10, 3, 0x1000 + p) + record(k == "W", s, a) for i, (k, a, s, t, p) in enumerate(uses * times) if i % 5 == tid % 5)
>     return record(25, 0, 7) + record(28, 12, 7) + record(22, 0, tid) + record(24, 0, 70) + b"".join(body) + record(23, 0, tid) + record(26, 0, 0)
> open("t.trace", "wb").write(thread(1, 1))
> os.makedirs("folder")
> for tid in range(5): open("folder/drmemtrace.app.%d.1.trace.gz" % tid, "wb").write(gzip.compress(thread(tid, 1 + tid % 3)))
> with zipfile.ZipFile("folder/drmemtrace.app.6.1.trace.zip", "w", zipfile.ZIP_DEFLATED) as archive: archive.writestr("x", thread(6, 2))
> # Another, whose files each have something to warn of.
> os.makedirs("old")
> for tid in range(5): open("old/drmemtrace.app.%d.1.trace" % tid, "wb").write(record(25, 0, 8) + thread(tid, 1)[12:])
> END
$ /usr/bin/python3 write.py
$ reusescope gen mix,threads=3 -n 600K -q -o t.rsct; reusescope convert t.lackey -q -o pc.rsct; gzip -k t.lackey; zstd -q t.raw64 -o t.raw64.zst
$ cat > same.py <<'END'
> import hashlib, os, re, subprocess, sys
> def run(*words):
>     done = subprocess.run(["reusescope", *words], capture_output=True)
>     return done.returncode, done.stdout, done.stderr
> L1 = ["--l1d", "32K,8,64", "--l2", "256K,8,64", "-q", "--format", "csv", "-o", "-"]
> SHARDS = ["--no-code", "--engine", "shards:0.3", "-q", "--format", "json", "-o", "-"]
> for line in sys.stdin:
>     name, *words = line.split()
>     requests = "oracleGeneral" in words or "vscsi" in words
>     verbs = {"info": [], "dump": [], "convert": ["-q", "-o", "out.rsct"]}
>     if requests: verbs["sim"] = ["--requests", "1M,4M", "-q", "--format", "csv", "-o", "-"]
>     else: verbs.update({"sim": L1, "sim ": L1 + ["--sample-sets", "1/4"], "analyze": SHARDS})
>     same = []
>     for verb, options in verbs.items():
>         seen = set()
>         for threads in 1, 2, 5, 8:
>             status, out, err = run(verb.strip(), name, *words, *options, "--threads", str(threads))
>             if verb == "convert": out = open("out.rsct", "rb").read(); os.remove("out.rsct")
>             out = re.sub(rb'"(command|seconds)":(\[.*?\]|[0-9.e-]+),?', b"", out)
>             seen.add((status, hashlib.sha256(out).digest(), err))
>             if status: print(name, verb, threads, err.decode())
>         if len(seen) > 1: print(name, verb, "differs")
>         same.append(verb)
>     print(name, *words, len(same))
> END
$ printf '%s\n' t.din t.list plain.list t.csv pc.csv threads.csv late.csv t.lackey t.lackey.gz t.pinatrace t.perf chains.perf 'bare.perf --from perf-script' t.rsct pc.rsct 't.raw64 --from raw64' 't.raw64.zst --from raw64' 't.champsim --from champsim' 't.oracle --from oracleGeneral' 't.vscsi --from vscsi' 'requests.csv --columns addr=2,size=3' t.trace folder old | /usr/bin/python3 same.py
t.din 6
t.list 6
plain.list 6
t.csv 6
pc.csv 6
threads.csv 6
late.csv 6
t.lackey 6
t.lackey.gz 6
t.pinatrace 6
t.perf 6
chains.perf 6
bare.perf --from perf-script 6
t.rsct 6
pc.rsct 6
t.raw64 --from raw64 6
t.raw64.zst --from raw64 6
t.champsim --from champsim 6
t.oracle --from oracleGeneral 4
t.vscsi --from vscsi 4
requests.csv --columns addr=2,size=3 6
t.trace 6
folder 6
old 6

# No frame is lost where lines are cut into blocks for threads.
$ reusescope dump chains.perf | awk 'NR > 1 { print $NF }' | cmp - chains.pcs
