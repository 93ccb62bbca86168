// Helpers that measure a single operator of a network.
#pragma once

#include <vector>

#include "exec/executor.hpp"
#include "graph/one_node.hpp"
#include "kernels/framework/lowering.hpp"

namespace vellum {

// Returns the storage of each value of the node's graph, taken from the network's.
std::vector<StorageChoice> storages_of(const OneNode& one,
                                       const std::vector<StorageChoice>& network_storages);

// Sets float inputs to values between -1 and 1, the same in every run, and all other inputs to 0
// or the nearest integers that they take.
void set_some_inputs(Executor& executor);

// Returns whether the task computes an operator, as opposed to converting inputs or outputs.
bool is_kernel(const Task& task);

// Runs one inference and returns its time in milliseconds: the time of its kernels on the device if the
// executor has timestamps, else the wall time.
double run_and_time(Executor& executor, bool timestamps);

}  // namespace vellum
