# The list of verbs.
$ reusescope help
$ reusescope --help | head -1
$ reusescope -h | head -1

# Without a verb: the same on standard error, and a usage error.
$ reusescope 2>&1 >/dev/null | head -1
$ reusescope >/dev/null 2>&1

# A verb's help, by any road.
$ reusescope help analyze > a; reusescope analyze --help > b; reusescope analyze -h > c; reusescope -h analyze > d
$ cmp a b && cmp a c && cmp a d && cat a
$ for verb in report info gen convert dump help version; do reusescope help $verb | sed -n 1p; done

# Every example of the help names a verb that there is.
$ for verb in analyze report info gen convert dump help version; do
>     reusescope help $verb | grep -A1 '^example:' | grep -o 'reusescope [a-z]*'
> done
$ reusescope help gen | sed -n '/^options/,/^$/p'
$ reusescope help nope
$ reusescope help --completion tcsh

# Completions.
$ reusescope help --completion bash > c.bash && bash -n c.bash && grep -c reusescope c.bash
$ . ./c.bash
$ complete_line() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _reusescope; echo ${COMPREPLY[*]}; }
$ complete_line reusescope an
$ complete_line reusescope analyze --ph
$ complete_line reusescope analyze --engine ex
$ complete_line reusescope convert --n
$ reusescope help --completion zsh | head -2
$ if command -v zsh >/dev/null; then reusescope help --completion zsh > c.zsh; zsh -n c.zsh; fi
$ reusescope help --completion fish | grep -c "__fish_use_subcommand"
$ if command -v fish >/dev/null; then reusescope help --completion fish > c.fish; fish -n c.fish; fi
