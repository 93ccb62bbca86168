// Inputs of a model from .npy files, or made up.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/file_name.hpp"
#include "vellum/vellum.hpp"

namespace vellum::cli {

using Inputs = std::map<std::string, Tensor>;

Tensor read_tensor(const samples::FileName& file);
void write_tensor(const samples::FileName& file, const Tensor& tensor);

struct InputFile {
  std::string name, file;
};
// Splits a NAME=FILE argument; the name that it returns is the tensor's. Error(not_found) where the model has
// no input of that name; the message lists those it has.
InputFile split_input(const Model& model, const std::string& argument);
// Reads the .npy files of NAME=FILE arguments. Error(invalid_argument) for an input that is given twice.
Inputs read_inputs(const Model& model, const std::vector<std::string>& arguments);
// Adds them to `inputs`.
void read_inputs(const Model& model, const std::vector<std::string>& arguments, Inputs& inputs);
// The shape that is given for this input; end() if none is.
InputShapes::iterator find_shape(InputShapes& shapes, const TensorInfo& input);
// Adds the variables of the network that are not among `inputs`, with the values that they begin with.
void begin_variables(const Model& model, Inputs& inputs);
// Error(invalid_argument) that names the inputs of the model that are not among `inputs`.
void require_all(const Model& model, const Inputs& inputs);
// Adds what the tensors say: the shapes of inputs whose dimensions the model leaves open, and the values of
// those that decide shapes.
void take_shapes_of(const Model& model, const Inputs& inputs, SessionOptions& options);
// Gives the inputs that are missing, and decide no shapes, what they begin with if they are variables, else
// random values: floats in [0, 1), other numbers 0 or 1. The same for the same seed.
void fill_with_random(const std::vector<TensorInfo>& wanted, Inputs& inputs, uint32_t seed);

}  // namespace vellum::cli
