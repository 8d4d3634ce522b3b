# Finds SuiteSparse:GraphBLAS of any version, from distributions that ship a CMake package and from
# those that do not: GraphBLAS::GraphBLAS, GraphBLAS_VERSION.
find_path(GraphBLAS_INCLUDE_DIR GraphBLAS.h PATH_SUFFIXES suitesparse)
find_library(GraphBLAS_LIBRARY graphblas)
if(GraphBLAS_INCLUDE_DIR)
  set(GraphBLAS_VERSION "")
  foreach(part MAJOR MINOR SUB)
    file(STRINGS ${GraphBLAS_INCLUDE_DIR}/GraphBLAS.h line REGEX "define GxB_IMPLEMENTATION_${part} ")
    string(REGEX MATCH "[0-9]+" number "${line}")
    list(APPEND GraphBLAS_VERSION ${number})
  endforeach()
  list(JOIN GraphBLAS_VERSION . GraphBLAS_VERSION)
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(GraphBLAS REQUIRED_VARS GraphBLAS_LIBRARY GraphBLAS_INCLUDE_DIR
  VERSION_VAR GraphBLAS_VERSION)
if(GraphBLAS_FOUND AND NOT TARGET GraphBLAS::GraphBLAS)
  add_library(GraphBLAS::GraphBLAS UNKNOWN IMPORTED)
  set_target_properties(GraphBLAS::GraphBLAS PROPERTIES IMPORTED_LOCATION ${GraphBLAS_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${GraphBLAS_INCLUDE_DIR})
endif()
mark_as_advanced(GraphBLAS_INCLUDE_DIR GraphBLAS_LIBRARY)
