#include "external_peer.hpp"

#include <gtest/gtest.h>

#ifdef __linux__
#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "device_options.hpp"
#include "public_interface.hpp"
#include "small_model.hpp"

namespace vellum::test {
namespace {

std::vector<int*> descriptors(SharedHandles& handles) {
  std::vector<int*> fds{&handles.input.fd, &handles.output.fd};
  if (handles.has_semaphores) fds.insert(fds.end(), {&handles.written.fd, &handles.done.fd});
  return fds;
}

union Control {  // aligned as cmsghdr
  cmsghdr header;
  char bytes[CMSG_SPACE(4 * sizeof(int))];
};

}  // namespace

void send_handles(int socket, const SharedHandles& given) {
  SharedHandles handles = given;
  std::vector<int> fds;
  for (const int* fd : descriptors(handles)) fds.push_back(*fd);
  iovec data{&handles, sizeof handles};
  Control control{};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen = CMSG_SPACE(fds.size() * sizeof(int));
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(fds.size() * sizeof(int));
  std::memcpy(CMSG_DATA(header), fds.data(), fds.size() * sizeof(int));
  if (sendmsg(socket, &message, 0) != static_cast<ssize_t>(sizeof handles))
    throw std::runtime_error("the handles were not sent");
  for (const int fd : fds) ::close(fd);
}

SharedHandles receive_handles(int socket) {
  SharedHandles handles;
  iovec data{&handles, sizeof handles};
  Control control{};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen = sizeof control.bytes;
  if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != static_cast<ssize_t>(sizeof handles) ||
      !CMSG_FIRSTHDR(&message))
    throw std::runtime_error("no handles were received");
  const unsigned char* next = CMSG_DATA(CMSG_FIRSTHDR(&message));
  for (int* fd : descriptors(handles)) {
    std::memcpy(fd, next, sizeof *fd);
    next += sizeof *fd;
  }
  return handles;
}

void send_byte(int socket, char byte) {
  if (send(socket, &byte, 1, MSG_NOSIGNAL) != 1) throw std::runtime_error("the other process has ended");
}

char receive_byte(int socket) {
  char byte = 0;
  return recv(socket, &byte, 1, 0) == 1 ? byte : '\0';
}

namespace {

// The words that start this program again. Of a cross build only the emulator can start it.
std::vector<std::string> command_of_peer() {
  std::vector<std::string> words;
  std::istringstream emulator(VELLUM_TEST_EMULATOR);
  for (std::string word; emulator >> word;) words.push_back(word);
  words.push_back(std::filesystem::read_symlink("/proc/self/exe"));
  words.emplace_back(kPeerOption);
  return words;
}

}  // namespace

Peer start_peer() {
  int sockets[2] = {};
  Peer peer;
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) return peer;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, sockets[1], 3);
  std::vector<std::string> command = command_of_peer();
  std::vector<char*> arguments(command.size() + 1, nullptr);
  std::ranges::transform(command, arguments.begin(), [](std::string& word) { return word.data(); });
  if (posix_spawnp(&peer.process, arguments[0], &actions, nullptr, arguments.data(), environ) == 0)
    peer.socket = sockets[0];
  posix_spawn_file_actions_destroy(&actions);
  ::close(sockets[1]);
  return peer;
}

int wait_for_peer(const Peer& peer) {
  int status = -1;
  ::close(peer.socket);
  if (waitpid(peer.process, &status, 0) != peer.process) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int run_peer(int socket) {
  try {
    DeviceOptions options = device_options();
    options.log = [](LogLevel level, std::string_view message) {
      if (level >= LogLevel::warning)
        std::fprintf(stderr, "second process: %.*s\n", static_cast<int>(message.size()), message.data());
    };
    const Device device = Device::open(options);
    Session session(device, load(small_model()));
    const BufferLayout in = session.input_buffer("x"), out = session.output_buffer("y");
    const SharedHandles handles = receive_handles(socket);
    {
      const ExternalBuffer x = ExternalBuffer::import(device, handles.input, in.bytes, in.usage);
      const ExternalBuffer y = ExternalBuffer::import(device, handles.output, out.bytes, out.usage);
      const BufferBinding bound_x{"x", x.handle(), 0, in.bytes, {}, VK_QUEUE_FAMILY_EXTERNAL},
          bound_y{"y", y.handle(), 0, out.bytes, {}, VK_QUEUE_FAMILY_EXTERNAL};
      const Recording recording = session.bind({&bound_x, 1}, {&bound_y, 1});
      if (handles.has_semaphores) {
        const ExternalSemaphore written = ExternalSemaphore::import(device, handles.written),
                                done = ExternalSemaphore::import(device, handles.done);
        const SemaphoreValue wait{written.handle()}, signal{done.handle()};
        recording.submit({.wait = {&wait, 1}, .signal = {&signal, 1}});
        send_byte(socket, kSubmitted);
        receive_byte(socket);  // the first process has seen that the device is done
        session.run({{"x", random_tensor({1, 3, 9, 11}, 2)}});  // waits for what the queue did before
      } else {
        recording.run();
        send_byte(socket, kFinished);
        receive_byte(socket);
      }
    }
    return device.validation_messages() == 0 ? 0 : 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "second process: %s\n", error.what());
    return 1;
  }
}

}  // namespace vellum::test
#endif

int main(int argc, char** argv) {
#ifdef __linux__
  if (argc > 1 && std::strcmp(argv[1], vellum::test::kPeerOption) == 0) return vellum::test::run_peer(3);
#endif
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
