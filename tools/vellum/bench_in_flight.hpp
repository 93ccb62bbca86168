// Times inferences while others are in flight.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "inputs.hpp"
#include "vellum/vellum.hpp"

namespace vellum::cli {

// Milliseconds per inference, including copies of inputs and outputs: the mean of a round, and of several
// rounds the smallest mean.
struct Throughput {
  uint32_t in_flight = 0;
  double alone = 0;     // each run is waited for before the next is submitted
  double together = 0;  // with the given number of runs in flight
};

// `runs`: number of runs in a round.
Throughput measure_in_flight(Session& session, const Inputs& inputs, uint32_t in_flight, size_t runs);

nlohmann::json to_json(const Throughput& throughput);
std::string to_text(const Throughput& throughput);

}  // namespace vellum::cli
