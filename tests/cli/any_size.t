# Rows at any cache size: their distances are in coarse bins, divided as those of the whole profile.
$ cat > sweeps.py <<'PY'
> import sys
> print("addr,size,kind,tid,pid,pc")
> for sweep in range(100):
>     for line in range(int(sys.argv[1])): print("0x%x,8,R,1,1,0x401000" % (0x100000 + 64 * line))
> PY
$ for lines in 1150 1200; do python3 sweeps.py $lines > $lines.csv; reusescope analyze -q $lines.csv -o $lines.data; done
# 72 KiB hold 1,152 lines: of 1,150, only first touches miss; of 1,200, every reference does.
$ reusescope report 1150.data --at 72K --format folded -q -o -
[unknown];0x401000 1150
$ reusescope report 1200.data --at 72K --format folded -q -o -
[unknown];0x401000 120000
$ reusescope report 1200.data --at 72K --format callgrind -q -o - | grep summary
summary: 120000 120000
$ reusescope diff 1150.data 1200.data --at 72K --fail-on 'function.misses>+20%' > /dev/null
[3]
$ reusescope report 1200.data --at 72K --machine skylake-x --format json -q -o - | python3 -c 'import json, sys; p = json.load(sys.stdin); print([c["misses"] for c in p["cost"]["caches"]], p["code"][0]["cycles"] == p["cost"]["cycles"])'
[120000, 1200, 1200] True
# Most distances are 1,199 lines: their median is in a bin of 16 lines.
$ reusescope report 1200.data --full --at 72K | sed -n '/Worst pairs/{n;n;p}'
     119 k   99.0 %    1,192  74.5 KiB  0x401000
