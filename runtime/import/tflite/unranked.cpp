#include "import/tflite/unranked.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

namespace vellum::tflite {
namespace {

constexpr size_t kImageRank = 4;

template <size_t count>
bool is_one_of(std::string_view type, const std::array<std::string_view, count>& list) {
  return std::find(list.begin(), list.end(), type) != list.end();
}

constexpr std::array<std::string_view, 9> kOfImages{"AVERAGE_POOL_2D",
                                                    "MAX_POOL_2D",
                                                    "L2_POOL_2D",
                                                    "CONV_2D",
                                                    "DEPTHWISE_CONV_2D",
                                                    "TRANSPOSE_CONV",
                                                    "RESIZE_BILINEAR",
                                                    "RESIZE_NEAREST_NEIGHBOR",
                                                    "LOCAL_RESPONSE_NORMALIZATION"};

constexpr std::array<std::string_view, 45> kElementwise{"ADD",
                                                        "SUB",
                                                        "MUL",
                                                        "DIV",
                                                        "POW",
                                                        "MAXIMUM",
                                                        "MINIMUM",
                                                        "RELU",
                                                        "RELU6",
                                                        "RELU_N1_TO_1",
                                                        "LOGISTIC",
                                                        "TANH",
                                                        "HARD_SWISH",
                                                        "ELU",
                                                        "EXP",
                                                        "LOG",
                                                        "SQRT",
                                                        "RSQRT",
                                                        "SQUARE",
                                                        "ABS",
                                                        "NEG",
                                                        "SIGN",
                                                        "SIN",
                                                        "COS",
                                                        "FLOOR",
                                                        "CEIL",
                                                        "ROUND",
                                                        "PRELU",
                                                        "GELU",
                                                        "LEAKY_RELU",
                                                        "SQUARED_DIFFERENCE",
                                                        "FLOOR_DIV",
                                                        "FLOOR_MOD",
                                                        "QUANTIZE",
                                                        "DEQUANTIZE",
                                                        "CAST",
                                                        "EQUAL",
                                                        "NOT_EQUAL",
                                                        "LESS",
                                                        "LESS_EQUAL",
                                                        "GREATER",
                                                        "GREATER_EQUAL",
                                                        "SOFTMAX",
                                                        "LOG_SOFTMAX",
                                                        "FAKE_QUANT"};

// Returns the last dimension of a result: of the weights of a convolution, or of the inputs.
int64_t channels_of_result(const Call& call, size_t rank) {
  const Writer& writer = call.writer;
  const bool is_depthwise = call.type == "DEPTHWISE_CONV_2D";
  if (is_depthwise || call.type == "CONV_2D" || call.type == "TRANSPOSE_CONV") {
    const Shape& weights = writer.type(call.input(1)).shape;
    return weights.size() == kImageRank ? weights[is_depthwise ? 3 : 0] : kUnknownDim;
  }
  int64_t channels = kUnknownDim;
  const size_t most = is_one_of(call.type, kElementwise) ? call.inputs.size() : 1;
  for (size_t i = 0; i < most; ++i) {
    const Shape& shape = writer.type(call.input(i)).shape;
    if (shape.empty()) continue;
    if (shape.back() == kUnknownDim && shape.size() == rank) return kUnknownDim;
    channels = std::max(channels, shape.back());
  }
  return channels;
}

// Returns the number of dimensions of the result; 0 where it is not certain.
size_t rank_of_result(const Call& call) {
  const Writer& writer = call.writer;
  if (is_one_of(call.type, kOfImages)) return kImageRank;
  if (call.type == "PAD" || call.type == "MIRROR_PAD" || call.type == "PADV2" || call.type == "CONCATENATION")
    return writer.rank(call.input(0));
  if (!is_one_of(call.type, kElementwise)) return 0;
  size_t rank = 0;
  for (size_t i = 0; i < call.inputs.size(); ++i) rank = std::max(rank, writer.rank(call.input(i)));
  return rank;
}

int64_t sum_of_channels(const Call& call, size_t rank) {
  int64_t sum = 0;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    const Shape& shape = call.writer.type(call.input(i)).shape;
    if (shape.size() != rank || shape.back() == kUnknownDim) return kUnknownDim;
    sum = checked_add(sum, shape.back());
  }
  return sum;
}

// Returns the last dimension after padding.
int64_t padded_channels(const Call& call, size_t rank) {
  const HostTensor* pads = call.writer.constant(call.input(1));
  const Ints amounts = pads == nullptr || is_float(pads->dtype()) ? Ints{} : pads->to_ints();
  const int64_t channels = call.writer.type(call.input(0)).shape.back();
  if (amounts.size() != 2 * rank || channels == kUnknownDim) return kUnknownDim;
  return checked_add(channels, checked_add(amounts[2 * rank - 2], amounts[2 * rank - 1]));
}

// Returns the shape after a reduction; empty where it is not certain.
Shape reduced_shape(const Call& call) {
  const HostTensor* axes = call.writer.constant(call.input(1));
  const Shape& from = call.writer.type(call.input(0)).shape;
  if (axes == nullptr || is_float(axes->dtype()) || from.empty()) return {};
  const auto* options = call.options<schema::ReducerOptions>();
  Shape shape = from;
  for (const int64_t axis : axes->to_ints()) shape[normalize_axis(axis, from.size())] = 1;
  if (options != nullptr && options->keep_dims()) return shape;
  std::set<size_t> gone;
  for (const int64_t axis : axes->to_ints()) gone.insert(normalize_axis(axis, from.size()));
  for (auto axis = gone.rbegin(); axis != gone.rend(); ++axis)
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(*axis));
  return shape;
}

