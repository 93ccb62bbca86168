# Builds for 64-bit Windows with Debian's MinGW-w64 (package g++-mingw-w64-x86-64-posix), and runs tests under Wine.
# Libraries and headers come from the folder windows/ of Vellum's cache, which tests/platforms/windows_dependencies.sh fills;
# nothing of /usr/include or /usr/lib is found.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR AMD64)

# The variant with POSIX threads: the other has no std::thread in GCC 12.
set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc-posix)
set(CMAKE_CXX_COMPILER x86_64-w64-mingw32-g++-posix)
set(CMAKE_CXX_FLAGS_INIT -fno-ipa-ra)  # for libraries besides Vellum too; cmake/VellumTargets.cmake says why
set(CMAKE_RC_COMPILER x86_64-w64-mingw32-windres)

execute_process(COMMAND ${CMAKE_CURRENT_LIST_DIR}/../../setup.sh where
                OUTPUT_VARIABLE vellum_cache OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
set(CMAKE_FIND_ROOT_PATH "${vellum_cache}/windows" /usr/x86_64-w64-mingw32)
# CMake's find module wants a library besides the lite one, which alone is built and linked.
set(Protobuf_LIBRARY "${vellum_cache}/windows/lib/libprotobuf-lite.a" CACHE FILEPATH "")
set(ZLIB_LIBRARY /usr/x86_64-w64-mingw32/lib/libz.a CACHE FILEPATH "")  # no DLL
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

# Programs need no DLL of MinGW's. A shared Vellum throws to its application, and for that both must have one libgcc.
if(NOT BUILD_SHARED_LIBS)
  set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
endif()

set(CMAKE_CROSSCOMPILING_EMULATOR wine)
