#include "graph/operators/movement/tensor_scatter.hpp"

#include <algorithm>
#include <numeric>

#include "graph/composed.hpp"
#include "graph/element.hpp"
#include "graph/operators/movement/gather.hpp"

namespace vellum {
namespace {

// Returns the axis as an index.
size_t checked_axis(int64_t axis, const Shape& cache, const Shape& update) {
  const size_t along = normalize_axis(axis, cache.size());
  if (along == 0 || update.size() != cache.size()) refuse_model("update does not fit the cache");
  Shape same = update;
  same[along] = cache[along];
  if (same != cache || update[along] > cache[along])
    refuse_model("update of shape " + to_string(update) + " does not fit the cache " + to_string(cache));
  return along;
}

void write_tokens(Body& body, int64_t axis, bool circular) {
  const ValueId cache = body.input(0, "past_cache"), update = body.input(1, "update");
  const Shape shape = body.shape(cache), tokens = body.shape(update);
  const size_t along = checked_axis(axis, shape, tokens);
  Shape column(shape.size(), 1);
  column[along] = tokens[along];
  Ints steps(static_cast<size_t>(tokens[along]));
  std::iota(steps.begin(), steps.end(), int64_t{0});
  ValueId at = body.constant(HostTensor::i64(column, steps));
  if (body.has_input(2)) {
    Shape batch(shape.size(), 1);
    batch[0] = shape[0];
    const ValueId first = body.cast(body.reshape(body.input(2, "write_indices"), batch), DType::i64);
    at = body.add("Add", {first, at});
    if (circular) at = body.add("Mod", {at, body.scalar(DType::i64, static_cast<double>(shape[along]))});
  }
  body.output(body.add("ScatterElements", {cache, body.add("Expand", {at, body.ints(tokens)}), update},
                       {{"axis", static_cast<int64_t>(along)}}));
}

}  // namespace

TensorScatter::Extents TensorScatter::extents(const Shape& cache, const Shape& update) const {
  const size_t along = checked_axis(axis, cache, update);
  return {cache[0], product(cache, 1, along), cache[along], update[along],
          product(cache, along + 1, cache.size())};
}

std::vector<TensorType> TensorScatter::infer(Inputs inputs) const {
  const TensorType &cache = input_type(inputs, 0, "past_cache"), &update = input_type(inputs, 1, "update");
  const TensorType& indices = input_type(inputs, 2, "write_indices");
  require_indices(indices);
  if (cache.dtype != update.dtype)
    refuse_model("past_cache is " + to_string(cache) + ", update " + to_string(update));
  const Extents e = extents(cache.shape, update.shape);
  if (indices.shape != Shape{e.batch})
    refuse_model("write_indices of shape " + to_string(indices.shape) +
                 " has not one element for each batch");
  return {cache};
}

std::vector<HostTensor> TensorScatter::evaluate(HostInputs inputs) const {
  const TensorType type = infer_known(*this, inputs)[0];
  const Extents e = extents(type.shape, inputs[1]->shape());
  const Ints first = inputs[2]->to_ints();
  for (const int64_t index : first)
    if (index < 0 || index > e.capacity - e.tokens)
      refuse_model("write index " + std::to_string(index) + " of " + std::to_string(e.tokens) +
                   " tokens is outside of a cache of " + std::to_string(e.capacity));
  HostTensor y = *inputs[0];
  const auto count = static_cast<size_t>(e.tokens * e.inner);
  visit_element(type.dtype, [&](auto tag) {
    using Element = typename decltype(tag)::type;
    const auto updates = inputs[1]->as<Element>();
    auto out = y.mutable_as<Element>();
    for (int64_t row = 0; row < e.batch * e.outer; ++row) {
      const int64_t to = (row * e.capacity + first[static_cast<size_t>(row / e.outer)]) * e.inner;
      std::copy_n(updates.begin() + row * e.tokens * e.inner, count, out.begin() + to);
    }
  });
  return {y};
}

Attributes TensorScatter::attributes() const {
  Attributes result;
  result.set("axis", axis);
  return result;
}

std::shared_ptr<const Operator> make_tensor_scatter(const NodeSpec& spec) {
  const int64_t axis = spec.attributes->get_int("axis", -2);
  const std::string mode = spec.attributes->get_string("mode", "linear");
  if (mode != "linear" && mode != "circular") refuse_model("mode '" + mode + "' is unknown");
  if (mode == "linear" && spec.has_input(2)) {
    auto op = std::make_shared<TensorScatter>();
    op->axis = axis;
    return op;
  }
  return composed(spec, [axis, mode](Body& body) { write_tokens(body, axis, mode == "circular"); });
}

}  // namespace vellum
