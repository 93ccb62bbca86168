// Writes bundles.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "import/record.hpp"
#include "platform/sha256.hpp"

namespace vellum::packfile {

struct Contents {
  const Graph* graph = nullptr;         // ONNX: the imported graph,
  const GraphRecord* record = nullptr;  // and the record of its operators
  std::vector<std::byte> tflite;        // TFLite: the model's file
  std::string made_for;                 // the device and the options, for people
  std::map<platform::Sha256Digest, std::vector<uint32_t>> shaders;
  std::map<std::string, std::vector<std::byte>> weights;  // by portable_weight_key()
};

// Writes a bundle; replaces the file in one step. Throws Error(io) if it cannot be written.
void write(const std::filesystem::path& file, const Contents& contents);

}  // namespace vellum::packfile
