// Device policies: how a kind of device is best used if nothing was measured on the device itself. Kernels,
// estimates and pipelines query a policy instead of the device's type. cpu_policy.cpp and gpu_policy.cpp
// implement it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "caps/device_caps.hpp"

namespace vellum {

// The output of one invocation of a convolution or matrix product: pixels x slices texels, where a slice is
// four channels.
struct OutputTile {
  int64_t pixels = 1, slices = 1;
  bool operator==(const OutputTile&) const = default;
};

// Kernels that are predicted to take this much longer at most count as equally quick: no model is better.
inline constexpr double kAsQuick = 1.05;

// A tile whose sums `split_k` invocations of a workgroup share.
struct SplitTile {
  OutputTile tile;
  int64_t split_k = 1;
  double us = 0;  // the time that it should take; 0: there is no model of it
};

// The values of one slice of x that an invocation loads before it multiplies: the columns of its pixels for
// `taps` taps side by side. `operations`: on each value that it loads, as to select zeros in the padding or
// to multiply with a scale.
struct WindowRow {
  int64_t taps = 1, stride = 1, operations = 0;
};

// The output that tiles cover: `lines` lines of `length` pixels of `slices` slices each, computed with `macs`
// multiply-accumulates in total.
struct TileDemand {
  int64_t length = 1, lines = 1, slices = 1, macs = 0;
  WindowRow row = {};
  bool loads_ahead = false;  // of several slices: DevicePolicy::slices_ahead()
  bool halves = false;       // its values are stored as halves
  int64_t row_pixels = 0;    // those of the input that follow one another; 0: not known

  // Whether the pixels of a tile do, if the last tile of a row may begin earlier where there is one row.
  bool are_neighbours(int64_t pixels) const {
    const bool one_row = lines == 1 && row_pixels == length && length >= pixels;
    return row_pixels > 0 && (row_pixels % pixels == 0 || one_row);
  }
};

// The output of one invocation of a depthwise convolution: pixels of each of some rows of one slice.
struct PixelTile {
  int64_t pixels = 1, rows = 1;
  bool operator==(const PixelTile&) const = default;
};

// A depthwise convolution of a square window: `planes` slices of all images together, of width x height
// pixels.
struct DepthwiseDemand {
  int64_t width = 1, height = 1, planes = 1;
  int64_t kernel = 3, stride_x = 1, stride_y = 1;
};

// A depthwise separable convolution: `inputs` slices of channels, filtered by a square window and multiplied
// to `outputs` slices of `images` of width x height pixels.
struct SeparableDemand {
  int64_t width = 1, height = 1, images = 1;
  int64_t inputs = 1, outputs = 1;
  int64_t kernel = 3, stride_x = 1, stride_y = 1;
  int64_t texel_bytes = 16;  // of a stored texel of the tensors
};

// A workgroup of conv_separable.comp computes `slices` slices of width x height pixels, of which
// an invocation computes `tile`. It filters all input slices of these pixels into shared memory first.
struct SeparableTile {
  int64_t width = 8, height = 4;
  OutputTile tile = {4, 1};  // pixels one after the other, row by row
  int64_t slices = 1;        // a multiple of those of `tile`
  int64_t split_k = 1;       // invocations for each sum
  int64_t ahead = 1;         // input slices whose weights are loaded together

  int64_t pixels() const { return width * height; }
  int64_t invocations() const { return pixels() / tile.pixels * (slices / tile.slices) * split_k; }
  // Shared memory: the filtered pixels, and then in the same place the partial sums.
  int64_t shared_bytes(const SeparableDemand& demand) const;
  bool operator==(const SeparableTile&) const = default;
};

// A 1x1 convolution of `inputs` slices and a depthwise convolution of the `slices` slices that it computes:
// from images of x_width x x_height pixels to `images` of width x height pixels.
struct ExpandDemand {
  int64_t width = 1, height = 1, images = 1;
  int64_t x_width = 1, x_height = 1;
  int64_t inputs = 1, slices = 1;
  int64_t kernel = 3, stride_x = 1, stride_y = 1;
  int64_t texel_bytes = 16;  // of a stored texel of the tensors
  int64_t gates = 0;         // products for squeeze-and-excitation of the result
};

// A workgroup of conv_expand.comp computes width x height pixels of `tile.slices` slices: first all pixels
// that their windows cover, `tile.pixels` of them in an invocation at a time, in shared memory.
struct ExpandTile {
  int64_t width = 8, height = 8;
  OutputTile tile = {4, 1};
  int64_t invocations = 64;
  int64_t ahead = 1;  // input slices that are loaded together

