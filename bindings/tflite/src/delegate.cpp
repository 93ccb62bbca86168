#include "delegate.hpp"

#include <algorithm>
#include <fstream>
#include <list>
#include <utility>

#include "bindings/plugins/open_devices.hpp"
#include "claim.hpp"

namespace vellum::lite {
namespace {

class Delegate : public TfLiteDelegate {
 public:
  Delegate(const Device& device, const plugin::PluginOptions& options)
      : TfLiteDelegate{}, shared_{device, options, {}} {
    const bool has_budget = options.session.memory_budget > 0 || options.session.weights_budget > 0;
    if (!has_budget) shared_.pool = MemoryPool(device);
    flags = kTfLiteDelegateFlagsAllowDynamicTensors;
    TfLiteDelegate::Prepare = [](TfLiteContext* context, TfLiteDelegate* self) noexcept -> TfLiteStatus {
      auto& delegate = *static_cast<Delegate*>(self);
      return guarded_by(context,
                        [&] { plugin::run_on(delegate.shared_.device, [&] { delegate.claim(context); }); });
    };
  }

 private:
  struct WaitingPart {
    std::vector<int> nodes;
    std::unique_ptr<RunningPart> part;
  };

  void claim(TfLiteContext* context) {
    process_.check();
    Claim claim = claim_nodes(context, shared_.device, shared_.options);
    write_report(report(context, claim));
    waiting_.clear();
    size_t number = 0;
    std::vector<int> nodes{0};
    for (ClaimedPart& claimed : claim.parts) {
      std::vector<int> own = claimed.part.nodes;
      nodes.insert(nodes.end(), own.begin(), own.end());
      waiting_.push_back(
          {std::move(own), std::make_unique<RunningPart>(shared_, std::move(claimed), number++)});
    }
    if (waiting_.empty()) return;
    nodes[0] = static_cast<int>(nodes.size() - 1);
    std::sort(nodes.begin() + 1, nodes.end());
    check(context->ReplaceNodeSubsetsWithDelegateKernels(
              context, kernel(), reinterpret_cast<const TfLiteIntArray*>(nodes.data()), this),
          "ReplaceNodeSubsetsWithDelegateKernels");
    waiting_.clear();
  }

  void write_report(const std::string& text) const {
    if (shared_.options.claim_report.empty()) return;
    std::ofstream file(shared_.options.claim_report, std::ios::binary);
    if (!(file << text).flush()) throw Error(ErrorCode::io, "cannot write the file of option claim_report");
  }

  // Returns the part that claim() has made of these nodes; null if there is none.
  std::unique_ptr<RunningPart> take_waiting(std::span<const int> nodes) {
    for (WaitingPart& one : waiting_)
      if (std::ranges::equal(one.nodes, nodes)) return std::move(one.part);
    return nullptr;
  }

  static RunningPart& part_of_node(const TfLiteNode* node) {
    if (node->user_data == nullptr)
      throw Error(ErrorCode::internal, "the interpreter divided the nodes otherwise than it had announced");
    return *static_cast<RunningPart*>(node->user_data);
  }

  static TfLiteRegistration kernel() {
    TfLiteRegistration result{};
    result.init = [](TfLiteContext*, const char* parameters, size_t) noexcept -> void* {
      const auto& own = *reinterpret_cast<const TfLiteDelegateParams*>(parameters);
      return static_cast<Delegate*>(own.delegate)->take_waiting(ints(own.nodes_to_replace)).release();
    };
    result.free = [](TfLiteContext*, void* part) noexcept { delete static_cast<RunningPart*>(part); };
    result.prepare = [](TfLiteContext* context, TfLiteNode* node) noexcept -> TfLiteStatus {
      return guarded_by(context, [&] {
        RunningPart& part = part_of_node(node);
        plugin::run_on(part.device(), [&] { part.prepare(context); });
      });
    };
    result.invoke = [](TfLiteContext* context, TfLiteNode* node) noexcept -> TfLiteStatus {
      return guarded_by(context, [&] {
        RunningPart& part = part_of_node(node);
        plugin::run_on(part.device(), [&] { part.invoke(context); });
      });
    };
    result.custom_name = "VellumDelegate";
    result.version = 1;
    return result;
  }

  const plugin::ForkGuard process_;
  RunningPart::Shared shared_;
  std::vector<WaitingPart> waiting_;  // between their claim and init()
};

}  // namespace

TfLiteDelegate* make_delegate(const Device& device, const plugin::PluginOptions& options) {
  return std::make_unique<Delegate>(device, options).release();
}

void delete_delegate(TfLiteDelegate* delegate) noexcept { delete static_cast<Delegate*>(delegate); }

}  // namespace vellum::lite
