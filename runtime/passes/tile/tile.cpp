#include "passes/tile/tile.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "graph/operators/movement/concat.hpp"
#include "graph/operators/movement/slice.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite/unique_names.hpp"
#include "vellum/error.hpp"

namespace vellum {
namespace {

class Tiler {
 public:
  explicit Tiler(const AxisReads& reads)
      : all_reads_(reads), reads_(&reads.rows), graph_(reads.graph()), names_(graph_) {
    graph_.nodes.clear();
  }

  TiledGraph run(const Tiling& tiling) {
    const std::vector<Node>& nodes = reads_->graph().nodes;
    size_t next = 0;
    for (const TiledNodes& tiled : tiling) {
      for (; next < tiled.first; ++next) add_node(nodes[next], next);
      add_strips(tiled);
      next = tiled.end;
    }
    for (; next < nodes.size(); ++next) add_node(nodes[next], next);
    remove_dead_code(graph_);
    if (graph_.nodes.size() != whole_nodes_.size())
      throw Error(ErrorCode::internal, "a strip that nothing reads");
    check(graph_);
    return {std::move(graph_), std::move(whole_nodes_), std::move(kept_names_)};
  }

 private:
  // A value in the strip that is being added: all of its rows, or some.
  struct Held {
    ValueId value = kNoValue;
    Rows rows;
  };

  void add_node(Node node, size_t whole) {
    graph_.nodes.push_back(std::move(node));
    whole_nodes_.push_back(whole);
  }

  Rows all_rows(ValueId value) const { return {0, reads_->value_rows(value)}; }

  ValueId add_value(ValueId whole, const std::string& suffix, const Rows& rows) {
    TensorType type = graph_.values[whole].type;
    type.shape[reads_->rows_axis(whole)] = rows.count();
    return graph_.add_value(names_.make(graph_.values[whole].name + suffix), std::move(type), true);
  }

  // Slices rows of the whole value `whole` out of those that are held.
  ValueId slice(ValueId whole, const Held& held, const Rows& rows, const std::string& suffix) {
    if (held.rows == rows) return held.value;
    const auto [entry, is_new] = slices_.try_emplace({held.value, rows.begin, rows.end}, kNoValue);
    ValueId& part = entry->second;
    if (!is_new) return part;
    auto op = std::make_shared<Slice>();
    op->starts = Ints{rows.begin - held.rows.begin};
    op->ends = Ints{rows.end - held.rows.begin};
    op->axes = Ints{static_cast<int64_t>(reads_->rows_axis(whole))};
    part = add_value(whole, suffix + "/rows", rows);
    add_node({graph_.values[part].name, std::move(op), {held.value}, {part}}, RowReads::kNone);
    return part;
  }

  void add_strips(const TiledNodes& tiled) {
    reads_ = &all_reads_.along(tiled.axis);
    const std::vector<ValueId> outputs = outputs_of(*reads_, tiled.first, tiled.end);
    std::map<ValueId, std::vector<ValueId>> parts;
    const std::vector<std::vector<StripRows>> strips = rows_of_strips(*reads_, tiled, outputs);
    kept_.clear();
    for (int64_t strip = 0; strip < tiled.strips; ++strip) {
      const std::string suffix = "/strip" + std::to_string(strip);
      const std::vector<StripRows>& rows = strips[static_cast<size_t>(strip)];
      slices_.clear();
      held_.clear();
      hold_inputs(tiled, rows, suffix);
      for (size_t n = tiled.first; n < tiled.end; ++n) {
        if (rows[n - tiled.first].held.empty()) continue;
        if (!rows[n - tiled.first].computed.empty()) add_strip_of(n, rows[n - tiled.first].computed, suffix);
        add_kept_rows(n, rows[n - tiled.first], suffix);
        if (strip + 1 < tiled.strips)
          keep_rows(n, strips[static_cast<size_t>(strip) + 1][n - tiled.first], suffix);
      }
      for (const ValueId output : outputs)
        parts[output].push_back(
            slice(output, held_.at(output), strip_of_output(*reads_, tiled, outputs, output, strip), suffix));
    }
    for (const ValueId output : outputs) {
      auto concat = std::make_shared<Concat>();
      concat->axis = static_cast<int64_t>(reads_->rows_axis(output));
      const std::string& name = reads_->graph().nodes[reads_->producer(output)].name;
      add_node({name + "/strips", std::move(concat), parts[output], {output}}, RowReads::kNone);
    }
  }

