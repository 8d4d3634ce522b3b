# The emulator of a GPU (tests/support/simt/), kernels compiled for it, and the tests that run them: test_simt*.
set(FEATBLAS_CXX_FLAGS -Wall -Wextra -Wshadow -Wconversion $<$<BOOL:${FEATBLAS_WERROR}>:-Werror>)

# Always optimised: what it does at every access of a kernel is most of what these tests take.
file(GLOB emulator CONFIGURE_DEPENDS tests/support/simt/*.cpp)
add_library(featblas_simt OBJECT ${emulator})
target_compile_options(featblas_simt PRIVATE ${FEATBLAS_CXX_FLAGS} -O2)

# Every access calls a hook of the emulator's: the thread sanitizer's calls, without its run-time (nothing is said to the
# linker). Loops stay as they are written, so that one access of the source is one call.
file(GLOB kernels CONFIGURE_DEPENDS gpu/kernels/*.cu tests/cases/simt/*.cu)
set_source_files_properties(${kernels} PROPERTIES LANGUAGE CXX)
add_library(featblas_simt_kernels OBJECT ${kernels})
target_include_directories(featblas_simt_kernels PRIVATE . tests/support/simt)
target_compile_options(featblas_simt_kernels PRIVATE ${FEATBLAS_CXX_FLAGS} -Wno-unknown-pragmas -O1
  -ffp-contract=off -fno-exceptions -fno-rtti -g1 -fno-tree-vectorize -fno-unroll-loops
  -fsanitize=thread -fsanitize=bounds "SHELL:--param tsan-distinguish-volatile=1"
  "SHELL:--param tsan-instrument-func-entry-exit=0" "SHELL:-include simt_cuda.h")
set_target_properties(featblas_simt featblas_simt_kernels PROPERTIES CXX_STANDARD 17 CXX_EXTENSIONS ON
  POSITION_INDEPENDENT_CODE ON)

# How the compiler that does not exist makes kernels for it of texts.
target_compile_definitions(fake_nvrtc PRIVATE "FAKE_NVRTC_CXX=\"${CMAKE_CXX_COMPILER} -std=gnu++17 -w -O1 -fPIC -ffp-contract=off \
  -fno-exceptions -fno-rtti -fno-tree-vectorize -fno-unroll-loops -fsanitize=thread -fsanitize=bounds \
  --param tsan-distinguish-volatile=1 --param tsan-instrument-func-entry-exit=0 -include simt_cuda.h \
  -I${PROJECT_SOURCE_DIR} -I${PROJECT_SOURCE_DIR}/tests/support/simt -nostdlib -lstdc++ -lm -lc\"")

# The driver that does not exist runs kernels there.
foreach(driver fake_cuda fake_cuda_lacks)
  target_sources(${driver} PRIVATE tests/support/fake_cuda/fake_kernels.c)
  target_link_libraries(${driver} PRIVATE featblas_simt featblas_simt_kernels)
  set_target_properties(${driver} PROPERTIES LINKER_LANGUAGE CXX)
endforeach()

file(GLOB sources CONFIGURE_DEPENDS tests/test_simt*.c)
foreach(source ${sources})
  get_filename_component(name ${source} NAME_WE)
  target_include_directories(${name} PRIVATE .)
  target_link_libraries(${name} PRIVATE featblas_simt featblas_simt_kernels)
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
endforeach()

# All cases of every variant (case_all of tests/support/simt_case.h), in place of the part of them that a test
# says: `ctest -C slow -R ^all_simt`.
foreach(source ${sources})
  get_filename_component(name ${source} NAME_WE)
  file(STRINGS ${source} line REGEX "case_all|case_times" LIMIT_COUNT 1)
  if(line)
    string(REPLACE test_ all_ all ${name})
    add_test(NAME ${all} COMMAND ${name} CONFIGURATIONS slow)
    featblas_label(${all} ${source})
    set_property(TEST ${all} APPEND PROPERTY ENVIRONMENT FEATBLAS_VARIANTS=all)
    set_property(TEST ${all} PROPERTY LABELS slow)
  endif()
endforeach()

# That there is no kernel that none of the tests runs.
add_test(NAME all_variants COMMAND bash ${PROJECT_SOURCE_DIR}/tests/all_variants.sh ${PROJECT_BINARY_DIR} CONFIGURATIONS slow)
set_property(TEST all_variants PROPERTY LABELS slow)

# The way of tests to a real GPU, which the driver that does not exist stands for.
foreach(name memory softmax stream)
  add_test(NAME gpu_as_real_${name} COMMAND test_gpu_${name})
  featblas_label(gpu_as_real_${name} ${PROJECT_SOURCE_DIR}/tests/test_gpu_${name}.c)
  set_property(TEST gpu_as_real_${name} APPEND PROPERTY ENVIRONMENT FEATBLAS_TEST_GPU=real FAKE_CUDA_REAL=1 FEATBLAS_CACHE=0
    FEATBLAS_CUDA_DRIVER=${FEATBLAS_FAKE_DRIVERS}/fake_cuda.so FEATBLAS_NVRTC=${FEATBLAS_FAKE_DRIVERS}/fake_nvrtc.so FEATBLAS_CUBLAS= FEATBLAS_CUSPARSE=)
endforeach()
