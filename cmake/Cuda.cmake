# Kernels of GPUs that are compiled with the library and that it has with it, so that a driver alone runs them.
#
#   FEATBLAS_CUDA=AUTO   where nvcc is there: what a plain configuration, `make install` and `make bundle` ask for
#   FEATBLAS_CUDA=ON     an error where it is not
#   FEATBLAS_CUDA=OFF    none: what the presets ask for that people develop with, and `make demo`
#
# Without them, or for another GPU, NVRTC compiles kernels when they are first wanted (gpu/compile.c).
set(FEATBLAS_CUDA AUTO CACHE STRING "Kernels of GPUs, compiled by nvcc, in the library: ON, OFF, or AUTO, where nvcc is there")
set_property(CACHE FEATBLAS_CUDA PROPERTY STRINGS AUTO ON OFF)
# Code for a GPU (sm_90) runs on others of its generation that are no older; what is compiled of a text (compute_90), on all
# that are no older, where the driver makes code of it, which takes seconds.
set(FEATBLAS_CUDA_TARGETS sm_80 sm_90 compute_90 CACHE STRING "What nvcc compiles kernels for")

find_package(CUDAToolkit QUIET)
find_program(FEATBLAS_GZIP gzip)
mark_as_advanced(FEATBLAS_GZIP)

# Why nothing can be compiled, to *why; "": it can. An nvcc that is there may refuse the host's compiler, which it asks for
# the headers: so it compiles one kernel, for each target.
function(ftb_cuda_lacks why)
  set(${why} "" PARENT_SCOPE)
  if(NOT (CUDAToolkit_NVCC_EXECUTABLE AND EXISTS "${CUDAToolkit_NVCC_EXECUTABLE}") OR CUDAToolkit_VERSION VERSION_LESS 12)
    set(${why} "nvcc of CUDA 12 or later is not there" PARENT_SCOPE)
    return()
  elseif(NOT FEATBLAS_GZIP)
    set(${why} "gzip is not there" PARENT_SCOPE)
    return()
  endif()
  set(file ${CMAKE_BINARY_DIR}/CMakeFiles/nvcc_works)
  file(WRITE ${file}.cu "__global__ void k(float *x) { *x = 1; }\n")
  foreach(target ${FEATBLAS_CUDA_TARGETS})
    execute_process(COMMAND ${CUDAToolkit_NVCC_EXECUTABLE} --ptx -arch=${target} --std=c++17 -o ${file}.ptx ${file}.cu
      RESULT_VARIABLE failed OUTPUT_VARIABLE says ERROR_VARIABLE says)
    if(failed)
      string(REGEX MATCH "[^\n]*error[^\n]*" error "${says}")
      if(NOT error)
        set(error "${says}")
      endif()
      string(STRIP "${error}" error)
      set(${why} "${CUDAToolkit_NVCC_EXECUTABLE} compiles nothing for ${target}: ${error}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

set(FEATBLAS_IMAGES "")
if(NOT FEATBLAS_CUDA MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "FEATBLAS_CUDA is ${FEATBLAS_CUDA}; expected ON, OFF or AUTO")
elseif(NOT FEATBLAS_CUDA STREQUAL "OFF")
  ftb_cuda_lacks(lacks)
  if(NOT lacks)
    set(FEATBLAS_NVCC "${CUDAToolkit_NVCC_EXECUTABLE}")
    set(FEATBLAS_IMAGES ${FEATBLAS_CUDA_TARGETS})
  elseif(FEATBLAS_CUDA STREQUAL "ON")
    message(FATAL_ERROR "FEATBLAS_CUDA=ON: ${lacks}")
  elseif(CUDAToolkit_NVCC_EXECUTABLE)
    message(STATUS "Without kernels of GPUs in the library: ${lacks}")
  endif()
endif()

# One source for one target, packed: a file <name>.<target>.gz, whose path goes to *image. Sums are as written, as NVRTC is
# told, too.
function(ftb_gpu_image image source target)
  get_filename_component(name ${source} NAME_WE)
  set(file ${CMAKE_BINARY_DIR}/images/${name}.${target})
  set(options --cubin -arch=${target} --std=c++17 --fmad=false -I${PROJECT_SOURCE_DIR})
  if(target MATCHES "^compute_")
    list(TRANSFORM options REPLACE "^--cubin$" --ptx)
  endif()
  if(FEATBLAS_WERROR)
    list(APPEND options -Werror all-warnings)
  endif()
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/images)
  add_custom_command(OUTPUT ${file}.gz
    COMMAND ${FEATBLAS_NVCC} ${options} -MD -MF ${file}.d -MT ${file}.gz -o ${file} ${source}
    COMMAND ${FEATBLAS_GZIP} -9nf ${file}
    DEPENDS ${source} DEPFILE ${file}.d VERBATIM COMMENT "Kernels ${name} for ${target}")
  set(${image} ${file}.gz PARENT_SCOPE)
endfunction()

# ftb_gpu_images(<file>...): those of the files that are sources of kernels, compiled, as a table, ftb_gpu_images
# (gpu/images.h); without rows where none are. The target gpu_images compiles them and nothing else.
function(ftb_gpu_images)
  set(FEATBLAS_IMAGES_DATA "")
  set(FEATBLAS_IMAGES_ROWS "")
  set(images "")
  foreach(source ${ARGN})
    foreach(target ${FEATBLAS_IMAGES})
      if(NOT source MATCHES "\\.cu$")
        continue()
      endif()
      ftb_gpu_image(image ${source} ${target})
      list(APPEND images ${image})
      list(LENGTH images n)
      file(RELATIVE_PATH path ${CMAKE_SOURCE_DIR} ${source})
      string(REGEX MATCH "[0-9]+" arch ${target})
      string(REGEX REPLACE "_.*" "" kind ${target})
      string(APPEND FEATBLAS_IMAGES_DATA "IMAGE(${n}, \"${image}\")\n")
      string(APPEND FEATBLAS_IMAGES_ROWS "    ROW(${n}, \"${path}\", ${arch}, ${kind})\n")
    endforeach()
  endforeach()
  set(file ${CMAKE_BINARY_DIR}/cells/gpu_images.c)
  configure_file(cmake/gpu_images.c.in ${file} @ONLY)
  set_source_files_properties(${file} PROPERTIES OBJECT_DEPENDS "${images}")
  set(FEATBLAS_SOURCES ${FEATBLAS_SOURCES} ${file} PARENT_SCOPE)
  if(images)
    add_custom_target(gpu_images DEPENDS ${images})
  endif()
endfunction()
