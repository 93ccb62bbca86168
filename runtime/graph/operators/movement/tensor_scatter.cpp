// TensorScatter: writes tokens into a cache. https://onnx.ai/onnx/operators/onnx__TensorScatter.html
#include <numeric>

#include "graph/composed.hpp"

namespace vellum {
namespace {

void write_tokens(Body& body, int64_t axis, bool circular) {
  const ValueId cache = body.input(0, "past_cache"), update = body.input(1, "update");
  const Shape shape = body.shape(cache), tokens = body.shape(update);
  const size_t along = normalize_axis(axis, shape.size());
  Shape same = tokens;
  if (along == 0 || tokens.size() != shape.size()) refuse_model("update does not fit the cache");
  same[along] = shape[along];
  if (same != shape || tokens[along] > shape[along])
    refuse_model("update of shape " + to_string(tokens) + " does not fit the cache " + to_string(shape));
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

std::shared_ptr<const Operator> make_tensor_scatter(const NodeSpec& spec) {
  const int64_t axis = spec.attributes->get_int("axis", -2);
  const std::string mode = spec.attributes->get_string("mode", "linear");
  if (mode != "linear" && mode != "circular") refuse_model("mode '" + mode + "' is unknown");
  return composed(spec, [axis, mode](Body& body) { write_tokens(body, axis, mode == "circular"); });
}

}  // namespace vellum
