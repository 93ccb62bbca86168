#include "import/tflite/dilation.hpp"

#include <algorithm>
#include <optional>

namespace vellum::tflite {
namespace {

enum : int32_t { kConv = 3, kDepthwiseConv = 4, kBatchToSpace = 37, kSpaceToBatch = 38 };

// The operators of the graph, and the readers of each tensor.
class OperatorList {
 public:
  OperatorList(const schema::Model& model, const schema::SubGraph& graph) : model_(model), graph_(graph) {
    for (size_t i = 0; i < count(); ++i)
      for (const int32_t tensor : list(get(i).inputs())) readers_[tensor].push_back(i);
    for (const int32_t tensor : list(graph_.outputs())) readers_[tensor].push_back(SIZE_MAX);
  }

  size_t count() const { return graph_.operators()->size(); }
  const schema::Operator& get(size_t i) const {
    return *graph_.operators()->Get(static_cast<flatbuffers::uoffset_t>(i));
  }
  int32_t number(size_t i) const { return operator_number(model_, get(i)); }
  // Returns the only reader of output 0 of operator `i`.
  std::optional<size_t> only_reader(size_t i) const {
    const auto outputs = list(get(i).outputs());
    const auto found = outputs.size() == 1 ? readers_.find(outputs[0]) : readers_.end();
    if (found == readers_.end() || found->second.size() != 1 || found->second[0] == SIZE_MAX)
      return std::nullopt;
    return found->second[0];
  }
  static std::vector<int32_t> list(const flatbuffers::Vector<int32_t>* ids) {
    return ids == nullptr ? std::vector<int32_t>() : std::vector<int32_t>(ids->begin(), ids->end());
  }

 private:
  const schema::Model& model_;
  const schema::SubGraph& graph_;
  std::map<int32_t, std::vector<size_t>> readers_;
};

// Returns whether a convolution has stride and dilation 1 and no padding.
template <typename Options>
bool is_plain(const schema::Operator& op) {
  const auto* options = op.builtin_options_as<Options>();
  return options != nullptr && options->padding() == schema::Padding::valid && options->stride_h() == 1 &&
         options->stride_w() == 1 && options->dilation_h() <= 1 && options->dilation_w() <= 1;
}

bool is_plain_conv(const OperatorList& operators, size_t i) {
  if (operators.number(i) == kConv) return is_plain<schema::Conv2DOptions>(operators.get(i));
  return operators.number(i) == kDepthwiseConv && is_plain<schema::DepthwiseConv2DOptions>(operators.get(i));
}

struct DilationBlocks {
  Ints sizes, edges;
};

// The blocks of an operator on images, constant in both spatial dimensions.
std::optional<DilationBlocks> read_dilation(const Writer& writer, const std::vector<int32_t>& inputs) {
  if (inputs.size() != 3) return std::nullopt;
  for (const int32_t id : inputs)
    if (id == kLeftOut) return std::nullopt;
  if (writer.rank(inputs[0]) != 4 || !writer.constant(inputs[1]) || !writer.constant(inputs[2]))
    return std::nullopt;
  DilationBlocks blocks{writer.constant_ints(inputs[1], "blocks"),
                        writer.constant_ints(inputs[2], "paddings or crops")};
  if (blocks.sizes.size() != 2 || blocks.edges.size() != 4) return std::nullopt;
  for (const int64_t number : blocks.sizes)
    if (number < 1 || number > 1 << 15) return std::nullopt;
  for (const int64_t number : blocks.edges)
    if (number < 0 || number > 1 << 15) return std::nullopt;
  return blocks;
}

// Splitting space into the batch, a convolution, and merging space again make a convolution with a dilation
// of `blocks`. Crops remove padding that was not needed.
std::optional<DilatedConv> dilated(const OperatorList& operators, const Writer& writer, size_t before,
                                   size_t conv, size_t after) {
  const auto from = OperatorList::list(operators.get(before).inputs()),
             to = OperatorList::list(operators.get(after).inputs());
  const auto conv_inputs = OperatorList::list(operators.get(conv).inputs()),
             outputs = OperatorList::list(operators.get(after).outputs());
  const auto pad = read_dilation(writer, from), crop = read_dilation(writer, to);
  if (!pad || !crop || pad->sizes != crop->sizes || outputs.size() != 1) return std::nullopt;
  // The previous operator must compute their data, not their block sizes.
  if (conv_inputs[0] != operators.get(before).outputs()->Get(0) ||
      to[0] != operators.get(conv).outputs()->Get(0))
    return std::nullopt;
  DilatedConv result{{pad->sizes, {}}, from[0], outputs[0]};
  for (const size_t edge : {0, 2, 1, 3}) {  // (begin, end) of each dimension to begins, ends
    const int64_t amount = pad->edges[edge] - crop->edges[edge];
    if (amount < 0) return std::nullopt;
    result.window.pads.push_back(amount);
  }
  return result;
}

}  // namespace

DilatedConvs find_dilated_convs(const schema::Model& model, const schema::SubGraph& graph,
                                const Writer& writer) {
  const OperatorList operators(model, graph);
  DilatedConvs result;
  for (size_t i = 0; i < operators.count(); ++i) {
    if (operators.number(i) != kSpaceToBatch) continue;
    const auto conv = operators.only_reader(i);
    if (!conv || !is_plain_conv(operators, *conv)) continue;
    const auto after = operators.only_reader(*conv);
    if (!after || operators.number(*after) != kBatchToSpace) continue;
    const auto found = dilated(operators, writer, i, *conv, *after);
    if (!found) continue;
    result.convs[*conv] = *found;
    result.absorbed.insert({i, *after});
  }
  return result;
}

}  // namespace vellum::tflite
