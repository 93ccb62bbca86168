#include "claim.hpp"

#include <tensorflow/lite/builtin_ops.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "api/impl.hpp"
#include "api/target.hpp"
#include "bindings/plugins/predicted_times.hpp"

namespace vellum::lite {
namespace {

constexpr size_t kSmallestPart = 3;  // nodes of a part that is not the whole graph

// The interpreter's type for a list of integers, which it copies.
class IntList {
 public:
  explicit IntList(const std::vector<int>& values) : storage_(values.size() + 1) {
    storage_[0] = static_cast<int>(values.size());
    std::ranges::copy(values, storage_.begin() + 1);
  }
  const TfLiteIntArray* get() const { return reinterpret_cast<const TfLiteIntArray*>(storage_.data()); }

 private:
  std::vector<int> storage_;
};

// Custom operators that LiteRT's own kernels compute.
bool interpreter_has(const TfLiteRegistration& registration) {
  return registration.builtin_code != kTfLiteBuiltinCustom ||
         (registration.custom_name != nullptr &&
          std::string_view(registration.custom_name) == "TFLite_Detection_PostProcess");
}

class Claimer {
 public:
  Claimer(TfLiteContext* context, const Device& device, const plugin::PluginOptions& options)
      : context_(context), target_(&device), options_(options) {
    on_cpu_ = impl(device)->context->caps().type == DeviceType::cpu;
    TfLiteIntArray* plan = nullptr;
    check(context->GetExecutionPlan(context, &plan), "GetExecutionPlan");
    for (const int node : ints(plan)) plan_.push_back(node);
    claim_.nodes = plan_.size();
  }

  Claim claim() {
    for (const int node : plan_)
      if (std::string why = refusal(context_, node); !why.empty()) claim_.reasons[node] = std::move(why);
    // Each round refuses at least one node.
    while (!try_claim()) {
    }
    return std::move(claim_);
  }

 private:
  std::vector<int> taken() const {
    std::vector<int> nodes;
    for (const int node : plan_)
      if (!claim_.reasons.contains(node)) nodes.push_back(node);
    return nodes;
  }

  // Returns whether every part of the nodes that are not refused yet can run.
  bool try_claim() {
    const std::vector<int> nodes = taken();
    claim_.parts.clear();
    if (nodes.empty()) return true;
    if (options_.claim == plugin::Claims::whole && nodes.size() < plan_.size())
      return refuse_all(nodes, "with claim=whole all nodes are claimed or none");
    bool complete = true;
    for (Part& part : parts_of(nodes)) complete = take(std::move(part)) && complete;
    return complete;
  }

  // Returns the parts into which the interpreter will divide the nodes.
  std::vector<Part> parts_of(const std::vector<int>& nodes) const {
    TfLiteDelegateParams* found = nullptr;
    int count = 0;
    const IntList list(nodes);
    check(context_->PreviewDelegatePartitioning(context_, list.get(), &found, &count),
          "PreviewDelegatePartitioning");
    std::vector<Part> parts;
    for (int i = 0; i < count; ++i) {
      const std::span<const int> own = ints(found[i].nodes_to_replace), out = ints(found[i].output_tensors);
      Part part = part_of(context_, {own.begin(), own.end()});
      part.outputs.assign(out.begin(), out.end());
      parts.push_back(std::move(part));
    }
    return parts;
  }

  bool refuse_all(const std::vector<int>& nodes, const std::string& why) {
    for (const int node : nodes) claim_.reasons.emplace(node, why);
    return false;
  }

  bool needs_vellum(const std::vector<int>& nodes) const {
    return std::ranges::any_of(
        nodes, [&](int node) { return !interpreter_has(*node_of(context_, node).registration); });
  }

  // Returns whether the part can run; else at least one of its nodes has been refused.
  bool take(Part part) {
    const std::vector<int> nodes = part.nodes;
    const bool whole = nodes.size() == plan_.size(), is_needed = needs_vellum(nodes);
    if (!whole && !is_needed && nodes.size() < kSmallestPart)
      return refuse_all(nodes,
                        "a part of " + std::to_string(nodes.size()) + " nodes is not worth a transfer");
    try {
      ImportedPart imported = import_part(describe_part(context_, part));
      if (!is_worth_it(part, imported.graph, whole || is_needed)) return false;
      Description open = describe_part(context_, part, Shapes::open);
      claim_.parts.push_back({std::move(part), std::move(imported), std::move(open)});
      return true;
    } catch (const Error& error) {
      if (error.code() == ErrorCode::out_of_memory || error.code() == ErrorCode::device_lost) throw;
      return refuse_faulty(nodes, error.what());
    }
  }

