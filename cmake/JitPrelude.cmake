# ftb_jit_prelude(<header>...): the headers' text as a C array, ftb_jit_prelude, which code that is compiled at run
# time begins with (src/cpu/jit_loop.c). Call it between the list of sources and add_library.
function(ftb_jit_prelude)
  set(bytes "")
  foreach(header ${ARGN})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${header})
    file(READ ${CMAKE_SOURCE_DIR}/${header} hex HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," hex "${hex}")
    string(APPEND bytes "${hex}")
  endforeach()
  set(made ${CMAKE_BINARY_DIR}/cells/jit_prelude.c)
  file(CONFIGURE OUTPUT ${made} CONTENT
    "#include \"cpu/jit.h\"\n\nconst char ftb_jit_prelude[] = {${bytes} 0};\n")
  list(APPEND FEATBLAS_SOURCES ${made})
  set(FEATBLAS_SOURCES ${FEATBLAS_SOURCES} PARENT_SCOPE)
endfunction()
