// MelWeightMatrix: triangular filters on the mel scale, computed from five numbers.
// https://onnx.ai/onnx/operators/onnx__MelWeightMatrix.html
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "graph/composed.hpp"
#include "graph/onnx_types.hpp"

namespace vellum {
namespace {

double to_mel(double hertz) { return 2595 * std::log10(1 + hertz / 700); }
double to_hertz(double mel) { return 700 * (std::pow(10, mel / 2595) - 1); }

double number(Inputs inputs, size_t i, std::string_view what) {
  const HostTensor& tensor = constant_input(inputs, i, what);
  if (tensor.elements() != 1) refuse_model("input '" + std::string(what) + "' is not one number");
  return static_cast<double>(cast(tensor, DType::f64).as<double>()[0]);
}

HostTensor mel_weights(Inputs inputs, DType dtype) {
  const double bands = number(inputs, 0, "num_mel_bins"), length = number(inputs, 1, "dft_length");
  const double rate = number(inputs, 2, "sample_rate");
  const double low = number(inputs, 3, "lower_edge_hertz"), high = number(inputs, 4, "upper_edge_hertz");
  constexpr double kMost = 1 << 24;
  if (!(bands >= 1 && bands < kMost && length >= 1 && length < kMost && rate > 0 && low >= 0 && high >= low &&
        high * (length + 1) / rate < kMost))
    refuse_model("the bands of a mel matrix are out of range");
  const auto columns = static_cast<int64_t>(bands), rows = static_cast<int64_t>(length) / 2 + 1;
  const double step = (to_mel(high) - to_mel(low)) / (bands + 2);
  std::vector<int64_t> edges;
  for (int64_t i = 0; i < columns + 2; ++i)
    edges.push_back(static_cast<int64_t>(
        std::floor((length + 1) * to_hertz(static_cast<double>(i) * step + to_mel(low)) / rate)));
  if (edges.back() > rows) refuse_model("the upper edge is beyond half the sample rate");
  const Shape shape{rows, columns};
  std::vector<float> weights(Body::table_size(shape), 0.0f);
  const auto set = [&](int64_t row, int64_t column, int64_t part, int64_t whole) {
    if (row < rows)
      weights[static_cast<size_t>(row * columns + column)] =
          static_cast<float>(part) / static_cast<float>(whole);
  };
  for (int64_t column = 0; column < columns; ++column) {
    const auto* edge = edges.data() + column;
    if (edge[1] == edge[0]) set(edge[1], column, 1, 1);
    for (int64_t row = edge[0]; row <= edge[1] && edge[1] > edge[0]; ++row)
      set(row, column, row - edge[0], edge[1] - edge[0]);
    for (int64_t row = edge[1]; row < edge[2]; ++row) set(row, column, edge[2] - row, edge[2] - edge[1]);
  }
  return HostTensor::from<float>(dtype, shape, weights);
}

}  // namespace

std::shared_ptr<const Operator> make_mel_weights(const NodeSpec& spec) {
  const DType dtype = dtype_from_onnx(spec.attributes->get_int("output_datatype", 1));
  return composed(
      spec, [dtype](Body& body) { body.output(body.constant(mel_weights(body.rule_inputs(), dtype))); });
}

}  // namespace vellum
