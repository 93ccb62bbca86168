# The classes of the AAR: io.vellum and io.vellum.android. The latter uses four classes of Android and none of their methods, so
# that stubs/ is all it is compiled against; tests/android/compile.sh does so against Android's framework.
#
#   vellum_add_android_classes(TARGET FILE.jar)
set(vellum_android_source ${CMAKE_CURRENT_LIST_DIR})
function(vellum_add_android_classes target jar)
  file(GLOB_RECURSE stubs CONFIGURE_DEPENDS ${vellum_android_source}/stubs/*.java)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${vellum_android_source}/java/*.java
       ${vellum_android_source}/../java/src/main/java/*.java)
  set(stubs_jar ${CMAKE_CURRENT_BINARY_DIR}/${target}_stubs.jar)
  vellum_add_jar(${target}_stubs JAR ${stubs_jar} SOURCES ${stubs})
  vellum_add_jar(${target} JAR ${jar} SOURCES ${sources} CLASSPATH ${stubs_jar} ${VELLUM_JAVA_ANNOTATIONS}
                 DEPENDS ${target}_stubs ${stubs_jar})
endfunction()
