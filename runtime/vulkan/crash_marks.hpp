// Crash marks: records what a driver is about to do, so that a call that ended the process or hung the device
// is not tried again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "caps/device_caps.hpp"
#include "platform/owned_file.hpp"
#include "vellum/error.hpp"
#include "vellum/log.hpp"

namespace vellum::gpu {

// Calls in which drivers are known to end the process or lose the device (docs/drivers.md). For calls that
// concern a shader, Attempt::id is its name: all variants of the shader count as one, because another variant
// may crash the next process.
enum class AttemptKind : uint8_t {
  cooperative_query,         // querying the shapes of cooperative matrices
  pipeline_cache,            // creating a pipeline cache with stored data
  pipeline,                  // compiling a pipeline
  dispatch,                  // the first dispatch of a kernel, in its check
  cooperative_product,       // the check of cooperative matrices
  cooperative_byte_product,  // the same of bytes
};

// One call that a driver may not survive.
struct Attempt {
  AttemptKind kind = AttemptKind::pipeline;
  std::string id = {};    // the shader; empty for other kinds
  std::string what = {};  // for messages: "compiled shader 'conv_window'"

  bool operator==(const Attempt&) const = default;
};

// The attempts of one device and driver, in the cache folder. Thread-safe.
//
//   begin() --> line in trying-KEY-N.log of this process --> end: line in the same file
//                       |
//                       | the process dies between the two
//                       v
//   open() of the next process moves the attempt to crashes-KEY.json: has_crashed() is true from then on
class CrashMarks {
 public:
  CrashMarks() = default;  // marks nothing
  ~CrashMarks();
  CrashMarks(const CrashMarks&) = delete;
  CrashMarks& operator=(const CrashMarks&) = delete;

  // Reads the crashes of earlier processes, and logs one warning that lists them. An empty folder: marks
  // nothing.
  void open(const std::filesystem::path& folder, const DeviceCaps& caps, const LogCallback& log);

  // False: there is no cache folder, or it cannot be written. Then nothing needs an id.
  bool is_open() const { return !folder_.empty(); }
  bool has_crashed(AttemptKind kind, std::string_view id = {}) const;
  // True since the first crash of a compiler, also after forget(): pipelines are then compiled one at a time.
  // Some drivers crash only when several threads compile, and the next crash then has a single possible
  // cause.
  bool compiles_one_at_a_time() const;
  std::vector<Attempt> crashes() const;
  // Records a crash that the process survived, such as a lost device.
  void add_crash(const Attempt& attempt);
  // Deletes all crashes, so that everything may be tried again.
  void forget();
  // Ends all attempts of this process, on all devices, and marks no further ones: for a process that is about
  // to be ended on purpose. Must not be called in a signal handler, as it takes mutexes.
  static void discard_all();

  // An attempt that is in progress until this object is destroyed.
  class Mark {
   public:
    ~Mark();
    Mark(Mark&& other) noexcept : marks_(other.marks_), number_(std::exchange(other.number_, 0)) {}
    Mark& operator=(Mark&&) = delete;

   private:
    friend class CrashMarks;
    Mark(CrashMarks& marks, uint64_t number) : marks_(marks), number_(number) {}
    CrashMarks& marks_;
    uint64_t number_;
  };
  // Begins an attempt. durable: the attempt may hang the whole machine, so the mark is flushed to the disk
  // first.
  [[nodiscard]] Mark begin(const Attempt& attempt, bool durable = false);

 private:
  void discard();
  void collect_abandoned();
  void read_crashes();
  void write_crashes();
  void warn() const;
  void append(std::string_view line, bool durable);

  std::filesystem::path folder_;
  std::string key_, device_;
  LogCallback log_;
  mutable std::mutex mutex_;
  std::vector<Attempt> crashes_;
  bool compiler_crashed_ = false;
  std::unique_ptr<platform::OwnedFile> file_;
  bool file_failed_ = false;
  uint64_t next_ = 0;
};

// Calls `function` under durable marks. A lost device counts as a crash of all attempts.
template <typename Function>
decltype(auto) attempt_dispatch(CrashMarks& marks, std::span<const Attempt> attempts, Function&& function) {
  std::vector<CrashMarks::Mark> open;
  open.reserve(attempts.size());
  for (const Attempt& attempt : attempts) open.push_back(marks.begin(attempt, &attempt == &attempts.back()));
  try {
    return function();
  } catch (const Error& error) {
    if (error.code() == ErrorCode::device_lost)
      for (const Attempt& attempt : attempts) marks.add_crash(attempt);
    throw;
  }
}

}  // namespace vellum::gpu
