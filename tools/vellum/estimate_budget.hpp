// Finds whether a model fits into a number of bytes, and which options would make it fit.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "estimate_points.hpp"
#include "options.hpp"
#include "vellum/memory_frontier.hpp"

namespace vellum::cli {

// The source of estimates: a caps file, a device, or the Android Baseline 2022 profile.
class Estimator {
 public:
  // `on_device`: the device that the options name or default to, if there is no caps file.
  Estimator(const Options& options, const std::string& caps_file, Model model, bool on_device,
            const StreamRates& rates = {});
  MemoryEstimate estimate(SessionOptions options, const InputShapes& shapes) const;
  MemoryFrontier frontier(const SessionOptions& options,
                          const std::function<void(size_t done, size_t total)>& progress) const;
  const std::string& device() const { return name_; }
  // Whether neither a device nor caps were named.
  bool device_is_default() const { return is_default_; }

 private:
  Model model_;
  StreamRates rates_;
  std::optional<OpenedDevice> device_;
  std::optional<Caps> caps_;
  std::string name_;
  bool is_default_ = false;
};

// Whether a point fits into a budget, and which options make it fit.
struct BudgetAnswer {
  uint64_t total = 0;
  bool driver_known = false;  // whether the total includes the driver itself
  struct Remedy {
    std::string options;  // as arguments of the tool
    uint64_t total = 0;
  };
  std::vector<Remedy> remedies;  // options that fit; empty if the model fits already, or nothing helps
  Remedy smallest;               // the smallest of all that were tried
};

BudgetAnswer fit(const Estimator& estimator, const std::vector<TensorInfo>& inputs,
                 const SessionOptions& options, const Point& point, uint64_t budget);

// `x`: Point::x, which identifies the point; 0 if there is only one.
std::string to_text(const BudgetAnswer& answer, uint64_t budget, int64_t x);
nlohmann::json to_json(const BudgetAnswer& answer, uint64_t budget);

}  // namespace vellum::cli
