// Times inferences while others are under way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "inputs.hpp"
#include "vellum/vellum.hpp"

namespace vellum::cli {

// Milliseconds for each inference, inputs and outputs copied: the least over several rounds of the mean of
// one.
struct Throughput {
  uint32_t in_flight = 0;
  double alone = 0;     // each waited for before the next is submitted
  double together = 0;  // that many under way at any time
};

// `runs`: in a round.
Throughput measure_in_flight(Session& session, const Inputs& inputs, uint32_t in_flight, size_t runs);

nlohmann::json to_json(const Throughput& throughput);
std::string to_text(const Throughput& throughput);

}  // namespace vellum::cli
