#include "graph/operators/movement/scatter.hpp"

#include <algorithm>

#include "graph/operators/movement/gather.hpp"

namespace vellum {

namespace {

constexpr std::string_view kReductions[] = {"none", "add", "mul", "max", "min"};

ScatterReduction read_reduction(const NodeSpec& spec) {
  const std::string text = spec.attributes->get_string("reduction", "none");
  for (size_t i = 0; i < std::size(kReductions); ++i) {
    if (text == kReductions[i]) return static_cast<ScatterReduction>(i);
  }
  refuse_model("reduction '" + text + "' is unknown");
}

Attributes print_reduction(ScatterReduction reduction) {
  Attributes result;
  result.set("reduction", std::string(kReductions[static_cast<size_t>(reduction)]));
  return result;
}

template <typename Element>
Element combine(ScatterReduction reduction, Element old, Element update) {
  const auto a = widen(old), b = widen(update);
  using Wide = Widened<Element>;
  // Integers through uint64_t, where overflow wraps around.
  using Sum = std::conditional_t<std::is_integral_v<Wide>, uint64_t, Wide>;
  switch (reduction) {
    case ScatterReduction::none:
      return update;
    case ScatterReduction::add:
      return convert<Element>(static_cast<Wide>(static_cast<Sum>(a) + static_cast<Sum>(b)));
    case ScatterReduction::mul:
      return convert<Element>(static_cast<Wide>(static_cast<Sum>(a) * static_cast<Sum>(b)));
    case ScatterReduction::max:
      return b > a ? update : old;
    case ScatterReduction::min:
      return b < a ? update : old;
  }
  return update;
}

void check_types(const TensorType& data, const TensorType& indices, const TensorType& updates) {
  require_indices(indices);
  if (data.dtype != updates.dtype)
    refuse_model("data is " + to_string(data) + ", updates " + to_string(updates));
}

}  // namespace

std::vector<TensorType> ScatterElements::infer(Inputs inputs) const {
  const TensorType &data = input_type(inputs, 0, "data"), &indices = input_type(inputs, 1, "indices");
  const TensorType& updates = input_type(inputs, 2, "updates");
  check_types(data, indices, updates);
  const size_t at = normalize_axis(axis, data.shape.size());
  bool fits = indices.shape == updates.shape && indices.shape.size() == data.shape.size();
  for (size_t i = 0; fits && i < data.shape.size(); ++i) fits = i == at || indices.shape[i] <= data.shape[i];
  if (!fits) {
    refuse_model("data is " + to_string(data) + ", indices " + to_string(indices) + ", updates " +
                 to_string(updates));
  }
  return {data};
}

std::vector<HostTensor> ScatterElements::evaluate(HostInputs inputs) const {
  const TensorType type = infer_known(*this, inputs)[0];
  const size_t at = normalize_axis(axis, type.shape.size());
  const Ints indices = inputs[1]->to_ints();
  auto strides = row_major_strides(type.shape);
  const int64_t along = strides[at];
  strides[at] = 0;
  HostTensor y = *inputs[0];
  visit_element(type.dtype, [&](auto tag) {
    using Element = typename decltype(tag)::type;
    const auto updates = inputs[2]->as<Element>();
    auto out = y.mutable_as<Element>();
    size_t i = 0;
    for_each_offset<1>(inputs[1]->shape(), {strides}, {0}, [&](const auto& offsets) {
      auto& element =
          out[static_cast<size_t>(offsets[0] + checked_index(indices[i], type.shape[at]) * along)];
      element = combine(reduction, element, updates[i++]);
    });
  });
  return {y};
}

Attributes ScatterElements::attributes() const {
  Attributes result = print_reduction(reduction);
  result.set("axis", axis);
  return result;
}

std::vector<TensorType> ScatterND::infer(Inputs inputs) const {
  const TensorType &data = input_type(inputs, 0, "data"), &indices = input_type(inputs, 1, "indices");
  const TensorType& updates = input_type(inputs, 2, "updates");
  check_types(data, indices, updates);
  const int64_t depth = indices.shape.empty() ? 0 : indices.shape.back();
  if (depth < 1 || depth > static_cast<int64_t>(data.shape.size())) {
    refuse_model("indices are " + to_string(indices) + ", data " + to_string(data));
  }
  Shape expected(indices.shape.begin(), indices.shape.end() - 1);
  expected.insert(expected.end(), data.shape.begin() + depth, data.shape.end());
  if (updates.shape != expected) {
    refuse_model("updates are " + to_string(updates) + ", expected " + to_string(expected));
  }
  return {data};
}

std::vector<HostTensor> ScatterND::evaluate(HostInputs inputs) const {
  const TensorType type = infer_known(*this, inputs)[0];
  const auto depth = static_cast<size_t>(inputs[1]->shape().back());
  const Ints indices = inputs[1]->to_ints();
  const auto strides = row_major_strides(type.shape);
  const auto slice = static_cast<size_t>(product(type.shape, depth, type.shape.size()));
  HostTensor y = *inputs[0];
  visit_element(type.dtype, [&](auto tag) {
    using Element = typename decltype(tag)::type;
    const auto updates = inputs[2]->as<Element>();
    auto out = y.mutable_as<Element>();
    for (size_t tuple = 0; tuple * depth < indices.size(); ++tuple) {
      int64_t to = 0;
      for (size_t i = 0; i < depth; ++i)
        to += checked_index(indices[tuple * depth + i], type.shape[i]) * strides[i];
      for (size_t i = 0; i < slice; ++i) {
        auto& element = out[static_cast<size_t>(to) + i];
        element = combine(reduction, element, updates[tuple * slice + i]);
      }
    }
  });
  return {y};
}

Attributes ScatterND::attributes() const { return print_reduction(reduction); }

std::shared_ptr<const Operator> make_scatter_elements(const NodeSpec& spec) {
  auto op = std::make_shared<ScatterElements>();
  op->axis = spec.attributes->get_int("axis", 0);
  op->reduction = read_reduction(spec);
  return op;
}

std::shared_ptr<const Operator> make_scatter_nd(const NodeSpec& spec) {
  auto op = std::make_shared<ScatterND>();
  op->reduction = read_reduction(spec);
  return op;
}

}  // namespace vellum
