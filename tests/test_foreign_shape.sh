# Triangles, clustering, betweenness, topological levels and PageRank beside networkx (tests/foreign/shape.py). Skipped where
# that is missing, but not in continuous integration (CI=true), where that is a failure.
#
# Labels: foreign, slow
set -u
: "${FEATBLAS_COMMAND:?the command to test}"
. "${FEATBLAS_SOURCE_DIR:?}/tests/foreign/python.sh"
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
OMP_NUM_THREADS=2 "$python" "$FEATBLAS_SOURCE_DIR/tests/foreign/shape.py" "$FEATBLAS_COMMAND" "$folder"
