// The switches of shaders: each macro that a kernel file defines for a dispatch is read by its shader. GLSL
// would not notice a name that no shader has.
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>
#include <string>
#include <utility>

#include "caps/vendors.hpp"
#include "cost/device_traits.hpp"
#include "included_files.hpp"
#include "kernels/framework/lowering.hpp"
#include "passes/passes.hpp"
#include "selfcheck/operator_cases.hpp"
#include "shaders/sources.hpp"

namespace vellum::test {
namespace {

// The words of a shader and of everything that it includes.
class ShaderWords {
 public:
  const std::set<std::string>& of(const std::string& shader) {
    std::set<std::string>& words = words_[shader];
    if (!words.empty()) return words;
    std::set<std::string> files;
    add_with_includes(shader + ".comp", files);
    for (const std::string& file : files) {
      const std::string source(find_shader_source(file).value_or(""));
      const std::string text = std::regex_replace(source, std::regex("//[^\n]*"), "");
      static const std::regex word("[A-Za-z_][A-Za-z_0-9]*");
      for (std::sregex_iterator i(text.begin(), text.end(), word), end; i != end; ++i) words.insert(i->str());
    }
    return words;
  }

 private:
  std::map<std::string, std::set<std::string>> words_;
};

DeviceCaps device(DeviceType type, uint32_t vendor) {
  DeviceCaps caps;
  caps.type = type;
  caps.vendor_id = vendor;
  caps.fp16_arithmetic = true;
  caps.integer_dot_products = caps.accelerates_signed_dot_products = vendor == kAmd;
  set_default_traits(caps);
  return caps;
}

class Checker {
 public:
  explicit Checker(DeviceCaps caps) : caps_(std::move(caps)) {}

  // Checks every candidate of the graph.
  void check(const Graph& graph, LoweringOptions options) {
    std::vector<Choice> choices;
    options.choices = &choices;
    check(lower(graph, caps_, options));
    options.choices = nullptr;
    for (const Choice& choice : choices)
      for (const KernelName& candidate : choice.candidates) {
        TuningTable table;
        table.operators[choice.signature] = {{choice.candidates.front().text(), 2.0}};
        table.operators[choice.signature][candidate.text()] = 1.0;
        options.tuning = &table;
        check(lower(graph, caps_, options));
      }
  }

  size_t macros() const { return macros_.size(); }

 private:
  void check(const Program& program) {
    for (const Task& task : program.tasks) {
      if (!task.dispatch) continue;
      for (const auto& [macro, value] : task.dispatch->defines) {
        if (is_tensor_macro(macro) || !macros_.insert(task.dispatch->shader + " " + macro).second) continue;
        EXPECT_TRUE(words_.of(task.dispatch->shader).contains(macro))
            << task.dispatch->shader << " has no " << macro << ", which '" << task.dispatch->candidate
            << "' defines";
      }
    }
  }

  DeviceCaps caps_;
  ShaderWords words_;
  std::set<std::string> macros_;
};

TEST(Switches, EveryMacroOfADispatchIsInItsShader) {
  for (const auto& [type, vendor] : {std::pair{DeviceType::cpu, kMesa},
                                     {DeviceType::integrated_gpu, kQualcomm},
                                     {DeviceType::discrete_gpu, kAmd},
                                     {DeviceType::integrated_gpu, kArm},
                                     {DeviceType::integrated_gpu, kIntel}}) {
    Checker checker(device(type, vendor));
    for (const SmallOperator& small : small_operators()) {
      SCOPED_TRACE(small.name);
      const Graph graph = optimise(small.graph, {});
      for (const StorageChoice storage : {StorageChoice::automatic, StorageChoice::image2d}) {
        checker.check(graph, {.storage = storage, .winograd = Winograd::automatic});
        checker.check(graph, {.precision = Precision::fp16,
                              .storage = storage,
                              .winograd = Winograd::automatic,
                              .arithmetic = Arithmetic::fp16});
      }
    }
    EXPECT_GT(checker.macros(), 100u);
  }
}

}  // namespace
}  // namespace vellum::test
