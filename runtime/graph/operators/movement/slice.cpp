#include "graph/operators/movement/slice.hpp"

#include <algorithm>
#include <numeric>

namespace vellum {

namespace {

// Negative counts from the end; the result is clamped to [low, high].
int64_t clamp_index(int64_t index, int64_t size, int64_t low, int64_t high) {
  if (index < 0) index = index < -size ? -1 : index + size;
  return std::clamp(index, low, high);
}

void slice_axis(SliceRange& range, size_t axis, int64_t size, int64_t start, int64_t end, int64_t step) {
  if (step == 0) refuse_model("a step is 0");
  // Steps beyond the size pick one element, however large they are.
  step = std::clamp(step, -std::max<int64_t>(size, 1), std::max<int64_t>(size, 1));
  int64_t count = 0;
  if (size > 0 && step > 0) {
    start = clamp_index(start, size, 0, size);
    end = clamp_index(end, size, 0, size);
    count = end > start ? (end - start + step - 1) / step : 0;
  } else if (size > 0) {
    start = clamp_index(start, size, 0, size - 1);
    // -1 after counting from the end is "before the first element".
    end = clamp_index(end, size, -1, size - 1);
    count = start > end ? (start - end - step - 1) / -step : 0;
  }
  range.starts[axis] = count > 0 ? start : 0;
  range.steps[axis] = step;
  range.output[axis] = count;
}

}  // namespace

SliceRange Slice::range(Inputs inputs) const {
  const Shape& data = input_type(inputs, 0, "data").shape;
  const auto first = attribute_or_input(starts, inputs, 1, "starts");
  const auto last = attribute_or_input(ends, inputs, 2, "ends");
  if (!first || !last) refuse_model("starts or ends are missing");
  Ints all(first->size());
  std::iota(all.begin(), all.end(), int64_t{0});
  const Ints along = attribute_or_input(axes, inputs, 3, "axes").value_or(all);
  const Ints by = attribute_or_input(std::nullopt, inputs, 4, "steps").value_or(Ints(first->size(), 1));
  if (last->size() != first->size() || along.size() != first->size() || by.size() != first->size()) {
    refuse_model("starts, ends, axes and steps differ in length");
  }
  normalize_axes(along, data.size());
  SliceRange range{Ints(data.size(), 0), Ints(data.size(), 1), data};
  for (size_t i = 0; i < along.size(); ++i) {
    const size_t axis = normalize_axis(along[i], data.size());
    slice_axis(range, axis, data[axis], (*first)[i], (*last)[i], by[i]);
  }
  return range;
}

std::vector<TensorType> Slice::infer(Inputs inputs) const {
  return {{input_type(inputs, 0, "data").dtype, range(inputs).output}};
}

std::vector<HostTensor> Slice::evaluate(HostInputs inputs) const {
  const TensorType type = infer_known(*this, inputs)[0];
  const SliceRange slice = range(known_inputs(inputs));
  auto strides = row_major_strides(inputs[0]->shape());
  int64_t offset = 0;
  for (size_t i = 0; i < strides.size(); ++i) {
    offset += slice.starts[i] * strides[i];
    strides[i] *= slice.steps[i];
  }
  return {gather_strided(*inputs[0], type.shape, strides, offset)};
}

Attributes Slice::attributes() const {
  Attributes result;
  if (starts) result.set("starts", *starts);
  if (ends) result.set("ends", *ends);
  if (axes) result.set("axes", *axes);
  return result;
}

std::shared_ptr<const Operator> make_slice(const NodeSpec& spec) {
  auto op = std::make_shared<Slice>();
  if (spec.opset < 10) {
    op->starts = optional_ints(*spec.attributes, "starts");
    op->ends = optional_ints(*spec.attributes, "ends");
    op->axes = optional_ints(*spec.attributes, "axes");
  }
  return op;
}

}  // namespace vellum
