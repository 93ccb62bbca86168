#include "api/model_format.hpp"

#include "import/model_file.hpp"
#include "pack/file.hpp"

namespace vellum {
namespace {

ModelFormat format_of(std::string_view head) {
  if (packfile::is_packed(head)) return ModelFormat::packed;
  return is_tflite(head) ? ModelFormat::tflite : ModelFormat::onnx;
}

}  // namespace

ModelFormat model_format(const std::filesystem::path& file) {
  check_model_file(file);
  return format_of(head_of(file));
}

ModelFormat model_format(std::span<const std::byte> bytes) { return format_of(head_of(bytes)); }

}  // namespace vellum
