#include "graph/operators/movement/space_to_batch.hpp"

#include "graph/composed.hpp"

namespace vellum {
namespace {

struct Blocks {
  Shape shape;  // of x
  Ints sizes, edges;

  size_t spatial() const { return sizes.size(); }
  int64_t before(size_t i) const { return edges[2 * i]; }
  int64_t after(size_t i) const { return edges[2 * i + 1]; }
  int64_t count() const {
    int64_t result = 1;
    for (const int64_t size : sizes) result = checked_multiply(result, size);
    return result;
  }
};

Blocks read_blocks(const Body& body, std::string_view edges_name) {
  Blocks blocks{body.shape(body.input(0, "x")), constant_ints(body.rule_inputs(), 1, "block sizes"),
                constant_input(body.rule_inputs(), 2, edges_name).to_ints()};
  const size_t spatial = blocks.spatial();
  if (spatial == 0 || spatial >= blocks.shape.size() || blocks.edges.size() != 2 * spatial)
    refuse_model("block sizes and " + std::string(edges_name) + " do not fit its input of shape " +
                 to_string(blocks.shape));
  for (const int64_t size : blocks.sizes)
    if (size < 1) refuse_model("a block size is " + std::to_string(size));
  for (const int64_t edge : blocks.edges)
    if (edge < 0) refuse_model("a negative value of " + std::string(edges_name));
  return blocks;
}

// [n, s b, c] becomes [n, s, b, c], then [b, n, s, c], then [b n, s, c], for every s.
void space_to_batch_body(Body& body) {
  const Blocks blocks = read_blocks(body, "paddings");
  const size_t rank = blocks.shape.size(), spatial = blocks.spatial();
  const int64_t batch = blocks.shape[0];
  Ints pads(2 * rank, 0), split{batch}, merged{checked_multiply(batch, blocks.count())}, order;
  for (size_t i = 0; i < spatial; ++i) {
    pads[1 + i] = blocks.before(i);
    pads[rank + 1 + i] = blocks.after(i);
    const int64_t block = blocks.sizes[i];
    const int64_t size = checked_add(blocks.shape[1 + i], checked_add(blocks.before(i), blocks.after(i)));
    if (size % block != 0) refuse_model("blocks of " + std::to_string(block) + " in " + std::to_string(size));
    split.insert(split.end(), {size / block, block});
    merged.push_back(size / block);
    order.push_back(static_cast<int64_t>(2 + 2 * i));
  }
  order.push_back(0);
  for (size_t i = 0; i < spatial; ++i) order.push_back(static_cast<int64_t>(1 + 2 * i));
  for (size_t i = 1 + spatial; i < rank; ++i) {
    order.push_back(static_cast<int64_t>(i + spatial));
    split.push_back(blocks.shape[i]);
    merged.push_back(blocks.shape[i]);
  }
  const ValueId padded = body.add("Pad", {body.input(0, "x"), body.ints(pads)});
  body.output(body.reshape(body.transpose(body.reshape(padded, split), order), merged));
}

// [b n, s, c] becomes [b, n, s, c], then [n, s, b, c], then [n, s b, c], for every s.
void batch_to_space_body(Body& body) {
  const Blocks blocks = read_blocks(body, "crops");
  const size_t rank = blocks.shape.size(), spatial = blocks.spatial();
  const auto count = static_cast<int64_t>(spatial);
  if (blocks.shape[0] % blocks.count() != 0)
    refuse_model(std::to_string(blocks.shape[0]) + " batches are no multiple of the blocks");
  const int64_t batch = blocks.shape[0] / blocks.count();
  Ints split = blocks.sizes, merged{batch}, order{count}, begins, ends, axes;
  split.push_back(batch);
  for (size_t i = 0; i < spatial; ++i) {
    const auto at = static_cast<int64_t>(i);
    order.insert(order.end(), {count + 1 + at, at});
    const int64_t size = checked_multiply(blocks.shape[1 + i], blocks.sizes[i]);
    if (checked_add(blocks.before(i), blocks.after(i)) > size) refuse_model("nothing is left");
    merged.push_back(size);
    begins.push_back(blocks.before(i));
    ends.push_back(size - blocks.after(i));
    axes.push_back(at + 1);
  }
  for (size_t i = 1; i < rank; ++i) split.push_back(blocks.shape[i]);
  for (size_t i = 1 + spatial; i < rank; ++i) {
    order.push_back(static_cast<int64_t>(i + spatial));
    merged.push_back(blocks.shape[i]);
  }
  const ValueId parts = body.transpose(body.reshape(body.input(0, "x"), split), order);
  body.output(
      body.add("Slice", {body.reshape(parts, merged), body.ints(begins), body.ints(ends), body.ints(axes)}));
}

std::shared_ptr<const Operator> of_blocks(const char* type, Composed::Compose compose) {
  const Attributes none;
  NodeSpec spec;
  spec.type = type;
  spec.attributes = &none;
  return composed(spec, std::move(compose));
}

}  // namespace

std::shared_ptr<const Operator> space_to_batch() { return of_blocks("SpaceToBatchND", space_to_batch_body); }

std::shared_ptr<const Operator> batch_to_space() { return of_blocks("BatchToSpaceND", batch_to_space_body); }

}  // namespace vellum
