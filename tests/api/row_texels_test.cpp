// Kernels of linear tensors that access matrices in images compute the bits that they compute from buffers.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "device_options.hpp"
#include "support/onnx_builder.hpp"
#include "support/tensors.hpp"
#include "vellum/vellum.hpp"

namespace vellum::test {
namespace {

using Ints = Attributes::Ints;
using Outputs = std::map<std::string, Tensor>;

constexpr int64_t kTokens = 24, kChannels = 16;

HostTensor indices(const std::vector<int64_t>& values) {
  return HostTensor::i64({static_cast<int64_t>(values.size())}, values);
}

// A block of a transformer before whose products tokens are joined, gathered, transposed, normalised, mapped
// and attended to. Each step is also read by a product.
OnnxModel tokens() {
  OnnxModel m(17);
  m.input("x", {kTokens, kChannels}).initializer("first", random_tensor({4, kChannels}, 1));
  const auto product = [&](const std::string& from, const std::string& to) {
    m.initializer("w" + to, random_tensor({kChannels, kChannels}, static_cast<uint32_t>(to.size() + to[0])));
    m.node("MatMul", {from, "w" + to}, {to});
  };
  product("x", "a");
  m.node("Concat", {"first", "a"}, {"joined"}, attributes({{"axis", int64_t{0}}}));
  product("joined", "b");
  m.initializer("order", indices({5, 3, 1, 0, 2, 27, 20, 21, 9, 8, 7, 6}));
  m.node("Gather", {"b", "order"}, {"gathered"}, attributes({{"axis", int64_t{0}}}));
  product("gathered", "c");
  m.initializer("heads", indices({1, 12, 2, 8})).initializer("rows", indices({12, kChannels}));
  m.node("Reshape", {"c", "heads"}, {"h"});
  m.node("Transpose", {"h"}, {"t"}, attributes({{"perm", Ints{0, 2, 1, 3}}}))
      .node("Reshape", {"t", "rows"}, {"r"});
  product("r", "d");
  m.initializer("scale", random_tensor({8}, 7)).node("Reshape", {"d", "heads"}, {"dh"});
  m.node("LayerNormalization", {"dh", "scale"}, {"n"}).node("Reshape", {"n", "rows"}, {"nr"});
  product("nr", "e");
  m.initializer("other", random_tensor({1, 12, 1, 8}, 8)).node("Reshape", {"e", "heads"}, {"eh"});
  m.node("Mul", {"eh", "other"}, {"s"}).node("Tanh", {"s"}, {"u"}).node("Reshape", {"u", "rows"}, {"ur"});
  product("ur", "f");
  m.node("Reshape", {"f", "heads"}, {"fh"})
      .node("Transpose", {"fh"}, {"q"}, attributes({{"perm", Ints{0, 2, 1, 3}}}));
  m.node("Transpose", {"fh"}, {"kt"}, attributes({{"perm", Ints{0, 2, 3, 1}}}))
      .node("MatMul", {"q", "kt"}, {"scores"});
  m.node("Softmax", {"scores"}, {"p"}, attributes({{"axis", int64_t{-1}}}))
      .node("MatMul", {"p", "q"}, {"sum"});
  m.node("Transpose", {"sum"}, {"so"}, attributes({{"perm", Ints{0, 2, 1, 3}}}))
      .node("Reshape", {"so", "rows"}, {"sr"});
  product("sr", "y");
  return std::move(m.output("y"));
}

TEST(RowTexels, GiveTheBitsOfBuffers) {
  const Device device = Device::open(device_options());
  const std::string bytes = tokens().bytes();
  const Model model = Model::load(as_bytes(bytes));
  const std::map<std::string, Tensor> inputs{{"x", random_tensor({kTokens, kChannels}, 3)}};
  for (const Precision precision : {Precision::fp32, Precision::fp16}) {
    SessionOptions options{
        .precision = precision, .storage = StorageChoice::image2d, .memory = MemoryMode::naive};
    const Outputs wanted = Session(device, model, options).run(inputs);
    for (const MemoryMode mode : {MemoryMode::shared_objects, MemoryMode::offsets}) {
      options.memory = mode;
      EXPECT_TRUE(same_bits(Session(device, model, options).run(inputs).at("y"), wanted.at("y")))
          << "precision " << static_cast<int>(precision) << ", mode " << static_cast<int>(mode);
    }
  }
}

}  // namespace
}  // namespace vellum::test
