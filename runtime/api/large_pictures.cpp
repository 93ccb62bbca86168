#include "vellum/large_pictures.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "api/fit_budget.hpp"
#include "api/guard.hpp"
#include "api/impl.hpp"
#include "api/target.hpp"
#include "api/tensor_names.hpp"
#include "compile/kernels_of.hpp"
#include "estimate/device_footprint.hpp"
#include "exec/executor.hpp"
#include "graph/operators/movement/transpose.hpp"
#include "passes/tile/picture_parts.hpp"
#include "vulkan/memory_budget.hpp"

namespace vellum {
namespace {

// Kernels are chosen for a reference picture of about this many rows and columns: fewer than twice as many,
// and congruent to the size of the whole picture modulo this number.
constexpr int64_t kReferenceSide = 256;

// Rows and columns of tiles that are tried, the largest first.
constexpr int64_t kSides[] = {1024, 768, 512, 384, 256, 192, 128, 96, 64, 48, 32};

struct Side {
  int64_t height = 0, width = 0;
};

int64_t reference_side(int64_t whole) {
  return whole < 2 * kReferenceSide ? whole : kReferenceSide + whole % kReferenceSide;
}

// Returns the largest number of rows, at most `wanted`, such that parts can begin at multiples of the
// alignment and the last part ends with the whole.
int64_t part_side(int64_t wanted, int64_t whole, int64_t alignment) {
  if (wanted >= whole) return whole;
  const int64_t less = (wanted - whole % alignment) / alignment * alignment + whole % alignment;
  return std::max(less, std::min(alignment + whole % alignment, whole));
}

void check_options(const LargePictureOptions& options) {
  const auto refuse = [](const char* what) {
    throw Error(ErrorCode::invalid_argument, std::string("large pictures: ") + what);
  };
  if (options.session.weights_budget > 0) refuse("weights_budget has no use; give a memory_budget");
  if (options.session.memory_pool.valid()) refuse("a memory_pool has no use");
  if (!options.session.state.empty()) refuse("tiles have no state");
  if (options.session.profile) refuse("tiles have no profile");
  if (options.session.check_finite)
    refuse("check_finite has no use; check the values that are read and written");
  if (options.tile_height < 0 || options.tile_width < 0) refuse("a tile of less than one row or column");
}

// An input or output: the dimension of its rows, after which comes that of the columns, and its element size.
struct Image {
  size_t rows_axis = 2;
  size_t element_bytes = 4;
};

// Returns the dimension of the rows of an input: 1 if it is N, H, W, C, because the graph first transposes it
// to N, C, H, W; otherwise 2. Shapes may be unknown.
size_t rows_axis_of_input(const Graph& graph, ValueId input) {
  for (const Node& node : graph.nodes) {
    const auto* transpose = dynamic_cast<const Transpose*>(node.op.get());
    if (transpose && node.inputs[0] == input && transpose->permutation(4) == std::vector<size_t>{0, 3, 1, 2})
      return 1;
  }
  return 2;
}

// Copies rows and columns out of a dense tensor.
void crop(std::span<const std::byte> from, const Shape& shape, const Image& image, int64_t top, int64_t left,
          const PictureRegion& region, std::vector<std::byte>& to) {
  int64_t outer = 1, inner = static_cast<int64_t>(image.element_bytes);
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (axis < image.rows_axis) outer *= shape[axis];
    if (axis > image.rows_axis + 1) inner *= shape[axis];
  }
  const int64_t rows = shape[image.rows_axis], columns = shape[image.rows_axis + 1];
  const auto line = static_cast<size_t>(region.width * inner);
  to.resize(static_cast<size_t>(outer * region.height) * line);
  std::byte* next = to.data();
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t row = 0; row < region.height; ++row, next += line)
      std::memcpy(next, from.data() + ((o * rows + top + row) * columns + left) * inner, line);
}

}  // namespace

struct LargePicture::Impl {
  Impl(Device opened, Model loaded, LargePictureOptions picture_options)
      : device(std::move(opened)),
        model(std::move(loaded)),
        options(std::move(picture_options)),
        target(&device) {
    options.session = by_tensor_name(model, options.session);
    check_options(options);
    check_choices(options.session);  // also those that have no effect here
    check_memory_budget(options.session);
    if (impl(model)->packed) impl(device)->context->pipelines().add_precompiled_shaders(impl(model)->packed);
    options.session.tuned = false;
    options.session.winograd = Winograd::off;
    options.session.in_flight = 1;
    if (options.session.memory_budget) {  // use the plan with the fewest bytes
      options.session.memory = MemoryMode::offsets;
      options.session.planning = {};
    }
    compile_options = target.compile_options(options.session);
    compile_options.fuse_layers = false;  // tiles of every size must have the kernels of the reference
    whole = whole_side();
    const Side base{reference_side(whole.height), reference_side(whole.width)};
    reference = prepare(base);
    const std::vector<size_t> axes = rows_axes(reference);
    for (size_t i = 0; i < images.size(); ++i)
      if (axes[reference.inputs[i]] != images[i].rows_axis)
        throw Error(ErrorCode::unsupported,
                    "input '" + model.inputs()[i].name + "' is read as N, C, H, W and as N, H, W, C");
    rows_of_whole = prepare({whole.height, base.width});
    columns_of_whole = prepare({base.height, whole.width});
    alignment = {picture_alignment(rows_of_whole, ImageAxis::rows),
                 picture_alignment(columns_of_whole, ImageAxis::columns)};
    // Finds kernels that the device computes wrongly.
    target.compile(reference, compile_options, Stage::program);
    compile_options.wrong_kernels = impl(device)->first_use_check.wrong_kernels(*impl(device)->context);
    choose_tiles();
    describe_ports();
  }

