#include "passes/caches/quantize_caches.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "graph/byte_rows.hpp"
#include "graph/operator_support.hpp"
#include "graph/operators/matmul/attention.hpp"
#include "graph/operators/movement/cache_update.hpp"
#include "graph/operators/movement/tensor_scatter.hpp"
#include "vellum/error.hpp"

namespace vellum {
namespace {

// A cache, and the channels of a row, which its readers decide.
struct RowCache {
  ValueId past = kNoValue, present = kNoValue;
  size_t writer = 0;  // the index of the TensorScatter
  int64_t channels = 0;
};

class CacheQuantizer {
 public:
  explicit CacheQuantizer(Graph& graph) : graph_(graph) {}

  // Finds the cache of a state; nothing if the state is none.
  void add(const StatePair& pair) {
    const ValueId past = graph_.inputs[pair.input], present = graph_.outputs[pair.output];
    if (!is_float(graph_.values[past].type.dtype)) return;
    const auto writer = writer_of(past, present);
    if (!writer) return;
    if (reads(past) != 1 || std::ranges::count(graph_.outputs, past) > 0)
      refuse(past, "more than " + describe(graph_.nodes[*writer]) + " reads it");
    caches_.emplace(present, RowCache{past, present, *writer, 0});
  }

  bool is_empty() const { return caches_.empty(); }

  void quantize() {
    for (const Node& node : graph_.nodes)
      for (size_t slot = 0; slot < node.inputs.size(); ++slot)
        if (const auto cache = caches_.find(node.inputs[slot]); cache != caches_.end())
          take_channels(cache->second, node, slot);
    for (auto& [present, cache] : caches_)
      if (cache.channels == 0) refuse(cache.past, "no attention reads it");
    for (Node& node : graph_.nodes) read_rows(node);
    for (const auto& [present, cache] : caches_) write_rows(cache);
    check(graph_);
  }

 private:
  [[noreturn]] void refuse(ValueId past, const std::string& why) const {
    throw Error(ErrorCode::unsupported, "the cache '" + graph_.values[past].name +
                                            "' cannot be kept in 8 bits (state_precision): " + why);
  }

  std::vector<OperatorInput> operands_of(const Node& node) const {
    std::vector<OperatorInput> operands;
    for (const ValueId id : node.inputs)
      operands.push_back(id == kNoValue ? OperatorInput{} : OperatorInput{true, graph_.values[id].type});
    return operands;
  }

  int64_t reads(ValueId value) const {
    int64_t count = 0;
    for (const Node& node : graph_.nodes) count += std::ranges::count(node.inputs, value);
    return count;
  }

  // Returns the TensorScatter that writes into `past`.
  std::optional<size_t> writer_of(ValueId past, ValueId present) const {
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      const Node& node = graph_.nodes[i];
      if (std::ranges::count(node.outputs, present) == 0 || node.inputs.empty() || node.inputs[0] != past)
        continue;
      if (dynamic_cast<const TensorScatter*>(node.op.get()) != nullptr) return i;
      const std::string_view type = node.op->type();
      if (type == "ScatterElements" || type == "ScatterND")
        refuse(past, describe(node) + " writes it, which cannot write rows of bytes");
    }
    return std::nullopt;
  }

  void take_channels(RowCache& cache, const Node& node, size_t slot) const {
    const auto* attention = dynamic_cast<const Attention*>(node.op.get());
    if (attention == nullptr || (slot != 1 && slot != 2) || attention->weight_rounding ||
        !caches_.contains(node.inputs[1]) || !caches_.contains(node.inputs[2]))
      refuse(cache.past, describe(node) +
                             " reads it, and only attention whose keys and values are both "
                             "caches can");
    const Attention::Operands o = attention->operands(operands_of(node));
    const StridedView& view = slot == 1 ? o.k : o.v;
    const int64_t channels = view.shape[3];
    if (!has_whole_rows(cache, view))
      refuse(cache.past, describe(node) + " reads heads of " + std::to_string(channels) +
                             " channels of it, which are no rows of whole groups of four channels");
    if (cache.channels != 0 && cache.channels != channels)
      refuse(cache.past, describe(node) + " reads heads of another size than the nodes before it");
    cache.channels = channels;
  }

  bool has_whole_rows(const RowCache& cache, const StridedView& view) const {
    const int64_t channels = view.shape[3];
    const Shape& shape = graph_.values[cache.present].type.shape;
    const auto& scatter = dynamic_cast<const TensorScatter&>(*graph_.nodes[cache.writer].op);
    if (channels <= 0 || channels % 4 != 0 || view.offset != 0 || view.strides[3] != 1) return false;
    if (shape.back() % channels != 0 || normalize_axis(scatter.axis, shape.size()) + 1 == shape.size())
      return false;
    return std::all_of(view.strides.begin(), view.strides.begin() + 3,
                       [&](int64_t stride) { return stride >= 0 && stride % channels == 0; });
  }

  // Lets attention read rows of bytes.
  void read_rows(Node& node) const {
    if (node.inputs.size() < 3 || !caches_.contains(node.inputs[1])) return;
    const auto* attention = dynamic_cast<const Attention*>(node.op.get());
    if (attention == nullptr) return;
    Attention::Operands o = attention->operands(operands_of(node));
    auto op = std::make_shared<Attention>(*attention);
    for (StridedView* view : {&o.k, &o.v})
      for (size_t i = 0; i < 3; ++i)
        view->strides[i] = view->strides[i] / view->shape[3] * words_of_byte_row(view->shape[3]);
    op->views = {o.q, o.k, o.v};
    op->tokens_first = o.tokens_first;
    op->output = o.output;
    op->scale = o.scale;
    op->cache_rows = RowFormat::scaled_bytes;
    node.op = std::move(op);
  }

  void write_rows(const RowCache& cache) {
    Node& node = graph_.nodes[cache.writer];
    auto op = std::make_shared<CacheUpdate>();
    op->axis = dynamic_cast<const TensorScatter&>(*node.op).axis;
    op->channels = cache.channels;
    op->cache_type = graph_.values[cache.past].type;
    const TensorType rows{DType::i32, byte_rows_shape(op->cache_type.shape, cache.channels)};
    graph_.values[cache.past].type = graph_.values[cache.present].type = rows;
    node.op = std::move(op);
  }

  Graph& graph_;
  std::map<ValueId, RowCache> caches_;  // by `present`
};

}  // namespace

void quantize_caches(Graph& graph, std::span<const StatePair> states) {
  CacheQuantizer quantizer(graph);
  for (const StatePair& pair : states) quantizer.add(pair);
  if (quantizer.is_empty())
    throw Error(ErrorCode::invalid_argument,
                "state_precision is int8, but no state is a cache into which TensorScatter, "
                "GroupQueryAttention or, with state_capacity, Concat writes new tokens");
  quantizer.quantize();
}

}  // namespace vellum
