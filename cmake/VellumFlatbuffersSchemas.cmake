# Readers of flatbuffers, generated at build time by flatc: of TFLite files and of packed models.
#
#   vellum_add_flatbuffers_schema(TARGET FILE NAME)
#       Generates NAME_generated.h from the schema FILE for TARGET's sources; flatbuffers is a library of headers, so
#       nothing is linked.
#   vellum_use_flatbuffers_schemas(TARGET)
#       Lets another target of this build (a test) include the generated headers as well.
include_guard(GLOBAL)

find_program(VELLUM_FLATC flatc DOC "The flatbuffers compiler")
find_path(VELLUM_FLATBUFFERS_INCLUDE flatbuffers/flatbuffers.h DOC "Folder of flatbuffers/flatbuffers.h")
if(NOT VELLUM_FLATC OR NOT VELLUM_FLATBUFFERS_INCLUDE)
  message(FATAL_ERROR "flatc or flatbuffers/flatbuffers.h was not found. Install flatbuffers-compiler and "
                      "libflatbuffers-dev (Debian, Ubuntu), or point VELLUM_FLATC and VELLUM_FLATBUFFERS_INCLUDE at them.")
endif()

# Set for the whole build, since tests call vellum_use_flatbuffers_schemas() from their own folders.
set(vellum_flatbuffers_schemas ${PROJECT_BINARY_DIR}/flatbuffers_schemas CACHE INTERNAL "")
file(MAKE_DIRECTORY ${vellum_flatbuffers_schemas})

function(vellum_use_flatbuffers_schemas target)
  target_include_directories(${target} SYSTEM PRIVATE ${vellum_flatbuffers_schemas} ${VELLUM_FLATBUFFERS_INCLUDE})
endfunction()

function(vellum_add_flatbuffers_schema target schema name)
  set(header ${vellum_flatbuffers_schemas}/${name}_generated.h)
  configure_file(${schema} ${vellum_flatbuffers_schemas}/${name}.fbs COPYONLY)
  add_custom_command(
    OUTPUT ${header}
    COMMAND ${VELLUM_FLATC} --cpp --scoped-enums -o ${vellum_flatbuffers_schemas} ${vellum_flatbuffers_schemas}/${name}.fbs
    DEPENDS ${schema} ${vellum_flatbuffers_schemas}/${name}.fbs
    COMMENT "Generating ${name}_generated.h" VERBATIM)
  target_sources(${target} PRIVATE ${header})
  vellum_use_flatbuffers_schemas(${target})
endfunction()
