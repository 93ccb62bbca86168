#include "passes/tile/picture_parts.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "graph/operators/movement/depth_to_space.hpp"
#include "graph/operators/movement/resize.hpp"
#include "passes/tile/row_reads.hpp"
#include "passes/tile/window_rows.hpp"
#include "vellum/error.hpp"

namespace vellum {
namespace {

constexpr int64_t kLargestDenominator = 16;  // of a Resize's scale

size_t image_dimension(ImageAxis axis) { return 2 + static_cast<size_t>(axis); }

// Rows of a value for each row of the inputs.
struct Ratio {
  int64_t rows = 1, of = 1;

  Ratio times(const Ratio& other) const {
    const int64_t a = rows * other.rows, b = of * other.of, common = std::gcd(a, b);
    return {a / common, b / common};
  }
  bool operator==(const Ratio&) const = default;
};

[[noreturn]] void refuse(const Node& node, const std::string& why) {
  throw Error(ErrorCode::unsupported, describe(node) + ": " + why);
}

// A scale as a fraction. One that is none gives another graph's rows, which divide_picture() finds.
Ratio fraction(float scale) {
  for (int64_t of = 1; of <= kLargestDenominator; ++of) {
    const double rows = std::round(static_cast<double>(scale) * static_cast<double>(of));
    if (rows >= 1 && std::abs(static_cast<double>(scale) * static_cast<double>(of) - rows) < 1e-3)
      return Ratio{static_cast<int64_t>(rows), of}.times({});
  }
  return {};
}

const Resize* as_resize(const Node& node) { return dynamic_cast<const Resize*>(node.op.get()); }

std::vector<ResizeTaps> taps_of(const Graph& graph, const Node& node, ImageAxis axis) {
  const Resize& resize = *as_resize(node);
  return resize.taps(resize.geometry(operator_inputs(graph, node)), image_dimension(axis));
}

// Rows of the outputs for each row of input 0.
Ratio ratio_of(const Graph& graph, const Node& node, ImageAxis axis) {
  const auto at = static_cast<size_t>(axis);
  if (const std::optional<WindowPlacement> window = row_window(graph, node)) {
    const bool transposed = dynamic_cast<const ConvTranspose*>(node.op.get()) != nullptr;
    return transposed ? Ratio{window->strides[at], 1} : Ratio{1, window->strides[at]};
  }
  if (const auto* to_space = dynamic_cast<const DepthToSpace*>(node.op.get())) return {to_space->block, 1};
  if (const auto* to_depth = dynamic_cast<const SpaceToDepth*>(node.op.get())) return {1, to_depth->block};
  if (const Resize* resize = as_resize(node))
    return fraction(resize->geometry(operator_inputs(graph, node)).scales[image_dimension(axis)]);
  return {};
}

bool is_same_element(const ResizeTaps& a, const ResizeTaps& b, int64_t b_is_further_by) {
  return a.outside == b.outside && a.taps.size() == b.taps.size() &&
         std::equal(a.taps.begin(), a.taps.end(), b.taps.begin(),
                    [&](const ResizeTap& x, const ResizeTap& y) {
                      return x.index + b_is_further_by == y.index && x.weight == y.weight;
                    });
}

// A local network: the ratio of each value's size to that of the inputs.
class Network {
 public:
  Network(const Graph& graph, ImageAxis axis) : graph_(graph), axis_(axis), reads_(graph, {}, {}, axis) {
    for (const ValueId input : graph.inputs) {
      const TensorType& type = graph.values[input].type;
      if (!is_float(type.dtype) || type.shape.size() != 4)
        throw Error(ErrorCode::unsupported, "input '" + graph.values[input].name + "' of " +
                                                to_string(type.shape) + " is no image of floats");
      if (rows_of(input) != rows_of(graph.inputs[0]))
        throw Error(ErrorCode::unsupported, "input '" + graph.values[input].name + "' of " +
                                                to_string(type.shape) + " has another size than '" +
                                                graph.values[graph.inputs[0]].name + "'");
    }
    ratios_.resize(graph.values.size());
    for (size_t n = 0; n < graph.nodes.size(); ++n) add_ratios(n);
    for (const ValueId output : graph.outputs)
      if (graph.constant(output))
        throw Error(ErrorCode::unsupported, "output '" + graph.values[output].name + "' is a constant");
  }

  const Graph& graph() const { return graph_; }
  const RowReads& reads() const { return reads_; }
  ImageAxis axis() const { return axis_; }
  int64_t rows_of(ValueId value) const { return reads_.value_rows(value); }
  const Ratio& ratio(ValueId value) const { return ratios_[value]; }
  bool is_picture(ValueId value) const { return value != kNoValue && !graph_.constant(value); }

  int64_t alignment() const {
    int64_t alignment = 1;
    for (const Ratio& ratio : ratios_) alignment = std::lcm(alignment, ratio.of);
    return alignment;
  }

