#include "simulator/recorder.hpp"

namespace rowlock::simulator {

std::string_view to_string(fault_kind kind) {
  static constexpr std::string_view names[] = {"request delayed",
                                               "reply delayed",
                                               "request dropped",
                                               "reply dropped",
                                               "reply lost on a living connection",
                                               "connection stalled before a statement",
                                               "connection stalled before a reply",
                                               "connect refused",
                                               "connect stalled",
                                               "statement timed out",
                                               "statement cancelled",
                                               "deadlock victim",
                                               "disk full",
                                               "out of memory",
                                               "privilege denied",
                                               "ghost left",
                                               "ghosts executed",
                                               "wake-ups lost",
                                               "process stalled",
                                               "process stalled beyond its ttl",
                                               "process crashed",
                                               "server crashed",
                                               "asynchronous commits lost",
                                               "fail-over",
                                               "durable commits lost",
                                               "marker lost",
                                               "network cut",
                                               "server read-only",
                                               "row locked by a rival",
                                               "node behind the others",
                                               "node does not catch up in time",
                                               "commit conflicts with another node's",
                                               "clock stepped",
                                               "clock drifts",
                                               "logger slow",
                                               "callback slow",
                                               "thread delayed",
                                               "spurious wake-up",
                                               "forced release",
                                               "release requested"};
  static_assert(std::size(names) == fault_kinds);
  return names[static_cast<std::size_t>(kind)];
}

}  // namespace rowlock::simulator
