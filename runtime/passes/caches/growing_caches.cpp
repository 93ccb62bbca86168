#include "passes/caches/growing_caches.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "graph/operators/elementwise/binary.hpp"
#include "graph/operators/elementwise/cast.hpp"
#include "graph/operators/generators/shape.hpp"
#include "graph/operators/matmul/growing_attention.hpp"
#include "graph/operators/movement/concat.hpp"
#include "graph/operators/movement/reshape.hpp"
#include "vellum/error.hpp"

namespace vellum {
namespace {

// The graph with the node that computes each value, which is found once.
class Producers {
 public:
  explicit Producers(const Graph& graph) : graph_(graph), nodes_(graph.values.size()) {
    for (size_t i = 0; i < graph.nodes.size(); ++i)
      for (const ValueId output : graph.nodes[i].outputs)
        if (output != kNoValue) nodes_[output] = i;
  }

  const Graph& graph() const { return graph_; }
  // Nothing for inputs and constants.
  std::optional<size_t> of(ValueId value) const { return nodes_[value]; }

 private:
  const Graph& graph_;
  std::vector<std::optional<size_t>> nodes_;
};

// Identity, a Cast of a cache to its own type, and Concat of one tensor, which torch writes for a cache that
// was empty. A Concat has the type of its inputs, so that the result of one that grows a cache has the
// cache's.
bool passes_on(const Node& node, DType of_cache) {
  if (dynamic_cast<const Identity*>(node.op.get()) != nullptr) return true;
  if (const auto* cast = dynamic_cast<const Cast*>(node.op.get())) return cast->to == of_cache;
  return dynamic_cast<const Concat*>(node.op.get()) != nullptr && node.inputs.size() == 1;
}

ValueId without_copies(const Producers& producers, ValueId value, DType of_cache) {
  const std::vector<Node>& nodes = producers.graph().nodes;
  for (auto node = producers.of(value); node && passes_on(nodes[*node], of_cache); node = producers.of(value))
    value = nodes[*node].inputs[0];
  return value;
}

// The growth of `cache` by node `index`, whose result is `result`.
std::optional<GrowingCache> match_node(const Producers& producers, size_t index, ValueId cache,
                                       ValueId result) {
  const Node& node = producers.graph().nodes[index];
  if (const auto* join = dynamic_cast<const Concat*>(node.op.get())) {
    const DType dtype = producers.graph().values[cache].type.dtype;
    if (node.inputs.size() != 2 || without_copies(producers, node.inputs[0], dtype) != cache)
      return std::nullopt;
    const size_t rank = producers.graph().values[cache].type.shape.size();
    const size_t axis = normalize_axis(join->axis, rank);
    return GrowingCache{{}, index, axis, cache, node.inputs[1], result, axis};
  }
  const auto* attention = dynamic_cast<const GrowingAttention*>(node.op.get());
  if (attention == nullptr) return std::nullopt;
  for (const auto& [past, present] : attention->caches)
    if (node.outputs[present] == result && node.inputs[past] == cache)
      return GrowingCache{
          {}, index, 2, cache, node.inputs[attention->tokens_input], result, attention->tokens_axis};
  return std::nullopt;
}

std::optional<GrowingCache> match_growth(const Producers& producers, const StatePair& pair) {
  const Graph& graph = producers.graph();
  const ValueId cache = graph.inputs[pair.input];
  const Value& value = graph.values[cache];
  if (!value.type_known || value.type.shape.empty()) return std::nullopt;
  const ValueId result = without_copies(producers, graph.outputs[pair.output], value.type.dtype);
  const auto index = producers.of(result);
  if (!index) return std::nullopt;
  auto growth = match_node(producers, *index, cache, result);
  if (growth) growth->pair = pair;
  return growth;
}

// The cache itself may be read by the node that makes it longer, and by what asks for its shape.
void check_reads(const Producers& producers, const GrowingCache& cache) {
  const Graph& graph = producers.graph();
  const std::string name =
      "the cache '" + graph.values[cache.cache].name + "' cannot grow within a capacity: ";
  if (cache.axis == 0) throw Error(ErrorCode::unsupported, name + "it is concatenated along the batch");
  const DType dtype = graph.values[cache.cache].type.dtype;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    if (i == cache.node || passes_on(node, dtype) || node.op->reads_types_only()) continue;
    for (const ValueId input : node.inputs)
      if (input != kNoValue && without_copies(producers, input, dtype) == cache.cache)
        throw Error(ErrorCode::unsupported, name + describe(node) + " reads it without the new tokens");
  }
}

void set_capacity(Graph& graph, const GrowingCache& cache, int64_t capacity) {
  Value& value = graph.values[cache.cache];
  int64_t& dim = value.type.shape[cache.axis];
  if (dim != kUnknownDim && dim != capacity)
    throw Error(ErrorCode::invalid_argument, "input '" + value.name + "' is " + to_string(value.type) +
                                                 ": its dimension " + std::to_string(cache.axis) +
                                                 " is fixed and cannot get the capacity " +
                                                 std::to_string(capacity));
  dim = capacity;
}

bool has_open_heads(const Graph& graph, const GrowingCache& cache) {
  const Shape& shape = graph.values[cache.cache].type.shape;
  for (size_t i = 1; i < shape.size(); ++i)
    if (i != cache.axis && shape[i] == kUnknownDim) return true;
  return false;
}

// The graph of a first run, in which no cache has tokens yet, with one element in each open dimension.
Graph without_caches(Graph graph, std::span<const GrowingCache> caches) {
  graph.outputs.clear();
  for (const GrowingCache& cache : caches) {
    Node& node = graph.nodes[cache.node];
    if (const auto* attention = dynamic_cast<const GrowingAttention*>(node.op.get())) {
      for (const GrowingAttention::Cache& of_node : attention->caches) node.inputs[of_node.past] = kNoValue;
    } else {
      node.inputs = {cache.tokens};
    }
    graph.outputs.push_back(cache.result);
  }
  for (const ValueId input : graph.inputs)
    for (int64_t& dim : graph.values[input].type.shape)
      if (dim == kUnknownDim) dim = 1;
  return graph;
}

// ONNX Runtime's model builder leaves the channels of a head open, too. They are those of the new tokens. If
// the shapes of a first run cannot be inferred, the dimensions stay open, and the caller gives them.
void bind_open_heads(Graph& graph, std::span<const GrowingCache> caches) {
  if (std::ranges::none_of(caches, [&](const GrowingCache& cache) { return has_open_heads(graph, cache); }))
    return;
  Graph first_run = without_caches(graph, caches);
  try {
    infer_shapes_and_fold(first_run, {});
  } catch (const Error&) {
    return;
  }
  for (const GrowingCache& cache : caches) {
    Shape& shape = graph.values[cache.cache].type.shape;
    const Shape& tokens = first_run.values[cache.result].type.shape;
    for (size_t i = 1; i < shape.size() && tokens.size() == shape.size(); ++i)
      if (i != cache.axis && shape[i] == kUnknownDim) shape[i] = tokens[i];
  }
}

// A session's caches have room for all tokens, so that nothing is evicted from them.
void keep_all_tokens(Graph& graph, std::span<const GrowingCache> caches) {
  for (const GrowingCache& cache : caches)
    if (const auto* attention = dynamic_cast<const GrowingAttention*>(graph.nodes[cache.node].op.get());
        attention != nullptr && attention->without_eviction)
      graph.nodes[cache.node].op = attention->without_eviction;
}

}  // namespace

