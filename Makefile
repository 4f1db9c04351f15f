# The front door: every developer command is one target here.

PRESET  ?= release
TARGET  ?=
SECONDS ?= 60
BUILD   := build/$(PRESET)
export MOXZI_DEPS ?= $(CURDIR)/.deps

.PHONY: help demo test deps build check fmt golden bench soak fuzz gpu clean

help:
	@echo 'make demo               set up, build, and train a Motoko actor on the device'
	@echo 'make test               set up, build, and run the tests'
	@echo 'make check              format, layers, headers, links in the docs'
	@echo 'make deps               install what is missing (cmake/deps/versions.txt)'
	@echo 'make build [PRESET=..]  release, debug, asan, tsan or fuzz, in build/<preset>/bin'
	@echo 'make fmt                format the sources'
	@echo 'make golden             write the golden files anew; read the difference'
	@echo 'make bench              measure against the peers, one JSON line a row'
	@echo 'make soak               the long runs: fuzzers and large random tests'
	@echo 'make fuzz TARGET=NAME   one fuzzer for SECONDS=60'
	@echo 'make gpu                the checks for a machine with a GPU'

demo: build
	@tests/e2e/demo.sh $(BUILD)/bin

test: build
	@ctest --preset $(PRESET)

deps:
	@cmake/deps/install.sh

build: deps
	@[ -f $(BUILD)/build.ninja ] || cmake --preset $(PRESET)
	@cmake --build --preset $(PRESET)

check: deps
	@tests/tidy/check.sh

fmt:
	@git ls-files '*.cpp' '*.hpp' | xargs clang-format-14 -i

golden: build
	@MOXZI_UPDATE_GOLDEN=1 $(BUILD)/bin/shapescript_tests --gtest_filter='explain.*golden*:docs.*' > /dev/null || true
	@git status --short tests/golden

bench: build
	@tests/perf/bench.py --bin $(BUILD)/bin --deps $(MOXZI_DEPS)

soak: build
	@tests/soak.sh

fuzz: deps
	@tests/fuzz/run.sh '$(TARGET)' $(SECONDS)

gpu: build
	@tests/gpu/run.sh $(BUILD)/bin

clean:
	rm -rf build