  // The shape of an input with its rows and columns replaced.
  Shape shaped(size_t input, const Side& side) const {
    Shape shape = whole_shapes[input];
    shape[images[input].rows_axis] = side.height;
    shape[images[input].rows_axis + 1] = side.width;
    return shape;
  }

  Graph prepare(const Side& side) const {
    CompileOptions shapes = compile_options;
    for (size_t i = 0; i < whole_shapes.size(); ++i)
      shapes.input_shapes[model.inputs()[i].name] = shaped(i, side);
    return target.prepare(model, shapes);
  }

  // Finds the rows and columns of the inputs, too.
  Side whole_side() {
    const Graph& graph = impl(model)->graph;
    if (graph.inputs.empty()) throw Error(ErrorCode::unsupported, "a network without inputs");
    for (size_t i = 0; i < graph.inputs.size(); ++i) {
      const TensorInfo& info = model.inputs()[i];
      const auto given = options.session.input_shapes.find(info.name);
      Shape shape = given != options.session.input_shapes.end() ? given->second : info.shape;
      if (!shape.empty() && shape[0] == kUnknownDim) shape[0] = 1;
      if (shape.size() != 4 || !is_known(shape))
        throw Error(ErrorCode::invalid_argument,
                    "input '" + info.name + "' of " + to_string(shape) +
                        ": SessionOptions::input_shapes must give the shape of the whole picture");
      images.push_back({rows_axis_of_input(graph, graph.inputs[i]), size_of(info.dtype)});
      whole_shapes.push_back(std::move(shape));
    }
    const Shape& first = whole_shapes.front();
    return {first[images.front().rows_axis], first[images.front().rows_axis + 1]};
  }

  struct Candidate {
    Side side;
    std::vector<PicturePart> down, across;
    std::shared_ptr<const CompiledModel> compiled;
    uint64_t bytes = 0;
  };

  Candidate compiled(const Side& side) const {
    Candidate candidate{side, {}, {}, nullptr, 0};
    Graph part = prepare(side);
    candidate.down = divide_picture(part, rows_of_whole, ImageAxis::rows);
    candidate.across = divide_picture(part, columns_of_whole, ImageAxis::columns);
    CompileOptions pinned = compile_options;
    pinned.tuning = kernels_of(reference, part, target.caps(), compile_options);
    candidate.compiled = std::make_shared<const CompiledModel>(target.compile(std::move(part), pinned));
    const EstimateInputs estimated{
        *candidate.compiled, impl(model)->graph, target.caps(), target.memory_rules(), 0, 1,
        impl(model)->packed};
    candidate.bytes = device_footprint(estimated).most();
    return candidate;
  }

  bool fits(uint64_t bytes) const {
    return options.session.memory_budget == 0 || bytes <= options.session.memory_budget;
  }

  // Returns the tile sizes that the options allow, the largest first.
  std::vector<Side> sides() const {
    std::vector<Side> sides;
    for (const int64_t side : kSides) {
      const Side next{
          part_side(options.tile_height > 0 ? options.tile_height : side, whole.height, alignment.height),
          part_side(options.tile_width > 0 ? options.tile_width : side, whole.width, alignment.width)};
      if (sides.empty() || sides.back().height != next.height || sides.back().width != next.width)
        sides.push_back(next);
    }
    return sides;
  }

  void choose_tiles() {
    std::optional<Candidate> smallest;
    std::optional<Error> why_not;
    for (const Side& side : sides()) {
      try {
        Candidate candidate = compiled(side);
        if (fits(candidate.bytes)) return take(std::move(candidate));
        if (!smallest || candidate.bytes < smallest->bytes) smallest = std::move(candidate);
      } catch (const Error& error) {
        // Too small for the halo, or too large for a limit of the device.
        if (error.code() != ErrorCode::unsupported && error.code() != ErrorCode::invalid_argument) throw;
        why_not = error;
      }
    }
    if (!smallest) throw Error(*why_not);
    throw Error(ErrorCode::out_of_memory,
                "a memory budget of " + std::to_string(options.session.memory_budget) +
                    " bytes is too small: tiles of " + std::to_string(smallest->side.height) + "x" +
                    std::to_string(smallest->side.width) + " take " + std::to_string(smallest->bytes) +
                    " bytes");
  }

