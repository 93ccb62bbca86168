#include "estimate_budget.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "io/file_name.hpp"
#include "output.hpp"

namespace vellum::cli {
namespace {

struct Attempt {
  SessionOptions options;
  std::string words;
};

// Memory modes that take less than this one does, and their names.
std::vector<std::pair<MemoryMode, std::string>> smaller_modes(MemoryMode mode) {
  std::vector<std::pair<MemoryMode, std::string>> modes;
  if (mode == MemoryMode::naive) modes.emplace_back(MemoryMode::shared_objects, "shared-objects");
  if (mode != MemoryMode::offsets) modes.emplace_back(MemoryMode::offsets, "offsets");
  return modes;
}

// From the least change to the greatest.
std::vector<Attempt> attempts(const SessionOptions& options) {
  std::vector<Attempt> all;
  for (const auto& [mode, name] : smaller_modes(options.memory)) {
    Attempt& attempt = all.emplace_back(Attempt{options, "--memory " + name});
    attempt.options.memory = mode;
  }
  if (options.precision == Precision::fp16) return all;
  all.insert(all.begin(), {options, ""});
  for (size_t i = 0, count = all.size(); i < count; ++i) {
    Attempt attempt = all[i];
    attempt.options.precision = Precision::fp16;
    attempt.words += (attempt.words.empty() ? "" : " ") + std::string("--precision fp16");
    all.push_back(std::move(attempt));
  }
  all.erase(all.begin());
  return all;
}

// The largest batch below the point's that fits, 0 if none does: memory grows with the batch.
std::pair<int64_t, uint64_t> largest_batch(const Estimator& estimator, const std::vector<TensorInfo>& inputs,
                                           const SessionOptions& options, const Point& point,
                                           uint64_t budget) {
  std::pair<int64_t, uint64_t> best{0, 0};
  int64_t low = 1, high = point.batch - 1;
  while (low <= high) {
    const int64_t middle = low + (high - low) / 2;
    const uint64_t total = estimator.estimate(options, with_batch(inputs, point.shapes, middle)).use.total();
    if (total <= budget) {
      best = {middle, total};
      low = middle + 1;
    } else {
      high = middle - 1;
    }
  }
  return best;
}

// Returns the largest of some shares of the weights that leaves enough for the rest, or the one that takes
// least; 0 if weights cannot stream.
std::pair<uint64_t, uint64_t> largest_weights_budget(const Estimator& estimator, SessionOptions options,
                                                     const Point& point, uint64_t budget) {
  std::pair<uint64_t, uint64_t> best{0, UINT64_MAX};
  for (const uint64_t share : {50, 25, 10}) {
    options.weights_budget = point.estimate.use.weights * share / 100;
    if (options.weights_budget == 0) break;
    try {
      const uint64_t total = estimator.estimate(options, point.shapes).use.total();
      if (total < best.second) best = {options.weights_budget, total};
      if (total <= budget) break;
    } catch (const Error& error) {
      if (error.code() != ErrorCode::out_of_memory) throw;
      break;  // a layer is larger than that
    }
  }
  return best;
}

}  // namespace

Estimator::Estimator(const Options& options, const std::string& caps_file, Model model, bool on_device,
                     const StreamRates& rates)
    : model_(std::move(model)), rates_(rates) {
  if (!caps_file.empty()) {
    caps_ = read_caps(caps_file);
    name_ = caps_name(caps_file);
  } else if (on_device || !options.device.device.empty()) {
    device_.emplace(options);
    name_ = device_->device().info().name;
  } else {
    caps_ = Caps::android_baseline_2022();
    name_ = caps_name("");
    is_default_ = true;
  }
}

MemoryEstimate Estimator::estimate(SessionOptions options, const InputShapes& shapes) const {
  options.input_shapes = shapes;
  return device_ ? estimate_memory(model_, options, device_->device(), rates_)
                 : estimate_memory(model_, options, *caps_, rates_);
}

MemoryFrontier Estimator::frontier(const SessionOptions& options,
                                   const std::function<void(size_t, size_t)>& progress) const {
  const FrontierOptions frontier_options{.budgets = {}, .progress = progress};
  return device_ ? memory_frontier(model_, options, device_->device(), frontier_options)
                 : memory_frontier(model_, options, *caps_, frontier_options);
}

BudgetAnswer fit(const Estimator& estimator, const std::vector<TensorInfo>& inputs,
                 const SessionOptions& options, const Point& point, uint64_t budget) {
  BudgetAnswer answer;
  answer.total = point.estimate.use.total();
  answer.driver_known = point.estimate.resident.driver.has_value();
  answer.smallest.total = answer.total;
  if (answer.total <= budget) return answer;
  const auto consider = [&](const std::string& words, uint64_t total) {
    if (total < answer.smallest.total) answer.smallest = {words, total};
    if (total <= budget) answer.remedies.push_back({words, total});
  };
  for (const Attempt& attempt : attempts(options))
    consider(attempt.words, estimator.estimate(attempt.options, point.shapes).use.total());
  if (options.weights_budget == 0)
    if (const auto [streamed, total] = largest_weights_budget(estimator, options, point, budget);
        streamed > 0)
      consider("--weights-budget " + std::to_string(streamed), total);
  if (const auto [batch, total] = largest_batch(estimator, inputs, options, point, budget); batch > 0)
    consider("--batch " + std::to_string(batch), total);
  return answer;
}

std::string to_text(const BudgetAnswer& answer, uint64_t budget, int64_t x) {
  const std::string which = x ? std::to_string(x) + ": " : "";
  const char* without = answer.driver_known ? "" : ", without what the driver itself takes";
  if (answer.total <= budget)
    return which + fmt::format("fits: {} of {} bytes{}\n", grouped(answer.total), grouped(budget), without);
  std::string text = which + fmt::format("does not fit: {} bytes{}, {} more than {}\n", grouped(answer.total),
                                         without, grouped(answer.total - budget), grouped(budget));
  for (const BudgetAnswer::Remedy& remedy : answer.remedies)
    text += fmt::format("  it would with {}: {}\n", remedy.options, grouped(remedy.total));
  if (answer.remedies.empty())
    text += answer.smallest.options.empty()
                ? "  no other precision, memory mode or batch takes less\n"
                : fmt::format("  nothing suffices; the least is {} with {}\n", grouped(answer.smallest.total),
                              answer.smallest.options);
  return text;
}

nlohmann::json to_json(const BudgetAnswer& answer, uint64_t budget) {
  nlohmann::json remedies = nlohmann::json::array();
  for (const BudgetAnswer::Remedy& remedy : answer.remedies)
    remedies.push_back({{"options", remedy.options}, {"total", remedy.total}});
  return {{"bytes", budget},
          {"fits", answer.total <= budget},
          {"driver_known", answer.driver_known},
          {"would_fit", remedies}};
}

}  // namespace vellum::cli
