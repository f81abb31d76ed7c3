#!/usr/bin/python3
"""The documents against the tool and the tree.

    docs.py SOURCE_DIR TOOL

One line a problem, exit status 1 if there are any:
  - a verb without a manual page, or a page without its verb
  - an option in a verb's help that its page does not list, or the other way round
  - what mandoc -Tlint -Wwarning has to say
  - command lines of reusescope in the Markdown files (```sh blocks, and lines of
    other blocks that open with "$ ") with verbs or options that do not exist
  - links between Markdown files that lead nowhere
  - pages of docs/ that the README.md of their folder does not list
  - pages of docs/ that a source file names and that are not there
  - pictures over 100 KB, or that no document shows
  - files that CONTRIBUTING.md names and that are not there
"""
import glob
import os
import re
import shlex
import shutil
import subprocess
import sys

LETTER_OR_NAME = re.compile(r"^  (?:-(\w), | {4})--([\w-]+)( \S+)?", re.M)


def help_text(tool, *arguments):
    return subprocess.run([tool, "help", *arguments], capture_output=True, text=True, check=True).stdout


def verbs_of(tool):
    listed = help_text(tool).split("verbs:\n")[1].split("\n\n")[0]
    return [line.split()[0] for line in listed.splitlines()]


def help_options(tool, verb):
    """{"--name" or "-x": whether it takes a value}"""
    options = {}
    for letter, name, value in LETTER_OR_NAME.findall(help_text(tool, verb)):
        options["--" + name] = bool(value)
        if letter:
            options["-" + letter] = bool(value)
    return options


def page_options(path):
    """Options that the page's OPTIONS section lists."""
    with open(path, encoding="utf-8") as file:
        section = file.read().split("\n.Sh OPTIONS\n")[1].split("\n.Sh ")[0]
    options = set()
    for item in re.findall(r"^\.It (Fl .*)", section, re.M):
        for flag in re.findall(r"\bFl (\S+)", item):
            options.add("-" + flag)
    return options


def page_problems(source, tool, options_by_verb):
    folder = os.path.join(source, "docs", "man")
    for verb, options in options_by_verb.items():
        path = os.path.join(folder, f"reusescope-{verb}.1")
        if not os.path.exists(path):
            yield f"docs/man: no page for the verb {verb}"
            continue
        listed = page_options(path)
        for option in sorted(set(options) - listed):
            yield f"{os.path.relpath(path, source)}: {option} of the help is missing"
        for option in sorted(listed - set(options)):
            yield f"{os.path.relpath(path, source)}: {option} is not in the help"
    with open(os.path.join(folder, "reusescope.1"), encoding="utf-8") as file:
        overview = file.read()
    for verb in options_by_verb:
        if f".Xr reusescope-{verb} 1" not in overview:
            yield f"docs/man/reusescope.1: the verb {verb} is missing"
    for path in sorted(glob.glob(os.path.join(folder, "reusescope-*.1"))):
        verb = os.path.basename(path)[len("reusescope-"):-2]
        if verb not in options_by_verb:
            yield f"{os.path.relpath(path, source)}: there is no verb {verb}"


def lint_problems(source):
    if not shutil.which("mandoc"):
        yield "mandoc: not found (scripts/bootstrap test installs it)"
        return
    pages = sorted(glob.glob(os.path.join(source, "docs", "man", "*.[15]")))
    lint = subprocess.run(["mandoc", "-Tlint", "-Wwarning", *pages], capture_output=True, text=True, check=False)
    for line in (lint.stdout + lint.stderr).splitlines():
        if "mandoc.db" not in line:
            yield line.replace(source + os.sep, "")


def markdown_files(source):
    found = glob.glob(os.path.join(source, "*.md")) + glob.glob(os.path.join(source, "docs", "**", "*.md"), recursive=True)
    return sorted(found)


def shell_lines(text):
    """(line number, command line) of ```sh blocks, and of other blocks behind "$ "; continued lines are joined."""
    language, pending, start = None, "", 0
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            language = line[3:].strip() if language is None else None
            continue
        prompted = line.startswith("$ ")
        if language is None or not (prompted or pending or language == "sh"):
            continue
        start = start if pending else number
        pending += line[2:] if prompted else line
        if pending.endswith("\\") or pending.rstrip().endswith("|"):
            pending = pending.rstrip("\\") + " "
            continue
        yield start, pending
        pending = ""


