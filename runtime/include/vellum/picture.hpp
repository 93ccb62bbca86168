// Outputs of a model as pictures in bytes, made on the device: masks, maps and classes in colours, alone or
// over the frame that the network saw.
//
//   vellum::Model person = vellum::with_frames(vellum::Model::load("selfie.tflite"), "input_1", camera);
//   vellum::PictureOutput green{.palette = {{0, 177, 64, 255}, {0, 177, 64, 0}}, .over = "input_1"};
//   vellum::Session session(device, vellum::with_picture(person, "activation_10", green));
//   session.run({{"input_1", frame}, {"input_1.transform", part.tensor()}});
//   session.output("activation_10");  // uint8 [720, 1280, 4]: the person before a green wall
//
// docs/embedding.md shows the same with buffers of the application.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "vellum/export.h"
#include "vellum/vellum.hpp"

namespace vellum {

// How values become colours. t is (value - low) / (high - low), clamped to 0..1.
//   ramp     t runs through the palette, whose colours are evenly spaced; between them it is linear
//   steps    the colour floor(t * n) of n, so that two colours are below and above the middle of low and high
//   classes  the colour of the channel with the largest value (the first of equal ones). With one channel,
//            the value itself, rounded, is the class. Classes beyond the palette begin again at its first
//            colour.
//   rgb      the channels are red, green and blue, and alpha if there are four: 255 * t
// A value that is NaN has any of the colours.
enum class PictureColors : uint8_t { ramp, steps, classes, rgb };

// Interpolation of the network's values before they become colours: between the four nearest, or the nearest.
// Class numbers always take the nearest.
enum class PictureFilter : uint8_t { bilinear, nearest };

// Where the channels of an output of four dimensions are. automatic: the smaller of [1, C, ...] and [..., C]
// is C. An output [1, H, W] or [H, W] has one channel.
enum class ChannelOrder : uint8_t { automatic, first, last };

// A picture of an output: RGBA in 8 bits, top row first, rows without padding.
//
//        frame                      network                      picture
//   +--------------+           +--------------+             +--------------+
//   |   +------+   | transform |              | values      |   :~~~~~~:   |
//   |   | seen |   | --------> |              | -------->   |   :colour:   |   over the frame, in its
//   |   +------+   |           |              |             |   :~~~~~~:   |   proportions
//   +--------------+           +--------------+             +--------------+
struct PictureOutput {
  PictureColors colors = PictureColors::ramp;
  float low = 0, high = 1;
  // Red, green, blue, alpha; at most 4096 colours. Empty: from opaque black to opaque white. `classes` needs
  // one, `rgb` takes none.
  std::vector<std::array<uint8_t, 4>> palette = {};
  PictureFilter filter = PictureFilter::bilinear;
  ChannelOrder channels = ChannelOrder::automatic;
  // Pixels, at most 16384. 0: those of the frame under it, else those of the output.
  uint32_t width = 0, height = 0;
  // The name of an input that takes frames (with_frames()). The picture then shows the frame, stretched to
  // its size, and over it, where the network saw it, the colours with their alpha; it is opaque. Empty: the
  // values fill the picture, and colours keep their alpha.
  std::string over = {};
  // The name of the picture if it is a further output, so that the values stay an output, too.
  // With a palette of one transparent colour such a picture shows the frame alone. Empty: it replaces the
  // output.
  std::string name = {};
};

// Returns the model with a picture as one of its outputs: `output`, which is float or integer, [1, C, H, W],
// [1, H, W, C], [1, H, W] or [H, W], becomes uint8 [height, width, 4] under the same name, and is computed by
// a last operator, "Picture", of the network. (With PictureOutput::name the picture is a further output
// instead.) All else (sessions, recordings, plans, estimates, profiles) sees it as it sees the other
// operators. For pictures of several outputs, call it again on the result.
//
// Thread-safe. Throws Error(not_found) for an unknown output; Error(unsupported), naming it, for one of
// another shape; and Error(invalid_argument) for sizes out of range, low and high that are not finite or
// equal, a palette that is missing or too long, a name that the model has already, channels that do not fit
// `colors`, and an `over` that takes no frames.
VELLUM_API Model with_picture(const Model& model, std::string_view output, const PictureOutput& picture);

}  // namespace vellum
