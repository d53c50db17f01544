#include <rowlock/error.hpp>

#include <new>

ROWLOCK_BEGIN_NAMESPACE

const char* to_string(errc code) noexcept {
  switch (code) {
    case errc::invalid_argument: return "invalid_argument";
    case errc::mismatch: return "mismatch";
    case errc::unreachable: return "unreachable";
    case errc::authentication: return "authentication";
    case errc::privilege: return "privilege";
    case errc::read_only: return "read_only";
    case errc::not_migrated: return "not_migrated";
    case errc::too_new: return "too_new";
    case errc::cancelled: return "cancelled";
    case errc::broken_barrier: return "broken_barrier";
    case errc::hold_lost: return "hold_lost";
    case errc::deadlock: return "deadlock";
    case errc::closed: return "closed";
    case errc::forked: return "forked";
    case errc::contention: return "contention";
    case errc::schema: return "schema";
    case errc::database: return "database";
    case errc::internal: return "internal";
  }
  return "unknown";
}

namespace {

const char* meaning(errc code) noexcept {
  switch (code) {
    case errc::invalid_argument: return "an argument is impossible";
    case errc::mismatch: return "the stored lock has other properties than requested";
    case errc::unreachable: return "the database cannot be reached or does not answer";
    case errc::authentication: return "the database refuses the user, the password or a certificate";
    case errc::privilege: return "the user lacks rights in the database";
    case errc::read_only: return "the database or the client is read-only";
    case errc::not_migrated: return "rowlock's tables are missing or too old";
    case errc::too_new: return "the schema forbids libraries as old as this one";
    case errc::cancelled: return "the call was stopped";
    case errc::broken_barrier: return "a member of the barrier died or gave up";
    case errc::hold_lost: return "there is no hold, or it is over";
    case errc::deadlock: return "the caller would wait for itself";
    case errc::closed: return "the client is closed";
    case errc::forked: return "the client was made by the parent process";
    case errc::contention: return "another transaction keeps the lock's row";
    case errc::schema: return "the schema does not fit";
    case errc::database: return "the database reported an error";
    case errc::internal: return "a bug in rowlock";
  }
  return "unknown";
}

class category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "rowlock"; }
  std::string message(int code) const override { return meaning(static_cast<errc>(code)); }
  std::error_condition default_error_condition(int code) const noexcept override {
    switch (static_cast<errc>(code)) {
      case errc::invalid_argument: return std::errc::invalid_argument;
      case errc::privilege: return std::errc::permission_denied;
      case errc::cancelled: return std::errc::operation_canceled;
      case errc::deadlock: return std::errc::resource_deadlock_would_occur;
      default: return {code, *this};
    }
  }
};

}  // namespace

// The category is never destroyed, because a detached thread may throw while the process ends.
const std::error_category& error_category() noexcept {
  alignas(category) static unsigned char place[sizeof(category)];
  static const auto* const made = new (place) category;
  return *made;
}

struct error::texts {
  std::string message;
  std::string database_code;
};

error::error(errc code, const std::string& message, const std::string& database_code, bool outcome_unknown)
    : std::system_error(make_error_code(code)),
      texts_(std::make_shared<const texts>(texts{message, database_code})),
      outcome_unknown_(outcome_unknown) {}

error::~error() = default;

const char* error::what() const noexcept {
  return texts_->message.c_str();
}

const std::string& error::database_code() const noexcept {
  return texts_->database_code;
}

bool error::transient() const noexcept {
  switch (kind()) {
    case errc::unreachable:
    case errc::read_only:
    case errc::broken_barrier:
    case errc::contention: return true;
    default: return outcome_unknown_;
  }
}

ROWLOCK_END_NAMESPACE
