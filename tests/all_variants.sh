#!/usr/bin/env bash
# Whether every kernel of gpu/kernels is run in the emulator: all tests of kernels, and of GPUs that do not
# exist, say which they ran (SIMT_RAN, tests/support/simt/report.cpp). Takes some minutes, of one processor;
# `ctest -C slow -R ^all_variants`. What is compiled of a text, whose name ends with 16 digits, is left out: each
# text has kernels of its own.
#     tests/all_variants.sh BUILD
set -euo pipefail
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
SIMT_RAN="$work/ran." ctest --test-dir "$build" -R '^test_(simt|gpu)_' -E 'compile|frames|check' --output-on-failure \
    > "$work/log" ||
    { tail -n 40 "$work/log"; exit 1; }
# What the emulator's own tests are made of is no kernel of the library's.
grep -oh 'FTB_KERNEL([A-Za-z0-9_]*)' "$here"/cases/simt/*.cu | sed 's/.*(\(.*\))/\1/' | sort -u > "$work/others"
sed -nE '/_[0-9a-f]{16}$/d; s/^has //p' "$work"/ran.* | sort -u | comm -23 - "$work/others" > "$work/has"
sed -n 's/^ran //p' "$work"/ran.* | sort -u > "$work/ran"
left=$(comm -23 "$work/has" "$work/ran")
[ -s "$work/has" ] || { echo "no kernel was run"; exit 1; }
if [ -n "$left" ]; then
    echo "no test runs:"
    echo "$left"
    exit 1
fi
echo "$(wc -l < "$work/has") kernels, each run by some test"
