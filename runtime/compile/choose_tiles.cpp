#include "compile/choose_tiles.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace vellum {
namespace {

constexpr size_t kLongestRun = 96;  // nodes
constexpr int64_t kStripCounts[] = {2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64};

bool is_planned(const Graph& graph, ValueId value) {
  return value != kNoValue && !graph.constant(value) && is_float(graph.values[value].type.dtype);
}

}  // namespace

TileChooser::TileChooser(const AxisReads& reads, TileCosts costs) : reads_(reads), costs_(std::move(costs)) {
  const Graph& graph = this->graph();
  const size_t count = graph.nodes.size();
  readers_.resize(graph.values.size());
  for (size_t n = 0; n < count; ++n)
    for (const ValueId input : graph.nodes[n].inputs)
      if (input != kNoValue && (readers_[input].empty() || readers_[input].back() != n))
        readers_[input].push_back(n);
  is_output_.assign(graph.values.size(), false);
  for (const ValueId output : graph.outputs) is_output_[output] = true;
  live_before_.assign(count, 0);
  node_peaks_.assign(count, 0);
  std::vector<bool> seen(graph.values.size(), false);
  const auto add = [&](ValueId value, size_t producer) {
    if (!is_planned(graph, value) || seen[value]) return;
    seen[value] = true;
    const uint64_t bytes = whole_bytes(value);
    const size_t last = std::min(last_use(value), count - 1);
    for (size_t n = producer + 1; n <= last; ++n) live_before_[n] += bytes;
    for (size_t n = producer; n <= last; ++n) node_peaks_[n] += bytes;
  };
  for (size_t n = 0; n < count; ++n) {
    // An input of the graph is live from the node that reads it first, which converts it.
    for (const ValueId input : graph.nodes[n].inputs) add(input, n);
    for (const ValueId output : graph.nodes[n].outputs) add(output, n);
    node_peaks_[n] -= bytes_in_place(n);
  }
}

// Returns the bytes that a whole node saves because its output takes the memory of an input that dies there.
uint64_t TileChooser::bytes_in_place(size_t n) const {
  if (costs_.in_place.empty() || !costs_.in_place[n]) return 0;
  const Graph& graph = reads_.graph();
  const ValueId output = graph.nodes[n].outputs[0];
  for (const ValueId input : graph.nodes[n].inputs)
    if (is_planned(graph, input) && reads_.rows.producer(input) != RowReads::kNone && last_use(input) == n &&
        !is_output_[input] && graph.values[input].type.shape == graph.values[output].type.shape)
      return whole_bytes(output);
  return 0;
}

uint64_t TileChooser::whole_peak() const {
  return node_peaks_.empty() ? 0 : *std::max_element(node_peaks_.begin(), node_peaks_.end());
}

uint64_t TileChooser::bytes_of(ValueId value, int64_t rows, ImageAxis axis) const {
  const Shape& shape = graph().values[value].type.shape;
  if (axis == ImageAxis::images)
    return whole_bytes(value) / static_cast<uint64_t>(shape[0]) * static_cast<uint64_t>(rows);
  const size_t rows_axis = reads_.rows.rows_axis(value);
  const size_t channels = rows_axis == 2 ? 1 : 3, columns = rows_axis == 2 ? 3 : 2;
  return static_cast<uint64_t>(shape[0] * ((shape[channels] + 3) / 4 * 4) * rows * shape[columns]) *
         costs_.element_bytes;
}

uint64_t TileChooser::whole_bytes(ValueId value) const {
  const Shape& shape = graph().values[value].type.shape;
  if (shape.size() == 4) return bytes_of(value, reads_.rows.value_rows(value), ImageAxis::rows);
  return static_cast<uint64_t>((element_count(shape) + 3) / 4 * 4) * costs_.element_bytes;
}

// An output of the graph is no intermediate tensor any more once it is computed.
size_t TileChooser::last_use(ValueId value) const {
  if (!is_output_[value]) return reads_.rows.last_reader(value);
  return readers_[value].empty() ? reads_.rows.producer(value) : readers_[value].back();
}

