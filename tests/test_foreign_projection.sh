# Projections and weights beside networkx and scipy (tests/foreign/projection.py), from the distribution's packages.
# Skipped where they are missing, but not in continuous integration (CI=true), where that is a failure.
#
# Labels: foreign, slow
set -u
: "${FEATBLAS_COMMAND:?the command to test}"
. "${FEATBLAS_SOURCE_DIR:?}/tests/foreign/python.sh"
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
if [ -f "${FEATBLAS_DATA:-}/ml-latest-small/ratings.csv" ]; then
    set -- "$FEATBLAS_DATA"
else
    echo "FEATBLAS_DATA does not name a folder with ml-latest-small: MovieLens is left out"
    set --
fi
OMP_NUM_THREADS=2 "$python" "$FEATBLAS_SOURCE_DIR/tests/foreign/projection.py" "$FEATBLAS_COMMAND" "$folder" "$@"
