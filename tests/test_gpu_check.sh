#!/usr/bin/env bash
# scripts/gpu_check over tests that pass, fail, crash, hang, skip themselves and are not there: each has its line, what hangs is cut
# off, the others go on, and the exit status says that something failed. Without a GPU it says so and all is well.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/bin"
export SCRATCH=$work/scratch
check=$FEATBLAS_SOURCE_DIR/scripts/gpu_check
fail() { echo "test_gpu_check: $1"; cat "$work/said" "$work/out/tests.json" 2> /dev/null; exit 1; }
make_test() { printf '#!/usr/bin/env bash\n%s\n' "$2" > "$work/bin/$1" && chmod +x "$work/bin/$1" && echo "$1 ${3:-}" >> "$work/bin/gpu_tests.txt"; }
ln -s "$FEATBLAS_COMMAND" "$work/bin/featblas"

# There is none.
FEATBLAS_CUDA_DRIVER='' "$check" --bin "$work/bin" --part 1 --out "$work/out" > "$work/said" || fail "no GPU is no failure"
grep -q '^There is no GPU to use: FEATBLAS_CUDA_DRIVER is empty' "$work/said" || fail "it does not say that there is no GPU"
[ "$(wc -l < "$work/said")" = 1 ] || fail "it says more than a sentence"
if FEATBLAS_CUDA_DRIVER='' "$check" --bin "$work/bin" --ask > "$work/said"; then fail "--ask finds a GPU"; fi

# What passes alone.
make_test test_good 'echo "skipped: a part of it"; exit 0'
make_test test_placed '[ "$FEATBLAS_PRETEND" = gpu ] && [ -n "$FEATBLAS_CUDA_DRIVER" ]' placed
make_test test_skipping 'exit 77'
"$check" --bin "$work/bin" --emulated --part 1 --out "$work/out" > "$work/said" || fail "nothing failed"
grep -q '^tests: 2 passed, 0 failed, 1 skipped$' "$work/said" || fail "counts of good tests"
grep -q '^    skipped: a part of it$' "$work/said" || fail "what a test skips is not said"

# What does not.
make_test test_bad 'echo "ERROR: \"quoted\" \\ and more"; exit 3'
make_test test_crash 'kill -SEGV $$'
make_test test_hang 'sleep 100'
make_test test_slow 'exit 1' slow
echo test_missing >> "$work/bin/gpu_tests.txt"
if TEST_LIMIT=5 JOBS=4 "$check" --bin "$work/bin" --emulated --part 1 --out "$work/out" > "$work/said"; then fail "failures are no failure"; fi
grep -q '^tests: 2 passed, 3 failed, 3 skipped$' "$work/said" || fail "counts"
for line in 'test_hang .*failed: cut off after 5 s' 'test_crash .*failed: exit status 139' 'test_slow .*skipped: ' \
    'test_missing .*skipped: it was not built'; do
    grep -qE "^$line" "$work/said" || fail "no line $line"
done
python3 - "$work/out/tests.json" <<'PYTHON' || fail "the JSON file"
import json, sys
said = json.load(open(sys.argv[1], encoding="utf-8"))
status = {test["name"]: test["status"] for test in said["tests"]}
assert len(status) == 8 and said["part"] == 1 and said["emulated"] is True
assert status["test_good"] == "passed" and status["test_bad"] == "failed: ERROR: quoted / and more", status
PYTHON

# Under a compute-sanitizer that is none: all alone, twice; one that refuses the device is no failure. The driver is a made-up one.
[ -f "$FEATBLAS_FAKE_DRIVERS/fake_cuda.so" ] || fail "no made-up driver"
export FEATBLAS_CUDA_DRIVER=$FEATBLAS_FAKE_DRIVERS/fake_cuda.so FEATBLAS_NVRTC='' PATH=$work/tools:$PATH
mkdir "$work/tools"
printf '#!/usr/bin/env bash\necho "$*" >> %s\nexec "${@: -1}"\n' "$work/sanitized" > "$work/tools/compute-sanitizer"
chmod +x "$work/tools/compute-sanitizer"
printf 'test_good\ntest_placed placed\n' > "$work/bin/gpu_tests.txt"
make_test test_gpu_winners '[ "$FEATBLAS_TEST_GPU" = real ] && [ -n "$FEATBLAS_CASES" ]'
"$check" --bin "$work/bin" --part 2 --out "$work/out" > "$work/said" || fail "part 2"
for tool in memcheck racecheck; do
    grep -q "^$tool: 2 passed, 0 failed, 0 skipped$" "$work/said" || fail "$tool"
    grep -q -- "--tool $tool .*/test_good$" "$work/sanitized" || fail "$tool was not called"
done
printf '#!/usr/bin/env bash\necho "Error: Device not supported"\nexit 1\n' > "$work/tools/compute-sanitizer"
"$check" --bin "$work/bin" --part 2 --out "$work/out" > "$work/said" || fail "a device that is not supported"
grep -q '^compute-sanitizer does not support' "$work/said" || fail "it does not say that the device is not supported"
if "$check" --bin "$work/bin" --part 0 > "$work/said" 2>&1; then fail "there is no part 0"; fi
