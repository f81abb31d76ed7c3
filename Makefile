# Thin front to CMake: every target works from a fresh clone.
# Build trees are in build/<preset>; the tool is build/release/reusescope.
SHELL := /bin/bash
.DEFAULT_GOAL := build
.PHONY: help build run test test-quick test-san test-live test-cross test-long bench evaluate evaluate-full fuzz fault gpu install dist deb clean bootstrap-run bootstrap-test bootstrap-cross bootstrap-package bootstrap-long
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

bootstrap-run:
	@scripts/bootstrap run

bootstrap-test:
	@scripts/bootstrap test

bootstrap-cross: bootstrap-test
	@scripts/aarch64-sysroot

bootstrap-package:
	@scripts/bootstrap package

bootstrap-long:
	@scripts/bootstrap long

build: bootstrap-run ## build the tool and the library
	@scripts/build release -DRSC_TESTS=OFF

run: build ## watch a small program, show which lines miss and why
	@scripts/demo build/release/reusescope

test: bootstrap-cross ## all tests, about 40 minutes on 2 cores
	@tests/run-labels quick san live cross

test-quick: bootstrap-test ## unit, property, command line, includes, documents
	@tests/run-labels quick

test-san: bootstrap-test ## unit and property tests under ASan+UBSan and TSan
	@tests/run-labels san

test-cross: bootstrap-cross ## the build for AArch64 hosts, under qemu-aarch64
	@tests/run-labels cross

test-live: bootstrap-test ## real programs
	@tests/run-labels live

test-long: bootstrap-long ## 10,000 random traces per engine, long fuzzing, soaks
	@tests/run-labels long

bench: bootstrap-test ## measure: engine, trace format, readers
	@scripts/build release -DRSC_TESTS=ON
	@bench/run build/release

evaluate: bootstrap-test ## the papers' tables beside ours: docs/measured/evaluation.md (20 minutes on 2 idle cores)
	@scripts/build release -DRSC_TESTS=ON
	@bench/evaluate --size quick

evaluate-full: bootstrap-test ## the same with large sizes (hours; goes on where it stopped)
	@scripts/build release -DRSC_TESTS=ON
	@bench/evaluate --size full

gpu: bootstrap-run ## build the plugin of --engine gpu (needs CUDA 12 or newer; minutes)
	@scripts/build release
	@cmake --build build/release --target gpu

fuzz: bootstrap-test ## libFuzzer on every reader and engine, FUZZ_SECONDS each (60); keeps what it learns
	@tests/fuzz/run --keep $(FUZZ_SECONDS)

fault: bootstrap-test ## make allocations, reads, writes, threads, ... of every command of the golden tests and more fail, one at a time
	@scripts/build release -DRSC_TESTS=ON
	@/usr/bin/python3 tests/fault/fault.py --tool build/release/reusescope --preload build/release/tests/libfault_preload.so \
		--jobs $$(nproc) $$(ls tests/cli/*.t tests/fault/*.t | grep -v /mpi.t)

install: build ## install below PREFIX (/usr/local)
	@cmake --install build/release --prefix $(PREFIX)

dist: ## a source archive of the committed tree
	@scripts/dist

deb: bootstrap-package ## Debian packages, in build/deb
	@scripts/deb

clean: ## remove all build trees
	@rm -rf build
