#include "api/cache_capacity.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <utility>

#include "api/session_impl.hpp"
#include "api/tensor_names.hpp"
#include "graph/operators/control/branch.hpp"
#include "graph/state_pairs.hpp"
#include "passes/caches/growing_caches.hpp"
#include "passes/shapes/inline_branch.hpp"
#include "passes/shapes/shape_inputs.hpp"

namespace vellum {
namespace {

// The values of the inputs that choose branches, as far as they are given.
InputTensors given_branch_values(const Model& model, const SessionOptions& options) {
  const InputTensors given = by_tensor_name(model.inputs(), options.input_values);
  InputTensors values;
  for (const std::string& name : branch_inputs(impl(model)->graph))
    if (const auto found = given.find(name); found != given.end()) values.insert(*found);
  check_input_values(impl(model)->graph, impl(model)->shape_inputs, values);
  return values;
}

// Optimum's exporter merges the first run of a decoder and the other runs into one model, with an If whose
// condition is an input.
Model with_branches(const Model& model, InputTensors values) {
  if (values.empty()) return model;
  Graph graph = impl(model)->graph;
  choose_branches(graph, values);
  auto made = std::make_shared<Model::Impl>(std::move(graph), std::move(values));
  made->packed = impl(model)->packed;
  return Handles::model(std::move(made));
}

Graph with_length(const Graph& graph, const std::string& state, uint32_t capacity) {
  const std::vector<StatePair> pairs = state_pairs(graph, state);
  if (const auto names = branch_inputs(graph); !names.empty() && find_growing_caches(graph, pairs).empty())
    throw Error(ErrorCode::invalid_argument,
                "state_capacity is given, but no state grows before input '" + names[0] +
                    "' chooses a branch: give its value (SessionOptions::input_values, --value)");
  return add_cache_length(graph, pairs, capacity);
}

}  // namespace

Model with_cache_capacity(const Model& model, const SessionOptions& options) {
  const std::shared_ptr<const Model::Impl>& source = impl(model);
  if (options.state_capacity == 0 || has_cache_length(source->graph)) return model;
  if (options.state.empty())
    throw Error(ErrorCode::invalid_argument, "state_capacity is given, but no state");
  const InputTensors values = given_branch_values(model, options);
  const Model chosen = with_branches(model, values);
  const std::string state = by_tensor_name(chosen, options.state);
  std::map<std::string, bool> conditions;
  for (const auto& [name, value] : values) conditions.emplace(name, If::is_true(value));
  const std::lock_guard lock(source->with_capacity_mutex);
  std::weak_ptr<const Model::Impl>& known =
      source->with_capacity[{state, options.state_capacity, conditions}];
  if (const auto made = known.lock()) return Handles::model(made);
  auto made =
      std::make_shared<Model::Impl>(with_length(impl(chosen)->graph, state, options.state_capacity), values);
  made->packed = source->packed;
  known = made;
  return Handles::model(std::move(made));
}

std::optional<Shape> whole_mask_shape(const TensorInfo& declared, std::span<const int64_t> shape,
                                      uint32_t capacity) {
  const bool is_open = declared.shape.size() == 2 && declared.shape[1] == kUnknownDim;
  if (capacity == 0 || !is_open || declared.name.find("attention_mask") == std::string::npos)
    return std::nullopt;
  if (shape.size() != 2 || shape[0] <= 0 || shape[1] <= 0 || shape[1] == int64_t{capacity})
    return std::nullopt;
  if (shape[1] > int64_t{capacity})
    throw Error(ErrorCode::invalid_argument,
                "input '" + declared.name + "' is of " + std::to_string(shape[1]) +
                    " tokens; the caches have room for " + std::to_string(capacity));
  return Shape{shape[0], int64_t{capacity}};
}

Tensor whole_mask(DType dtype, const Shape& whole_shape, std::span<const std::byte> values) {
  Tensor whole(dtype, whole_shape);
  const auto rows = static_cast<size_t>(whole_shape[0]);
  const size_t row = values.size() / rows, stride = whole.byte_size() / rows;
  for (size_t i = 0; i < rows; ++i)
    std::memcpy(whole.mutable_data() + i * stride, values.data() + i * row, std::min(row, stride));
  return whole;
}

WholeInputs::WholeInputs(const std::vector<TensorInfo>& declared, std::span<const InputValues> given,
                         uint32_t capacity)
    : values(given) {
  for (size_t i = 0; i < given.size() && capacity > 0; ++i) {
    const auto info =
        std::ranges::find_if(declared, [&](const auto& input) { return input.has_name(given[i].name); });
    if (info == declared.end()) continue;
    const auto shape = whole_mask_shape(*info, given[i].shape, capacity);
    if (!shape) continue;
    check_byte_size("input", info->name, {info->dtype, Shape(given[i].shape.begin(), given[i].shape.end())},
                    given[i].values.size());
    if (changed_.empty()) changed_.assign(given.begin(), given.end());
    const Tensor& mask = masks_.emplace_back(whole_mask(info->dtype, *shape, given[i].values));
    changed_[i].values = {mask.data(), mask.byte_size()};
    changed_[i].shape = mask.shape();
  }
  if (!changed_.empty()) values = changed_;
}

}  // namespace vellum
