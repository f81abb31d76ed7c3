#!/usr/bin/env python3
"""fault.py --tool TOOL --preload LIBRARY [--points N]: makes the n-th allocation, mmap, read, write, thread creation,
fork or perf_event_open fail, for every n (or N of them, evenly) of every command below.

Each ends with status 0 and the whole result, or with status 1 and one line; an older result stays as it was or is
replaced whole; nothing else is left behind. Prints how many failures were tried and how many of them ended in each way.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile

KINDS = ["alloc", "mmap", "read", "write", "thread", "fork", "perf"]
COMMANDS = [
    "gen zipf,lines=500 -n 3000 --seed 1 -o OUT.rsct",
    "analyze t.rsct --engine exact -q -o OUT.data",
    "analyze t.rsct --engine exact -q -o OUT.json",
    "analyze t.din --engine shards:0.5 -q -o OUT.data",
    "analyze t.rsct --engine parallel --threads 2 -q -o OUT.data",
    "analyze t.rsct --engine sampled --model private -q -o OUT.data",
    "analyze t.rsct --engine time:aet -q -o OUT.data",
    "sim t.rsct --l1d 4K,4,64 --l2 16K,8,64 -q -o OUT.json",
    "convert t.din -q -o OUT.rsct",
    "convert t.rsct --to csv -q -o OUT.csv",
    "merge p.data p.data -q -o OUT.data",
    "report p.data -q -o OUT.html",
    "report p.data -q --format csv -o OUT.csv",
    "diff p.data p.data -q --format json -o OUT.json",
    "loops l.loop -t 1,4 -q -o OUT.json",
    "info t.rsct",
    "run --with perf -q -o OUT.data -- /bin/true",
]
LOOP = """loops 1
array x 8 [100][100]

nest "f:1" function f @"f.c":1 {
  for i = 0 to 99 step 1 @1 {
    for j = 0 to 99 step 1 @1 {
      write x[i][j] @1 "x[i][j]"
    }
  }
}
"""


class Faults:
    def __init__(self, tool, preload, folder):
        self.tool, self.preload, self.folder = tool, preload, folder
        self.tried = self.tolerated = self.reported = 0
        self.problems = []

    def run(self, words, kind=None, at=0):
        environment = dict(os.environ, LC_ALL="C", HOME=self.folder)
        if kind:
            environment.update(LD_PRELOAD=self.preload, FAULT_KIND=kind, FAULT_AT=str(at), FAULT_COUNT=self.folder + ".n")
        return subprocess.run([self.tool] + words, cwd=self.folder, env=environment, capture_output=True, timeout=120)

    def content(self, name):
        try:
            with open(os.path.join(self.folder, name), "rb") as file:
                return file.read()
        except OSError:
            return None

    def try_one(self, command, words, out, kind, at, listing):
        old = b"an older result\n"
        if out:
            with open(os.path.join(self.folder, out), "wb") as file:
                file.write(old)
        ended = self.run(words, kind, at)
        now, problem = self.content(out) if out else None, None
        lines = ended.stderr.decode(errors="replace").splitlines()
        if ended.returncode not in (0, 1):
            problem = f"status {ended.returncode}"
        elif ended.returncode == 1 and (len(lines) != 1 or not lines[0].startswith("reusescope")):
            problem = f"{len(lines)} lines"
        elif ended.returncode == 1 and out and now != old:
            problem = "the older result is gone"
        elif ended.returncode == 0 and out and (not now or now == old):
            problem = "status 0 without a result"
        left = set(os.listdir(self.folder)) - listing - {out}
        for name in left:
            path = os.path.join(self.folder, name)
            shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)
        if left and not problem:
            problem = f"left behind: {sorted(left)}"
        self.tried += 1
        self.tolerated += ended.returncode == 0
        self.reported += ended.returncode == 1
        if problem:
            self.problems.append(f"{kind} {at}: {command}: {problem}: {' | '.join(lines)[:200]}")

    def try_all(self, command, points):
        words, out = command.split(), None
        for i, word in enumerate(words):
            if word.startswith("OUT."):
                out = words[i] = word.replace("OUT", "out")
        listing = set(os.listdir(self.folder))
        for kind in KINDS:
            whole = self.run(words, kind)
            if whole.returncode and "--with perf" in command:
                return  # this machine cannot
            if whole.returncode:
                self.problems.append(f"{command}: fails by itself: {whole.stderr.decode(errors='replace')[:200]}")
                return
            count = int(self.content(self.folder + ".n") or 0)
            if out and self.content(out) is not None:
                os.remove(os.path.join(self.folder, out))
            chosen = range(1, count + 1)
            if points and count > points:
                chosen = sorted({1 + i * (count - 1) // (points - 1) for i in range(points)})
            for at in chosen:
                self.try_one(command, words, out, kind, at, listing)
        if out and self.content(out) is not None:
            os.remove(os.path.join(self.folder, out))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", required=True)
    parser.add_argument("--preload", required=True)
    parser.add_argument("--points", type=int, default=0)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    folder = tempfile.mkdtemp()
    try:
        faults = Faults(os.path.abspath(arguments.tool), os.path.abspath(arguments.preload), folder)
        with open(os.path.join(folder, "l.loop"), "w") as file:
            file.write(LOOP)
        for words in (["gen", "zipf,lines=500", "-n", "3000", "--seed", "1", "-o", "t.rsct"],
                      ["convert", "t.rsct", "-q", "-o", "t.din"], ["analyze", "t.rsct", "-q", "-o", "p.data"]):
            made = faults.run(words)
            if made.returncode:
                sys.exit(f"fault: {' '.join(words)}: {made.stderr.decode()}")
        for command in COMMANDS:
            if arguments.only in command:
                faults.try_all(command, arguments.points)
        for problem in faults.problems:
            print("FAILED:", problem)
        print(f"{faults.tried} failures in {len(COMMANDS)} commands: {faults.reported} reported, {faults.tolerated} tolerated, "
              f"{len(faults.problems)} wrong")
        sys.exit(bool(faults.problems) or not faults.tried)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if os.path.exists(folder + ".n"):
            os.remove(folder + ".n")


main()
