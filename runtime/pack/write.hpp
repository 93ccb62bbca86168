// Writes bundles (the format is described in file.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "import/record.hpp"
#include "platform/sha256.hpp"

namespace vellum::packfile {

// The contents of a bundle. The members of one format, ONNX or TFLite, are set.
struct Contents {
  const Graph* graph = nullptr;         // ONNX: the imported graph
  const GraphRecord* record = nullptr;  // ONNX: the record of the graph's operators
  std::vector<std::byte> tflite;        // TFLite: the bytes of the model's file
  std::string signature;                // TFLite: the signature of the graph
  std::string made_for;                 // the device and the options, as text for people
  std::string caps;                     // the device's caps, as the text of a caps file
  std::map<platform::Sha256Digest, std::vector<uint32_t>> shaders;
  std::map<std::string, std::vector<std::byte>> weights;  // by portable_weight_key()
};

// Receives the bytes of a bundle as consecutive pieces.
using TakePieces = std::function<void(std::span<const std::span<const std::byte>> pieces)>;

// Makes a bundle and passes it to a single call of `take`, which may throw. Returns the size of the bundle in
// bytes.
uint64_t write(const Contents& contents, const TakePieces& take);

}  // namespace vellum::packfile
