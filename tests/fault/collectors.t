# collectors: programs watched by all but the usual emulator, while calls of the tool fail. For fault.py.
$ cp "$SOURCE"/tests/fault/sweeps.c . && gcc -O1 -g -pthread sweeps.c -o plain
$ reusescope cc -q gcc -O1 -g -pthread sweeps.c -o rebuilt
$ "$FAULT_TOOL" cc -q gcc -O1 -g -pthread sweeps.c -o rebuilt
$ reusescope run -q -o sampled.data ./rebuilt
$ reusescope run -q --sample none --trace all.rsct -o all.data ./rebuilt
$ reusescope run -q --follow -o follow.data ./rebuilt children
$ reusescope run -q --with qemu -o qemu.data ./plain
$ reusescope run -q --with qemu --follow --trace qemu.rsct -o qemu.data ./plain children
$ reusescope run -q --with perf -o perf.data ./rebuilt
$ reusescope run -q --with perf --engine featherlight:registers=2 -o perf.data ./rebuilt
$ (exec 0</dev/null >/dev/null 2>&1; ./rebuilt serve & echo $! > server); sleep 0.2
$ reusescope attach -q --for 20ms -o attach.data "$(cat server)"
$ reusescope attach -q --for 20ms -o attach.data 1
$ kill "$(cat server)"
