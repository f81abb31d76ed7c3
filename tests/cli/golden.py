#!/usr/bin/python3
"""Runs golden tests of the command line.

    golden.py --tool PATH [--bless] FILE.t...

A case file is a transcript:

    # a comment (blank lines are free too)
    $ reusescope version          a command for bash
    > | tr a-z A-Z                its next line
    REUSESCOPE *.*.*  (glob)      what it prints, standard error included
    [1]                           its exit status, where that is not 0

Output ends at a blank line, a comment or the next command; a line of output
that is empty or opens like one of those is written with a backslash before it.
A last line without a newline ends in " (no-eol)". In a line that ends in
" (glob)", * stands for any text and ? for any character.

All commands of a file run in one bash, in one fresh folder, with the tool on
PATH as reusescope, SOURCE the repository, LC_ALL=C, COLUMNS=80 and umask 022. --bless
writes what is printed now into the file; globs that still match stay.
"""
import argparse
import difflib
import os
import re
import signal
import subprocess
import sys
import tempfile

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SECONDS = 280
NO_EOL = " (no-eol)"
GLOB = re.compile(r"^(.*?)\s*\(glob\)$")
NEEDS_ESCAPE = re.compile(r"^($|#|\\|\$ |> |\[\d+\]$)")


class Step:
    """Comments, then at most one command with what it should print."""

    def __init__(self):
        self.before = []   # lines kept as they are
        self.command = []  # lines without "$ " and "> "
        self.expected = []  # lines as written, "[N]" last


def read_steps(path):
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    if lines and not lines[-1]:
        lines.pop()
    steps, step, in_output = [], Step(), False
    for line in lines:
        if line.startswith("$ "):
            if step.command:
                steps.append(step)
                step = Step()
            step.command, in_output = [line[2:]], True
        elif line.startswith("> ") and step.command and not step.expected and in_output:
            step.command.append(line[2:])
        elif not line or line.startswith("#"):
            if step.command:
                steps.append(step)
                step = Step()
            step.before.append(line)
            in_output = False
        elif in_output:
            step.expected.append(line)
        else:
            sys.exit(f"{path}: neither a comment nor output of a command: {line}")
    steps.append(step)
    return steps


def environment(tool, folder):
    os.makedirs(os.path.join(folder, "bin"))
    os.symlink(os.path.abspath(tool), os.path.join(folder, "bin", "reusescope"))
    unwanted = {"NO_COLOR", "PAGER", "LESS", "LANG", "LANGUAGE", "CDPATH", "BASH_ENV", "ENV"}
    env = {key: value for key, value in os.environ.items() if key not in unwanted and not key.startswith("LC_")}
    env.update(PATH=os.path.join(folder, "bin") + ":" + os.environ.get("PATH", "/usr/bin:/bin"), LC_ALL="C",
               COLUMNS="80", TERM="dumb", HOME=folder, TMPDIR=folder, SOURCE=SOURCE)
    return env


def run_steps(steps, tool):
    """The lines each command printed, its exit status last; None where bash went away or took too long."""
    salt = f"golden-{os.getpid()}"
    with tempfile.TemporaryDirectory(prefix="reusescope-cli-") as folder:
        env = environment(tool, folder)
        os.makedirs(os.path.join(folder, "work"))
        script, printed = os.path.join(folder, "script"), os.path.join(folder, "printed")
        with open(script, "w", encoding="utf-8") as file:
            for number, step in enumerate(steps):
                if step.command:
                    file.write("\n".join(step.command) + f"\necho {salt} {number} $?\n")
        with open(printed, "wb") as out:
            shell = subprocess.Popen(["bash", "--norc", script], stdin=subprocess.DEVNULL, stdout=out,
                                     stderr=subprocess.STDOUT, env=env, cwd=os.path.join(folder, "work"),
                                     start_new_session=True, umask=0o022)
            try:
                shell.wait(timeout=SECONDS)
            except subprocess.TimeoutExpired:
                os.killpg(shell.pid, signal.SIGKILL)
                shell.wait()
        with open(printed, encoding="utf-8", errors="backslashreplace") as file:
            text = file.read()
        # Folders without write permission would stay behind.
        subprocess.run(["chmod", "-R", "u+rwx", os.path.join(folder, "work")], check=False)
    results, at = [None] * len(steps), 0
    for match in re.finditer(rf"{salt} (\d+) (\d+)\n", text):
        results[int(match[1])] = output_lines(text[at:match.start()], int(match[2]))
        at = match.end()
    return results


def output_lines(text, status):
    lines = text.split("\n")
    if lines[-1]:
        lines[-1] += NO_EOL
    else:
        lines.pop()
    lines = ["\\" + line if NEEDS_ESCAPE.match(line) else line for line in lines]
    return lines + ([f"[{status}]"] if status else [])


def fits(expected, actual):
    glob = GLOB.match(expected)
    if not glob:
        return expected == actual
    pattern = re.escape(glob[1]).replace(r"\*", ".*").replace(r"\?", ".")
    return re.fullmatch(pattern, actual) is not None


def align(expected, actual):
    """Actual lines, each written as the expected line that fits it, along a longest common subsequence."""
    rows, columns = len(expected), len(actual)
    if rows == columns and all(map(fits, expected, actual)):
        return list(expected)
    if rows * columns > 4_000_000:
        return list(actual)
    match = [[fits(e, a) for a in actual] for e in expected]
    best = [[0] * (columns + 1) for _ in range(rows + 1)]
    for r in reversed(range(rows)):
        for c in reversed(range(columns)):
            best[r][c] = best[r + 1][c + 1] + 1 if match[r][c] else max(best[r + 1][c], best[r][c + 1])
    written, r, c = [], 0, 0
    while c < columns:
        if r < rows and match[r][c]:
            written.append(expected[r])
            r, c = r + 1, c + 1
        elif r < rows and best[r + 1][c] >= best[r][c + 1]:
            r += 1
        else:
            written.append(actual[c])
            c += 1
    return written


def text_of(step, output):
    lines = list(step.before)
    for number, line in enumerate(step.command):
        lines.append(("> " if number else "$ ") + line)
    return lines + output


def run_file(path, tool, bless):
    """Whether the file passed (or was blessed)."""
    steps = read_steps(path)
    old, new = [], []
    for step, result in zip(steps, run_steps(steps, tool)):
        old += text_of(step, step.expected)
        if step.command and result is None:
            result = ["(this command never ended)"]
        new += text_of(step, align(step.expected, result or []))
    if old == new:
        return True
    if bless:
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(new) + "\n")
        print(f"{path}: blessed")
        return True
    sys.stdout.writelines(line + "\n" for line in difflib.unified_diff(old, new, path, path + " (now)", lineterm=""))
    return False


def main():
    parser = argparse.ArgumentParser(description="Runs golden tests of the command line.")
    parser.add_argument("--tool", required=True, help="the reusescope to test")
    parser.add_argument("--bless", action="store_true", help="write what is printed now into the files")
    parser.add_argument("files", nargs="+", metavar="FILE.t")
    arguments = parser.parse_args()
    if not os.access(arguments.tool, os.X_OK):
        sys.exit(f"{arguments.tool}: not a program")
    passed = [run_file(path, arguments.tool, arguments.bless) for path in arguments.files]
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
