# What configuring does with FEATBLAS_CUDA (cmake/Cuda.cmake) where nvcc is there, is too old, or refuses the host's compiler,
# and where it is not there.
. "${FEATBLAS_SOURCE_DIR:?}/tests/support/cli.sh" || exit 1

cat >FindCUDAToolkit.cmake <<'END'
set(CUDAToolkit_NVCC_EXECUTABLE "$ENV{NVCC}")
set(CUDAToolkit_VERSION "$ENV{NVCC_VERSION}")
END
cat >nvcc <<'END'
#!/bin/sh
echo "$*" >>asked
[ -z "$REFUSES" ] || { echo "In file included from nowhere"; echo "host_config.h:1: error: #error -- unsupported GNU version!"; exit 1; } >&2
END
chmod +x nvcc
printf '%s\n' "include($FEATBLAS_SOURCE_DIR/cmake/Cuda.cmake)" 'message("images: ${FEATBLAS_IMAGES}.")' >one.cmake
configures() { # configures EXIT OPTION: its words go to `out`
    cmake -DCMAKE_MODULE_PATH="$PWD" -DFEATBLAS_CUDA="$2" -P one.cmake >out 2>&1
    code=$?
    [ $((code != 0)) -eq "$1" ] || fail "FEATBLAS_CUDA=$2 ends with $code: $(cat out)"
}
says_so() { tr -s '\n ' ' ' <out | grep -qF -- "$1" || fail "not said: $1; but $(cat out)"; }

export NVCC=$PWD/nvcc NVCC_VERSION=12.4 REFUSES=
for option in AUTO ON; do
    configures 0 $option
    says_so "images: sm_80;sm_90;compute_90."
done
[ "$(grep -c -- '-arch=compute_90' asked)" -eq 2 ] || fail "not tried for each target: $(cat asked)"
rm asked
configures 0 OFF
says_so "images: ."
[ ! -e asked ] || fail "nvcc runs though nobody asks for it"

REFUSES=1
configures 0 AUTO
says_so "images: ."
says_so "Without kernels of GPUs in the library: $NVCC compiles nothing for sm_80: host_config.h:1: error: #error -- unsupported GNU version!"
configures 1 ON
says_so "FEATBLAS_CUDA=ON: $NVCC compiles nothing for sm_80: host_config.h:1: error: #error -- unsupported GNU version!"
configures 0 OFF

REFUSES=
NVCC_VERSION=11.8
configures 0 AUTO
says_so "images: ."
configures 1 ON
says_so "FEATBLAS_CUDA=ON: nvcc of CUDA 12 or later is not there"
NVCC=$PWD/nowhere NVCC_VERSION=12.4
configures 0 AUTO
says_so "images: ."
configures 1 ON
configures 1 PERHAPS
says_so "FEATBLAS_CUDA is PERHAPS; expected ON, OFF or AUTO"

finish
