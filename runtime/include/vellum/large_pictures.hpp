// Pictures beyond any image limit or memory: networks of local operators (super-resolution, denoising,
// segmentation by convolutions alone) run tile by tile over inputs and outputs that only the application
// holds, in host memory or files.
//
//   vellum::LargePictureOptions options;
//   options.session.input_shapes = {{"x", {1, 3, 4320, 7680}}};        // the whole picture
//   options.session.memory_budget = 256 << 20;
//   vellum::LargePicture picture(device, model, options);
//   picture.run(
//       [&](const vellum::PictureRegion& part, std::span<std::byte> values) { ... },         // fill the
//       values
//       [&](const vellum::PictureRegion& part, std::span<const std::byte> values) { ... });  // keep them
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "vellum/export.h"
#include "vellum/vellum.hpp"

namespace vellum {

// Some rows and columns of an input or output. Its values are a dense tensor in the model's order of
// dimensions, of these rows and columns alone.
struct PictureRegion {
  size_t tensor = 0;          // in inputs() or outputs()
  int64_t top = 0, left = 0;  // of the whole
  int64_t height = 0, width = 0;
  size_t rows_axis = 2;  // the tensor's dimension of rows; that of columns follows it
};

struct LargePictureOptions {
  // input_shapes: of the whole picture, all of one height and width. memory_budget bounds what is allocated
  // from Vulkan. tuned, winograd, in_flight and budget_allows_fp16 have no effect. Error(invalid_argument)
  // with a weights_budget, a memory_pool, a profile or check_finite.
  SessionOptions session;
  // Rows and columns of the inputs that one tile reads, halo included; larger ones become the picture's. 0:
  // the largest up to 1024 within the budget. Rounded down to what the network's strides allow.
  int64_t tile_height = 0, tile_width = 0;
};

struct PictureTiles {
  int64_t height = 0, width = 0;  // rows and columns of the inputs that each tile reads
  size_t down = 0, across = 0;    // tiles
  size_t count() const { return down * across; }
};

// A network made ready for the tiles of one size of picture. One thread at a time.
//
// Each output element is computed from all that it depends on: tiles overlap by the halo, which is derived
// from the layers. So there are no seams, and the results are the same bit for bit for every size of tile
// and memory budget: all of them take the kernels of one reference size. (They may differ in rounding from
// those of a Session for the whole picture, whose kernels are chosen for its size.)
class VELLUM_API LargePicture {
 public:
  // Throws Error(unsupported), naming the layer, for a network that is not local: global pools, attention,
  // normalisation over the picture, products of all pixels, constants that vary along it, a Resize whose
  // weights are rounded otherwise from place to place (linear and cubic by 3). Throws Error(out_of_memory),
  // with the bytes that the smallest tiles take, if none fits the memory budget; Error(invalid_argument) for
  // tiles that are no larger than the halo; and the errors of Session.
  LargePicture(const Device& device, const Model& model, const LargePictureOptions& options);
  ~LargePicture();
  LargePicture(LargePicture&&) noexcept;
  LargePicture& operator=(LargePicture&&) noexcept;

  // Inputs and outputs for the whole picture.
  const std::vector<TensorInfo>& inputs() const;
  const std::vector<TensorInfo>& outputs() const;
  PictureTiles tiles() const;
  // Bytes of device memory that were allocated at most at a time; 0 without a memory budget.
  uint64_t peak_bytes() const;

  // Fills the values of a region of an input. Regions of successive tiles overlap.
  using ReadRegion = std::function<void(const PictureRegion& region, std::span<std::byte> values)>;
  // Takes the values of a region of an output. Each element comes once; row by row of tiles, each from left
  // to right.
  using WriteRegion = std::function<void(const PictureRegion& region, std::span<const std::byte> values)>;
  // Called before the first tile and after each. False: run() ends with Error(cancelled).
  using TileProgress = std::function<bool(size_t done, size_t total)>;

  // Runs the network over the whole picture. An Error that the functions throw ends it and is passed on;
  // anything else that they throw becomes Error(cancelled) with its text.
  void run(const ReadRegion& read, const WriteRegion& write, const TileProgress& progress = {});

 private:
  struct Impl;
  Impl& checked() const;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vellum
