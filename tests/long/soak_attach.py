#!/usr/bin/env python3
"""soak_attach.py TOOL SERVER TIMES: attaches to a rebuilt serving.c and leaves it, TIMES times, while it answers.

Fails unless every answer is right, the worst line is always the sweep, the server ends as it does unwatched, and neither
its memory nor the number of files it has open grows after the first tenth.
"""
import json
import os
import subprocess
import sys

from soak_run import resident_kib


def answer_to(line):
    total = 0
    for byte in line.encode():
        total = (31 * total + byte) & 0xFFFFFFFF
    return total


def main():
    tool, program, times = sys.argv[1], sys.argv[2], int(sys.argv[3])
    server = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
    kib, files = [], []
    for time in range(times):
        watcher = subprocess.Popen([tool, "attach", str(server.pid), "--for", "100ms", "-q", "-o", "attached.json"])
        line = f"request {time}\n"
        server.stdin.write(line)
        if server.stdout.readline() != f"{time + 1}: {answer_to(line)}\n":
            sys.exit(f"soak: a wrong answer, the {time + 1}th time")
        if watcher.wait():
            sys.exit(f"soak: attach, the {time + 1}th time")
        with open("attached.json", encoding="utf-8") as file:
            profile = json.load(file)
        rows = profile.get("profiles", [profile])[0]["code"]
        if max(rows, key=lambda row: row["references"])["function"] != "sweep":
            sys.exit(f"soak: another worst line, the {time + 1}th time")
        kib.append(resident_kib(server.pid))
        files.append(len(os.listdir(f"/proc/{server.pid}/fd")))
    rest = server.communicate()[0]
    if rest != f"{times} answers\n" or server.returncode != 7:
        sys.exit(f"soak: the server ended with {server.returncode}")
    early = max(1, times // 10)
    print(f"soak: attach: {times} times; the server's memory {max(kib[:early])} KiB at first, {kib[-1]} at last, "
          f"{files[-1]} files open")
    if max(kib[early:] or [0]) > max(kib[:early]) * 1.1 + 1024 or max(files[early:] or [0]) > max(files[:early]):
        sys.exit("soak: it grows")


main()
