// GroupQueryAttention of com.microsoft: attention with a cache of keys and values, and rotary embeddings.
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.GroupQueryAttention
#include <memory>

#include "graph/composed.hpp"
#include "graph/operators/contrib_rows.hpp"
#include "graph/operators/matmul/group_query_body.hpp"
#include "graph/operators/matmul/growing_attention.hpp"

namespace vellum {
namespace {

std::shared_ptr<GrowingAttention> growing_group_query(const NodeSpec& spec, const GroupForm& form) {
  const Composed::Compose body = [form](Body& made) { build_group_query(made, form); };
  auto op = std::make_shared<GrowingAttention>(spec, body);
  op->caches = {{{group_query::kPastKey, 1}, {group_query::kPastValue, 2}}};
  op->tokens_input = group_query::kQuery;
  op->tokens_axis = 1;
  // With a total that only a run determines the caches keep their length.
  op->length_input = group_query::kTotal;
  op->fixed = composed(spec, body);
  return op;
}

// Caches of a window (sliding_window_cache) lose the tokens before it. As long as they have room for all
// tokens, they are like other caches. That is known only if total_sequence_length is.
void build_before_eviction(Body& body, const GroupForm& form) {
  const Inputs inputs = body.rule_inputs();
  const size_t total_input = group_query::kTotal;
  const bool is_known = total_input < inputs.size() && inputs[total_input].constant;
  const Shape past = body.shape(body.input(group_query::kPastKey, "past_key"));
  const Ints total = is_known ? constant_ints(inputs, total_input, "total_sequence_length") : Ints{};
  if (past.size() == 4 && past[2] < form.window)
    refuse_model("a cache of " + std::to_string(past[2]) + " tokens for a window of " +
                 std::to_string(form.window));
  if (total.size() != 1 || past.size() != 4 || total[0] > past[2])
    refuse_unsupported(
        "GroupQueryAttention that evicts tokens from its caches (sliding_window_cache): make the caches "
        "state with a state_capacity for all tokens");
  build_group_query(body, form);
}

}  // namespace

std::shared_ptr<const Operator> make_group_query_attention(const NodeSpec& spec) {
  const Attributes& a = *spec.attributes;
  const float norm_epsilon = a.get_float("qk_norm_epsilon", 1e-6f);
  const GroupForm form{
      .heads = a.get_int("num_heads", 0),
      .kv_heads = a.get_int("kv_num_heads", 0),
      .window = a.get_int("local_window_size", -1),
      .scale = a.get_float("scale", 0.0f),
      .softcap = a.get_float("softcap", 0.0f),
      .has_sinks = get_flag(a, "smooth_softmax", false) || spec.has_input(group_query::kHeadSink),
      .turns = get_flag(a, "do_rotary", false),
      .interleaved = a.get_int("rotary_interleaved", 0),
      .keys = integer_cache(a, "k_quant_type"),
      .values = integer_cache(a, "v_quant_type"),
      .q_epsilon = a.get_float("q_norm_epsilon", norm_epsilon),
      .k_epsilon = a.get_float("k_norm_epsilon", norm_epsilon)};
  constexpr int64_t kMostHeads = 1 << 20;
  if (form.kv_heads <= 0 || form.heads < form.kv_heads || form.heads > kMostHeads ||
      form.heads % form.kv_heads != 0)
    refuse_model("num_heads is no multiple of kv_num_heads");
  if (!get_flag(a, "causal", true)) refuse_unsupported("GroupQueryAttention that is not causal");
  if (spec.has_input(group_query::kQueryLengths))
    refuse_unsupported("GroupQueryAttention with padded queries");
  if (spec.output_count > 3 || a.get_int("qk_output", 0) != 0)
    refuse_unsupported("GroupQueryAttention with its scores");
  const bool evicts = get_flag(a, "sliding_window_cache", false);
  if (evicts && form.window <= 0) refuse_model("sliding_window_cache without local_window_size");
  if (!spec.has_input(group_query::kPastKey) || !spec.has_input(group_query::kPastValue) ||
      spec.output_count < 3) {
    if (evicts) refuse_model("sliding_window_cache without caches");
    return composed(spec, [form](Body& made) { build_group_query(made, form); });
  }
  const auto with_all_tokens = growing_group_query(spec, form);
  if (!evicts) return with_all_tokens;
  const auto op = std::make_shared<GrowingAttention>(*with_all_tokens);
  op->compose = [form](Body& made) { build_before_eviction(made, form); };
  op->without_eviction = with_all_tokens;
  return op;
}

}  // namespace vellum
