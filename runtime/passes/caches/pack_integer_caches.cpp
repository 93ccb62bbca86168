#include "passes/caches/pack_integer_caches.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "graph/byte_rows.hpp"
#include "graph/operators/elementwise/cast.hpp"
#include "graph/operators/matmul/attention.hpp"
#include "graph/operators/matmul/integer_caches.hpp"
#include "graph/operators/movement/cache_update.hpp"
#include "graph/operators/movement/gather.hpp"
#include "graph/operators/movement/reshape.hpp"
#include "graph/operators/movement/tensor_scatter.hpp"
#include "passes/caches/quantised_tokens.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite/match.hpp"

namespace vellum {
namespace {

struct IntegerState {
  ValueId past = kNoValue;
  size_t writer = 0;  // the TensorScatter
};

// Numbers that attention reads, and the cache that has them.
struct CachedNumbers {
  ValueId present = kNoValue;
  size_t reader = 0;  // of the cache
  RowFormat format = RowFormat::bytes;
};

struct CachedAttention {
  size_t node = 0;
  CachedNumbers keys, values;
};

class IntegerPacker {
 public:
  IntegerPacker(Graph& graph, std::span<const StatePair> states) : editor_(graph), graph_(graph) {
    for (const StatePair& pair : states) add(graph.inputs[pair.input], graph.outputs[pair.output]);
  }

  void pack() {
    if (caches_.empty()) return;
    for (const size_t index : editor_.nodes())
      if (const auto found = match_attention_of_caches(index)) uses_.push_back(*found);
    while (drop_caches_with_other_readers()) {
    }
    for (const CachedAttention& use : uses_) read_words(use);
    for (const auto& [present, cache] : caches_) write_words(present, cache);
    editor_.commit();
  }

 private:
  void add(ValueId past, ValueId present) {
    const TensorType type = editor_.type(past);
    const auto scatter = match_producer<TensorScatter>(editor_, present);
    if ((type.dtype != DType::i8 && type.dtype != DType::u8) || !scatter || scatter.input(0) != past) return;
    if (editor_.readers(past).size() != 1 || editor_.is_graph_output(past)) return;
    if (std::ranges::count(graph_.outputs, present) != 1 || type.shape.back() % 4 != 0) return;
    if (normalize_axis(scatter->axis, type.shape.size()) + 1 == type.shape.size()) return;
    caches_.emplace(present, IntegerState{past, scatter.index});
  }

  // Returns the node that alone reads `value` and the one that computes it, if that is an Op.
  template <typename Op>
  Match<Op> match_only_read(ValueId value) const {
    return editor_.only_reader(value) ? match_producer<Op>(editor_, value) : Match<Op>{};
  }

  std::optional<CachedNumbers> match_numbers(ValueId value) const {
    if (const auto reshape = match_only_read<ReshapeFamily>(value)) value = reshape.input();
    if (const auto cast = match_only_read<Cast>(value); cast && editor_.type(cast.input()).dtype == DType::i8)
      return CachedNumbers{cast.input(), cast.index, RowFormat::bytes};
    const auto pairs = match_only_read<Gather>(value);
    if (!pairs || normalize_axis(pairs->axis, 2) != 0 || !is_nibble_table(pairs.input(0)))
      return std::nullopt;
    const auto cast = match_only_read<Cast>(pairs.input(1));
    if (!cast || editor_.type(cast.input()).dtype != DType::u8) return std::nullopt;
    return CachedNumbers{cast.input(), cast.index, RowFormat::nibbles};
  }

  bool is_nibble_table(ValueId value) const {
    const HostTensor* table = editor_.constant(value);
    return table != nullptr && table->shape() == Shape{256, 2} &&
           table->to_floats() == nibble_table(DType::f32).to_floats();
  }

