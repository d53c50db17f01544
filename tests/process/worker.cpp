#include "worker.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <sstream>
#include <stdexcept>

namespace rowlock::test {

worker::descriptor::~descriptor() {
  if (number >= 0) ::close(number);
}

worker::worker(const worker_settings& settings) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) throw std::runtime_error("socketpair");
  socket_->number = ends[0];
  descriptor theirs;
  theirs.number = ends[1];
  child_setup setup;
  setup.in = setup.out = theirs.number;
  auto arguments = settings.program;
  if (arguments.empty()) arguments.push_back(ROWLOCK_PROCESS_WORKER_PATH);
  for (const auto& text : {settings.url, settings.prefix, settings.application}) arguments.push_back(text);
  for (const auto& limit : {settings.ttl, settings.statement_timeout, settings.connect_timeout,
                            settings.close_timeout, settings.skew}) {
    arguments.push_back(std::to_string(limit.count()));
  }
  process_ = std::make_unique<child_process>(arguments, setup);
  const auto said = answer();
  if (said != "connected") throw std::runtime_error("the worker says: " + said);
}

void worker::stop() {
  process_->signal(SIGSTOP);
  until_stopped(pid());
}

void worker::finish() {
  ::shutdown(socket_->number, SHUT_WR);
  if (process_->wait() != 0) throw std::runtime_error("the worker did not end in peace");
}

void worker::tell(const std::string& line) {
  const std::string sent = line + '\n';
  if (::send(socket_->number, sent.data(), sent.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(sent.size())) {
    throw std::runtime_error("the worker is gone");
  }
}

std::string worker::take_line() {
  const auto end = read_.find('\n');
  auto line = read_.substr(0, end);
  read_.erase(0, end + 1);
  return line;
}

std::string worker::answer(std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (read_.find('\n') == std::string::npos) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd ready{socket_->number, POLLIN, 0};
    if (left.count() <= 0 || ::poll(&ready, 1, static_cast<int>(left.count())) == 0) {
      throw std::runtime_error("the worker gave no answer within " + std::to_string(limit.count()) + " ms");
    }
    char buffer[1024];
    const auto got = ::recv(socket_->number, buffer, sizeof buffer, 0);
    if (got <= 0) throw std::runtime_error("the worker is gone");
    read_.append(buffer, static_cast<std::size_t>(got));
  }
  return take_line();
}

granted worker::grant(std::chrono::milliseconds limit) {
  std::istringstream said{answer(limit)};
  std::string word;
  granted result;
  if (!(said >> word >> result.token >> result.hold_id) || word != "granted") {
    throw std::runtime_error("not granted: " + said.str());
  }
  return result;
}

bool worker::is_silent() {
  pollfd ready{socket_->number, POLLIN, 0};
  return read_.empty() && ::poll(&ready, 1, 0) == 0;
}

std::map<std::string, std::int64_t> worker::counts(const std::string& line, std::chrono::milliseconds limit) {
  const auto said = reported_ = ask(line, limit);
  std::istringstream words{said};
  std::map<std::string, std::int64_t> result;
  for (std::string word; words >> word;) {
    const auto equals = word.find('=');
    if (equals == std::string::npos) break;
    result[word.substr(0, equals)] = std::stoll(word.substr(equals + 1));
  }
  if (!result.contains("failed")) throw std::runtime_error("the worker says: " + said);
  // After the counts the worker's report says in words what failed.
  if (result["failed"] != 0) throw std::runtime_error("the worker's load says: " + said);
  return result;
}

}  // namespace rowlock::test
