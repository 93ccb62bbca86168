# vellum.aar of classes and of a native library for each ABI, whoever has built them.
#
#   vellum_add_aar(TARGET OUTPUT FILE.aar CLASSES FILE.jar LIBRARIES abi=FILE.so... [DEPENDS target...])
#
# The generating half of this file runs as a script.
if(NOT CMAKE_SCRIPT_MODE_FILE)
  set(VELLUM_AAR_SCRIPT ${CMAKE_CURRENT_LIST_FILE})
  function(vellum_add_aar target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "OUTPUT;CLASSES" "LIBRARIES;DEPENDS")
    string(REPLACE ";" "," libraries "${arg_LIBRARIES}")
    set(files ${arg_LIBRARIES})
    list(TRANSFORM files REPLACE "^[^=]+=" "")
    cmake_path(GET VELLUM_AAR_SCRIPT PARENT_PATH source)
    cmake_path(GET source PARENT_PATH source)
    add_custom_command(
      OUTPUT ${arg_OUTPUT}
      COMMAND ${CMAKE_COMMAND} -DOUTPUT=${arg_OUTPUT} -DCLASSES=${arg_CLASSES} "-DLIBRARIES=${libraries}" -DSOURCE=${source}
              -P ${VELLUM_AAR_SCRIPT}
      DEPENDS ${arg_CLASSES} ${files} ${arg_DEPENDS} ${VELLUM_AAR_SCRIPT} ${source}/bindings/android/proguard.txt
              ${source}/bindings/android/NOTICE ${source}/LICENSE
      COMMENT "Assembling ${target}" VERBATIM)
    add_custom_target(${target} ALL DEPENDS ${arg_OUTPUT})
  endfunction()
  return()
endif()

set(stage ${OUTPUT}.files)
file(REMOVE_RECURSE ${stage})
file(WRITE ${stage}/AndroidManifest.xml "<?xml version=\"1.0\" encoding=\"utf-8\"?>
<manifest xmlns:android=\"http://schemas.android.com/apk/res/android\" package=\"io.vellum\">
  <uses-sdk android:minSdkVersion=\"26\" />
</manifest>
")
file(WRITE ${stage}/R.txt "")
file(WRITE ${stage}/META-INF/com/android/build/gradle/aar-metadata.properties
     "aarFormatVersion=1.0\naarMetadataVersion=1.0\nminCompileSdk=26\n")
configure_file(${CLASSES} ${stage}/classes.jar COPYONLY)
configure_file(${SOURCE}/bindings/android/proguard.txt ${stage}/proguard.txt COPYONLY)
configure_file(${SOURCE}/LICENSE ${stage}/LICENSE COPYONLY)
configure_file(${SOURCE}/bindings/android/NOTICE ${stage}/NOTICE COPYONLY)
string(REPLACE "," ";" LIBRARIES "${LIBRARIES}")
foreach(library IN LISTS LIBRARIES)
  if(NOT library MATCHES "^(arm64-v8a|armeabi-v7a|x86_64)=(.+)$")
    message(FATAL_ERROR "${library}: not ABI=FILE; the ABIs are arm64-v8a, armeabi-v7a and x86_64")
  endif()
  configure_file(${CMAKE_MATCH_2} ${stage}/jni/${CMAKE_MATCH_1}/libvellum_jni.so COPYONLY)
endforeach()
file(GLOB entries RELATIVE ${stage} ${stage}/*)
list(SORT entries)
execute_process(COMMAND ${CMAKE_COMMAND} -E tar cf ${OUTPUT} --format=zip "--mtime=1980-01-02 00:00:00 UTC" -- ${entries}
                WORKING_DIRECTORY ${stage} COMMAND_ERROR_IS_FATAL ANY)
