# The list of verbs.
$ reusescope help
reusescope: how programs, traces and loops reuse memory, at every cache size
\
usage: reusescope VERB [options] ...
\
verbs:
  run        Watch a program and show how it reuses memory
  attach     Watch a running program for a while and leave it running
  cc         Build a program so that `run` can watch it at near native speed
  analyze    Compute reuse distances and the miss ratio curve of a trace
  sim        Simulate caches on a trace
  loops      Predict the misses of OpenMP loops at any thread count, from source
  report     Show profiles: miss ratios, the curve, the worst lines
  annotate   Show source lines with their references and misses
  diff       Compare two profiles and find regressions
  advise     Suggest changes to the code, with evidence
  merge      Merge the profiles of several ranks or runs
  info       Describe a trace or a profile
  gen        Generate a trace: uniform, zipf, cyclic, stride, stencil, chase, mix
  convert    Convert a trace to native, din or CSV, whole or filtered
  dump       Print the accesses and events of a trace
  doctor     Check what this machine can do, and how to fix what is missing
  help       Show help for a verb, or this list
  version    Print the version of this tool
\
start with:
  reusescope run -- ./app                          profile a program
  reusescope gen zipf,lines=64K -n 1M -o t.rsct    generate a trace
  reusescope analyze t.rsct                        analyse the trace
  reusescope help analyze                          all options of a verb
$ reusescope --help | head -1
reusescope: how programs, traces and loops reuse memory, at every cache size
$ reusescope -h | head -1
reusescope: how programs, traces and loops reuse memory, at every cache size

# Without a verb: the same on standard error, and a usage error.
$ reusescope 2>&1 >/dev/null | head -1
reusescope: how programs, traces and loops reuse memory, at every cache size
$ reusescope >/dev/null 2>&1
[2]

# A verb's help, by any road.
$ reusescope help analyze > a; reusescope analyze --help > b; reusescope analyze -h > c; reusescope -h analyze > d
$ cmp a b && cmp a c && cmp a d && cat a
usage: reusescope analyze [options] TRACE
\
Compute reuse distances and the miss ratio curve of a trace.
\
TRACE is a file in any format reusescope reads, plain or compressed with gzip,
xz, zstd, zip, lz4 or snappy, or - for standard input. Prints the result and
keeps it in reusescope.data (the previous one in reusescope.data.old). --engine
mpi takes several traces and reads them as one: mpirun -n 4 reusescope analyze
...
\
analysis:
      --engine ENGINE         auto (default); exact, parallel (exact on several
                              cores), gpu[:device=N], mpi (exact on several
                              machines; analyze only); approximate: shards:RATE,
                              shards-max:LINES, sampled[:KEY=VALUE,...],
                              time:MODEL[:RATE] with hotl, aet, statstack or
                              shen, hp-rda[:KEY=VALUE,...],
                              featherlight[:KEY=VALUE,...]
      --line BYTES,...        line sizes, powers of two from 1 to 4096, all in
                              one pass (default 64)
      --model MODEL           single (default for traces) or shared (default for
                              run): one stack for all threads; private: one per
                              thread, kept coherent; both: private and shared
                              (default for threads)
      --cores GROUP,...       private: threads that share a stack, as 0-1,2-3 or
                              0+2 (numbered in order of appearance)
      --requests              each access is a request for a whole object:
                              distances and cache sizes in bytes
\
sampling:
      --error E               auto: acceptable mean error of the miss ratio
                              curve, as 0.01 or 1%; sampled: its error-kind
      --confidence PERCENT    confidence level of error bars (default 90)
      --seed N                seed of sampling engines (default 0)
\
results:
      --max-distance LINES    one open-ended bin for distances from LINES on
      --phases N              also profile N parts of the run of equal length
      --bins N                also keep histograms of N bins (1-64) per octave
      --top-lines N[,SIZE]    also list the N cache lines that miss most at SIZE
                              (default 32K)
      --no-code               do not count by code, pair and object (faster)
      --no-ri                 skip reuse intervals: faster, 1/3 of the memory
      --every-size            exact miss ratios at every cache size, not only at
                              64 per octave
