// Pictures larger than any image limit or memory. Networks of local operators (super-resolution, denoising,
// segmentation by convolutions alone) run tile by tile. Only the application holds the whole inputs and
// outputs, in host memory or files.
//
//   vellum::LargePictureOptions options;
//   options.session.input_shapes = {{"x", {1, 3, 4320, 7680}}};        // the whole picture
//   options.session.memory_budget = 256 << 20;
//   vellum::LargePicture picture(device, model, options);
//   picture.run(
//       [&](const vellum::PictureRegion& part, std::span<std::byte> values) { ... },         // fill
//       [&](const vellum::PictureRegion& part, std::span<const std::byte> values) { ... });  // keep
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

// Some rows and columns of an input or output. Their values are a dense tensor of only these rows and
// columns, in the model's order of dimensions.
struct PictureRegion {
  size_t tensor = 0;          // index into inputs() or outputs()
  int64_t top = 0, left = 0;  // in the whole tensor
  int64_t height = 0, width = 0;
  size_t rows_axis = 2;  // the tensor's dimension of rows; the next one is that of columns
};

struct LargePictureOptions {
  // input_shapes: shapes for the whole picture, all of one height and width. memory_budget bounds the memory
  // allocated from Vulkan. tuned, winograd, in_flight and budget_allows_fp16 have no effect. weights_budget,
  // memory_pool, profile and check_finite are Error(invalid_argument).
  SessionOptions session;
  // Rows and columns of the inputs that one tile reads, halo included. Values beyond the picture's size are
  // reduced to it. 0: the largest tile up to 1024 that fits the budget. Rounded down to what the network's
  // strides allow.
  int64_t tile_height = 0, tile_width = 0;
};

struct PictureTiles {
  int64_t height = 0, width = 0;  // rows and columns of the inputs that each tile reads
  size_t down = 0, across = 0;    // tiles
  size_t count() const { return down * across; }
};

// A network made ready for the tiles of one size of picture. One thread at a time.
//
// Tiles overlap by the halo, which is derived from the layers, so each output element is computed from
// everything that it depends on and there are no seams. Results are the same bit for bit for every tile size
// and memory budget, because all of them use the kernels of one reference size. They may differ in rounding
// from those of a Session for the whole picture, whose kernels are chosen for its size.
class VELLUM_API LargePicture {
 public:
  // Throws Error(unsupported), which names the layer, for a network that is not local: global pools,
  // attention, normalisation over the picture, products of all pixels, constants that vary along the picture,
  // a Resize whose weights round differently at different positions (linear and cubic by 3). Throws
  // Error(out_of_memory), which states the bytes of the smallest tiles, if no tile fits the memory budget;
  // Error(invalid_argument) for tiles no larger than the halo; and the errors of Session.
  LargePicture(const Device& device, const Model& model, const LargePictureOptions& options);
  ~LargePicture();
  LargePicture(LargePicture&&) noexcept;
  LargePicture& operator=(LargePicture&&) noexcept;

  // Inputs and outputs for the whole picture.
  const std::vector<TensorInfo>& inputs() const;
  const std::vector<TensorInfo>& outputs() const;
  PictureTiles tiles() const;
  // Returns the peak of allocated device memory in bytes; 0 without a memory budget.
  uint64_t peak_bytes() const;

  // Fills the values of a region of an input. Regions of successive tiles overlap.
  using ReadRegion = std::function<void(const PictureRegion& region, std::span<std::byte> values)>;
  // Receives the values of a region of an output. Each element is delivered once, in rows of tiles from top
  // to bottom, each row from left to right.
  using WriteRegion = std::function<void(const PictureRegion& region, std::span<const std::byte> values)>;
  // Called before the first tile and after each tile. Return false to end run() with Error(cancelled).
  using TileProgress = std::function<bool(size_t done, size_t total)>;

  // Runs the network over the whole picture. If a callback throws, the run ends: an Error is passed on, any
  // other exception becomes Error(cancelled) with its text.
  void run(const ReadRegion& read, const WriteRegion& write, const TileProgress& progress = {});

 private:
  struct Impl;
  Impl& checked() const;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vellum
