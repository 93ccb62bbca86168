# Libraries that other engines load, with Vellum in them.
include_guard(GLOBAL)

# vellum_add_plugin(NAME INCLUDE folder): a shared library of src/ and bindings/plugins/ and of the same objects as
# Vellum::vellum, so that the plug-in is one file. It exports what exports.map names, which its sources mark for Windows;
# INCLUDE has the engine's headers.
function(vellum_add_plugin name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "INCLUDE" "")
  file(GLOB sources CONFIGURE_DEPENDS src/*.cpp ../plugins/*.cpp)
  get_property(parts GLOBAL PROPERTY VELLUM_PARTS)
  list(REMOVE_ITEM parts vellum_packed_only)
  list(TRANSFORM parts REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>")
  add_library(${name} SHARED ${sources} ${parts})
  target_include_directories(${name} PRIVATE src ${PROJECT_SOURCE_DIR}/runtime ${PROJECT_SOURCE_DIR}/runtime/include
                                             ${PROJECT_SOURCE_DIR})
  target_include_directories(${name} SYSTEM PRIVATE ${arg_INCLUDE} ${VELLUM_VULKAN_INCLUDE_DIR})
  vellum_configure(${name})
  target_link_libraries(${name} PRIVATE Vellum::planner Threads::Threads ${CMAKE_DL_LIBS} protobuf::libprotobuf-lite glslang::SPIRV
                        glslang::glslang glslang::glslang-default-resource-limits ${VELLUM_SPIRV_TOOLS})
  if(UNIX AND NOT APPLE)
    target_link_options(${name} PRIVATE -Wl,--exclude-libs,ALL -Wl,-z,nodelete
                        -Wl,--version-script=${CMAKE_CURRENT_SOURCE_DIR}/exports.map)
    set_property(TARGET ${name} APPEND PROPERTY LINK_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/exports.map)
    if(NOT VELLUM_SANITIZE)  # whose functions are in the program that loads the plug-in
      target_link_options(${name} PRIVATE -Wl,--no-undefined)
    endif()
  endif()
  if(WIN32)
    set_target_properties(${name} PROPERTIES PREFIX "")  # MinGW's own would be lib
  endif()
  if(MINGW)
    target_link_options(${name} PRIVATE -static)  # no DLL of MinGW's is needed beside it
  endif()
endfunction()
