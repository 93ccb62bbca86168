#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "graph/operators/elementwise/binary.hpp"
#include "graph/operators/elementwise/cast.hpp"
#include "graph/operators/elementwise/select.hpp"
#include "graph/operators/matmul/growing_attention.hpp"
#include "graph/operators/movement/concat.hpp"
#include "graph/operators/movement/gather.hpp"
#include "graph/operators/movement/tensor_scatter.hpp"
#include "graph/shape_operands.hpp"
#include "passes/caches/growing_caches.hpp"
#include "passes/caches/length_probe.hpp"
#include "passes/rewrite/build.hpp"
#include "passes/rewrite/graph_editor.hpp"
#include "vellum/error.hpp"

namespace vellum {
namespace {

constexpr const char* kDepends = "depends on the length of the cache in a way that is not supported";

// Gives every node its operands for caches of the full capacity: those that decide shapes as for the longest
// caches, and those that are data as functions of cache_length.
class CapacityFixer {
 public:
  CapacityFixer(Graph& graph, const LengthProbe& probe) : editor_(graph), probe_(probe) {
    length_ = *graph.find_value(kCacheLength);
    for (size_t k = 0; k < at_probe_[length_].size(); ++k)
      at_probe_[length_][k] = HostTensor::i64({1}, Ints{probe.lengths()[k]});
  }

  void fix(std::span<const GrowingCache> caches) {
    for (const GrowingCache& cache : caches) write_into(cache);
    for (const size_t index : editor_.nodes())
      if (!is_computed_before(editor_.node(index))) fix_node(index);
    for (size_t i = 0; i < editor_.graph().outputs.size(); ++i) {
      const ValueId output = editor_.graph().outputs[i];
      if (probe_.is_known(output) && !probe_.is_same(output))
        throw Error(ErrorCode::unsupported, "output '" + editor_.graph().values[output].name +
                                                "' has a value that depends on the length of the cache");
      if (probe_.grows(output) && !is_cache(caches, i))
        throw Error(ErrorCode::unsupported, "output '" + editor_.graph().values[output].name +
                                                "' becomes longer with the cache, and is no state");
    }
    editor_.commit();
  }

 private:
  // Whether output `index`, which may be a copy of the cache, is one.
  bool is_cache(std::span<const GrowingCache> caches, size_t index) const {
    for (const GrowingCache& cache : caches)
      if (cache.pair.output == index || cache.result == editor_.graph().outputs[index] ||
          cache.cache == editor_.graph().outputs[index])
        return true;
    return false;
  }

  // Nodes whose results are known; inserted ones are not.
  bool is_computed_before(const Node& node) const {
    if (is_inserted(node)) return true;
    for (const ValueId output : node.outputs)
      if (output != kNoValue && !probe_.is_known(output)) return false;
    return true;
  }
  bool is_inserted(const Node& node) const { return node.outputs[0] >= probe_.values(); }

  ValueId emit(size_t index, const std::string& name, std::shared_ptr<const Operator> op,
               std::vector<ValueId> inputs) {
    const ValueId value = editor_.add_value(name);
    const Node node{editor_.graph().values[value].name, std::move(op), std::move(inputs), {value}};
    evaluate_at_probe(node);
    editor_.insert_before(index, node);
    return value;
  }

  // Evaluates an inserted node for the lengths of the probe, if it reads only the length and constants.
  void evaluate_at_probe(const Node& node) {
    std::array<HostTensor, LengthProbe::kLengths> results;
    for (size_t k = 0; k < results.size(); ++k) {
      std::vector<const HostTensor*> tensors;
      for (const ValueId input : node.inputs) {
        const auto found = at_probe_.find(input);
        const HostTensor* tensor = found != at_probe_.end()
                                       ? &found->second[k]
                                       : (input == kNoValue ? nullptr : editor_.graph().constant(input));
        if (input != kNoValue && tensor == nullptr) return;
        tensors.push_back(tensor);
      }
      results[k] = std::move(evaluate(node, tensors).front());
    }
    at_probe_.emplace(node.outputs[0], std::move(results));
  }

