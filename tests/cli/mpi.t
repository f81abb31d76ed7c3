# analyze --engine mpi where there is no MPI: a tool without its plugin, and one with something else in its place.
$ printf '0 0\n0 40\n0 0\n' > t.din
$ mkdir alone; cp "$(command -v reusescope)" alone/
$ alone/reusescope analyze --engine mpi t.din -o out.json
reusescope: engine mpi: libreusescope-mpi.so is missing: apt-get install libopenmpi-dev openmpi-bin, then build again (make)
[1]
$ OMPI_COMM_WORLD_LOCAL_RANK=1 alone/reusescope analyze --engine mpi t.din -o out.json
[1]
$ echo nonsense > alone/libreusescope-mpi.so
$ alone/reusescope analyze --engine mpi t.din -o out.json 2>&1 | sed 's/loaded: .*/loaded: WHY/'
reusescope: engine mpi: the MPI library cannot be loaded: WHY
$ printf 'int other;\n' | gcc -shared -fPIC -x c - -o alone/libreusescope-mpi.so
$ alone/reusescope analyze --engine mpi t.din -o out.json 2>&1 | sed 's,mpi: /.*/,mpi: FOLDER/,'
reusescope: engine mpi: FOLDER/libreusescope-mpi.so is not the plugin of this tool
$ ls out.json
ls: cannot access 'out.json': No such file or directory
[2]

# Everything else needs no plugin.
$ alone/reusescope analyze -q t.din -o out.json; ls out.json
out.json

# Several traces are for ranks; programs are not.
$ reusescope analyze t.din t.din
reusescope analyze: more than one trace: t.din
[2]
$ reusescope run --engine mpi -- true
reusescope run: --engine mpi works on traces: record them with --trace, then use reusescope analyze --engine mpi
[2]
$ reusescope analyze --engine mpi:4 t.din
reusescope: engine 'mpi:4': mpi takes no parameter
[2]
$ reusescope analyze --engine mpi
reusescope analyze: a trace is missing: reusescope analyze TRACE (- is standard input)
[2]
