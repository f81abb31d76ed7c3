#!/usr/bin/python3
"""Runs the commands of the documents, in the order in which they are written.

    docs_commands.py SOURCE_DIR TOOL SCRATCH_FOLDER

SCRATCH_FOLDER has what the commands are about (tests/live/docs_inputs makes it).
Commands are the lines of ```sh blocks, lines that open with "$ " in other blocks
of README.md, CONTRIBUTING.md and docs/*/*.md, and those of the EXAMPLES of docs/man/*.1.
What follows a "$ " line up to the next one is what it prints: the words of each such
line must come, with any numbers; lines of dots stand for anything, and pictures are
not compared. A slow command that stands in several places is run once.

Before a block, what is to be known about it is said in a comment (<!-- --> or .\\"):

    not run: REASON                    none of it
    not run "BEGINNING": REASON        the commands that begin so
    run with "THIS" for "THAT": REASON
    exits 3 "BEGINNING"                a command that is to fail
    alternatives                       each line starts in a fresh copy of the folder `project`

One line a problem, exit status 1 if there are any.
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import time

MARK = re.compile(r'not run(?: "(?P<skip>[^"]+)")?: (?P<why>.+)|run with "(?P<new>[^"]+)" for "(?P<old>[^"]+)": (?P<reason>.+)'
                  r'|exits (?P<status>\d+) "(?P<fails>[^"]+)"|(?P<alternatives>alternatives)')


SLOW_SECONDS = 2


class Block:
    """Commands with what they print, and the marks before them."""

    def __init__(self, where, marks):
        self.where, self.marks, self.commands = where, marks, []

    def add(self, line, command):
        self.commands.append([line, command, None])


def marks_of(lines):
    found = []
    for line in lines:
        match = MARK.fullmatch(line.strip())
        if match:
            found.append({**match.groupdict(), "text": line.strip(), "used": False})
        elif re.match(r"not run|run with|exits", line.strip()):
            raise SystemExit(f"a mark that says nothing: {line}")
    return found


def take_line(block, number, line, prompted, pending):
    """Adds a line; returns what of a command goes on in the next one."""
    text = line[2:] if prompted else line
    if pending:
        number, text = pending[0], pending[1] + "\n" + text
    if text.endswith("\\") or text.rstrip().endswith("|"):
        return number, text
    if text.strip() and not text.strip().startswith("#"):
        block.add(number, text)
    return None


def markdown_blocks(name, text):
    comments, block, language, pending = [], None, None, None
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            if block is None:
                language, block = line[3:].strip(), Block(name, marks_of(comments))
            else:
                yield block
                block, comments = None, []
            continue
        if block is None:
            comment = re.fullmatch(r"<!-- (.*) -->", line)
            if comment:
                comments.append(comment.group(1))
            elif line.strip():
                comments = []
        elif pending or line.startswith("$ ") or language == "sh":
            pending = take_line(block, number, line, line.startswith("$ "), pending)
            if not pending and language != "sh" and block.commands:
                block.commands[-1][2] = []
        elif block.commands and block.commands[-1][2] is not None:
            block.commands[-1][2].append(line)


def manual_blocks(name, text):
    comments, block, pending = [], None, None
    section = text.split("\n.Sh EXAMPLES\n")
    if len(section) < 2:
        return
    first = section[0].count("\n") + 3
    for number, line in enumerate(section[1].split("\n.Sh ")[0].splitlines(), first):
        line = line.replace("\\e", "\\").replace("\\-", "-").replace("\\&", "")
        if line.startswith(".\\\"") or line.startswith('."'):
            comments.append(line.split('"', 1)[1])
        elif line.startswith(".Bd"):
            block = Block(name, marks_of(comments))
        elif line.startswith(".Ed"):
            yield block
            block, comments = None, []
        elif line.startswith(".Dl $ "):
            one = Block(name, marks_of(comments))
            one.add(number, line[6:])
            comments = []
            yield one
        elif block is not None and (pending or line.startswith("$ ")):
            pending = take_line(block, number, line, line.startswith("$ "), pending)


def documents(source):
    for path in [os.path.join(source, "README.md"), os.path.join(source, "CONTRIBUTING.md"),
                 *sorted(glob.glob(os.path.join(source, "docs", "**", "*.md"), recursive=True)), *sorted(glob.glob(os.path.join(source, "docs", "man", "*.1")))]:
        name = os.path.relpath(path, source)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        yield name, list((markdown_blocks if name.endswith(".md") else manual_blocks)(name, text))


PICTURE = re.compile("[\u2500-\u257f\u2580-\u259f\u2800-\u28ff┊⠂]")
LEVEL = re.compile(r"\bL[1-4]d?\b|\d+(\.\d+)?[KM]\b")


def stable(line):
    """A line without its numbers and pictures; None where nothing stays to be compared."""
    if PICTURE.search(line) or re.fullmatch(r"\s*(\.\.\.|…)?\s*", line):
        return None
    line = re.sub(r"…?\S*/([\w.+-]+:\d)", r"\1", line)  # where a source file lies is no matter
    cut = re.split(r"…|\.\.\.", line)[0]
    words = re.sub(r"[<>]?[\d][\d,.]*( [kMG]\b)?( ?[KMG]i?B\b| B\b|[KMG]\b)?m?", "#", cut)
    return re.sub(r"\s+", " ", words).strip() or None


def missing_lines(expected, output, machine_has_levels):
    """Lines of the transcript that did not come. Where the output's own lines end is no matter: words wrap by the length of numbers."""
    got = " ".join(line for line in map(stable, output.splitlines()) if line)
    for line in expected:
        wanted = stable(line)
        if wanted and (machine_has_levels or not LEVEL.search(line)) and wanted not in got:
            yield line


