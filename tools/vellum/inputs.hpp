// Inputs of a model from .npy files, or generated.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "io/file_name.hpp"
#include "vellum/vellum.hpp"

namespace vellum::cli {

using Inputs = std::map<std::string, Tensor>;

Tensor read_tensor(const io::FileName& file);
void write_tensor(const io::FileName& file, const Tensor& tensor);

struct InputFile {
  std::string name, file;
};
// Splits a NAME=FILE argument, and returns the tensor's name; FILE alone is for a model's only input. Throws
// Error(not_found), which lists the inputs, for an unknown name.
InputFile split_input(const Model& model, const std::string& argument);
// Reads the .npy files of NAME=FILE arguments. Throws Error(invalid_argument) for an input that is given
// twice.
Inputs read_inputs(const Model& model, const std::vector<std::string>& arguments);
// Does the same, and adds the tensors to `inputs`.
void read_inputs(const Model& model, const std::vector<std::string>& arguments, Inputs& inputs);
// Returns the shape that `shapes` has for this input, or end().
InputShapes::iterator find_shape(InputShapes& shapes, const TensorInfo& input);
// Adds variables of the network that are missing in `inputs`, with their initial values.
void set_initial_values(const Model& model, Inputs& inputs);
// Throws Error(invalid_argument), which names the inputs of the model that are missing in `inputs`.
void require_all(const Model& model, const Inputs& inputs);
// Adds the tensors' shapes to the options, for inputs with open dimensions, and their values for inputs that
// decide shapes.
void add_shapes_of(const Model& model, const Inputs& inputs, SessionOptions& options);
// Adds values for missing inputs that decide no shapes: the initial value of a variable, otherwise random
// values (floats in [0, 1), other numbers 0 or 1). The values depend only on the seed.
void fill_with_random(const std::vector<TensorInfo>& wanted, Inputs& inputs, uint32_t seed);
// Returns whether an input or output is state of the session.
bool is_state(const Session& session, const std::string& name);
// Returns the inputs that are no state.
std::vector<TensorInfo> host_inputs(const Session& session);
// Sets the session's inputs, and its states if `inputs` contains them.
void set_inputs(Session& session, const Inputs& inputs);

}  // namespace vellum::cli
