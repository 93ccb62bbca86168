# The target vellum_jni: libvellum_jni of bindings/java/native, for the desktop and for Android, which has jni.h in its NDK.
file(GLOB vellum_jni_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bindings/java/native/*.cpp)
if(ANDROID)
  list(APPEND vellum_jni_sources ${PROJECT_SOURCE_DIR}/bindings/android/native/android.cpp)
endif()
set(VELLUM_JNI_SOURCES ${vellum_jni_sources} CACHE INTERNAL "")
add_library(vellum_jni SHARED ${VELLUM_JNI_SOURCES})
target_include_directories(vellum_jni PRIVATE ${PROJECT_SOURCE_DIR}/bindings/java/native)
target_include_directories(vellum_jni SYSTEM PRIVATE ${VELLUM_VULKAN_INCLUDE_DIR})
vellum_configure_lightly(vellum_jni)
if(VELLUM_PACKED_ONLY)
  target_link_libraries(vellum_jni PRIVATE vellum_runtime)
else()
  target_link_libraries(vellum_jni PRIVATE vellum)
endif()
if(UNIX AND NOT APPLE)
  # The native functions alone are visible; what they do not use of Vellum is left out.
  set(vellum_jni_exports ${PROJECT_SOURCE_DIR}/bindings/java/native/exports.map)
  target_link_options(vellum_jni PRIVATE -Wl,--version-script=${vellum_jni_exports} -Wl,--exclude-libs,ALL -Wl,--gc-sections)
  set_target_properties(vellum_jni PROPERTIES LINK_DEPENDS ${vellum_jni_exports})
endif()
if(ANDROID)
  target_link_libraries(vellum_jni PRIVATE android jnigraphics nativewindow)
  target_link_options(vellum_jni PRIVATE -Wl,-z,max-page-size=16384)  # for devices with pages of 16 KiB
  # For size: one copy of equal functions, none of which Vellum compares by address; relocations in a form that Android reads
  # since API 23.
  target_link_options(vellum_jni PRIVATE -Wl,-O2 -Wl,--icf=all -Wl,--pack-dyn-relocs=android)
  install(TARGETS vellum_jni LIBRARY DESTINATION lib COMPONENT jni EXCLUDE_FROM_ALL)
endif()
