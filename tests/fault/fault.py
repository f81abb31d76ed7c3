#!/usr/bin/env python3
"""Makes calls of the system fail, one at a time, in the commands of the golden tests.

    fault.py --tool TOOL --preload LIBRARY [--points N] [--seconds S] [--jobs N] [--state FOLDER] FILE.t...

Every `reusescope` that a file runs is first run with fault_preload.c to see which allocations, mmaps, opens, reads,
writes, threads, forks and perf events it has. Then it is run again for each path of callers that no command before it
had, with that call failing, and for N more of each kind, evenly spaced; S processor seconds at most for one command (what
does not fit is left to later commands). After each, the folder is put back as it was.

A command whose call failed must end with its usual status, or with 1 and one line; never by a signal, a hang or
another status. Files are as they were, complete, or named .partial; nothing else is left behind; no memory is lost that
is not lost otherwise. (doctor answers with 1; libgomp ends a program with lines of its own.)

Prints how many failures were tried and how many ended in each way, and which share of the calls in the tool's code have
failed once: by kind, and with --missing the functions in which one has not. Fails if any is wrong. What was tried is kept
in FOLDER: the same command goes on behind the files that were done (for the same build of the tool), and counts them.
"""
import argparse
import collections
import concurrent.futures
import contextlib
import fcntl
import json
import os
import resource
import shutil
import stat
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
KINDS = ["alloc", "mmap", "open", "read", "write", "thread", "fork", "perf"]
HANG_SECONDS = 60
STDIN_MAX = 16 << 20


# ---- one command, in place of the tool ----

