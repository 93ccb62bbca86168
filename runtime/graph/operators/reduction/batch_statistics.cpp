#include "graph/operators/reduction/batch_statistics.hpp"

#include "graph/composed.hpp"

namespace vellum {
namespace {

void normalize_by_batch(Body& body, float epsilon, float momentum) {
  const ValueId x = body.input(0, "X");
  const Shape shape = body.shape(x);
  if (shape.size() < 2) refuse_model("X has shape " + to_string(shape) + ", expected N x C x ...");
  const Shape channels{shape[1]};
  Shape column(shape.size(), 1);
  column[1] = shape[1];
  Ints others{0};
  for (size_t i = 2; i < shape.size(); ++i) others.push_back(static_cast<int64_t>(i));
  const auto parameter = [&](size_t i, std::string_view what) {
    const ValueId value = body.input(i, what);
    if (body.shape(value) != channels)
      refuse_model("input '" + std::string(what) + "' is not one per channel");
    return value;
  };
  const ValueId mean = body.add("ReduceMean", {x}, {{"axes", others}});
  const ValueId distance = body.add("Sub", {x, mean});
  const ValueId variance =
      body.add("ReduceMean", {body.add("Mul", {distance, distance})}, {{"axes", others}});
  const ValueId small = body.scalar(body.type(x).dtype, static_cast<double>(epsilon));
  const ValueId deviation = body.add("Sqrt", {body.add("Add", {variance, small})});
  const ValueId scale = body.cast(body.reshape(parameter(1, "scale"), column), body.type(x).dtype);
  const ValueId bias = body.cast(body.reshape(parameter(2, "B"), column), body.type(x).dtype);
  const ValueId normal = body.add("Mul", {body.add("Div", {distance, deviation}), scale});
  body.output(body.add("Add", {normal, bias}));
  const auto running = [&](ValueId before, ValueId now) {
    const DType dtype = body.type(before).dtype;
    const ValueId of_batch = body.cast(body.reshape(now, channels), dtype);
    return body.add("Add",
                    {body.add("Mul", {before, body.scalar(dtype, static_cast<double>(momentum))}),
                     body.add("Mul", {of_batch, body.scalar(dtype, 1.0 - static_cast<double>(momentum))})});
  };
  body.output(running(parameter(3, "input_mean"), mean));
  body.output(running(parameter(4, "input_var"), variance));
}

}  // namespace

std::shared_ptr<const Operator> make_batch_statistics(const NodeSpec& spec, float epsilon, float momentum) {
  return composed(spec, [epsilon, momentum](Body& body) { normalize_by_batch(body, epsilon, momentum); });
}

}  // namespace vellum
