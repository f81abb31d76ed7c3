# What the live tests of rebuilt programs begin with. Sourced.
. "$(dirname "$0")/prelude.bash"
[ "$(uname -m)" = x86_64 ] || { echo "an x86-64 test"; exit 77; }
[ -x "$(dirname "$REUSESCOPE")/cc/as" ] || { echo "this build has no assembler pass (libzydis-dev)"; exit 77; }

# cc COMPILER ARGUMENTS: every object is checked against the plain one.
cc() { "$REUSESCOPE" cc --verify -q "$@"; }

# References made by a function's own code, without those that the debug information puts elsewhere.
touched() { query "$1" 'of("touch")'; }
