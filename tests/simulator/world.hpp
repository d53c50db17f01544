// A database server of a run, and the faults in it and on the way to it.
#pragma once

#include "memory/memory_server.hpp"
#include "simulator/oracle.hpp"
#include "simulator/recorder.hpp"
#include "simulator/story.hpp"

#include <functional>
#include <list>
#include <memory>
#include <vector>

namespace rowlock::simulator {

class world {
 public:
  // which: the number of the server, from 0. Server 0 also makes the faults of processes happen.
  world(const story& plan, std::size_t which, scheduler& runs, recorder& records, oracle& checks);

  store::memory_server& server() { return *server_; }
  std::unique_ptr<store::database> open() { return server_->open(); }
  // Process i + 1 runs client i. The process changes when the client dies and starts again.
  std::vector<process*>& processes() { return processes_; }

  // Called when a client's process has died.
  std::function<void(int client)> on_crash = [](int) {};

  // Begins a guarded transaction of the calling process, which ends with the process at the latest.
  bool begin_guard(const std::string& name, const model::hold_id& hold);
  bool end_guard(const std::string& name, const model::hold_id& hold);

  // Makes each fault happen at its time. Returns when the last one is over and undone.
  void run_faults();

 private:
  void on_call(store::memory_call& call);
  void strike(const fault& one, store::memory_call& call);
  void happen(const fault& one);
  void undo_due();
  void later(nanoseconds length, std::function<void()> undo);
  fault* armed_for(store::memory_call& call);
  void wait_for_node(store::memory_call& call);
  void pause(nanoseconds length);
  void end_faults();

  struct planned_undo {
    nanoseconds at = 0;
    std::function<void()> undo;
  };

  struct open_guard {
    const process* home = nullptr;
    std::string name;
    model::hold_id hold;
  };

  const story& plan_;
  const std::size_t which_;
  scheduler& runs_;
  recorder& records_;
  oracle& checks_;
  random_stream random_;
  std::shared_ptr<store::memory_server> server_ = store::memory_server::create();
  std::vector<process*> processes_;
  std::list<fault> armed_;
  std::vector<planned_undo> undo_;
  std::vector<open_guard> guards_;
  int cut_ = 0;
  int read_only_ = 0;
  int servers_ = 1;
  bool faults_over_ = false;
};

}  // namespace rowlock::simulator
