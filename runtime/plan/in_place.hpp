// Outputs in the memory of an input that dies as they are written.
#pragma once

#include <vector>

#include "program/program.hpp"

namespace vellum {

// Output `to` of a task may lie where its input `from` lies, if that is used by no later task: both are
// roots, as large as one another, of one storage and format, and the kernel reads the input only where it
// writes.
struct InPlacePair {
  TensorId from = kNoTensor, to = kNoTensor;
};
std::vector<InPlacePair> in_place_pairs(const Program& program, const Task& task);

// Sets VirtualTensor::takes_over wherever that is possible in the order of the tasks.
void take_over_dying_inputs(Program& program);
// Unsets it everywhere.
void keep_inputs(Program& program);

}  // namespace vellum
