// The second process of the tests of shared memory: this program again, started with a socket.
#pragma once

#ifdef __linux__
#include <sys/types.h>

#include "vellum/external.hpp"

namespace vellum::test {

// The message from one process to the other; the descriptors are sent beside it.
struct SharedHandles {
  ExternalMemory input, output;
  bool has_semaphores = false;
  ExternalSemaphoreHandle written, done;
};

inline constexpr const char* kPeerOption = "--peer";
inline constexpr char kSubmitted = 's', kFinished = 'f', kEnd = 'e';

// Sends the handles with their descriptors, which are closed; and receives them.
void send_handles(int socket, const SharedHandles& handles);
SharedHandles receive_handles(int socket);
void send_byte(int socket, char byte);
char receive_byte(int socket);  // 0: the other process has ended

// Starts this program as the peer; its socket is file descriptor 3.
struct Peer {
  pid_t process = -1;
  int socket = -1;
};
Peer start_peer();
int wait_for_peer(const Peer& peer);  // its exit status

// The second process: opens a device of its own, imports what it receives, and runs the network of
// small_model() on it. Returns its exit status.
int run_peer(int socket);

}  // namespace vellum::test
#endif
