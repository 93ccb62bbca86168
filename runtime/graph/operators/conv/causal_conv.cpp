// CausalConvWithState: a depthwise convolution along time. Its state is the end of the previous sequence.
// https://onnx.ai/onnx/operators/onnx__CausalConvWithState.html
#include "graph/composed.hpp"

namespace vellum {
namespace {

void causal_conv(Body& body, bool silu) {
  ValueId x = body.input(0, "input");
  const ValueId weights = body.input(1, "weight");
  const Shape shape = body.shape(x), w = body.shape(weights);
  if (shape.size() != 3 || w.size() != 3 || w[0] != shape[1] || w[1] != 1 || w[2] < 1)
    refuse_model("input of shape " + to_string(shape) + " and weight of shape " + to_string(w) +
                 " do not go together");
  const int64_t before = w[2] - 1;
  if (body.has_input(3)) {
    x = body.add("Concat", {body.input(3, "past_state"), x}, {{"axis", int64_t{2}}});
  } else if (before > 0) {
    x = body.add("Pad", {x, body.ints({0, 0, before, 0, 0, 0})});
  }
  const int64_t length = body.shape(x)[2];
  if (length != checked_add(shape[2], before))
    refuse_model("past_state has not " + std::to_string(before) + " elements");
  std::vector<ValueId> inputs{x, weights};
  if (body.has_input(2)) inputs.push_back(body.input(2, "bias"));
  const ValueId y = body.add("Conv", inputs, {{"group", shape[1]}});
  body.output(silu ? body.add("Silu", {y}) : y);
  body.output(body.slice(x, 2, length - before, length));
}

}  // namespace

std::shared_ptr<const Operator> make_causal_conv(const NodeSpec& spec) {
  const std::string activation = spec.attributes->get_string("activation", "none");
  if (activation != "none" && activation != "silu" && activation != "swish")
    refuse_model("activation '" + activation + "' is unknown");
  return composed(spec, [silu = activation != "none"](Body& body) { causal_conv(body, silu); });
}

}  // namespace vellum
