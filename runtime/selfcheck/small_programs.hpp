// Finds small programs whose kernels are similar to the kernels of a session.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "caps/device_caps.hpp"
#include "graph/graph.hpp"
#include "kernels/framework/kernel_id.hpp"
#include "kernels/framework/lowering.hpp"
#include "program/program.hpp"
#include "selfcheck/operator_cases.hpp"
#include "selfcheck/size_cases.hpp"
#include "vellum/options.hpp"

namespace vellum {

// The kernels of a session.
struct UsedKernels {
  std::vector<KernelId> kernels;
  // The options with which the session's operators are lowered.
  Precision precision = Precision::fp32;
  Arithmetic arithmetic = Arithmetic::fp32;
  // Whether the shaders of a program are available. Empty: all are.
  std::function<bool(const Program&)> has_shaders = {};
  // Checks the kernels with operators of this size, instead of small ones.
  std::optional<SizeClass> size = std::nullopt;
  // Kernels whose check has not begun then get no verdict. One check begins in any case.
  std::optional<std::chrono::steady_clock::time_point> until = std::nullopt;
};

// One way to lower a small operator.
struct SmallProgram {
  const SmallOperator* small = nullptr;
  const Graph* graph = nullptr;  // optimised
  bool accesses_rows = false;    // it is between products (row_cases.hpp)
  StorageChoice storage = StorageChoice::buffer;
  bool inputs_to_channels4 = false;
  uint32_t fold = 0;  // TensorDesc::fold of its images
  // Not 0: the size of the workgroups that have several rows, in place of the size that follows from the
  // operator's width.
  std::array<uint32_t, 2> workgroup{};
  TuningTable table;
  std::vector<KernelId> kernels;  // those of another size than UsedKernels::size are empty
};

// For each kernel of a session, the small programs whose kernels are most similar to it.
class SmallPrograms {
 public:
  // A kernel of a small program.
  struct Match {
    size_t program = 0, kernel = 0;
  };

  // caps: the caps for which the session's program was compiled. `used` must outlive the object.
  SmallPrograms(const DeviceCaps& caps, const UsedKernels& used);
  // Not copyable, because members point to other members.
  SmallPrograms(const SmallPrograms&) = delete;
  SmallPrograms& operator=(const SmallPrograms&) = delete;

  const SmallProgram& operator[](size_t program) const { return programs_[program]; }
  // Returns the matches of each used kernel; none if no small operator uses it. Conversions have several, in
  // programs with different shaders, because in some of these another kernel may be wrong.
  const std::vector<std::vector<Match>>& matches() const { return matches_; }
  // All programs of the matches.
  std::set<size_t> chosen() const;
  Program lowered(size_t program) const;

 private:
  LoweringOptions lowering_options(const SmallProgram& program) const;
  void find_programs();
  void find_programs_with_rows();
  Program lowered(const SmallProgram& program, std::vector<Choice>* choices) const;
  void add_programs(const SmallProgram& program);
  // Returns false if the device cannot compute the operator in this form.
  bool add_program(SmallProgram program, std::vector<Choice>* choices);
  // The workgroups of several rows that the session uses.
  std::set<std::array<uint32_t, 2>> workgroups() const;
  bool is_for_conversions(const SmallOperator& small) const;
  std::vector<Match> best_programs(const KernelId& used) const;

  const DeviceCaps caps_;
  const UsedKernels& used_;
  std::vector<SmallOperator> operators_;
  std::vector<Graph> graphs_;
  std::vector<Graph> row_graphs_;  // between_products(); empty if no kernel of the session accesses rows
  std::set<std::string> shaders_, candidates_;  // of the session
  std::vector<SmallProgram> programs_;
  std::vector<std::vector<Match>> matches_;
};

// Returns the programs with which check_used_kernels() checks these kernels.
std::vector<Program> check_programs(const DeviceCaps& caps, const UsedKernels& used);

}  // namespace vellum
