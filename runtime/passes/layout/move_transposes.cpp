// Converters from TensorFlow, and layers over channels, leave images in N, H, W, C between transpositions.
// This pass computes such images in N, C, H, W where that saves transpositions (layout/nchw_regions).
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "graph/operators/movement/reshape.hpp"
#include "passes/layout/nchw_regions.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite/graph_editor.hpp"

namespace vellum {
namespace {

class LayoutConversion {
 public:
  explicit LayoutConversion(Graph& graph) : editor_(graph), plan_(plan_nchw(editor_)) {}

  void run() {
    for (size_t index = 0; index < plan_.forms.size(); ++index) {
      const Node& node = editor_.node(index);
      if (plan_.forms[index])
        convert(index, *plan_.forms[index]);
      else if (is_transpose_to_nchw(*node.op) && is_converted(node.inputs[0]))
        remove_inverse(index);
      else if (is_transpose_to_nhwc(*node.op))
        note_transpose(node);
    }
    // From the last on: what replaces a value may have been replaced before.
    for (auto pair = replaced_.rbegin(); pair != replaced_.rend(); ++pair)
      editor_.replace_reads(pair->first, pair->second);
    editor_.commit();
  }

 private:
  void convert(size_t index, const NchwForm& form) {
    const std::string name = editor_.node(index).name;
    const ValueId output = editor_.node(index).outputs[0];
    std::vector<ValueId> inputs = editor_.node(index).inputs;
    inputs.resize(form.image_inputs);
    for (ValueId& input : inputs) input = nchw_input(index, input);
    for (const HostTensor& parameter : form.parameters)
      inputs.push_back(editor_.add_constant(name + "/parameter", parameter));
    const ValueId converted = add_nchw_value(output);
    editor_.replace(index, form.op, std::move(inputs));
    editor_.set_outputs(index, {converted});
    if (plan_.needs_nhwc[output])
      editor_.insert_after(index, {name_of(output), transpose_to_nhwc(), {converted}, {output}});
  }

  // The input in N, C, H, W, transposed before node `index` where it is not there yet.
  ValueId nchw_input(size_t index, ValueId value) {
    if (value == kNoValue) return value;
    if (editor_.constant(value) != nullptr) return nchw_constant(value);
    if (const auto found = nchw_.find(value); found != nchw_.end()) return found->second;
    const ValueId converted = add_nchw_value(value);
    editor_.insert_before(index, {name_of(converted), transpose_to_nchw(), {value}, {converted}});
    return converted;
  }

  ValueId nchw_constant(ValueId value) {
    const HostTensor converted = to_nchw(*editor_.constant(value));
    if (converted.shape() == editor_.type(value).shape && converted.elements() == 1) return value;
    return editor_.add_constant(name_of(value) + "_nchw", converted);
  }

  ValueId add_nchw_value(ValueId value) {
    const TensorType type{editor_.type(value).dtype, to_nchw(editor_.type(value).shape)};
    return nchw_[value] = editor_.add_value(name_of(value) + "_nchw", type);
  }

  // Whether this pass has the value in N, C, H, W from more than a transposition of the model.
  bool is_converted(ValueId value) const { return nchw_.contains(value) && !from_transpose_.contains(value); }

  // The readers of the transposition read the converted value; a graph output keeps its name.
  void remove_inverse(size_t index) {
    const ValueId output = editor_.node(index).outputs[0];
    const ValueId converted = nchw_.at(editor_.node(index).inputs[0]);
    if (editor_.is_graph_output(output)) {
      editor_.replace(index, std::make_shared<Identity>(), {converted});
      return;
    }
    editor_.remove(index);
    replaced_.emplace_back(output, converted);
  }

  // The input of the transposition is its output in N, C, H, W.
  void note_transpose(const Node& node) {
    nchw_[node.outputs[0]] = node.inputs[0];
    from_transpose_.insert(node.outputs[0]);
  }

  const std::string& name_of(ValueId value) const { return editor_.graph().values[value].name; }

  GraphEditor editor_;
  NchwPlan plan_;
  std::unordered_map<ValueId, ValueId> nchw_;   // values in N, H, W, C -> the same images in N, C, H, W
  std::unordered_set<ValueId> from_transpose_;  // values of nchw_ that a transposition of the model computes
  std::vector<std::pair<ValueId, ValueId>> replaced_;  // outputs of removed transpositions -> what to read
};

}  // namespace

void move_transposes(Graph& graph) { LayoutConversion(graph).run(); }

}  // namespace vellum
