#include "passes/caches/length_probe.hpp"

#include <algorithm>
#include <exception>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "vellum/error.hpp"

namespace vellum {
namespace {

constexpr int64_t kMostElements = int64_t{1} << 22;  // of a value that is computed before running

bool are_equal(const HostTensor& a, const HostTensor& b) {
  return a.type() == b.type() &&
         std::ranges::equal(std::span(a.data(), a.byte_size()), std::span(b.data(), b.byte_size()));
}

// Whether `part` is what `whole` has at the same indices.
bool begins_with(const HostTensor& whole, const HostTensor& part) {
  if (part.dtype() != whole.dtype() || part.shape().size() != whole.shape().size()) return false;
  for (size_t axis = 0; axis < part.shape().size(); ++axis)
    if (part.shape()[axis] > whole.shape()[axis]) return false;
  return are_equal(part, gather_strided(whole, part.shape(), row_major_strides(whole.shape()), 0));
}

int64_t capacity_of(const Graph& graph, const GrowingCache& cache) {
  return graph.values[cache.cache].type.shape[cache.axis];
}

// The new tokens of a run after `past` earlier ones: those of the first cache depend on no cache.
int64_t tokens_after(Graph graph, std::span<const GrowingCache> caches, InputShapes shapes,
                     const InputTensors& values, int64_t past) {
  const GrowingCache& first = caches.front();
  graph.outputs = {first.tokens};
  for (const GrowingCache& cache : caches) {
    shapes.erase(graph.values[cache.cache].name);
    graph.values[cache.cache].type.shape[cache.axis] = past;
  }
  infer_shapes_and_fold(graph, shapes, values);
  return graph.values[first.tokens].type.shape.at(first.tokens_axis);
}

// In most models the new tokens do not depend on the earlier ones. OPT slices its positions from a mask of
// all tokens, which has the whole capacity: there the number is a dimension of an input, after which, and the
// earlier tokens, nothing is left of the capacity.
int64_t tokens_of(const Graph& graph, std::span<const GrowingCache> caches, const InputShapes& shapes,
                  const InputTensors& values) {
  const int64_t most = capacity_of(graph, caches.front()) - static_cast<int64_t>(LengthProbe::kLengths);
  std::exception_ptr failure;
  int64_t tokens = 0;
  try {
    tokens = tokens_after(graph, caches, shapes, values, 1);  // tables of positions end at the capacity
    if (tokens <= most) return tokens;
  } catch (const Error&) {
    failure = std::current_exception();
  }
  std::set<int64_t> dims;
  for (const auto& [name, shape] : shapes) dims.insert(shape.begin(), shape.end());
  for (const int64_t dim : dims) {
    if (dim <= 0 || dim > most) continue;
    try {
      const int64_t past = capacity_of(graph, caches.front()) - dim;
      if (tokens_after(graph, caches, shapes, values, past) == dim) return dim;
    } catch (const Error&) {
      continue;  // not the number of tokens
    }
  }
  if (failure) std::rethrow_exception(failure);
  return tokens;
}

// Open dimensions of other inputs that are as long as the capacity count all tokens.
void shorten(InputShapes& shapes, const Graph& graph, std::span<const GrowingCache> caches, int64_t by) {
  const int64_t capacity = capacity_of(graph, caches.front());
  for (const ValueId id : graph.inputs) {
    const Value& input = graph.values[id];
    const auto given = shapes.find(input.name);
    if (given == shapes.end() || given->second.size() != input.type.shape.size()) continue;
    for (size_t axis = 0; axis < given->second.size(); ++axis)
      if (input.type.shape[axis] == kUnknownDim && given->second[axis] == capacity) given->second[axis] -= by;
  }
}

bool holds_graphs(const Operator& op) {
  return op.type() == "If" || op.type() == "Loop" || op.type() == "Scan";
}

bool is_all_constant(const Graph& graph, const Node& node) {
  return std::ranges::all_of(node.inputs,
                             [&](ValueId id) { return id == kNoValue || graph.constant(id) != nullptr; });
}

}  // namespace

LengthProbe::LengthProbe(const Graph& graph, std::span<const GrowingCache> caches, const InputShapes& shapes,
                         const InputTensors& values) {
  const int64_t capacity = capacity_of(graph, caches.front()),
                tokens = tokens_of(graph, caches, shapes, values);
  past_ = capacity - tokens;
  if (past_ < static_cast<int64_t>(kLengths))
    throw Error(ErrorCode::invalid_argument, std::to_string(tokens) + " tokens in one run need caches of " +
                                                 std::to_string(tokens + static_cast<int64_t>(kLengths)) +
                                                 " at least, not " + std::to_string(capacity));
  for (size_t k = 0; k < kLengths; ++k) {
    const auto by = static_cast<int64_t>(k);
    InputShapes shorter = shapes;
    shorten(shorter, graph, caches, by);
    graphs_[k] = graph;
    for (const GrowingCache& cache : caches) {
      Value& value = graphs_[k].values[cache.cache];
      const auto given = shorter.find(value.name);
      if (given != shorter.end()) value.type.shape = given->second;
      shorter.erase(value.name);
      value.type.shape[cache.axis] = past_ - by;
    }
    infer_shapes_and_fold(graphs_[k], shorter, values);
    known_[k].resize(graph.values.size());
  }
  evaluate_known(graph);
}

const HostTensor* LengthProbe::find(size_t k, ValueId value) const {
  if (known_[k][value]) return &*known_[k][value];
  const auto& constant = graphs_[k].values[value].constant;
  return constant ? &*constant : nullptr;
}

std::vector<OperatorInput> LengthProbe::inputs_of(size_t k, const Node& node) const {
  std::vector<OperatorInput> inputs;
  for (const ValueId id : node.inputs) {
    if (id == kNoValue)
      inputs.emplace_back();
    else if (const HostTensor* known = find(k, id))
      inputs.push_back({true, known->type(), known});
    else
      inputs.push_back({true, graphs_[k].values[id].type, nullptr});
  }
  return inputs;
}

void LengthProbe::evaluate_known(const Graph& graph) {
  for (const Node& node : graph.nodes) {
    if (is_all_constant(graph, node) && !node.inputs.empty() && !node.op->reads_types_only()) {
      // Constants of the model, which folding computes; the small ones may be operands of shapes.
      const bool is_small = std::ranges::all_of(node.inputs, [&](ValueId id) {
        return id == kNoValue || graph.constant(id)->elements() <= int64_t{1} << 16;
      });
      if (!is_small) continue;
    }
    for (size_t k = 0; k < kLengths; ++k) {
      const std::vector<OperatorInput> inputs = inputs_of(k, node);
      std::vector<HostTensor> results;
      if (node.op->reads_types_only()) {
        const bool typed = std::ranges::all_of(node.inputs, [&](ValueId id) {
          return id == kNoValue || graphs_[k].values[id].type_known || find(k, id) != nullptr;
        });
        if (!typed) break;  // nothing reads it
        results.push_back(node.op->evaluate_types(inputs));
      } else {
        std::vector<const HostTensor*> tensors;
        for (const OperatorInput& input : inputs) tensors.push_back(input.constant);
        if (!all_known(inputs) || holds_graphs(*node.op)) break;
        const std::vector<TensorType> types = node.op->infer(inputs);
        if (std::ranges::any_of(types,
                                [](const auto& type) { return element_count(type.shape) > kMostElements; }))
          break;
        results = evaluate(node, tensors);
      }
      for (size_t i = 0; i < node.outputs.size(); ++i)
        if (node.outputs[i] != kNoValue) known_[k][node.outputs[i]] = std::move(results[i]);
    }
  }
}

bool LengthProbe::differs_otherwise(ValueId value) const {
  if (value >= values() || is_known(value)) return false;
  const auto& first = graphs_[0].values[value].constant;
  for (const Graph& graph : graphs_) {
    const auto& constant = graph.values[value].constant;
    if (constant.has_value() != first.has_value() || (first && !are_equal(*first, *constant))) return true;
  }
  return false;
}

bool LengthProbe::is_same(ValueId value) const {
  return are_equal(*known_[0][value], *known_[1][value]) && are_equal(*known_[0][value], *known_[2][value]);
}

bool LengthProbe::is_prefix(ValueId value) const {
  const HostTensor& longest = *known_[0][value];
  for (size_t k = 1; k < kLengths; ++k) {
    const HostTensor& shorter = *known_[k][value];
    if (shorter.shape() == longest.shape() || !begins_with(longest, shorter)) return false;
  }
  return true;
}

bool LengthProbe::begins_with_known(ValueId value,
                                    const std::array<HostTensor, kLengths>& value_of_run) const {
  for (size_t k = 0; k < kLengths; ++k)
    if (!begins_with(value_of_run[k], *known_[k][value])) return false;
  return true;
}

std::array<int64_t, LengthProbe::kLengths> LengthProbe::sizes(ValueId value, size_t axis) const {
  std::array<int64_t, kLengths> result{};
  for (size_t k = 0; k < kLengths; ++k) {
    const HostTensor* known = find(k, value);
    result[k] = (known ? known->shape() : graphs_[k].values[value].type.shape).at(axis);
  }
  return result;
}

std::optional<LengthProbe::Linear> LengthProbe::linear(const std::array<HostTensor, kLengths>& values) const {
  for (const HostTensor& value : values)
    if (value.type() != values[0].type()) return std::nullopt;
  const DType dtype = values[0].dtype();
  if (dtype != DType::i64 && dtype != DType::i32 && dtype != DType::f32) return std::nullopt;
  const auto numbers = [&](size_t k) {
    const HostTensor whole = cast(values[k], DType::i64);
    return are_equal(cast(whole, dtype), values[k]) ? std::optional(whole.to_ints()) : std::nullopt;
  };
  const auto first = numbers(0), second = numbers(1), third = numbers(2);
  if (!first || !second || !third) return std::nullopt;
  Ints offset(first->size()), factor(first->size());
  for (size_t i = 0; i < offset.size(); ++i) {
    factor[i] = (*first)[i] - (*second)[i];
    if ((*second)[i] - (*third)[i] != factor[i]) return std::nullopt;
    offset[i] = (*first)[i] - factor[i] * past_;
  }
  const Shape& shape = values[0].shape();
  return Linear{HostTensor::from<int64_t>(dtype, shape, offset),
                HostTensor::from<int64_t>(dtype, shape, factor),
                std::ranges::all_of(factor, [](int64_t f) { return f == 1; })};
}

std::optional<LengthProbe::Linear> LengthProbe::linear(ValueId value) const {
  return linear({*known_[0][value], *known_[1][value], *known_[2][value]});
}

std::optional<LengthProbe::Ranges> LengthProbe::slice_ranges(const Node& node) const {
  const auto& op = dynamic_cast<const Slice&>(*node.op);
  Ranges ranges;
  for (size_t k = 0; k < kLengths; ++k) {
    const std::vector<OperatorInput> inputs = inputs_of(k, node);
    for (size_t i = 1; i < inputs.size(); ++i)
      if (inputs[i].present && inputs[i].constant == nullptr) return std::nullopt;
    ranges[k] = op.range(inputs);
  }
  return ranges;
}

}  // namespace vellum