// Returns the open shape of a result with as many dimensions as the new shape, or the permutation, has
// entries.
Shape shape_of_entries(const Call& call) {
  if (!call.has_input(1)) return {};
  const Shape& entries = call.writer.type(call.input(1)).shape;
  if (entries.size() != 1 || entries[0] == kUnknownDim || entries[0] > static_cast<int64_t>(kMostDims))
    return {};
  return Shape(static_cast<size_t>(entries[0]), kUnknownDim);
}

// Returns the open shape of what STRIDED_SLICE takes, whose masks have a bit for each of `entries`.
Shape strided_shape(const Call& call) {
  const auto* options = call.options<schema::StridedSliceOptions>();
  const Shape& entries = call.writer.type(call.input(3)).shape;
  if (options == nullptr || entries.size() != 1 || entries[0] > 31) return {};
  int64_t rank = static_cast<int64_t>(call.writer.rank(call.input(0)));
  for (int64_t i = 0; i < entries[0]; ++i) {
    const auto is_set = [&](int32_t mask) { return (mask >> i & 1) != 0; };
    if (is_set(options->ellipsis_mask())) continue;
    rank += is_set(options->new_axis_mask()) ? 1 : is_set(options->shrink_axis_mask()) ? -1 : 0;
  }
  return Shape(static_cast<size_t>(std::max<int64_t>(rank, 0)), kUnknownDim);
}

Shape joined_shape(const Call& call, size_t rank) {
  Shape shape(rank, kUnknownDim);
  if (rank == 0) return shape;
  const auto* options = call.options<schema::ConcatenationOptions>();
  const int64_t axis = options == nullptr ? 0 : options->axis();
  const bool joins_channels = axis == -1 || axis == static_cast<int64_t>(rank) - 1;
  shape.back() = joins_channels ? sum_of_channels(call, rank) : channels_of_result(call, rank);
  return shape;
}

// Returns the shape of the result; empty for a scalar, and where it is not certain.
Shape shape_of_result(const Call& call) {
  const std::string& type = call.type;
  if (type == "MEAN" || type == "SUM" || type.starts_with("REDUCE_")) return reduced_shape(call);
  if (type == "SHAPE") return {static_cast<int64_t>(call.writer.rank(call.input(0)))};
  if (type == "PACK") return Shape(call.writer.rank(call.input(0)) + 1, kUnknownDim);
  if (type == "STRIDED_SLICE") return strided_shape(call);
  if (type == "RESHAPE" || type == "TRANSPOSE" || type == "TILE" || type == "SLICE")
    return shape_of_entries(call);
  const size_t rank = rank_of_result(call);
  if (type == "CONCATENATION") return joined_shape(call, rank);
  Shape shape(rank, kUnknownDim);
  if (rank > 0) {
    const bool pads = type == "PAD" || type == "PADV2" || type == "MIRROR_PAD";
    shape.back() = pads ? padded_channels(call, rank) : channels_of_result(call, rank);
  }
  return shape;
}

}  // namespace

void find_ranks(const Call& call) {
  if (call.outputs.size() != 1 || !call.writer.lacks_rank(call.output())) return;
  call.writer.set_open_shape(call.output(), shape_of_result(call));
}

}  // namespace vellum::tflite
