#include "doctor/diagnosis.hpp"
#include "store/open.hpp"

#include <rowlock/error.hpp>

#include <algorithm>

ROWLOCK_BEGIN_NAMESPACE

namespace {

// A client may be refused for a reason that no check looks for.
void add_refusal(std::vector<finding>& findings, const std::string& url,
                 const store::store_options& reading) {
  const bool is_known = !findings.empty() && findings.front().level == severity::error;
  if (is_known) return;
  try {
    store::open(url, reading)->connect();
  } catch (const error& refused) {
    findings.insert(findings.begin(), {"refused", severity::error, refused.what(), "No client can connect.",
                                       "see the message"});
  }
}

}  // namespace

const char* to_string(severity level) noexcept {
  switch (level) {
    case severity::note: return "note";
    case severity::unknown: return "unknown";
    case severity::warning: return "warning";
    case severity::error: return "error";
  }
  return "?";
}

std::vector<finding> diagnose(const std::string& url, const options& settings) {
  auto reading = store::to_store_options(settings);
  reading.read_only = true;
  auto findings = doctor::judge(store::checks_of(store::dialect_of(url)), store::read_facts(url, reading));
  add_refusal(findings, url, reading);
  return findings;
}

ROWLOCK_END_NAMESPACE
