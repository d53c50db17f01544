#include "cli/scram_server.hpp"

#include "cli/command_process.hpp"

#include <filesystem>
#include <fstream>
#include <vector>

#include <pwd.h>
#include <unistd.h>

namespace rowlock::test {

namespace {

std::string tool(const std::string& name) {
  const auto answer = command_process{{"pg_config", "--bindir"}, {}}.wait();
  std::string folder = answer.out.substr(0, answer.out.find('\n'));
  if (std::filesystem::exists(folder + "/" + name)) return folder + "/" + name;
  for (const auto& version : std::filesystem::directory_iterator{"/usr/lib/postgresql"}) {
    const auto path = version.path() / "bin" / name;
    if (std::filesystem::exists(path)) return path;
  }
  throw std::runtime_error(name + " is not installed");
}

// PostgreSQL refuses to run as root.
void run_as_owner(std::vector<std::string> words) {
  if (::geteuid() == 0) words.insert(words.begin(), {"runuser", "-u", "postgres", "--"});
  const auto result = command_process{words, {{"PWD", "/"}}}.wait();
  if (result.exit_code != 0) throw std::runtime_error(result.out + result.err);
}

constexpr auto superuser_password = "the superuser's";

}  // namespace

scram_server::scram_server() {
  const auto folder = folder_.path().string();
  const auto password_file = folder + "/password";
  std::ofstream{password_file} << superuser_password << '\n';
  if (const passwd* owner = ::getpwnam("postgres"); ::geteuid() == 0 && owner) {
    for (const auto& path : {folder, password_file}) {
      if (::chown(path.c_str(), owner->pw_uid, owner->pw_gid) != 0)
        throw std::runtime_error("cannot chown " + path);
    }
  }
  run_as_owner({tool("initdb"), "-D", folder + "/data", "-U", "super", "-A", "scram-sha-256", "--pwfile",
                password_file, "--no-sync"});
  run_as_owner({tool("pg_ctl"), "-D", folder + "/data", "-w", "-s", "-l", folder + "/log", "-o",
                "-k " + folder + " -c listen_addresses='' -c fsync=off", "start"});
}

scram_server::~scram_server() {
  try {
    run_as_owner(
        {tool("pg_ctl"), "-D", folder_.path().string() + "/data", "-w", "-s", "-m", "immediate", "stop"});
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "%s\n", problem.what());
  }
}

std::string scram_server::url(const std::string& user, const std::string& password) const {
  std::string encoded;
  for (const char c : password) encoded += c == ' ' ? "%20" : c == '\'' ? "%27" : std::string{c};
  return "postgresql://" + user + ":" + encoded + "@/postgres?host=" + folder_.path().string();
}

void scram_server::run(const std::string& sql) const {
  const auto result = command_process{
      {"psql", "-XqAt", "-v", "ON_ERROR_STOP=1", url("super", superuser_password), "-c", sql},
      {}}.wait();
  if (result.exit_code != 0) throw std::runtime_error(result.err);
}

}  // namespace rowlock::test
