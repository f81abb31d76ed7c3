#!/usr/bin/env python3
"""soak_run.py TOOL PROGRAM SECONDS THREADS COLLECTOR OPTION...: watches soak_program.c for SECONDS.

Fails unless every access of work() was counted, every thread has its row, and the tool's memory stayed flat: in the last
quarter of the program's time at most a tenth and 4 MiB above the most it was in the second and third quarters.
"""
import json
import select
import subprocess
import sys
import time


def resident_kib(pid):
    try:
        with open(f"/proc/{pid}/status", encoding="ascii") as file:
            return next((int(line.split()[1]) for line in file if line.startswith("VmRSS:")), 0)
    except OSError:
        return 0


def watch(tool, program, seconds, threads, options):
    began, samples = time.monotonic(), []
    run = subprocess.Popen([tool, "run", "-q", *options, "-o", "soak.json", "--", program, str(seconds), str(threads)],
                           stdout=subprocess.PIPE)
    while not select.select([run.stdout], [], [], min(1, max(0.05, seconds / 200)))[0]:
        samples.append((time.monotonic() - began, resident_kib(run.pid)))
    calls = int(run.communicate()[0] or 0)  # the program has ended; then the result is made, which takes memory of its own
    if run.returncode:
        sys.exit(f"soak: status {run.returncode}")
    with open("soak.json", encoding="utf-8") as file:
        profile = json.load(file)
    profile = profile.get("profiles", [profile])[0]
    seen = sum(row["references"] for row in profile["code"] if row["function"] == "work")
    return calls, seen, profile["made"]["threads"], samples


def main():
    tool, program, seconds, threads, collector, *options = sys.argv[1:]
    seconds, threads = float(seconds), int(threads)
    options = ["--with", collector, *options]
    calls, each, _, _ = watch(tool, program, 0, 1, options)
    if calls != 1:
        sys.exit("soak: the short run")
    calls, seen, rows, samples = watch(tool, program, seconds, threads, options)
    longest = samples[-1][0]
    quarters = [max([kib for at, kib in samples if q * longest / 4 <= at <= (q + 1) * longest / 4] or [0]) for q in range(4)]
    before = max(quarters[1:3])
    print(f"soak: {collector}: {longest:.0f} s, {calls} calls of {each} references, {seen} seen; {rows} threads; "
          f"memory by quarter {quarters[0]} {quarters[1]} {quarters[2]} {quarters[3]} KiB")
    if seen != calls * each:
        sys.exit(f"soak: {seen} references seen, {calls * each} made")
    if rows != threads + 1 + (4 if seconds > 0 else 0):
        sys.exit(f"soak: {rows} threads")
    if quarters[3] > before * 1.1 + 4096:
        sys.exit("soak: memory grows")


if __name__ == "__main__":
    main()