 private:
  const char* name() const { return axis_ == ImageAxis::rows ? "rows" : "columns"; }

  // Layers with a window or a scale have more rows for larger pictures; others that have one, such as means,
  // do not.
  bool reads_whole_pictures(const Node& node) const {
    if (row_window(graph_, node) || as_resize(node) || dynamic_cast<const SpaceToDepth*>(node.op.get()))
      return false;
    return std::ranges::any_of(node.inputs, [&](ValueId input) {
      return is_picture(input) && graph_.values[input].type.shape.size() == 4 && rows_of(input) >= 2;
    });
  }

  std::string why_not(const Node& node) const {
    for (const ValueId output : node.outputs) {
      if (output == kNoValue || graph_.values[output].type.shape.size() != 4 || rows_of(output) > 1) continue;
      if (reads_whole_pictures(node))
        return std::string("reads all ") + name() +
               " of its input, however large the picture is: such a network cannot run in tiles";
      return std::string("has too few ") + name() + " to be divided; take larger pictures and tiles";
    }
    return std::string("cannot be computed from some of the ") + name() + " of its inputs";
  }

  void add_ratios(size_t n) {
    const Node& node = graph_.nodes[n];
    if (!reads_.has_rows(n)) refuse(node, why_not(node));
    std::optional<Ratio> of_inputs;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (!is_picture(node.inputs[i])) continue;
      if (reads_.read(n, i, {0, 1}).whole) refuse(node, std::string("reads all ") + name() + " of an input");
      const Ratio& ratio = ratios_[node.inputs[i]];
      if (of_inputs && *of_inputs != ratio) refuse(node, "its inputs are of other scales");
      of_inputs = ratio;
    }
    for (const ValueId output : node.outputs)
      if (output != kNoValue)
        ratios_[output] = of_inputs.value_or(Ratio{}).times(ratio_of(graph_, node, axis_));
  }

  const Graph& graph_;
  const ImageAxis axis_;
  const RowReads reads_;
  std::vector<Ratio> ratios_;  // per value
};

// The weights of a Resize repeat where its scale is a fraction of small numbers; others are rounded by the
// row's place and differ from part to part.
void check_resizes(const Network& whole, int64_t alignment) {
  for (const Node& node : whole.graph().nodes) {
    if (!as_resize(node)) continue;
    const std::vector<ResizeTaps> taps = taps_of(whole.graph(), node, whole.axis());
    const Ratio &in = whole.ratio(node.inputs[0]), &out = whole.ratio(node.outputs[0]);
    const int64_t in_step = alignment * in.rows / in.of, out_step = alignment * out.rows / out.of;
    const int64_t last = whole.rows_of(node.inputs[0]) - 1;
    const auto is_inside = [&](const ResizeTaps& element) {
      return std::all_of(element.taps.begin(), element.taps.end(),
                         [&](const ResizeTap& tap) { return tap.index > 0 && tap.index < last; });
    };
    for (size_t r = 0; r + static_cast<size_t>(out_step) < taps.size(); ++r) {
      const ResizeTaps &a = taps[r], &b = taps[r + static_cast<size_t>(out_step)];
      if (is_inside(a) && is_inside(b) && !is_same_element(a, b, in_step))
        refuse(node,
               "its weights are rounded otherwise in each part of a picture; nearest, and scales by "
               "fractions of "
               "small numbers without align_corners, are the same everywhere");
    }
  }
}

class Division {
 public:
  Division(const Network& part, const Network& whole)
      : part_(part), whole_(whole), alignment_(whole.alignment()) {
    const Graph &a = part.graph(), &b = whole.graph();
    const bool same =
        a.nodes.size() == b.nodes.size() && a.outputs == b.outputs && a.inputs == b.inputs &&
        std::equal(a.nodes.begin(), a.nodes.end(), b.nodes.begin(), [](const Node& x, const Node& y) {
          return x.op->type() == y.op->type() && x.inputs == y.inputs && x.outputs == y.outputs;
        });
    if (!same)
      throw Error(ErrorCode::unsupported, "the layers of the network depend on the size of the picture");
    for (size_t n = 0; n < a.nodes.size(); ++n) {
      taps_.emplace_back();
      if (as_resize(a.nodes[n]))
        taps_.back() = {taps_of(a, a.nodes[n], part.axis()), taps_of(b, b.nodes[n], part.axis())};
    }
  }

