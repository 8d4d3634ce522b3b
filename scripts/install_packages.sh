#!/usr/bin/env bash
# install_packages.sh build|check: installs the distribution packages that are missing, and only those.
#
# build: what the library, the command and the tests need. check: also what scripts/check.sh needs.
# FEATBLAS_GRAPHBLAS=OFF, as the CMake option of that name: without GraphBLAS. Does nothing, and asks for nothing, when all is there. Where it may not install (neither root nor
# password-less sudo) it says what it would install and how, and fails.
set -euo pipefail

list=${1:-build}
case $list in
build | check) ;;
*)
    echo "usage: $0 build|check" >&2
    exit 2
    ;;
esac

as_root=yes
if command -v apt-get > /dev/null; then
    packages="gcc libc6-dev cmake make ninja-build pkg-config libgraphblas-dev libhwloc-dev zlib1g-dev
        librandom123-dev libjansson-dev libzip-dev libopenblas-dev libcairo2-dev libgraphviz-dev graphviz libcmocka-dev libmetis5 python3"
    [ "$list" = build ] || packages="$packages g++ clang clang-format clang-tidy libomp-dev doxygen git
        python3-networkx python3-scipy"
    have() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2> /dev/null)" = installed ]; }
    refresh="apt-get update -qq"
    install="apt-get install -y -qq --no-install-recommends"
    export DEBIAN_FRONTEND=noninteractive
elif command -v dnf > /dev/null; then
    packages="gcc cmake make ninja-build pkgconf-pkg-config suitesparse-devel hwloc-devel zlib-devel
        Random123-devel jansson-devel libzip-devel openblas-devel cairo-devel graphviz-devel graphviz libcmocka-devel metis python3"
    [ "$list" = build ] || packages="$packages gcc-c++ clang clang-tools-extra libomp-devel doxygen git
        python3-networkx python3-scipy"
    have() { rpm -q --whatprovides "$1" > /dev/null 2>&1; }
    refresh=""
    install="dnf install -y -q"
elif command -v brew > /dev/null; then
    packages="cmake ninja pkgconf libomp suite-sparse hwloc random123 jansson libzip openblas cairo graphviz cmocka metis"
    [ "$list" = build ] || packages="$packages llvm clang-format doxygen"
    have() { brew list --formula "$1" > /dev/null 2>&1; }
    refresh=""
    install="brew install -q"
    as_root=no
else
    echo "$0: no apt-get, dnf or brew here; docs/README.md lists what is needed" >&2
    exit 0
fi

missing=""
for package in $packages; do
    case $package in
    libgraphblas-dev | suitesparse-devel | suite-sparse) [ "${FEATBLAS_GRAPHBLAS:-ON}" != OFF ] || continue ;;
    esac
    have "$package" || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

sudo=""
if [ $as_root = yes ] && [ "$(id -u)" != 0 ]; then
    if command -v sudo > /dev/null && sudo -n true 2> /dev/null; then
        sudo="sudo -n"
    else
        echo "These packages are missing, and this user may not install them:$missing" >&2
        echo "As root, run: $install$missing" >&2
        exit 1
    fi
fi
echo "installing:$missing"
[ -z "$refresh" ] || $sudo $refresh
$sudo $install $missing > /dev/null
