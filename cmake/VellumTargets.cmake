# Compiler settings of every Vellum target.
#
#   vellum_configure(TARGET)
#       Warnings, the precompiled standard headers, and with -DCMAKE_UNITY_BUILD=ON one translation unit per folder. A target
#       whose files define one name several times sets its property UNITY_BUILD to OFF before.
#   vellum_optimise_lightly(TARGET)
#       A Release build compiles the target with -O1, which takes a third less time than -O3: for code that decides, writes text
#       or waits for the device. Loops over tensors belong in other targets.
#   vellum_configure_lightly(TARGET)
#       Both of these.
#   vellum_precompile(BASE header...)
#       Makes BASE, a target whose precompiled headers (the standard ones and these) vellum_use_precompiled(TARGET BASE)
#       gives to other targets in place of the standard ones.

# Position-independent code everywhere, so that libraries and executables share precompiled headers.
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)

# GCC for Windows takes its own copy of an inline function for the one that the linker keeps, and so knows which registers a call
# leaves alone; the copy of a file with other flags may not.
if(MINGW AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options(-fno-ipa-ra)
endif()

# What Microsoft's compiler does by default in newer projects: sources are UTF-8, the language is standard C++ with its
# preprocessor, and the object of a folder in a unity build has more sections than 2^16. Exported classes have members of the
# standard library (C4251, C4275): such a DLL is for applications of the same compiler. getenv() and fopen() are no mistakes.
if(MSVC)
  add_compile_options(/utf-8 /bigobj "$<$<COMPILE_LANGUAGE:CXX>:/permissive-;/Zc:__cplusplus;/EHsc;/wd4251;/wd4275>"
                      "$<$<COMPILE_LANG_AND_ID:CXX,MSVC>:/Zc:preprocessor>")
  add_compile_definitions(NOMINMAX _CRT_SECURE_NO_WARNINGS)
endif()

# GCC looks for garbage when its heap has grown to 128 MB, which the precompiled headers alone are. A folder in a unity build takes
# 0.3 to 1.2 GB (docs/benchmarks/build.md has what this saves).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_UNITY_BUILD)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:--param=ggc-min-heapsize=600000>)
endif()

# Sanitizers for everything built from here on: -DVELLUM_SANITIZE=address,undefined or thread.
set(VELLUM_SANITIZE "" CACHE STRING "Sanitizers to build with, as for -fsanitize=; empty for none")
if(VELLUM_SANITIZE)
  add_compile_options(-fsanitize=${VELLUM_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=${VELLUM_SANITIZE})
endif()

# Two thirds of the time that a typical file of Vellum takes to compile is spent on these headers.
set(vellum_standard_headers <algorithm> <array> <bit> <chrono> <cmath> <cstddef> <cstdint> <cstring> <filesystem> <functional>
    <limits> <map> <memory> <mutex> <numeric> <optional> <set> <span> <sstream> <string> <string_view> <tuple>
    <unordered_map> <utility> <variant> <vector>)

function(vellum_set_warnings target)
  if(MSVC)
    target_compile_options(${target} PRIVATE /W4)
  else()
    target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
                           -Wno-missing-field-initializers)
    # False alarms of GCC 12 about its own std::string and std::vector, inlined: its bugs 105329, 105562 and 105651.
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
      target_compile_options(${target} PRIVATE -Wno-restrict -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread
                             -Wno-maybe-uninitialized)
    endif()
  endif()
endfunction()

function(vellum_prepare_for_precompiled target)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "EXECUTABLE" AND NOT MSVC)
    # The flags of the libraries' objects: GCC takes a precompiled header only where -fPIC or -fPIE is the same.
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${target} PRIVATE -fPIC)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -fpch-preprocess)  # lets ccache see through the precompiled header
  endif()
endfunction()

function(vellum_precompile base)
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${base}.cpp CONTENT "")
  add_library(${base} STATIC ${CMAKE_CURRENT_BINARY_DIR}/${base}.cpp)
  vellum_set_warnings(${base})
  vellum_prepare_for_precompiled(${base})
  target_precompile_headers(${base} PRIVATE ${vellum_standard_headers} ${ARGN})
endfunction()

function(vellum_use_precompiled target base)
  if(NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
    set_target_properties(${target} PROPERTIES PRECOMPILE_HEADERS_REUSE_FROM ${base})
  endif()
endfunction()

function(vellum_optimise_lightly target)
  target_compile_options(${target} PRIVATE $<$<AND:$<CONFIG:Release>,$<NOT:$<CXX_COMPILER_ID:MSVC>>>:-O1>)
endfunction()

# GCC takes a precompiled header only at the level of optimisation that it was made for.
vellum_precompile(vellum_precompiled)
vellum_precompile(vellum_light_precompiled)
vellum_optimise_lightly(vellum_light_precompiled)

# In a unity build (-DCMAKE_UNITY_BUILD=ON) the sources of one folder are one translation unit, named after the folder. The
# headers that they share are parsed once, so that a build from nothing takes less than half of the time. Files of one folder
# therefore do not define the same name twice, not even in unnamed namespaces. Generated sources are compiled alone.
function(vellum_group_sources target)
  get_target_property(unity ${target} UNITY_BUILD)
  if(NOT unity)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)  # GCC takes included sources for headers
  endif()
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE)
    cmake_path(IS_PREFIX PROJECT_BINARY_DIR ${source} is_generated)
    if(source MATCHES "[.]cpp$" AND NOT is_generated)
      cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE group)
      cmake_path(GET group PARENT_PATH group)
      string(REPLACE "/" "_" group ${group})
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group})
    endif()
  endforeach()
endfunction()

function(vellum_configure target)
  vellum_set_warnings(${target})
  vellum_prepare_for_precompiled(${target})
  vellum_use_precompiled(${target} vellum_precompiled)
  vellum_group_sources(${target})
endfunction()

function(vellum_configure_lightly target)
  vellum_configure(${target})
  vellum_optimise_lightly(${target})
  vellum_use_precompiled(${target} vellum_light_precompiled)
endfunction()
