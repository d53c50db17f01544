#include <rowlock/client.hpp>

#include "client/base/settings.hpp"
#include "client/call/closing_handle.hpp"
#include "client/engine.hpp"
#include "primitives/access.hpp"
#include "store/open.hpp"

#include <mutex>

ROWLOCK_BEGIN_NAMESPACE

namespace {

using client_layer::engine;

// A database for the caller's url_source: opens a new one only if the URL has changed.
class url_database {
 public:
  url_database(std::function<std::string()> url, const options& settings)
      : url_(std::move(url)), options_{store::to_store_options(settings)} {}

  std::shared_ptr<store::database> operator()() {
    std::string url = url_();
    if (!database_ || url != last_url_) {
      database_ = store::open(url, options_);
      last_url_ = std::move(url);
    }
    return database_;
  }

 private:
  std::function<std::string()> url_;
  store::store_options options_;
  std::string last_url_;
  std::shared_ptr<store::database> database_;
};

}  // namespace

client connect(std::function<std::string()> url_source, const options& settings) {
  if (!url_source) {
    throw error(errc::invalid_argument,
                "the function that returns the database's URL is empty; pass one that can be called");
  }
  const options checked = client_layer::checked_settings(settings);
  auto made =
      engine::open(url_database{std::move(url_source), checked}, checked, client_layer::system_time());
  return primitives::access::make<client>(client_layer::closing_handle(std::move(made)));
}

client connect(const std::string& url, const options& settings) {
  return connect([url] { return url; }, settings);
}

const char* to_string(hold_event::kind what) noexcept {
  using kind = hold_event::kind;
  switch (what) {
    case kind::granted: return "granted";
    case kind::released: return "released";
    case kind::lost: return "lost";
    case kind::release_requested: return "release requested";
  }
  return "unknown";
}

client::client(std::shared_ptr<client_layer::engine> engine) noexcept : engine_(std::move(engine)) {}

void client::close() noexcept {
  engine_->close();
}

statistics client::stats() const {
  return engine_->environment().stats();
}

ROWLOCK_END_NAMESPACE
