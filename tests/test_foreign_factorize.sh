# Factors of ratings beside numpy (tests/foreign/factorize.py). Skipped where that is missing, but not in continuous
# integration (CI=true), where that is a failure.
#
# Labels: foreign
set -u
: "${FEATBLAS_COMMAND:?the command to test}"
. "${FEATBLAS_SOURCE_DIR:?}/tests/foreign/python.sh"
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
OMP_NUM_THREADS=2 "$python" "$FEATBLAS_SOURCE_DIR/tests/foreign/factorize.py" "$FEATBLAS_COMMAND" "$folder"
