// Counts what a file consists of without parsing it: two bytes of a file can become hundreds in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace vellum::onnx {

// Counts the nodes, tensors, attributes, dimensions of types, names and other texts of a model. Of bytes that
// are no ONNX model any number.
uint64_t count_parts(std::span<const std::byte> model);

// The messages of field `number` among the fields that the schema of the reader lacks.
std::vector<std::string_view> unknown_messages(std::string_view unknown_fields, uint64_t number);

}  // namespace vellum::onnx
