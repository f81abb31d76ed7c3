# version
$ reusescope version
reusescope 0.1.0
$ reusescope --version
reusescope 0.1.0
$ reusescope -V
reusescope 0.1.0
$ reusescope version -v
reusescope 0.1.0
vector loops: * (glob)
$ reusescope version extra
reusescope version: takes no operand: extra
[2]
$ reusescope version --help | head -1
usage: reusescope version [options]
$ reusescope version --nope
reusescope version: unknown option --nope (see: reusescope help version)
[2]
