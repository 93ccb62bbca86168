// The networks that the window can show: how each sees a frame, and what is drawn over it.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "common/resize.hpp"
#include "vellum/frame.hpp"
#include "vellum/vellum.hpp"

namespace vellum::samples {

// What is drawn over a frame, in its pixels.
struct Marks {
  std::vector<std::vector<Point>> outlines;  // each closed; of two points: a line
  std::vector<Point> dots;
};

// A network that takes frames and makes a picture of each: its only output of bytes. The other outputs are
// decoded on the host.
struct Effect {
  Model model;
  std::string input, picture;
  std::function<Marks(const std::map<std::string, Tensor>&)> decode;
};

struct EffectKind {
  const char* name;
  const char* file;  // in the folder of models
  Effect (*make)(const Model& model, const FrameInput& frame);
};

// Faces, people, lines, text.
const std::vector<EffectKind>& effect_kinds();

}  // namespace vellum::samples
