#include "passes/layout/nchw_regions.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>
#include <utility>

#include "graph/operators/elementwise/unary.hpp"

namespace vellum {
namespace {

constexpr size_t kNone = SIZE_MAX;

// Whether the images of the node are in N, C, H, W by its definition.
bool is_window_operator(const Node& node) {
  constexpr std::array<std::string_view, 9> types{
      "Conv",   "ConvTranspose",      "MaxPool",      "AveragePool", "GlobalAveragePool",
      "Resize", "BatchNormalization", "DepthToSpace", "SpaceToDepth"};
  return std::ranges::find(types, node.op->type()) != types.end();
}

class Regions {
 public:
  explicit Regions(const GraphEditor& editor)
      : editor_(editor),
        node_count_(editor.graph().nodes.size()),
        value_count_(editor.graph().values.size()),
        parent_(node_count_),
        gain_(node_count_),
        borders_window_operator_(node_count_) {
    std::iota(parent_.begin(), parent_.end(), size_t{0});
    for (const Node& node : editor.graph().nodes) forms_.push_back(nchw_form(editor.graph(), node));
    for (ValueId id = 0; id < value_count_; ++id) join_around(id);
    for (ValueId id = 0; id < value_count_; ++id) count_transposes(id);
  }

  NchwPlan plan() {
    NchwPlan plan;
    for (ValueId id = 0; id < value_count_; ++id) plan.needs_nhwc.push_back(needs_nhwc(id));
    for (size_t node = 0; node < node_count_; ++node) {
      const size_t region = root(node);
      const bool converts = forms_[node] && gain_[region] >= (borders_window_operator_[region] ? 0 : 1);
      plan.forms.push_back(converts ? std::move(forms_[node]) : std::nullopt);
    }
    return plan;
  }

 private:
  size_t root(size_t node) {
    while (parent_[node] != node) node = parent_[node] = parent_[parent_[node]];
    return node;
  }

  size_t producer(ValueId value) const { return editor_.producer(value).value_or(kNone); }
  // Whether the node does nothing but convert to N, C, H, W.
  bool is_inverse(size_t node) const { return is_transpose_to_nchw(*editor_.node(node).op); }

  // Whether the node has an NCHW form and reads the value as an image.
  bool reads_image(size_t node, ValueId value) const {
    if (!forms_[node] || editor_.constant(value) != nullptr) return false;
    const auto& inputs = editor_.node(node).inputs;
    const auto end = inputs.begin() + static_cast<std::ptrdiff_t>(forms_[node]->image_inputs);
    return std::find(inputs.begin(), end, value) != end;
  }

  bool needs_nhwc(ValueId value) const {
    const auto& readers = editor_.readers(value);
    return editor_.is_graph_output(value) || std::any_of(readers.begin(), readers.end(), [&](size_t reader) {
             return !is_inverse(reader) && !reads_image(reader, value);
           });
  }

  // The nodes that compute and read an image belong to one region.
  void join_around(ValueId value) {
    size_t first = producer(value);
    if (first != kNone && !forms_[first]) first = kNone;
    for (const size_t reader : editor_.readers(value)) {
      if (!reads_image(reader, value)) continue;
      if (first == kNone) first = reader;
      const size_t a = root(first), b = root(reader);
      parent_[std::max(a, b)] = std::min(a, b);
    }
  }

  // Whether a window operator computes what the transposition reads, maybe with elementwise functions in
  // between.
  bool follows_window_operator(size_t transpose) const {
    auto source = editor_.producer(editor_.node(transpose).inputs[0]);
    while (source && dynamic_cast<const Unary*>(editor_.node(*source).op.get()) != nullptr)
      source = editor_.producer(editor_.node(*source).inputs[0]);
    return source && is_window_operator(editor_.node(*source));
  }
  bool precedes_window_operator(size_t transpose) const {
    const auto& readers = editor_.readers(editor_.node(transpose).outputs[0]);
    return std::any_of(readers.begin(), readers.end(),
                       [&](size_t reader) { return is_window_operator(editor_.node(reader)); });
  }

  // Adds to the gain of the region that computes or reads the value: the transpositions of it that converting
  // the region removes, minus those that it adds.
  void count_transposes(ValueId value) {
    const size_t source = producer(value);
    if (source != kNone && forms_[source])
      count_after_region(root(source), value);
    else
      count_before_region(value);
  }

  void count_after_region(size_t region, ValueId value) {
    for (const size_t reader : editor_.readers(value)) {
      if (!is_inverse(reader)) continue;
      ++gain_[region];
      if (precedes_window_operator(reader)) borders_window_operator_[region] = true;
    }
    if (needs_nhwc(value)) --gain_[region];
  }

  void count_before_region(ValueId value) {
    const auto& readers = editor_.readers(value);
    const auto reader = std::find_if(readers.begin(), readers.end(),
                                     [&](size_t node) { return reads_image(node, value); });
    if (reader == readers.end()) return;
    const size_t region = root(*reader), source = producer(value);
    if (source == kNone || !is_transpose_to_nhwc(*editor_.node(source).op)) {
      --gain_[region];
      return;
    }
    if (!needs_nhwc(value)) ++gain_[region];
    if (follows_window_operator(source)) borders_window_operator_[region] = true;
  }

  const GraphEditor& editor_;
  size_t node_count_, value_count_;
  std::vector<std::optional<NchwForm>> forms_;
  std::vector<size_t> parent_;                 // a forest: the nodes of a region have one root
  std::vector<int64_t> gain_;                  // by the root of a region
  std::vector<bool> borders_window_operator_;  // likewise: only a transposition is between them
};

}  // namespace

NchwPlan plan_nchw(const GraphEditor& editor) { return Regions(editor).plan(); }

}  // namespace vellum
