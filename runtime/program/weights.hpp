// The weights of a program: ids, bytes, and keys that identify equal weights.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "program/program.hpp"

namespace vellum {

// Returns the weights of a program that have memory, in order of tensor id.
std::vector<TensorId> weight_ids(const Program& program);

// Returns the bytes of a weight in device order. Throws Error(internal) if their number is not
// desc.byte_size().
std::vector<std::byte> pack_weight(const VirtualTensor& weight);

// Constants that are identified by their address: those of the model itself, whose bytes do not move.
using FixedConstants = std::unordered_set<const std::byte*>;

// Returns a key of a weight: weights with equal keys have equal bytes and descs. Constants that are not
// fixed, such as those that passes compute for each session, are identified by their content.
std::string weight_key(const VirtualTensor& weight, const FixedConstants& constants);

// Returns a key for use in a file: constants of the model are identified by their ids in its graph. Empty if
// only its bytes identify the weight.
using ConstantIds = std::map<const std::byte*, uint32_t>;
std::string portable_weight_key(const VirtualTensor& weight, const ConstantIds& constants);

// Returns the bytes of a weight that is already prepacked; else an empty span.
using FindPacked = std::function<std::span<const std::byte>(const VirtualTensor& weight)>;

}  // namespace vellum
