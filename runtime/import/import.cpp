#include "import/import.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <string>
#include <string_view>

#include "vellum/error.hpp"

namespace vellum {
namespace {

namespace fs = std::filesystem;

// A flatbuffer has its file identifier at byte 4.
constexpr size_t kIdentifierEnd = 8;

bool is_tflite(std::string_view head) { return head.size() >= kIdentifierEnd && head.substr(4, 4) == "TFL3"; }

void refuse_other_formats(std::string_view head, const std::string& source) {
  if (head.substr(0, 2) == "PK") {
    throw Error(ErrorCode::unsupported,
                source + ": a zip archive (PyTorch, Keras?); Vellum reads ONNX and TFLite models");
  }
}

}  // namespace

Graph import_model(const fs::path& file) {
  std::array<char, kIdentifierEnd> head{};
  std::ifstream stream(file, std::ios::binary);
  stream.read(head.data(), head.size());  // what is wrong with the file, the ONNX reader says
  const std::string_view text(head.data(), static_cast<size_t>(stream.gcount()));
  if (is_tflite(text)) return import_tflite(file);
  refuse_other_formats(text, file.string());
  return import_onnx(file);
}

Graph import_model(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()),
                              std::min(bytes.size(), kIdentifierEnd));
  if (is_tflite(text)) return import_tflite(bytes);
  refuse_other_formats(text, "model in memory");
  return import_onnx(bytes);
}

}  // namespace vellum
