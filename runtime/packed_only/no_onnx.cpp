// Takes the place of import/onnx in the library that reads packed models alone, without protobuf.
#include "import/import.hpp"
#include "import/model_file.hpp"
#include "import/record.hpp"
#include "platform/utf8_path.hpp"
#include "vellum/error.hpp"

namespace vellum {
namespace {

[[noreturn]] void refuse(const std::string& source) {
  throw Error(ErrorCode::unsupported,
              source +
                  ": not a packed model, and this library (Vellum::runtime) reads no ONNX files; write "
                  "a packed model with `vellum pack MODEL -o FILE`, or link Vellum::vellum");
}

}  // namespace

Graph import_onnx(const std::filesystem::path& file, const std::filesystem::path&) {
  check_model_file(file);
  refuse(platform::to_utf8(file));
}

Graph import_onnx(const std::filesystem::path& file, GraphRecord&,
                  const std::filesystem::path& links_within) {
  return import_onnx(file, links_within);
}
Graph import_onnx(std::span<const std::byte>, GraphRecord&) { refuse("model in memory"); }
Graph import_onnx(std::span<const std::byte>, const std::filesystem::path&) { refuse("model in memory"); }

}  // namespace vellum
