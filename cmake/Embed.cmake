# Texts of the source tree that the library has with it, for code that is compiled at run time. Call these between the list
# of sources and add_library.

# "0x2f,0x2a, ... " of a file's bytes; the build is configured anew when it changes.
function(ftb_bytes_of file bytes)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${file})
  file(READ ${CMAKE_SOURCE_DIR}/${file} hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," hex "${hex}")
  set(${bytes} "${hex}" PARENT_SCOPE)
endfunction()

# A source of the library that is made here; of a function, so that the caller's list grows.
macro(ftb_made_source name content)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/cells/${name}.c CONTENT "${content}")
  set(FEATBLAS_SOURCES ${FEATBLAS_SOURCES} ${CMAKE_BINARY_DIR}/cells/${name}.c PARENT_SCOPE)
endmacro()

# ftb_jit_prelude(<header>...): the headers' text as a C array, ftb_jit_prelude, which code for the host begins with
# (src/cpu/jit_loop.c).
function(ftb_jit_prelude)
  set(text "")
  foreach(header ${ARGN})
    ftb_bytes_of(${header} bytes)
    string(APPEND text "${bytes}")
  endforeach()
  ftb_made_source(jit_prelude "#include \"cpu/jit.h\"\n\nconst char ftb_jit_prelude[] = {${text} 0};\n")
endfunction()

# ftb_gpu_sources(<file>...): kernels and the headers that they include, as a table, ftb_gpu_sources (gpu/compile.h).
function(ftb_gpu_sources)
  set(texts "")
  set(rows "")
  foreach(file ${ARGN})
    file(RELATIVE_PATH file ${CMAKE_SOURCE_DIR} ${file})
    ftb_bytes_of(${file} bytes)
    string(MAKE_C_IDENTIFIER ${file} name)
    string(APPEND texts "static const char ${name}[] = {${bytes} 0};\n")
    string(APPEND rows "    {\"${file}\", ${name}},\n")
  endforeach()
  ftb_made_source(gpu_sources
    "#include \"gpu/compile.h\"\n\n${texts}\nconst ftb_gpu_source ftb_gpu_sources[] = {\n${rows}    {0, 0}};\n")
endfunction()
