# An overlay port: `vcpkg install vellum --overlay-ports=packaging/vcpkg/ports` builds the tree that it is in.
get_filename_component(SOURCE_PATH "${CURRENT_PORT_DIR}/../../../.." ABSOLUTE)

string(COMPARE EQUAL "${VCPKG_LIBRARY_LINKAGE}" dynamic VELLUM_IS_SHARED)
set(options "")
if("models" IN_LIST FEATURES)
  find_file(VELLUM_ONNX_PROTO onnx.proto PATHS "${CURRENT_INSTALLED_DIR}/include/onnx" "${CURRENT_INSTALLED_DIR}/share/onnx"
            NO_DEFAULT_PATH)
  if(NOT VELLUM_ONNX_PROTO)
    message(FATAL_ERROR "The port onnx has no onnx.proto: set VELLUM_ONNX_PROTO to the file of ONNX's sources.")
  endif()
  list(APPEND options -DVELLUM_PACKED_ONLY=OFF "-DVELLUM_ONNX_PROTO=${VELLUM_ONNX_PROTO}")
else()
  list(APPEND options -DVELLUM_PACKED_ONLY=ON)
endif()

vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS ${options} -DVELLUM_BUILD_TESTS=OFF -DVELLUM_BUILD_SAMPLES=OFF -DVELLUM_BUILD_PYTHON=OFF -DVELLUM_BUILD_JAVA=OFF
          -DVELLUM_INSTALL=ON -DCMAKE_UNITY_BUILD=ON -DBUILD_SHARED_LIBS=${VELLUM_IS_SHARED}
          "-DVELLUM_FLATC=${CURRENT_HOST_INSTALLED_DIR}/tools/flatbuffers/flatc${VCPKG_HOST_EXECUTABLE_SUFFIX}")
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(PACKAGE_NAME Vellum CONFIG_PATH lib/cmake/Vellum)
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
