#!/usr/bin/env bash
# scripts/install_packages.sh with stand-ins for the package manager: nothing when all is there, only what is
# missing as root, a clear refusal otherwise.
set -euo pipefail
script=$FEATBLAS_SOURCE_DIR/scripts/install_packages.sh
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/bin"
for tool in bash env; do ln -s "$(command -v $tool)" "$scratch/bin/$tool"; done

stand_in() { # name, body
    printf '#!/usr/bin/env bash\n%s\n' "$2" > "$scratch/bin/$1"
    chmod +x "$scratch/bin/$1"
}
expect() { # what, pattern
    grep -q -- "$2" "$scratch/out" || { echo "$1: expected '$2' in:"; cat "$scratch/out"; exit 1; }
}
run() { PATH=$scratch/bin "$script" "$@" > "$scratch/out" 2>&1; }

stand_in apt-get 'echo "apt-get $*" >&2'
stand_in id 'echo 0'
stand_in dpkg-query 'echo -n installed'
run build
[ ! -s "$scratch/out" ] || { echo "all there, but it said:"; cat "$scratch/out"; exit 1; }

stand_in dpkg-query '[ "${@: -1}" = libzip-dev ] || echo -n installed'
run build
expect root 'installing: libzip-dev$'
expect root 'apt-get install -y .* libzip-dev$'

stand_in dpkg-query '[ "${@: -1}" = libgraphblas-dev ] || echo -n installed'
run build
expect GraphBLAS 'installing: libgraphblas-dev$'
FEATBLAS_GRAPHBLAS=OFF run build
[ ! -s "$scratch/out" ] || { echo "without GraphBLAS all is there, but it said:"; cat "$scratch/out"; exit 1; }
stand_in dpkg-query '[ "${@: -1}" = libzip-dev ] || echo -n installed'

stand_in id 'echo 1000'
! run build
expect user 'missing, and this user may not install them: libzip-dev$'
expect user 'apt-get install -y .* libzip-dev$'

stand_in sudo '[ "$1" = -n ] && shift && "$@"'
run check
expect sudo 'apt-get install -y .* libzip-dev$'

! run everything
expect usage 'usage: .*build|check'
echo "install_packages.sh: 7 situations"