  // Puts the rows that the strip before kept before those that this one computes.
  void add_kept_rows(size_t index, const StripRows& rows, const std::string& suffix) {
    for (const ValueId output : reads_->graph().nodes[index].outputs) {
      const auto kept = kept_.find(output);
      if (output == kNoValue || kept == kept_.end()) continue;
      Held both = kept->second;
      if (!rows.computed.empty()) {
        auto concat = std::make_shared<Concat>();
        concat->axis = static_cast<int64_t>(reads_->rows_axis(output));
        const ValueId joined = add_value(output, suffix + "/lines", rows.held);
        add_node(
            {graph_.values[joined].name, std::move(concat), {both.value, held_.at(output).value}, {joined}},
            RowReads::kNone);
        both = {joined, rows.held};
      }
      held_[output] = both;
      kept_.erase(kept);
    }
  }

  // Copies what the next strip needs again, so that the rest is free.
  void keep_rows(size_t index, const StripRows& next, const std::string& suffix) {
    if (next.held.empty() || next.kept().empty()) return;
    for (const ValueId output : reads_->graph().nodes[index].outputs)
      if (output != kNoValue) {
        kept_[output] = {slice(output, held_.at(output), next.kept(), suffix), next.kept()};
        kept_names_.insert(graph_.values[kept_[output].value].name);
      }
  }

  // Slices the rows that the strip reads out of the graph's inputs, once for each. Other tensors are read in
  // place.
  void hold_inputs(const TiledNodes& tiled, const std::vector<StripRows>& rows, const std::string& suffix) {
    std::map<ValueId, Rows> wanted;
    for (size_t n = tiled.first; n < tiled.end; ++n) {
      const Node& node = reads_->graph().nodes[n];
      const Rows& computed = rows[n - tiled.first].computed;
      for (size_t i = 0; i < node.inputs.size() && !computed.empty(); ++i) {
        const RowsRead read = reads_->read(n, i, computed);
        if (!read.whole && reads_->producer(node.inputs[i]) == RowReads::kNone)
          wanted[node.inputs[i]] = hull(wanted[node.inputs[i]], read.rows);
      }
    }
    for (const auto& [input, of_input] : wanted)
      held_[input] = {slice(input, {input, all_rows(input)}, of_input, suffix), of_input};
  }

  Held held(ValueId value) const {
    const auto found = held_.find(value);
    return found == held_.end() ? Held{value, all_rows(value)} : found->second;
  }

  void add_strip_of(size_t index, const Rows& rows, const std::string& suffix) {
    const Node& whole = reads_->graph().nodes[index];
    std::vector<Rows> rows_held(whole.inputs.size());
    Node node{whole.name + suffix, nullptr, whole.inputs, {}};
    for (size_t i = 0; i < whole.inputs.size(); ++i) {
      const ValueId input = whole.inputs[i];
      const RowsRead read = reads_->read(index, i, rows);
      if (input == kNoValue || read.whole) continue;
      const Held all = held(input);
      node.inputs[i] = read.may_be_more ? all.value : slice(input, all, read.rows, suffix);
      rows_held[i] = read.may_be_more ? all.rows : read.rows;
    }
    node.op = operator_for_rows(reads_->graph(), whole, rows, rows_held, reads_->axis());
    for (const ValueId output : whole.outputs) {
      node.outputs.push_back(output == kNoValue ? kNoValue : add_value(output, suffix, rows));
      if (output != kNoValue) held_[output] = {node.outputs.back(), rows};
    }
    add_node(std::move(node), index);
  }

  const AxisReads& all_reads_;
  const RowReads* reads_;  // along the axis of the strips that are being added
  Graph graph_;
  UniqueNames names_;
  std::vector<size_t> whole_nodes_;
  std::set<std::string> kept_names_;
  std::unordered_map<ValueId, Held> held_;
  std::unordered_map<ValueId, Held> kept_;                           // for the next strip
  std::map<std::tuple<ValueId, int64_t, int64_t>, ValueId> slices_;  // of the strip
};

}  // namespace

TiledGraph tile(const AxisReads& reads, const Tiling& tiling) { return Tiler(reads).run(tiling); }

}  // namespace vellum
