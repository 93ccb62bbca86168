// Writes packed models.
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
  const Graph* graph = nullptr;         // of an ONNX model, with `record`; else
  const GraphRecord* record = nullptr;  //
  std::vector<std::byte> tflite;        // the model's file
  std::string made_for;
  std::map<platform::Sha256Digest, std::vector<uint32_t>> shaders;
  std::map<std::string, std::vector<std::byte>> weights;  // by portable_weight_key()
};

// Replaces the file in one step. Error(io) where it cannot be written.
void write(const std::filesystem::path& file, const Contents& contents);

}  // namespace vellum::packfile
