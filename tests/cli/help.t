# The list of verbs.
$ reusescope help
reusescope: how a program, a trace or a loop reuses memory, and what every cache size makes of it
\
usage: reusescope VERB [options] ...
\
verbs:
  run        Watch a program and show how it reuses memory
  cc         Build a program so that `run` can watch it at near native speed
  analyze    Reuse distances and miss ratio curve of a trace
  sim        Misses of a trace in simulated caches
  loops      Predict the misses of OpenMP loops at any number of threads, from the source
  report     Show profiles: histogram, miss ratio curve, what they mean
  annotate   Source text with the references and misses of each line
  diff       What changed between two profiles, and whether that is a regression
  advise     What a profile suggests to change, with evidence
  merge      One profile out of those of several ranks or runs
  info       What a trace or a profile holds
  gen        Make a trace: uniform, zipf, cyclic, stride, stencil, chase or mix
  convert    Turn a trace into native, din or CSV, whole or filtered
  dump       Print the accesses and events of a trace
  doctor     What this machine can do, and how to mend what it cannot
  help       Help for a verb, or this list
  version    The version of this tool
\
start with:
  reusescope run -- ./app                          watch a program
  reusescope gen zipf,lines=64K -n 1M -o t.rsct    make a trace
  reusescope analyze t.rsct                        its distances and miss ratio curve
  reusescope help analyze                          all about a verb
$ reusescope --help | head -1
reusescope: how a program, a trace or a loop reuses memory, and what every cache size makes of it
$ reusescope -h | head -1
reusescope: how a program, a trace or a loop reuses memory, and what every cache size makes of it

# Without a verb: the same on standard error, and a usage error.
$ reusescope 2>&1 >/dev/null | head -1
reusescope: how a program, a trace or a loop reuses memory, and what every cache size makes of it
$ reusescope >/dev/null 2>&1
[2]

