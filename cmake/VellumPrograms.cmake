# Programs that read options with CLI11: the tool, the samples, the benchmarks.
#
#   vellum_configure_program(TARGET)
#       vellum_configure, with CLI11 and JSON among the precompiled headers. A Release build compiles these targets with -O1:
#       what takes time is in the library, and CLI11 and JSON take half as long to compile so.
#       On Windows a program gets the manifest of cmake/windows: its arguments are UTF-8, and its paths may be long.
include_guard(GLOBAL)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)

vellum_precompile(vellum_program_precompiled <CLI/CLI.hpp> <nlohmann/json.hpp>)
vellum_optimise_lightly(vellum_program_precompiled)
target_link_libraries(vellum_program_precompiled PRIVATE CLI11::CLI11 nlohmann_json::nlohmann_json)

function(vellum_configure_program target)
  vellum_configure(${target})
  vellum_optimise_lightly(${target})
  vellum_use_precompiled(${target} vellum_program_precompiled)
  target_link_libraries(${target} PRIVATE CLI11::CLI11 nlohmann_json::nlohmann_json)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "EXECUTABLE" AND MSVC)
    target_sources(${target} PRIVATE ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/windows/program.manifest)
  elseif(type STREQUAL "EXECUTABLE" AND WIN32)
    target_sources(${target} PRIVATE ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/windows/program.rc)
  endif()
endfunction()
