# What Python wheels have in common.
include_guard(GLOBAL)

# vellum_install_notices(component): LICENSE, NOTICE and the licences of what a wheel contains of other projects. Vellum's
# library has glslang in it, and auditwheel adds libraries of Debian's: the notices are those of Debian's packages. A build on
# another system has to bring its own.
function(vellum_install_notices component)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  set(third_party ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/packaging/third_party.py)
  set(licences ${CMAKE_CURRENT_BINARY_DIR}/licences)
  execute_process(COMMAND ${third_party} licences ${licences} RESULT_VARIABLE failed)
  execute_process(COMMAND ${third_party} notice OUTPUT_FILE ${CMAKE_CURRENT_BINARY_DIR}/NOTICE)
  if(failed)
    message(WARNING "This wheel lacks the notices of the projects in it: packaging/third_party.py reads them from Debian's packages.")
  else()
    install(FILES ${CMAKE_CURRENT_BINARY_DIR}/NOTICE DESTINATION ${SKBUILD_METADATA_DIR}/licenses COMPONENT ${component})
    install(DIRECTORY ${licences} DESTINATION ${SKBUILD_METADATA_DIR}/licenses COMPONENT ${component})
  endif()
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${SKBUILD_METADATA_DIR}/licenses COMPONENT ${component})
endfunction()
