# --engine gpu, on the plugin whose device is emulated; the numbers are those of the exact engine.
$ tool=$(readlink -f $(command -v reusescope)); emulated=$(dirname $tool)/libreusescope-cuda-emulated.so
$ gpu() { REUSESCOPE_GPU_PLUGIN=$emulated reusescope analyze --engine gpu "$@"; }
$ same() { grep -v '"made"' "$1" > one; grep -v '"made"' "$2" > two; cmp one two && echo the same; }
$ mkdir lonely && cp $tool lonely/reusescope
$ reusescope gen zipf,lines=3K -n 20000 --seed 5 -o zipf.rsct -q
$ gpu zipf.rsct -q -o gpu.json; reusescope analyze zipf.rsct -q -o exact.json; same gpu.json exact.json
the same
$ grep -o '"by":"[a-z]*"' gpu.json
"by":"gpu"
$ gpu zipf.rsct -q -o gpu.json --engine gpu:device=0 --max-distance 100 --line 128; reusescope analyze zipf.rsct -q -o exact.json --max-distance 100 --line 128; same gpu.json exact.json
the same

# Lines cut by the threads that decode, of several threads of the program.
$ reusescope gen uniform,lines=2K,threads=5 -n 70000 --seed 6 -o five.rsct -q
$ for n in 1 2 3; do gpu five.rsct -q -o gpu$n.json --threads $n; done; same gpu1.json gpu2.json; same gpu1.json gpu3.json
the same
the same
$ reusescope analyze five.rsct -q -o exact.json; same gpu1.json exact.json; grep -c '"tid":4' gpu1.json
the same
1
$ for n in 1 3; do gpu five.rsct -q -o gpu.json --threads $n --phases 7 --bins 10; reusescope analyze five.rsct -q -o exact.json --phases 7 --bins 10; same gpu.json exact.json; done
the same
the same

# Reads and writes of few threads and then of more than the device has rows for: all as the exact engine counts them.
$ reusescope gen zipf,lines=500,threads=4,write=0.3 -n 30000 --seed 7 -o few.din -q; reusescope gen uniform,lines=700,threads=300,write=0.2 -n 30000 --seed 8 -o many.rsct -q
$ for t in few.din many.rsct; do for n in 1 3; do gpu $t -q -o gpu.json --threads $n --max-distance 300; reusescope analyze $t -q -o exact.json --max-distance 300; same gpu.json exact.json; done; done
the same
the same
the same
the same
$ grep -c '"tid":299' gpu.json; grep -c '"write"' gpu.json
1
1

# Accesses of a MiB and more: from there on a piece is cut by the thread that feeds the device.
$ awk 'BEGIN { for (i = 0; i < 90000; i++) printf "%s 0x%x %d\n", i % 3 ? "r" : "w", i * 7919 % 5000 * 8192, i % 20000 == 19000 ? 1048576 + i : 8 }' > wide.list
$ for n in 1 2 3; do gpu wide.list -q -o gpu.json --threads $n --line 4096; reusescope analyze wide.list -q -o exact.json --line 4096; same gpu.json exact.json; done
the same
the same
the same

# Private stacks: lines taken from other threads, shared and falsely shared; and the turns of threads, however many decode.
$ reusescope gen zipf,lines=500,threads=4,write=0.3 -n 30000 --seed 9 -o shared.rsct -q
$ for n in 1 3; do for m in private shared both; do gpu shared.rsct -q -o gpu.json --threads $n --model $m; reusescope analyze shared.rsct -q -o exact.json --model $m; same gpu.json exact.json; done; done
the same
the same
the same
the same
the same
the same
$ grep -c '"by":"gpu"' gpu.json; grep -c '"invalidated":[1-9]' gpu.json; grep -c '"false_sharing":' gpu.json; grep -c '"turns":' gpu.json
2
7
2
2
$ for t in shared.rsct many.rsct; do gpu $t -q -o gpu.json --model private --cores 0-1,2+7 --phases 7 --bins 10 --max-distance 200; reusescope analyze $t -q -o exact.json --model private --cores 0-1,2+7 --phases 7 --bins 10 --max-distance 200; same gpu.json exact.json; done
the same
the same
$ gpu shared.rsct -q -o gpu.json --model private --line 64,4096; reusescope analyze shared.rsct -q -o exact.json --model private --line 64,4096; same gpu.json exact.json
the same
$ gpu shared.rsct -o not.json --model private --top-lines 4
reusescope: the gpu engine cannot do top lines
[2]
$ RSC_EMULATED_MEMORY=400000 gpu many.rsct -o not.json --model private
reusescope: gpu engine: too many lines in private stacks for the device: 958 so far, at 333 bytes each, and a chunk, at 437 bytes a reference, do not fit 0.4 MiB; take a larger --line, or --engine exact
[1]

# A program's recording: code, pairs, objects and call paths.
$ reusescope run --trace true.rsct -q -o not-used.data -- /bin/true; rm not-used.data
$ gpu true.rsct -q -o gpu.json; reusescope analyze true.rsct -q -o exact.json; same gpu.json exact.json; grep -c '"pairs":' gpu.json
the same
1

# Several line sizes, each with a session of its own.
$ gpu zipf.rsct -q -o gpu.json --line 64,4096,8 --threads 2; reusescope analyze zipf.rsct -q -o exact.json --line 64,4096,8; same gpu.json exact.json
the same

# No accesses; and a profile that is drawn.
$ gpu zipf.rsct --range 0-1 -q --format json -o - | grep references
 "accesses":0,"references":0,"cold":0,"invalidated":0,"distinct":0,
