// Outputs of a model as pictures in bytes that the device draws: masks, maps and classes in colours, alone or
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

// How values are mapped to colours. t is (value - low) / (high - low), clamped to 0..1.
//   ramp     t interpolates linearly between the colours of the palette, which are evenly spaced
//   steps    the palette's colour floor(t * n) of n: with two colours the border is midway between low
//            and high
//   classes  the colour of the channel with the largest value (the first of equal ones). If there is one
//            channel, its rounded value is the class. The palette repeats for further classes.
//   rgb      the channels are red, green and blue, and alpha if there are four: 255 * t
// The colour of a NaN is undefined.
enum class PictureColors : uint8_t { ramp, steps, classes, rgb };

// Resampling of the network's values before they are mapped to colours: bilinear interpolates the four
// nearest. Class numbers are never interpolated.
enum class PictureFilter : uint8_t { bilinear, nearest };

// The dimension of channels in an output of four dimensions. automatic: the smaller of the second and the
// last. An output [1, H, W] or [H, W] has one channel.
enum class ChannelOrder : uint8_t { automatic, first, last };

// A picture of an output: 8-bit RGBA, top row first, rows without padding.
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
  // Colours as red, green, blue, alpha; at most 4096. Empty: from opaque black to opaque white. Required for
  // `classes`, not allowed for `rgb`.
  std::vector<std::array<uint8_t, 4>> palette = {};
  PictureFilter filter = PictureFilter::bilinear;
  ChannelOrder channels = ChannelOrder::automatic;
  // Pixels, at most 16384. 0: the size of the frame under the picture, or without a frame the size of the
  // output.
  uint32_t width = 0, height = 0;
  // The name of an input that takes frames (with_frames()). The picture then is the frame, stretched to the
  // picture's size, with the colours blended over the part that the network saw; it is opaque. Empty: the
  // values fill the picture, and colours keep their alpha.
  std::string over = {};
  // The name of the picture as an additional output; the values then stay an output, too. With a palette of
  // one transparent colour the picture shows the frame alone. Empty: the picture replaces the output.
  std::string name = {};
};

// Returns the model with a picture as one of its outputs. `output` must be float or integer, [1, C, H, W],
// [1, H, W, C], [1, H, W] or [H, W]. It becomes uint8 [height, width, 4] under the same name, computed by an
// operator "Picture" at the end of the network. (With PictureOutput::name the picture is an additional output
// instead.) Sessions, recordings, plans, estimates and profiles treat Picture like any operator. For pictures
// of several outputs, call the function again on the result.
//
// Thread-safe. Throws Error(not_found) for an unknown output; Error(unsupported), which names it, for an
// output of another shape; and Error(invalid_argument) for sizes out of range, for `low` and `high` that are
// equal or not finite, for a palette that is missing or too long, for a name that the model already has, for
// channels that do not fit `colors`, and for an `over` that is not an input of frames.
VELLUM_API Model with_picture(const Model& model, std::string_view output, const PictureOutput& picture);

}  // namespace vellum
