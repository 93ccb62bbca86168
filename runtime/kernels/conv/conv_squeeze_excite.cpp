#include "kernels/conv/conv_squeeze_excite.hpp"

#include "kernels/conv/depthwise.hpp"
#include "kernels/framework/elements.hpp"
#include "kernels/reduction/squeeze_excite.hpp"

namespace vellum {
namespace {

ConvProblem problem_of(const ConvSqueezeExcite& op, const std::vector<OperatorInput>& inputs,
                       Precision precision) {
  return depthwise_problem(nchw(inputs[0].type.shape)[0], inputs[0].type.shape[1],
                           to_2d(op.conv.place(std::span(inputs).first(3))), op.conv.activation, precision);
}

// The sizes of the gates, which a workgroup computes of the `parts` means that each channel has.
SqueezeSizes sizes_of(const ConvProblem& problem, const std::vector<OperatorInput>& inputs, int64_t parts) {
  return {problem.images, problem.outputs, inputs[3].type.shape[0], inputs[5].type.shape[0], parts};
}

}  // namespace

bool takes_means(const ConvSqueezeExcite& op, const std::vector<OperatorInput>& inputs,
                 const DeviceCaps& caps, Precision precision) {
  constexpr uint32_t kTensors = 4;  // x, weights, y and the means
  const ConvProblem problem = problem_of(op, inputs, precision);
  if (!fits_32_bits(problem.window) || kTensors > caps.max_storage_buffers_per_stage) return false;
  const std::optional<MeansTile> tile = means_tile(problem, caps);
  return tile && tile->pays && is_for_a_workgroup(caps, sizes_of(problem, inputs, tile->parts));
}

void lower_conv_squeeze_excite(Lowering& lowering) {
  const auto& op = lowering.op<ConvSqueezeExcite>();
  const std::vector<OperatorInput> inputs = operator_inputs(lowering);
  const ConvProblem problem = problem_of(op, inputs, lowering.options().precision);
  const std::optional<MeansTile> tile = means_tile(problem, lowering.caps());
  if (!tile) return lowering.run_on_host("its window has no kernel that takes means");
  const TensorId y = lowering.write(0, Layout::channels4), gates = lowering.write(1, Layout::channels4);
  emit_depthwise_gates(lowering, problem, *tile, op.squeeze, sizes_of(problem, inputs, tile->parts), 3, y,
                       gates);
}

}  // namespace vellum
