// The models that the tests fetch, with an input and what ONNX Runtime computes from it (see setup.sh and
// oracles/).
#pragma once

#include <filesystem>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "graph/tensor.hpp"

namespace vellum::test {

struct FetchedModel {
  std::string name;  // folder under references/
  std::string file;  // under models/

  std::filesystem::path model() const;
  HostTensor input() const;
  HostTensor output(const std::string& output_name) const;
  // The same mathematics rounded in another order: by ONNX Runtime without its optimiser.
  HostTensor output_rounded_otherwise(const std::string& output_name) const;
};

inline void PrintTo(const FetchedModel& model, std::ostream* out) { *out << model.name; }

// BlazeFace front and back, and M-LSD tiny.
const std::vector<FetchedModel>& fetched_models();

}  // namespace vellum::test