// Rows of several images are not contiguous.
bool TileChooser::is_view(ValueId value, ImageAxis axis) const {
  return costs_.rows_are_views && (axis == ImageAxis::images || graph().values[value].type.shape[0] == 1);
}

double TileChooser::keep_ms(size_t node, int64_t kept, int64_t held) const {
  constexpr ImageAxis kRows = ImageAxis::rows;
  double ms = 0;
  for (const ValueId output : graph().nodes[node].outputs) {
    if (output == kNoValue) continue;
    // The rows are contiguous in memory.
    const bool view = is_view(output, kRows);
    const CopyTime& copy = view ? costs_.keep : costs_.copy;
    ms += copy.of(bytes_of(output, kept, kRows)) + copy.of(bytes_of(output, view ? kept : held, kRows));
  }
  return ms;
}

// Returns the bytes that are live while one strip is computed, without whole tensors, and the time of the
// strip.
TileChooser::Strip TileChooser::estimate_strip(const TiledNodes& tiled, const std::vector<ValueId>& outputs,
                                               int64_t strip) const {
  const Graph& graph = this->graph();
  const RowReads& reads = reads_.along(tiled.axis);
  // The previous strip determines where this strip begins; this strip determines what the next one keeps of
  // it.
  const auto rows_after = [&](int64_t at, const std::vector<StripRows>& before) {
    return rows_of_strip(reads, tiled, outputs, at, before);
  };
  const std::vector<StripRows> before = strip > 0 ? rows_after(strip - 1, {}) : std::vector<StripRows>{};
  const std::vector<StripRows> rows = rows_after(strip, before);
  const std::vector<StripRows> after =
      strip + 1 < tiled.strips ? rows_after(strip + 1, rows) : std::vector<StripRows>{};
  const auto rows_of = [&](ValueId value) { return rows[reads.producer(value) - tiled.first].held; };
  const auto is_inside = [&](ValueId value) {
    const size_t producer = reads.producer(value);
    return producer != RowReads::kNone && producer >= tiled.first && producer < tiled.end;
  };
  const auto bytes_of_rows = [&](size_t n, int64_t count) {
    uint64_t bytes = 0;
    for (const ValueId output : graph.nodes[n].outputs)
      if (output != kNoValue) bytes += bytes_of(output, count, tiled.axis);
    return bytes;
  };
  const auto kept_rows = [&](const std::vector<StripRows>& of, size_t n) {
    return of.empty() || of[n - tiled.first].held.empty() ? 0 : of[n - tiled.first].kept().count();
  };
  Strip result;
  uint64_t live = 0;
  for (size_t n = tiled.first; n < tiled.end; ++n) live += bytes_of_rows(n, kept_rows(rows, n));
  for (size_t n = tiled.first; n < tiled.end; ++n) {
    const Node& node = graph.nodes[n];
    const auto& [held, computed] = rows[n - tiled.first];
    if (held.empty()) continue;
    uint64_t cut = 0;
    if (!computed.empty())
      result.ms += costs_.copy.launch + costs_.node_ms[n] * static_cast<double>(computed.count()) /
                                            static_cast<double>(reads.row_count(n));
    for (size_t i = 0; i < node.inputs.size() && !computed.empty(); ++i) {
      const RowsRead read = reads.read(n, i, computed);
      if (read.whole) continue;
      const ValueId input = node.inputs[i];
      const bool is_input = reads.producer(input) == RowReads::kNone;
      const bool is_cut =
          !read.may_be_more &&
          (is_inside(input) ? rows_of(input) != read.rows : read.rows.count() < reads.value_rows(input));
      if (!is_input && (!is_cut || is_view(input, tiled.axis))) continue;
      const uint64_t bytes = bytes_of(input, read.rows.count(), tiled.axis);
      cut += is_input ? 2 * bytes : bytes;
      result.ms += costs_.copy.of(bytes);
    }
    live += bytes_of_rows(n, computed.count());
    result.peak = std::max(result.peak, live + cut);
    if (const int64_t kept = kept_rows(rows, n); kept > 0 && !computed.empty()) {
      result.ms += keep_ms(n, kept, held.count());
      uint64_t both = 0;
      for (const ValueId output : node.outputs)
        if (output != kNoValue)
          both += bytes_of(output, is_view(output, tiled.axis) ? kept : held.count(), tiled.axis);
      result.peak = std::max(result.peak, live + both);
    }
    if (const int64_t kept = kept_rows(after, n); kept > 0) live += bytes_of_rows(n, kept);
    for (const ValueId output : node.outputs)
      if (std::find(outputs.begin(), outputs.end(), output) != outputs.end() &&
          (!is_view(output, tiled.axis) || is_output_[output]))
        result.ms += costs_.copy.of(bytes_of(output, held.count(), tiled.axis));
    // Values that this node reads for the last time are dead afterwards.
    std::vector<ValueId> done = node.inputs;
    done.insert(done.end(), node.outputs.begin(), node.outputs.end());
    std::sort(done.begin(), done.end());
    done.erase(std::unique(done.begin(), done.end()), done.end());
    for (const ValueId value : done) {
      if (value == kNoValue || !is_inside(value)) continue;
      if (computed.empty() && reads.producer(value) != n) continue;  // the node reads nothing of the value
      const bool is_read_later = std::ranges::any_of(readers_[value], [&](size_t later) {
        return later > n && later < tiled.end && !rows[later - tiled.first].computed.empty();
      });
      if (!is_read_later) live -= bytes_of(value, rows_of(value).count(), tiled.axis);
    }
  }
  return result;
}

