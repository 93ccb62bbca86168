#include "graph/operators/movement/unique.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "graph/operators/movement/gather.hpp"

namespace vellum {
namespace {

// A strict order of all values: a NaN is above every number and equal to any other NaN.
template <typename T>
bool below(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    if (std::isnan(a) || std::isnan(b)) return !std::isnan(a) && std::isnan(b);
  return a < b;
}

struct Group {
  int64_t first = 0, count = 0;
};

// Groups of equal slices, in order, and the group of each slice.
struct Groups {
  std::vector<Group> groups;
  Ints of_slice;
};

// Slice i of x has the elements at (o * count + i) * inner + k.
template <typename Element>
Groups find_groups(std::span<const Element> x, int64_t outer, int64_t count, int64_t inner) {
  const auto compare = [&](int64_t a, int64_t b) {
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t k = 0; k < inner; ++k) {
        const auto left = widen(x[static_cast<size_t>((o * count + a) * inner + k)]);
        const auto right = widen(x[static_cast<size_t>((o * count + b) * inner + k)]);
        if (below(left, right)) return -1;
        if (below(right, left)) return 1;
      }
    return 0;
  };
  Ints order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), int64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return compare(a, b) < 0; });
  Groups result;
  result.of_slice.resize(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || compare(order[i - 1], order[i]) != 0) result.groups.push_back({order[i], 0});
    ++result.groups.back().count;
    result.of_slice[static_cast<size_t>(order[i])] = static_cast<int64_t>(result.groups.size()) - 1;
  }
  return result;
}

void order_by_first(Groups& found) {
  std::vector<size_t> order(found.groups.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return found.groups[a].first < found.groups[b].first; });
  std::vector<Group> groups;
  Ints place(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    groups.push_back(found.groups[order[i]]);
    place[order[i]] = static_cast<int64_t>(i);
  }
  found.groups = std::move(groups);
  for (int64_t& group : found.of_slice) group = place[static_cast<size_t>(group)];
}

}  // namespace

std::vector<TensorType> Unique::infer_open(Inputs inputs) const {
  TensorType y = input_type(inputs, 0, "X");
  if (!axis) y.shape = {element_count(y.shape)};
  const size_t at = axis ? normalize_axis(*axis, y.shape.size()) : 0;
  const TensorType open{DType::i64, {kUnknownDim}}, inverse{DType::i64, {y.shape[at]}};
  y.shape[at] = kUnknownDim;
  if (all_known(inputs)) return {};
  return {y, open, inverse, open};
}

std::vector<TensorType> Unique::infer(Inputs inputs) const {
  infer_open(inputs);
  const HostTensor* x = &constant_input(inputs, 0, "X");
  std::vector<TensorType> types;
  for (const HostTensor& result : evaluate({&x, 1})) types.push_back(result.type());
  return types;
}

std::vector<HostTensor> Unique::evaluate(HostInputs inputs) const {
  infer_open(known_inputs(inputs));
  const HostTensor x = axis ? *inputs[0] : inputs[0]->reshaped({inputs[0]->elements()});
  const size_t at = axis ? normalize_axis(*axis, x.shape().size()) : 0;
  const int64_t outer = product(x.shape(), 0, at), inner = product(x.shape(), at + 1, x.shape().size());
  Groups found = visit_element(x.dtype(), [&](auto tag) {
    using Element = typename decltype(tag)::type;
    return find_groups(x.as<Element>(), outer, x.shape()[at], inner);
  });
  if (!sorted) order_by_first(found);
  Ints first, counts;
  for (const Group& group : found.groups) {
    first.push_back(group.first);
    counts.push_back(group.count);
  }
  const auto longs = [](const Ints& values) {
    return HostTensor::i64({static_cast<int64_t>(values.size())}, values);
  };
  const HostTensor chosen = longs(first);
  Gather gather;
  gather.axis = static_cast<int64_t>(at);
  return {gather.evaluate(std::array{&x, &chosen})[0], chosen, longs(found.of_slice), longs(counts)};
}

uint64_t Unique::work(Inputs inputs, Outputs outputs) const {
  return saturating_multiply(elementwise_work(inputs, outputs), 32);  // n log n
}

Attributes Unique::attributes() const {
  Attributes result;
  if (axis) result.set("axis", *axis);
  if (!sorted) result.set("sorted", int64_t{0});
  return result;
}

std::shared_ptr<const Operator> make_unique_values(const NodeSpec& spec) {
  auto op = std::make_shared<Unique>();
  if (spec.attributes->has("axis")) op->axis = spec.attributes->get_int("axis", 0);
  op->sorted = get_flag(*spec.attributes, "sorted", true);
  return op;
}

}  // namespace vellum
