# version
$ reusescope version
$ reusescope --version
$ reusescope -V
$ reusescope version -v
$ reusescope version extra
$ reusescope version --help | head -1
$ reusescope version --nope
