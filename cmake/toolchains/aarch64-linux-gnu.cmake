# aarch64 Linux with Debian's cross compiler (g++-aarch64-linux-gnu), against the libraries that `./setup.sh arm64` unpacks.
# Programs that a build runs, such as protoc and flatc, are the host's. Tests run under qemu-user.
#
#   VELLUM_ARM64_SYSROOT   folder with Debian's arm64 libraries; by default the one of setup.sh
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)

list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES VELLUM_ARM64_SYSROOT)
if(NOT VELLUM_ARM64_SYSROOT)
  execute_process(COMMAND ${CMAKE_CURRENT_LIST_DIR}/../../setup.sh where
                  OUTPUT_VARIABLE vellum_cache OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  set(VELLUM_ARM64_SYSROOT ${vellum_cache}/arm64/sysroot)
endif()
if(NOT EXISTS ${VELLUM_ARM64_SYSROOT}/usr/include/vulkan/vulkan.h)
  message(FATAL_ERROR "${VELLUM_ARM64_SYSROOT} has no arm64 libraries. Run ./setup.sh arm64, or name a folder that has them "
                      "with -DVELLUM_ARM64_SYSROOT.")
endif()

set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_SYSROOT ${VELLUM_ARM64_SYSROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

# With qemu's default CPU, a program that uses SVE or pointer authentication takes several times as long.
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -cpu neoverse-n1 -L ${VELLUM_ARM64_SYSROOT})
