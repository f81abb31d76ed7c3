"""The arrows between rooms: reads every #include under src/ and include/ and
fails on one that goes against the table. Also: files lie in a room or in one of
its alcoves, a room of many files has alcoves, file names are unique tree-wide and
none is a junk drawer."""
import os
import re
import sys

# Each room: what it may include beside itself, and its alcoves.
ALLOWED = {
    "base": "",
    "estimate": "base",
    "runtime": "base",
    "trace": "base",
    "profile": "base estimate",
    "distance": "base estimate trace profile",
    "multicore": "base estimate runtime trace profile distance",
    "featherlight": "base estimate runtime trace profile",
    "engine": "base estimate trace profile distance multicore featherlight",
    "simulate": "base estimate trace profile",
    "loops": "base estimate profile distance",
    "collect": "base runtime trace profile engine",
    "report": "base profile",
    "cmd": "base estimate runtime trace profile distance multicore featherlight engine simulate loops collect report",
}
ALCOVES = {
    "runtime": "ring pieces recorder sampler watch trap",
    "trace": "native formats generate",
    "distance": "count exact parallel gpu ranks shards time hprda requests",
    "simulate": "cache objects sampling",
    "loops": "front tree nest search model",
    "collect": "launch drain qemu valgrind rewrite perf symbols",
    "report": "draw text source compare advise export page results",
}
# Inside a watched program there is no tool: what runs there includes only this. (qemu/ asks launch/target.h what a program is.)
INSIDE = {
    "runtime": re.compile(r"(runtime|base)/"),
    "collect/qemu": re.compile(r"(runtime|base)/|collect/(qemu|launch/target\.h)"),
    "collect/valgrind": re.compile(r"(runtime|base)/|collect/(valgrind|qemu/guest_)"),
}
JUNK = re.compile(r"(^|_)(util|utils|misc|common|helper|helpers|v2|new)(_|\.|$)")


def sources(root):
    for folder, _, names in os.walk(root):
        for name in sorted(names):
            if name.endswith((".c", ".h", ".cu")):
                yield os.path.join(folder, name)


def includes(path):
    with open(path, encoding="utf-8") as text:
        for number, line in enumerate(text, 1):
            match = re.match(r'\s*#\s*include\s*"([^"]+)"', line)
            if match:
                yield number, match.group(1)


def problems_of(path, place):
    room = place.split("/")[0]
    for number, name in includes(path):
        target = name.split("/")[0]
        if "/" not in name or target not in ALLOWED:
            yield f'{path}:{number}: "{name}" is not named by its room ("room/file.h")'
        elif target != room and target not in ALLOWED[room].split():
            yield f"{path}:{number}: {room} may not include {target}"
        elif any(place.startswith(inside) and not may.match(name) for inside, may in INSIDE.items()):
            yield f"{path}:{number}: runs inside a watched program, where {name} is not"


def misplaced(path, place):
    room, _, alcove = place.partition("/")
    if room not in ALLOWED:
        return f"{path}: '{room}' is not a room of the table"
    if alcove and alcove not in ALCOVES.get(room, "").split():
        return f"{path}: '{alcove}' is not an alcove of {room}"
    return None


def main(root):
    found, seen = [], {}
    source = os.path.join(root, "src")
    for path in sources(source):
        place = os.path.relpath(os.path.dirname(path), source)
        wrong = misplaced(path, place)
        if wrong:
            found.append(wrong)
            continue
        found.extend(problems_of(path, place))
        name = os.path.basename(path)
        if JUNK.search(name):
            found.append(f"{path}: a name that says nothing")
        if name in seen:
            found.append(f"{path}: the same name as {seen[name]}")
        seen[name] = path
    for room, alcoves in ALCOVES.items():
        found.extend(f"{room}/{alcove}: an alcove of the table without a file" for alcove in alcoves.split()
                     if not os.path.isdir(os.path.join(source, room, alcove)))
    for path in sources(os.path.join(root, "include")):
        with open(path, encoding="utf-8") as text:
            if re.search(r'#\s*include\s*"', text.read()):
                found.append(f"{path}: a public header may only include <...>")
    if not seen:
        found.append(f"{root}: no sources found")
    print("\n".join(found) or f"{len(seen)} files, all arrows right")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
