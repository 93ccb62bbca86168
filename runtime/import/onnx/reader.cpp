#include "import/onnx/reader.hpp"

#include <fstream>
#include <string>
#include <system_error>

#include "import/model_file.hpp"
#include "import/onnx/parts.hpp"
#include "platform/mapped_file.hpp"
#include "platform/system_message.hpp"
#include "vellum/error.hpp"

namespace vellum::onnx {
namespace {

namespace fs = std::filesystem;

void check_size(uint64_t bytes) {
  if (bytes == 0) throw Error(ErrorCode::corrupt_model, "the file is empty");
  if (bytes > kLargestModelFile) {
    throw Error(ErrorCode::unsupported,
                "the model has " + std::to_string(bytes) +
                    " bytes and an ONNX file can have 2 GiB at most; save its weights as external data");
  }
}

// LoadLimits apply to the graph that is read; this limit keeps the message from filling the memory.
void check_parts(std::span<const std::byte> bytes) {
  constexpr uint64_t kMostParts = 1 << 22;
  const uint64_t parts = count_parts(bytes);
  if (parts > kMostParts) {
    throw Error(ErrorCode::unsupported, "the model has " + std::to_string(parts) +
                                            " nodes, tensors, attributes and names, more than " +
                                            std::to_string(kMostParts) + ", the most that are read");
  }
}

void check_parsed(bool parsed, const schema::ModelProto& model) {
  if (!parsed) throw Error(ErrorCode::corrupt_model, "not an ONNX model, or truncated or damaged");
  // Many files of other formats happen to parse as a message of unknown fields only.
  if (!model.has_graph())
    throw Error(ErrorCode::corrupt_model, "not an ONNX model, or truncated: it holds no graph");
}

}  // namespace

schema::ModelProto read_model(const fs::path& file) {
  check_is_file(file);
  std::error_code error;
  const uint64_t size = fs::file_size(file, error);
  if (error) throw Error(ErrorCode::io, "cannot read the file's size: " + platform::system_message(error));
  check_size(size);
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw Error(ErrorCode::io, "cannot open the file for reading");
  check_parts(platform::MappedFile(file).bytes());
  schema::ModelProto model;
  // Parsed from the stream, so that the file's bytes are not in memory beside the message.
  check_parsed(model.ParseFromIstream(&stream), model);
  return model;
}

schema::ModelProto read_model(std::span<const std::byte> bytes) {
  check_size(bytes.size());
  check_parts(bytes);
  schema::ModelProto model;
  check_parsed(model.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())), model);
  return model;
}

}  // namespace vellum::onnx
