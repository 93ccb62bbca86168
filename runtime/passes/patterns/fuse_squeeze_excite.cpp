#include <memory>
#include <optional>

#include "graph/operators/reduction/squeeze_excite.hpp"
#include "passes/passes.hpp"
#include "passes/patterns/channel_means.hpp"
#include "passes/rewrite/match.hpp"

namespace vellum {
namespace {

// The Conv that computes `value` where it is a matrix product: of one position, with constant weights.
Match<Conv> match_product(const GraphEditor& editor, ValueId value) {
  const auto conv = match_producer<Conv>(editor, value);
  if (!conv || conv->group != 1) return {};
  const HostTensor* weights = editor.constant(conv.input(1));
  if (conv.node->inputs.size() > 3 || weights == nullptr || !is_constant_or_absent(editor, *conv.node, 2))
    return {};
  const bool fits = has_one_position(editor.type(conv.input(0)).shape) &&
                    has_one_position(weights->shape()) && has_one_position(editor.type(value).shape);
  return fits && is_float_value(editor, value) ? conv : Match<Conv>{};
}

// Whether the only reader of `value` multiplies it by `gated`.
bool gates(const GraphEditor& editor, ValueId value, ValueId gated) {
  const auto reader = editor.only_reader(value);
  const auto product = reader ? match_node<Binary>(editor, *reader) : Match<Binary>{};
  if (!product || product->kind != BinaryKind::mul) return false;
  return product.input(0) == gated || product.input(1) == gated;
}

// The node of the second product becomes the SqueezeExcite.
void replace_by_squeeze_excite(GraphEditor& editor, size_t index) {
  const ValueId output = editor.node(index).outputs[0];
  const auto second = output == kNoValue ? Match<Conv>{} : match_product(editor, output);
  const auto first = second ? match_product(editor, second.input()) : Match<Conv>{};
  if (!first || editor.only_reader(second.input()) != index) return;
  const ValueId means = first.input();
  const auto pool = editor.producer(means);
  if (!pool || editor.only_reader(means) != first.index || !computes_means(editor, *pool)) return;
  const ValueId x = editor.node(*pool).inputs[0];
  if (!gates(editor, output, x) || editor.type(x).dtype != editor.type(output).dtype) return;
  auto op = std::make_shared<SqueezeExcite>();
  op->hidden = first->activation;
  op->gate = second->activation;
  std::vector<ValueId> inputs{x};
  for (const Match<Conv>& conv : {first, second}) {
    inputs.push_back(conv.input(1));
    inputs.push_back(conv.node->inputs.size() > 2 ? conv.input(2) : kNoValue);
  }
  while (inputs.back() == kNoValue) inputs.pop_back();
  editor.remove(*pool);
  editor.remove(first.index);
  editor.replace(index, std::move(op), std::move(inputs));
}

}  // namespace

void fuse_squeeze_excite(Graph& graph) {
  GraphEditor editor(graph);
  for (const size_t index : editor.nodes()) replace_by_squeeze_excite(editor, index);
  editor.commit();
}

}  // namespace vellum
