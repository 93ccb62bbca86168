# cpack: Debian packages of a shared build that is configured with -DVELLUM_PACKAGES=ON -DCMAKE_INSTALL_PREFIX=/usr;
# packaging/release.sh does that. Names follow Debian's rule for shared libraries: the library's name and its SOVERSION.
if(NOT BUILD_SHARED_LIBS)
  message(FATAL_ERROR "VELLUM_PACKAGES needs BUILD_SHARED_LIBS=ON: Debian's packages hold shared libraries.")
endif()
set(soversion ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(release 1)
set(vellum_components vellum runtime development tools)
set(vellum_package_vellum libvellum${soversion})
set(vellum_package_runtime libvellum-runtime${soversion})
set(vellum_package_development libvellum-dev)
set(vellum_package_tools vellum-tools)
set(vellum_package_python python3-vellum)
if(VELLUM_BUILD_PYTHON)
  list(APPEND vellum_components python)
endif()

set(exactly "(= ${PROJECT_VERSION}-${release})")
set(CPACK_GENERATOR DEB)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL ${vellum_components})
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_PACKAGE_NAME vellum)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # CPack would put the project's before each package's own
set(CPACK_PACKAGE_VENDOR "Vellum")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE ${release})
set(CPACK_DEBIAN_PACKAGE_SOURCE vellum)
set(VELLUM_MAINTAINER "" CACHE STRING "Name and address, \"NAME <ADDRESS>\", of who publishes the packages")
if(NOT VELLUM_MAINTAINER MATCHES "^[^<>]+ <[^@ ]+@[^@ ]+>$")
  message(FATAL_ERROR "VELLUM_PACKAGES needs -DVELLUM_MAINTAINER=\"NAME <ADDRESS>\": Debian's packages name who answers for them.")
endif()
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "${VELLUM_MAINTAINER}")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/runtime)

# vellum_describe_package(COMPONENT SECTION SUMMARY TEXT [DEPENDS...])
function(vellum_describe_package component section summary text)
  string(TOUPPER ${component} upper)
  set(package ${vellum_package_${component}})
  list(JOIN ARGN ", " depends)
  foreach(assignment "PACKAGE_NAME=${package}" "FILE_NAME=DEB-DEFAULT" "PACKAGE_SECTION=${section}"
                     "PACKAGE_DEPENDS=${depends}" "DESCRIPTION=${summary}\n${text}")
    string(REGEX MATCH "^[^=]+" key "${assignment}")
    string(LENGTH "${key}=" length)
    string(SUBSTRING "${assignment}" ${length} -1 value)
    set(CPACK_DEBIAN_${upper}_${key} "${value}" PARENT_SCOPE)
  endforeach()
  # What Debian's policy asks of each package's folder of documentation.
  set(doc ${PROJECT_BINARY_DIR}/packages/${package})
  file(MAKE_DIRECTORY ${doc})
  execute_process(COMMAND /usr/bin/python3 -B ${PROJECT_SOURCE_DIR}/packaging/third_party.py copyright ${package}
                  OUTPUT_FILE ${doc}/copyright COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND /usr/bin/python3 -B ${PROJECT_SOURCE_DIR}/packaging/debian_changelog.py ${release}
                          "${CPACK_DEBIAN_PACKAGE_MAINTAINER}" ${doc}/changelog.Debian.gz ${doc}/changelog.gz
                  COMMAND_ERROR_IS_FATAL ANY)
  install(DIRECTORY ${doc}/ DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/${package} COMPONENT ${component})
endfunction()

set(about "Vellum runs neural networks for vision on any Vulkan device, and plans which\ntensors share which memory.")
vellum_describe_package(vellum libs "vision models on Vulkan devices - shared library"
  "${about} This library reads\nONNX and TFLite models and bundles." libvulkan1)
vellum_describe_package(runtime libs "vision models on Vulkan devices - shared library for bundles"
  "${about} This library reads\nbundles alone, and needs neither protobuf nor glslang." libvulkan1)
# The loader finds no device without a driver; lavapipe runs on every machine.
set(CPACK_DEBIAN_VELLUM_PACKAGE_RECOMMENDS "mesa-vulkan-drivers | vulkan-icd")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_RECOMMENDS "mesa-vulkan-drivers | vulkan-icd")
# Programs that are packaged depend on these; the dynamic linker's cache is renewed.
file(WRITE ${PROJECT_BINARY_DIR}/packages/triggers "activate-noawait ldconfig\n")
foreach(component vellum runtime)
  string(TOUPPER ${component} upper)
  set(package ${vellum_package_${component}})
  string(REPLACE ${soversion} "" library ${package})
  string(REPLACE - _ library ${library})
  set(control ${PROJECT_BINARY_DIR}/packages/${component})
  file(WRITE ${control}/shlibs "${library} ${soversion} ${package} (>= ${PROJECT_VERSION})\n")
  set(CPACK_DEBIAN_${upper}_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/packages/triggers ${control}/shlibs)
endforeach()
vellum_describe_package(development libdevel "vision models on Vulkan devices - development files"
  "${about} This package has\nthe headers for C++ and C, and what CMake and pkg-config read."
  "${vellum_package_vellum} ${exactly}" "${vellum_package_runtime} ${exactly}")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS libvulkan-dev)
vellum_describe_package(tools utils "vision models on Vulkan devices - command-line tools"
  "${about} This package has\nvellum, which runs, measures, inspects, plans and bundles models, and\nvellum-plan."
  "${vellum_package_vellum} ${exactly}")
vellum_describe_package(python python "vision models on Vulkan devices - Python 3 package"
  "${about} This package is\nfor Python programs." "${vellum_package_vellum} ${exactly}" python3 python3-numpy)
set(CPACK_DEBIAN_PYTHON_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SHLIBDEPS OFF)
# Python's compiled files come when the package is installed and go with it, as Debian's own packages have it.
set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/packaging/python3-vellum/postinst
    ${PROJECT_SOURCE_DIR}/packaging/python3-vellum/prerm)

include(CPack)
