// torch exports the assignments y[:, t] = x of a loop over t as a chain of ScatterND, of which each copies
// all rows to write a few:
//
//   zeros --> ScatterND(row 0) --> ScatterND(row 1) --> ... --> y        y = Concat(x0, x1, ...)
//                 x0                   x1
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "graph/operators/movement/concat.hpp"
#include "graph/operators/movement/scatter.hpp"
#include "graph/operators/movement/slice.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite/build.hpp"
#include "passes/rewrite/match.hpp"

namespace vellum {
namespace {

// Limits of the tables of this pass, and of the Concat's inputs.
constexpr int64_t kMostScatteredRows = int64_t{1} << 16;
constexpr size_t kMostRowRanges = 1024;

// The rows of the data that a ScatterND writes, in order: row `first`, the next one, and so on. Rows are the
// tensors that index tuples select.
struct ScatteredRows {
  int64_t first = 0, count = 0;
  int64_t of_data = 0;  // the number of rows of the data
};

// Returns nothing if the indices are computed, or if the rows are not consecutive.
std::optional<ScatteredRows> scattered_rows(const GraphEditor& editor, const Match<ScatterND>& scatter) {
  if (!scatter || scatter->reduction != ScatterReduction::none) return std::nullopt;
  const HostTensor* indices = editor.constant(scatter.input(1));
  const Shape& data = editor.type(scatter.input(0)).shape;
  if (!indices || indices->elements() == 0 || indices->dtype() != DType::i64) return std::nullopt;
  const std::span<const int64_t> index = indices->as<int64_t>();
  const auto depth = static_cast<size_t>(indices->shape().back());
  ScatteredRows rows{.of_data = 1};
  for (size_t axis = 0; axis < depth; ++axis) rows.of_data *= data[axis];
  rows.count = static_cast<int64_t>(index.size() / depth);
  if (rows.of_data == 0 || rows.of_data > kMostScatteredRows) return std::nullopt;
  for (int64_t tuple = 0; tuple < rows.count; ++tuple) {
    int64_t row = 0;
    for (size_t axis = 0; axis < depth; ++axis) {
      const int64_t at = index[static_cast<size_t>(tuple) * depth + axis];
      if (at < -data[axis] || at >= data[axis]) return std::nullopt;
      row = row * data[axis] + (at < 0 ? at + data[axis] : at);
    }
    if (tuple == 0) rows.first = row;
    if (row != rows.first + tuple) return std::nullopt;
  }
  return rows;
}

// Consecutive rows of the result, which are the rows of `source` from `first` on.
struct RowRange {
  ValueId source = kNoValue;
  int64_t first = 0, count = 0;
};

// Where the rows of a tensor come from.
class RowSources {
 public:
  explicit RowSources(int64_t rows) : sources_(static_cast<size_t>(rows), {kNoValue, 0}) {}

  // Adds the rows that an earlier ScatterND writes. Rows that were added before stay: they are written later.
  void add_earlier(const ScatteredRows& rows, ValueId updates) {
    for (int64_t i = 0; i < rows.count; ++i)
      if (auto& source = sources_[static_cast<size_t>(rows.first + i)]; source.first == kNoValue)
        source = {updates, i};
  }

  std::vector<RowRange> ranges() const {
    std::vector<RowRange> ranges;
    for (const auto& [source, row] : sources_) {
      if (ranges.empty() || ranges.back().source != source ||
          ranges.back().first + ranges.back().count != row)
        ranges.push_back({source, row, 0});
      ++ranges.back().count;
    }
    return ranges;
  }

