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

// The folder of a model, and a bound on the bytes that its tensors read from files there. The bound is needed
// because any number of tensors may refer to the same bytes, and each gets a copy.
class ExternalFiles {
 public:
  // An empty folder means that there are no files. `links_within`: LoadLimits::links_within.
  explicit ExternalFiles(std::filesystem::path folder, std::filesystem::path links_within = {})
      : folder_(std::move(folder)), links_within_(std::move(links_within)) {}

  const std::filesystem::path& folder() const { return folder_; }
  const std::filesystem::path& links_within() const { return links_within_; }
  // Counts the bytes of a tensor. Throws Error(unsupported) if the total is many times the size of the files
  // named so far.
  void count(const std::filesystem::path& file, uint64_t file_bytes, uint64_t bytes, const std::string& what);

 private:
  std::filesystem::path folder_, links_within_;
  std::set<std::filesystem::path> known_;
  uint64_t bytes_left_ = uint64_t{256} << 20;  // bytes
};

// Returns the `expected_bytes` of a tensor whose data_location is EXTERNAL. The location must be a relative
// path that stays in the folder, or in links_within(), after symbolic links are resolved, and the range must
// be inside the file; otherwise throws Error. `what` names the tensor in errors. `made_bytes`: the bytes of
// the tensor in memory, which are more than `expected_bytes` if its elements are packed.
std::shared_ptr<const std::byte> read_external_data(const schema::TensorProto& tensor,
                                                    const std::string& what, ExternalFiles& files,
                                                    uint64_t expected_bytes, uint64_t made_bytes);

}  // namespace vellum::onnx
