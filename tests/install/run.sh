#!/usr/bin/env bash
# run.sh BUILD CC SANITIZE: installs the build into a scratch folder and builds consumers against it, by
# find_package (shared, static) and by pkg-config (C, and C++ where there is a compiler).
set -euo pipefail
build=$1 cc=$2 sanitize=$3
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
prefix=$scratch/prefix
flags=${sanitize:+-fsanitize=$sanitize}

cmake --install "$build" --prefix "$prefix" > /dev/null
libdir=$(dirname "$(find "$prefix" -name 'libfeatblas.so' -o -name 'libfeatblas.dylib' | head -1)")
export LD_LIBRARY_PATH=$libdir${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

# A build without GraphBLAS asks nobody for it; no build loads it by itself.
if grep -q '^#define FEATBLAS_NO_GRAPHBLAS' "$prefix/include/featblas/config.h"; then
    ! grep -rE 'lgraphblas|GraphBLAS::' "$libdir/pkgconfig" "$libdir/cmake" || exit 1
    echo "the installed package does not ask for GraphBLAS"
fi
if command -v readelf > /dev/null; then
    ! readelf -d "$libdir/libfeatblas.so" | grep graphblas || exit 1
    echo "the library loads no GraphBLAS"
fi

{ cmake -S "$here" -B "$scratch/build" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$cc" \
    -DCMAKE_C_FLAGS="$flags" && cmake --build "$scratch/build"; } > "$scratch/log" 2>&1 || {
    cat "$scratch/log"
    exit 1
}
for program in consumer consumer_static; do
    "$scratch/build/$program"
    echo "find_package: $program runs"
done


# project LANGUAGES COMPONENT: a project of these languages that links the component's library
project() {
    rm -rf "$scratch/project" && mkdir "$scratch/project"
    cp "$here/consumer.c" "$scratch/project/consumer.cpp"
    cat > "$scratch/project/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.22)
project(consumer LANGUAGES $1)
find_package(FeatBLAS 0.1 REQUIRED COMPONENTS $2)
add_executable(consumer consumer.cpp)
target_link_libraries(consumer PRIVATE FeatBLAS::featblas_$2)
END
    cmake -S "$scratch/project" -B "$scratch/project/build" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$cc" \
        > "$scratch/log" 2>&1 && cmake --build "$scratch/project/build" >> "$scratch/log" 2>&1
}
if project C shared || ! grep -q "there is no component 'shared'" "$scratch/log"; then
    cat "$scratch/log"
    exit 1
fi
echo "find_package: an unknown component is refused by name"

export PKG_CONFIG_PATH=$libdir/pkgconfig
# shellcheck disable=SC2046,SC2086
"$cc" $flags -std=c11 -Wall -Wextra -Werror "$here/consumer.c" -o "$scratch/c" $(pkg-config --cflags --libs featblas)
"$scratch/c"
echo "pkg-config: C consumer runs"
if [ "$(uname)" = Linux ]; then # whose linkers can be told to take the archive
    # shellcheck disable=SC2046,SC2086
    "$cc" $flags -std=c11 -Wall -Wextra -Werror "$here/consumer.c" -o "$scratch/static" \
        $(pkg-config --static --cflags --libs featblas | sed 's/-lfeatblas/-l:libfeatblas.a/')
    (unset LD_LIBRARY_PATH && "$scratch/static")
    echo "pkg-config --static: C consumer runs"
fi
if [ -n "$sanitize" ] || ! command -v c++ > /dev/null; then
    echo "no C++ consumer: it needs c++ and a build without sanitizers"
    exit 0
fi
project CXX static || {
    cat "$scratch/log"
    exit 1
}
"$scratch/project/build/consumer"
echo "find_package: C++ consumer of the static library runs, without a C compiler"
# shellcheck disable=SC2046
c++ -std=c++17 -Wall -Wextra -Werror -x c++ "$here/consumer.c" -o "$scratch/cpp" $(pkg-config --cflags --libs featblas)
"$scratch/cpp"
echo "pkg-config: C++ consumer runs"
