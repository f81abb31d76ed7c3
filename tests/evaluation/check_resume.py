#!/usr/bin/python3
"""bench/evaluate goes on where it stopped, and measures again what has changed.

    check_resume.py SOURCE_DIR TOOL

A build of a counting script around TOOL runs the part 000.hand. It is stopped in its second run: the first is stored and
not run again. The commit does not matter; another tool or another setting of the part does. Traces are kept by the
command that makes them and the tool.
"""
import json
import os
import subprocess
import sys
import tempfile

SOURCE, TOOL = sys.argv[1:3]
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SOURCE, "bench", "evaluation"))

import runs  # noqa: E402

problems = []


def check(holds, problem):
    if not holds:
        problems.append(problem)


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, 0o755)


def tool_text(folder, note=""):
    """A tool that notes its analyses, and stops bench/evaluate at the one that $STOP numbers."""
    return f"""#!/bin/sh
{note}
if [ "$1" = analyze ]; then
    echo >>'{folder}/calls'
    [ "$(wc -l <'{folder}/calls')" != "$STOP" ] || {{ kill -INT $PPID; exit 1; }}
fi
exec '{TOOL}' "$@"
"""


def evaluate(folder, stop=0):
    """How many analyses it ran, and what it printed."""
    write(os.path.join(folder, "calls"), "")
    command = ["/usr/bin/python3", os.path.join(SOURCE, "bench", "evaluate"), "--size", "tiny", "--parts", "000.hand", "--with", "", "--work", os.path.join(folder, "work"),
               "--build", os.path.join(folder, "build"), "--result", os.path.join(folder, "result.json")]
    done = subprocess.run(command, env={**os.environ, "STOP": str(stop)}, capture_output=True, text=True)
    with open(os.path.join(folder, "calls"), encoding="utf-8") as file:
        return len(file.readlines()), done.stdout + done.stderr


def stored(folder):
    with open(os.path.join(folder, "result.json"), encoding="utf-8") as file:
        return json.load(file)


with tempfile.TemporaryDirectory() as folder:
    tool = os.path.join(folder, "build", "reusescope")
    write(tool, tool_text(folder))
    write(os.path.join(folder, "build", "bench", "bench_engine"), "")
    whole, _ = evaluate(folder)
    each = whole // 3
    check(whole > 0 and each * 3 == whole and len(stored(folder)["experiments"]["000.hand"]["runs"]) == 3, f"three runs have {whole} analyses")

    os.unlink(os.path.join(folder, "result.json"))
    _, said = evaluate(folder, stop=each + 2)
    check("stopped" in said and "Traceback" not in said, f"a stopped evaluation says: {said}")
    check(len(stored(folder)["experiments"]["000.hand"]["runs"]) == 1, "the run that had ended is not stored")
    calls, said = evaluate(folder)
    check(calls == 2 * each and "3 runs, 1 of them stored" in said, f"{calls} analyses instead of {2 * each} after one stored run: {said}")

    result = stored(folder)
    for run in result["experiments"]["000.hand"]["runs"]:
        run["commit"] = "another"
    write(os.path.join(folder, "result.json"), json.dumps(result))
    calls, _ = evaluate(folder)
    check(calls == 0, f"{calls} analyses of the same build at another commit")
    for what in ("code", "inputs", "versions", "machine"):
        result = stored(folder)
        first = result["experiments"]["000.hand"]["runs"][0]
        first[what] = "another" if what == "code" else dict.fromkeys(first[what], "another")
        write(os.path.join(folder, "result.json"), json.dumps(result))
        calls, _ = evaluate(folder)
        check(calls == each, f"{calls} analyses instead of {each} after a change of one run's {what}")
    write(tool, tool_text(folder, "# another build"))
    calls, _ = evaluate(folder)
    check(calls == whole, f"{calls} analyses instead of {whole} with another build")

    def kept(*words):
        return runs.Run(os.path.join(folder, "build"), folder, os.path.join(folder, "work"), {}, 1, {"compiler": "1", "valgrind": "1", "qemu": "1"}).kept("trace", tool, *words)
    first = kept("a")
    check(kept("a") == first, "a trace is not found again")
    check(kept("b") != first and not os.path.exists(first), "a trace of another command is used, or stays")
    second = kept("b")
    write(tool, tool_text(folder, "# a third build"))
    check(kept("b") != second, "a trace of another build is used")

print("\n".join(problems) if problems else "goes on where it stopped")
sys.exit(bool(problems))
