#include "passes/shapes/carry_batch.hpp"

#include "graph/operators/reshape.hpp"
#include "vellum/error.hpp"

namespace vellum {
namespace {

// The batch that inputs are given in place of 1; 1 where there is none, or where inputs disagree.
int64_t new_batch(const Graph& graph, const InputShapes& shapes) {
  int64_t batch = 1;
  for (const ValueId id : graph.inputs) {
    const Value& input = graph.values[id];
    const auto given = shapes.find(input.name);
    if (!input.type_known || input.type.shape.empty() || given == shapes.end() || given->second.empty())
      continue;
    const int64_t named = input.type.shape[0], wanted = given->second[0];
    if (wanted == 1 || wanted == named || (named != 1 && named != kUnknownDim)) continue;
    if (batch != 1 && batch != wanted) return 1;
    batch = wanted;
  }
  return batch;
}

InputShapes with_batch_of_one(const Graph& graph, InputShapes shapes, int64_t batch) {
  for (const ValueId id : graph.inputs) {
    const auto given = shapes.find(graph.values[id].name);
    if (given != shapes.end() && !given->second.empty() && given->second[0] == batch) given->second[0] = 1;
  }
  return shapes;
}

}  // namespace

BatchCarrier::BatchCarrier(const Graph& graph, const InputShapes& shapes) : batch_(new_batch(graph, shapes)) {
  if (batch_ == 1) return;
  Graph single = graph;
  try {
    infer_shapes_and_fold(single, with_batch_of_one(graph, shapes, batch_));
  } catch (const Error&) {
    batch_ = 1;  // a model that does not run with one image has nothing to carry
    return;
  }
  // Values that branches of If add come after these.
  for (size_t id = 0; id < graph.values.size(); ++id)
    single_.push_back(single.values[id].type_known ? single.values[id].type.shape : Shape());
}

bool BatchCarrier::became_batch(const Graph& graph, ValueId id) const {
  if (id >= single_.size()) return false;
  const Shape &before = single_[id], &now = graph.values[id].type.shape;
  return !before.empty() && !now.empty() && before[0] == 1 && now[0] == batch_;
}

void BatchCarrier::carry(const Graph& graph, Node& node) const {
  const auto* reshape = batch_ == 1 ? nullptr : dynamic_cast<const Reshape*>(node.op.get());
  if (reshape == nullptr || !became_batch(graph, node.inputs[0])) return;
  const HostTensor* given =
      node.inputs.size() > 1 && node.inputs[1] != kNoValue ? graph.constant(node.inputs[1]) : nullptr;
  if (!reshape->shape && !given) return;
  Shape shape = reshape->shape ? *reshape->shape : given->to_ints();
  if (shape.empty() || shape[0] != 1) return;
  shape[0] = batch_;
  auto carrying = std::make_shared<Reshape>(*reshape);
  carrying->shape = std::move(shape);
  node.op = std::move(carrying);
  node.inputs.resize(1);
}

}  // namespace vellum
