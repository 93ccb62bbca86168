#include "quantize/calibration.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "api/impl.hpp"
#include "vellum/session.hpp"

namespace vellum::quantization {
namespace {

constexpr size_t kBins = 2048;

Graph with_outputs(const Graph& graph, const std::vector<ValueId>& values) {
  Graph result = graph;
  for (const ValueId id : values)
    if (std::ranges::count(result.outputs, id) == 0) result.outputs.push_back(id);
  return result;
}

// The values of inputs are those of the example; the session has none of its own for them.
const HostTensor& value_of(const std::map<std::string, HostTensor>& outputs, const Graph& graph, ValueId id) {
  return outputs.at(graph.values[id].name);
}

}  // namespace

void run_on_examples(const Graph& graph, const Examples& examples, std::string_view stage,
                     const Visit& visit) {
  // A graph input cannot be an output: its values are added below.
  Graph network = graph;
  std::erase_if(network.outputs, [&](ValueId id) { return std::ranges::count(network.inputs, id) > 0; });
  const Model model = Handles::model(std::make_shared<const Model::Impl>(std::move(network)));
  Session session(examples.device, model);
  for (size_t i = 0; i < examples.count; ++i) {
    if (examples.progress) examples.progress(stage, i, examples.count);
    const InputTensors inputs = examples.example(i);
    std::map<std::string, HostTensor> outputs = session.run(inputs);
    outputs.insert(inputs.begin(), inputs.end());
    visit(outputs);
  }
  if (examples.progress) examples.progress(stage, examples.count, examples.count);
}

std::map<ValueId, Range> find_ranges(const Graph& graph, const std::vector<ValueId>& values,
                                     const Examples& examples, const QuantizeOptions& options) {
  const Graph network = with_outputs(graph, values);
  std::map<ValueId, Range> ranges;
  run_on_examples(network, examples, "ranges", [&](const auto& outputs) {
    for (const ValueId id : values) ranges[id].include(value_of(outputs, graph, id).template as<float>());
  });
  if (options.ranges == QuantizeRanges::minmax) return ranges;
  std::map<ValueId, Histogram> histograms;
  for (const auto& [id, range] : ranges)
    histograms[id] = {range.low, range.high, std::vector<uint64_t>(kBins, 0)};
  run_on_examples(network, examples, "histograms", [&](const auto& outputs) {
    for (auto& [id, histogram] : histograms) histogram.add(value_of(outputs, graph, id).template as<float>());
  });
  for (const auto& [id, histogram] : histograms)
    ranges[id] = chosen_range(histogram, options.ranges, options.percentile);
  return ranges;
}

void Errors::add(const HostTensor& exact, const HostTensor& noisy, size_t channel_axis) {
  const auto a = exact.to_floats(), b = noisy.to_floats();
  const Shape& shape = exact.shape();
  const bool has_channels = channel_axis < shape.size();
  int64_t inner = 1;
  for (size_t i = channel_axis + 1; i < shape.size(); ++i) inner *= shape[i];
  if (has_channels) channel_sums.resize(static_cast<size_t>(shape[channel_axis]), 0.0);
  for (size_t i = 0; i < a.size(); ++i) {
    const double difference = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    signal += static_cast<double>(a[i]) * static_cast<double>(a[i]);
    noise += difference * difference;
    if (has_channels)
      channel_sums[static_cast<size_t>(static_cast<int64_t>(i) / inner % shape[channel_axis])] += difference;
  }
  elements += a.size();
}

double Errors::ratio() const {
  return noise > 0 ? 10 * std::log10(signal / noise) : std::numeric_limits<double>::infinity();
}

double Errors::error() const {
  if (noise <= 0) return 0.0;
  return signal > 0 ? std::sqrt(noise / signal) : std::numeric_limits<double>::infinity();
}

HostTensor Errors::channel_means() const {
  const double of_channel =
      static_cast<double>(elements) / static_cast<double>(std::max<size_t>(channel_sums.size(), 1));
  std::vector<float> means;
  for (const double sum : channel_sums) means.push_back(static_cast<float>(sum / std::max(of_channel, 1.0)));
  return HostTensor::f32({static_cast<int64_t>(means.size())}, means);
}

}  // namespace vellum::quantization
