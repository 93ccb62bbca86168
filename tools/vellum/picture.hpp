// Pictures as inputs of a model, and the classes that a classifier's output names.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "classify/labels.hpp"
#include "inputs.hpp"

namespace CLI {
class App;
}

namespace vellum::cli {

struct PictureOptions {
  std::string fit;                     // empty: by the model's output
  std::string values;                  // empty: by the model's input and output
  std::vector<float> mean, deviation;  // of values in 0..1; empty: what `values` says
  bool bgr = false;
  std::string labels;  // a file
  size_t top = 5;
};

void add_picture_options(CLI::App& command, PictureOptions& options);

struct PictureInputs {
  Model model;  // whose inputs are frames where pictures in 8 bits are given
  Inputs inputs;
  std::vector<std::string> warnings;  // about what of a picture the network does not see
  bool names_classes = false;         // there is a picture, and the model is a classifier
};

// Takes the NAME=FILE arguments whose file is a picture out of `arguments`, and the shapes of these inputs,
// which are those that the network sees, out of `shapes`. A picture with 16 bits per channel becomes the
// values of a float input by the CPU, since frames have 8.
PictureInputs read_pictures(const Model& model, std::vector<std::string>& arguments, InputShapes& shapes,
                            const PictureOptions& options);

// Whether the model has one output of floats, and that is a list: one score for each class.
bool is_classifier(const Model& model);

struct NamedClass {
  samples::ClassScore score;
  std::string label;  // "class 7" without a file of labels
};
// The most likely classes, the best first.
std::vector<NamedClass> best_classes(const Tensor& scores, const PictureOptions& options);

}  // namespace vellum::cli
