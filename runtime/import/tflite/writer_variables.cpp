// Writer's functions for variables, which are inputs and outputs of the graph.
#include <algorithm>

#include "graph/operator_support.hpp"
#include "import/names.hpp"
#include "import/tflite/writer.hpp"

namespace vellum::tflite {

void Writer::name_variable(int32_t handle, const std::string& name) {
  if (is_called_) refuse_unsupported("a variable in a graph that another operator calls");
  at(handle).variable = name;
}

const std::string& Writer::variable_of(int32_t handle) const {
  const std::string& name = at(handle).variable;
  if (name.empty()) refuse_model("tensor " + quoted_name(name_of(handle)) + " is no variable");
  return name;
}

// The value of a variable is what was read or assigned last, until the next assignment.
void Writer::share_value(int32_t from, Tensor& to) {
  const Tensor& source = at(from);
  const bool same_numbers =
      source.quantisation.has_value() == to.quantisation.has_value() &&
      (!to.quantisation ||
       (source.quantisation->scale.to_floats() == to.quantisation->scale.to_floats() &&
        source.quantisation->zero_point.to_ints() == to.quantisation->zero_point.to_ints()));
  if (!same_numbers || source.type.dtype != to.type.dtype)
    refuse_unsupported("a variable that is read as another type than it was assigned");
  to.file = source.file;
  to.image = source.image;
  to.constant = source.constant;
  to.is_constant = source.is_constant;
}

// A variable that no operator assigns is a constant.
void Writer::read_variable(int32_t handle, int32_t tensor) {
  const std::string& name = variable_of(handle);
  Tensor& entry = at(tensor);
  if (entry.is_constant || entry.file != kNoValue || entry.image != kNoValue)
    refuse_model("tensor " + quoted_name(entry.name) + " is computed twice");
  if (const auto known = variables_.find(name); known != variables_.end())
    return share_value(known->second, entry);
  if (!is_known(entry.type.shape)) refuse_unsupported("variable " + quoted_name(name) + " of an open shape");
  const Variable& variable = file_.variables[name];
  TensorType stored = entry.type;
  if (entry.quantisation) stored.dtype = entry.quantisation->stored;
  checked_element_count(stored.shape);
  if (!variable.initial)
    file_.count(static_cast<uint64_t>(element_count(stored.shape)), size_of(stored.dtype));
  const HostTensor initial = variable.initial ? *variable.initial : HostTensor(stored.dtype, stored.shape);
  if (initial.type() != stored)
    refuse_model("variable " + quoted_name(name) + " begins as " + to_string(initial.type()) +
                 " and is read as " + to_string(stored));
  if (!variable.is_assigned)
    return set_constant(tensor, entry.quantisation ? to_real(initial, *entry.quantisation) : initial);
  entry.name = variable_inputs_[name] = unique(name);
  entry.is_interface = true;
  entry.file = read_input(entry);
  graph_.values[graph_.inputs.back()].initial_value = initial;
  variables_[name] = tensor;
}

void Writer::assign_variable(int32_t handle, int32_t tensor) {
  const std::string& name = variable_of(handle);
  if (is_assigned_.insert(name).second) assigned_.push_back(name);
  ++at(tensor).readers;  // finish() reads it
  variables_[name] = tensor;
}

ValueId Writer::read_state(int32_t tensor) {
  Tensor& entry = at(tensor);
  if (!entry.is_state) return in_file_order(tensor);
  if (is_called_) refuse_unsupported("a state in a graph that another operator calls");
  if (entry.file != kNoValue) refuse_unsupported("a state that two operators share");
  if (!is_known(entry.type.shape)) refuse_unsupported("a state of an open shape");
  checked_element_count(entry.type.shape);
  file_.count(static_cast<uint64_t>(element_count(entry.type.shape)), size_of(entry.type.dtype));
  entry.file = graph_.add_value(entry.name, entry.type, true);
  graph_.inputs.push_back(entry.file);
  graph_.values[entry.file].initial_value = HostTensor(entry.type.dtype, entry.type.shape);
  return entry.file;
}

void Writer::write_state(int32_t tensor, ValueId value) {
  if (at(tensor).is_state) states_.emplace_back(tensor, value);
}

void Writer::write_variables() {
  for (const std::string& name : assigned_) {
    const int32_t tensor = variables_[name];
    const auto input = variable_inputs_.find(name);
    const std::string output = unique((input == variable_inputs_.end() ? name : input->second) + ".next");
    const ValueId real = in_file_order(tensor);
    graph_.outputs.push_back(at(tensor).quantisation ? quantised_value(real, at(tensor), output)
                                                     : copied(real, output));
  }
  for (const auto& [tensor, value] : states_)
    graph_.outputs.push_back(copied(value, unique(at(tensor).name + ".next")));
}

}  // namespace vellum::tflite
