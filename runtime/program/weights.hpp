// The weights of a program: their ids, their bytes, and keys that identify equal ones.
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

// Returns the bytes of a weight in device order. Throws Error(internal) if their number is not its desc's.
std::vector<std::byte> pack_weight(const VirtualTensor& weight);

// Constants that are identified by their address, because their bytes stay there as long as weights are
// compared: those of the model itself.
using FixedConstants = std::unordered_set<const std::byte*>;

// Returns a key of a weight: two weights with the same key have the same bytes in the same form. Constants
// that are not fixed, such as those that passes compute for each session, are identified by their content.
std::string weight_key(const VirtualTensor& weight, const FixedConstants& constants);

// Returns a key for a file, in which constants of the model are identified by their ids in its graph; empty
// if a weight can be identified by its bytes only.
using ConstantIds = std::map<const std::byte*, uint32_t>;
std::string portable_weight_key(const VirtualTensor& weight, const ConstantIds& constants);

// Returns the bytes of a weight if it is prepacked already, else nothing.
using FindPacked = std::function<std::span<const std::byte>(const VirtualTensor& weight)>;

}  // namespace vellum