  void write_into(const GrowingCache& cache) {
    if (const auto attention =
            std::dynamic_pointer_cast<const GrowingAttention>(editor_.node(cache.node).op)) {
      std::vector<ValueId> inputs = editor_.node(cache.node).inputs;
      inputs.resize(std::max(inputs.size(), attention->length_input + 1), kNoValue);
      inputs[attention->length_input] = length_;
      editor_.replace(cache.node, attention->fixed, std::move(inputs));
    } else if (dynamic_cast<const Concat*>(editor_.node(cache.node).op.get()) != nullptr) {
      scatter_into(cache);
    }  // else the other cache of the node was here before
  }

  void scatter_into(const GrowingCache& cache) {
    const int64_t batch = probe_.type(cache.cache).shape[0];
    const std::string name = editor_.node(cache.node).name;
    const ValueId at =
        batch == 1
            ? length_
            : emit(cache.node, name + "/index", std::make_shared<Expand>(),
                   {length_, editor_.add_constant(name + "/batch", HostTensor::i64({1}, Ints{batch}))});
    auto op = std::make_shared<TensorScatter>();
    op->axis = static_cast<int64_t>(cache.axis);
    editor_.replace(cache.node, std::move(op), {cache.cache, cache.tokens, at});
  }

  void fix_node(size_t index) {
    if (dynamic_cast<const Slice*>(editor_.node(index).op.get()) != nullptr && gathers_slice(index)) return;
    const Node node = editor_.node(index);
    const auto growth = growth_of_concat(node);
    std::vector<ValueId> inputs = node.inputs;
    for (size_t i = 0; i < inputs.size(); ++i) inputs[i] = operand(index, i);
    if (!growth) return editor_.set_inputs(index, std::move(inputs));
    const ValueId joined = emit(index, node.name + "/joined", node.op, std::move(inputs));
    editor_.replace(index, gather_along(growth->axis), {joined, indices_of(index, node.name, *growth)});
  }

  // A Concat of an operand that grows and operands after it, which begin where its tokens end.
  struct ConcatGrowth {
    size_t axis = 0;
    int64_t first = 0;  // the end of the operand that grows, without earlier tokens
    int64_t whole = 0;  // the size of the result for the longest caches
  };

  // Nothing for other nodes, and where nothing is after what grows.
  std::optional<ConcatGrowth> growth_of_concat(const Node& node) const {
    const auto* join = dynamic_cast<const Concat*>(node.op.get());
    if (join == nullptr || is_inserted(node)) return std::nullopt;
    const size_t axis = normalize_axis(join->axis, probe_.type(node.outputs[0]).shape.size());
    std::optional<ConcatGrowth> growth;
    int64_t end = 0;
    for (const ValueId input : node.inputs) {
      const auto [longest, shorter, shortest] = probe_.sizes(input, axis);
      if (longest != shorter || longest != shortest) {
        if (growth || longest - shorter != 1 || shorter - shortest != 1) refuse(node, kDepends);
        growth = ConcatGrowth{axis, end + longest - probe_.past(), 0};
      }
      end += longest;
    }
    if (!growth || growth->first + probe_.past() == end) return std::nullopt;
    growth->whole = end;
    return growth;
  }

  static std::shared_ptr<const Operator> gather_along(size_t axis) {
    auto gather = std::make_shared<Gather>();
    gather->axis = static_cast<int64_t>(axis);
    return gather;
  }

  ValueId list_of(const std::string& name, const Ints& values) {
    return editor_.add_constant(name, HostTensor::i64({std::ssize(values)}, values));
  }

