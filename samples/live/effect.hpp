// The networks that the window can show: how each reads a frame, and which marks it draws over the frame.
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
  std::vector<std::vector<Point>> outlines;  // each is closed; two points are a line
  std::vector<Point> dots;
};

using Outputs = std::map<std::string, Tensor>;

// A second network, which reads in each frame the region in which the first one found something in the
// previous frame.
struct Follower {
  Model model;  // with an input INPUT.transform
  std::string input;
  FrameSize size;  // size of the network's input
  // Returns nothing if the first network found nothing.
  std::function<std::optional<Region>(const Outputs& first)> find;
  std::function<Marks(const Outputs& second, const Region& region)> decode;
};

// A network that takes frames and draws a picture, its only output of bytes. The other outputs are decoded on
// the host.
struct Effect {
  Model model;
  std::string input, picture;
  std::function<Marks(const Outputs&)> decode;
  std::optional<Follower> follower = std::nullopt;
};

struct EffectKind {
  const char* name;
  std::vector<const char*> files;  // files of the network and of the follower, in the folder of models
  Effect (*make)(const std::vector<Model>& models, const FrameInput& frame);
};

// Returns faces, face meshes, poses, people in front of another background, lines, text.
const std::vector<EffectKind>& effect_kinds();

}  // namespace vellum::samples