  // Pixels that the windows of a tile cover at most.
  int64_t covered(const ExpandDemand& demand) const;
  // Those that shared memory has room for, and its bytes.
  int64_t capacity(const ExpandDemand& demand) const;
  int64_t shared_bytes(const ExpandDemand& demand) const;
  bool operator==(const ExpandTile&) const = default;
};

// Stateless. Figures without a source are guesses; the others name the device on which they were measured.
class DevicePolicy {
 public:
  virtual ~DevicePolicy() = default;

  // Invocations that keep the device busy; 0: any number does.
  virtual int64_t invocations_to_fill(const DeviceCaps& caps) const = 0;

  // --- Convolutions and matrix products ---

  virtual OutputTile preferred_tile(const DeviceCaps& caps, const TileDemand& demand) const = 0;
  // Smaller tiles than that are not worth measuring where `preferred` is the preferred one.
  virtual OutputTile smallest_tile(const OutputTile& preferred, const TileDemand& demand) const = 0;
  // The quickest tile if up to `most_split` invocations may share each sum (split-K), where split_k is 1 if
  // whole sums are as quick; after it those that should take kAsQuick times as long at most, with about as
  // few instructions.
  virtual std::vector<SplitTile> quick_tiles(const DeviceCaps& caps, const TileDemand& demand,
                                             int64_t most_split) const = 0;
  // The tile of a depthwise convolution where one that loads rows for several output rows is faster.
  virtual std::optional<PixelTile> depthwise_tile(const DeviceCaps& caps,
                                                  const DepthwiseDemand& demand) const = 0;
  // The tiles with which both layers of a depthwise separable convolution should take less time in one
  // kernel than in two, the quickest first; empty: none.
  virtual std::vector<SeparableTile> separable_tiles(const DeviceCaps& caps,
                                                     const SeparableDemand& demand) const = 0;
  // Likewise for a 1x1 convolution and the depthwise convolution after it.
  virtual std::vector<ExpandTile> expand_tiles(const DeviceCaps& caps, const ExpandDemand& demand) const = 0;
  // Whether a depthwise convolution that could share a kernel with the 1x1 convolution before it, or with the
  // one after it, should do so with the one before.
  virtual bool expands_rather(const DeviceCaps& caps, const ExpandDemand& before,
                              const SeparableDemand& after) const = 0;
  // Whether one dispatch for a 1x1 and a 3x3 convolution of one input should take less time than one for
  // each.
  virtual bool merges_branches(const DeviceCaps& caps, const TileDemand& narrow,
                               const TileDemand& wide) const = 0;
  // Whether convolutions of few channels read a tensor in planes as it is, instead of after a conversion.
  virtual bool reads_planes(const DeviceCaps& caps) const = 0;
  // Whether a 1x1 convolution should take the means of its pixels where a workgroup has all of an image.
  virtual bool takes_means_of_products(const DeviceCaps& caps) const = 0;
  virtual bool multiplies_cooperative_matrices() const = 0;
  // Whether a value of another lane of the subgroup costs less than to load it again.
  virtual bool broadcasts_are_cheaper_than_loads(const DeviceCaps& caps) const = 0;
  // Whether weights are in buffers even where tensors are in images.
  virtual bool keeps_weights_in_buffers(const DeviceCaps& caps) const = 0;
  // Whether tensors that are joined or split are in buffers, where they take no copies, even where others are
  // in images.
  virtual bool joins_in_buffers(const DeviceCaps& caps) const = 0;
  // Whether loads from one place of a buffer for a whole workgroup are cheaper, so that all its invocations
  // should compute the same output channels. With split_k > 1: for a whole subgroup, whose invocations have
  // the same part of the sums.
  virtual bool loads_uniform_weights_cheaply(const DeviceCaps& caps, int64_t split_k) const = 0;
  // The input slices that a pointwise convolution loads together before it multiplies them, as `halves` or as
  // floats. `neighbours`: one address does for the pixels of a tile.
  virtual int64_t slices_ahead(const DeviceCaps& caps, const OutputTile& tile, bool halves,
                               bool neighbours) const = 0;
  // Whether convolutions gain by few values in registers over their loop: they locate their pixels again
  // after it, the last tile of a row begins earlier where that saves checks for padding, and windows whose
  // taps are loaded one after the other load several slices together, too.
  virtual bool spares_registers(const DeviceCaps& caps) const = 0;
  // The slices of a query and of four keys that an attention kernel loads together.
  virtual int64_t attention_slices_ahead(const DeviceCaps& caps) const = 0;
  // The most columns of a row that an invocation loads once for all taps of a convolution's window, besides
  // the common one of three pixels side by side; 0: none.
  virtual int64_t most_columns(const DeviceCaps& caps) const = 0;
  // A shader variant that is quicker but takes long to compile pays where a network has this many
  // multiply-accumulates for it.
  virtual uint64_t macs_worth_a_variant() const = 0;
  // Texels of sums that one invocation holds before registers spill to something slower than a load.
  virtual int64_t most_group_sums() const = 0;      // of a grouped convolution
  virtual int64_t most_attention_sums() const = 0;  // of an attention kernel
  // Texels of sums of a kernel that also holds as many partial sums in fp16.
  virtual int64_t most_fp16_sums(const DeviceCaps& caps) const = 0;

