# What the live tests of `run` begin with: a scratch folder to be in, and how to
# look at profiles. Sourced.
set -eu
export LC_ALL=C
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
programs=$SOURCE/tests/live/programs

tool=$REUSESCOPE
# COLLECTOR: the collector for every `run` that names none. A program, as a shell would add to the environment.
if [ -n "${COLLECTOR:-}" ]; then
    mkdir collector
    gcc -O1 -w -x c - -o collector/reusescope -DTOOL="\"$REUSESCOPE\"" -DCOLLECTOR="\"$COLLECTOR\"" <<'EOF'
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv) {
    char **words = calloc(argc + 3, sizeof *words);
    int named = argc < 2 || strcmp(argv[1], "run");
    for (int i = 1; i < argc && strcmp(argv[i], "--"); i++) named |= !strncmp(argv[i], "--with", 6);
    for (int i = 0, to = 0; i < argc; i++) {
        words[to++] = argv[i];
        if (i == 1 && !named) words[to++] = "--with=" COLLECTOR;
    }
    words[0] = TOOL; /* the tool finds its files by it */
    execv(TOOL, words);
    return 127;
}
EOF
    export REUSESCOPE=$folder/collector/reusescope
fi

fail() {
    echo "FAILED: $*"
    exit 1
}

# expect WHAT GOT WANTED
expect() { [ "$2" = "$3" ] || fail "$1: got '$2', wanted '$3'"; }

# query FILE EXPRESSION: a Python expression over the profile p; of several, `profiles`, the last, which is that of shared stacks.
query() {
    /usr/bin/python3 -c 'import json, sys
p = json.load(open(sys.argv[1]))
profiles = p.get("profiles", [p])
p = {**profiles[-1], "profiles": profiles}
of = lambda name: sum(r["references"] for r in p["code"] if (r.get("function") or "").split(".")[0] == name)
print(eval(sys.argv[2]))' "$1" "$2"
}

check_schema() { /usr/bin/python3 "$SOURCE/tests/schema_check.py" "$SOURCE/docs/schema/profile.schema.json" "$@"; }

# until_true COMMAND...: tries for up to 30 s.
until_true() {
    for _ in $(seq 1500); do
        "$@" && return 0
        sleep 0.02
    done
    return 1
}
