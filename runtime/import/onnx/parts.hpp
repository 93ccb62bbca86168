// Counts the parts of a file without parsing it, because two bytes of a file can become hundreds in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace vellum::onnx {

// Counts the nodes, tensors, attributes, dimensions of types, names and other texts of a model. For bytes
// that are no ONNX model the result is arbitrary.
uint64_t count_parts(std::span<const std::byte> model);

// Returns the messages of field `number` among the fields that are unknown to the reader's schema.
std::vector<std::string_view> unknown_messages(std::string_view unknown_fields, uint64_t number);

}  // namespace vellum::onnx
