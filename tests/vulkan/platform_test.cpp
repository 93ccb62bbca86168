#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "platform/files.hpp"
#include "platform/mapped_file.hpp"
#include "platform/sha256.hpp"
#include "platform/system_message.hpp"
#include "platform/utf8_path.hpp"
#include "support/environment.hpp"
#include "support/errors.hpp"
#include "vellum/error.hpp"
#include "vulkan/temporary_folder.hpp"

#ifdef _WIN32
#include "platform/windows.hpp"
#else
#include <sys/stat.h>
#endif

namespace vellum::platform {
namespace {

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

std::string hash(const std::string& text) { return to_hex(sha256(bytes_of(text))); }

// FIPS 180-2, appendix B.
TEST(Sha256, TheStandardsExamples) {
  EXPECT_EQ(hash("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hash("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hash(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  EXPECT_EQ(hash(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(Sha256, InPiecesAsInOne) {
  const std::string text(1000, 'x');
  for (const size_t piece : {1u, 63u, 64u, 65u, 200u}) {
    Sha256 pieces;
    for (size_t i = 0; i < text.size(); i += piece)
      pieces.add(bytes_of(text).subspan(i, std::min(piece, text.size() - i)));
    EXPECT_EQ(to_hex(pieces.finish()), hash(text)) << piece;
  }
}

TEST(Files, WritesReplaceWhatWasThereAndMakeFolders) {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "a" / "b" / "file";
  EXPECT_FALSE(read_file(path, 100));
  write_file_atomically(path, bytes_of("first"));
  write_file_atomically(path, bytes_of("second"));
  EXPECT_EQ(read_file(path, 100).value().size(), 6u);
  EXPECT_FALSE(read_file(path, 5)) << "longer than allowed";
}

TEST(Files, WritersAtOnceLeaveOneWholeFile) {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "file";
  {
    std::vector<std::jthread> writers;
    for (char c = 'a'; c < 'e'; ++c)
      writers.emplace_back([&path, c] {
        for (int i = 0; i < 50; ++i) write_file_atomically(path, bytes_of(std::string(10000, c)));
      });
  }
  const auto bytes = read_file(path, 1 << 20).value();
  ASSERT_EQ(bytes.size(), 10000u);
  EXPECT_TRUE(std::ranges::all_of(bytes, [&](std::byte b) { return b == bytes[0]; }));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1)
      << "temporary files left";
}

TEST(Files, AFailedWriteSaysWhichFileAndLeavesNothing) {
  const test::TemporaryFolder folder;
  write_file_atomically(folder.path() / "file", bytes_of("x"));
  const auto path = folder.path() / "file" / "below";  // a file is no folder
  try {
    write_file_atomically(path, bytes_of("y"));
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::io);
    EXPECT_NE(std::string(error.what()).find(path.string()), std::string::npos);
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(MappedFile, HasTheFilesBytes) {
  const test::TemporaryFolder folder;
  const std::string text(5000, 'q');
  write_file_atomically(folder.path() / "file", bytes_of(text));
  MappedFile first(folder.path() / "file");
  const MappedFile moved = std::move(first);
  ASSERT_EQ(moved.bytes().size(), text.size());
  EXPECT_TRUE(std::ranges::equal(moved.bytes(), bytes_of(text)));
}

TEST(MappedFile, HasTheSameBytesAfterARest) {
  const test::TemporaryFolder folder;
  const std::string text(100'000, 'a'), more(50'000, 'b');
  write_file_atomically(folder.path() / "file", {bytes_of(text), bytes_of(more)});
  const MappedFile file(folder.path() / "file", 20'000, 110'000);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()),
              text.substr(20'000) + more.substr(0, 30'000));
    file.release_pages();
  }
}

TEST(Files, FreeBytesOfAFolderThatWillBeMade) {
  const test::TemporaryFolder folder;
  const auto here = free_disk_bytes(folder.path());
  ASSERT_TRUE(here.has_value());
  EXPECT_GT(*here, 0u);
  EXPECT_TRUE(free_disk_bytes(folder.path() / "not" / "yet").has_value());
}

TEST(MappedFile, EmptyMissingAndFolders) {
  const test::TemporaryFolder folder;
  write_file_atomically(folder.path() / "empty", {});
  EXPECT_TRUE(MappedFile(folder.path() / "empty").bytes().empty());
  const auto code = [](const std::filesystem::path& path) {
    try {
      MappedFile file(path);
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::internal;
  };
  EXPECT_EQ(code(folder.path() / "missing"), ErrorCode::not_found);
  EXPECT_EQ(code(folder.path()), ErrorCode::io);
}

// Who opens a FIFO waits for its writer, and who reads a device for what it gives.
TEST(MappedFile, FifosAndDevicesAreRefused) {
#ifdef _WIN32
  GTEST_SKIP() << "Windows has neither in folders";
#else
  const test::TemporaryFolder folder;
  ASSERT_EQ(mkfifo((folder.path() / "fifo").c_str(), 0600), 0);
  for (const std::filesystem::path& file : {folder.path() / "fifo", std::filesystem::path("/dev/zero")}) {
    EXPECT_VELLUM_ERROR(MappedFile{file}, ErrorCode::io, "is a device or a pipe");
    EXPECT_FALSE(read_file(file, 1 << 20).has_value()) << file;
  }
#endif
}

TEST(CacheFolder, IsBelowAnAbsoluteFolder) {
#ifdef _WIN32
  GTEST_SKIP() << "Windows has %LOCALAPPDATA%";
#else
  test::EnvironmentVariable cache("XDG_CACHE_HOME", "/absolute");
  EXPECT_EQ(default_cache_folder(), "/absolute/vellum");
  cache.set("relative");
  EXPECT_NE(default_cache_folder(), "relative/vellum");
  EXPECT_TRUE(default_cache_folder().empty() || default_cache_folder().is_absolute());
#endif
}

TEST(CacheFolder, IsTheLocalOneOfTheUserOnWindows) {
#ifndef _WIN32
  GTEST_SKIP() << "other systems have XDG_CACHE_HOME";
#else
  EXPECT_EQ(default_cache_folder(), std::filesystem::path(_wgetenv(L"LOCALAPPDATA")) / "vellum");
  EXPECT_TRUE(default_cache_folder().is_absolute());
  SetEnvironmentVariableW(L"LOCALAPPDATA", L"C:\\gr\u00f6\u00dfe \u6587");
  EXPECT_EQ(default_cache_folder(), std::filesystem::path(u8"C:\\größe 文\\vellum"));
  SetEnvironmentVariableW(L"LOCALAPPDATA", nullptr);
  EXPECT_TRUE(default_cache_folder().empty());
  SetEnvironmentVariableW(L"LOCALAPPDATA", _wgetenv(L"LOCALAPPDATA"));
#endif
}

// Letters of several scripts, beyond 16 bits too, and spaces.
TEST(Paths, AreUtf8InTextAndBack) {
  const std::string text = "größe 文字 🙂.bin";
  const test::TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / utf8_path(text);
  EXPECT_EQ(to_utf8(path.filename()), text);
  write_file_atomically(path, bytes_of("x"));
  EXPECT_EQ(to_utf8(std::filesystem::directory_iterator(folder.path())->path().filename()), text);
  EXPECT_EQ(MappedFile(path).bytes().size(), 1u);
  EXPECT_VELLUM_ERROR(MappedFile{folder.path() / utf8_path("ł")}, ErrorCode::not_found, "ł");
}

TEST(Paths, ThatAreNoUnicodeAreNamedInErrors) {
#ifdef _WIN32
  EXPECT_EQ(to_utf8(L"a\xd800z"), "a?z");
  EXPECT_VELLUM_ERROR(utf8_path("a\xff"), ErrorCode::invalid_argument, "not UTF-8");
#else
  EXPECT_EQ(to_utf8("a\xffz"), "a\xffz") << "a path has any bytes here";
  EXPECT_EQ(utf8_path("a\xff").native(), "a\xff");
#endif
}

// platforms/windows.sh runs this in German, too, where the message of code 6 has a letter that a code page
// and UTF-8 write in different bytes.
TEST(SystemMessages, AreOneLineOfUtf8) {
  for (const int code : {1, 2, 5, 6, 13, 12345}) {
    const std::string text = system_message({code, std::system_category()});
    EXPECT_FALSE(text.empty()) << code;
    EXPECT_EQ(text.find_first_of("\r\n"), std::string::npos) << text;
    EXPECT_EQ(to_utf8(utf8_path(text)), text);
  }
}

}  // namespace
}  // namespace vellum::platform
