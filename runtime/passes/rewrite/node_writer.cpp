#include "passes/rewrite/node_writer.hpp"

#include <utility>

namespace vellum {

ValueId NodeWriter::add(const std::string& name, std::shared_ptr<const Operator> op,
                        std::vector<ValueId> inputs, TensorType type) {
  std::string made = names_.make(name);
  const ValueId value = graph_.add_value(made, std::move(type), true);
  graph_.nodes.push_back({std::move(made), std::move(op), std::move(inputs), {value}});
  return value;
}

ValueId NodeWriter::add_constant(const std::string& name, HostTensor tensor) {
  return graph_.add_constant(names_.make(name), std::move(tensor));
}

}  // namespace vellum
