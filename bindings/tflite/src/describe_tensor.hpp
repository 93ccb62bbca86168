// Converts tensors of the interpreter to entries of a TFLite file.
#pragma once

#include <string>

#include "import/tflite/schema.hpp"
#include "lite_api.hpp"

namespace vellum::lite {

// Returns why the importer does not read a tensor of this type; empty if it may.
std::string tensor_refusal(const TfLiteTensor& tensor);

struct TensorEntry {
  std::string name;
  uint32_t buffer = 0;   // of a constant; 0 for others
  bool is_open = false;  // all of its dimensions but the last are open
};
flatbuffers::Offset<tflite::schema::Tensor> describe_tensor(flatbuffers::FlatBufferBuilder& builder,
                                                            const TfLiteTensor& tensor,
                                                            const TensorEntry& entry);

}  // namespace vellum::lite
