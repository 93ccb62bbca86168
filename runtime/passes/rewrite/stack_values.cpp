#include "passes/rewrite/stack_values.hpp"

#include <memory>
#include <utility>

#include "graph/operators/movement/concat.hpp"
#include "graph/operators/movement/reshape.hpp"

namespace vellum {

size_t stack_values(GraphEditor& editor, size_t index, const std::string& name, std::vector<ValueId> tensors,
                    int64_t axis, ValueId output) {
  size_t last = index;
  for (ValueId& tensor : tensors) {
    auto unsqueeze = std::make_shared<Unsqueeze>();
    unsqueeze->axes = Ints{axis};
    const ValueId part = editor.add_value(name + "/part");
    last = editor.insert_after(last, {name, std::move(unsqueeze), {tensor}, {part}});
    tensor = part;
  }
  auto concat = std::make_shared<Concat>();
  concat->axis = axis;
  return editor.insert_after(last, {name, std::move(concat), std::move(tensors), {output}});
}

}  // namespace vellum