\
symbols:
      --sysroot DIR           where the program's libraries and their debug
                              files are
      --debuginfod            get missing debug files from the servers in
                              DEBUGINFOD_URLS
\
resources:
      --threads N             worker threads: decoding, line sizes, the parallel
                              engine (default: one per core)
      --max-memory SIZE       memory limit of the analysis (default: 80% of what
                              is available)
\
input:
      --from FORMAT           format of the trace: rsct, din, lackey, csv, list,
                              pinatrace, perf-script, drmemtrace, champsim,
                              oracleGeneral, vscsi or raw64 (default: detected;
                              the last four are never detected)
      --columns WHAT=COLUMN,...
                              text in columns: the number or name of addr, and
                              of size, kind, tid, pid, pc, as addr=3:hex,size=4
      --salvage               recover the intact frames of a damaged .rsct and
                              report what was lost
\
filters:
      --kind KINDS            only R (reads), W (writes), I (fetches), as R,W
      --tid LIST              keep only these thread ids (run starts at 1)
      --range LOW-HIGH        keep only addresses in this range (inclusive)
      --window FIRST[+COUNT]  keep COUNT accesses from access FIRST on (numbered
                              from 0)
      --bits LO-HI=VALUE      keep addresses whose bits LO to HI have this value
      --every N               keep every Nth access left by other filters
\
output:
  -o, --output FILE           write here: .json, .csv, .txt, .folded,
                              .speedscope.json, .callgrind, .pb.gz (pprof),
                              .html render, anything else is a profile; - is
                              standard output, %p the process id, %r the MPI
                              rank
      --format FORMAT         text, json, csv, folded, speedscope, callgrind,
                              pprof or html
      --full                  text: everything that is known, not just the first
                              screen (40 lines)
      --full-names            text: C++ names with their template arguments
      --at SIZE               rank code, pairs and objects by misses in a cache
                              of SIZE, as 1M or L2 (default: by the cycles that
                              misses cost; misses are those in the largest of
                              the machine's caches with more than first touches)
      --machine NAME          caches and latencies of this machine (this,
                              default) or of another, as zen2 or a file; json
                              and csv then have estimated cycles
      --weight WHAT           folded, speedscope, pprof: weigh stacks by misses
                              (at --at, default) or references
      --no-command            for sharing: leave out the command line and the
                              folders of absolute paths
\
general:
  -q, --quiet                 print only errors and requested results
  -v, --verbose               print each step and what it costs
      --color WHEN            auto (default), always or never; obeys NO_COLOR
  -h, --help                  print this text
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

# Every verb's help fits 80 columns (an example is one command, however long).
$ for verb in $(reusescope help | sed -n '/^verbs:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
>     reusescope help $verb | awk -v verb=$verb 'length > 80 && last != "example:" { print verb ": " $0 } { last = $0 }'
> done

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
18
$ if command -v fish >/dev/null; then reusescope help --completion fish > c.fish; fish -n c.fish; fi

# Values: verbs after help, models, machines (those that are installed), also after "--name=".
$ . ./c.bash; words() { COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); COMPREPLY=(); _reusescope; echo ${COMPREPLY[@]}; }
$ words reusescope help ann; words reusescope help d
annotate
diff dump doctor d
$ words reusescope run --model s; words reusescope run --model = s; words reusescope analyze --model = p
single shared
single shared
private
$ words reusescope sim --machine z; words reusescope sim --machine "" | tr ' ' '\n' | grep -E -- '-|zen' | sort | diff - <(cd $SOURCE/machines && ls *.caches | sed 's/\.caches//' | sort)
zen2
$ reusescope help --completion zsh | grep -c "'\*:verb:(.*annotate"; reusescope help --completion fish | grep -c "from help' -f -a '.*annotate"
1
1
