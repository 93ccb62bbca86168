// The weights of a program: which they are, and which of them are the same.
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

// The weights of a program that have memory, in order of tensor id.
std::vector<TensorId> weight_ids(const Program& program);

// The bytes of a weight as they lie on the device; Error(internal) where their number is not its desc's.
std::vector<std::byte> pack_weight(const VirtualTensor& weight);

// Constants that are known by their address: bytes that stay where they are as long as weights are compared,
// such as those of the model itself.
using FixedConstants = std::unordered_set<const std::byte*>;

// Two weights with the same key have the same bytes in the same form. Constants that are not fixed, such as
// those that passes compute anew for each session, are known by their content.
std::string weight_key(const VirtualTensor& weight, const FixedConstants& constants);

// The same for a file: constants of the model are known by their ids in its graph. Empty where only the bytes
// of the weight tell what it is.
using ConstantIds = std::map<const std::byte*, uint32_t>;
std::string portable_weight_key(const VirtualTensor& weight, const ConstantIds& constants);

// The bytes of a weight where these are packed already, else none.
using FindPacked = std::function<std::span<const std::byte>(const VirtualTensor& weight)>;

}  // namespace vellum
