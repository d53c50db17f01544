#include "group_test.hpp"

#include <rowlock/migrate.hpp>

#include <array>
#include <cstdio>
#include <sstream>

namespace rowlock::test {

int group_test::primary() {
  return std::stoi(answer("primary"));
}

std::string group_test::ask(int member, const std::string& sql) {
  return answer("sql " + std::to_string(member) + " \"" + sql + '"');
}

std::string group_test::answer(const std::string& action) {
  const auto command = script("CONTROL") + ' ' + action;
  std::string said;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> reader{::popen(command.c_str(), "r"), ::pclose};
  std::array<char, 256> part{};
  while (std::fgets(part.data(), static_cast<int>(part.size()), reader.get())) said += part.data();
  while (said.ends_with('\n')) said.pop_back();
  return said;
}

bool group_test::is_whole() {
  for (const int member : {1, 2, 3}) {
    if (ask(member,
            "SELECT count(*) FROM performance_schema.replication_group_members "
            "WHERE member_state = 'ONLINE'") != "3")
      return false;
  }
  return true;
}

void group_test::SetUp() {
  if (!is_whole()) change("make");
  const auto database = "t" + model::id128::random().to_string().substr(0, 12);
  auto url = script("URL");
  url.replace(url.rfind('/') + 1, std::string::npos, database);
  // Only a primary takes the statement; the control program names one.
  for (const int member : {1, 2, 3}) {
    if (ask(member, "SELECT @@GLOBAL.super_read_only") == "0") {
      ask(member, "CREATE DATABASE " + database);
      break;
    }
  }
  use(url);
  until_everywhere("SELECT count(*) FROM rowlock_meta");
}

std::string group_test::at(std::initializer_list<int> members) const {
  std::istringstream words{script("URLS")};
  std::vector<std::string> urls;
  for (std::string url; words >> url;) urls.push_back(url);
  std::string places;
  for (const int member : members) {
    const auto& one = urls.at(static_cast<std::size_t>(member - 1));
    const auto begin = one.find('@') + 1;
    places += (places.empty() ? "" : ",") + one.substr(begin, one.rfind('/') - begin);
  }
  return url().substr(0, url().find('@') + 1) + places + url().substr(url().rfind('/'));
}

worker group_test::start_at(int member) const {
  auto made = settings("member " + std::to_string(member));
  made.url = at({member});
  return worker{made};
}

void group_test::until_everywhere(const std::string& counting_one) const {
  for (const int member : {1, 2, 3}) {
    until("it is at every member", [&] {
      try {
        return number_at(member, counting_one) == 1;
      } catch (const std::exception&) {
        return false;
      }
    });
  }
}

}  // namespace rowlock::test