  // Returns for each element after the operand that grows ends at the length where the Concat of the longest
  // caches has it. Elements after the last repeat it.
  ValueId indices_of(size_t index, const std::string& name, const ConcatGrowth& growth) {
    Ints all(static_cast<size_t>(growth.whole));
    std::iota(all.begin(), all.end(), int64_t{0});
    const ValueId places = list_of(name + "/places", all);
    const ValueId end = emit(index, name + "/end", binary_of(BinaryKind::add),
                             {length_, list_of(name + "/first", {growth.first})});
    const ValueId missing = emit(index, name + "/missing", binary_of(BinaryKind::sub),
                                 {list_of(name + "/longest", {probe_.past()}), length_});
    const ValueId moved = emit(index, name + "/moved", binary_of(BinaryKind::add), {places, missing});
    const ValueId within = emit(index, name + "/within", binary_of(BinaryKind::min),
                                {moved, list_of(name + "/last", {growth.whole - 1})});
    const ValueId is_before = emit(index, name + "/is_before", binary_of(BinaryKind::less), {places, end});
    return emit(index, name + "/indices", std::make_shared<Where>(), {is_before, places, within});
  }

  [[noreturn]] void refuse(const Node& node, const std::string& why) const {
    throw Error(ErrorCode::unsupported, describe(node) + " " + why);
  }

  ValueId constant(ValueId value, const HostTensor& tensor) {
    const auto [entry, is_new] = constants_.try_emplace(value, kNoValue);
    if (is_new) entry->second = editor_.add_constant(editor_.graph().values[value].name + "/value", tensor);
    return entry->second;
  }

  // Returns the value that node `index` reads as its input `slot`.
  ValueId operand(size_t index, size_t slot) {
    const Node& node = editor_.node(index);
    const ValueId value = node.inputs[slot];
    if (value == kNoValue) return value;
    if (probe_.differs_otherwise(value)) refuse(node, std::string("reads a value that ") + kDepends);
    if (!probe_.is_known(value)) return value;
    if (probe_.is_same(value) || decides_shape(*node.op, slot)) return constant(value, probe_.value(value));
    const ValueId made = of_run(index, value);
    // The operators that compute it again have the sizes of the longest caches, which must not change their
    // results for shorter ones.
    if (const auto found = at_probe_.find(made);
        found != at_probe_.end() && !probe_.begins_with_known(value, found->second))
      refuse(node, std::string("reads a value that ") + kDepends);
    return made;
  }

  // Returns a known value for cache_length earlier tokens, computed before node `index`.
  ValueId of_run(size_t index, ValueId value) {
    if (probe_.is_same(value) || probe_.is_prefix(value)) return constant(value, probe_.value(value));
    if (const auto found = of_run_.find(value); found != of_run_.end()) return found->second;
    const auto linear = probe_.linear(value);
    const ValueId made =
        linear ? at_length(index, editor_.graph().values[value].name, *linear) : computed_again(index, value);
    of_run_.emplace(value, made);
    return made;
  }

  ValueId at_length(size_t index, const std::string& name, const LengthProbe::Linear& linear) {
    const TensorType type = linear.offset.type();
    ValueId length = length_;
    if (type.dtype != DType::i64) {
      auto to_type = std::make_shared<Cast>();
      to_type->to = type.dtype;
      length = emit(index, name + "/length", std::move(to_type), {length});
    }
    if (type.shape.empty()) length = emit(index, name + "/length", reshape_to({}), {length});
    if (!linear.is_length)
      length = emit(index, name + "/factor", binary_of(BinaryKind::mul),
                    {length, editor_.add_constant(name + "/factors", linear.factor)});
    return emit(index, name + "/of_run", binary_of(BinaryKind::add),
                {length, editor_.add_constant(name + "/offset", linear.offset)});
  }

  // Repeats the node that computes the value, with its operands of the run.
  ValueId computed_again(size_t index, ValueId value) {
    const Node source = editor_.node(*editor_.producer(value));
    if (source.outputs.size() != 1 || source.op->reads_types_only()) refuse(source, kDepends);
    if (const auto* slice = dynamic_cast<const Slice*>(source.op.get()); slice != nullptr)
      if (const auto gathered = gathered_slice(index, source)) return *gathered;
    std::vector<ValueId> inputs = source.inputs;
    for (size_t i = 0; i < inputs.size(); ++i) {
      ValueId& input = inputs[i];
      if (input == kNoValue || !probe_.is_known(input)) continue;
      if (decides_shape(*source.op, i)) {
        if (source.op->type() == "Range") refuse(source, kDepends);
        input = constant(input, probe_.value(input));
      } else {
        input = of_run(index, input);
      }
    }
    const ValueId made = emit(index, source.name + "/of_run", source.op, std::move(inputs));
    const auto growth = growth_of_concat(source);
    if (!growth) return made;
    return emit(index, source.name + "/of_run", gather_along(growth->axis),
                {made, indices_of(index, source.name, *growth)});
  }