# A verb's help, by any road.
$ reusescope help analyze > a; reusescope analyze --help > b; reusescope analyze -h > c; reusescope -h analyze > d
$ cmp a b && cmp a c && cmp a d && cat a
usage: reusescope analyze [options] TRACE
\
Reuse distances and miss ratio curve of a trace.
\
TRACE is a file in any format reusescope reads, plain or packed with gzip, xz, zstd
or zip, or - for standard input. The result is drawn on the terminal and kept in
reusescope.data (the one before it in reusescope.data.old). With --engine mpi there
may be several traces, which are one in a row: mpirun -n 4 reusescope analyze ...
\
options:
      --requests              each access is a request for a whole object: distances and cache sizes in bytes
      --seed N                of engines that sample: another one draws another sample (default 0)
      --engine ENGINE         exact, parallel (the same on several cores), gpu[:device=N], mpi (on several machines; analyze only), or approximate: shards:RATE, shards-max:LINES, sampled[:KEY=VALUE,...], time:MODEL[:RATE] with hotl, aet, statstack or shen, hp-rda[:KEY=VALUE,...], featherlight[:KEY=VALUE,...]; auto (default)
      --line BYTES,...        line sizes, powers of two from 1 to 4096; all in one pass (default 64)
      --model MODEL           single (default for traces) or shared (default of run): one stack over all threads; private: one a thread, kept coherent; both: private and shared (default of run for threads under QEMU)
      --cores GROUP,...       private: threads that share a stack, as 0-1,2-3 or 0+2 (numbers in order of appearance)
      --max-distance LINES    count distances from here on in one open-ended bin
      --phases N              also cut the run into N parts of equal length
      --bins N                also keep histograms with N bins per octave, 1 to 64
      --no-code               do not count by code, pair and object (faster)
      --no-ri                 leave reuse intervals out (faster, a third of the memory)
      --top-lines N[,SIZE]    also tell the N cache lines that miss most at SIZE (default 32K)
      --sysroot DIR           where the program's libraries and their debug files are
      --debuginfod            ask the servers of DEBUGINFOD_URLS for missing debug files
      --threads N             threads to use: to decode ahead, for line sizes, in the parallel engine (default: one a core)
      --confidence PERCENT    how often error bars should hold the truth (default 90)
      --error E               auto: mean error of the miss ratio curve that is good enough, as 0.01 or 1%; sampled: of its error-kind
      --max-memory SIZE       memory the analysis may take (default: 80% of what is available)
      --from FORMAT           read the trace as rsct, din, lackey, csv, pinatrace, perf-script, drmemtrace, champsim, oracleGeneral, vscsi or raw64 (default: by content; the last four only so)
      --salvage               of a damaged .rsct, read the intact frames and say what was lost
      --kind KINDS            keep only these: R (reads), W (writes), I (fetches), as R,W
      --tid LIST              keep only these threads, by thread id (run numbers them from 1)
      --range LOW-HIGH        keep only addresses in this range, both ends included
      --window FIRST[+COUNT]  keep COUNT accesses from access FIRST on (numbered from 0)
      --bits LO-HI=VALUE      keep addresses whose bits LO to HI have this value
      --every N               of what the rest keeps, keep each Nth
  -o, --output FILE           write here: .json, .csv, .txt, .folded, .speedscope.json, .html render, anything else is a profile; - is standard output, %p the process id, %r the MPI rank
      --format FORMAT         text, json, csv, folded, speedscope or html
      --at SIZE               rank code, pairs and objects by misses in a cache of SIZE (default: this machine's L2)
      --weight WHAT           folded and speedscope: weigh stacks by misses (at --at, default) or references
      --no-command            to share: leave out the command line and the folders of absolute paths
  -q, --quiet                 only errors, and only results that were asked for
  -v, --verbose               say what is done and what it takes
      --color WHEN            auto (default), always or never; NO_COLOR counts too
  -h, --help                  this text
\
example:
  valgrind --tool=lackey --trace-mem=yes ls 2>&1 >/dev/null | reusescope analyze -
\
more: man reusescope-analyze
$ for verb in run report annotate info gen convert dump doctor help version; do reusescope help $verb | sed -n 1p; done
usage: reusescope run [options] [--] PROGRAM [ARGUMENTS]
usage: reusescope report [options] [FILE...]
usage: reusescope annotate [options] [PROFILE]
usage: reusescope info [options] FILE
usage: reusescope gen [options] KIND[,key=value...]
usage: reusescope convert [options] TRACE
usage: reusescope dump [options] TRACE
usage: reusescope doctor [options]
usage: reusescope help [options] [VERB]
usage: reusescope version [options]

# Every example of the help names a verb that there is.
$ for verb in run analyze report annotate info gen convert dump doctor help version; do
>     reusescope help $verb | grep -A1 '^example:' | grep -o 'reusescope [a-z]*'
> done
reusescope run
reusescope analyze
reusescope report
reusescope annotate
reusescope info
reusescope gen
reusescope convert
reusescope dump
reusescope doctor
reusescope help
reusescope version
$ reusescope help gen | sed -n '/^options/,/^$/p'
options:
  -n, --count N               accesses to make (K, M, G are powers of two)
      --seed S                start of the random numbers (default 1)
  -o, --output FILE           write here (.rsct, .din, .csv choose the format); - is standard output
      --to FORMAT             rsct (default), din or csv
      --level N               zstd level of .rsct, 1 to 19 (default 3)
      --max-size BYTES        end the file cleanly before it grows past this
  -q, --quiet                 only errors, and only results that were asked for
  -v, --verbose               say what is done and what it takes
      --color WHEN            auto (default), always or never; NO_COLOR counts too
  -h, --help                  this text
\
$ reusescope help nope
reusescope help: no verb 'nope' (see: reusescope help)
[2]
$ reusescope help --completion tcsh
reusescope help: --completion tcsh: not one of bash, zsh, fish
[2]

# Completions.
$ reusescope help --completion bash > c.bash && bash -n c.bash && grep -c reusescope c.bash
3
$ . ./c.bash
$ complete_line() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _reusescope; echo ${COMPREPLY[*]}; }
$ complete_line reusescope an
analyze annotate
$ complete_line reusescope analyze --ph
--phases
$ complete_line reusescope analyze --engine ex
exact
$ complete_line reusescope convert --n
--no-pc
$ reusescope help --completion zsh | head -2
\#compdef reusescope
\# made by: reusescope help --completion zsh
$ if command -v zsh >/dev/null; then reusescope help --completion zsh > c.zsh; zsh -n c.zsh; fi
$ reusescope help --completion fish | grep -c "__fish_use_subcommand"
17
$ if command -v fish >/dev/null; then reusescope help --completion fish > c.fish; fish -n c.fish; fi