  void take(Candidate candidate) {
    down = std::move(candidate.down);
    across = std::move(candidate.across);
    tile = candidate.side;
    const std::shared_ptr<gpu::Context>& context = impl(device)->context;
    if (options.session.memory_budget)
      budget = std::make_shared<gpu::MemoryBudget>(options.session.memory_budget);
    executor = std::make_unique<Executor>(
        context, candidate.compiled,
        ExecutorOptions{.submits = impl(device)->submit_limits(options.session),
                        .pool = std::make_shared<ArenaPool>(context, std::nullopt, budget),
                        .memory_budget = budget},
        impl(device)->weights_for(model, options.session, budget));
    for (const std::string& warning : candidate.compiled->program.warnings)
      context->log(LogLevel::warning, warning);
  }

  void describe_ports() {
    const Graph& graph = rows_of_whole;
    const std::vector<size_t> axes = rows_axes(graph);
    for (size_t i = 0; i < graph.inputs.size(); ++i)
      inputs.push_back({model.inputs()[i].name, model.inputs()[i].dtype, whole_shapes[i]});
    for (size_t i = 0; i < graph.outputs.size(); ++i) {
      const Port& port = executor->program().outputs[i];
      const size_t axis = axes[graph.outputs[i]];
      Shape shape = port.type.shape;
      shape[axis] = down.back().rows[i].end;
      shape[axis + 1] = across.back().rows[i].end;
      outputs.push_back({port.name, port.type.dtype, std::move(shape)});
      output_images.push_back({axis, size_of(port.type.dtype)});
    }
  }

  void run_tile(const PicturePart& rows, const PicturePart& columns, const ReadRegion& read,
                const WriteRegion& write) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      values.resize(checked_bytes(shaped(i, tile), images[i].element_bytes));
      const PictureRegion region{i, rows.begin, columns.begin, tile.height, tile.width, images[i].rows_axis};
      call_application("the function that reads a region", [&] { read(region, values); });
      executor->set_input(i, std::span<const std::byte>(values));
    }
    executor->run();
    for (size_t i = 0; i < outputs.size(); ++i) {
      const Tensor whole_tile = executor->output(i);
      const PictureRegion region{i,
                                 rows.rows[i].begin,
                                 columns.rows[i].begin,
                                 rows.rows[i].count(),
                                 columns.rows[i].count(),
                                 output_images[i].rows_axis};
      if (region.height == 0 || region.width == 0) continue;
      crop({whole_tile.data(), whole_tile.byte_size()}, whole_tile.shape(), output_images[i], rows.first[i],
           columns.first[i], region, values);
      call_application("the function that writes a region", [&] { write(region, values); });
    }
  }

  static size_t checked_bytes(const Shape& shape, size_t element_bytes) {
    return static_cast<size_t>(checked_element_count(shape)) * element_bytes;
  }

  const Device device;
  const Model model;
  LargePictureOptions options;
  const Target target;
  CompileOptions compile_options;
  std::vector<Shape> whole_shapes;           // per input
  std::vector<Image> images, output_images;  // per input, per output
  Side whole, alignment, tile;
  Graph reference, rows_of_whole, columns_of_whole;
  std::vector<PicturePart> down, across;
  std::shared_ptr<gpu::MemoryBudget> budget;
  std::unique_ptr<Executor> executor;
  std::vector<TensorInfo> inputs, outputs;
  std::vector<std::byte> values;  // of one region
};

LargePicture::LargePicture(const Device& device, const Model& model, const LargePictureOptions& options)
    : impl_(guard([&] { return std::make_unique<Impl>(device, model, options); })) {}
LargePicture::~LargePicture() = default;
LargePicture::LargePicture(LargePicture&&) noexcept = default;
LargePicture& LargePicture::operator=(LargePicture&&) noexcept = default;

LargePicture::Impl& LargePicture::checked() const { return held_by(impl_, "large picture"); }

const std::vector<TensorInfo>& LargePicture::inputs() const { return checked().inputs; }
const std::vector<TensorInfo>& LargePicture::outputs() const { return checked().outputs; }
PictureTiles LargePicture::tiles() const {
  return {checked().tile.height, checked().tile.width, checked().down.size(), checked().across.size()};
}
uint64_t LargePicture::peak_bytes() const { return checked().budget ? checked().budget->peak() : 0; }

void LargePicture::run(const ReadRegion& read, const WriteRegion& write, const TileProgress& progress) {
  guard([&] {
    const size_t total = tiles().count();
    size_t done = 0;
    const auto tell = [&] {
      if (progress &&
          !call_application("the function that is told of progress", [&] { return progress(done, total); }))
        throw Error(ErrorCode::cancelled, "the run over a large picture was cancelled");
    };
    tell();
    for (const PicturePart& rows : checked().down)
      for (const PicturePart& columns : checked().across) {
        checked().run_tile(rows, columns, read, write);
        ++done;
        tell();
      }
  });
}

}  // namespace vellum
