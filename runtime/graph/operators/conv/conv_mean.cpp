#include "graph/operators/conv/conv_mean.hpp"

#include <array>

#include "graph/operators/reduction/pool.hpp"

namespace vellum {
namespace {

const GlobalPool& mean() {
  static const GlobalPool pool = [] {
    GlobalPool average;
    average.kind = PoolKind::average;
    return average;
  }();
  return pool;
}

}  // namespace

std::vector<TensorType> ConvMean::infer(Inputs inputs) const {
  const std::array<OperatorInput, 1> pixels{OperatorInput{true, conv.infer(inputs)[0], nullptr}};
  return mean().infer(pixels);
}

std::vector<HostTensor> ConvMean::evaluate(HostInputs inputs) const {
  infer_known(*this, inputs);
  const HostTensor pixels = conv.evaluate(inputs)[0];
  return mean().evaluate(std::array{&pixels});
}

std::shared_ptr<const Operator> make_conv_mean(const NodeSpec&) {
  refuse_model("ConvMean is no operator of models: only a pass makes it");
}

}  // namespace vellum
