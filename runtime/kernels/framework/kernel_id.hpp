// Names of the kernels of a program, and the set of kernels that a device computes wrongly.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>

#include "caps/device_caps.hpp"
#include "program/program.hpp"

namespace vellum {

// Identifies the code that a driver compiles for a dispatch.
struct KernelId {
  std::string shader;
  std::string candidate;  // KernelName::text() of the node's choices, joined by ", "
  std::string forms;      // the element type and storage of each tensor: "x=BUFFER_F32 y=BUFFER_F32"
  std::string written;    // the form of the first tensor that it writes: "BUFFER_F32"
  std::string variant;    // the other macros of the shader: "ACTIVATION=relu TILE_X=4"
  // Facts that follow from the members above.
  std::optional<FusedKernelId> fused = std::nullopt;  // Dispatch::fused
  std::string unfolded = {};  // text() of the kernel for images that are not folded; empty: none is folded
  bool accesses_rows = false;  // a linear tensor is in rows of texels (plan/row_texels.hpp)

  bool uses_folded_images() const { return !unfolded.empty(); }
  // Equal kernels have equal texts, so that files can identify them.
  std::string text() const;
  // "kernel 'pointwise 4x2' (shader conv_pointwise)", for messages.
  std::string description() const;
  bool operator==(const KernelId&) const = default;
};

KernelId kernel_id(const Dispatch& dispatch);
// Returns whether the kernel is a layout conversion, which belongs to no operator.
bool is_conversion(const KernelId& kernel);

// A kernel whose results are wrong on a device.
struct WrongKernel {
  std::string why = {};
  // Members of its KernelId.
  std::optional<FusedKernelId> fused = std::nullopt;
  std::string unfolded = {};
  bool accesses_rows = false;

  bool uses_folded_images() const { return !unfolded.empty(); }
  bool operator==(const WrongKernel&) const = default;
};

WrongKernel wrong_kernel(const KernelId& kernel, std::string why);

// The kernels that a device computes wrongly, by KernelId::text().
using WrongKernels = std::map<std::string, WrongKernel, std::less<>>;

// How nodes with wrong kernels are computed.
//   other_kernels  by other kernels, or on the host if there are none.
//   on_host        on the host. All other nodes keep their kernels.
//   all_on_host    the host computes every node of the graph.
enum class WrongNodes : uint8_t { other_kernels, on_host, all_on_host };

// Kernels of a program that were avoided: maps description() to the reason.
using AvoidedKernels = std::map<std::string, std::string>;

// "Mali-G52, driver 38.1: kernel 'pointwise 4x2' (shader 'conv_pointwise') computes wrong results and ...".
std::string wrong_kernel_warning(const DeviceCaps& caps, const std::string& kernel, const std::string& why);

// Thrown while lowering if every kernel that could convert between the layouts of a node is wrong.
class ConversionIsWrong : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace vellum
