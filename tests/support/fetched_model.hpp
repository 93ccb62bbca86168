// The models that the tests fetch, each with an input and the outputs of an independent engine for it: the
// cases of tests/models.json, whose files setup.sh and oracles/ put into the test data.
#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "support/rounding.hpp"
#include "vellum/tensor.hpp"

namespace vellum::test {

// How long a model takes in tests. Small models run in all storages and precisions.
enum class SizeClass : uint8_t { small, medium, large };

// How to decode a network's outputs to the answer that a user sees (boxes, a mask, ...); see
// e2e/decision.hpp.
struct Decision {
  std::string kind;                  // boxes, mask, lines, landmarks, text, classes, classes_of_best
  std::vector<std::string> outputs;  // the outputs that it is decoded from; empty: the only output
  std::vector<std::string> boxes;    // for boxes: the regressions, beside their scores in `outputs`
  double box_overlap = 0.9;          // for boxes: the least overlap of two boxes that count as equal
  std::vector<int> strides;          // for boxes: the stride of each anchor at a cell, in pixels
  double threshold = 0;              // for masks
  int side = 0;                      // pixels that coordinates are relative to
};

// An output that keeps the local maxima of a map and is zero elsewhere. If a neighbour is equally large up to
// rounding, the element may be kept or zero. Its last dimensions are height and width; all others are 1.
struct Suppression {
  std::string of;      // the map's name in the model
  int64_t window = 3;  // side of the neighbourhood
};

struct FetchedModel {
  std::string name;   // of the case: its folder under references/
  std::string title;  // of the model
  std::string file;   // under models/
  std::string licence;
  SizeClass size_class = SizeClass::small;
  Decision decision;
  // By output: how far rounding moves it, in the order of Rounding (rounding.json).
  std::map<std::string, std::array<Distance, 3>> spread;
  std::map<std::string, Suppression> suppressed;  // by output
  std::vector<std::string> host_operators;        // operators without a kernel, about which sessions warn

  bool is_onnx() const { return file.ends_with(".onnx"); }
  std::filesystem::path model() const;
  HostTensor input() const;
  HostTensor output(const std::string& output_name) const;
  // Returns the reference values of an output in `suppressed`, before its suppression.
  HostTensor before_suppression(const std::string& output_name) const;
};

inline void PrintTo(const FetchedModel& model, std::ostream* out) { *out << model.name; }

// A quantised model that the tests make from a case's model (oracles/make_quantised.mjs).
struct QuantisedModel {
  struct Grid {
    float scale = 1;
    int zero_point = 0;
  };

  FetchedModel source;
  std::string scheme;  // int8: weights have a scale per channel; uint8: one scale for all

  std::filesystem::path model() const;
  std::map<std::string, Grid> grids() const;  // of inputs and outputs
  HostTensor input() const;                   // in floating point, on the grid
  // The reference in floating point: LiteRT's results in integers, or in floats from the same weights.
  HostTensor output_of_integers(const std::string& output_name) const;
  HostTensor output_of_floats(const std::string& output_name) const;
};

inline void PrintTo(const QuantisedModel& model, std::ostream* out) {
  *out << model.source.name << "_" << model.scheme;
}

std::vector<QuantisedModel> quantised_models();

// A file of references/<name>/, and one that holds floats.
std::filesystem::path reference_file(const std::string& name, const std::string& file);
HostTensor reference_tensor(const std::string& name, const std::string& file);

// The models of the table up to a size class.
std::vector<FetchedModel> fetched_models(SizeClass largest);
// BlazeFace front and back, and M-LSD tiny, which are fast on the host, too.
std::vector<FetchedModel> small_fetched_models();
const FetchedModel& fetched_model(const std::string& name);

}  // namespace vellum::test
