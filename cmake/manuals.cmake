# Manual pages and shell completion, printed by the command itself from its option tables.
#   included:  adds the target `manuals` and installs what it makes
#   with -P:   is that target's script; FEATBLAS (the command) and OUT (a folder) are set
if(CMAKE_SCRIPT_MODE_FILE)
  function(print to)
    execute_process(COMMAND ${FEATBLAS} ${ARGN} OUTPUT_FILE ${OUT}/${to} COMMAND_ERROR_IS_FATAL ANY)
  endfunction()
  file(MAKE_DIRECTORY ${OUT}/man ${OUT}/bash ${OUT}/zsh ${OUT}/fish)
  execute_process(COMMAND ${FEATBLAS} help --commands OUTPUT_VARIABLE commands COMMAND_ERROR_IS_FATAL ANY
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  string(REPLACE "\n" ";" commands "${commands}")
  print(man/featblas.1 help --man)
  foreach(command ${commands})
    print(man/featblas-${command}.1 help --man ${command})
  endforeach()
  print(bash/featblas help --completion bash)
  print(zsh/_featblas help --completion zsh)
  print(fish/featblas.fish help --completion fish)
  file(TOUCH ${OUT}/made)
  return()
endif()

if(NOT TARGET featblas_command OR CMAKE_CROSSCOMPILING)
  return()
endif()
set(out ${PROJECT_BINARY_DIR}/manuals)
add_custom_command(OUTPUT ${out}/made
  COMMAND ${CMAKE_COMMAND} -DFEATBLAS=$<TARGET_FILE:featblas_command> -DOUT=${out} -P ${CMAKE_CURRENT_LIST_FILE}
  DEPENDS featblas_command ${CMAKE_CURRENT_LIST_FILE}
  COMMENT "Manual pages and shell completion")
add_custom_target(manuals ALL DEPENDS ${out}/made)
install(DIRECTORY ${out}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${out}/bash/featblas DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${out}/zsh/_featblas DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${out}/fish/featblas.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
