#include "bench_in_flight.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

namespace vellum::cli {
namespace {

constexpr int kRounds = 3;

// The memory that one run's outputs go to, but for those that it keeps.
class Outputs {
 public:
  Outputs(const Session& session, const std::map<std::string, Tensor>& kept) {
    for (const TensorInfo& info : session.outputs())
      if (!kept.contains(info.name)) {
        memory_.emplace_back(static_cast<size_t>(element_count(info.shape)) * size_of(info.dtype));
        values_.push_back({info.name, memory_.back()});
      }
  }
  const std::vector<OutputValues>& values() const { return values_; }

 private:
  std::vector<std::vector<std::byte>> memory_;
  std::vector<OutputValues> values_;
};

class Rounds {
 public:
  Rounds(Session& session, const Inputs& inputs) : session_(session) {
    for (const auto& [name, tensor] : inputs)
      inputs_.push_back({name, {tensor.data(), tensor.byte_size()}, tensor.shape()});
    kept_ = session.submit(inputs_, {}).outputs();
  }

  // Milliseconds for each of the runs.
  double round(uint32_t in_flight, size_t runs) {
    while (outputs_.size() < in_flight) outputs_.emplace_back(session_, kept_);
    using Steady = std::chrono::steady_clock;
    const Steady::time_point start = Steady::now();
    std::vector<Run> under_way(in_flight);
    for (size_t i = 0; i < runs; ++i) {
      Run& place = under_way[i % in_flight];
      if (place.valid()) place.wait();
      place = session_.submit(inputs_, outputs_[i % in_flight].values());
    }
    for (const Run& run : under_way)
      if (run.valid()) run.wait();
    return std::chrono::duration<double, std::milli>(Steady::now() - start).count() /
           static_cast<double>(runs);
  }

 private:
  Session& session_;
  std::vector<InputValues> inputs_;
  std::map<std::string, Tensor> kept_;  // those whose shape is known only after a run
  std::vector<Outputs> outputs_;
};

}  // namespace

// The two take turns, so that what else the machine does falls on both.
Throughput measure_in_flight(Session& session, const Inputs& inputs, uint32_t in_flight, size_t runs) {
  Rounds rounds(session, inputs);
  rounds.round(in_flight, in_flight);  // the first run of each place
  Throughput result{in_flight, 0, 0};
  for (int i = 0; i < kRounds; ++i) {
    const double alone = rounds.round(1, runs), together = rounds.round(in_flight, runs);
    result.alone = i == 0 ? alone : std::min(result.alone, alone);
    result.together = i == 0 ? together : std::min(result.together, together);
  }
  return result;
}

nlohmann::json to_json(const Throughput& throughput) {
  return {
      {"runs", throughput.in_flight}, {"alone_ms", throughput.alone}, {"together_ms", throughput.together}};
}

std::string to_text(const Throughput& throughput) {
  return fmt::format(
      "in flight  {} at once: {:.3f} ms for each, one after another {:.3f} ms (inputs and outputs copied)\n",
      throughput.in_flight, throughput.together, throughput.alone);
}

}  // namespace vellum::cli
