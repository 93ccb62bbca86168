# Readers of TFLite files, generated at build time by flatc from runtime/import/tflite/schema.fbs.
#
#   vellum_add_tflite_schema(TARGET)
#       Generates the header for TARGET's sources; flatbuffers is a library of headers, so nothing is linked.
#   vellum_use_tflite_schema(TARGET)
#       Lets another target of this build (a test) include the generated header as well.
include_guard(GLOBAL)

find_program(VELLUM_FLATC flatc DOC "The flatbuffers compiler")
find_path(VELLUM_FLATBUFFERS_INCLUDE flatbuffers/flatbuffers.h DOC "Folder of flatbuffers/flatbuffers.h")
if(NOT VELLUM_FLATC OR NOT VELLUM_FLATBUFFERS_INCLUDE)
  message(FATAL_ERROR "flatc or flatbuffers/flatbuffers.h was not found. Install flatbuffers-compiler and "
                      "libflatbuffers-dev (Debian, Ubuntu), or point VELLUM_FLATC and VELLUM_FLATBUFFERS_INCLUDE at them.")
endif()

# Set for the whole build, since tests call vellum_use_tflite_schema() from their own folders.
set(vellum_tflite_schema_include ${PROJECT_BINARY_DIR}/tflite_schema CACHE INTERNAL "")
set(vellum_tflite_schema_header ${vellum_tflite_schema_include}/vellum_tflite_generated.h CACHE INTERNAL "")
file(MAKE_DIRECTORY ${vellum_tflite_schema_include})

function(vellum_use_tflite_schema target)
  target_include_directories(${target} SYSTEM PRIVATE ${vellum_tflite_schema_include} ${VELLUM_FLATBUFFERS_INCLUDE})
endfunction()

function(vellum_add_tflite_schema target)
  set(schema ${PROJECT_SOURCE_DIR}/runtime/import/tflite/schema.fbs)
  configure_file(${schema} ${vellum_tflite_schema_include}/vellum_tflite.fbs COPYONLY)
  add_custom_command(
    OUTPUT ${vellum_tflite_schema_header}
    COMMAND ${VELLUM_FLATC} --cpp --scoped-enums -o ${vellum_tflite_schema_include}
            ${vellum_tflite_schema_include}/vellum_tflite.fbs
    DEPENDS ${schema} ${vellum_tflite_schema_include}/vellum_tflite.fbs
    COMMENT "Generating the TFLite schema" VERBATIM)
  target_sources(${target} PRIVATE ${vellum_tflite_schema_header})
  vellum_use_tflite_schema(${target})
endfunction()
