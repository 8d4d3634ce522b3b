# Tests, examples and benchmarks. A test's labels follow its name (test_fuzz_*, test_cli_*, test_property_*;
# unit otherwise); a line "Labels: property, slow" in its head comment overrides them. serial: the thread sanitizer
# leaves it out, since nothing in it is large enough to be split among threads, or others split the same.
pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)

# Tests ask for more memory than there is. Archer tells the thread sanitizer what OpenMP synchronises;
# libraries that are not ours are not instrumented.
if(FEATBLAS_SANITIZE MATCHES "address")
  set(FEATBLAS_SANITIZER_ENVIRONMENT 
    ASAN_OPTIONS=allocator_may_return_null=1:quarantine_size_mb=32:malloc_context_size=8)
elseif(FEATBLAS_SANITIZE MATCHES "thread")
  file(GLOB archer /usr/lib/llvm-*/lib/libarcher.so /usr/lib64/libarcher.so)
  list(GET archer -1 archer)
  set(FEATBLAS_SANITIZER_ENVIRONMENT OMP_NUM_THREADS=4 OMP_TOOL_LIBRARIES=${archer}
    TSAN_OPTIONS=ignore_noninstrumented_modules=1:allocator_may_return_null=1)
endif()

# Those that take longest start first, so that no processor waits for the last of them.
set(FEATBLAS_LONGEST test_gpu_compile test_cli_cora test_docs test_cli_plan test_fuzz_texts test_gpu_layers gpu_attention test_cli_project test_plan_work test_fuzz_model test_nn_layers pretend_nn_layers
  test_foreign_projection test_spgemm_plan test_io_limit test_cli_kill)

function(featblas_label name source)
  file(STRINGS ${source} line REGEX "Labels: " LIMIT_COUNT 1)
  if(line)
    string(REGEX REPLACE ".*Labels: ([a-z, ]*[a-z]).*" "\\1" labels "${line}")
    string(REGEX REPLACE "[ ,]+" ";" labels "${labels}")
  elseif(name MATCHES "^test_(fuzz|cli|property)")
    set(labels ${CMAKE_MATCH_1})
  else()
    set(labels unit)
  endif()
  if(name MATCHES "^(test_)?gpu_")
    list(APPEND labels gpu)
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "${labels}" TIMEOUT 900 SKIP_RETURN_CODE 77)
  if(name IN_LIST FEATBLAS_LONGEST)
    set_tests_properties(${name} PROPERTIES COST 1)
  endif()
  # Many tests at once have more threads than cores: those that wait must not spin (300 s in place of 1 s).
  set(environment FEATBLAS_SOURCE_DIR=${PROJECT_SOURCE_DIR} OMP_WAIT_POLICY=passive
    ${FEATBLAS_SANITIZER_ENVIRONMENT})
  if(TARGET featblas_command)
    list(APPEND environment FEATBLAS_COMMAND=$<TARGET_FILE:featblas_command>)
  endif()
  if(name MATCHES "(gpu|devices)") # those who ask for drivers that do not exist
    list(APPEND environment FEATBLAS_FAKE_DRIVERS=${FEATBLAS_FAKE_DRIVERS})
  endif()
  if(name MATCHES "clusters")
    list(APPEND environment FEATBLAS_FAKE_METIS=${FEATBLAS_FAKE_METIS})
  elseif(name STREQUAL "test_docs") # what documents show of partitions must not need METIS
    list(APPEND environment FEATBLAS_METIS=${FEATBLAS_FAKE_METIS}/fake_metis_32.so)
  endif()
  set_tests_properties(${name} PROPERTIES ENVIRONMENT "${environment}")
endfunction()

# A source that includes <GraphBLAS.h>, or stands beside it in a benchmark, makes objects of GraphBLAS: a build without it leaves the source out.
set(FEATBLAS_LEFT_OUT "")
function(featblas_with_graphblas list)
  if(FEATBLAS_GRAPHBLAS)
    return()
  endif()
  foreach(source ${${list}})
    file(STRINGS ${source} line REGEX "^#include (<GraphBLAS.h>|\"support/peer_grb.h\")" LIMIT_COUNT 1)
    if(line)
      list(REMOVE_ITEM ${list} ${source})
      get_filename_component(name ${source} NAME_WE)
      list(APPEND FEATBLAS_LEFT_OUT ${name})
    endif()
  endforeach()
  set(${list} "${${list}}" PARENT_SCOPE)
  set(FEATBLAS_LEFT_OUT "${FEATBLAS_LEFT_OUT}" PARENT_SCOPE)
