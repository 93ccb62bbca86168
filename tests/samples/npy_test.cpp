#include "io/npy.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>

#include "io/files.hpp"
#include "temporary_folder.hpp"
#include "vellum/error.hpp"

namespace vellum::samples {
namespace {

// A version 1.0 file as numpy.save writes it, with this header dictionary.
std::vector<std::uint8_t> file_with(const std::string& dictionary, const std::vector<std::uint8_t>& data) {
  std::string file("\x93NUMPY\x01\x00", 8);
  file += {static_cast<char>(dictionary.size()), '\0'};
  file += dictionary;
  file.append(data.begin(), data.end());
  return {file.begin(), file.end()};
}

TEST(Npy, ReadsWhatNumPyWrites) {
  const TemporaryFolder folder;
  io::write_file(folder / "a.npy", file_with("{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }\n",
                                             {1, 0, 0, 0, 255, 255, 255, 255}));
  const io::NpyArray array = io::read_npy(folder / "a.npy");
  EXPECT_EQ(array.dtype, "int32");
  EXPECT_EQ(array.shape, std::vector<std::int64_t>{2});
  std::int32_t values[2];
  ASSERT_EQ(array.data.size(), sizeof values);
  std::memcpy(values, array.data.data(), sizeof values);
  EXPECT_EQ(values[0], 1);
  EXPECT_EQ(values[1], -1);
}

TEST(Npy, EveryTypeAndRankComesBack) {
  const TemporaryFolder folder;
  for (const std::string dtype : {"float32", "float16", "float64", "int64", "int32", "int16", "int8",
                                  "uint64", "uint32", "uint16", "uint8", "bool"}) {
    for (const std::vector<std::int64_t>& shape :
         {std::vector<std::int64_t>{}, {3}, {2, 3}, {1, 2, 3, 2}, {4, 0, 2}}) {
      std::size_t bytes = io::npy_element_size(dtype);
      for (const std::int64_t size : shape) bytes *= static_cast<std::size_t>(size);
      io::NpyArray array{dtype, shape, std::vector<std::uint8_t>(bytes)};
      for (std::size_t i = 0; i < bytes; ++i) array.data[i] = static_cast<std::uint8_t>(i);
      io::write_npy(folder / "a.npy", array);
      const io::NpyArray back = io::read_npy(folder / "a.npy");
      EXPECT_EQ(back.dtype, dtype);
      EXPECT_EQ(back.shape, shape);
      EXPECT_EQ(back.data, array.data);
      EXPECT_EQ((std::filesystem::file_size(folder / "a.npy") - bytes) % 64, 0u) << "data is not aligned";
    }
  }
}

TEST(Npy, BadFilesAreRefusedWithAMessageNamingThem) {
  const TemporaryFolder folder;
  const std::vector<std::uint8_t> data(64);
  const std::vector<std::vector<std::uint8_t>> files = {
      {},
      {'h', 'e', 'l', 'l', 'o', ' ', 'w', 'o', 'r', 'l', 'd', '!', '!'},
      file_with("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2), }\n", data),
      file_with("{'descr': '>f4', 'fortran_order': False, 'shape': (2, 2), }\n", data),
      file_with("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 9), }\n", data),
      file_with("{'descr': '<f4', 'fortran_order': False, 'shape': (-2, 2), }\n", data),
      file_with("{'descr': '<f4', 'fortran_order': False, 'shape': (2, x), }\n", data),
      file_with("{'descr': '<f4', 'fortran_order': False, 'shape': 4, }\n", data),
      file_with("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296, 2), }\n", data),
      file_with("{'descr': '<f4', 'fortran_order': False, }\n", data),
      file_with("{'fortran_order': False, 'shape': (2, 2), }\n", data),
      {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, 255, 255, '{', '}'},
      {0x93, 'N', 'U', 'M', 'P', 'Y', 9, 0, 2, 0, '{', '}'},
  };
  for (std::size_t i = 0; i < files.size(); ++i) {
    io::write_file(folder / "bad.npy", files[i]);
    try {
      io::read_npy(folder / "bad.npy");
      ADD_FAILURE() << "file " << i << " was accepted";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("bad.npy"), std::string::npos) << error.what();
    }
  }
}

TEST(Npy, DataThatDoesNotFillTheShapeIsNotWritten) {
  const TemporaryFolder folder;
  EXPECT_THROW(io::write_npy(folder / "a.npy", {"float32", {2}, std::vector<std::uint8_t>(7)}), Error);
  EXPECT_THROW(io::write_npy(folder / "a.npy", {"float32", {-1}, {}}), Error);
  EXPECT_THROW(io::write_npy(folder / "a.npy", {"complex64", {1}, std::vector<std::uint8_t>(8)}), Error);
  EXPECT_FALSE(std::filesystem::exists(folder / "a.npy"));
}

}  // namespace
}  // namespace vellum::samples
