#include "inputs.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <random>

#include "io/npy.hpp"

namespace vellum::cli {
namespace {

DType dtype_from_name(const std::string& text, const io::FileName& file) {
  for (DType type : {DType::f32, DType::f16, DType::f64, DType::i64, DType::i32, DType::i16, DType::i8,
                     DType::u64, DType::u32, DType::u16, DType::u8, DType::boolean})
    if (name(type) == text) return type;
  throw Error(ErrorCode::unsupported, file.text() + ": elements of type " + text + " are not supported");
}

std::string list_names(const std::vector<TensorInfo>& tensors) {
  std::string list;
  for (const TensorInfo& tensor : tensors) list += (list.empty() ? "'" : ", '") + tensor.name + "'";
  return list;
}

// The name may hold an equals sign, and so may the file: the model knows.
size_t find_equals(const std::vector<TensorInfo>& inputs, const std::string& argument) {
  for (size_t equals = argument.find('='); equals != std::string::npos;
       equals = argument.find('=', equals + 1))
    if (std::any_of(inputs.begin(), inputs.end(),
                    [&](const TensorInfo& input) { return input.has_name(argument.substr(0, equals)); }))
      return equals;
  const size_t first = argument.find('=');
  if (first == std::string::npos)
    throw Error(ErrorCode::invalid_argument,
                "-i " + argument + ": write it like NAME=FILE; the model's inputs are " + list_names(inputs));
  throw Error(ErrorCode::not_found,
              "there is no input '" + argument.substr(0, first) + "'; the model has " + list_names(inputs));
}

// A generator of its own rather than std::uniform_*_distribution, whose results differ between standard
// libraries.
Tensor random_tensor(const TensorInfo& info, std::mt19937& generator) {
  std::vector<float> values(static_cast<size_t>(checked_element_count(info.shape)));
  const bool fraction = info.dtype == DType::f32 || info.dtype == DType::f16 || info.dtype == DType::f64;
  for (float& value : values) {
    const uint32_t bits = static_cast<uint32_t>(generator()) >> 8;
    value = fraction ? static_cast<float>(bits) * 0x1p-24f : static_cast<float>(bits & 1);
  }
  return cast(Tensor::f32(info.shape, values), info.dtype);
}

}  // namespace

Tensor read_tensor(const io::FileName& file) {
  const io::NpyArray array = io::read_npy(file);
  Tensor tensor(dtype_from_name(array.dtype, file), array.shape);
  if (tensor.byte_size() != array.data.size())
    throw Error(ErrorCode::internal, file.text() + ": its data do not fill its shape");
  if (!array.data.empty()) std::memcpy(tensor.mutable_data(), array.data.data(), array.data.size());
  return tensor;
}

void write_tensor(const io::FileName& file, const Tensor& tensor) {
  io::NpyArray array;
  array.dtype = name(tensor.dtype());
  array.shape = tensor.shape();
  const auto* bytes = reinterpret_cast<const uint8_t*>(tensor.data());
  array.data.assign(bytes, bytes + tensor.byte_size());
  io::write_npy(file, array);
}

InputFile split_input(const Model& model, const std::string& argument) {
  if (model.inputs().size() == 1 && argument.find('=') == std::string::npos)
    return {model.inputs().front().name, argument};
  const size_t equals = find_equals(model.inputs(), argument);
  const std::string name = argument.substr(0, equals);
  const auto input =
      std::ranges::find_if(model.inputs(), [&](const TensorInfo& info) { return info.has_name(name); });
  return {input->name, argument.substr(equals + 1)};
}

void read_inputs(const Model& model, const std::vector<std::string>& arguments, Inputs& inputs) {
  for (const std::string& argument : arguments) {
    const auto [name, file] = split_input(model, argument);
    if (!inputs.emplace(name, read_tensor(file)).second)
      throw Error(ErrorCode::invalid_argument, "input '" + name + "' is given twice");
  }
}

Inputs read_inputs(const Model& model, const std::vector<std::string>& arguments) {
  Inputs inputs;
  read_inputs(model, arguments, inputs);
  return inputs;
}

InputShapes::iterator find_shape(InputShapes& shapes, const TensorInfo& input) {
  return std::ranges::find_if(shapes, [&](const auto& shape) { return input.has_name(shape.first); });
}

void set_initial_values(const Model& model, Inputs& inputs) {
  for (const TensorInfo& input : model.inputs())
    if (input.initial_value) inputs.emplace(input.name, *input.initial_value);
}

void require_all(const Model& model, const Inputs& inputs) {
  std::vector<TensorInfo> missing;
  for (const TensorInfo& input : model.inputs())
    if (!inputs.contains(input.name)) missing.push_back(input);
  if (!missing.empty())
    throw Error(ErrorCode::invalid_argument, "no file is given for " + list_names(missing) + "; add -i " +
                                                 missing.front().name + "=FILE.npy (" +
                                                 std::string(name(missing.front().dtype)) + " " +
                                                 to_string(missing.front().shape) + ")");
}

void add_shapes_of(const Model& model, const Inputs& inputs, SessionOptions& options) {
  for (const TensorInfo& input : model.inputs()) {
    const auto tensor = inputs.find(input.name);
    if (tensor == inputs.end()) continue;
    if (input.decides_shapes)
      options.input_values.insert_or_assign(input.name, tensor->second);
    else if (!is_known(input.shape) && find_shape(options.input_shapes, input) == options.input_shapes.end())
      options.input_shapes.emplace(input.name, tensor->second.shape());
  }
}

void fill_with_random(const std::vector<TensorInfo>& wanted, Inputs& inputs, uint32_t seed) {
  std::mt19937 generator(seed);
  for (const TensorInfo& info : wanted) {
    if (info.decides_shapes) continue;
    if (!inputs.contains(info.name) && !is_known(info.shape))
      throw Error(ErrorCode::invalid_argument,
                  "the model leaves the shape of input '" + info.name + "' open (" + to_string(info.shape) +
                      "); give one, such as --shape " + info.name + "=1x3x224x224");
    if (!inputs.contains(info.name))
      inputs.emplace(info.name, info.initial_value && info.initial_value->shape() == info.shape
                                    ? *info.initial_value
                                    : random_tensor(info, generator));
  }
}

std::vector<TensorInfo> host_inputs(const Session& session) {
  std::vector<TensorInfo> inputs = session.inputs();
  std::erase_if(inputs, [&](const TensorInfo& input) { return is_state(session, input.name); });
  return inputs;
}

void set_inputs(Session& session, const Inputs& inputs) {
  for (const auto& [name, tensor] : inputs)
    if (is_state(session, name))
      session.set_state(name, tensor);
    else
      session.set_input(name, tensor);
}

bool is_state(const Session& session, const std::string& name) {
  return std::ranges::any_of(
      session.states(), [&](const StateInfo& state) { return state.input == name || state.output == name; });
}

}  // namespace vellum::cli