  std::optional<CachedAttention> match_attention_of_caches(size_t index) const {
    const auto attention = match_node<Attention>(editor_, index);
    const bool has_lengths = attention && attention.node->inputs.size() > 4 && attention.input(4) != kNoValue;
    if (!has_lengths || attention->has_word_caches() || attention->weight_rounding) return std::nullopt;
    const auto keys = match_numbers(attention.input(1)), values = match_numbers(attention.input(2));
    if (!keys || !values || keys->format != values->format) return std::nullopt;
    const Attention::Operands o = operands_of(index);
    if (!has_whole_words(o.k, keys->format) || !has_whole_words(o.v, keys->format)) return std::nullopt;
    return CachedAttention{index, *keys, *values};
  }

  Attention::Operands operands_of(size_t index) const {
    const Node& node = editor_.node(index);
    return dynamic_cast<const Attention&>(*node.op).operands(operator_inputs(graph_, node));
  }

  static bool has_whole_words(const StridedView& view, RowFormat format) {
    const int64_t channels = channels_of_word(format);
    return view.offset == 0 && view.shape[3] > 0 && view.shape[3] % channels == 0 && view.strides[3] == 1 &&
           std::all_of(view.strides.begin(), view.strides.begin() + 3,
                       [&](int64_t stride) { return stride >= 0 && stride % channels == 0; });
  }

  // Forgets caches that another operator reads, and attention that reads a forgotten one. Returns whether
  // there was one.
  bool drop_caches_with_other_readers() {
    std::erase_if(uses_, [&](const CachedAttention& use) {
      return !caches_.contains(use.keys.present) || !caches_.contains(use.values.present);
    });
    std::set<size_t> readers;
    for (const CachedAttention& use : uses_) readers.insert({use.keys.reader, use.values.reader});
    return std::erase_if(caches_, [&](const auto& cache) {
             const std::vector<size_t>& all = editor_.readers(cache.first);
             return all.empty() || !std::ranges::all_of(all, [&](size_t i) { return readers.contains(i); });
           }) > 0;
  }

  void read_words(const CachedAttention& use) {
    Attention::Operands o = operands_of(use.node);
    auto op = std::make_shared<Attention>(dynamic_cast<const Attention&>(*editor_.node(use.node).op));
    for (StridedView* view : {&o.k, &o.v})
      for (size_t i = 0; i < 3; ++i) view->strides[i] /= channels_of_word(use.keys.format);
    op->views = {o.q, o.k, o.v};
    op->tokens_first = o.tokens_first;
    op->output = o.output;
    op->scale = o.scale;
    op->cache_rows = use.keys.format;
    std::vector<ValueId> inputs = editor_.node(use.node).inputs;
    inputs[1] = use.keys.present, inputs[2] = use.values.present;
    formats_[inputs[1]] = formats_[inputs[2]] = use.keys.format;
    editor_.replace(use.node, std::move(op), std::move(inputs));
  }

  void write_words(ValueId present, const IntegerState& cache) {
    auto op = std::make_shared<CacheUpdate>();
    op->axis = dynamic_cast<const TensorScatter&>(*editor_.node(cache.writer).op).axis;
    op->rows = formats_.at(present);
    op->cache_type = editor_.type(cache.past);
    op->channels = op->cache_type.shape.back();
    const TensorType words{DType::i32, op->shape_in_words()};
    std::vector<ValueId> inputs = editor_.node(cache.writer).inputs;
    const bool by_head = normalize_axis(op->axis, op->cache_type.shape.size()) == 2;
    const auto tokens = by_head ? match_quantised_tokens(editor_, inputs[1], op->rows) : std::nullopt;
    if (tokens) inputs = {inputs[0], tokens->floats, inputs[2], tokens->scale};
    graph_.values[cache.past].type = graph_.values[present].type = words;
    editor_.replace(cache.writer, std::move(op), std::move(inputs));
  }

  GraphEditor editor_;
  Graph& graph_;
  std::map<ValueId, IntegerState> caches_;  // by the value with the new tokens
  std::map<ValueId, RowFormat> formats_;
  std::vector<CachedAttention> uses_;
};

}  // namespace

void pack_integer_caches(Graph& graph, std::span<const StatePair> states) {
  IntegerPacker(graph, states).pack();
  remove_dead_code(graph);
}

}  // namespace vellum
