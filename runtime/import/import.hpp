// Reads model files into a Graph. Needs no device. Start reading here for the importers.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include "graph/graph.hpp"

namespace vellum {

// The format that a file's first bytes identify; onnx if they identify none.
enum class ModelFormat : uint8_t { onnx, tflite, packed };
ModelFormat model_format(const std::filesystem::path& file);
ModelFormat model_format(std::span<const std::byte> bytes);

// Reads a model with the importer of its format. (pack/graph.hpp reads bundles, ModelFormat::packed.) Errors
// name the file and the node. A model beyond the limits is refused.
Graph import_model(const std::filesystem::path& file, const LoadLimits& limits = {});
// Reads a model from memory. Refuses external data, because there is no folder.
Graph import_model(std::span<const std::byte> bytes, const LoadLimits& limits = {});

Graph import_onnx(const std::filesystem::path& file);
Graph import_onnx(std::span<const std::byte> bytes, const std::filesystem::path& external_data_folder = {});

// Reads a TFLite model. Four-dimensional tensors are N, C, H, W in the graph; graph inputs and outputs keep
// the file's order.
Graph import_tflite(const std::filesystem::path& file);
Graph import_tflite(std::span<const std::byte> bytes);

}  // namespace vellum
