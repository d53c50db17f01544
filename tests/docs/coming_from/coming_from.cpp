#include "docs/coming_from/coming_from.hpp"

#include "client/call/closing_handle.hpp"
#include "client/engine.hpp"
#include "primitives/access.hpp"
#include "support/memory_fixture.hpp"

#include <fstream>
#include <thread>

namespace rowlock::test {

client coming_from_test::new_client(store_fixture& on, options settings) {
  settings.close_timeout = 20s;
  settings.renew_interval = 500ms;
  if (!on.url().empty()) {
    settings.prefix = on.options().prefix;
    return connect(on.url(), settings);
  }
  dynamic_cast<memory_fixture&>(on).server().let_time_pass();
  std::shared_ptr<store::database> database = on.open();
  auto engine =
      client_layer::engine::open([database] { return database; }, settings, client_layer::system_time());
  return primitives::access::make<client>(client_layer::closing_handle(std::move(engine)));
}

void coming_from_test::with_a_waiter(const std::string& name, const std::function<void()>& check) {
  rowlock::hold granted;
  const std::jthread waits{
      [&](const std::stop_token& stop) { granted = mutex(other, name).try_acquire_for(1h, {.stop = stop}); }};
  eventually("it waits", [&] { return !admin{db}.queue(name).empty(); });
  check();
}

coming_from_sql_test::coming_from_sql_test() {
  const auto work = folder.path() / "work";
  std::ofstream{work} << "#!/bin/sh\necho working\ncat >/dev/null\n";
  std::filesystem::permissions(work, std::filesystem::perms::owner_all);
}

std::unique_ptr<command_process> coming_from_sql_test::start_shell(const std::string& line) const {
  return start_with_rowlock_in_path({"sh", "-c", "cd '" + folder.path().string() + "' && " + line},
                                    environment());
}

std::unique_ptr<command_process> coming_from_sql_test::working_shell(const std::string& line) const {
  auto started = start_shell(line);
  EXPECT_EQ(started->read_line(), "working") << line;
  return started;
}

}  // namespace rowlock::test
