#include "api/tensor_names.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "api/impl.hpp"
#include "graph/state_pairs.hpp"
#include "passes/caches/growing_caches.hpp"
#include "vellum/error.hpp"

namespace vellum {
namespace {

std::string names(const std::vector<TensorInfo>& infos) {
  std::string list;
  for (const TensorInfo& info : infos) {
    list += (list.empty() ? "'" : ", '") + info.name + "'";
    if (!info.signature_name.empty()) list += " (in the signature '" + info.signature_name + "')";
  }
  return list;
}

auto find(const std::vector<TensorInfo>& infos, std::string_view name) {
  return std::ranges::find_if(infos, [&](const TensorInfo& info) { return info.has_name(name); });
}

template <typename Map>
Map by_name(const std::vector<TensorInfo>& inputs, const Map& given) {
  Map result;
  for (const auto& [name, value] : given) {
    const auto input = find(inputs, name);
    if (!result.emplace(input == inputs.end() ? name : input->name, value).second)
      throw Error(ErrorCode::invalid_argument, "input '" + input->name + "' is given twice");
  }
  return result;
}

}  // namespace

size_t position(const std::vector<TensorInfo>& infos, std::string_view name, const char* kind) {
  const auto found = find(infos, name);
  if (found == infos.end())
    throw Error(ErrorCode::not_found, "there is no " + std::string(kind) + " '" + std::string(name) +
                                          "'; the model has " + names(infos));
  return static_cast<size_t>(found - infos.begin());
}

InputShapes by_tensor_name(const std::vector<TensorInfo>& inputs, const InputShapes& shapes) {
  return by_name(inputs, shapes);
}

InputTensors by_tensor_name(const std::vector<TensorInfo>& inputs, const InputTensors& tensors) {
  for (const auto& [name, tensor] : tensors) check_holds_values(name, tensor);
  return by_name(inputs, tensors);
}

std::string by_tensor_name(const Model& model, const std::string& state) {
  std::vector<std::pair<std::string, std::string>> pairs;
  if (state == "auto") {
    for (const StatePair& pair : state_pairs(impl(model)->graph, state))
      pairs.emplace_back(model.inputs()[pair.input].name, model.outputs()[pair.output].name);
  } else {
    for (const auto& [input, output] : state_names(state))
      pairs.emplace_back(model.inputs()[position(model.inputs(), input, "input")].name,
                         model.outputs()[position(model.outputs(), output, "output")].name);
  }
  // A list of states may omit the state that counts the tokens in growing caches.
  const std::pair<std::string, std::string> length(kCacheLength, kNextCacheLength);
  if (!pairs.empty() && has_cache_length(impl(model)->graph) && std::ranges::count(pairs, length) == 0)
    pairs.push_back(length);
  std::string result;
  for (const auto& [input, output] : pairs) result += (result.empty() ? "" : ";") + input + '=' + output;
  return result;
}

SessionOptions by_tensor_name(const Model& model, SessionOptions options) {
  options.input_shapes = by_name(model.inputs(), options.input_shapes);
  options.input_values = by_tensor_name(model.inputs(), options.input_values);
  options.state = by_tensor_name(model, options.state);
  return options;
}

void check_holds_values(const std::string& input, const Tensor& tensor) {
  if (!tensor.data())
    throw Error(ErrorCode::invalid_argument, "the tensor for input '" + input + "' holds nothing");
}

}  // namespace vellum
