// The trade-off between memory and time (vellum/memory_frontier.hpp), for C.
#include <string>
#include <vector>

#include "c_api/support.hpp"
#include "vellum/memory_frontier.hpp"

using vellum::c_api::guarded;
using vellum::c_api::require;

struct vellum_memory_frontier {
  vellum::MemoryFrontier frontier;
};

namespace {

vellum_frontier_options frontier_defaults() {
  vellum_frontier_options options{};
  options.size = sizeof(options);
  return options;
}

vellum::FrontierOptions frontier_options_to_cpp(const vellum_frontier_options* c_options) {
  const vellum_frontier_options options = vellum::c_api::given_or_default(c_options, frontier_defaults());
  vellum::FrontierOptions result;
  if (options.budget_count) {
    require(options.budgets, "budgets");
    result.budgets.assign(options.budgets, options.budgets + options.budget_count);
  }
  if (options.progress)
    result.progress = [options](size_t done, size_t total) {
      options.progress(done, total, options.progress_user);
    };
  return result;
}

std::vector<double> of_each_point(const vellum_memory_frontier& frontier, const double* milliseconds) {
  if (!milliseconds) return {};
  return {milliseconds, milliseconds + frontier.frontier.points.size()};
}

}  // namespace

void vellum_frontier_options_init_sized(vellum_frontier_options* options, size_t size) {
  vellum::c_api::write_defaults(options, size, frontier_defaults());
}

vellum_status vellum_memory_frontier_create(const vellum_model* model, const vellum_session_options* options,
                                            const vellum_device* device, const char* caps,
                                            const vellum_frontier_options* frontier_options,
                                            vellum_memory_frontier** frontier, vellum_error* error) {
  if (frontier) *frontier = nullptr;
  return guarded(error, [&] {
    require(model, "model");
    require(frontier, "frontier");
    const vellum::SessionOptions session = vellum::c_api::session_options(options);
    const vellum::FrontierOptions points = frontier_options_to_cpp(frontier_options);
    *frontier = new vellum_memory_frontier{
        device
            ? vellum::memory_frontier(model->model, session, device->device, points)
            : vellum::memory_frontier(model->model, session, vellum::c_api::caps_of(nullptr, caps), points)};
  });
}

void vellum_memory_frontier_destroy(vellum_memory_frontier* frontier) { delete frontier; }

size_t vellum_memory_frontier_count(const vellum_memory_frontier* frontier) {
  return frontier ? frontier->frontier.points.size() : 0;
}

vellum_status vellum_memory_frontier_point(const vellum_memory_frontier* frontier, size_t index,
                                           vellum_frontier_point* point, vellum_error* error) {
  return guarded(error, [&] {
    require(frontier, "frontier");
    vellum::c_api::require_index(index, frontier->frontier.points.size(), "point");
    const vellum::FrontierPoint& found = frontier->frontier.points[index];
    vellum::c_api::write_result(
        point, {0, found.budget, found.bytes, found.weights_bytes, found.streamed_bytes, found.predicted_ms},
        "point");
  });
}

vellum_status vellum_memory_frontier_knee(const vellum_memory_frontier* frontier, const double* milliseconds,
                                          size_t* index, vellum_error* error) {
  return guarded(error, [&] {
    require(frontier, "frontier");
    require(index, "index");
    if (frontier->frontier.points.empty())
      throw vellum::Error(vellum::ErrorCode::invalid_argument, "the frontier has no points");
    *index = milliseconds
                 ? vellum::frontier_knee(frontier->frontier.points, of_each_point(*frontier, milliseconds))
                 : frontier->frontier.knee;
  });
}

vellum_status vellum_memory_frontier_svg(const vellum_memory_frontier* frontier, const char* title,
                                         const double* measured, vellum_text** svg, vellum_error* error) {
  return vellum::c_api::make_text(svg, error, [&] {
    require(frontier, "frontier");
    require(title, "title");
    return vellum::memory_frontier_svg(title, frontier->frontier, of_each_point(*frontier, measured));
  });
}
