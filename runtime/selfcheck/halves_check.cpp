#include "selfcheck/halves_check.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "exec/executor.hpp"
#include "kernels/framework/lowering.hpp"
#include "passes/passes.hpp"
#include "selfcheck/small_operator.hpp"
#include "selfcheck/small_run.hpp"
#include "vellum/error.hpp"

namespace vellum {
namespace {

// Each twice, side by side. Every third is below zero: of 16 numbers, so that each is so somewhere.
HostTensor numbers() {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  // A bit more than the middle of two halves, the middle, and a bit less; the largest half and what is
  // rounded to it or to infinity; infinity; halves of small magnitude.
  const std::vector<float> magnitudes{
      1 + 0x1.8p-11f, 1 + 0x1p-11f, 1 + 0x3p-11f, 1 + 0x1.8p-12f, 65504,      65519,        65520, 1e6f,
      kInfinity,      0x1.8p-14f,   0x1.8p-24f,   0x1p-25f,       0x1.8p-25f, 0x1.ff9p-15f, 0,     1};
  HostTensor tensor(DType::f32, {1, 4, 6, 2 * static_cast<int64_t>(magnitudes.size())});
  size_t i = 0;
  for (float& element : tensor.mutable_as<float>()) {
    const size_t pair = i++ / 2;
    const float magnitude = magnitudes[pair % magnitudes.size()];
    element = pair % 3 == 0 ? -magnitude : magnitude;
  }
  return tensor;
}

SmallOperator pool_of_pairs() {
  const std::vector<int64_t> pair{1, 2};
  return small_operator("halves", "MaxPool", {{numbers(), false}},
                        {{"kernel_shape", pair}, {"strides", pair}});
}

Program lowered_in_halves(const Graph& graph, const DeviceCaps& caps) {
  return lower(graph, caps, {.precision = Precision::fp16, .storage = StorageChoice::buffer});
}

}  // namespace

Program halves_check_program(const DeviceCaps& caps) {
  return lowered_in_halves(optimise(pool_of_pairs().graph, {}), caps);
}

std::optional<bool> converts_halves_correctly(const std::shared_ptr<gpu::Context>& context,
                                              const DeviceCaps& caps, const HasShaders& has_shaders) {
  const SmallOperator small = pool_of_pairs();
  const Graph graph = optimise(small.graph, {});
  const std::vector<float> want = cast(evaluate(graph, small.inputs)[0], DType::f16).to_floats();
  std::vector<float> got;
  try {
    Program program = lowered_in_halves(graph, caps);
    if (has_shaders && !has_shaders(program)) return std::nullopt;
    MarkedRuns(context, 1).run(small.name, program, [&] {
      Executor executor(context, compile_program(context, std::move(program)));
      executor.set_input(0, small.inputs[0]);
      executor.run();
      got = executor.output(0).to_floats();
    });
  } catch (const Error& error) {
    if (error.code() == ErrorCode::device_lost) throw;
    return true;
  }
  return got == want;
}

}  // namespace vellum
