// Runs a network on examples: ranges of its values, and errors between two networks.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "graph/graph.hpp"
#include "quantize/range.hpp"
#include "vellum/device.hpp"
#include "vellum/quantize.hpp"

namespace vellum::quantization {

// The examples of a calibration, and the callback that reports its progress.
struct Examples {
  const Device& device;
  size_t count;
  const QuantizeExample& example;
  const std::function<void(std::string_view stage, size_t done, size_t total)>& progress;
};

// Runs `graph` on each example and calls `visit` with its outputs by name.
using Visit = std::function<void(const std::map<std::string, HostTensor>& outputs)>;
void run_on_examples(const Graph& graph, const Examples& examples, std::string_view stage,
                     const Visit& visit);

// Returns the range of each of `values` of the graph, by the method of `options`.
std::map<ValueId, Range> find_ranges(const Graph& graph, const std::vector<ValueId>& values,
                                     const Examples& examples, const QuantizeOptions& options);

// The power of a signal and of the noise in it, and the mean of the noise for each channel.
struct Errors {
  double signal = 0.0, noise = 0.0;
  uint64_t elements = 0;
  std::vector<double> channel_sums;  // of signal - noisy

  void add(const HostTensor& exact, const HostTensor& noisy, size_t channel_axis);
  double ratio() const;  // in decibels
  double error() const;  // as a fraction of the root mean square of the signal
  HostTensor channel_means() const;
};

}  // namespace vellum::quantization