  // --- Loops that make one result each (kernels/framework/shared_loop.hpp) ---

  // Whether invocations should share the loop of each of `results` results at all.
  virtual bool shares_loops(int64_t results) const = 0;
  // Whether subgroups may run such loops, and whether the other ways to run one are worth measuring.
  virtual bool runs_loops_by_subgroups() const = 0;
  // Invocations of a workgroup where each makes one of `results` results.
  virtual uint32_t loop_workgroup(int64_t results) const = 0;

  // --- Squeeze-and-excitation, TopK ---

  // Up to this many products, or texels to average, one workgroup is faster than dispatches of many.
  virtual int64_t most_products_of_a_workgroup() const = 0;
  virtual int64_t most_texels_of_a_workgroup() const = 0;
  // Whether the last workgroup of a dispatch, of `invocations`, should compute the gates, that many products,
  // of what the dispatch stores: it takes no dispatch of its own, but has fewer invocations.
  virtual bool computes_gates_last(const DeviceCaps& caps, int64_t products, int64_t invocations) const = 0;
  // The slices whose weights an invocation of it loads together.
  virtual int64_t gate_slices_ahead(const DeviceCaps& caps) const = 0;
  // Whether to rank all elements of rows (length^2 comparisons at once) instead of selecting the k largest
  // one after another (length * k), if k is much less than length.
  virtual bool ranks_rows(int64_t length, int64_t k) const = 0;

  // --- The driver ---

  // Sets the traits of `caps` from its vendor, where nothing was measured.
  virtual void set_default_traits(DeviceCaps& caps) const = 0;
  // Whether pipelines are compiled at their first dispatch, on the thread that executes submits, instead of
  // when they are created (vulkan/early_compile.hpp compiles them earlier).
  virtual bool compiles_at_first_dispatch(const DeviceCaps& caps) const = 0;
  // Returns the driver's memory in the process by the size of shaders (estimate/shader_size.hpp): as
  // measured, else as usual for drivers of this vendor, without a host; nothing if there is no model of it.
  virtual std::optional<ProcessTraits> process_traits(const DeviceCaps& caps) const = 0;
  // The most milliseconds of work that a run hands to the device at a time by default
  // (SessionOptions::max_submit_ms); 0: any. draws: it has a queue for graphics, so that it may serve a
  // display.
  virtual uint32_t max_submit_ms(bool draws) const = 0;
  // Whether bytes within buffers are copied faster by a command of the driver than by a shader.
  virtual bool copies_buffers_by_command() const = 0;
  // Whether device memory is memory of the process.
  virtual bool allocates_in_the_process() const = 0;
};

// Returns the policy of the device's type.
const DevicePolicy& device_policy(const DeviceCaps& caps);

}  // namespace vellum