def commands_of(line):
    """Each command of a line, cut at pipes and semicolons, that runs reusescope: its words after the name."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|;&()<>")
    lexer.whitespace_split = True
    lexer.commenters = "#"
    words = []
    for word in [*lexer, ";"]:
        if not set(word) <= set("|;&()<>"):
            words.append(word)
            continue
        if words and os.path.basename(words[0]) == "reusescope":
            yield words[1:]
        if not set(word) <= set("<>&"):
            words = []
        elif words:
            words.append("--redirected")


def command_problems(where, words, options_by_verb):
    aliases = {"--help": "help", "-h": "help", "--version": "version", "-V": "version"}
    if not words:
        return
    verb = aliases.get(words[0], words[0])
    if verb not in options_by_verb:
        yield f"{where}: no verb {verb}"
        return
    options, expects_value = options_by_verb[verb], False
    for word in words[1:]:
        if expects_value or word == "--redirected":
            expects_value = False
        elif word == "--" or (verb == "cc" and not word.startswith("-")):  # a compiler, with options of its own
            break
        elif word.startswith("--"):
            name, equals, _ = word.partition("=")
            if name not in options:
                yield f"{where}: {verb} has no option {name}"
            expects_value = not equals and options.get(name, False)
        elif word.startswith("-") and len(word) > 1:
            for at, letter in enumerate(word[1:], 2):
                if "-" + letter not in options:
                    yield f"{where}: {verb} has no option -{letter}"
                    break
                if options["-" + letter]:
                    expects_value = at == len(word)
                    break


def shell_problems(source, options_by_verb):
    for path in markdown_files(source):
        name = os.path.relpath(path, source)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for number, line in shell_lines(text):
            if "reusescope" not in line:
                continue
            try:
                commands = list(commands_of(line))
            except ValueError as error:
                yield f"{name}:{number}: {error}: {line}"
                continue
            for words in commands:
                yield from command_problems(f"{name}:{number}", words, options_by_verb)


def anchors_of(path):
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"^```.*?^```", "", file.read(), flags=re.M | re.S)
    titles = re.findall(r"^#+ (.*)", text, re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def link_problems(source):
    for path in markdown_files(source):
        name = os.path.relpath(path, source)
        with open(path, encoding="utf-8") as file:
            text = re.sub(r"^```.*?^```", "", file.read(), flags=re.M | re.S)
        for link in re.findall(r"\]\(([^)\s]+)\)", text):
            if re.match(r"[a-z]+:", link):
                continue
            target, _, anchor = link.partition("#")
            file_path = os.path.normpath(os.path.join(os.path.dirname(path), target)) if target else path
            if not os.path.exists(file_path):
                yield f"{name}: the link {link} leads nowhere"
            elif anchor and file_path.endswith(".md") and anchor not in anchors_of(file_path):
                yield f"{name}: {link}: no such heading"


def index_problems(source):
    for path in glob.glob(os.path.join(source, "docs", "*", "*.md")):
        folder, page = os.path.split(path)
        index = os.path.join(folder, "README.md")
        if not os.path.exists(index):
            yield f"{os.path.relpath(folder, source)}: no README.md"
            continue
        with open(index, encoding="utf-8") as file:
            if page != "README.md" and f"]({page})" not in file.read():
                yield f"{os.path.relpath(path, source)}: {os.path.relpath(index, source)} does not list it"


def named_page_problems(source):
    for room in ("bench", "cmake", "examples", "gpu", "include", "python", "scripts", "src", "tests"):
        for folder, _, names in os.walk(os.path.join(source, room)):
            for name in names:
                path = os.path.join(folder, name)
                with open(path, encoding="utf-8", errors="replace") as file:
                    pages = set(re.findall(r"\bdocs/[\w/-]+\.md\b", file.read()))
                for page in sorted(pages):
                    if not os.path.exists(os.path.join(source, page)):
                        yield f"{os.path.relpath(path, source)}: {page} is not there"


def picture_problems(source):
    """Pictures are kept small, and every one of them is shown somewhere."""
    shown = ""
    for path in markdown_files(source):
        with open(path, encoding="utf-8") as file:
            shown += file.read()
    for path in sorted(glob.glob(os.path.join(source, "docs", "images", "*"))):
        name = os.path.relpath(path, source)
        if os.path.getsize(path) > 100 * 1000:
            yield f"{name}: over 100 KB (scripts/screenshots makes smaller ones)"
        if f"images/{os.path.basename(path)})" not in shown:
            yield f"{name}: no document shows it"


def named_file_problems(source):
    """Words in backquotes of CONTRIBUTING.md that look like paths must be there; * and <name> stand for anything."""
    with open(os.path.join(source, "CONTRIBUTING.md"), encoding="utf-8") as file:
        text = re.sub(r"^```.*?^```", "", file.read(), flags=re.M | re.S)
    for word in sorted(set(re.findall(r"`([^`\s]+)`", text))):
        if not re.fullmatch(r"[\w.*<>/-]+", word) or word.startswith(("-", ".", "build/", "<")):
            continue
        if "/" not in word and not re.search(r"\.(md|txt|json|c|h|py|t)$", word):
            continue
        if not glob.glob(os.path.join(source, re.sub(r"<\w+>", "*", word))):
            yield f"CONTRIBUTING.md: {word} is not there"


def main(source, tool):
    source = os.path.abspath(source)
    options_by_verb = {verb: help_options(tool, verb) for verb in verbs_of(tool)}
    found = [*page_problems(source, tool, options_by_verb), *lint_problems(source),
             *shell_problems(source, options_by_verb), *link_problems(source), *index_problems(source), *named_page_problems(source), *picture_problems(source), *named_file_problems(source)]
    for problem in found:
        print(problem)
    return 1 if found else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], sys.argv[2]))