std::vector<size_t> TileChooser::nodes_to_keep(const TiledNodes& tiled, const std::vector<ValueId>& outputs,
                                               Halo halo) const {
  const Graph& graph = this->graph();
  const int64_t strip = tiled.strips / 2;
  const double most_ms = halo == Halo::mostly_kept ? 4 : 1;  // time of keeping, relative to computing twice
  std::vector<size_t> kept;
  // For each value: the time of everything that is computed twice from it on, up to nodes that keep their
  // rows.
  std::unordered_map<ValueId, double> twice;
  const auto keep = [&](size_t n, const Rows& again, const Rows& wanted) {
    const Node& node = graph.nodes[n];
    double ms = costs_.node_ms[n] * static_cast<double>(std::min(again.end, wanted.end) - again.begin) /
                static_cast<double>(reads_.rows.row_count(n));
    for (const ValueId output : node.outputs)
      if (output != kNoValue) ms += twice[output];
    const bool keeps = most_ms * ms > keep_ms(n, again.count(), wanted.count());
    if (keeps) kept.push_back(n);
    for (const ValueId input : node.inputs)
      if (input != kNoValue && !keeps) twice[input] = std::max(twice[input], ms);
    return keeps;
  };
  rows_of_strip(reads_.rows, tiled, outputs, strip, rows_of_strip(reads_.rows, tiled, outputs, strip - 1, {}),
                keep);
  std::reverse(kept.begin(), kept.end());
  return kept;
}

TileChooser::Run TileChooser::estimate(const TiledNodes& tiled, const std::vector<ValueId>& outputs) const {
  const Strip first = estimate_strip(tiled, outputs, 0);
  const Strip last = estimate_strip(tiled, outputs, tiled.strips - 1);
  const Strip middle = tiled.strips > 2 ? estimate_strip(tiled, outputs, tiled.strips / 2) : first;
  Run run{std::max({first.peak, middle.peak, last.peak}), first.ms + last.ms};
  run.added_ms += static_cast<double>(tiled.strips - 2) * middle.ms;
  for (size_t n = tiled.first; n < tiled.end; ++n) run.added_ms -= costs_.node_ms[n];
  run.peak += live_before_[tiled.first];
  for (const ValueId output : outputs)
    if (!is_output_[output]) run.peak += whole_bytes(output);
  return run;
}

