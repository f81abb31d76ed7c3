"""Names that lead nowhere. Reads the sources as text and fails on

- a function of src/ without a caller, or with callers in tests alone,
- a function that only its own file calls, and is not static,
- a name in a comment (a function or type of ours, a file, a document, an option) that does not exist.

The public interface (include/) is exempt, and so is what somebody else calls by its name: entry points of plugins,
functions put before the C library's, and what rebuilt code calls (its names stand in strings)."""
import collections
import os
import re
import sys

# Functions that stay although the tool does not call them, each with its reason.
KEPT = {
    "rsc_student_cdf": "tests hold rsc_student_quantile() against its inverse",
    "rsc_windows_pairs": "tests look at every pair",
    "rsc_simulated_pmu_feather": "tests look at every watched pair",
    "rsc_rounds_set_slice": "tests make slices small",
    "qemu_plugin_install": "QEMU calls it",
    "pthread_spin_unlock": "guest_preload.c puts it before the C library's",
    **dict.fromkeys(("__wrap_do_iropt_BB", "__wrap_vgPlain_getenv", "__wrap_vgModuleLocal_read_debuginfo_dwarf3",
                     "__wrap_vgModuleLocal_read_callframe_info_dwarf3", "__wrap_vgPlain_client_syscall",
                     "__wrap_vgPlain_poll_signals", "__wrap_vgPlain_nuke_all_threads_except"), "the linker sends Valgrind's calls there"),
    **dict.fromkeys(("clock_gettime", "nanosleep", "kill", "open", "read", "close", "syscall", "strrchr", "strcmp",
                     "__errno_location"), "tool_libc.c stands in for the C library"),
}
# Words of comments that look like names of ours and are not: examples, other projects' files and options.
KNOWN_WORDS = set("""
    a.c src/a.c mem.c file.h src/solver.c KERNEL.c thing.h thing.c thing_kernel.c rsc_thing rsc_run rsc_thing_run
    RSC_E RSC_RGR8 linux/perf_event.h --gc-sections --cflags --libs
""".split())

CODE = (".c", ".h", ".cu", ".cuh", ".cc")
TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|[A-Za-z_]\w*|#|\n|.', re.S)
NAME = re.compile(r"[A-Za-z_]\w*")


class File:
    """The functions a file defines, by name whether static; the names it refers to, by name from which functions."""

    def __init__(self, path, text):
        self.path, self.comments = path, []
        self.defines, self.refers, self.names, self.strings = {}, collections.defaultdict(set), set(), set()
        # INLINE, ALWAYS, ...: words that stand for static
        self.static = {"static"} | set(re.findall(r"^#define (\w+) static\b", text, re.M))
        depth, inside, line, statement, directive = 0, None, 1, [], False
        for match in TOKEN.finditer(text):
            token = match.group()
            if token.startswith(("/*", "//")):
                self.comments.append((line, token))
            elif token == "#" and depth >= 0 and not text[:match.start()].rpartition("\n")[2].strip():
                directive = True
            elif token == "\n":
                directive = directive and text[match.start() - 1] == "\\"
            else:
                words = NAME.findall(token)
                self.names.update(words)
                if token[0] == '"':
                    self.strings.update(re.findall(r"[a-z][a-z0-9-]*", token))
                for name in words if directive or depth or token[0] == '"' else ():
                    self.refers[name].add(inside)
            if not directive and not token.isspace() and not token.startswith(("/*", "//")):
                if token == "{":
                    inside = inside if depth else self.function_of(statement)
                    depth += 1
                elif token == "}":
                    depth -= 1
                elif depth == 0 and token != ";":
                    statement.append(token)
                if depth == 0 and token in "};":
                    inside, statement = None, []
            line += token.count("\n")

    def function_of(self, statement):
        """The name of the function whose body begins behind `statement`; None for anything else."""
        text = " ".join(statement)
        text = re.sub(r"__attribute__ \( \(.*?\) \)", "", text)
        match = re.search(r"\bRSC_WIDE \( (\w+) \)", text) or re.search(r"(\w+) \(", text)
        if "=" in statement or not match or match.group(1).isupper():
            return None
        self.defines[match.group(1)] = bool(self.static & set(statement)) or "visibility" in statement
        return match.group(1)


def read_files(root):
    for folder in ("src", "include", "gpu", "tests", "bench", "examples"):
        for place, _, names in os.walk(os.path.join(root, folder)):
            for name in sorted(names):
                if name.endswith(CODE):
                    path = os.path.join(place, name)
                    with open(path, encoding="utf-8") as text:
                        yield File(os.path.relpath(path, root), text.read())


def functions_nobody_needs(files):
    public = set().union(*(file.names for file in files if file.path.startswith("include/")))
    users = collections.defaultdict(list)  # by name, files that refer to it
    for file in files:
        for name in file.refers:
            users[name].append(file)
    for file in files:
        for name, is_static in file.defines.items() if file.path.startswith("src/") else ():
            if name in public or name in KEPT or (is_static and file.path.endswith(".c")):
                continue  # the compiler finds unused static functions
            if file.path.startswith(("src/runtime/recorder/", "src/runtime/trap/")) and not name.startswith("rsc_"):
                continue  # put before the C library's
            others = [other.path for other in users[name] if other is not file]
            needed = [path for path in others if not path.startswith("tests/")]
            if not needed and not file.refers[name] - {name}:
                yield f"{file.path}: {name}() is called " + ("by tests alone: " + others[0] if others else "by nobody")
            elif not others and not is_static:
                yield f"{file.path}: {name}() could be static"


def paths_below(root):
    """Every file and folder of the tree, by every ending of its path."""
    for place, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in ("build", ".git", "node_modules")]
        for name in names + folders:
            parts = os.path.relpath(os.path.join(place, name), root).split("/")
            yield from ("/".join(parts[i:]) for i in range(len(parts)))


def words_of_nothing(root, files):
    """Words of comments that look like names of ours, and are not."""
    paths = set(paths_below(root))
    names = set().union(*(file.names for file in files))
    options = set().union(*(file.strings for file in files))
    for file in files:
        for line, comment in file.comments:
            for word in re.findall(r"\b(?:rsc|rsct|RSC|front)_\w+\b(?!\*|\w*[.]\w)|\b[a-z]\w*_\w+(?=\(\))", comment):
                if word not in names and not word.endswith("_") and word not in KNOWN_WORDS:
                    yield f"{file.path}:{line}: the comment names {word}, which does not exist"
            for word in re.findall(r"(?<![\w/.<*-])(?:[\w-]+/)*\w[\w-]*\.(?:[ch]|cu|cuh|cc|py|md|mjs|cmake)\b(?!\.)", comment):
                if word not in paths and word not in KNOWN_WORDS:
                    yield f"{file.path}:{line}: the comment names {word}, which does not exist"
            for word in re.findall(r"(?<![\w-])--[a-z][a-z-]*[a-z]", comment):
                if word[2:] not in options and word not in KNOWN_WORDS:
                    yield f"{file.path}:{line}: the comment names {word}, which does not exist"


def main(root):
    files = list(read_files(root))
    found = list(functions_nobody_needs(files)) + list(words_of_nothing(root, files))
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
