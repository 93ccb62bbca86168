# The target vellum_jni: libvellum_jni of bindings/java/native, for the desktop and for Android, which has jni.h in its NDK.
file(GLOB VELLUM_JNI_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bindings/java/native/*.cpp)
add_library(vellum_jni SHARED ${VELLUM_JNI_SOURCES})
vellum_configure(vellum_jni)
if(VELLUM_PACKED_ONLY)
  target_link_libraries(vellum_jni PRIVATE vellum_runtime)
else()
  target_link_libraries(vellum_jni PRIVATE vellum)
endif()
if(UNIX AND NOT APPLE)
  # The native functions alone are visible; what they do not use of Vellum is left out.
  target_link_options(vellum_jni PRIVATE -Wl,--exclude-libs,ALL -Wl,--gc-sections)
endif()
