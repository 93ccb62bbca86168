// Rotary positions (Su et al., arXiv 2104.09864) as exporters write them: x * cos + rotate(x) * sin, where
// slices, negations and a Concat rotate the channels, real and imaginary parts apart, tokens that keep their
// place before others. All of these are sums of two elements of the tensor of heads, so that is what is
// matched.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "graph/operators/matmul/rotate_channels.hpp"
#include "graph/operators/movement/concat.hpp"
#include "graph/operators/movement/reshape.hpp"
#include "passes/passes.hpp"
#include "passes/patterns/computed_rotation.hpp"
#include "passes/patterns/linear_terms.hpp"
#include "passes/rewrite/match.hpp"

namespace vellum {
namespace {

constexpr int64_t kMostElements = int64_t{1} << 21;  // of a tensor that is traced element by element

// Element (b, h, t, c) has the term base + b * strides[0] + ..., times `cosine`, and that of a partner of
// channel c.
class Rotation {
 public:
  Rotation(const LinearTerms& terms, Shape heads) : heads_(std::move(heads)) {
    for (size_t k = 0; k < 2; ++k)
      index_[k] = terms.index[k].as<int64_t>(), factor_[k] = terms.factor[k].as<float>();
  }

  // Tries each of the two terms of the first element, and of its neighbours along each axis, as the own one.
  bool find() {
    for (const size_t first : terms_at(0)) {
      base_ = index_[first][0];
      strides_.assign(4, 0);
      if (find_strides(0)) return true;
    }
    return false;
  }

  StridedView view() const { return {base_, heads_, strides_}; }
  const Ints& partner() const { return partner_; }

  // Cosines and sines, of the heads and tokens along which they vary.
  HostTensor table() const {
    std::vector<float> values = cosine_;
    values.insert(values.end(), sine_.begin(), sine_.end());
    const HostTensor all = HostTensor::f32({2, heads_[0], heads_[1], heads_[2], heads_[3]}, values);
    const auto strides = row_major_strides(all.shape());
    Shape shape{2, heads_[1], heads_[2], heads_[3]};
    for (const size_t axis : {1, 2})
      if (repeats(cosine_, axis) && repeats(sine_, axis)) shape[axis] = 1;
    return gather_strided(all, shape, {strides[0], strides[2], strides[3], strides[4]}, 0);
  }

 private:
  std::vector<size_t> terms_at(size_t element) const {
    std::vector<size_t> terms;
    for (size_t k = 0; k < 2; ++k)
      if (factor_[k][element] != 0.0f) terms.push_back(k);
    return terms;
  }

  bool find_strides(size_t axis) {
    if (axis == 4) return matches();
    if (heads_[axis] == 1) return find_strides(axis + 1);
    const auto neighbour = static_cast<size_t>(product(heads_, axis + 1, 4));
    for (const size_t term : terms_at(neighbour)) {
      strides_[axis] = index_[term][neighbour] - base_;
      if (find_strides(axis + 1)) return true;
    }
    return false;
  }

  bool matches() {
    const int64_t channels = heads_[3];
    if (strides_[3] == 0) return false;
    partner_.assign(static_cast<size_t>(channels), -1);
    cosine_.assign(index_[0].size(), 0.0f);
    sine_ = cosine_;
    size_t i = 0;
    bool right = true;
    for_each_offset<1>(heads_, {strides_}, {base_}, [&](const auto& at) {
      right = right && read_terms(i, at[0]);
      ++i;
    });
    if (!right) return false;
    bool turns = false;
    for (int64_t c = 0; c < channels; ++c) {
      int64_t& other = partner_[static_cast<size_t>(c)];
      turns = turns || (other >= 0 && other != c);
      if (other < 0) other = c;
    }
    return turns && tables_are_of_all_images();
  }

  bool read_terms(size_t i, int64_t own) {
    const auto channel = static_cast<int64_t>(i) % heads_[3];
    bool has_own = false;
    for (const size_t k : terms_at(i)) {
      if (index_[k][i] == own && !has_own) {
        has_own = true;
        cosine_[i] = factor_[k][i];
        continue;
      }
      const int64_t distance = index_[k][i] - (own - channel * strides_[3]);
      const int64_t other = distance / strides_[3];
      int64_t& partner = partner_[static_cast<size_t>(channel)];
      if (distance % strides_[3] != 0 || other < 0 || other >= heads_[3] || sine_[i] != 0.0f) return false;
      if (partner >= 0 && partner != other) return false;
      partner = other;
      sine_[i] = factor_[k][i];
    }
    return true;
  }