$ printf '0 100\n0 100\n0 200\n0 100\n' > small.din; gpu small.din -q --format text -o - | grep -o "made by *gpu, from trace"
made by     gpu, from trace

# A running program.
$ REUSESCOPE_GPU_PLUGIN=$emulated reusescope run --engine gpu -q -o run.json -- /bin/true; grep -cE '"by":"gpu","source":"(valgrind|qemu)"' run.json
1
$ REUSESCOPE_GPU_PLUGIN=$emulated reusescope run --engine gpu --model private -q -o run.json -- /bin/true; grep -cE '"by":"gpu".*"model":"private"' run.json
1
$ gpu true.rsct -q -o gpu.json --model private; reusescope analyze true.rsct -q -o exact.json --model private; same gpu.json exact.json
the same

$ REUSESCOPE_GPU_PLUGIN=$emulated $SOURCE/bench/gpu-online --tool $tool --rounds 1 --engines exact,gpu,gpu:device=7 -- /bin/true
engine          seconds  M accesses     M/s  waited, s  of its time
exact * 0.* %  (glob)
gpu * 0.* %  (glob)
gpu:device=7: reusescope: gpu engine: no device 7; this machine has 1, numbered from 0

# HP-RDA there: the numbers of the CPU's, bounds included.
$ hprda() { of=$1; shift; REUSESCOPE_GPU_PLUGIN=$emulated reusescope analyze --engine hp-rda:local=20$of "$@"; }
$ hprda ,device=0 zipf.rsct -q -o gpu.json; hprda "" zipf.rsct -q -o cpu.json; same gpu.json cpu.json
the same
$ hprda ,adjust=off,device=0 zipf.rsct -q -o gpu.json --line 64,256; hprda ,adjust=off zipf.rsct -q -o cpu.json --line 64,256; same gpu.json cpu.json
the same
$ hprda ,device=1 zipf.rsct -o not.json
reusescope: gpu engine: no device 1; this machine has 1, numbered from 0
[1]
$ RSC_EMULATED_DEVICES=-1 hprda ,device=0 zipf.rsct -o not.json
reusescope: gpu engine: the NVIDIA driver is missing, or older than this plugin needs
[1]
$ RSC_EMULATED_MEMORY=400000 hprda ,device=0 zipf.rsct -o not.json
reusescope: gpu engine: 0.2 MiB of device memory do not hold a block of hp-rda, 0.3 MiB; take a smaller local=
[1]
$ RSC_EMULATED_MEMORY=64000000 hprda ,local=65536,device=0 zipf.rsct -o not.json
reusescope: gpu engine: 41.9 MiB of device memory do not hold a block of hp-rda, 841.5 MiB; take a smaller local=
[1]
$ RSC_EMULATED_FAIL_AFTER=126 hprda ,device=0 zipf.rsct -o not.json
reusescope: gpu engine: the device failed (*): unspecified launch failure (glob)
[1]
$ env -u REUSESCOPE_GPU_PLUGIN lonely/reusescope analyze --engine hp-rda:device=0 zipf.rsct -o not.json
reusescope: gpu engine: the plugin libreusescope-cuda.so is missing: build it where there is CUDA 12 or newer (make gpu)
[1]

# What is missing is named, and nothing is written.
$ env -u REUSESCOPE_GPU_PLUGIN lonely/reusescope analyze --engine gpu zipf.rsct -o not.json
reusescope: gpu engine: the plugin libreusescope-cuda.so is missing: build it where there is CUDA 12 or newer (make gpu)
[1]
$ RSC_EMULATED_DEVICES=-1 gpu zipf.rsct -o not.json
reusescope: gpu engine: the NVIDIA driver is missing, or older than this plugin needs
[1]
$ RSC_EMULATED_DEVICES=0 gpu zipf.rsct -o not.json
reusescope: gpu engine: no CUDA device on this machine
[1]
$ gpu zipf.rsct --engine gpu:device=2 -o not.json
reusescope: gpu engine: no device 2; this machine has 1, numbered from 0
[1]
$ RSC_EMULATED_MEMORY=90000 gpu zipf.rsct -o not.json
reusescope: gpu engine: too many distinct lines for the device: 152 so far, at 63 bytes each, and a chunk, at 92 bytes a reference, do not fit 0.0 MiB; take a larger --line, or another engine
[1]
$ RSC_EMULATED_FAIL_AFTER=156 gpu zipf.rsct -o not.json
reusescope: gpu engine: the device failed (*): unspecified launch failure (glob)
[1]
$ ls not.json* reusescope.data*
ls: cannot access 'not.json*': No such file or directory
ls: cannot access 'reusescope.data*': No such file or directory
[2]

# What it does not do is refused; what others do not take as well.
$ gpu zipf.rsct --top-lines 4
reusescope: the gpu engine cannot do top lines
[2]
$ reusescope analyze --engine gpu:0.1 zipf.rsct
reusescope: engine 'gpu': '0.1': not one of device
[2]
$ reusescope analyze --engine gpu:local=6 zipf.rsct
reusescope: engine 'gpu': 'local': not one of device
[2]
$ reusescope analyze --engine exact:device=1 zipf.rsct
reusescope: engine 'exact:device=1': exact takes no parameter
[2]
$ reusescope analyze --engine gpu:device=x zipf.rsct
reusescope: engine 'gpu': device=x: not a number from 0 to 1023
[2]

# Accesses of 4 GiB are refused before they reach a device.
$ python3 -c 'print("addr,size"); [print(f"{i << 32},4294967295") for i in range(20)]' > wide.csv; gpu wide.csv -q -o wide.json
reusescope: accesses of 1 MiB and more make over 2^30 references: larger lines make fewer (--line 4096), and analyze --requests counts whole objects
[1]
