// The values of tensors in an ONNX file: where they are stored, in which type, and what does not fit.
#include <gtest/gtest.h>
#include <vellum_onnx.pb.h>

#include <functional>
#include <string>

#include "import/import.hpp"
#include "support/errors.hpp"
#include "support/onnx_builder.hpp"
#include "support/tensors.hpp"

namespace vellum::test {
namespace {

using Tensor = onnx_schema::TensorProto;

// The constant that a model's only initializer becomes.
HostTensor imported(const std::function<void(Tensor&)>& fill) {
  OnnxModel model;
  auto& tensor = *model.proto().mutable_graph()->add_initializer();
  tensor.set_name("w");
  fill(tensor);
  return evaluate(model.output("w").graph(), {})[0];
}

TEST(OnnxTensor, TypedFieldsOfEveryTypeAreRead) {
  struct Case {
    int onnx;
    DType dtype;
    std::function<void(Tensor&, int)> add;
  };
  const auto int32s = [](Tensor& t, int v) { t.add_int32_data(v); };
  const auto uint64s = [](Tensor& t, int v) { t.add_uint64_data(static_cast<uint64_t>(v)); };
  const Case cases[] = {
      {Tensor::FLOAT, DType::f32, [](Tensor& t, int v) { t.add_float_data(static_cast<float>(v)); }},
      {Tensor::DOUBLE, DType::f64, [](Tensor& t, int v) { t.add_double_data(v); }},
      {Tensor::INT64, DType::i64, [](Tensor& t, int v) { t.add_int64_data(v); }},
      {Tensor::INT32, DType::i32, int32s},
      {Tensor::INT16, DType::i16, int32s},
      {Tensor::INT8, DType::i8, int32s},
      {Tensor::UINT16, DType::u16, int32s},
      {Tensor::UINT8, DType::u8, int32s},
      {Tensor::UINT32, DType::u32, uint64s},
      {Tensor::UINT64, DType::u64, uint64s},
  };
  for (const Case& c : cases) {
    const HostTensor tensor = imported([&](Tensor& t) {
      t.set_data_type(c.onnx);
      t.add_dims(3);
      for (const int value : {1, 2, 120}) c.add(t, value);
    });
    EXPECT_EQ(tensor.dtype(), c.dtype);
    EXPECT_EQ(tensor.to_floats(), (std::vector<float>{1, 2, 120})) << name(c.dtype);
  }
}

TEST(OnnxTensor, HalvesTravelAsBitPatterns) {
  const HostTensor tensor = imported([](Tensor& t) {
    t.set_data_type(Tensor::FLOAT16);
    t.add_dims(2);
    t.add_int32_data(0x3c00);
    t.add_int32_data(0xc000);
  });
  EXPECT_EQ(tensor.to_floats(), (std::vector<float>{1.0f, -2.0f}));
}

TEST(OnnxTensor, RawBytesAreReadInPlace) {
  const std::vector<float> values = {1.5f, -2.25f};
  const HostTensor tensor = imported([&](Tensor& t) {
    t.set_data_type(Tensor::FLOAT);
    t.add_dims(2);
    t.set_raw_data(values.data(), 8);
  });
  EXPECT_EQ(tensor.to_floats(), values);
}

TEST(OnnxTensor, BooleansAreZeroOrOne) {
  const HostTensor tensor = imported([](Tensor& t) {
    t.set_data_type(Tensor::BOOL);
    t.add_dims(3);
    t.set_raw_data(std::string("\x00\x01\xff", 3));
  });
  const auto stored = tensor.as<uint8_t>();
  EXPECT_EQ(std::vector<uint8_t>(stored.begin(), stored.end()), (std::vector<uint8_t>{0, 1, 1}));
}

TEST(OnnxTensor, ScalarsAndEmptyTensorsAreRead) {
  const HostTensor scalar = imported([](Tensor& t) {
    t.set_data_type(Tensor::FLOAT);
    t.add_float_data(3.0f);
  });
  EXPECT_EQ(scalar.shape(), Shape{});
  const HostTensor empty = imported([](Tensor& t) {
    t.set_data_type(Tensor::FLOAT);
    t.add_dims(0);
  });
  EXPECT_EQ(empty.shape(), Shape{0});
  EXPECT_EQ(empty.elements(), 0);
}

TEST(OnnxTensor, SizesThatDoNotFitAreRefused) {
  EXPECT_VELLUM_ERROR(imported([](Tensor& t) {
                        t.set_data_type(Tensor::FLOAT);
                        t.add_dims(3);
                        t.set_raw_data("eleven byte");
                      }),
                      ErrorCode::corrupt_model, "initializer 'w'", "11 bytes", "need 12");
  EXPECT_VELLUM_ERROR(imported([](Tensor& t) {
                        t.set_data_type(Tensor::FLOAT);
                        t.add_dims(3);
                        t.add_float_data(1.0f);
                      }),
                      ErrorCode::corrupt_model, "'w'", "1 elements", "need 3");
  EXPECT_VELLUM_ERROR(imported([](Tensor& t) {
                        t.set_data_type(Tensor::FLOAT);
                        t.add_dims(-3);
                      }),
                      ErrorCode::corrupt_model, "'w'", "-3");
  EXPECT_VELLUM_ERROR(imported([](Tensor& t) {
                        t.set_data_type(Tensor::FLOAT);
                        for (int i = 0; i < 3; ++i) t.add_dims(int64_t{1} << 40);
                      }),
                      ErrorCode::corrupt_model, "'w'", "too large");
  EXPECT_VELLUM_ERROR(imported([](Tensor& t) {
                        t.set_data_type(Tensor::INT8);
                        t.add_dims(1);
                        t.add_int32_data(128);
                      }),
                      ErrorCode::corrupt_model, "'w'", "does not fit int8");
}

TEST(OnnxTensor, NarrowTypesAreStoredInWiderOnes) {
  const auto of_type = [](int type, bool raw) {
    return imported([&](Tensor& t) {
      t.set_data_type(type);
      t.add_dims(3);
      // Three elements: 16-bit patterns, or two bytes of 4-bit codes.
      if (raw)
        t.set_raw_data(std::string(type == 16 ? "\x80\x3f\x00\xc0\x20\x41" : "\x9f\x07", type == 16 ? 6 : 2));
      if (!raw && type == 16)
        for (const int pattern : {0x3f80, 0xc000, 0x4120}) t.add_int32_data(pattern);
      if (!raw && type != 16)
        for (const int byte : {0x9f, 0x07}) t.add_int32_data(byte);
    });
  };
  for (const bool raw : {true, false}) {
    EXPECT_EQ(of_type(16, raw).to_floats(), (std::vector<float>{1, -2, 10}));
    EXPECT_EQ(of_type(22, raw).to_ints(), (std::vector<int64_t>{-1, -7, 7}));
    EXPECT_EQ(of_type(22, raw).dtype(), DType::i8);
    EXPECT_EQ(of_type(23, raw).to_floats(), (std::vector<float>{-6, -0.5f, 6}));
  }
  EXPECT_VELLUM_ERROR(imported([](Tensor& t) {
                        t.set_data_type(21);
                        t.add_dims(3);
                        t.set_raw_data("x");
                      }),
                      ErrorCode::corrupt_model, "'w'", "need 2");
}

TEST(OnnxTensor, TypesWithoutArithmeticAreRefused) {
  const auto of_type = [](int type) { return imported([&](Tensor& t) { t.set_data_type(type); }); };
  EXPECT_VELLUM_ERROR(of_type(Tensor::STRING), ErrorCode::unsupported, "initializer 'w'", "string");
  EXPECT_VELLUM_ERROR(of_type(Tensor::COMPLEX64), ErrorCode::unsupported, "complex64");
  EXPECT_VELLUM_ERROR(of_type(24), ErrorCode::unsupported, "float8e8m0");
  EXPECT_VELLUM_ERROR(of_type(0), ErrorCode::corrupt_model, "no such element type");
  EXPECT_VELLUM_ERROR(of_type(-7), ErrorCode::corrupt_model, "no such element type");
}

TEST(OnnxTensor, SegmentsAreRefused) {
  EXPECT_VELLUM_ERROR(imported([](Tensor& t) {
                        t.set_data_type(Tensor::FLOAT);
                        t.mutable_segment();
                      }),
                      ErrorCode::unsupported, "'w'", "segments");
}

}  // namespace
}  // namespace vellum::test