  bool tables_are_of_all_images() const {
    for (const auto* values : {&cosine_, &sine_})
      if (!repeats(*values, 0)) return false;
    return true;
  }

  // Whether the values are the same all along the axis.
  bool repeats(const std::vector<float>& values, size_t axis) const {
    const auto inner = static_cast<size_t>(product(heads_, axis + 1, 4)),
               size = static_cast<size_t>(heads_[axis]);
    for (size_t i = 0; i < values.size(); ++i)
      if (i / inner % size != 0 && values[i] != values[i - inner]) return false;
    return true;
  }

  Shape heads_;
  std::array<std::span<const int64_t>, 2> index_;
  std::array<std::span<const float>, 2> factor_;
  int64_t base_ = 0;
  std::vector<int64_t> strides_;
  Ints partner_;
  std::vector<float> cosine_, sine_;  // of each element
};

bool may_rotate(const GraphEditor& editor, size_t index) {
  const Node& node = editor.node(index);
  if (!match_binary_node(editor, index, BinaryKind::add) &&
      !match_binary_node(editor, index, BinaryKind::sub))
    return false;
  return is_float_value(editor, node.outputs[0]) && is_product_with_table(editor, node.inputs[0]) &&
         is_product_with_table(editor, node.inputs[1]);
}

// Whether the node joins values that are all computed: a cache that is an input has another source than the
// tokens that are added to it, and may be large.
bool joins_computed_values(const GraphEditor& editor, size_t index) {
  if (!match_node<Concat>(editor, index)) return false;
  return std::ranges::all_of(editor.node(index).inputs,
                             [&](ValueId input) { return editor.producer(input).has_value(); });
}

// The node and those after it that join or reshape what it computes, the last first.
std::vector<size_t> candidates_from(const GraphEditor& editor, size_t index) {
  constexpr size_t kMost = 5;
  std::vector<size_t> nodes{index};
  while (nodes.size() < kMost) {
    const auto reader = editor.only_reader(editor.node(nodes.back()).outputs[0]);
    if (!reader || (!match_node<ReshapeFamily>(editor, *reader) && !joins_computed_values(editor, *reader)))
      break;
    nodes.push_back(*reader);
  }
  std::reverse(nodes.begin(), nodes.end());
  return nodes;
}

bool replace_by_rotation(GraphEditor& editor, LinearTrace& trace, size_t index) {
  const ValueId output = editor.node(index).outputs[0];
  const TensorType type = editor.type(output);
  if (type.shape.empty() || type.shape.size() > 4 || type.shape.back() % 4 != 0) return false;
  if (element_count(type.shape) == 0 || element_count(type.shape) > kMostElements) return false;
  const LinearTerms& terms = trace.terms_of(output);
  if (terms.source == output || editor.type(terms.source).dtype != type.dtype) return false;
  Shape heads(4 - type.shape.size(), 1);
  heads.insert(heads.end(), type.shape.begin(), type.shape.end());
  Rotation rotation(terms, heads);
  if (!rotation.find()) return false;
  auto op = std::make_shared<RotateChannels>();
  op->view = rotation.view();
  op->partner = rotation.partner();
  op->output = type.shape;
  const std::string name = editor.node(index).name;
  const ValueId source = terms.source;
  const ValueId table = editor.add_constant(name + "/table", cast(rotation.table(), type.dtype));
  editor.replace(index, std::move(op), {source, table});
  return true;
}

}  // namespace

void fuse_rotation(Graph& graph) {
  GraphEditor editor(graph);
  ComputedRotations computed(editor);
  for (const size_t index : editor.nodes()) {
    if (computed.replace(index) || !may_rotate(editor, index)) continue;
    LinearTrace trace(editor);  // it keeps tables for each element: of one rotation alone
    for (const size_t node : candidates_from(editor, index))
      if (replace_by_rotation(editor, trace, node)) break;
  }
  editor.commit();
  remove_dead_code(graph);
}

}  // namespace vellum
