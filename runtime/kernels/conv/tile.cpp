#include "kernels/conv/tile.hpp"

#include <algorithm>

#include "caps/device_policy.hpp"
#include "kernels/framework/grid.hpp"

namespace vellum {
namespace {

// With 64 the loop over the weights of a subgroup is unrolled for 16 slices of input channels already.
bool can_share_by_subgroups(const DeviceCaps& caps) {
  return caps.subgroup_broadcast && subgroups_fill_rows(caps);
}

// When to share sums over `slices` of input channels, for each of `taps`, among invocations: split-K.
struct SplitSums {
  int64_t enough;    // invocations that keep a GPU busy; a kernel of one tap loads little and wants fewer
  int64_t shortest;  // products that are worth a part's store and load
  int64_t slices, taps = 1;

  // In how many parts, where `invocations` would compute them whole.
  int64_t parts(int64_t invocations) const {
    const int64_t most = std::min<int64_t>(16, slices);
    int64_t parts = 1;
    while (2 * parts <= most && 2 * parts * invocations <= enough && slices * taps >= 2 * parts * shortest)
      parts *= 2;
    return parts;
  }
};

}  // namespace

ConvTile choose_conv_tile(const DeviceCaps& caps, int64_t length, int64_t lines, int64_t output_slices,
                          int64_t macs) {
  const OutputTile tile = device_policy(caps).preferred_tile({length, lines, output_slices, macs});
  return {tile.pixels, tile.slices};
}

std::vector<ConvTile> conv_tiles(const DeviceCaps& caps, int64_t length, int64_t lines, int64_t output_slices,
                                 int64_t macs) {
  const ConvTile first = choose_conv_tile(caps, length, lines, output_slices, macs);
  std::vector<ConvTile> tiles{first};
  const OutputTile fewest = device_policy(caps).smallest_tile({first.pixels, first.slices},
                                                              {length, lines, output_slices, macs});
  const auto useful = [](int64_t size, int64_t fewest, int64_t of) {
    return size >= fewest && (size < 2 * of || size == 1);
  };
  for (const int64_t pixels : {8, 4, 2, 1})
    for (const int64_t slices : {4, 2, 1})
      if (useful(pixels, fewest.pixels, length) && useful(slices, fewest.slices, output_slices) &&
          (pixels != first.pixels || slices != first.slices))
        tiles.push_back({pixels, slices});
  return tiles;
}

std::vector<ConvTile> tiles_of_subgroups(const DeviceCaps& caps, const std::vector<ConvTile>& tiles,
                                         int64_t length, int64_t lines) {
  std::vector<ConvTile> shared;
  if (!can_share_by_subgroups(caps)) return shared;
  for (const ConvTile& tile : tiles)
    if (divide_up(length, tile.pixels) * lines >= caps.subgroup_size)
      shared.push_back({tile.pixels, tile.slices, true});
  return shared;
}

int64_t whole_subgroups(const DeviceCaps& caps, const ConvTile& tile, int64_t blocks) {
  const int64_t lanes = tile.by_subgroups ? caps.subgroup_size : 1;
  return divide_up(blocks, lanes) * lanes;
}

std::vector<ConvTile> tiles_in_parts(const DeviceCaps& caps, int64_t length, int64_t lines,
                                     int64_t output_slices, int64_t input_slices, int64_t taps) {
  const SplitSums split{device_policy(caps).split_k_invocations(false), 32, input_slices, taps};
  const ConvTile narrow = choose_conv_tile(caps, length, lines, output_slices, 0);
  const ConvTile wide{length > 1 ? 4 : 1, output_slices > 1 ? 2 : 1};
  std::vector<ConvTile> tiles;
  if (narrow.pixels * narrow.slices == wide.pixels * wide.slices) return tiles;
  for (ConvTile tile : {wide, narrow}) {
    tile.parts = split.parts(divide_up(length, tile.pixels) * lines * divide_up(output_slices, tile.slices));
    if (tile.parts > 1) tiles.push_back(tile);
  }
  return tiles;
}

std::vector<ConvTile> cooperative_conv_tiles(const Lowering& lowering, int64_t pixels, int64_t inputs,
                                             int64_t outputs, int64_t products) {
  if (lowering.options().precision != Precision::fp16) return {};
  std::vector<ConvTile> tiles;
  for (const CooperativeTile& tile : cooperative_tiles(lowering.caps(), pixels, inputs, outputs, products))
    tiles.push_back({.cooperative = tile});
  return tiles;
}

void add_cooperative_tiles(std::vector<ConvTile>& tiles, const Lowering& lowering, int64_t pixels,
                           int64_t inputs, int64_t outputs, int64_t products) {
  const std::vector<ConvTile> cooperative =
      cooperative_conv_tiles(lowering, pixels, inputs, outputs, products);
  tiles.insert(prefers_cooperative(pixels, inputs) ? tiles.begin() : tiles.end(), cooperative.begin(),
               cooperative.end());
}

void add_tiles_of_subgroups(std::vector<ConvTile>& tiles, const DeviceCaps& caps, int64_t pixels) {
  const std::vector<ConvTile> of_subgroups = tiles_of_subgroups(caps, tiles, pixels, 1);
  tiles.insert(tiles.end(), of_subgroups.begin(), of_subgroups.end());
  if (!device_policy(caps).broadcasts_are_cheaper_than_loads(caps)) return;
  const ConvTile first = tiles.front();
  const auto same = std::find_if(tiles.begin(), tiles.end(), [&](const ConvTile& tile) {
    return tile.by_subgroups && tile.pixels == first.pixels && tile.slices == first.slices;
  });
  if (same != tiles.end()) std::swap(tiles.front(), *same);
}

std::vector<ConvTile> pointwise_tiles(const Lowering& lowering, int64_t pixels, int64_t inputs,
                                      int64_t outputs) {
  const DeviceCaps& caps = lowering.caps();
  const int64_t macs = pixels * inputs * outputs;
  std::vector<ConvTile> tiles = conv_tiles(caps, pixels, 1, slices(outputs), macs);
  ConvTile shared = tiles.front();
  const SplitSums split{device_policy(caps).split_k_invocations(true), 16, slices(inputs)};
  shared.parts = split.parts(divide_up(pixels, shared.pixels) * divide_up(slices(outputs), shared.slices));
  add_tiles_of_subgroups(tiles, caps, pixels);
  if (shared.parts > 1) tiles.insert(tiles.begin(), shared);
  add_cooperative_tiles(tiles, lowering, pixels, inputs, outputs);
  return tiles;
}

std::string with_tile(std::string_view kernel, const ConvTile& tile) {
  if (tile.cooperative) return tile.cooperative->name();
  return std::string(kernel) + " " + std::to_string(tile.pixels) + "x" + std::to_string(tile.slices) +
         (tile.by_subgroups ? " subgroups" : "") +
         (tile.parts > 1 ? " in " + std::to_string(tile.parts) + " parts" : "");
}

ConvTile choose_tile(Lowering& lowering, std::string_view kernel, const std::vector<ConvTile>& tiles) {
  std::vector<std::string> candidates;
  for (const ConvTile& tile : tiles) candidates.push_back(with_tile(kernel, tile));
  return tiles[lowering.choose(std::move(candidates))];
}

ConvTile choose_pointwise_tile(Lowering& lowering, const Shape& x, int64_t outputs) {
  const auto [n, c, h, w] = nchw(x);
  return choose_tile(lowering, "pointwise", pointwise_tiles(lowering, n * h * w, c, outputs));
}

void define_tile(Dispatch& dispatch, const ConvTile& tile) {
  dispatch.defines.emplace_back("TILE_P", std::to_string(tile.pixels));
  dispatch.defines.emplace_back("TILE_S", std::to_string(tile.slices));
  if (tile.parts > 1) dispatch.defines.emplace_back("PARTS", std::to_string(tile.parts));
}

}  // namespace vellum
