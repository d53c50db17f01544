// Measures pairs of acquire and release of other lock services, with the same threads and clocks as rowlock's. Each
// thread has a name of its own. bench/peers builds and runs this program. The statements are those that the projects'
// documents describe, sent by C and C++ drivers, so this measures a protocol and its server, not a project's client.
#include "bench/measure.hpp"
#include "bench/own_locks.hpp"
#include "bench/server_usage.hpp"
#include "bench/soci_words.hpp"
#include "store/postgres/pqxx_compat.hpp"

#include <curl/curl.h>
#include <fmt/format.h>
#include <hiredis/hiredis.h>
#include <soci/mysql/soci-mysql.h>
#include <soci/soci.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

namespace rowlock::bench {

namespace {

using pair_function = std::function<void(int thread)>;

void require(bool done, const std::string& what) {
  if (!done) throw std::runtime_error(what + " did not do what it should: the measurement is void");
}

// Connections that threads share. As many as a program would open; the floor of rowlock-bench is fastest with at most
// as many.
template <class Connection>
class pool {
 public:
  static constexpr int most = 64;

  pool(int threads, const std::function<std::unique_ptr<Connection>()>& connect) {
    for (int i = 0; i < std::min(threads, most); ++i) free_.push_back(connect());
  }

  template <class Use>
  void with(const Use& use) {
    std::unique_lock lock{mutex_};
    given_back_.wait(lock, [this] { return !free_.empty(); });
    auto connection = std::move(free_.back());
    free_.pop_back();
    lock.unlock();
    use(*connection);
    lock.lock();
    free_.push_back(std::move(connection));
    given_back_.notify_one();
  }

 private:
  std::mutex mutex_;
  std::condition_variable given_back_;
  std::vector<std::unique_ptr<Connection>> free_;
};

pair_function rowlock_pairs(const std::string& url, int threads) {
  rowlock::options settings;
  settings.prefix = "peers_";
  const auto client = rowlock::connect(url, settings);
  const auto locks = std::make_shared<own_locks>(client, "peers", threads);
  return [client, locks](int thread) { locks->pair(thread); };
}

struct postgres_session {
  explicit postgres_session(const std::string& url) : connection{url}, work{connection} {}
  pqxx::connection connection;
  pqxx::nontransaction work;
};

// A statement that must change or return one row.
void run_one(postgres_session& session, const std::string& name, int thread) {
  const auto done = store::pqxx_compat::exec_prepared(session.work, name, thread);
  require(done.affected_rows() == 1, name);
}

// A lock that is a row: a statement acquires it, and a statement releases it.
pair_function row_pairs(const std::string& url, int threads, const std::string& table,
                        const std::string& acquire, const std::string& release) {
  postgres_session{url}.work.exec("SET client_min_messages = warning; " + table);
  const auto sessions = std::make_shared<pool<postgres_session>>(threads, [=] {
    auto session = std::make_unique<postgres_session>(url);
    session->connection.prepare("acquire", acquire);
    session->connection.prepare("release", release);
    return session;
  });
  return [sessions](int thread) {
    sessions->with([&](postgres_session& session) { run_one(session, "acquire", thread); });
    sessions->with([&](postgres_session& session) { run_one(session, "release", thread); });
  };
}

pair_function shedlock_pairs(const std::string& url, int threads) {
  return row_pairs(
      url, threads,
      "CREATE TABLE IF NOT EXISTS peers_shedlock (name varchar(64) PRIMARY KEY, lock_until timestamp(3) NOT "
      "NULL, "
      "locked_at timestamp(3) NOT NULL, locked_by varchar(255) NOT NULL)",
      "INSERT INTO peers_shedlock AS own VALUES ($1::int::text, timezone('utc', clock_timestamp()) + "
      "interval '30 s', "
      "timezone('utc', clock_timestamp()), 'bench') "
      "ON CONFLICT (name) DO UPDATE SET lock_until = excluded.lock_until, locked_at = excluded.locked_at, "
      "locked_by = excluded.locked_by WHERE own.lock_until <= excluded.locked_at",
      "UPDATE peers_shedlock SET lock_until = timezone('utc', clock_timestamp()) "
      "WHERE name = $1::int::text AND locked_by = 'bench'");
}

pair_function userver_pairs(const std::string& url, int threads) {
  return row_pairs(
      url, threads,
      "CREATE TABLE IF NOT EXISTS peers_userver (key text PRIMARY KEY, owner text, expiration_time "
      "timestamptz)",
      "INSERT INTO peers_userver AS own VALUES ($1::int::text, 'bench', current_timestamp + interval '30 s') "
      "ON CONFLICT (key) DO UPDATE SET owner = excluded.owner, expiration_time = excluded.expiration_time "
      "WHERE own.owner = excluded.owner OR own.expiration_time <= current_timestamp",
      "DELETE FROM peers_userver WHERE key = $1::int::text AND owner = 'bench'");
}

// The lock is the connection's, so a thread keeps its connection for the whole pair.
pair_function advisory_pairs(const std::string& url, int threads) {
  const auto sessions = std::make_shared<pool<postgres_session>>(threads, [=] {
    auto session = std::make_unique<postgres_session>(url);
    session->connection.prepare("acquire", "SELECT pg_advisory_lock($1)");
    session->connection.prepare("release", "SELECT pg_advisory_unlock($1)");
    return session;
  });
  return [sessions](int thread) {
    sessions->with([&](postgres_session& session) {
      store::pqxx_compat::exec_prepared(session.work, "acquire", thread);
      const auto released = store::pqxx_compat::exec_prepared(session.work, "release", thread);
      require(released[0][0].as<bool>(), "pg_advisory_unlock");
    });
  };
}

pair_function get_lock_pairs(const std::string& url, int threads) {
  const auto sessions = std::make_shared<pool<soci::session>>(
      threads, [=] { return std::make_unique<soci::session>(soci::mysql, soci_words(url)); });
  return [sessions](int thread) {
    const auto name = fmt::format("peers/{}", thread);
    sessions->with([&](soci::session& session) {
      int done = 0;
      session << "SELECT GET_LOCK(:name, 30)", soci::into(done), soci::use(name);
      require(done == 1, "GET_LOCK");
      session << "SELECT RELEASE_LOCK(:name)", soci::into(done), soci::use(name);
      require(done == 1, "RELEASE_LOCK");
    });
  };
}

class redis_connection {
 public:
  explicit redis_connection(int port) : context_{redisConnect("127.0.0.1", port)} {
    require(context_ && context_->err == 0, "redisConnect");
    // Deletes the key only if it is still this owner's.
    const auto loaded = command(
        "SCRIPT LOAD %s",
        "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0");
    require(loaded->type == REDIS_REPLY_STRING, "SCRIPT LOAD");
    script_ = loaded->str;
  }

