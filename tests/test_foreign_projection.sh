# Projections and weights beside networkx and scipy (tests/foreign/projection.py), from the distribution's packages.
# Skipped where they are missing, but not in continuous integration (CI=true), where that is a failure.
#
# Labels: foreign, slow
set -u
: "${FEATBLAS_COMMAND:?the command to test}"
for python in python3 /usr/bin/python3 none; do
    [ $python != none ] || break
    "$python" -c 'import networkx, numpy, scipy' 2>/dev/null && break
done
if [ $python = none ]; then
    echo "no python3 with networkx and scipy: scripts/install_packages.sh check installs them"
    [ "${CI:-}" = true ] && exit 1
    exit 77
fi
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
if [ -f "${FEATBLAS_DATA:-}/ml-latest-small/ratings.csv" ]; then
    set -- "$FEATBLAS_DATA"
else
    echo "FEATBLAS_DATA does not name a folder with ml-latest-small: MovieLens is left out"
    set --
fi
OMP_NUM_THREADS=2 "$python" "${FEATBLAS_SOURCE_DIR:?}/tests/foreign/projection.py" "$FEATBLAS_COMMAND" "$folder" "$@"
