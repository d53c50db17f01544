// The payload of a notification, and every other id that is read as text.
#include "model/ids.hpp"

#include "fuzz.hpp"

using namespace rowlock;

ROWLOCK_FUZZ(wakeup) {
  fuzz::accepts([&] {
    const auto id = model::hold_id::parse(bytes);
    const auto text = id.to_string();
    fuzz::demand(text.size() == 32 && text.find_first_not_of("0123456789abcdef") == std::string::npos,
                 "an id is 32 lower-case hex digits");
    fuzz::demand(model::hold_id::parse(text) == id, "an id is read as it is written");
  });
}