  void pair(const std::string& key, const std::string& owner) const {
    const auto set = command("SET %s %s NX PX 30000", key.c_str(), owner.c_str());
    require(set->type == REDIS_REPLY_STATUS, "SET");
    const auto deleted = command("EVALSHA %s 1 %s %s", script_.c_str(), key.c_str(), owner.c_str());
    require(deleted->type == REDIS_REPLY_INTEGER && deleted->integer == 1, "EVALSHA");
  }

 private:
  struct deleter {
    void operator()(redisContext* context) const { redisFree(context); }
    void operator()(redisReply* reply) const { freeReplyObject(reply); }
  };

  template <class... Words>
  std::unique_ptr<redisReply, deleter> command(const char* format, Words... words) const {
    std::unique_ptr<redisReply, deleter> reply{
        static_cast<redisReply*>(redisCommand(context_.get(), format, words...))};
    require(reply != nullptr, "Redis");
    return reply;
  }

  std::unique_ptr<redisContext, deleter> context_;
  std::string script_;
};

// One connection for each thread, because Redis has room for them.
pair_function redis_pairs(const std::string& port, int threads) {
  const auto connections = std::make_shared<std::vector<redis_connection>>();
  for (int i = 0; i < threads; ++i) connections->emplace_back(std::stoi(port));
  return [connections](int thread) {
    (*connections)[static_cast<std::size_t>(thread)].pair(fmt::format("peers/{}", thread), "bench");
  };
}

// A kept connection to etcd's JSON interface; Debian has no client library for C++.
class etcd_connection {
 public:
  explicit etcd_connection(std::string url) : curl_{curl_easy_init()}, url_{std::move(url)} {
    curl_easy_setopt(curl_.get(), CURLOPT_WRITEFUNCTION, append);
    curl_easy_setopt(curl_.get(), CURLOPT_WRITEDATA, &answer_);
    curl_easy_setopt(curl_.get(), CURLOPT_FAILONERROR, 1L);
    curl_easy_setopt(curl_.get(), CURLOPT_NOSIGNAL, 1L);
  }
  etcd_connection(const etcd_connection&) = delete;
  etcd_connection& operator=(const etcd_connection&) = delete;

