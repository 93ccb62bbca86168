#include "live/overlay.hpp"

#include <imgui.h>
#include <imgui_impl_glfw.h>
#include <imgui_impl_vulkan.h>

#include <algorithm>
#include <cmath>

namespace vellum::samples {
namespace {

constexpr ImU32 kOutline = IM_COL32(0, 230, 64, 255), kDot = IM_COL32(255, 32, 96, 255);

ImU32 color_of(uint32_t object) {
  // Hues far apart for neighbours.
  float red = 0, green = 0, blue = 0;
  ImGui::ColorConvertHSVtoRGB(std::fmod(0.618f * static_cast<float>(object), 1.0f), 0.55f, 0.85f, red, green,
                              blue);
  return ImGui::GetColorU32(ImVec4(red, green, blue, 0.9f));
}

double kib(uint64_t bytes) { return static_cast<double>(bytes) / 1024; }

}  // namespace

Overlay::Overlay(const Graphics& graphics) : graphics_(graphics), descriptors_(nullptr) {
  ImGui::CreateContext();
  ImGui::GetIO().IniFilename = nullptr;
  ImGui_ImplGlfw_InitForVulkan(graphics.window(), true);
  constexpr vk::DescriptorPoolSize size(vk::DescriptorType::eCombinedImageSampler, 4);
  descriptors_ = vk::raii::DescriptorPool(graphics.device(),
                                          {vk::DescriptorPoolCreateFlagBits::eFreeDescriptorSet, 4, size});
  ImGui_ImplVulkan_InitInfo info{};
  info.Instance = *graphics.instance();
  info.PhysicalDevice = *graphics.physical();
  info.Device = *graphics.device();
  info.QueueFamily = graphics.family();
  info.Queue = *graphics.queue();
  info.DescriptorPool = *descriptors_;
  info.MinImageCount = 2;
  info.ImageCount = std::max(2u, graphics.image_count());
  info.MSAASamples = VK_SAMPLE_COUNT_1_BIT;
  ImGui_ImplVulkan_Init(&info, graphics.render_pass());

  const vk::raii::CommandBuffer commands = graphics.make_commands();
  const vk::raii::Fence done(graphics.device(), vk::FenceCreateInfo());
  commands.begin(vk::CommandBufferBeginInfo());
  ImGui_ImplVulkan_CreateFontsTexture(*commands);
  commands.end();
  graphics.submit(vk::SubmitInfo({}, {}, *commands), *done);
  graphics.wait(*done);
  ImGui_ImplVulkan_DestroyFontUploadObjects();
}

Overlay::~Overlay() {
  graphics_.device().waitIdle();
  ImGui_ImplVulkan_Shutdown();
  ImGui_ImplGlfw_Shutdown();
  ImGui::DestroyContext();
}

Overlay::Place Overlay::place(vk::Extent2D window, uint32_t width, uint32_t height) {
  const auto window_width = static_cast<float>(window.width),
             window_height = static_cast<float>(window.height);
  const auto picture_width = static_cast<float>(width), picture_height = static_cast<float>(height);
  const float scale = std::min(window_width / picture_width, window_height / picture_height);
  return {(window_width - scale * picture_width) / 2, (window_height - scale * picture_height) / 2, scale};
}

std::optional<size_t> Overlay::build(const OverlayState& state) {
  ImGui_ImplVulkan_NewFrame();
  ImGui_ImplGlfw_NewFrame();
  ImGui::NewFrame();
  draw_marks(state);

  std::optional<size_t> chosen;
  ImGui::SetNextWindowPos({12, 12}, ImGuiCond_FirstUseEver);
  ImGui::Begin("Vellum", nullptr, ImGuiWindowFlags_AlwaysAutoResize);
  ImGui::SetNextItemWidth(160);
  if (ImGui::BeginCombo("network", effect_kinds()[state.effect].name)) {
    for (size_t i = 0; i < effect_kinds().size(); ++i)
      if (state.available[i] && ImGui::Selectable(effect_kinds()[i].name, i == state.effect) &&
          i != state.effect)
        chosen = i;
    ImGui::EndCombo();
  }
  if (state.progress) {
    const auto ready = static_cast<float>(state.progress->ready),
               total = static_cast<float>(state.progress->total);
    ImGui::ProgressBar(total > 0 ? ready / total : 0, {160, 0}, "pipelines");
  }
  show_times(state);
  ImGui::End();
  show_memory_map();
  ImGui::Render();
  return chosen;
}

void Overlay::show_times(const OverlayState& state) const {
  ImGui::Text("%.1f frames a second, %u x %u", state.frames_per_second, state.frame_width,
              state.frame_height);
  if (!state.inference) return;
  const StageTimes& times = state.inference->times();
  const std::pair<const char*, double> rows[] = {{"upload", times.upload},
                                                 {"network", times.network},
                                                 {"picture", times.picture},
                                                 {"marks (host)", times.decode},
                                                 {"window", graphics_.draw_milliseconds()}};
  for (const auto& [stage, milliseconds] : rows) ImGui::Text("%-14s %7.2f ms", stage, milliseconds);
}

// One rectangle for each tensor: from its first to its last task, at its bytes in the arenas.
void Overlay::show_memory_map() const {
  if (memory_.objects.empty()) return;
  uint64_t bytes = 0;
  std::vector<uint64_t> arenas;
  for (const uint64_t arena : memory_.arenas) {
    arenas.push_back(bytes);
    bytes += arena;
  }
  int64_t tasks = 1;
  for (const TensorReport& tensor : memory_.tensors) tasks = std::max(tasks, tensor.last_task + 1);

  ImGui::SetNextWindowPos({12, 210}, ImGuiCond_FirstUseEver);
  ImGui::Begin("Memory", nullptr, ImGuiWindowFlags_AlwaysAutoResize);
  ImGui::Text("%zu tensors in %zu objects: %.0f KiB of %.0f", memory_.tensors.size(), memory_.objects.size(),
              kib(memory_.planned_bytes), kib(memory_.naive_bytes));
  const ImVec2 size(300, 160), origin = ImGui::GetCursorScreenPos();
  ImGui::Dummy(size);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float x_step = size.x / static_cast<float>(tasks),
              y_step = size.y / static_cast<float>(std::max<uint64_t>(bytes, 1));
  for (const TensorReport& tensor : memory_.tensors) {
    const ObjectReport& object = memory_.objects[tensor.object];
    const uint64_t begin = arenas[object.arena] + object.arena_offset + tensor.offset;
    const ImVec2 low(origin.x + x_step * static_cast<float>(tensor.first_task),
                     origin.y + y_step * static_cast<float>(begin)),
        high(origin.x + x_step * static_cast<float>(tensor.last_task + 1),
             origin.y + y_step * static_cast<float>(begin + tensor.bytes));
    list.AddRectFilled(low, high, color_of(tensor.object));
    if (ImGui::IsMouseHoveringRect(low, high))
      ImGui::SetTooltip("%s: %.0f KiB, object %u carries %u", tensor.name.c_str(), kib(tensor.bytes),
                        object.id, object.reuse_count);
  }
  // The objects that carry most.
  std::vector<const ObjectReport*> objects;
  for (const ObjectReport& object : memory_.objects) objects.push_back(&object);
  std::ranges::stable_sort(objects, std::ranges::greater(), &ObjectReport::reuse_count);
  objects.resize(std::min<size_t>(objects.size(), 5));
  for (const ObjectReport* object : objects)
    ImGui::Text("object %2u %8.0f KiB  %2u tensors", object->id, kib(object->bytes), object->reuse_count);
  ImGui::End();
}

void Overlay::draw_marks(const OverlayState& state) const {
  if (!state.inference) return;
  const Place at = place(graphics_.extent(), state.frame_width, state.frame_height);
  const auto to_window = [&](Point point) {
    return ImVec2(at.left + at.scale * point.x, at.top + at.scale * point.y);
  };
  ImDrawList& list = *ImGui::GetBackgroundDrawList();
  const Marks& marks = state.inference->marks();
  for (const std::vector<Point>& outline : marks.outlines)
    for (size_t i = 0; i < outline.size(); ++i)
      list.AddLine(to_window(outline[i]), to_window(outline[(i + 1) % outline.size()]), kOutline, 3);
  const float radius = marks.dots.size() > 50 ? 1.5f : 4;  // a mesh, or some key points
  for (const Point dot : marks.dots) list.AddCircleFilled(to_window(dot), radius, kDot);
}

void Overlay::render(vk::CommandBuffer commands) const {
  ImGui_ImplVulkan_RenderDrawData(ImGui::GetDrawData(), commands);
}

}  // namespace vellum::samples
