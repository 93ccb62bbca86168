#include "import/import.hpp"

#include <string>
#include <string_view>

#include "import/model_file.hpp"
#include "import/names.hpp"
#include "import/other_formats.hpp"
#include "platform/utf8_path.hpp"
#include "vellum/error.hpp"

namespace vellum {
namespace {

namespace fs = std::filesystem;

Graph within(Graph graph, const LoadLimits& limits, const std::string& source) {
  graph.limits = limits;
  try {
    check_limits(graph);
  } catch (const Error& error) {
    throw Error(error.code(), source + ": " + error.what());
  }
  return graph;
}

}  // namespace

void refuse_signature(std::string_view signature, const std::string& source) {
  if (!signature.empty())
    throw Error(ErrorCode::not_found, source + ": there is no signature " +
                                          quoted_name(std::string(signature)) +
                                          ": only TFLite files have any");
}

Graph import_model(const fs::path& file, const LoadLimits& limits, std::string_view signature) {
  check_model_file(file);
  const std::string head = head_of(file);
  if (is_tflite(head)) return within(import_tflite(file, signature), limits, platform::to_utf8(file));
  refuse_other_formats(head, platform::to_utf8(file));
  refuse_signature(signature, platform::to_utf8(file));
  return within(import_onnx(file, limits.links_within), limits,
                platform::to_utf8(file));  // reports what is wrong with the file
}

Graph import_model(std::span<const std::byte> bytes, const LoadLimits& limits, std::string_view signature) {
  const std::string_view head = head_of(bytes);
  const std::string source = "model in memory";
  if (is_tflite(head)) return within(import_tflite(bytes, signature), limits, source);
  refuse_other_formats(head, source);
  refuse_signature(signature, source);
  return within(import_onnx(bytes), limits, source);
}

}  // namespace vellum