std::vector<GrowingCache> find_growing_caches(const Graph& graph, std::span<const StatePair> states) {
  const Producers producers(graph);
  std::vector<GrowingCache> found;
  for (const StatePair& pair : states)
    if (const auto cache = match_growth(producers, pair)) found.push_back(*cache);
  std::ranges::sort(found, {}, &GrowingCache::node);
  return found;
}

bool has_cache_length(const Graph& graph) {
  return std::ranges::any_of(graph.inputs, [&](ValueId id) { return graph.values[id].name == kCacheLength; });
}

int64_t tokens_of_run(const Graph& prepared) {
  for (const ValueId output : prepared.outputs) {
    if (prepared.values[output].name != kNextCacheLength) continue;
    const auto sum = Producers(prepared).of(output);
    if (!sum) return 0;
    for (const ValueId input : prepared.nodes[*sum].inputs)
      if (const HostTensor* count = prepared.constant(input)) return count->to_ints().at(0);
  }
  return 0;
}

Graph add_cache_length(Graph graph, std::span<const StatePair> states, int64_t capacity) {
  const std::vector<GrowingCache> caches = find_growing_caches(graph, states);
  if (caches.empty())
    throw Error(ErrorCode::invalid_argument,
                "state_capacity is given, but no state grows: none is concatenated with new tokens");
  for (const std::string_view name : {kCacheLength, kNextCacheLength})
    if (graph.find_value(name))
      throw Error(ErrorCode::unsupported, "the model has a value '" + std::string(name) + "' of its own");
  const Producers producers(graph);
  for (const GrowingCache& cache : caches) check_reads(producers, cache);
  keep_all_tokens(graph, caches);
  bind_open_heads(graph, caches);
  for (const GrowingCache& cache : caches) set_capacity(graph, cache, capacity);
  const GrowingCache& first = caches.front();
  const ValueId length = graph.add_value(std::string(kCacheLength), {DType::i64, {1}}, true);
  const ValueId count = graph.add_value(std::string(kCacheLength) + "/tokens");
  const ValueId next = graph.add_value(std::string(kNextCacheLength));
  auto count_tokens = std::make_shared<ShapeOf>();
  count_tokens->start = static_cast<int64_t>(first.tokens_axis);
  count_tokens->end = count_tokens->start + 1;
  auto add = std::make_shared<Binary>();
  add->kind = BinaryKind::add;
  graph.nodes.push_back({graph.values[count].name, std::move(count_tokens), {first.tokens}, {count}});
  graph.nodes.push_back({graph.values[next].name, std::move(add), {length, count}, {next}});
  graph.inputs.push_back(length);
  graph.outputs.push_back(next);
  check(graph);
  return graph;
}

}  // namespace vellum
