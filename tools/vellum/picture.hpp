// Pictures as inputs of a model, and class names of a classifier's output.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "inputs.hpp"
#include "io/labels.hpp"
#include "io/picture_file.hpp"

namespace CLI {
class App;
}

namespace vellum::cli {

struct PictureOptions {
  std::string fit;                     // empty: chosen by the model's output
  std::string values;                  // empty: chosen by the model's input and output
  std::vector<float> mean, deviation;  // for values in 0..1; empty: those of `values`
  bool bgr = false;
  std::string labels;  // a file
  size_t top = 5;
};

void add_picture_options(CLI::App& command, PictureOptions& options);

struct PictureInputs {
  Model model;  // with frames as inputs for which 8-bit pictures are given
  Inputs inputs;
  std::vector<std::string> warnings;  // about parts of a picture that the network does not see
  bool names_classes = false;         // whether there is a picture and the model is a classifier
};

// Removes the NAME=FILE arguments with picture files from `arguments`, and the shapes of these inputs (which
// are the network's) from `shapes`. The CPU converts a picture with 16 bits per channel to a float input,
// because frames have 8 bits.
PictureInputs read_pictures(const Model& model, std::vector<std::string>& arguments, InputShapes& shapes,
                            const PictureOptions& options);

// Does the same for input `name` with a picture that has already been read. `file`: the picture's name in
// warnings.
void add_picture(PictureInputs& result, const std::string& name, const std::string& file, io::Picture picture,
                 InputShapes& shapes, const PictureOptions& options);

// Returns the value of input `name` for a picture file, for a model without frames. The CPU computes it.
Tensor picture_values(const Model& model, const std::string& name, const std::string& file,
                      InputShapes shapes, const PictureOptions& options);

// Returns whether the model has one output of floats that is a list: one score for each class.
bool is_classifier(const Model& model);

struct NamedClass {
  io::ClassScore score;
  std::string label;  // "class 7" if there is no file of labels
};
// Returns the most likely classes, the best first. Adds a warning if there are more or fewer labels than
// classes.
std::vector<NamedClass> best_classes(const Tensor& scores, const PictureOptions& options,
                                     std::vector<std::string>& warnings);

}  // namespace vellum::cli
