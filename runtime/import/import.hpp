// Model file -> Graph. Never touches Vulkan.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include "graph/graph.hpp"

namespace vellum {

// What a file says it is; onnx where it says nothing.
enum class ModelFormat : uint8_t { onnx, tflite, packed };
ModelFormat model_format(const std::filesystem::path& file);
ModelFormat model_format(std::span<const std::byte> bytes);

// Chooses the reader by content. Packed models are read by pack/graph.hpp. Errors name the file and the node.
Graph import_model(const std::filesystem::path& file);
// From memory; external data is refused, since there is no folder to look in.
Graph import_model(std::span<const std::byte> bytes);

Graph import_onnx(const std::filesystem::path& file);
Graph import_onnx(std::span<const std::byte> bytes, const std::filesystem::path& external_data_folder = {});

// Dimensions of four-dimensional tensors are N, C, H, W in the graph; graph inputs and outputs keep the
// file's.
Graph import_tflite(const std::filesystem::path& file);
Graph import_tflite(std::span<const std::byte> bytes);

}  // namespace vellum
