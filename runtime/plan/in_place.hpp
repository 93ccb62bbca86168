// In-place outputs: an output aliases an input that dies at the task which writes the output.
//
//   input   |RRRR|         last read by task 4
//   output       |WWWW|    first written by task 4, in the same memory
//           +----4-----> task
#pragma once

#include <vector>

#include "program/program.hpp"

namespace vellum {

// An output of a task that may alias an input of the task, provided that no later task uses the input. Both
// are roots of equal size, storage and format, and the kernel reads the input only at the positions that it
// writes.
struct InPlacePair {
  TensorId from = kNoTensor, to = kNoTensor;  // input, output
};
std::vector<InPlacePair> in_place_pairs(const Program& program, const Task& task);

// Sets VirtualTensor::in_place_of for all pairs that the order of the tasks allows.
void alias_in_place(Program& program);
// Clears VirtualTensor::in_place_of of every tensor.
void disable_in_place(Program& program);

}  // namespace vellum
