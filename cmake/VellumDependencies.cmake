# The libraries that the runtime is made with, found once for the whole tree (imported targets belong to the folder that
# finds them) and, where Vellum is part of a larger build, for that too.
include_guard(GLOBAL)
set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON)

find_package(Threads REQUIRED)
if(NOT TARGET nlohmann_json::nlohmann_json)
  find_package(nlohmann_json REQUIRED)  # headers alone
endif()
if(NOT VELLUM_PACKED_ONLY)
  # CMake's own find module rather than protobuf's configuration: the module knows the compiler and the lite library
  # wherever they came from.
  find_package(Protobuf REQUIRED)
  # Validates SPIR-V. glslang's SPIR-V library links to both if it was built with them, which vcpkg's is not.
  find_package(SPIRV-Tools QUIET CONFIG)
  foreach(name SPIRV-Tools-static SPIRV-Tools SPIRV-Tools-shared)  # whichever of these it was built as
    if(TARGET ${name} AND NOT VELLUM_SPIRV_TOOLS)
      set(VELLUM_SPIRV_TOOLS ${name})
    endif()
  endforeach()
  find_package(SPIRV-Tools-opt QUIET)
  find_package(glslang REQUIRED CONFIG)
endif()
unset(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL)
