// Pairwise testing: chooses few of many runs of a test, so that every pair of parameter values still occurs.
#pragma once

#include <cstddef>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace vellum::test {

struct CandidateRun {
  std::set<std::string> covers;   // names of what the run tests: a value of a parameter, a pair of values
  std::set<std::string> kernels;  // names of what the driver compiles for it, unless an earlier run has it
};

// Chooses runs among the candidates of one case after the other.
class CoveringRuns {
 public:
  // Returns the indices of runs, ascending, that cover what any of these covers and no run that was chosen
  // before. Takes the run that adds most for the kernels that are compiled for it until nothing is missing
  // (greedy weighted set cover): few runs remain, and few kernels.
  std::vector<size_t> choose(std::span<const CandidateRun> runs);

 private:
  std::set<std::string> covered_, compiled_;
};

}  // namespace vellum::test
