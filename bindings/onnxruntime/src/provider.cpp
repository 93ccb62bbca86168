#include "provider.hpp"

#include <fstream>
#include <memory>
#include <utility>

#include "api/impl.hpp"
#include "bindings/plugins/open_devices.hpp"
#include "claim.hpp"
#include "context_node.hpp"
#include "probe.hpp"
#include "read_network.hpp"
#include "running_network.hpp"

namespace vellum::ort {
namespace {

// A compiled part: what the runtime calls in place of its nodes.
struct PartCallbacks : OrtNodeComputeInfo {
  explicit PartCallbacks(std::unique_ptr<RunningNetwork> running)
      : OrtNodeComputeInfo{}, network(std::move(running)) {
    ort_version_supported = kApiVersion;
    CreateState = [](OrtNodeComputeInfo* self, OrtNodeComputeContext*, void** state) noexcept -> OrtStatus* {
      *state = static_cast<PartCallbacks*>(self)->network.get();
      return nullptr;
    };
    Compute = [](OrtNodeComputeInfo*, void* state, OrtKernelContext* context) noexcept -> OrtStatus* {
      auto& part = *static_cast<RunningNetwork*>(state);
      return guarded([&] { plugin::run_on(part.device(), [&] { part.run(*context); }); });
    };
    ReleaseState = [](OrtNodeComputeInfo*, void*) noexcept {};
  }

  const std::unique_ptr<RunningNetwork> network;
};

std::vector<std::string> names_of(const std::vector<const OrtValueInfo*>& values) {
  std::vector<std::string> result;
  for (const OrtValueInfo* value : values)
    result.emplace_back(value ? get<const char*>(api().GetValueInfoName, value) : "");
  return result;
}

class Provider : public OrtEp {
 public:
  Provider(const Device& device, const ProviderOptions& options, const OrtLogger* logger)
      : OrtEp{}, shared_{device, options, {}, std::make_shared<DeviceEvents>(), logger} {
    ort_version_supported = supported_version();
    OrtEp::GetName = [](const OrtEp*) noexcept { return kProviderName; };
    OrtEp::GetCapability = [](OrtEp* self, const OrtGraph* graph,
                              OrtEpGraphSupportInfo* claims) noexcept -> OrtStatus* {
      return guarded([&] { static_cast<Provider*>(self)->claim(*graph, *claims); });
    };
    OrtEp::Compile = [](OrtEp* self, const OrtGraph** graphs, const OrtNode** fused_nodes, size_t count,
                        OrtNodeComputeInfo** callbacks, OrtNode** context_nodes) noexcept -> OrtStatus* {
      auto& provider = *static_cast<Provider*>(self);
      const auto compile = [&] {
        for (size_t i = 0; i < count; ++i)
          callbacks[i] =
              provider.compile(*graphs[i], *fused_nodes[i], i, context_nodes ? context_nodes + i : nullptr)
                  .release();
      };
      return guarded([&] { plugin::run_on(provider.shared_.device, compile); });
    };
    OrtEp::ReleaseNodeComputeInfos = [](OrtEp*, OrtNodeComputeInfo** callbacks, size_t count) noexcept {
      for (size_t i = 0; i < count; ++i) delete static_cast<PartCallbacks*>(callbacks[i]);
    };
    const bool has_budget = options.session.memory_budget > 0 || options.session.weights_budget > 0;
    if (!has_budget) shared_.pool = MemoryPool(device);
    OrtEp::CreateProfiler = [](OrtEp* self, OrtEpProfilerImpl** profiler) noexcept -> OrtStatus* {
      *profiler = nullptr;
      return guarded([&] { *profiler = make_profiler(static_cast<Provider*>(self)->shared_.events); });
    };
  }

