// An operator of a network on its own, to be measured.
#pragma once

#include <vector>

#include "exec/executor.hpp"
#include "graph/one_node.hpp"
#include "kernels/framework/lowering.hpp"

namespace vellum {

// For each value of the one node's graph what the network's options say.
std::vector<StorageChoice> storages_of(const OneNode& one, const std::vector<StorageChoice>& of_network);

// Floats between -1 and 1, the same in every run; 0 for all other types.
void set_some_inputs(Executor& executor);

// Whether the task is an operator's own: conversions of inputs and outputs are not.
bool is_kernel(const Task& task);

// One inference, and how long its kernels took on the device, in milliseconds, by timestamps where the
// executor has them; else how long all of it took.
double run_and_time(Executor& executor, bool timestamps);

}  // namespace vellum
