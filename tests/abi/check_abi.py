#!/usr/bin/python3
"""The binary interface of the library against what is written down of it.

    check_abi.py [--bless] [--cc CC] [--nm NM] [--run EMULATOR] SOURCE_DIR LIBRARY

Three descriptions must agree: the functions that the public headers declare, the
symbol map (src/reusescope.map) and what the library exports. Prototypes, the
layout of every public struct (offset, size and type of each field), constants and
the versions of symbols are compared with tests/abi/reusescope.abi, so that none
of them changes unnoticed; --bless rewrites that file. Look at the difference
first: a line that vanishes or changes breaks programs built before, and needs a
higher RSC_ABI (include/reusescope/reusescope.h), unless it is the size of a
struct with struct_bytes that gained fields at its end.

CC compiles a program that prints the layout, NM lists what the library exports;
EMULATOR runs the program where it was compiled for another machine. Layouts are the same on every machine supported.
"""
import argparse
import difflib
import glob
import os
import re
import shlex
import subprocess
import sys
import tempfile

HEADER = ("# The binary interface, as tests/abi/check_abi.py sees it; rewritten by its --bless.\n"
          "# symbol NODE NAME; function PROTOTYPE; struct NAME BYTES, then OFFSET BYTES TYPE FIELD; constant NAME VALUE\n")


def read_headers(source):
    """All public headers as one text without comments, preprocessor lines joined."""
    text = ""
    for path in sorted(glob.glob(os.path.join(source, "include", "reusescope", "*.h"))):
        with open(path, encoding="utf-8") as file:
            text += file.read()
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    return text.replace("\\\n", " ")


def prototypes(headers):
    """{name: prototype} of everything marked RSC_API."""
    found = {}
    for text in re.findall(r"^RSC_API\s+([^;{]+);", headers, re.M):
        text = " ".join(text.split())
        found[re.search(r"(\w+)\(", text).group(1)] = text
    return found


def fields_of(body):
    """(type, name) of each field of a struct's body."""
    for declaration in body.split(";"):
        declaration = " ".join(declaration.split())
        if not declaration:
            continue
        pointer = re.fullmatch(r"(.*)\(\*(\w+)\)(\(.*\))", declaration)
        if pointer:
            yield f"{pointer.group(1).strip()} (*){pointer.group(3)}", pointer.group(2)
            continue
        first, *others = declaration.split(",")
        base, stars, name, array = re.fullmatch(r"(.*?)\s*(\**)(\w+)(\[\w+\])?", first).groups()
        for stars, name, array in [(stars, name, array)] + [
                re.fullmatch(r"\s*(\**)(\w+)(\[\w+\])?", other).groups() for other in others]:
            yield f"{base}{' ' + stars if stars else ''}{array or ''}", name


def structs(headers):
    return {name: list(fields_of(body))
            for name, body in re.findall(r"^struct (rsc_\w+) \{(.*?)^\};", headers, re.M | re.S)}


def constants(headers):
    names = []
    for body in re.findall(r"^enum \w+ \{(.*?)\}", headers, re.M | re.S):
        names += re.findall(r"\b(RSC_\w+)\b", body)
    for name, value in re.findall(r"^#define (RSC_\w+) (.+)", headers, re.M):
        if "{" not in value and "__" not in value and not name.startswith("RSC_VERSION"):
            names.append(name)
    return names


def layout_lines(headers, source, compiler, emulator):
    """Lines of structs and constants, as a compiled program says."""
    code = ["#include <stdio.h>", "#include <reusescope/reusescope.h>", "int main(void) {"]
    for name, fields in structs(headers).items():
        code.append(f'printf("struct {name} %zu\\n", sizeof(struct {name}));')
        for kind, field in fields:
            member = f"((struct {name} *)0)->{field}"
            code.append(f'printf("  %zu %zu {kind} {field}\\n", offsetof(struct {name}, {field}), sizeof({member}));')
    for name in constants(headers):
        code.append(f'printf("constant {name} %lld\\n", (long long)({name}));')
    code.append("return 0; }")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "layout.c")
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(code))
        subprocess.run([*shlex.split(compiler), "-I", os.path.join(source, "include"), path, "-o", path + ".out"], check=True)
        run = subprocess.run([*shlex.split(emulator), path + ".out"], check=True, capture_output=True, text=True)
    return run.stdout.splitlines()


def map_symbols(source):
    """{name: node} of the symbol map."""
    with open(os.path.join(source, "src", "reusescope.map"), encoding="utf-8") as file:
        text = re.sub(r"/\*.*?\*/", " ", file.read(), flags=re.S)
    found = {}
    for node, body in re.findall(r"(\w[\w.]*) \{(.*?)\}", text, re.S):
        for name in re.findall(r"(\w+);", body):
            found[name] = node
    return found


def library_symbols(nm, library):
    """{name: node} of what is exported; the nodes themselves left out."""
    listing = subprocess.run([nm, "-D", "--defined-only", "--with-symbol-versions", library], check=True,
                             capture_output=True, text=True).stdout
    found = {}
    for line in listing.splitlines():
        _, kind, name = line.split()
        if kind != "A":
            found[name.split("@")[0]] = name.split("@")[-1] if "@" in name else "(no version)"
    return found


def set_problems(declared, mapped, exported):
    for name in sorted(set(declared) - set(mapped)):
        yield f"{name}: declared in a public header, not in src/reusescope.map"
    for name in sorted(set(mapped) - set(declared)):
        yield f"{name}: in src/reusescope.map, in no public header"
    for name in sorted(set(mapped) - set(exported)):
        yield f"{name}: in src/reusescope.map, not exported by the library"
    for name in sorted(set(exported) - set(mapped)):
        yield f"{name}: exported by the library, not in src/reusescope.map"
    for name in sorted(set(exported) & set(mapped)):
        if exported[name] != mapped[name]:
            yield f"{name}: exported as {exported[name]}, in src/reusescope.map {mapped[name]}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bless", action="store_true")
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--nm", default="nm")
    parser.add_argument("--run", default="")
    parser.add_argument("source")
    parser.add_argument("library")
    options = parser.parse_args()
    headers = read_headers(options.source)
    declared, mapped, exported = prototypes(headers), map_symbols(options.source), library_symbols(options.nm, options.library)
    problems = list(set_problems(declared, mapped, exported))
    lines = [f"symbol {mapped[name]} {name}" for name in sorted(mapped)]
    lines += [f"function {declared[name]}" for name in sorted(declared)]
    lines += layout_lines(headers, options.source, options.cc, options.run)
    text = HEADER + "\n".join(lines) + "\n"
    path = os.path.join(options.source, "tests", "abi", "reusescope.abi")
    if options.bless:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    with open(path, encoding="utf-8") as file:
        written = file.read()
    difference = list(difflib.unified_diff(written.splitlines(), text.splitlines(), "tests/abi/reusescope.abi", "now", lineterm="", n=1))
    for line in problems + difference:
        print(line)
    if difference:
        print("the binary interface changed: tests/abi/check_abi.py says what that asks for")
    print(f"{len(exported)} functions, {sum(line.startswith('struct') for line in lines)} structs")
    return 1 if problems or difference else 0


if __name__ == "__main__":
    sys.exit(main())
