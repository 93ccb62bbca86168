# The ONNX protobuf schema, generated at build time from the onnx.proto of the ONNX package and compiled into a target.
#
#   vellum_add_onnx_schema(TARGET)
#       Adds the generated source to TARGET and links protobuf-lite, both privately: no protobuf in TARGET's interface.
#   vellum_use_onnx_schema(TARGET)
#       Lets another target of this build (a test) include the generated header as well.
include_guard(GLOBAL)

find_file(VELLUM_ONNX_PROTO onnx.proto PATH_SUFFIXES onnx DOC "The ONNX schema, onnx.proto")
if(NOT VELLUM_ONNX_PROTO)
  message(FATAL_ERROR "onnx/onnx.proto, the schema of ONNX files, was not found. Install libonnx-dev (Debian, Ubuntu) "
                      "or point VELLUM_ONNX_PROTO at the file.")
endif()

# Set for the whole build, since tests call vellum_use_onnx_schema() from their own folders.
set(vellum_onnx_schema_dir ${PROJECT_BINARY_DIR}/onnx_schema CACHE INTERNAL "")
set(vellum_onnx_schema_include ${vellum_onnx_schema_dir}/include CACHE INTERNAL "")
set(vellum_onnx_schema_proto ${vellum_onnx_schema_dir}/vellum_onnx.proto)
set(vellum_onnx_schema_source ${vellum_onnx_schema_include}/vellum_onnx.pb.cc)

# A package name of our own: an application may well link ONNX or another runtime, whose copy of these classes would
# otherwise clash with ours.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${VELLUM_ONNX_PROTO})
file(READ ${VELLUM_ONNX_PROTO} vellum_onnx_proto_text)
string(REPLACE "package onnx;" "package vellum.onnx_schema;" vellum_onnx_proto_text "${vellum_onnx_proto_text}")
if(NOT vellum_onnx_proto_text MATCHES "package vellum\\.onnx_schema;")
  message(FATAL_ERROR "${VELLUM_ONNX_PROTO} does not declare `package onnx;`: is it ONNX's schema?")
endif()
file(MAKE_DIRECTORY ${vellum_onnx_schema_include})
file(WRITE ${vellum_onnx_schema_proto}.new "${vellum_onnx_proto_text}")
configure_file(${vellum_onnx_schema_proto}.new ${vellum_onnx_schema_proto} COPYONLY)

function(vellum_use_onnx_schema target)
  target_include_directories(${target} SYSTEM PRIVATE ${vellum_onnx_schema_include})
  target_link_libraries(${target} PRIVATE protobuf::libprotobuf-lite)
endfunction()

function(vellum_add_onnx_schema target)
  add_custom_command(
    OUTPUT ${vellum_onnx_schema_source} ${vellum_onnx_schema_include}/vellum_onnx.pb.h
    COMMAND protobuf::protoc --cpp_out=lite:${vellum_onnx_schema_include} -I${vellum_onnx_schema_dir}
            ${vellum_onnx_schema_proto}
    DEPENDS ${vellum_onnx_schema_proto} protobuf::protoc
    COMMENT "Generating the ONNX schema" VERBATIM)
  target_sources(${target} PRIVATE ${vellum_onnx_schema_source})
  # Generated code is not ours to keep free of warnings.
  set_source_files_properties(${vellum_onnx_schema_source} TARGET_DIRECTORY ${target}
                              PROPERTIES COMPILE_OPTIONS "$<IF:$<CXX_COMPILER_ID:MSVC>,/w,-w>")
  vellum_use_onnx_schema(${target})
endfunction()
