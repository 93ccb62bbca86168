// Reads model files into a Graph. Needs no device. Start reading here for the importers.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

#include "graph/graph.hpp"

namespace vellum {

// Reads a model with the importer of its format, ONNX or TFLite. (pack/graph.hpp reads bundles.) Errors name
// the file and the node. Refuses a model that exceeds the limits, and a signature for a model that is
// not TFLite.
Graph import_model(const std::filesystem::path& file, const LoadLimits& limits = {},
                   std::string_view signature = {});
// Reads a model from memory. Refuses external data, because there is no folder.
Graph import_model(std::span<const std::byte> bytes, const LoadLimits& limits = {},
                   std::string_view signature = {});

// For formats without signatures: throws Error(not_found) unless `signature` is empty.
void refuse_signature(std::string_view signature, const std::string& source);

// Read an ONNX model. `links_within`: LoadLimits::links_within.
Graph import_onnx(const std::filesystem::path& file, const std::filesystem::path& links_within);
Graph import_onnx(std::span<const std::byte> bytes, const std::filesystem::path& external_data_folder = {});

// Reads a TFLite model. Four-dimensional tensors are N, C, H, W in the graph; graph inputs and outputs keep
// the file's order. An empty signature is "serving_default" or, if there is none, the file's first.
Graph import_tflite(const std::filesystem::path& file, std::string_view signature = {});
Graph import_tflite(std::span<const std::byte> bytes, std::string_view signature = {});

}  // namespace vellum