  nlohmann::json post(const std::string& path, const std::string& body) {
    answer_.clear();
    const auto url = url_ + path;
    curl_easy_setopt(curl_.get(), CURLOPT_URL, url.c_str());
    curl_easy_setopt(curl_.get(), CURLOPT_POSTFIELDS, body.c_str());
    require(curl_easy_perform(curl_.get()) == CURLE_OK, url);
    return nlohmann::json::parse(answer_);
  }

 private:
  struct cleanup {
    void operator()(CURL* curl) const { curl_easy_cleanup(curl); }
  };
  static std::size_t append(const char* data, std::size_t size, std::size_t count, void* to) {
    static_cast<std::string*>(to)->append(data, size * count);
    return size * count;
  }

  std::unique_ptr<CURL, cleanup> curl_;
  std::string url_;
  std::string answer_;
};

// As etcd's own mutex: a transaction that creates the key under a lease if it is not there, and its deletion.
pair_function etcd_pairs(const std::string& url, int threads) {
  const auto connections = std::make_shared<std::vector<std::unique_ptr<etcd_connection>>>();
  for (int i = 0; i < threads; ++i) connections->push_back(std::make_unique<etcd_connection>(url));
  const std::string lease = connections->front()->post("/v3/lease/grant", R"({"TTL":300})").at("ID");
  return [connections, lease](int thread) {
    auto& connection = *(*connections)[static_cast<std::size_t>(thread)];
    // Keys are sent as base64, and eight digits are the base64 text of some six bytes.
    const auto key = fmt::format("{:08}", thread);
    const auto done = connection.post(
        "/v3/kv/txn", fmt::format(R"({{"compare":[{{"target":"CREATE","key":"{0}","create_revision":"0"}}],)"
                                  R"("success":[{{"request_put":{{"key":"{0}","lease":"{1}"}}}}]}})",
                                  key, lease));
    require(done.value("succeeded", false), "etcd's transaction");
    const auto deleted = connection.post("/v3/kv/deleterange", fmt::format(R"({{"key":"{}"}})", key));
    require(deleted.value("deleted", "") == "1", "etcd's deletion");
  };
}

using pairs_maker = pair_function (*)(const std::string& address, int threads);

const std::map<std::string, pairs_maker>& peers() {
  static const std::map<std::string, pairs_maker> known{
      {"rowlock", rowlock_pairs}, {"advisory", advisory_pairs}, {"shedlock", shedlock_pairs},
      {"userver", userver_pairs}, {"get_lock", get_lock_pairs}, {"redis", redis_pairs},
      {"etcd", etcd_pairs}};
  return known;
}

// Prints pairs per second, and microseconds of processor time per pair of this process and of the server.
void measure_peer(const std::string& name, const std::string& address, int threads, double seconds,
                  pid_t server_pid) {
  const auto pair = peers().at(name)(address, threads);
  for_each_parallel(threads, 16, pair);
  const server_usage server{server_pid};
  const auto server_before = server.cpu_time();
  const auto before = cpu_time();
  const auto slice = std::chrono::nanoseconds{static_cast<std::int64_t>(seconds * 1e9)};
  const auto done = repeat_calls(threads, slice, pair);
  const auto us_per_pair = [&](std::chrono::nanoseconds used) {
    return std::chrono::duration<double, std::micro>(used).count() / static_cast<double>(done.calls);
  };
  const auto client_us = us_per_pair(cpu_time() - before);
  const auto server_us = us_per_pair(server.cpu_time().value() - server_before.value());
  fmt::print("{:.1f} {:.1f} {:.1f}\n", done.per_second, client_us, server_us);
}

}  // namespace

}  // namespace rowlock::bench

int main(int count, char** given) {
  CLI::App app{"Measures one lock service; bench/peers compares several with it."};
  std::string peer;
  std::string address;
  int threads = 1;
  double seconds = 1;
  pid_t server = 0;
  app.add_option("peer", peer, "What to measure")->required()->check(CLI::IsMember(&rowlock::bench::peers()));
  app.add_option("address", address, "A database's URL, Redis' port, or etcd's URL")->required();
  app.add_option("--threads", threads, "Threads, each with a name of its own")->check(CLI::Range(1, 10'000));
  app.add_option("--seconds", seconds, "How long to measure")->check(CLI::Range(0.01, 3600.0));
  app.add_option("--server", server, "The process id of the server")->required();
  CLI11_PARSE(app, count, given);
  try {
    rowlock::bench::measure_peer(peer, address, threads, seconds, server);
  } catch (const std::exception& failure) {
    fmt::print(stderr, "rowlock-bench-peers: {}: {}\n", peer, failure.what());
    return 1;
  }
  return 0;
}
