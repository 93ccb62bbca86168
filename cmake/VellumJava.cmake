# The JDK and the jars of the Java binding, and jars made with them. Debian's own by path, for another java may be the first
# in the PATH.
#
#   vellum_add_jar(TARGET JAR file SOURCES file... [CLASSPATH jar...] [DEPENDS target...] [HEADERS folder])
#       Compiles sources to the JAR of a target TARGET. HEADERS: where javac writes the headers of native functions.
#
# Sets VELLUM_JAVA_FOUND.
include_guard(GLOBAL)

file(GLOB vellum_jdks /usr/lib/jvm/java-17-openjdk-*/bin/javac)
if(vellum_jdks)
  list(GET vellum_jdks 0 vellum_jdk)
  cmake_path(GET vellum_jdk PARENT_PATH vellum_jdk)
  cmake_path(GET vellum_jdk PARENT_PATH vellum_jdk)
endif()
set(VELLUM_JDK "${vellum_jdk}" CACHE PATH "A JDK from 17 on, for the Java binding (Debian: openjdk-17-jdk-headless)")
set(vellum_annotations /usr/share/java/org.jetbrains.annotations-java8.jar /usr/share/java/org.jetbrains.annotations-common.jar)
set(VELLUM_JAVA_ANNOTATIONS "${vellum_annotations}" CACHE STRING
    "The jars of org.jetbrains.annotations (Debian: libjetbrains-annotations-java), needed to compile alone")

# By name, for newer compilers add others to `all`.
set(VELLUM_JAVA_LINTS -Xlint:deprecation,fallthrough,finally,overrides,rawtypes,static,try,unchecked,varargs,-options)

set(VELLUM_JAVA_FOUND OFF)
list(GET VELLUM_JAVA_ANNOTATIONS 0 vellum_annotations)
if(EXISTS "${VELLUM_JDK}/include/jni.h" AND EXISTS "${vellum_annotations}")
  set(VELLUM_JAVA_FOUND ON)
endif()

function(vellum_add_jar target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "JAR;HEADERS" "SOURCES;CLASSPATH;DEPENDS")
  set(classes ${CMAKE_CURRENT_BINARY_DIR}/${target}_classes)
  set(sources ${CMAKE_CURRENT_BINARY_DIR}/${target}_sources.txt)
  list(JOIN arg_SOURCES "\n" lines)
  file(CONFIGURE OUTPUT ${sources} CONTENT "${lines}\n" @ONLY)
  set(classpath "")
  if(arg_CLASSPATH)
    string(REPLACE ";" "$<IF:$<PLATFORM_ID:Windows>,\;,:>" classpath "${arg_CLASSPATH}")
    set(classpath -cp "${classpath}")
  endif()
  set(headers "")
  if(arg_HEADERS)
    set(headers -h ${arg_HEADERS})
  endif()
  # Java 8 is what Android's tools desugar for API 26; its class files and its ByteBuffer run there.
  add_custom_command(
    OUTPUT ${arg_JAR}
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${classes}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${classes}
    COMMAND ${VELLUM_JDK}/bin/javac --release 8 -encoding UTF-8 ${VELLUM_JAVA_LINTS} -Werror ${classpath} ${headers} -d ${classes}
            @${sources}
    COMMAND ${VELLUM_JDK}/bin/jar --create --file ${arg_JAR} --date=1980-01-01T00:00:02Z -C ${classes} .
    DEPENDS ${arg_SOURCES} ${arg_DEPENDS} ${sources}
    COMMENT "Compiling ${target}" VERBATIM)
  add_custom_target(${target} ALL DEPENDS ${arg_JAR})
endfunction()