endfunction()

# Tests use names that the shared library hides. A static one would be copied into each of them (86 MB under the address
# sanitizer); those that wrap functions of it link that, though.
add_library(featblas_whole SHARED $<TARGET_OBJECTS:featblas_objects>)
target_link_libraries(featblas_whole INTERFACE ${FEATBLAS_PUBLIC_LINKED} PUBLIC ${FEATBLAS_LINKED} PRIVATE featblas_flags)
set(FEATBLAS_WRAPPING test_plan_work test_threads)

file(GLOB support CONFIGURE_DEPENDS tests/support/*.c tests/oracle/*.c tests/support/fake_cuda/fake_fails.c)
featblas_with_graphblas(support)
if(support)
  add_library(featblas_test_support STATIC ${support})
  target_include_directories(featblas_test_support PUBLIC tests)
  target_link_libraries(featblas_test_support PUBLIC featblas_internals PkgConfig::CMOCKA)
  target_compile_definitions(featblas_test_support PUBLIC $<$<BOOL:${FEATBLAS_GRAPHBLAS}>:FTB_GRAPHBLAS_ORACLE>)
  # Every test can be placed on a device that does not exist (tests/support/pretend.h).
  target_link_options(featblas_test_support INTERFACE LINKER:-u,pretend_by_environment)
endif()

# A driver of GPUs that do not exist, and one that lacks a function: modules that the library opens by their paths.
set(FEATBLAS_FAKE_DRIVERS ${PROJECT_BINARY_DIR}/fake_drivers)
foreach(driver fake_cuda fake_cuda_lacks)
  add_library(${driver} MODULE tests/support/fake_cuda/fake_cuda.c tests/support/fake_cuda/fake_contexts.c
    tests/support/fake_cuda/fake_fails.c tests/support/fake_cuda/fake_graphs.c tests/support/fake_cuda/fake_mapped.c
    tests/support/fake_cuda/fake_memory.c)
  set_target_properties(${driver} PROPERTIES PREFIX "" SUFFIX ".so" LIBRARY_OUTPUT_DIRECTORY ${FEATBLAS_FAKE_DRIVERS})
  target_include_directories(${driver} PRIVATE .)
  target_link_libraries(${driver} PRIVATE featblas_flags)
endforeach()
target_compile_definitions(fake_cuda_lacks PRIVATE FAKE_CUDA_LACKS)
foreach(library fake_nvrtc fake_cublas fake_cusparse)
  add_library(${library} MODULE tests/support/fake_cuda/${library}.c)
  set_target_properties(${library} PROPERTIES PREFIX "" SUFFIX ".so" LIBRARY_OUTPUT_DIRECTORY ${FEATBLAS_FAKE_DRIVERS})
  target_include_directories(${library} PRIVATE . src)
  target_link_libraries(${library} PRIVATE featblas_flags ${CMAKE_DL_LIBS})
endforeach()

# METIS that checks what it is given: of 32 and of 64 bits, and one that lacks a function.
set(FEATBLAS_FAKE_METIS ${PROJECT_BINARY_DIR}/fake_metis)
foreach(library fake_metis_32 fake_metis_64 fake_metis_lacks)
  add_library(${library} MODULE tests/support/fake_metis/fake_metis.c)
  set_target_properties(${library} PROPERTIES PREFIX "" SUFFIX ".so" LIBRARY_OUTPUT_DIRECTORY ${FEATBLAS_FAKE_METIS})
  target_link_libraries(${library} PRIVATE featblas_flags)
endforeach()
target_compile_definitions(fake_metis_64 PRIVATE FAKE_METIS_BITS=64)
target_compile_definitions(fake_metis_lacks PRIVATE FAKE_METIS_LACKS)

file(GLOB sources CONFIGURE_DEPENDS tests/test_*.c)
featblas_with_graphblas(sources)
foreach(source ${sources})
  get_filename_component(name ${source} NAME_WE)
  add_executable(${name} ${source})
  target_include_directories(${name} PRIVATE tests)
  set(library featblas_whole)
  if(name IN_LIST FEATBLAS_WRAPPING)
    set(library featblas_static)
  endif()
  target_link_libraries(${name} PRIVATE $<TARGET_NAME_IF_EXISTS:featblas_test_support> featblas_gen featblas_dataset
    ${library} featblas_internals PkgConfig::CMOCKA PkgConfig::JANSSON)
  if(name STREQUAL test_gpu_frames)
    add_test(NAME ${name} COMMAND ${name} CONFIGURATIONS slow) # compiles every kernel once more
  else()
    add_test(NAME ${name} COMMAND ${name})
  endif()
  featblas_label(${name} ${source})
endforeach()

# The same tests on devices that do not exist: some always, the rest with `ctest -C pretend -L 'pretend|oracle'`.
set(FEATBLAS_PRETEND_ALWAYS test_sample test_spmm test_spmm_mean test_heads test_block_write test_block_gather test_mxm_grad test_nn_tape
  test_nn_ops test_nn_layers test_optimizer)
set(FEATBLAS_ORACLE_ALWAYS test_sample_select test_spmm test_attention test_softmax test_block_gather test_block_reduce
  test_nn_ops test_nn_layers test_optimizer)
# Of the pretend device, of too many pairs for the other, of what the host keeps for later products, of FP32 computed in
# FP32, of sums that cancel, and of 4 GiB blocks.
set(FEATBLAS_ORACLE_NEVER test_sample test_device test_device_blocks test_device_full test_device_ops test_device_gradients test_device_products test_device_spgemm
  test_spgemm_hot test_spmm_uses test_sddmm_sum test_block_apply test_floats test_gen_movielens test_plan_work test_vertex test_vertex_plain
  test_vertex_device)
set(FEATBLAS_PRETEND_NEVER test_spmm_uses)
foreach(source ${sources})
  get_filename_component(name ${source} NAME_WE)
  if(name MATCHES "^test_(simt|gpu)") # of kernels, and of devices of their own
    continue()
  endif()
  foreach(device IN ITEMS pretend oracle)
    string(TOUPPER ${device} upper)
    string(REPLACE test_ ${device}_ there ${name})
    if(name IN_LIST FEATBLAS_${upper}_ALWAYS)
      add_test(NAME ${there} COMMAND ${name})
    elseif(NOT name IN_LIST FEATBLAS_${upper}_NEVER)
      add_test(NAME ${there} COMMAND ${name} CONFIGURATIONS pretend)
    else()
      continue()
    endif()
    featblas_label(${there} ${source})
    set_property(TEST ${there} APPEND PROPERTY ENVIRONMENT FEATBLAS_PRETEND=$<IF:$<STREQUAL:${device},oracle>,oracle,1>)
    if(FEATBLAS_SANITIZE) # all cases are the release build's: here it is the assertions that look
      set_property(TEST ${there} APPEND PROPERTY ENVIRONMENT FEATBLAS_CASES=25%)
    endif()
    set_property(TEST ${there} APPEND PROPERTY LABELS ${device})
  endforeach()
endforeach()

# The same tests with every matrix held as a hypersparse one, of those that take it as such, or look at what they get.
foreach(name test_apply test_select test_ewise test_reduce test_extract test_assign test_mxm test_mxm_arg
             test_mxv test_complement test_core_graphblas test_softmax test_sddmm_sum)
  string(REPLACE test_ listed_ there ${name})
  add_test(NAME ${there} COMMAND ${name})
  featblas_label(${there} ${PROJECT_SOURCE_DIR}/tests/${name}.c)
  set_property(TEST ${there} APPEND PROPERTY ENVIRONMENT FEATBLAS_LISTED=1 FEATBLAS_CASES=25%)
endforeach()

# And on a device that often has no room, whose work the host takes over. A sanitizer sees nothing new in it.
if(NOT FEATBLAS_SANITIZE)
  foreach(name test_spmm test_mxm_grad test_nn_tape)
    string(REPLACE test_ full_ there ${name})
    add_test(NAME ${there} COMMAND ${name})
    featblas_label(${there} ${PROJECT_SOURCE_DIR}/tests/${name}.c)
    set_property(TEST ${there} APPEND PROPERTY ENVIRONMENT FEATBLAS_PRETEND=7full FEATBLAS_CASES=25%)
  endforeach()
endif()

# And on a GPU of the driver that does not exist: what has no verb there is done on the host. A sanitizer sees nothing new in it.
set(FEATBLAS_GPU_ALWAYS test_mxm_grad test_block_gather test_softmax test_attention test_sddmm_sum)
set(FEATBLAS_GPU_SLOW test_mxm test_project test_spmm test_sddmm test_nn_ops test_nn_tape test_nn_layers test_nn_map test_optimizer) # -C pretend -L pretend
set(FEATBLAS_GPU_PLACED ${FEATBLAS_GPU_ALWAYS} ${FEATBLAS_GPU_SLOW})
if(FEATBLAS_SANITIZE)
  set(FEATBLAS_GPU_ALWAYS)
endif()
foreach(name ${FEATBLAS_GPU_ALWAYS} ${FEATBLAS_GPU_SLOW})
  string(REPLACE test_ gpu_ there ${name})
  if(name IN_LIST FEATBLAS_GPU_SLOW)
    add_test(NAME ${there} COMMAND ${name} CONFIGURATIONS pretend)
  else()
    add_test(NAME ${there} COMMAND ${name})
  endif()
  featblas_label(${there} ${PROJECT_SOURCE_DIR}/tests/${name}.c)
  set_property(TEST ${there} APPEND PROPERTY ENVIRONMENT FEATBLAS_PRETEND=gpu FEATBLAS_CASES=25%
    $<$<NOT:$<IN_LIST:${name},${FEATBLAS_GPU_SLOW}>>:FAKE_NVRTC_TEXTS=0> FEATBLAS_CACHE=0 # each has a hundred texts to compile
    FEATBLAS_CUDA_DRIVER=${FEATBLAS_FAKE_DRIVERS}/fake_cuda.so FEATBLAS_NVRTC=${FEATBLAS_FAKE_DRIVERS}/fake_nvrtc.so
    FEATBLAS_CUBLAS= FEATBLAS_CUSPARSE=)
  if(name IN_LIST FEATBLAS_GPU_SLOW)
    set_property(TEST ${there} APPEND PROPERTY LABELS pretend)
  endif()
endforeach()

# What scripts/gpu_check runs on a real GPU: the tests of GPUs, and those that are placed on one.
set(FEATBLAS_GPU_TESTS "")
foreach(source ${sources})
  get_filename_component(name ${source} NAME_WE)
  if(name MATCHES "^test_gpu")
    string(APPEND FEATBLAS_GPU_TESTS "${name}\n")
  endif()
endforeach()
foreach(name ${FEATBLAS_GPU_PLACED})
  if(NOT name IN_LIST FEATBLAS_LEFT_OUT)
    set(how placed)
    if(name IN_LIST FEATBLAS_GPU_SLOW)
      set(how slow)
    endif()
    string(APPEND FEATBLAS_GPU_TESTS "${name} ${how}\n")
  endif()
endforeach()
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/gpu_tests.txt CONTENT "${FEATBLAS_GPU_TESTS}")
string(REGEX MATCHALL "test_[a-z_]+" gpu_tests "${FEATBLAS_GPU_TESTS}")
add_custom_target(gpu_tests DEPENDS ${gpu_tests} fake_cuda fake_cuda_lacks fake_nvrtc fake_cublas fake_cusparse featblas_command)

add_dependencies(test_gpu_driver fake_cuda fake_cuda_lacks)
add_dependencies(test_gpu_memory fake_cuda)
add_dependencies(test_clusters_metis fake_metis_32 fake_metis_64 fake_metis_lacks)
foreach(name test_gpu_spmm test_gpu_rows test_gpu_update test_gpu_head_dots test_gpu_softmax test_gpu_sddmm test_gpu_attention
    test_gpu_loss test_gpu_dense test_gpu_expression test_gpu_layers test_gpu_images test_gpu_cublas test_gpu_cusparse test_gpu_cusparse_dots test_gpu_place test_gpu_spgemm test_gpu_spgemm_texts
    test_gpu_products test_gpu_products_more test_gpu_stream test_gpu_graph test_gpu_graph_changes test_gpu_wrap test_gpu_features test_gpu_loader test_gpu_lanes test_gpu_vertex)
  add_dependencies(${name} fake_cuda fake_nvrtc)
endforeach()
# A GPU that loads no kernel: the host does all of it.
add_test(NAME gpu_layers_unloaded COMMAND test_gpu_layers)
featblas_label(gpu_layers_unloaded ${PROJECT_SOURCE_DIR}/tests/test_gpu_layers.c)
set_property(TEST gpu_layers_unloaded APPEND PROPERTY ENVIRONMENT FAKE_CUDA_FAILS=cuModuleLoadData FAKE_NVRTC_TEXTS=0)
add_dependencies(test_gpu_compile fake_nvrtc)
add_dependencies(test_gpu_dense fake_cublas)
add_dependencies(test_gpu_cublas fake_cublas)
add_dependencies(test_gpu_cusparse fake_cusparse)
add_dependencies(test_gpu_cusparse_dots fake_cusparse)
find_library(NVRTC_LIBRARY NAMES nvrtc HINTS /usr/local/cuda PATH_SUFFIXES lib64 lib)
mark_as_advanced(NVRTC_LIBRARY)
if(NVRTC_LIBRARY AND NOT FEATBLAS_SANITIZE) # which sees nothing of it
  add_test(NAME all_frames COMMAND test_gpu_frames CONFIGURATIONS slow) # of the oldest generation
  set_property(TEST all_frames PROPERTY LABELS slow)
  set_property(TEST all_frames APPEND PROPERTY ENVIRONMENT TEST_GPU_OLDEST=1)
  set_property(TEST test_gpu_compile test_gpu_frames all_frames APPEND PROPERTY ENVIRONMENT FEATBLAS_TEST_NVRTC=${NVRTC_LIBRARY})
endif()
find_library(CUBLAS_LIBRARY NAMES cublas HINTS /usr/local/cuda PATH_SUFFIXES lib64 lib)
mark_as_advanced(CUBLAS_LIBRARY)
if(CUBLAS_LIBRARY AND NOT FEATBLAS_SANITIZE)
  set_property(TEST test_gpu_cublas APPEND PROPERTY ENVIRONMENT FEATBLAS_TEST_CUBLAS=${CUBLAS_LIBRARY})
endif()

find_library(CUSPARSE_LIBRARY NAMES cusparse HINTS /usr/local/cuda PATH_SUFFIXES lib64 lib)
mark_as_advanced(CUSPARSE_LIBRARY)
if(CUSPARSE_LIBRARY AND NOT FEATBLAS_SANITIZE)
  set_property(TEST test_gpu_cusparse APPEND PROPERTY ENVIRONMENT FEATBLAS_TEST_CUSPARSE=${CUSPARSE_LIBRARY})
endif()

if(TARGET test_graphblas_handles) # compares the library's names with the header's
  target_compile_definitions(test_graphblas_handles PRIVATE FTB_GRAPHBLAS_HEADER="${GraphBLAS_INCLUDE_DIR}/GraphBLAS.h")
endif()

if(TARGET test_plan_work) # counts what the library allocates and clears
  target_link_options(test_plan_work PRIVATE
    -Wl,--wrap=malloc,--wrap=calloc,--wrap=memset,--wrap=memcpy,--wrap=memmove)
endif()

if(TARGET test_threads AND CMAKE_C_COMPILER_ID STREQUAL "GNU") # sees what the OpenMP run-time is asked for
  foreach(call "" _loop_static _loop_dynamic _loop_guided _loop_nonmonotonic_dynamic _loop_nonmonotonic_guided)
    target_link_options(test_threads PRIVATE -Wl,--wrap=GOMP_parallel${call})
  endforeach()
endif()

file(GLOB scripts CONFIGURE_DEPENDS tests/test_*.sh)
foreach(source ${scripts})
  get_filename_component(name ${source} NAME_WE)
  add_test(NAME ${name} COMMAND bash ${source})
  featblas_label(${name} ${source})
endforeach()

# Examples see the public header and the shared library only.
file(GLOB examples CONFIGURE_DEPENDS examples/*.c)
featblas_with_graphblas(examples)
foreach(source ${examples})
  get_filename_component(name ${source} NAME_WE)
  add_executable(example_${name} ${source})
  target_link_libraries(example_${name} PRIVATE featblas_shared featblas_flags m)
  add_test(NAME example_${name} COMMAND example_${name})
  featblas_label(example_${name} ${source})
endforeach()

# Consumers of the install tree: find_package and pkg-config, C and C++.
add_test(NAME test_install COMMAND bash ${PROJECT_SOURCE_DIR}/tests/install/run.sh
  ${PROJECT_BINARY_DIR} ${CMAKE_C_COMPILER} "${FEATBLAS_SANITIZE}")
featblas_label(test_install ${PROJECT_SOURCE_DIR}/tests/install/run.sh)

# What the documents show is executed; some of it has objects of GraphBLAS.
if(FEATBLAS_GRAPHBLAS)
  add_test(NAME test_docs COMMAND bash ${PROJECT_SOURCE_DIR}/tests/docs/run.sh
    ${PROJECT_BINARY_DIR} ${CMAKE_C_COMPILER} "${FEATBLAS_SANITIZE}")
  featblas_label(test_docs ${PROJECT_SOURCE_DIR}/tests/docs/run.sh)
else()
  list(APPEND FEATBLAS_LEFT_OUT test_docs)
endif()

# The public header from C++, where there is a C++ compiler.
include(CheckLanguage)
check_language(CXX)
if(CMAKE_CXX_COMPILER)
  enable_language(CXX)
endif()
# Sanitizers' run-times do not mix.
if(CMAKE_CXX_COMPILER AND (NOT FEATBLAS_SANITIZE OR CMAKE_CXX_COMPILER_ID STREQUAL CMAKE_C_COMPILER_ID))
  add_executable(test_cxx_header tests/cxx_header.cpp)
  target_compile_options(test_cxx_header PRIVATE -Wall -Wextra -Wshadow -Wconversion -pedantic
    $<$<BOOL:${FEATBLAS_WERROR}>:-Werror>)
  set_target_properties(test_cxx_header PROPERTIES CXX_STANDARD 17 CXX_EXTENSIONS OFF)
  if(FEATBLAS_SANITIZE)
    target_link_options(test_cxx_header PRIVATE -fsanitize=${FEATBLAS_SANITIZE})
  endif()
  target_link_libraries(test_cxx_header PRIVATE featblas_shared)
  add_test(NAME test_cxx_header COMMAND test_cxx_header)
  featblas_label(test_cxx_header ${PROJECT_SOURCE_DIR}/tests/cxx_header.cpp)
endif()

# Kernels of a GPU on the CPU: an emulator, and sources in CUDA that it runs. Only tests that use it have them, and one
# that says so stands in their place where it is not: it is written for g++, and sanitizers' run-times do not mix with its own.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" AND UNIX AND NOT APPLE
   AND NOT FEATBLAS_SANITIZE)
  include(cmake/simt.cmake)
else()
  foreach(driver fake_cuda fake_cuda_lacks)
    target_sources(${driver} PRIVATE tests/support/fake_cuda/fake_none.c)
  endforeach()
  file(GLOB sources CONFIGURE_DEPENDS tests/test_simt*.c)
  foreach(source ${sources})
    get_filename_component(name ${source} NAME_WE)
    set_target_properties(${name} PROPERTIES SOURCES ${PROJECT_SOURCE_DIR}/tests/support/simt/skipped.c)
  endforeach()
endif()

# Benchmarks are built with the rest, so that they keep compiling; only people run them, not under a sanitizer. The plain
# loops are what a user's compiler makes of them, for this machine.
if(FEATBLAS_SANITIZE)
  return()
endif()
include(CheckCCompilerFlag)
check_c_compiler_flag(-march=native FEATBLAS_MARCH_NATIVE)
file(GLOB plain CONFIGURE_DEPENDS bench/plain/*.c)
set_source_files_properties(${plain} PROPERTIES COMPILE_OPTIONS
  "-O3;-ffast-math;-ffp-contract=fast$<$<BOOL:${FEATBLAS_MARCH_NATIVE}>:;-march=native>")
file(GLOB support CONFIGURE_DEPENDS bench/support/*.c)
featblas_with_graphblas(support)
add_library(featblas_bench STATIC ${support} ${plain})
target_include_directories(featblas_bench PUBLIC bench)
target_link_libraries(featblas_bench PUBLIC featblas_gen featblas_dataset featblas_static featblas_internals
  PkgConfig::JANSSON ${CMAKE_DL_LIBS} m)
file(GLOB benchmarks CONFIGURE_DEPENDS bench/*.c)
featblas_with_graphblas(benchmarks)
foreach(source ${benchmarks})
  get_filename_component(name ${source} NAME_WE)
  add_executable(bench_${name} ${source})
  target_link_libraries(bench_${name} PRIVATE featblas_bench)
endforeach()

# The library's own calls on a GPU (bench/gpu/products/): where there is none it says so.
file(GLOB products CONFIGURE_DEPENDS bench/gpu/products/*.c)
list(FILTER products EXCLUDE REGEX "signatures.c$")
add_executable(bench_gpu_products ${products})
target_link_libraries(bench_gpu_products PRIVATE featblas_bench)

if(FEATBLAS_LEFT_OUT)
  list(JOIN FEATBLAS_LEFT_OUT " " left_out)
  message(STATUS "Without GraphBLAS these are not built: ${left_out}")
endif()
