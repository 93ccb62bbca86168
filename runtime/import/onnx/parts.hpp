// Counts what a file consists of without parsing it: two bytes of a file can become hundreds in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace vellum::onnx {

// Counts the nodes, tensors, attributes, dimensions of types, names and other texts of a model. Of bytes that
// are no ONNX model any number.
uint64_t count_parts(std::span<const std::byte> model);

}  // namespace vellum::onnx
