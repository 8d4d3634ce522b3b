# Short names for common work; the build itself is CMake's (presets: cmake --list-presets).
#
#   make demo     install what is missing, build, project two small graphs and draw them
#   make test     install what is missing, build, run every test
#   make          build only
#   make check    what continuous integration checks beside the tests
#   make bench    the benchmark of projections (see bench/)
#   make gpu-test run the tests on the GPU that is there, under compute-sanitizer too (see scripts/gpu_check)
#   make bundle   one archive that tests and measures a GPU on a machine without our packages (see bench/gpu/)
#   make format   lay out the sources        make docs     API reference into build/docs
PRESET ?= release
BUILD = build/$(PRESET)
JOBS ?= $(shell nproc 2>/dev/null || sysctl -n hw.ncpu)
# Ninja where it is there; a folder that is configured already keeps its generator.
ifneq ($(and $(shell command -v ninja),$(if $(wildcard $(BUILD)/CMakeCache.txt),,new)),)
export CMAKE_GENERATOR = Ninja
endif

.PHONY: all packages configure demo test check bench gpu-test bundle format docs install clean
all: configure
	cmake --build $(BUILD) -j $(JOBS)

packages:
	@scripts/install_packages.sh build

configure:
	@mkdir -p build
	@cmake --preset $(PRESET) > build/configure.log 2>&1 || { cat build/configure.log; exit 1; }

demo: packages
	@$(MAKE) --no-print-directory configure
	cmake --build $(BUILD) -j $(JOBS) --target featblas_command
	@$(BUILD)/featblas demo $(BUILD)/demo

test: packages
	@$(MAKE) --no-print-directory all
	ctest --test-dir $(BUILD) --output-on-failure -j $(JOBS)

check:
	@scripts/install_packages.sh check
	@scripts/check.sh

bench: all
	@bench/project.sh

gpu-test: configure
	cmake --build $(BUILD) -j $(JOBS) --target featblas_command
	@if scripts/gpu_check --bin $(BUILD) --ask; then cmake --build $(BUILD) -j $(JOBS) --target gpu_tests && \
	    scripts/gpu_check --bin $(BUILD) --out build/gpu-test --part 1 2; fi

bundle:
	@JOBS=$(JOBS) scripts/make_bundle.sh

format:
	clang-format -i $$(git ls-files '*.c' '*.h' '*.cu' '*.cuh' 'bench/*.cpp')

docs:
	mkdir -p build/docs && doxygen Doxyfile

# A build of its own: without tests, with kernels of GPUs where nvcc is.
install:
	@$(MAKE) --no-print-directory PRESET=install all
	cmake --install build/install

clean:
	rm -rf build
