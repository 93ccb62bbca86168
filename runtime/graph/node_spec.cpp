#include "graph/node_spec.hpp"

#include <utility>

namespace vellum {

NodeSpec spec_of(std::string type, std::string name, int opset, const Attributes& attributes,
                 std::span<const ValueId> inputs, size_t outputs) {
  NodeSpec spec{.type = std::move(type),
                .name = std::move(name),
                .opset = opset,
                .attributes = &attributes,
                .input_present = {},
                .output_count = outputs};
  for (const ValueId id : inputs) spec.input_present.push_back(id != kNoValue);
  return spec;
}

}  // namespace vellum
