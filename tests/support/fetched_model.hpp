// The models that the tests fetch, each with an input and what an independent engine computes from it: the
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

// How much of its time a test may spend on a model: small ones are swept over everything.
enum class SizeClass : uint8_t { small, medium, large };

// The answer of a network, in the user's terms; see e2e/decision.hpp.
struct Decision {
  std::string kind;                  // boxes, mask, lines, landmarks, text, classes, classes_of_best
  std::vector<std::string> outputs;  // what it is read from; empty: the only output
  std::vector<std::string> boxes;    // for boxes: the regressions, beside their scores in `outputs`
  double box_overlap = 0.9;          // for boxes: of those that are alike
  std::vector<int> strides;          // for boxes: of each anchor at a cell, in pixels
  double threshold = 0;              // for masks
  int side = 0;                      // pixels that coordinates are relative to
};

// An output that keeps local maxima of a map and is zero elsewhere: an element whose neighbour is as large up
// to rounding may be either. Before its last dimensions, height and width, come only dimensions of 1.
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
  std::vector<std::string> host_operators;        // those that have no kernel: sessions warn of them

  bool is_onnx() const { return file.ends_with(".onnx"); }
  std::filesystem::path model() const;
  HostTensor input() const;
  HostTensor output(const std::string& output_name) const;
  // Returns the reference values of an output in `suppressed`, before its suppression.
  HostTensor before_suppression(const std::string& output_name) const;
};

inline void PrintTo(const FetchedModel& model, std::ostream* out) { *out << model.name; }

// A model of integers that the tests make of a case's model (oracles/make_quantised.mjs).
struct QuantisedModel {
  struct Grid {
    float scale = 1;
    int zero_point = 0;
  };

  FetchedModel source;
  std::string scheme;  // int8: a scale per channel of the weights; uint8: one of all

  std::filesystem::path model() const;
  std::map<std::string, Grid> grids() const;  // of inputs and outputs
  HostTensor input() const;                   // in floating point, on the grid
  // In floating point: what LiteRT computes in integers, or from the same weights in floats.
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

// The cases of the table up to a size class.
std::vector<FetchedModel> fetched_models(SizeClass largest);
// BlazeFace front and back, and M-LSD tiny: quick on the host too.
std::vector<FetchedModel> small_fetched_models();
const FetchedModel& fetched_model(const std::string& name);

}  // namespace vellum::test
