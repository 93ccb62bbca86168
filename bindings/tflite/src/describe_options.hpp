// Converts the options of builtin operators from the interpreter's structs to the tables of a TFLite file.
#pragma once

#include <utility>

#include "import/tflite/schema.hpp"
#include "lite_api.hpp"

namespace vellum::lite {

using OptionsTable = std::pair<tflite::schema::BuiltinOptions, flatbuffers::Offset<void>>;

// Adds the options of a builtin operator to a flatbuffer. Returns {NONE, 0} for an operator without options,
// and for one whose options the importer does not read. Throws Error(unsupported) if the interpreter has no
// parameters for an operator that needs them.
OptionsTable describe_options(flatbuffers::FlatBufferBuilder& builder, int32_t builtin_code,
                              const void* parameters);

}  // namespace vellum::lite