def processor_seconds():
    """Of the commands so far: how long they take does not depend on what else the machine does."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Locked:
    """A file that one process at a time may use."""

    def __init__(self, path):
        self.path = path

    def __enter__(self):
        self.file = open(self.path, "a+", encoding="utf-8")
        fcntl.flock(self.file, fcntl.LOCK_EX)
        self.file.seek(0)
        return self.file

    def __exit__(self, *_):
        self.file.close()


def listing(folder):
    found = {}
    for where, folders, files in os.walk(folder):
        for name in folders + files:
            path = os.path.join(where, name)
            status = os.lstat(path)
            found[path] = (stat.S_IFMT(status.st_mode), status.st_size if stat.S_ISREG(status.st_mode) else 0,
                           status.st_mtime_ns if stat.S_ISREG(status.st_mode) else 0, status.st_ino)
    return found


class Command:
    def __init__(self, words):
        self.words = words
        self.tool, self.preload, self.state = (os.environ[n] for n in ("FAULT_TOOL", "FAULT_LIBRARY", "FAULT_STATE"))
        self.points, self.seconds = int(os.environ["FAULT_POINTS"]), float(os.environ["FAULT_SECONDS"])
        self.root = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(sys.argv[2]))), "work")
        self.stdin = None
        self.report = tempfile.mktemp(prefix="fault-", dir=self.state)

    def read_stdin(self):
        """Standard input, to give it to each run; False if there is too much of it."""
        try:
            mode = os.fstat(0).st_mode
        except OSError:
            return True
        if not (stat.S_ISFIFO(mode) or stat.S_ISREG(mode)):
            return True
        self.stdin = b""
        while len(self.stdin) < STDIN_MAX:
            data = os.read(0, 1 << 16)
            if not data:
                return True
            self.stdin += data
        return False

    def run(self, kind=None, at=0, who=False):
        env = dict(os.environ, LD_PRELOAD=self.preload, FAULT_REPORT=self.report, FAULT_AT=str(at))
        if kind:
            env["FAULT_KIND"] = kind
        if who:
            env["FAULT_WHO"] = "1"
        began = processor_seconds()
        how = {"input": self.stdin} if self.stdin is not None else {"stdin": subprocess.DEVNULL}
        for limit in (HANG_SECONDS, 10 * HANG_SECONDS):  # the second time: what else the machine does may be the reason
            try:
                ended = subprocess.run([self.tool] + self.words, env=env, capture_output=True, timeout=limit, **how)
                break
            except subprocess.TimeoutExpired:
                ended = subprocess.CompletedProcess(self.words, "hang", b"", b"")
        ended.seconds, ended.lost, ended.calls, ended.paths, ended.who, ended.failed = processor_seconds() - began, 0, {}, [], [], 0
        try:
            with open(self.report, encoding="utf-8") as file:
                for line in file:
                    words = line.split()
                    if words[0] == "lost":
                        ended.lost = int(words[1])
                    elif words[0] == "calls":
                        ended.calls[words[1]] = int(words[2])
                    elif words[0] == "path":
                        ended.paths.append((words[1], words[2], int(words[3]), words[4]))
                    elif words[0] == "failed":
                        ended.failed = int(words[1])
                    elif words[0] == "from":
                        ended.who.append(line[5:].strip())
            os.remove(self.report)
        except OSError:
            pass
        return ended

    def put_back(self, before, copy):
        """
        Makes the folder what it was; returns what had changed: path to new size, None where it was removed. Notes new
        files that are whole: the sizes of traces differ from run to run with the times in them.
        """
        after, changed = listing(self.root), {}
        self.whole = set()
        for path in sorted(after.keys() - before.keys(), reverse=True):
            kind, size = after[path][:2]
            changed[path] = size
            if path.endswith((".rsct", ".data")) and not subprocess.run([self.tool, "info", path], capture_output=True, check=False).returncode:
                self.whole.add(path)
            os.rmdir(path) if stat.S_ISDIR(kind) else os.remove(path)
        for path in sorted(before):
            if after.get(path) == before[path]:
                continue
            changed[path] = after[path][1] if path in after else None
            if stat.S_ISREG(before[path][0]):
                subprocess.run(["cp", "-a", "--remove-destination", copy + path[len(self.root):], path], check=False)
                before[path] = listing_of(path)
        return changed

    def choose(self, clean):
        """(kind, n) to fail: new paths of callers first, then evenly spaced ones, as many as there is time for."""
        room = max(4, int(self.seconds / max(clean.seconds, 0.004)))
        with Locked(os.path.join(self.state, "paths")) as seen_file:
            seen = set(seen_file.read().split("\n"))
            fresh = [p for p in clean.paths if f"{p[0]} {p[1]}" not in seen]
            first, sites = [], set(seen)
            for path in sorted(fresh, key=lambda p: (p[0] == "alloc", p[1])):  # few of the others, so they come first
                site = f"at {path[0]} {path[3]}"
                first.append((site in sites, path))
                sites.add(site)
            fresh = [path for _, path in sorted(first, key=lambda f: f[0])][:room]  # new calls before new ways to them
            seen_file.seek(0, os.SEEK_END)
            seen_file.write("".join(f"{p[0]} {p[1]}\nat {p[0]} {p[3]}\n" for p in fresh))
        with Locked(os.path.join(self.state, "known")) as known_file:
            known = set(known_file.read().split("\n"))
            known_file.seek(0, os.SEEK_END)
            known_file.write("".join(f"{p[0]} {p[1]}\n" for p in clean.paths if f"{p[0]} {p[1]}" not in known))
        chosen = {(kind, n) for kind, _, n, _ in fresh}
        for kind in KINDS:
            count = clean.calls.get(kind, 0)
            spaced = min(count, self.points)
            for i in range(spaced):
                if len(chosen) < room:
                    chosen.add((kind, 1 + i * (count - 1) // max(1, spaced - 1)))
        return sorted(chosen), fresh

    def judge(self, clean, made, ended, changed):
        lines = ended.stderr.decode(errors="replace").splitlines()
        usual = set(clean.stderr.decode(errors="replace").splitlines())
        errors = [l for l in lines if l not in usual and not l.startswith(("reusescope: warning: ", "next: "))]
        if "-v" in self.words:
            errors = errors[-1:]
        if ended.returncode == "hang":
            return f"still running after {HANG_SECONDS} s, and again after {10 * HANG_SECONDS} s"
        if ended.returncode not in (1, clean.returncode) and not (ended.returncode == 126 and "run" in self.words[:1]):
            return f"status {ended.returncode}, not {clean.returncode} or 1"
        of_others = "doctor" in self.words[:1] or any(l.startswith("libgomp: ") for l in lines)
        if ended.returncode == 1 != clean.returncode and not of_others and (len(errors) != 1 or not errors[0].startswith("reusescope")):
            return f"{len(errors)} lines of error"
        for path, size in changed.items() if not any("%p" in word for word in self.words) else ():
            name = os.path.relpath(path, self.root)
            if path in made and made[path] is not None and size is not None and abs(size - made[path]) <= 64 + made[path] // 20:
                continue
            if ".partial" in name or path in self.whole or (ended.returncode == 0 and path in made):
                continue
            return f"{name}: " + ("removed" if size is None else f"{size} bytes, complete: {made.get(path, 'not made')}")
        if ended.returncode == 0 and clean.returncode == 0:
            missing = [p for p in made if p not in changed and made[p] is not None and "%p" not in " ".join(self.words)]
            if missing:
                return f"status 0 without {os.path.relpath(missing[0], self.root)}"
        if ended.lost > clean.lost and not of_others:
            return f"{ended.lost - clean.lost} blocks are lost"
        return None

    def try_all(self):
        if any(os.path.exists(word) and stat.S_ISFIFO(os.stat(word).st_mode) for word in self.words):
            return {"skipped": "a named pipe"}  # its other end waits for us
        before = listing(self.root)
        if sum(entry[1] for entry in before.values()) > 200 << 20:
            return {"skipped": "a large folder"}
        copy = tempfile.mkdtemp(prefix="fault-copy-", dir=self.state)
        try:
            subprocess.run(["cp", "-a", self.root + "/.", copy], check=True)
            clean = self.run()
            made = self.put_back(before, copy)
            if clean.returncode == "hang" or clean.seconds > self.seconds or not clean.calls:
                return {"skipped": "slow" if clean.calls else "ends without exit()"}
            chosen, fresh = self.choose(clean)
            result = {"tried": 0, "tolerated": 0, "reported": 0, "paths": len(fresh), "calls": sum(clean.calls.values()),
                      "sites": sorted({p[3] for p in fresh}), "wrong": []}
            for kind, at in chosen:
                ended = self.run(kind, at)
                changed = self.put_back(before, copy)
                problem = self.judge(clean, made, ended, changed)
                result["tried"] += 1
                result["tolerated" if ended.returncode == clean.returncode else "reported"] += 1
                if problem:
                    if "lost" in problem:
                        who = self.run(kind, at, who=True).who
                        self.put_back(before, copy)
                        problem += " " + " | ".join(who[:2])
                    said = " | ".join(ended.stderr.decode(errors="replace").splitlines())
                    result["wrong"].append(f"{kind} {at}: {' '.join(self.words)}: {problem}: {said[:200]}")
            return result
        finally:
            shutil.rmtree(copy, ignore_errors=True)


def listing_of(path):
    status = os.lstat(path)
    return (stat.S_IFMT(status.st_mode), status.st_size, status.st_mtime_ns, status.st_ino)


def stand_in(words):
    """Runs as the tool: tries the failures, then the command itself."""
    command = Command(words)
    whole = command.read_stdin()
    if whole and not os.environ.get("FAULT_WITHIN"):
        os.environ["FAULT_WITHIN"] = "1"  # not again for what the tool itself starts
        with Locked(command.root + ".lock"):
            result = command.try_all()
        del os.environ["FAULT_WITHIN"]
        with Locked(os.path.join(command.state, "results")) as results:
            results.seek(0, os.SEEK_END)
            results.write(json.dumps(result) + "\n")
    tool = subprocess.Popen([command.tool] + words, stdin=subprocess.PIPE if command.stdin is not None else None)
    try:
        if command.stdin is not None:
            tool.stdin.write(command.stdin)
            while not whole:
                data = os.read(0, 1 << 16)
                if not data:
                    break
                tool.stdin.write(data)
    except BrokenPipeError:
        pass
    try:
        if tool.stdin:
            tool.stdin.close()
    except BrokenPipeError:
        pass
    status = tool.wait()
    sys.stdout.flush()
    os._exit(status if status >= 0 else 128 - status)


# ---- all of them ----

CALLED = {"alloc": "malloc calloc realloc reallocarray aligned_alloc posix_memalign strdup strndup asprintf open_memstream".split(),
          "mmap": ["mmap"], "open": ["open", "openat", "fopen", "memfd_create"], "read": ["read", "pread"],
          "write": ["write", "fsync", "rename", "linkat", "ftruncate"], "thread": ["pthread_create"], "fork": ["fork"], "perf": ["syscall"]}
PERF_EVENT_OPEN = "$0x12a,%edi"  # how such a call of syscall() on x86-64 is known


def calls_in(tool):
    """The calls of the tool's code that can fail here: the address after each, with its kind and function."""
    listed = subprocess.run(["objdump", "-d", "--no-show-raw-insn", tool], capture_output=True, text=True, check=True).stdout
    kinds = {name: kind for kind, called in CALLED.items() for name in called}
    calls, function, pending, is_perf = {}, "", None, False
    for line in listed.splitlines():
        if line.endswith(">:"):
            function, pending, is_perf = line.split("<")[1][:-2], None, False
        elif line.startswith(" ") and ":" in line:
            if pending:
                calls[line.split(":")[0].strip()] = (pending, function)
            name = line.rsplit("<", 1)[1].split("@")[0] if "call" in line and "@plt>" in line else ""
            pending = kinds.get(name) if name != "syscall" or is_perf else None
            is_perf = (is_perf or PERF_EVENT_OPEN in line) and name != "syscall"
    return calls