  // A Slice that begins where the earlier tokens end gathers its elements. Returns false for other ones.
  bool gathers_slice(size_t index) {
    const Node node = editor_.node(index);
    const auto result = gathered_slice(index, node);
    if (!result) return false;
    editor_.replace_reads(node.outputs[0], *result);
    if (editor_.is_graph_output(node.outputs[0]))
      refuse(node, "is an output that begins where the earlier tokens end");
    return true;
  }

  std::optional<ValueId> gathered_slice(size_t index, const Node& node) {
    const auto ranges = probe_.slice_ranges(node);
    if (!ranges) return std::nullopt;
    const auto& [longest, shorter, shortest] = *ranges;
    if (longest.starts == shorter.starts && longest.steps == shorter.steps) return std::nullopt;
    const ValueId data = node.inputs[0];
    ValueId value = !probe_.is_known(data) ? data : of_run(index, data);
    for (size_t axis = 0; axis < longest.starts.size(); ++axis) {
      std::array<HostTensor, LengthProbe::kLengths> indices;
      for (size_t k = 0; k < indices.size(); ++k) {
        const SliceRange& range = (*ranges)[k];
        // A beginning of what grows: as many elements as the longest has.
        Ints at(static_cast<size_t>(longest.output[axis]));
        for (size_t i = 0; i < at.size(); ++i)
          at[i] = range.starts[axis] + static_cast<int64_t>(i) * range.steps[axis];
        indices[k] = HostTensor::i64({std::ssize(at)}, at);
      }
      const auto linear = probe_.linear(indices);
      if (!linear) refuse(node, "slices by the length of the cache in a way that is not supported");
      const bool is_fixed = longest.starts[axis] == shorter.starts[axis];
      const int64_t growth = longest.output[axis] - shorter.output[axis];
      const bool keeps_size = growth == 0 && longest.output[axis] == shortest.output[axis];
      const bool grows_to_end =
          growth == 1 && shorter.output[axis] - shortest.output[axis] == 1 && longest.steps[axis] == 1;
      if (!is_fixed && !keeps_size && !grows_to_end)
        refuse(node, "slices a part of the cache whose size depends on the length");
      const std::string name = node.name + "/" + std::to_string(axis);
      ValueId places = is_fixed ? editor_.add_constant(name + "/indices", linear->offset)
                                : at_length(index, name, *linear);
      // Elements after the last repeat it.
      if (!is_fixed && !keeps_size)
        places = emit(index, name + "/within", binary_of(BinaryKind::min),
                      {places, list_of(name + "/last", {probe_.sizes(data, axis)[0] - 1})});
      value = emit(index, name, gather_along(axis), {value, places});
    }
    return value;
  }

  GraphEditor editor_;
  const LengthProbe& probe_;
  ValueId length_ = kNoValue;
  std::map<ValueId, ValueId> constants_, of_run_;
  // The length and the inserted values that follow from it, for the lengths of the probe.
  std::map<ValueId, std::array<HostTensor, LengthProbe::kLengths>> at_probe_;
};

}  // namespace

Graph fix_cache_capacity(Graph graph, std::span<const StatePair> states, const InputShapes& shapes,
                         const InputTensors& values) {
  const std::vector<GrowingCache> caches = find_growing_caches(graph, states);
  const LengthProbe probe(graph, caches, shapes, values);
  CapacityFixer(graph, probe).fix(caches);
  return graph;
}

}  // namespace vellum