 private:
  std::vector<std::pair<ValueId, int64_t>> sources_;  // by row
};

// A chain of ScatterND.
struct ScatterChain {
  std::vector<size_t> nodes;     // the last one first
  int64_t of_data = 0;           // rows of the data
  std::vector<RowRange> ranges;  // of the result
};

// Returns whether the next ScatterND writes other rows of this result, and is its only reader.
bool is_scattered_further(const GraphEditor& editor, ValueId result, int64_t of_data) {
  const auto reader = editor.only_reader(result);
  const auto next = reader ? match_node<ScatterND>(editor, *reader) : Match<ScatterND>{};
  const auto rows = scattered_rows(editor, next);
  return rows && rows->of_data == of_data && next.input(0) == result;
}

// Matches the chain of at least two ScatterND that ends at `index`.
std::optional<ScatterChain> match_scatter_chain(const GraphEditor& editor, size_t index) {
  auto scatter = match_node<ScatterND>(editor, index);
  auto rows = scattered_rows(editor, scatter);
  if (!rows || is_scattered_further(editor, scatter.node->outputs[0], rows->of_data)) return std::nullopt;
  ScatterChain chain{.of_data = rows->of_data};
  RowSources sources(rows->of_data);
  ValueId data = kNoValue;
  while (scatter && rows && rows->of_data == chain.of_data) {
    sources.add_earlier(*rows, scatter.input(2));
    chain.nodes.push_back(scatter.index);
    data = scatter.input(0);
    scatter = editor.only_reader(data) ? match_producer<ScatterND>(editor, data) : Match<ScatterND>{};
    rows = scattered_rows(editor, scatter);
  }
  sources.add_earlier({0, chain.of_data, chain.of_data}, data);
  chain.ranges = sources.ranges();
  if (chain.nodes.size() < 2 || chain.ranges.size() > kMostRowRanges) return std::nullopt;
  // An input may be a state, which a ScatterND writes in place.
  const bool keeps_data = std::ranges::find(chain.ranges, data, &RowRange::source) != chain.ranges.end();
  if (keeps_data && !editor.constant(data) && !editor.producer(data)) return std::nullopt;
  return chain;
}

// Computes the rows of a range as a matrix, before node `index`.
ValueId compute_rows(GraphEditor& editor, size_t index, const RowRange& range, const Shape& row) {
  const std::string name = editor.graph().values[range.source].name;
  const TensorType type = editor.type(range.source);
  Shape shape = row;
  shape.insert(shape.begin(), element_count(type.shape) / element_count(row));
  const int64_t rows = shape[0];
  const ValueId matrix =
      editor.compute_before(index, name + "/rows", reshape_to(shape), {range.source}, {type.dtype, shape});
  if (range.count == rows) return matrix;
  auto slice = std::make_shared<Slice>();
  slice->axes = Ints{0};
  slice->starts = Ints{range.first};
  slice->ends = Ints{range.first + range.count};
  shape[0] = range.count;
  return editor.compute_before(index, name + "/kept rows", std::move(slice), {matrix}, {type.dtype, shape});
}

void replace_scatter_chain(GraphEditor& editor, size_t index) {
  const auto chain = match_scatter_chain(editor, index);
  if (!chain) return;
  const Node last = editor.node(index);
  const TensorType type = editor.type(last.outputs[0]);
  if (element_count(type.shape) == 0) return;
  const Shape row{element_count(type.shape) / chain->of_data};
  auto concat = std::make_shared<Concat>();
  concat->axis = 0;
  std::vector<ValueId> inputs;
  for (const RowRange& range : chain->ranges) inputs.push_back(compute_rows(editor, index, range, row));
  const ValueId rows = editor.compute_before(index, last.name + "/rows", std::move(concat), std::move(inputs),
                                             {type.dtype, {chain->of_data, row[0]}});
  editor.replace(index, reshape_to(type.shape), {rows});
  for (const size_t node : chain->nodes)
    if (node != index) editor.remove(node);
}

}  // namespace

void scatter_to_concat(Graph& graph) {
  GraphEditor editor(graph);
  for (const size_t index : editor.nodes()) replace_scatter_chain(editor, index);
  editor.commit();
}

}  // namespace vellum
