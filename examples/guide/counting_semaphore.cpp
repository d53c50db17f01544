#include <rowlock/rowlock.hpp>

#include <cstdint>
#include <functional>
#include <stop_token>

// Waits for that many of the eight GPUs that all machines share, then trains on them.
void train(rowlock::client db, std::int64_t gpus, const std::function<void(std::stop_token)>& work) {
  rowlock::counting_semaphore cluster{db, "gpus", 8};
  const rowlock::hold hold = cluster.acquire(gpus);
  work(hold.stop_token());  // stops when the permits are lost
}  // releases all of them