  bool is_worth_it(const Part& part, const Graph& graph, bool in_any_case) {
    const Model model = Handles::model(std::make_shared<const Model::Impl>(graph));
    for (const TensorInfo& input : model.inputs())
      if (input.decides_shapes || !is_known(input.shape)) return true;  // sizes are unknown before a run
    SessionOptions tried = options_.session;
    tried.memory_budget = 0;  // decides how the part runs, not whether
    const CompiledModel compiled = target_.compile(model, tried);
    const auto without = plugin::nodes_without_kernel(compiled);
    bool complete = true;
    for (const auto& [name, why] : without) complete = refuse_named(part, name, why) && complete;
    if (!complete) return false;
    if (in_any_case || options_.claim == plugin::Claims::all) return true;
    if (plugin::count_dispatches(compiled) == 0)
      return refuse_all(part.nodes, "its part has no work for the device");
    const plugin::PredictedTimes times = plugin::predict_times(compiled, target_.caps());
    if (!on_cpu_ && times.device_us > times.host_us)
      return refuse_all(part.nodes, "its part is " + plugin::describe(times));
    return true;
  }

  // Refuses the node of the interpreter from which the importer made the node `name`: the importer names
  // nodes after the tensors that they compute. Returns true for a node that the interpreter cannot run.
  bool refuse_named(const Part& part, const std::string& name, const std::string& why) {
    int best = -1;
    size_t longest = 0;
    for (const int node : part.nodes)
      for (const int tensor : ints(node_of(context_, node).node->outputs)) {
        const char* own = tensor < 0 ? nullptr : tensor_of(context_, tensor).name;
        const std::string_view prefix = own == nullptr ? "" : own;
        if (!name.starts_with(prefix) || prefix.size() <= longest) continue;
        best = node;
        longest = prefix.size();
      }
    if (best < 0) return refuse_all(part.nodes, name + ": " + why);
    if (!interpreter_has(*node_of(context_, best).registration)) return true;
    return refuse_all({best}, why);
  }

  // Refuses the nodes of a part that cannot run alone either; all of them if each can.
  bool refuse_faulty(const std::vector<int>& nodes, const std::string& why) {
    bool any = false;
    for (const int node : nodes) {
      try {
        import_part(describe_part(context_, part_of(context_, with_weights(nodes, node))));
      } catch (const Error& error) {
        if (error.code() == ErrorCode::out_of_memory) throw;
        claim_.reasons.emplace(node, error.what());
        any = true;
      }
    }
    return any ? false : refuse_all(nodes, why);
  }

  // Returns the node after those that compute its weights from constants (DEQUANTIZE, DENSIFY).
  std::vector<int> with_weights(const std::vector<int>& nodes, int node) const {
    std::vector<int> result;
    const std::span<const int> inputs = ints(node_of(context_, node).node->inputs);
    for (const int other : nodes) {
      if (other == node) break;
      const TfLiteNode& before = *node_of(context_, other).node;
      const bool computes = std::ranges::any_of(ints(before.outputs), [&](int tensor) {
        return std::ranges::find(inputs, tensor) != inputs.end();
      });
      const bool of_constants = std::ranges::all_of(ints(before.inputs), [&](int tensor) {
        return tensor < 0 || is_constant(tensor_of(context_, tensor));
      });
      if (computes && of_constants) result.push_back(other);
    }
    result.push_back(node);
    return result;
  }

  TfLiteContext* const context_;
  const Target target_;
  const plugin::PluginOptions& options_;
  std::vector<int> plan_;
  bool on_cpu_ = false;
  Claim claim_;
};

}  // namespace

Claim claim_nodes(TfLiteContext* context, const Device& device, const plugin::PluginOptions& options) {
  return Claimer(context, device, options).claim();
}

std::string report(TfLiteContext* context, const Claim& claim) {
  constexpr size_t kNamed = 5;
  size_t nodes = 0;
  for (const ClaimedPart& part : claim.parts) nodes += part.part.nodes.size();
  std::map<std::string, std::vector<int>> by_reason;
  for (const auto& [node, reason] : claim.reasons) by_reason[reason].push_back(node);
  std::string text = "Vellum claims " + std::to_string(nodes) + " of " + std::to_string(claim.nodes) +
                     " nodes in " + std::to_string(claim.parts.size()) +
                     (claim.parts.size() == 1 ? " part\n" : " parts\n");
  for (const auto& [reason, refused] : by_reason) {
    text += "not claimed: ";
    for (size_t i = 0; i < std::min(refused.size(), kNamed); ++i)
      text += (i ? ", " : "") + describe(context, refused[i]);
    if (refused.size() > kNamed) text += " and " + std::to_string(refused.size() - kNamed) + " more";
    text += ": " + reason + "\n";
  }
  return text;
}

}  // namespace vellum::lite