def print_coverage(tool, sites, missing):
    calls = calls_in(tool)
    for kind in CALLED:
        here = [at for at in calls if calls[at][0] == kind]
        print(f"  {kind:7} {sum(at in sites for at in here):5} of {len(here):5} calls in the tool's code failed at least once")
    if missing:
        for kind, function in sorted({calls[at] for at in calls if at not in sites}):
            print(f"  never failed: {kind} in {function}")


def run_file(path):
    sys.path.insert(0, os.path.join(os.path.dirname(HERE), "cli"))
    import golden
    golden.SECONDS = 4 * 3600
    steps = golden.read_steps(path)
    golden.run_steps(steps, os.environ["FAULT_STAND_IN"])
    return os.path.basename(path)


def try_files(arguments, state, began):
    """Runs the files that are not yet done; the results of all, of earlier calls too, and how many paths there are."""
    script = os.path.join(state, "reusescope")
    with open(script, "w", encoding="utf-8") as file:
        file.write(f'#!/bin/sh\nexec /usr/bin/python3 -S {os.path.abspath(__file__)} --stand-in "$0" "$@"\n')
    os.chmod(script, 0o755)
    os.environ.update(FAULT_TOOL=os.path.abspath(arguments.tool), FAULT_LIBRARY=os.path.abspath(arguments.preload),
                      FAULT_STATE=state, FAULT_POINTS=str(arguments.points), FAULT_SECONDS=str(arguments.seconds),
                      FAULT_STAND_IN=script)
    with open(os.path.join(state, "done"), "a+", encoding="utf-8") as done:
        done.seek(0)
        finished = set(done.read().split("\n"))
        left = [path for path in arguments.files if os.path.basename(path) not in finished]
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            for one in concurrent.futures.as_completed([pool.submit(run_file, path) for path in left]):
                done.write(one.result() + "\n")
                done.flush()
                print(f"{time.monotonic() - began:7.0f} s {one.result()}", file=sys.stderr, flush=True)
    with Locked(os.path.join(state, "results")) as results, Locked(os.path.join(state, "known")) as known:
        return [json.loads(line) for line in results], len(known.readlines())


