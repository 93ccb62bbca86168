// Channels that are shuffled between groups.
#include <gtest/gtest.h>

#include "graph/operators/movement/pick_channels.hpp"
#include "passes/pass_harness.hpp"
#include "support/small_tensors.hpp"

namespace vellum::test {
namespace {

// Parts the 6 channels of `from` into `groups`, swaps groups and their channels, and joins them as `to`.
void add_shuffle(OnnxModel& model, const std::string& from, const std::string& to, int64_t groups) {
  model.initializer(to + "/parted", ints({2, groups, 6 / groups, 3, 5}))
      .initializer(to + "/joined", ints({2, 6, 3, 5}));
  model.node("Reshape", {from, to + "/parted"}, {to + "/1"});
  model.node("Transpose", {to + "/1"}, {to + "/2"}, perm({0, 2, 1, 3, 4}));
  model.node("Reshape", {to + "/2", to + "/joined"}, {to});
}

void add_slice(OnnxModel& model, const std::string& from, const std::string& to, int64_t begin, int64_t end) {
  model.initializer(to + "/begin", ints({begin}))
      .initializer(to + "/end", ints({end}))
      .initializer(to + "/axis", ints({1}));
  model.node("Slice", {from, to + "/begin", to + "/end", to + "/axis"}, {to});
}

const Attributes::Ints& channels(const Graph& graph, size_t node) {
  return dynamic_cast<const PickChannels&>(*graph.nodes[node].op).channels;
}

using Ints = Attributes::Ints;

// The channels of x that the one operator of y picks.
Ints picked(OnnxModel& model) {
  model.output("y");
  const Graph graph = after(fuse_channel_shuffle, model);
  EXPECT_EQ(types(graph), "PickChannels");
  return channels(graph, 0);
}

TEST(FuseChannelShuffle, BetweenGroups) {
  OnnxModel model;
  model.input("x", {2, 6, 3, 5});
  add_shuffle(model, "x", "y", 2);
  EXPECT_EQ(picked(model), (Ints{0, 3, 1, 4, 2, 5}));
}

TEST(FuseChannelShuffle, TwiceIsOne) {
  OnnxModel model;
  model.input("x", {2, 6, 3, 5});
  add_shuffle(model, "x", "s", 2);
  add_shuffle(model, "s", "y", 2);
  EXPECT_EQ(picked(model), (Ints{0, 4, 3, 2, 1, 5}));
}

// Two inputs, joined and shuffled as s.
OnnxModel joined_and_shuffled(int64_t groups) {
  OnnxModel model;
  model.input("a", {2, 2, 3, 5}).input("b", {2, 4, 3, 5});
  model.node("Concat", {"a", "b"}, {"c"}, attributes({{"axis", int64_t{1}}}));
  add_shuffle(model, "c", "s", groups);
  return model;
}

TEST(FuseChannelShuffle, UnitOfShuffleNet) {
  OnnxModel model = joined_and_shuffled(3);
  add_slice(model, "s", "y", 0, 3);
  add_slice(model, "s", "z", 3, 6);
  model.output("y").output("z");
  const Graph graph = after(fuse_channel_shuffle, model);
  ASSERT_EQ(types(graph), "PickChannels PickChannels");
  EXPECT_EQ(channels(graph, 0), (Ints{0, 2, 4}));
  EXPECT_EQ(channels(graph, 1), (Ints{1, 3, 5}));
  EXPECT_EQ(graph.nodes[1].inputs.size(), 2u);
}

TEST(FuseChannelShuffle, WhatIsReadInBetweenStays) {
  OnnxModel model = joined_and_shuffled(2);
  add_slice(model, "s", "y", 1, 5);
  model.node("Neg", {"s"}, {"n"}).node("Relu", {"c"}, {"r"}).output("y").output("n").output("r");
  EXPECT_EQ(types(after(fuse_channel_shuffle, model)), "Concat PickChannels PickChannels Neg Relu");
}

TEST(FuseChannelShuffle, OthersStay) {
  OnnxModel sliced;  // channels in a row
  sliced.input("x", {2, 6, 3, 5});
  add_slice(sliced, "x", "y", 1, 5);
  EXPECT_EQ(types(after(fuse_channel_shuffle, sliced.output("y"))), "Slice");

  OnnxModel turned;  // pixels move as well
  turned.input("x", {2, 6, 3, 5})
      .initializer("parted", ints({2, 2, 3, 3, 5}))
      .initializer("joined", ints({2, 6, 3, 5}));
  turned.node("Reshape", {"x", "parted"}, {"p"}).node("Transpose", {"p"}, {"t"}, perm({0, 1, 3, 2, 4}));
  turned.node("Reshape", {"t", "joined"}, {"y"}).output("y");
  EXPECT_EQ(types(after(fuse_channel_shuffle, turned)), "Reshape Transpose Reshape");

  OnnxModel images;  // images change places with channels
  images.input("x", {2, 6, 3, 5}).initializer("joined", ints({6, 2, 3, 5}));
  images.node("Transpose", {"x"}, {"y"}, perm({1, 0, 2, 3})).output("y");
  EXPECT_EQ(types(after(fuse_channel_shuffle, images)), "Transpose");
}

}  // namespace
}  // namespace vellum::test