 private:
  void claim(const OrtGraph& graph, OrtEpGraphSupportInfo& claims) {
    if (get<const OrtNode*>(api().Graph_GetParentNode, &graph)) return;  // a graph of a control-flow node
    const auto nodes = list<const OrtNode*>(api().Graph_GetNumNodes, api().Graph_GetNodes, &graph);
    if (nodes.empty()) return;
    if (claim_contexts(nodes, claims)) return;
    const Network network = read_network(graph, Constants::borrowed);
    const Claim claim = claim_nodes(network, shared_.device, shared_.options);
    tell(network, claim);
    for (const std::vector<size_t>& part : claim.parts) {
      std::vector<const OrtNode*> claimed;
      for (const size_t i : part) claimed.push_back(nodes[i]);
      OrtNodeFusionOptions fusion{};
      fusion.ort_version_supported = kApiVersion;
      fusion.drop_constant_initializers = true;  // compile() copies them
      check(ep_api().EpGraphSupportInfo_AddNodesToFuse(&claims, claimed.data(), claimed.size(), &fusion));
    }
  }

  // Claims the nodes of a model that was compiled before. Returns whether there are any.
  static bool claim_contexts(const std::vector<const OrtNode*>& nodes, OrtEpGraphSupportInfo& claims) {
    bool any = false;
    for (const OrtNode* node : nodes) {
      if (!is_context_node(*node)) continue;
      any = true;
      check(ep_api().EpGraphSupportInfo_AddNodesToFuse(&claims, &node, 1, nullptr));
    }
    return any;
  }

  void tell(const Network& network, const Claim& claim) const {
    const std::string text = report(network, claim);
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = text.find('\n', begin);
      log_line(shared_.logger, text.substr(begin, end - begin));
      begin = end + 1;
    }
    if (shared_.options.claim_report.empty()) return;
    std::ofstream file(shared_.options.claim_report, std::ios::binary);
    if (!(file << text).flush()) throw Error(ErrorCode::io, "cannot write the file of option claim_report");
  }

  std::unique_ptr<PartCallbacks> compile(const OrtGraph& graph, const OrtNode& fused_node, size_t number,
                                         OrtNode** context_node) {
    const RunningNetwork::Names names{
        names_of(list<const OrtValueInfo*>(api().Node_GetNumInputs, api().Node_GetInputs, &fused_node)),
        names_of(list<const OrtValueInfo*>(api().Node_GetNumOutputs, api().Node_GetOutputs, &fused_node))};
    const std::filesystem::path file = get<const ORTCHAR_T*>(api().Graph_GetModelPath, &graph);
    const auto nodes = list<const OrtNode*>(api().Graph_GetNumNodes, api().Graph_GetNodes, &graph);
    if (nodes.size() == 1 && is_context_node(*nodes[0]))
      return run(load_context(*nodes[0], file), names, number);
    Network network = read_network(graph, Constants::copied);
    for (size_t i = 0; i < network.refusals.size(); ++i)
      if (!network.refusals[i].empty())
        throw Error(ErrorCode::unsupported, network.graph.nodes[i].name + ": " + network.refusals[i]);
    Graph part = part_of(network, std::vector<bool>(network.graph.nodes.size(), true));
    auto callbacks = run(Handles::model(std::make_shared<const Model::Impl>(part)), names, number);
    if (shared_.options.context.enabled && context_node) {
      const std::optional<InputShapes> shapes =
          likely_shapes(network, part, shared_.device, shared_.options.session);
      *context_node = make_context_node(
          {std::move(part), std::move(network.record), shapes.value_or(InputShapes{}),
           get<const char*>(api().Node_GetName, &fused_node), names.inputs, names.outputs, file},
          shared_.device, shared_.options);
    }
    return callbacks;
  }

  std::unique_ptr<PartCallbacks> run(const Model& part, const RunningNetwork::Names& names, size_t number) {
    return std::make_unique<PartCallbacks>(std::make_unique<RunningNetwork>(shared_, part, names, number));
  }

  RunningNetwork::Shared shared_;
};

}  // namespace

OrtEp* make_provider(const Device& device, const ProviderOptions& options, const OrtLogger* logger) {
  return std::make_unique<Provider>(device, options, logger).release();
}

void release_provider(OrtEp* provider) noexcept { delete static_cast<Provider*>(provider); }

}  // namespace vellum::ort