  std::vector<PicturePart> parts() const {
    std::vector<PicturePart> parts;
    const std::vector<ValueId>& outputs = whole_.graph().outputs;
    std::vector<int64_t> done(outputs.size(), 0);
    for (const int64_t begin : begins()) {
      const std::vector<Rows> right = right_rows(begin);
      PicturePart& part = parts.emplace_back(PicturePart{begin, {}, {}});
      for (size_t i = 0; i < outputs.size(); ++i) {
        const int64_t offset = offset_of(outputs[i], begin);
        const Rows& of_part = right[outputs[i]];
        if (of_part.empty() || of_part.begin + offset > done[i] || of_part.end + offset < done[i])
          too_small();
        part.first.push_back(done[i] - offset);
        part.rows.push_back({done[i], of_part.end + offset});
        done[i] = of_part.end + offset;
      }
    }
    for (size_t i = 0; i < outputs.size(); ++i)
      if (done[i] != whole_.rows_of(outputs[i])) too_small();
    return parts;
  }

 private:
  [[noreturn]] void too_small() const {
    throw Error(ErrorCode::invalid_argument,
                "tiles of " + std::to_string(part_.rows_of(part_.graph().inputs[0])) +
                    (part_.axis() == ImageAxis::rows ? " rows" : " columns") +
                    " are no larger than the halo of the network: take larger ones");
  }

  int64_t offset_of(ValueId value, int64_t begin) const {
    const Ratio& ratio = whole_.ratio(value);
    return begin * ratio.rows / ratio.of;
  }

  // Where parts begin: as far apart as one in the middle has right rows.
  std::vector<int64_t> begins() const {
    const ValueId input = whole_.graph().inputs[0];
    const int64_t last = whole_.rows_of(input) - part_.rows_of(input);
    if (last < 0 || last % alignment_ != 0)
      throw Error(ErrorCode::internal, "a part of a picture that does not fit into the whole");
    const int64_t middle = last / 2 / alignment_ * alignment_;
    int64_t step = last;
    if (middle > 0) {
      const std::vector<Rows> right = right_rows(middle);
      for (const ValueId output : whole_.graph().outputs) {
        const Ratio& ratio = whole_.ratio(output);
        step = std::min(step, right[output].count() * ratio.of / ratio.rows);
      }
      step = step / alignment_ * alignment_;
      if (step <= 0) too_small();
    }
    std::vector<int64_t> begins;
    for (int64_t begin = 0; begin < last; begin += step) begins.push_back(begin);
    begins.push_back(last);
    return begins;
  }

  // Per value, the rows of a part that are those of the whole: its layers read the same of them, and these
  // are right.
  std::vector<Rows> right_rows(int64_t begin) const {
    std::vector<Rows> right(part_.graph().values.size());
    for (const ValueId input : part_.graph().inputs) right[input] = {0, part_.rows_of(input)};
    for (size_t n = 0; n < part_.graph().nodes.size(); ++n)
      for (const ValueId output : part_.graph().nodes[n].outputs)
        if (output != kNoValue) right[output] = right_rows_of(n, output, begin, right);
    return right;
  }

  // The longest range of them.
  Rows right_rows_of(size_t n, ValueId output, int64_t begin, const std::vector<Rows>& right) const {
    const int64_t offset = offset_of(output, begin), count = part_.rows_of(output);
    Rows best, range;
    for (int64_t row = 0; row < count; ++row) {
      const bool is_right =
          row + offset < whole_.rows_of(output) && is_right_row(n, row, row + offset, begin, right);
      if (!is_right) {
        range = {};
        continue;
      }
      range = range.empty() ? Rows{row, row + 1} : Rows{range.begin, row + 1};
      if (range.count() > best.count()) best = range;
    }
    return best;
  }

  bool is_right_row(size_t n, int64_t row, int64_t whole_row, int64_t begin,
                    const std::vector<Rows>& right) const {
    const Node& node = part_.graph().nodes[n];
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const ValueId input = node.inputs[i];
      if (!part_.is_picture(input)) continue;
      const int64_t offset = offset_of(input, begin);
      const Rows reads = part_.reads().read(n, i, {row, row + 1}).rows;
      const Rows of_whole = whole_.reads().read(n, i, {whole_row, whole_row + 1}).rows;
      if (Rows{reads.begin + offset, reads.end + offset} != of_whole) return false;
      if (reads.begin < right[input].begin || reads.end > right[input].end) return false;
      if (as_resize(node) && !is_same_element(taps_[n].first[static_cast<size_t>(row)],
                                              taps_[n].second[static_cast<size_t>(whole_row)], offset))
        return false;
    }
    return true;
  }

  const Network &part_, &whole_;
  const int64_t alignment_;
  // Per node that is a Resize: those of the part and of the whole.
  std::vector<std::pair<std::vector<ResizeTaps>, std::vector<ResizeTaps>>> taps_;
};

}  // namespace

int64_t picture_alignment(const Graph& whole, ImageAxis axis) {
  const Network network(whole, axis);
  check_resizes(network, network.alignment());
  return network.alignment();
}

std::vector<PicturePart> divide_picture(const Graph& part, const Graph& whole, ImageAxis axis) {
  const Network of_part(part, axis), of_whole(whole, axis);
  return Division(of_part, of_whole).parts();
}

}  // namespace vellum
