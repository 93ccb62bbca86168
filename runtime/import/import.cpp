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

void refuse_other_formats(std::span<const std::byte> head, const std::string& source) {
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  if (text.size() >= kIdentifierEnd && text.substr(4, 4) == "TFL3") {
    throw Error(ErrorCode::unsupported,
                source + ": a TFLite model; this version of Vellum reads ONNX models");
  }
  if (text.substr(0, 2) == "PK") {
    throw Error(ErrorCode::unsupported,
                source + ": a zip archive (PyTorch, Keras?); this version of Vellum reads ONNX models");
  }
}

}  // namespace

Graph import_model(const fs::path& file) {
  std::array<char, kIdentifierEnd> head{};
  std::ifstream stream(file, std::ios::binary);
  stream.read(head.data(), head.size());  // what is wrong with the file, the ONNX reader says
  refuse_other_formats(std::as_bytes(std::span(head).first(static_cast<size_t>(stream.gcount()))),
                       file.string());
  return import_onnx(file);
}

Graph import_model(std::span<const std::byte> bytes) {
  refuse_other_formats(bytes.first(std::min(bytes.size(), kIdentifierEnd)), "model in memory");
  return import_onnx(bytes);
}

}  // namespace vellum
