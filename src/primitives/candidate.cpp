#include <rowlock/candidate.hpp>
#include <rowlock/error.hpp>

#include "primitives/access.hpp"
#include "primitives/candidacy.hpp"

#include <utility>

ROWLOCK_BEGIN_NAMESPACE

const char* to_string(candidate_state state) noexcept {
  switch (state) {
    case candidate_state::waiting: return "waiting";
    case candidate_state::leading: return "leading";
    case candidate_state::over: return "over";
  }
  return "unknown";
}

candidate::candidate(executor where, const election& office, candidate_options how)
    : db_(primitives::access::db(wanted(office))) {
  if (!where) throw error(errc::invalid_argument, "the executor is empty; nothing could call elected()");
  if (!how.elected) throw error(errc::invalid_argument, "elected() is empty; nothing would lead");
  candidacy_ = std::make_shared<primitives::candidacy>(primitives::access::engine(db_)->shared_from_this(),
                                                       primitives::access::lock(wanted(office)),
                                                       std::move(where), std::move(how));
  candidacy_->campaign();
}

candidate::candidate(candidate&& other) noexcept = default;

candidate& candidate::operator=(candidate&& other) noexcept {
  if (this == &other) return *this;
  const candidate previous{std::move(*this)};
  db_ = std::move(other.db_);
  candidacy_ = std::move(other.candidacy_);
  return *this;
}

candidate::~candidate() {
  if (candidacy_) candidacy_->close(close_mode::silent);
}

candidate_state candidate::state() const {
  return candidacy_->state();
}

bool candidate::resign() {
  return candidacy_->resign();
}

void candidate::close(close_mode mode) {
  candidacy_->close(mode);
}

ROWLOCK_END_NAMESPACE
