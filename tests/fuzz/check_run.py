#!/usr/bin/env python3
"""tests/fuzz/run keeps what finished targets learnt when it is killed, and what running ones did when it is ended.

    check_run.py SOURCE

Works in a small source tree of its own with two libFuzzer targets: one ends by itself, one runs until it is ended."""
import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile

TARGET = """
#include <stddef.h>
#include <stdint.h>
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return size > 3 && data[0] == 'a' && data[1] == 'b' && data[2] == 'c' ? 0 : 0;
}
"""


def learnt(out):
    """The ledger by target, and the inputs that were kept."""
    with tarfile.open(os.path.join(out, "learnt.tar.xz")) as archive:
        lines = archive.extractfile("ledger.jsonl").read().decode().splitlines()
        return {line["target"]: line for line in map(json.loads, lines)}, [m.name for m in archive if m.name != "ledger.jsonl"]


def started(tree, out, *options):
    """A run of both targets. When this returns the second has kept an input, and is perhaps replacing another."""
    os.makedirs(os.path.join(tree, "work"), exist_ok=True)
    run = subprocess.Popen([sys.executable, os.path.join(tree, "tests/fuzz/run"), "--built", "--to", out, *options, "600"],
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
                           env=dict(os.environ, TMPDIR=os.path.join(tree, "work")))
    while run.poll() is None and len(glob.glob(os.path.join(tree, "work/*/second/*"))) < 2:
        os.sched_yield()
    if run.returncode is not None:
        sys.exit("ended by itself: " + run.stdout.read())
    return run


def ended(run, number, whole_group):
    (os.killpg if whole_group else os.kill)(run.pid, number)
    said = run.communicate()[0]
    return run.returncode, said


def check(good, what):
    if not good:
        sys.exit(f"does not hold: {what}")


def main():
    source = sys.argv[1]
    if not shutil.which("clang"):
        print("no clang")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as tree:
        for folder in ("tests/fuzz/corpus/first", "tests/fuzz/corpus/second", "build/fuzz/tests"):
            os.makedirs(os.path.join(tree, folder))
        shutil.copy(os.path.join(source, "tests/fuzz/run"), os.path.join(tree, "tests/fuzz/run"))
        with open(os.path.join(tree, "target.c"), "w", encoding="utf-8") as file:
            file.write(TARGET)
        second = os.path.join(tree, "build/fuzz/tests/fuzz_second")
        built = subprocess.run(["clang", "-fsanitize=fuzzer", os.path.join(tree, "target.c"), "-o", second],
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if built.returncode:
            print("no libFuzzer: " + built.stdout)
            sys.exit(77)
        first = os.path.join(tree, "build/fuzz/tests/fuzz_first")
        with open(first, "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\nexec "{second}" "$@" -runs=5000 -seed=1\n')
        os.chmod(first, 0o755)

        for options in ([], ["--together"]):
            out = os.path.join(tree, "killed" + "".join(options))
            status, said = ended(started(tree, out, *options), signal.SIGKILL, True)
            ledger, inputs = learnt(out)
            check(status == -signal.SIGKILL, status)
            check(list(ledger) == ["first"] and ledger["first"]["executions"] >= 5000, f"{ledger} after kill -9: {said}")
            check(any(name.startswith("first/") for name in inputs), f"{inputs} after kill -9")
            shutil.rmtree(os.path.join(tree, "work"))

        for options in ([], ["--together"], ["--together", "--jobs", "2"]):
            for number in (signal.SIGTERM, signal.SIGINT):
                for whole_group in (False, True):
                    out = os.path.join(tree, "ended")
                    status, said = ended(started(tree, out, *options), number, whole_group)
                    ledger, inputs = learnt(out)
                    check(status == 128 + number, f"{status} after {number!r}: {said}")
                    check("second" in ledger and ledger["second"]["executions"] > 0 and "failed" not in ledger["second"],
                          f"{ledger} after {number!r}: {said}")
                    check("fuzz_second" in said and "FAILED" not in said, said)
                    check(any(name.startswith("second/") for name in inputs), f"{inputs} after {number!r}: {said}")
                    shutil.rmtree(out)


main()
