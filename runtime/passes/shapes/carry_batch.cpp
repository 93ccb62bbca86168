#include "passes/shapes/carry_batch.hpp"

#include "graph/operators/movement/reshape.hpp"
#include "passes/rewrite/match.hpp"
#include "vellum/error.hpp"

namespace vellum {
namespace {

// The batch that `shapes` state for inputs whose batch is 1 or open in the model; 1 where they state none, or
// several.
int64_t new_batch(const Graph& graph, const InputShapes& shapes) {
  int64_t batch = 1;
  for (const ValueId id : graph.inputs) {
    const Value& input = graph.values[id];
    const auto stated = shapes.find(input.name);
    if (!input.type_known || input.type.shape.empty() || stated == shapes.end() || stated->second.empty())
      continue;
    const int64_t in_model = input.type.shape[0], in_session = stated->second[0];
    if (in_session == 1 || in_session == 0 || in_session == in_model ||
        (in_model != 1 && in_model != kUnknownDim))
      continue;
    if (batch != 1 && batch != in_session) return 1;
    batch = in_session;
  }
  return batch;
}

InputShapes with_batch_of_one(const Graph& graph, InputShapes shapes, int64_t batch) {
  for (const ValueId id : graph.inputs) {
    const auto stated = shapes.find(graph.values[id].name);
    if (stated == shapes.end() || stated->second.empty() || stated->second[0] != batch) continue;
    stated->second[0] = 1;
  }
  return shapes;
}

}  // namespace

BatchCarrier::BatchCarrier(const Graph& graph, const InputShapes& shapes, const InputTensors& values)
    : batch_(new_batch(graph, shapes)) {
  if (batch_ == 1) return;
  Graph single = graph;
  try {
    infer_shapes_and_fold(single, with_batch_of_one(graph, shapes, batch_), values);
  } catch (const Error&) {
    batch_ = 1;  // the model does not run with a batch of 1
    return;
  }
  // Values of branches of If are added after these.
  for (size_t id = 0; id < graph.values.size(); ++id)
    single_.push_back(single.values[id].type_known ? single.values[id].type.shape : Shape());
}

bool BatchCarrier::begins_with_batch(const GraphEditor& editor, ValueId value) const {
  if (value >= single_.size()) return false;
  const Shape &single = single_[value], &now = editor.type(value).shape;
  return !single.empty() && !now.empty() && single[0] == 1 && now[0] == batch_;
}

void BatchCarrier::carry(GraphEditor& editor, size_t index) const {
  const auto reshape = batch_ == 1 ? Match<Reshape>{} : match_node<Reshape>(editor, index);
  if (!reshape || !begins_with_batch(editor, reshape.input())) return;
  const HostTensor* computed = editor.constant_input(index, 1);
  if (!reshape->shape && !computed) return;
  Shape shape = reshape->shape ? *reshape->shape : computed->to_ints();
  if (shape.empty() || shape[0] != 1) return;
  shape[0] = batch_;
  auto carrying = std::make_shared<Reshape>(*reshape.op);
  carrying->shape = std::move(shape);
  editor.replace(index, std::move(carrying), {reshape.input()});
}

}  // namespace vellum
