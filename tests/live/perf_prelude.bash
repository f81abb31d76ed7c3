# What the live tests of `run --with perf` begin with. Sourced, after cc_prelude.bash.
"$REUSESCOPE" doctor | grep -q "^ok  debug registers" || { "$REUSESCOPE" doctor | grep "debug registers"; exit 77; }

# perf FILE OPTIONS -- PROGRAM: samples it, quietly.
perf() { local file=$1; shift; "$REUSESCOPE" run -q --with perf -o "$file" "$@"; }

sampled() { [ "$(query "$1" 'p["made"]["overhead"]["samples"]')" -gt "$2" ] || fail "$1: $(query "$1" 'p["made"]["overhead"]')"; }