const TileChooser::Run& TileChooser::run(const TiledNodes& tiled, Halo halo,
                                         const std::vector<ValueId>& outputs) {
  const auto [entry, is_new] = runs_.try_emplace({tiled.first, tiled.end, tiled.strips, halo, tiled.axis});
  if (!is_new) return entry->second;
  TiledNodes chosen = tiled;
  if (halo != Halo::computed) chosen.kept = nodes_to_keep(tiled, outputs, halo);
  // If no node should keep rows, the run is that of Halo::computed.
  if (halo == Halo::computed || !chosen.kept.empty()) entry->second = estimate(chosen, outputs);
  entry->second.kept = std::move(chosen.kept);
  return entry->second;
}

void TileChooser::extend_by_run(TiledNodes tiled, uint64_t bytes, Halo halo,
                                const std::vector<ValueId>& outputs, int64_t most_strips,
                                std::vector<Step>& steps) {
  const auto attempt = [&](int64_t strips) {
    tiled.strips = strips;
    const Run& found = run(tiled, halo, outputs);
    if (found.peak > bytes) return false;
    const double added = steps[tiled.first].added_ms + std::max(0.0, found.added_ms);
    Step& step = steps[tiled.end];
    if (step.reached && added >= step.added_ms) return true;
    step = {true, added, tiled};
    step.from.kept = found.kept;
    return true;
  };
  for (const int64_t strips : kStripCounts)
    if (strips > most_strips || attempt(strips)) break;
}

// Extends `steps` by every run from `first` on that contains a node with too many bytes.
void TileChooser::extend_by_runs(size_t first, uint64_t bytes, Halo most, ImageAxis axis,
                                 std::vector<Step>& steps) {
  const RowReads& reads = reads_.along(axis);
  if (axis == ImageAxis::images) most = Halo::computed;
  bool is_needed = false;
  int64_t fewest_rows = INT64_MAX;
  for (size_t end = first + 1; end < steps.size() && end - first <= kLongestRun; ++end) {
    if (!can_tile(reads, end - 1, end) || !can_tile(reads, first, end)) return;
    fewest_rows = std::min(fewest_rows, reads.row_count(end - 1));
    is_needed = is_needed || node_peaks_[end - 1] > bytes;
    if (!is_needed || end - first < 2) continue;
    const std::vector<ValueId> outputs = outputs_of(reads, first, end);
    uint64_t whole = live_before_[first];
    for (const ValueId output : outputs)
      if (!is_output_[output]) whole += whole_bytes(output);
    if (whole > bytes || outputs.empty()) continue;
    for (const Halo halo : {Halo::computed, Halo::kept, Halo::mostly_kept}) {
      if (halo > most) break;
      // Some strips would compute no row of a layer that keeps its rows; then a strip in the middle is not
      // representative.
      const int64_t rows = vellum::most_strips(reads, outputs);
      extend_by_run({.first = first, .end = end, .axis = axis}, bytes, halo, outputs,
                    halo == Halo::computed ? rows : std::min(rows, fewest_rows), steps);
    }
  }
}

std::optional<TileChooser::Choice> TileChooser::quickest(uint64_t bytes, Halo halo) {
  const size_t count = graph().nodes.size();
  std::vector<Step> steps(count + 1);
  steps[0].reached = true;
  for (size_t n = 0; n < count; ++n) {
    if (!steps[n].reached) continue;
    const bool fits = node_peaks_[n] <= bytes;
    if (fits && (!steps[n + 1].reached || steps[n].added_ms < steps[n + 1].added_ms))
      steps[n + 1] = {true, steps[n].added_ms, {n, n + 1, 1}};
    for (const ImageAxis axis : {ImageAxis::rows, ImageAxis::images})
      extend_by_runs(n, bytes, halo, axis, steps);
  }
  if (!steps[count].reached) return std::nullopt;
  Tiling tiling;
  for (size_t at = count; at > 0; at = steps[at].from.first)
    if (steps[at].from.strips > 1) tiling.push_back(steps[at].from);
  std::reverse(tiling.begin(), tiling.end());
  return Choice{std::move(tiling), steps[count].added_ms};
}

}  // namespace vellum
