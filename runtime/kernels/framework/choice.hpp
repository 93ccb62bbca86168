// Which kernel candidate computes an operator, and what was measured on the device of each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/framework/candidate.hpp"
#include "vellum/options.hpp"

namespace vellum {

// Microseconds that an operator took with each candidate, by KernelName::text().
using CandidateTimes = std::map<std::string, double, std::less<>>;

// What `vellum tune` found out on one device with one driver. A plain value: tune/table_file.hpp reads and
// writes it.
struct TuningTable {
  // By the signature of an operator: everything that decides how fast it is (Choice::signature).
  std::map<std::string, CandidateTimes, std::less<>> operators;
  // By network_fingerprint(): what holds each value of the graph, by ValueId. Only there where a mixture, or
  // another one than StorageChoice::automatic means, was quicker.
  std::map<std::string, std::vector<StorageChoice>, std::less<>> storages;

  bool empty() const { return operators.empty() && storages.empty(); }
};

// A choice that was to be made when a network was lowered.
struct Choice {
  size_t node = 0;  // in graph.nodes
  std::string signature;
  std::vector<KernelName> candidates;  // by predicted cost, the least first
  size_t taken = 0;
};

// The candidate that was measured to be the quickest, where it is clearly quicker than the first; else the
// first. Candidates that only the table or only the kernel knows do not count.
size_t quickest(const TuningTable* table, std::string_view signature, std::span<const KernelName> candidates);

// The numbers of the candidates, the least predicted cost first, and of equal ones the first.
std::vector<size_t> by_predicted_cost(std::span<const KernelPrediction> predictions);

// Of times that noise may order either way, the first candidate's counts.
inline constexpr double kClearlyQuicker = 0.97;

}  // namespace vellum