class Runner:
    def __init__(self, source, tool, folder):
        self.folder, self.done, self.problems, self.left_out = folder, {}, [], []
        self.run_count = self.again = 0
        self.slowest = []
        self.pristine = os.path.join(folder, ".inputs")
        shutil.copytree(folder, self.pristine, symlinks=True)
        tools = os.path.join(folder, ".tools")
        os.makedirs(tools, exist_ok=True)
        if not os.path.exists(os.path.join(tools, "reusescope")):
            os.symlink(tool, os.path.join(tools, "reusescope"))
        self.environment = dict(os.environ, PATH=tools + ":" + os.environ["PATH"], PAGER="cat", COLUMNS="80", LC_ALL="C.UTF-8",
                                HOME=folder, TMPDIR=folder, OMP_NUM_THREADS="2", OMP_WAIT_POLICY="passive")
        levels = glob.glob("/sys/devices/system/cpu/cpu0/cache/index*/level")
        self.levels = {open(path, encoding="ascii").read().strip() for path in levels} >= {"1", "2", "3"}
        self.source = source

    def restore(self):
        """Every document starts from the inputs as they were made; what others made besides stays."""
        for name in os.listdir(self.pristine):
            path = os.path.join(self.pristine, name)
            if os.path.isfile(path) and not os.path.islink(path):
                shutil.copy2(path, os.path.join(self.folder, name))

    def execute(self, command, folder):
        began = time.monotonic()
        ran = subprocess.run(["bash", "-c", "set -o pipefail\n" + command], cwd=folder, env=self.environment, text=True, errors="replace",
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300, check=False)
        self.slowest.append((time.monotonic() - began, command))
        if os.environ.get("RSC_DOCS_ONLY"):  # somebody is looking
            print(f"{self.slowest[-1][0]:6.1f} s  {command.splitlines()[0][:100]}", flush=True)
        return ran.returncode, ran.stdout

    def result(self, command, fresh):
        if fresh:
            copy = os.path.join(self.folder, "fresh")
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(os.path.join(self.folder, "project"), copy)
            self.run_count += 1
            return self.execute(command, copy)
        if command not in self.done:
            self.run_count += 1
            found = self.execute(command, self.folder)
            if self.slowest[-1][0] < SLOW_SECONDS:  # the next document starts from other files
                return found
            self.done[command] = found
        else:
            self.again += 1
        return self.done[command]

    def run(self, block):
        alternatives = False
        for mark in block.marks:
            alternatives |= bool(mark["alternatives"])
            mark["used"] |= bool(mark["alternatives"]) or (bool(mark["why"]) and not mark["skip"] and bool(block.commands))
        for number, command, expected in block.commands:
            where, wanted, skip = f"{block.where}:{number}", 0, None
            for mark in block.marks:
                if mark["why"] and (not mark["skip"] or command.startswith(mark["skip"])):
                    skip, mark["used"] = mark["why"], True
                if mark["old"] and mark["old"] in command:
                    command, mark["used"] = command.replace(mark["old"], mark["new"]), True
                if mark["fails"] and command.startswith(mark["fails"]):
                    wanted, mark["used"] = int(mark["status"]), True
            if skip:
                self.left_out.append((where, command, skip))
                continue
            try:
                status, output = self.result(command, alternatives)
            except subprocess.TimeoutExpired:
                self.problems.append(f"{where}: does not end: {command}")
                continue
            if status != wanted:
                self.problems.append(f"{where}: exit status {status}: {command}\n" + "".join(f"    {line}\n" for line in output.splitlines()[-8:]))
            for line in missing_lines(expected or [], output, self.levels):
                self.problems.append(f"{where}: {command}: not printed (any more): {line}")
        for mark in block.marks:
            if not mark["used"]:
                self.problems.append(f"{block.where}: nothing there is meant by: {mark['text']}")


def main(source, tool, folder):
    runner = Runner(source, tool, folder)
    only = os.environ.get("RSC_DOCS_ONLY")
    for name, blocks in documents(source):
        if only and only not in name:
            continue
        runner.restore()
        for block in blocks:
            runner.run(block)
    for problem in runner.problems:
        print(problem)
    print(f"{runner.run_count} commands run, {runner.again} more not again, {len(runner.left_out)} not run:")
    for where, command, why in runner.left_out:
        print(f"  {where}: {command.splitlines()[0][:70]} ({why})")
    for seconds, command in sorted(runner.slowest, reverse=True)[:5]:
        print(f"  {seconds:.1f} s: {command.splitlines()[0][:90]}")
    return 1 if runner.problems else 0


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    sys.exit(main(*map(os.path.abspath, sys.argv[1:])))
