# The install tree: libraries, headers, CMake package, pkg-config file, command.
include(CMakePackageConfigHelpers)

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/FeatBLAS)
install(TARGETS featblas_shared EXPORT FeatBLASTargets)
install(TARGETS featblas_static EXPORT FeatBLASStaticTargets)
install(EXPORT FeatBLASTargets NAMESPACE FeatBLAS:: DESTINATION ${package})
install(EXPORT FeatBLASStaticTargets NAMESPACE FeatBLAS:: DESTINATION ${package})
install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(FILES semirings/semirings.def DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/featblas)

configure_package_config_file(cmake/FeatBLASConfig.cmake.in FeatBLASConfig.cmake INSTALL_DESTINATION ${package})
write_basic_package_version_file(FeatBLASConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/FeatBLASConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/FeatBLASConfigVersion.cmake
  cmake/FindGraphBLAS.cmake DESTINATION ${package})
configure_file(cmake/featblas.pc.in featblas.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/featblas.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(TARGET featblas_command)
  install(TARGETS featblas_command)
  install(TARGETS featblas_draw LIBRARY DESTINATION ${FEATBLAS_MODULE_DIR})
endif()
