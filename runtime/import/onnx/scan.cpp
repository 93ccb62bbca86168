#include "import/onnx/scan.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "graph/node_spec.hpp"

namespace vellum::onnx {
namespace {

// The axes and directions of inputs or outputs.
std::vector<LoopOperator::Stack> stacks_of(const Attributes& attributes, const std::string& what,
                                           size_t count) {
  const Ints axes = attributes.get_ints("scan_" + what + "_axes", Ints(count, 0));
  const Ints directions = attributes.get_ints("scan_" + what + "_directions", Ints(count, 0));
  if (axes.size() != count || directions.size() != count)
    refuse_model("the axes or directions of the " + what + "s are not " + std::to_string(count));
  std::vector<LoopOperator::Stack> stacks;
  for (size_t i = 0; i < count; ++i) stacks.push_back({axes[i], directions[i] != 0});
  return stacks;
}

// Nodes that are inserted before the nodes of a body.
class BodyStart {
 public:
  BodyStart(Graph& body, int opset) : body_(body), opset_(opset) {}

  ValueId constant(int64_t value) {
    return body_.add_constant(free_name(), HostTensor::i64({}, std::vector<int64_t>{value}));
  }

  void add(const std::string& type, std::vector<ValueId> inputs, ValueId output,
           const Attributes& attributes) {
    const std::string& name = body_.values[output].name;
    auto op = make_operator(spec_of(type, name, opset_, attributes, inputs, 1));
    nodes_.push_back({name, std::move(op), std::move(inputs), {output}});
    records_.push_back({type, opset_, attributes, {}});
  }

  std::string free_name() {
    for (;;) {
      std::string name = "scan " + std::to_string(next_++);
      if (!body_.find_value(name)) return name;
    }
  }

  void finish(GraphRecord& record) {
    body_.nodes.insert(body_.nodes.begin(), nodes_.begin(), nodes_.end());
    record.insert(record.begin(), records_.begin(), records_.end());
  }

 private:
  Graph& body_;
  const int opset_;
  int next_ = 0;
  std::vector<Node> nodes_;
  GraphRecord records_;
};

}  // namespace

ScanForm scan_form(const Attributes& attributes, size_t inputs, size_t outputs) {
  const int64_t scanned = attributes.get_int("num_scan_inputs", 0);
  if (scanned < 1 || static_cast<uint64_t>(scanned) > inputs)
    refuse_model(std::to_string(scanned) + " of " + std::to_string(inputs) + " inputs cannot be scanned");
  ScanForm form;
  form.scanned = static_cast<size_t>(scanned);
  const size_t states = inputs - form.scanned;
  if (outputs < states) refuse_model("the body has fewer outputs than states");
  form.inputs = stacks_of(attributes, "input", form.scanned);
  form.outputs = stacks_of(attributes, "output", outputs - states);
  return form;
}

std::shared_ptr<LoopOperator> loop_of_scan(Graph body, const ScanForm& form, int opset, GraphRecord& record) {
  auto loop = std::make_shared<LoopOperator>();
  loop->stacks = form.outputs;
  loop->states = body.outputs.size() - form.outputs.size();
  const auto elements = body.inputs.begin() + static_cast<ptrdiff_t>(loop->states);
  const std::vector<ValueId> scanned(elements, elements + static_cast<ptrdiff_t>(form.scanned));
  BodyStart start(body, opset);
  const ValueId iteration = body.add_value(start.free_name(), {DType::i64, {}}, true);
  const ValueId condition = body.add_value(start.free_name(), {DType::boolean, {}}, true);
  ValueId from_end = kNoValue;
  std::vector<ValueId> whole;
  for (size_t i = 0; i < scanned.size(); ++i) {
    if (form.inputs[i].reversed && from_end == kNoValue) {
      from_end = body.add_value(start.free_name());
      start.add("Sub", {start.constant(-1), iteration}, from_end, {});  // Gather counts it from the end
    }
    whole.push_back(body.add_value(start.free_name()));
    Attributes attributes;
    attributes.set("axis", form.inputs[i].axis);
    start.add("Gather", {whole[i], form.inputs[i].reversed ? from_end : iteration}, scanned[i], attributes);
  }
  start.finish(record);
  std::copy(whole.begin(), whole.end(), body.inputs.begin() + static_cast<ptrdiff_t>(loop->states));
  body.inputs.insert(body.inputs.begin(), {iteration, condition});
  body.outputs.insert(body.outputs.begin(), condition);
  loop->body = std::move(body);
  return loop;
}

}  // namespace vellum::onnx