def main():
    if sys.argv[1:2] == ["--stand-in"]:
        return stand_in(sys.argv[3:])
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", required=True)
    parser.add_argument("--preload", required=True)
    parser.add_argument("--points", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--missing", action="store_true")
    parser.add_argument("--state")
    parser.add_argument("files", nargs="+")
    arguments = parser.parse_args()
    began = time.monotonic()
    if os.access("/dev/shm", os.W_OK):
        tempfile.tempdir = "/dev/shm"  # fsync() costs nothing there
    with contextlib.ExitStack() as stack:
        state = os.path.abspath(arguments.state) if arguments.state else stack.enter_context(tempfile.TemporaryDirectory(prefix="fault-"))
        os.makedirs(state, exist_ok=True)
        results, paths = try_files(arguments, state, began)
    tried = [r for r in results if "tried" in r]
    wrong = [problem for r in tried for problem in r["wrong"]]
    for problem in wrong:
        print("FAILED:", problem)
    total = {key: sum(r[key] for r in tried) for key in ("tried", "tolerated", "reported", "paths", "calls")}
    reasons = collections.Counter(r["skipped"] for r in results if "skipped" in r)
    left_out = ", ".join(f"{count} left out: {why}" for why, count in sorted(reasons.items())) or "none left out"
    print(f"{total['tried']:,} failures in {len(tried):,} commands ({left_out}), of {total['calls']:,} "
          f"calls by {total['paths']:,} of {paths:,} different paths: {total['reported']:,} reported, {total['tolerated']:,} tolerated, "
          f"{len(wrong):,} wrong")
    if shutil.which("objdump"):
        print_coverage(arguments.tool, {site for r in tried for site in r["sites"]}, arguments.missing)
    return 1 if wrong or not total["tried"] else 0


if __name__ == "__main__":
    sys.exit(main())
