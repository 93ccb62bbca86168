// The networks that the window can show: how each sees a frame, and what is drawn over it.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/region.hpp"
#include "common/resize.hpp"
#include "vellum/frame.hpp"
#include "vellum/vellum.hpp"

namespace vellum::samples {

// Marks that are drawn over a frame, in its pixels.
struct Marks {
  std::vector<std::vector<Point>> outlines;  // each closed; of two points: a line
  std::vector<Point> dots;
};

using Outputs = std::map<std::string, Tensor>;

// A second network, which sees in each frame the region where the first one found something in the frame
// before.
struct Follower {
  Model model;  // with an input INPUT.transform
  std::string input;
  FrameSize size;  // of what the network sees, in its pixels
  // Nothing where the first network found nothing.
  std::function<std::optional<Region>(const Outputs& first)> find;
  std::function<Marks(const Outputs& second, const Region& region)> decode;
};

// A network that takes frames and makes a picture of each: its only output of bytes. The other outputs are
// decoded on the host.
struct Effect {
  Model model;
  std::string input, picture;
  std::function<Marks(const Outputs&)> decode;
  std::optional<Follower> follower = std::nullopt;
};

struct EffectKind {
  const char* name;
  std::vector<const char*> files;  // in the folder of models: the network's, and the follower's
  Effect (*make)(const std::vector<Model>& models, const FrameInput& frame);
};

// Faces, face meshes, poses, people before another background, lines, text.
const std::vector<EffectKind>& effect_kinds();

}  // namespace vellum::samples
