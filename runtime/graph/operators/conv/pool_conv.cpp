#include "graph/operators/conv/pool_conv.hpp"

namespace vellum {
namespace {

std::vector<OperatorInput> after_pool(const PoolConv& op, Inputs inputs) {
  std::vector<OperatorInput> after(inputs.begin(), inputs.end());
  after[0] = {true, op.middle(inputs), nullptr};
  return after;
}

}  // namespace

TensorType PoolConv::middle(Inputs inputs) const { return pool.infer(inputs.first(1))[0]; }

std::vector<TensorType> PoolConv::infer(Inputs inputs) const {
  return pointwise.infer(after_pool(*this, inputs));
}

std::vector<HostTensor> PoolConv::evaluate(HostInputs inputs) const {
  infer_known(*this, inputs);
  const HostTensor middle = pool.evaluate(inputs.first(1))[0];
  std::vector<const HostTensor*> after(inputs.begin(), inputs.end());
  after[0] = &middle;
  return pointwise.evaluate(after);
}

uint64_t PoolConv::macs(Inputs inputs) const { return pointwise.macs(after_pool(*this, inputs)); }

Attributes PoolConv::attributes() const {
  Attributes result = pool.attributes();
  Attributes last;
  print_activation(last, pointwise.activation);
  for (const auto& [name, value] : last.values()) result.set("pointwise_" + name, value);
  return result;
}

std::shared_ptr<const Operator> make_pool_conv(const NodeSpec&) {
  refuse_model("PoolConv is no operator of models: only a pass makes it");
}

}  // namespace vellum
