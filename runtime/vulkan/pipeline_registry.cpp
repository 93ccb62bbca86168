#include <algorithm>
#include <atomic>
#include <exception>
#include <functional>
#include <future>
#include <iterator>
#include <map>
#include <system_error>
#include <thread>
#include <vector>

#include "vulkan/context_impl.hpp"
#include "vulkan/crash_marks.hpp"
#include "vulkan/early_compile.hpp"
#include "vulkan/pipeline.hpp"
#include "vulkan/pipeline_cache.hpp"

namespace vellum::gpu {
namespace {

PipelineKey sorted(PipelineKey key) {
  std::ranges::sort(key.defines);
  return key;
}

// std::jthread is not in the standard library of Android's NDK.
class JoinedThreads {
 public:
  ~JoinedThreads() {
    for (std::thread& thread : threads_) thread.join();
  }
  // If the system provides no more threads, the existing ones do the work.
  template <typename Work>
  void start(const Work& work) {
    try {
      threads_.emplace_back(work);
    } catch (const std::system_error&) {
    }
  }

 private:
  std::vector<std::thread> threads_;
};

// Calls work(0) to work(count - 1), each once; stops at the first failure. threads 0: as many as the machine
// has.
void in_parallel(size_t count, unsigned threads, const std::function<void(size_t)>& work) {
  if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
  threads = static_cast<unsigned>(std::min<size_t>(threads, count));
  std::atomic<size_t> next{0};
  std::exception_ptr failure;
  std::mutex failure_mutex;
  const auto work_on = [&] {
    try {
      for (size_t i = next++; i < count; i = next++) work(i);
    } catch (...) {
      const std::lock_guard lock(failure_mutex);
      if (!failure) failure = std::current_exception();
      next = count;
    }
  };
  {
    JoinedThreads workers;
    for (unsigned i = 1; i < threads; ++i) workers.start(work_on);
    work_on();
  }
  if (failure) std::rethrow_exception(failure);
}

using PipelinePointer = std::shared_ptr<const Pipeline>;

}  // namespace

bool PipelineKey::operator<(const PipelineKey& other) const {
  const auto tie = [](const PipelineKey& key) {
    return std::tie(key.shader, key.defines, key.bindings, key.push_constant_bytes, key.parameter_block,
                    key.workgroup_size, key.subgroup_size, key.planes, key.dispatch_base, key.source);
  };
  return tie(*this) < tie(other);
}

struct PipelineRegistry::Impl {
  explicit Impl(Context& owner) : context(owner), cache(owner) {}

  Context& context;
  PipelineCache cache;
  mutable std::mutex mutex;
  std::map<PipelineKey, std::shared_future<PipelinePointer>> pipelines;
  std::atomic<uint64_t> made{0}, saved{0};

