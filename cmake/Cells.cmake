# ftb_cells(): kernel files are compiled once per cell. A source whose head comment has a line
#
#     Cells: instruction sets      is compiled once per instruction set (src/core/isa.h), with FTB_ISA set
#     Cells: f32, f64              the same for each of two types, the second with FTB_REAL64
#
# The file itself becomes the first cell; a one-line file in the build folder includes it again for each other.
# Call it between the list of sources and add_library.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64)$")
  set(FTB_X86_CELLS ON)
  set(FTB_FLAGS_avx2 -mavx2 -mfma -mbmi2 -mpopcnt)
  set(FTB_FLAGS_avx512 ${FTB_FLAGS_avx2} -mavx512f -mavx512bw -mavx512cd -mavx512dq -mavx512vl
    -mprefer-vector-width=512)
endif()

# Neither errno nor floating-point traps are looked at after a kernel: without them sqrt and ?: vectorise.
# Values are the same with and without. The build types other than Debug get -O3, as loops are written for it; cells that
# only machines without AVX2 run get vectors and unrolled loops of it and no more, which takes three quarters as long.
include(CheckCCompilerFlag)
set(FTB_FLAGS_kernel -fno-math-errno -fno-trapping-math)
set(FTB_FLAGS_fast $<$<NOT:$<CONFIG:Debug>>:-O3>)
set(FTB_FLAGS_baseline ${FTB_FLAGS_fast})
check_c_compiler_flag("-fpeel-loops -fvect-cost-model=dynamic" FTB_VECTOR_FLAGS)
if(FTB_X86_CELLS AND FTB_VECTOR_FLAGS)
  set(FTB_FLAGS_baseline "$<$<NOT:$<CONFIG:Debug>>:-O2;-fpeel-loops;-fvect-cost-model=dynamic>")
endif()

# A kernel is thousands of loads: of the checks of each, those go that the address sanitizer makes as well (with them,
# compiling takes three times as long).
if(FEATBLAS_SANITIZE MATCHES "address.*undefined")
  list(APPEND FTB_FLAGS_kernel -fno-sanitize=null,object-size,pointer-overflow)
endif()

# Adds a cell of `file`: a copy by inclusion, or the file itself where `suffix` is empty.
macro(ftb_cell file suffix isa)
  set(cell ${file})
  if(NOT "${suffix}" STREQUAL "")
    get_filename_component(stem ${file} NAME_WE)
    set(cell ${CMAKE_BINARY_DIR}/cells/${stem}${suffix}.c)
    file(CONFIGURE OUTPUT ${cell} CONTENT "#include \"${file}\"\n")
    list(APPEND FEATBLAS_SOURCES ${cell})
  endif()
  set_property(SOURCE ${cell} APPEND PROPERTY COMPILE_DEFINITIONS FTB_ISA=${isa} ${ARGN})
  set_property(SOURCE ${cell} APPEND PROPERTY COMPILE_OPTIONS ${FTB_FLAGS_kernel})
  if(${isa} EQUAL 0)
    set_property(SOURCE ${cell} APPEND PROPERTY COMPILE_OPTIONS ${FTB_FLAGS_baseline})
  elseif(${isa} EQUAL 1)
    set_property(SOURCE ${cell} APPEND PROPERTY COMPILE_OPTIONS ${FTB_FLAGS_fast} ${FTB_FLAGS_avx2})
  elseif(${isa} EQUAL 2)
    set_property(SOURCE ${cell} APPEND PROPERTY COMPILE_OPTIONS ${FTB_FLAGS_fast} ${FTB_FLAGS_avx512})
  endif()
endmacro()

function(ftb_cells)
  foreach(file ${FEATBLAS_SOURCES})
    file(STRINGS ${file} line REGEX "Cells: " LIMIT_COUNT 1)
    if(NOT line)
      continue()
    endif()
    ftb_cell(${file} "" 0)
    if(line MATCHES "f64")
      ftb_cell(${file} _f64 0 FTB_REAL64)
    endif()
    if(FTB_X86_CELLS)
      ftb_cell(${file} _avx2 1)
      ftb_cell(${file} _avx512 2)
      if(line MATCHES "f64")
        ftb_cell(${file} _f64_avx2 1 FTB_REAL64)
        ftb_cell(${file} _f64_avx512 2 FTB_REAL64)
      endif()
    endif()
  endforeach()
  set(FEATBLAS_SOURCES ${FEATBLAS_SOURCES} PARENT_SCOPE)
endfunction()
