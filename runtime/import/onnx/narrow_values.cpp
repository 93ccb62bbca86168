#include "import/onnx/narrow_values.hpp"

#include "graph/narrow_types.hpp"

namespace vellum::onnx {

NarrowTypes::NarrowTypes(const schema::GraphProto& graph, const NarrowTypes* outer) : outer_(outer) {
  for (const auto* list : {&graph.input(), &graph.value_info(), &graph.output()})
    for (const auto& value : *list) note(value.name(), value.type().tensor_type().elem_type());
  for (const auto& tensor : graph.initializer()) note(tensor.name(), tensor.data_type());
  for (const auto& node : graph.node())
    for (const auto& attribute : node.attribute()) {
      if (node.output_size() == 0) continue;
      if (node.op_type() == "Cast" && attribute.name() == "to") note(node.output(0), attribute.i());
      if (node.op_type() == "Constant" && attribute.has_t()) note(node.output(0), attribute.t().data_type());
    }
}

int64_t NarrowTypes::find(const std::string& value) const {
  if (const auto found = types_.find(value); found != types_.end()) return found->second;
  return outer_ != nullptr ? outer_->find(value) : 0;
}

void NarrowTypes::note(const std::string& value, int64_t type) {
  if (find_narrow_type(type)) types_[value] = type;
}

}  // namespace vellum::onnx