  PipelinePointer make_marked(const PipelineKey& key);
  PipelinePointer make(const PipelineKey& key, std::promise<PipelinePointer>& promise);
  bool knows(const PipelineKey& key) const;
};

PipelinePointer PipelineRegistry::Impl::make_marked(const PipelineKey& key) {
  CrashMarks& marks = context.impl().crash_marks;
  if (!marks.is_open()) return PipelinePointer(new Pipeline(context, cache, key));
  const Attempt attempt{AttemptKind::pipeline, key.shader, "compiled shader '" + key.shader + "'"};
  if (marks.has_crashed(attempt.kind, attempt.id))
    throw Error(ErrorCode::unsupported,
                context.caps().name + ": the driver ended an earlier process while it compiled shader '" +
                    key.shader + "'; `vellum doctor --forget` lets it try again");
  const CrashMarks::Mark mark = marks.begin(attempt);
  return PipelinePointer(new Pipeline(context, cache, key));
}

// A failure is reported to all threads that wait for the pipeline; the next request tries again.
PipelinePointer PipelineRegistry::Impl::make(const PipelineKey& key, std::promise<PipelinePointer>& promise) {
  try {
    PipelinePointer pipeline = make_marked(key);
    ++made;
    promise.set_value(pipeline);
    return pipeline;
  } catch (...) {
    {
      const std::lock_guard lock(mutex);
      pipelines.erase(key);
    }
    promise.set_exception(std::current_exception());
    throw;
  }
}

PipelineRegistry::PipelineRegistry(Context& context) : impl_(std::make_unique<Impl>(context)) {}

PipelineRegistry::~PipelineRegistry() = default;

PipelinePointer PipelineRegistry::get(const PipelineKey& key) {
  const PipelineKey sorted_key = sorted(key);
  std::promise<PipelinePointer> promise;
  std::shared_future<PipelinePointer> present;
  {
    const std::lock_guard lock(impl_->mutex);
    const auto [entry, is_new] = impl_->pipelines.try_emplace(sorted_key);
    if (is_new)
      entry->second = promise.get_future().share();
    else
      present = entry->second;
  }
  const PipelinePointer pipeline = present.valid() ? present.get() : impl_->make(sorted_key, promise);
  // The caller's pointer keeps the Context alive, which owns the pipeline.
  return PipelinePointer(impl_->context.shared_from_this(), pipeline.get());
}

bool PipelineRegistry::Impl::knows(const PipelineKey& key) const {
  const std::lock_guard lock(mutex);
  return pipelines.contains(sorted(key));
}

std::vector<PipelinePointer> PipelineRegistry::prepare(std::span<const PipelineKey> keys,
                                                       const EarlyBindings& bindings, unsigned threads,
                                                       Progress* progress) {
  struct Wanted {
    PipelinePointer pipeline;
    std::vector<std::vector<ImageDesc>> images;  // that it is compiled for
  };
  if (impl_->context.impl().crash_marks.compiles_one_at_a_time()) threads = 1;
  // Each key once, so that no thread waits for another that creates the same pipeline.
  std::map<PipelineKey, Wanted> wanted;
  std::vector<std::pair<const PipelineKey, Wanted>*> distinct;
  for (size_t i = 0; i < keys.size(); ++i) {
    const auto [entry, is_new] = wanted.try_emplace(keys[i]);
    if (is_new) distinct.push_back(&*entry);
    std::vector<ImageDesc> like;
    if (!bindings.images.empty())
      std::ranges::transform(bindings.images[i], std::back_inserter(like), smallest_like);
    auto& known = entry->second.images;
    if (std::ranges::find(known, like) == known.end()) known.push_back(std::move(like));
  }
  EarlyCompile early(impl_->context.shared_from_this(), bindings.memory);
  if (progress) progress->expect(distinct.size());
  in_parallel(distinct.size(), threads, [&](size_t i) {
    check(progress);
    auto& [key, want] = *distinct[i];
    const bool is_new = !impl_->knows(key);
    want.pipeline = get(key);
    if (is_new)
      for (const std::vector<ImageDesc>& images : want.images) early.begin(want.pipeline, images);
    if (progress) progress->advance();
  });
  check(progress);
  early.finish();
  std::vector<PipelinePointer> pipelines;
  for (const PipelineKey& key : keys) pipelines.push_back(wanted.at(key).pipeline);
  return pipelines;
}

void PipelineRegistry::add_precompiled_shaders(const std::shared_ptr<const CompiledShaders>& shaders) {
  impl_->context.impl().shader_compiler.add_precompiled_shaders(shaders);
}

size_t PipelineRegistry::size() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->pipelines.size();
}

ShaderCounts PipelineRegistry::shader_counts() const {
  const ShaderCompiler& compiler = impl_->context.impl().shader_compiler;
  return {compiler.compiled(), compiler.found_on_disk(), compiler.precompiled()};
}

void PipelineRegistry::save() {
  const uint64_t made = impl_->made;
  if (impl_->saved.exchange(made) != made) impl_->cache.save();
}

}  // namespace vellum::gpu
