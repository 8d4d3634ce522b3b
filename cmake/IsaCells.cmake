# ftb_isa_cells(<file>): compiles a kernel file once per instruction set (src/core/isa.h). The file itself,
# which must be in FEATBLAS_SOURCES, becomes the baseline cell; on x86-64 a one-line file in the build
# folder includes it again for each other cell. Call it between the list of sources and add_library.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64)$")
  set(FTB_X86_CELLS ON)
  set(FTB_FLAGS_avx2 -mavx2 -mfma -mbmi2 -mpopcnt)
  set(FTB_FLAGS_avx512 ${FTB_FLAGS_avx2} -mavx512f -mavx512bw -mavx512cd -mavx512dq -mavx512vl
    -mprefer-vector-width=512)
  set(FTB_ISA_avx2 1)
  set(FTB_ISA_avx512 2)
endif()

# Neither errno nor floating-point traps are looked at after a kernel: without them sqrt and ?: vectorise.
# Values are the same with and without. The build types other than Debug get -O3, as loops are written for it.
set(FTB_FLAGS_kernel -fno-math-errno -fno-trapping-math $<$<NOT:$<CONFIG:Debug>>:-O3>)

function(ftb_isa_cells file)
  set_property(SOURCE ${CMAKE_SOURCE_DIR}/${file} APPEND PROPERTY COMPILE_DEFINITIONS FTB_ISA=0)
  set_property(SOURCE ${CMAKE_SOURCE_DIR}/${file} APPEND PROPERTY COMPILE_OPTIONS ${FTB_FLAGS_kernel})
  if(NOT FTB_X86_CELLS)
    return()
  endif()
  get_filename_component(stem ${file} NAME_WE)
  foreach(isa avx2 avx512)
    set(cell ${CMAKE_BINARY_DIR}/cells/${stem}_${isa}.c)
    file(CONFIGURE OUTPUT ${cell} CONTENT "#include \"${CMAKE_SOURCE_DIR}/${file}\"\n")
    set_property(SOURCE ${cell} APPEND PROPERTY COMPILE_DEFINITIONS FTB_ISA=${FTB_ISA_${isa}})
    set_property(SOURCE ${cell} APPEND PROPERTY COMPILE_OPTIONS ${FTB_FLAGS_kernel} ${FTB_FLAGS_${isa}})
    list(APPEND FEATBLAS_SOURCES ${cell})
  endforeach()
  set(FEATBLAS_SOURCES ${FEATBLAS_SOURCES} PARENT_SCOPE)
endfunction()
