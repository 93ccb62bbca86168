#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph/operators/elementwise/binary.hpp"
#include "graph/operators/matmul/attention.hpp"
#include "graph/operators/movement/gather.hpp"
#include "graph/operators/movement/tensor_scatter.hpp"
#include "passes/caches/growing_caches.hpp"
#include "passes/rewrite/match.hpp"
#include "vellum/error.hpp"

namespace vellum {
namespace {

// A cache of fixed capacity and the node that writes the new tokens into it.
struct FixedCache {
  ValueId value = kNoValue;
  size_t axis = 0;
  int64_t capacity = 0, tokens = 0, batch = 0;
};

// Returns whether a value is computed from cache_length and constants alone.
bool follows_length(const GraphEditor& editor, ValueId value) {
  if (editor.graph().constant(value) != nullptr) return true;
  if (value == editor.graph().find_value(kCacheLength)) return true;
  const auto producer = editor.producer(value);
  return producer && std::ranges::all_of(editor.node(*producer).inputs, [&](ValueId input) {
           return input == kNoValue || follows_length(editor, input);
         });
}

std::vector<FixedCache> fixed_caches(const GraphEditor& editor, std::span<const StatePair> states) {
  std::vector<FixedCache> caches;
  for (const StatePair& pair : states) {
    const ValueId value = editor.graph().outputs[pair.output];
    const auto scatter = match_producer<TensorScatter>(editor, value);
    if (!scatter || scatter.input(0) != editor.graph().inputs[pair.input]) continue;
    // Where the model itself gives the position of the tokens, it also gives attention the length.
    if (!follows_length(editor, scatter.input(2))) continue;
    const Shape& shape = editor.type(value).shape;
    const size_t axis = normalize_axis(scatter->axis, shape.size());
    caches.push_back({value, axis, shape[axis], editor.type(scatter.input(1)).shape[axis], shape[0]});
  }
  return caches;
}

class AttentionLimiter {
 public:
  AttentionLimiter(Graph& graph, std::span<const StatePair> states)
      : editor_(graph), caches_(fixed_caches(editor_, states)) {}

  void limit() {
    for (const FixedCache& cache : caches_)
      for (const size_t index : std::vector<size_t>(editor_.readers(cache.value))) check_reader(cache, index);
    for (const size_t index : editor_.nodes())
      if (match_node<Attention>(editor_, index)) limit(index);
    editor_.commit();
  }

 private:
  const FixedCache* find(ValueId value) const {
    const auto found = std::ranges::find(caches_, value, &FixedCache::value);
    return found == caches_.end() ? nullptr : &*found;
  }

  void check_reader(const FixedCache& cache, size_t index) const {
    const Node& node = editor_.node(index);
    const auto* op = dynamic_cast<const Attention*>(node.op.get());
    const bool is_attention =
        op != nullptr && node.inputs[0] != cache.value && find(node.inputs[1]) != nullptr &&
        find(node.inputs[2]) != nullptr &&
        (node.inputs.size() < 5 || node.inputs[4] == kNoValue || follows_length(editor_, node.inputs[4]));
    if (is_attention && reads_tokens_in_order(*op, cache, node.inputs[1] == cache.value ? 1 : 2)) return;
    throw Error(ErrorCode::unsupported,
                "the cache '" + editor_.graph().values[cache.value].name + "' is read by " + describe(node) +
                    ", which is no attention that can end at the length of the cache");
  }

  bool reads_tokens_in_order(const Attention& op, const FixedCache& cache, size_t slot) const {
    const Shape& shape = editor_.type(cache.value).shape;
    if (!op.views) return shape.size() == 4 && cache.axis == 2;
    const StridedView& view = (*op.views)[slot];
    return view.offset == 0 && view.shape[2] == cache.capacity &&
           view.strides[2] == product(shape, cache.axis + 1, shape.size());
  }

  void limit(size_t index) {
    const FixedCache* cache = find(editor_.node(index).inputs[1]);
    if (cache == nullptr) return;
    std::vector<ValueId> inputs = editor_.node(index).inputs;
    inputs.resize(std::max(inputs.size(), size_t{5}), kNoValue);
    if (inputs[4] != kNoValue) return;  // it ends there already
    inputs[4] = length_before(index, *cache);
    editor_.set_inputs(index, std::move(inputs));
  }

  // The tokens in the cache after this run's.
  ValueId length_before(size_t index, const FixedCache& cache) {
    if (length_ != kNoValue) return length_;
    const std::string name = std::string(kCacheLength) + "/keys";
    const ValueId past = *editor_.graph().find_value(kCacheLength);
    auto add = std::make_shared<Binary>();
    add->kind = BinaryKind::add;
    const std::vector<int64_t> counts(static_cast<size_t>(cache.batch), cache.tokens);
    const ValueId tokens = editor_.add_constant(name + "/tokens", HostTensor::i64({cache.batch}, counts));
    length_ =
        editor_.compute_before(index, name, std::move(add), {past, tokens}, {DType::i64, {cache.batch}});
    return length_;
  }

  GraphEditor editor_;
  std::vector<FixedCache> caches_;
  ValueId length_ = kNoValue;
};

}  // namespace

void limit_attention_to_length(Graph& graph, std::span<const StatePair> states) {
  AttentionLimiter(graph, states).limit();
}

}  // namespace vellum
