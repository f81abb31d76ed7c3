"""The arrows between rooms: reads every #include under src/ and include/ and
fails on one that goes against the table. Also: file names are unique tree-wide
and none is a junk drawer."""
import os
import re
import sys

ALLOWED = {
    "base": set(),
    "runtime": {"base"},
    "trace": {"base"},
    "profile": {"base"},
    "distance": {"base", "trace", "profile"},
    "multicore": {"base", "runtime", "trace", "profile", "distance"},
    "featherlight": {"base", "runtime", "trace", "profile"},
    "simulate": {"base", "trace", "profile"},
    "loops": {"base", "profile", "distance"},
    "collect": {"base", "runtime", "trace", "profile", "distance", "multicore", "featherlight"},
    "report": {"base", "profile"},
    "cmd": {"base", "runtime", "trace", "profile", "distance", "multicore", "featherlight", "simulate", "loops",
            "collect", "report"},
}
JUNK = re.compile(r"(^|_)(util|utils|misc|common|helper|helpers|v2|new)(_|\.|$)")


def sources(root):
    for folder, _, names in os.walk(root):
        for name in sorted(names):
            if name.endswith((".c", ".h", ".cu")):
                yield os.path.join(folder, name)


def problems_of(path, room, rooms):
    with open(path, encoding="utf-8") as text:
        for number, line in enumerate(text, 1):
            match = re.match(r'\s*#\s*include\s*(["<])([^">]+)[">]', line)
            if not match:
                continue
            quote, name = match.groups()
            target = name.split("/")[0]
            if quote == '"':
                if "/" not in name or target not in rooms:
                    yield f'{path}:{number}: "{name}" is not named by its room ("room/file.h")'
                elif target != room and target not in rooms[room]:
                    yield f"{path}:{number}: {room} may not include {target}"


def main(root):
    found, seen = [], {}
    for path in sources(os.path.join(root, "src")):
        room = os.path.relpath(path, os.path.join(root, "src")).split(os.sep)[0]
        if room not in ALLOWED:
            found.append(f"{path}: '{room}' is no room of the table")
            continue
        found.extend(problems_of(path, room, ALLOWED))
        name = os.path.basename(path)
        if JUNK.search(name):
            found.append(f"{path}: a name that says nothing")
        if name in seen:
            found.append(f"{path}: the same name as {seen[name]}")
        seen[name] = path
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
