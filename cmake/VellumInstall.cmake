# cmake --install: the libraries, headers and tools, and what find_package(Vellum) and pkg-config read. Components, of which
# VellumPackages.cmake makes packages: vellum and runtime (the shared libraries), development, tools.
include(CMakePackageConfigHelpers)
set(vellum_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Vellum)

# Two files of targets, so that users of Vellum::runtime or the planner do not need the libraries of Vellum::vellum.
function(vellum_install_targets export component)
  install(TARGETS ${ARGN} EXPORT ${export}
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${component} NAMELINK_COMPONENT development
          RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT ${component})
  install(EXPORT ${export} NAMESPACE Vellum:: DESTINATION ${vellum_package_dir} COMPONENT development)
endfunction()
vellum_install_targets(VellumRuntimeTargets runtime vellum_runtime vellum_planner)
if(NOT VELLUM_PACKED_ONLY)
  vellum_install_targets(VellumTargets vellum vellum)
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/runtime/include/vellum ${PROJECT_SOURCE_DIR}/planner/include/vellum
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/caps DESTINATION ${CMAKE_INSTALL_DATADIR}/vellum COMPONENT tools)
if(VELLUM_BUILD_SAMPLES)
  install(TARGETS vellum-cli vellum-plan RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
  # Printed by the tool itself, where it runs. Debian compresses manual pages.
  if(NOT CMAKE_CROSSCOMPILING AND UNIX)
    set(printed ${PROJECT_BINARY_DIR}/manual)
    set(pages ${printed}/vellum.1 ${PROJECT_SOURCE_DIR}/packaging/vellum-plan.1)
    file(MAKE_DIRECTORY ${printed})
    add_custom_command(OUTPUT ${printed}/vellum.1 ${printed}/vellum.bash ${printed}/vellum.fish
      COMMAND vellum-cli --manual > ${printed}/vellum.1
      COMMAND vellum-cli --completion bash > ${printed}/vellum.bash
      COMMAND vellum-cli --completion fish > ${printed}/vellum.fish
      DEPENDS vellum-cli VERBATIM)
    if(VELLUM_PACKAGES)
      add_custom_command(OUTPUT ${printed}/vellum.1.gz ${printed}/vellum-plan.1.gz
        COMMAND gzip -9nc ${printed}/vellum.1 > ${printed}/vellum.1.gz
        COMMAND gzip -9nc ${PROJECT_SOURCE_DIR}/packaging/vellum-plan.1 > ${printed}/vellum-plan.1.gz
        DEPENDS ${pages} VERBATIM)
      set(pages ${printed}/vellum.1.gz ${printed}/vellum-plan.1.gz)
    endif()
    add_custom_target(vellum_manual ALL DEPENDS ${printed}/vellum.1 ${pages})
    install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tools)
    install(FILES ${printed}/vellum.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME vellum
            COMPONENT tools)
    install(FILES ${printed}/vellum.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT tools)
  endif()
endif()

# ---- find_package(Vellum) ----
set(vellum_is_static ON)
if(BUILD_SHARED_LIBS)
  set(vellum_is_static OFF)
endif()
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/VellumConfig.cmake.in ${PROJECT_BINARY_DIR}/VellumConfig.cmake
                              INSTALL_DESTINATION ${vellum_package_dir})
# Until version 1 any minor version may change the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/VellumConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/VellumConfig.cmake ${PROJECT_BINARY_DIR}/VellumConfigVersion.cmake
        DESTINATION ${vellum_package_dir} COMPONENT development)

# ---- pkg-config ----

