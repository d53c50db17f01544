#include "client/connection/connection_source.hpp"

#include "client/base/errors.hpp"

#include <rowlock/error.hpp>

#include <exception>
#include <functional>
#include <string>
#include <utility>

namespace rowlock::client_layer {

std::shared_ptr<store::database> connection_source::database() {
  const model::annotated_lock lock{source_mutex_};
  const auto source =
      std::cref(source_);  // the analysis does not see that the lambda is called under the mutex
  std::shared_ptr<store::database> database;
  const auto failed = [](const std::string& why) {
    return error(errc::unreachable, "the source of the database's URL failed: " + why);
  };
  try {
    if (!environment_.user_calls.run([&] { database = source(); })) throw closed_client();
  } catch (const error&) {
    throw;
  } catch (const std::exception& failure) {
    throw failed(failure.what());
  } catch (...) {
    throw failed("it threw something that is not a std::exception");
  }
  return database;
}

store::session& connection_source::make_spares(const std::shared_ptr<store::database>& database) {
  auto keeper = dialer_.connect(database);
  auto worker = dialer_.connect(database);
  const model::annotated_lock lock{spare_mutex_};
  spares_ = {std::move(keeper), std::move(worker)};
  return *spares_.front();
}

std::unique_ptr<store::session> connection_source::connect(std::optional<spare> whose) {
  if (whose) {
    const model::annotated_lock lock{spare_mutex_};
    if (auto& made = spares_.at(static_cast<std::size_t>(*whose))) return std::move(made);
  }
  return dialer_.connect(database());
}

void connection_source::close() {
  dialer_.close();
  const model::annotated_lock lock{spare_mutex_};
  for (auto& one : spares_) one.reset();
}

}  // namespace rowlock::client_layer
