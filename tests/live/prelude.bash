# What the live tests of `run` begin with: a scratch folder to be in, and how to
# look at profiles. Sourced.
set -eu
export LC_ALL=C
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
programs=$SOURCE/tests/live/programs

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
