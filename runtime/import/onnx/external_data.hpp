// Weights in a file beside the model: https://github.com/onnx/onnx/blob/main/docs/ExternalData.md
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "import/onnx/schema.hpp"

namespace vellum::onnx {

// The folder of a model, and what its tensors take from the files in it. Any number of tensors may refer to
// the same bytes, and each gets a copy of its own.
class ExternalFiles {
 public:
  // An empty folder: there are no files.
  // `links_within`: LoadLimits.
  explicit ExternalFiles(std::filesystem::path folder, std::filesystem::path links_within = {})
      : folder_(std::move(folder)), links_within_(std::move(links_within)) {}

  const std::filesystem::path& folder() const { return folder_; }
  const std::filesystem::path& links_within() const { return links_within_; }
  // Counts the bytes of a tensor. Throws Error(unsupported) if they are many times the files that were named.
  void count(const std::filesystem::path& file, uint64_t file_bytes, uint64_t bytes, const std::string& what);

 private:
  std::filesystem::path folder_, links_within_;
  std::set<std::filesystem::path> known_;
  uint64_t bytes_left_ = uint64_t{256} << 20;  // bytes
};

// Returns the `expected_bytes` of a tensor whose data_location is EXTERNAL. The location must be a relative
// path that stays in the folder, or in links_within(), after symbolic links are resolved, and the range must
// be inside the file; otherwise throws Error. `what` names the tensor in errors. The tensor takes
// `made_bytes`, which are more where its elements are packed.
std::shared_ptr<const std::byte> read_external_data(const schema::TensorProto& tensor,
                                                    const std::string& what, ExternalFiles& files,
                                                    uint64_t expected_bytes, uint64_t made_bytes);

}  // namespace vellum::onnx