# Puts ITEM, a target or a library, and what it links to at the front of the list OUT, in the linker's order: users
# before what they use. What is in the list already stays, for all that it uses comes after it.
function(vellum_collect_linker_flags item out)
  string(REGEX REPLACE "^\\$<LINK_ONLY:(.+)>$" "\\1" item "${item}")
  set(flags ${${out}})
  if(TARGET ${item})
    get_target_property(dependencies ${item} INTERFACE_LINK_LIBRARIES)
    foreach(dependency IN LISTS dependencies)
      if(dependency)
        vellum_collect_linker_flags(${dependency} flags)
      endif()
    endforeach()
    get_target_property(type ${item} TYPE)
    if(type STREQUAL "INTERFACE_LIBRARY")
      set(${out} ${flags} PARENT_SCOPE)
      return()
    endif()
    get_target_property(flag ${item} LOCATION)
    # Libraries in the linker's default folders are found there on the user's machine.
    get_filename_component(folder ${flag} DIRECTORY)
    if(folder IN_LIST CMAKE_C_IMPLICIT_LINK_DIRECTORIES OR folder IN_LIST CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES)
      get_filename_component(stem ${flag} NAME_WE)
      string(REGEX REPLACE "^lib" "-l" flag ${stem})
    endif()
  elseif(item MATCHES "^[-/]")
    set(flag ${item})
  else()
    set(flag -l${item})
  endif()
  if(NOT flag IN_LIST flags)
    list(PREPEND flags ${flag})
  endif()
  set(${out} ${flags} PARENT_SCOPE)
endfunction()

# Keeps the functions of the libraries that the static TARGET needs, FLAGS, out of shared libraries that are made of it: these
# would get in the way of another glslang or protobuf in the process. Those of Vellum are hidden by the compiler, but for C's.
# OUT: the flag for the linker.
function(vellum_hide_dependencies target flags out)
  set(${out} "" PARENT_SCOPE)
  if(NOT UNIX OR APPLE)
    return()  # other linkers export what is marked, or have no such flag
  endif()
  set(archives libvellum_planner.a)
  foreach(flag IN LISTS flags)
    if(flag MATCHES "^-l(stdc\\+\\+|c\\+\\+|c\\+\\+abi|m|dl|rt|pthread)$")
      continue()
    elseif(flag MATCHES "^-l(.+)$")
      list(APPEND archives lib${CMAKE_MATCH_1}.a)
    elseif(flag MATCHES "/(lib[^/]+[.]a)$")
      list(APPEND archives ${CMAKE_MATCH_1})
    endif()
  endforeach()
  list(JOIN archives ":" archives)
  target_link_options(${target} INTERFACE "LINKER:--exclude-libs,${archives}")
  set(${out} "-Wl,--exclude-libs,${archives}" PARENT_SCOPE)
endfunction()

# Writes and installs NAME.pc of the library TARGET.
function(vellum_install_pc name target description)
  set(vellum_pc_name ${name})
  set(vellum_pc_description ${description})
  set(vellum_pc_libs "")
  set(vellum_pc_cflags "")
  if(BUILD_SHARED_LIBS)
    set(vellum_pc_cflags -DVELLUM_SHARED)
  else()
    # C programs link with the C compiler, which leaves out the C++ library.
    set(flags ${CMAKE_CXX_IMPLICIT_LINK_LIBRARIES})
    list(FILTER flags INCLUDE REGEX "^(stdc\\+\\+|c\\+\\+|c\\+\\+abi|m)$")
    list(TRANSFORM flags PREPEND "-l")
    get_target_property(dependencies ${target} LINK_LIBRARIES)
    list(REMOVE_ITEM dependencies Vellum::planner)
    list(REVERSE dependencies)
    foreach(dependency IN LISTS dependencies)
      vellum_collect_linker_flags(${dependency} flags)
    endforeach()
    vellum_hide_dependencies(${target} "${flags}" hiding)
    list(JOIN flags " " vellum_pc_libs)
    string(STRIP "${vellum_pc_libs} ${hiding}" vellum_pc_libs)
  endif()
  # Relative to the file itself, since `cmake --install --prefix` may choose another place.
  set(vellum_pc_dir ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig)
  file(RELATIVE_PATH vellum_pc_libdir ${vellum_pc_dir} ${CMAKE_INSTALL_FULL_LIBDIR})
  file(RELATIVE_PATH vellum_pc_includedir ${vellum_pc_dir} ${CMAKE_INSTALL_FULL_INCLUDEDIR})
  configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/vellum.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
          COMPONENT development)
endfunction()

vellum_install_pc(vellum_runtime vellum_runtime "${PROJECT_DESCRIPTION}: packed models alone")
if(NOT VELLUM_PACKED_ONLY)
  vellum_install_pc(vellum vellum "${PROJECT_DESCRIPTION}")
endif()
