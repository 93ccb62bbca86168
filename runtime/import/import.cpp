#include "import/import.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <string>
#include <string_view>

#include "import/model_file.hpp"
#include "import/names.hpp"
#include "import/other_formats.hpp"
#include "pack/file.hpp"
#include "platform/utf8_path.hpp"
#include "vellum/error.hpp"

namespace vellum {
namespace {

namespace fs = std::filesystem;

// A flatbuffer has its file identifier at byte 4.
constexpr size_t kIdentifierEnd = 8;

ModelFormat format_of(std::string_view head) {
  if (packfile::is_packed(head)) return ModelFormat::packed;
  return head.size() >= kIdentifierEnd && head.substr(4, 4) == "TFL3" ? ModelFormat::tflite
                                                                      : ModelFormat::onnx;
}

// Returns the first bytes; fewer if the file is shorter or cannot be read.
std::string head_of(const fs::path& file) {
  std::array<char, kSignatureBytes> head{};
  std::ifstream stream(file, std::ios::binary);
  stream.read(head.data(), head.size());
  return {head.data(), static_cast<size_t>(stream.gcount())};
}

std::string_view head_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), std::min(bytes.size(), kSignatureBytes)};
}

}  // namespace

ModelFormat model_format(const fs::path& file) {
  check_model_file(file);
  return format_of(head_of(file));
}
ModelFormat model_format(std::span<const std::byte> bytes) { return format_of(head_of(bytes)); }

namespace {

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
  if (format_of(head) == ModelFormat::tflite)
    return within(import_tflite(file, signature), limits, platform::to_utf8(file));
  refuse_other_formats(head, platform::to_utf8(file));
  refuse_signature(signature, platform::to_utf8(file));
  return within(import_onnx(file, limits.links_within), limits,
                platform::to_utf8(file));  // reports what is wrong with the file
}

Graph import_model(std::span<const std::byte> bytes, const LoadLimits& limits, std::string_view signature) {
  const std::string_view head = head_of(bytes);
  const std::string source = "model in memory";
  if (format_of(head) == ModelFormat::tflite) return within(import_tflite(bytes, signature), limits, source);
  refuse_other_formats(head, source);
  refuse_signature(signature, source);
  return within(import_onnx(bytes), limits, source);
}

}  // namespace vellum
