#include <rowlock/rowlock.hpp>

#include <iostream>

int main() {
  rowlock::client db = rowlock::connect("sqlite:locks.db");
  rowlock::mutex nightly{db, "billing/nightly"};
  rowlock::hold hold = nightly.acquire();
  std::cout << "held, token " << hold.token() << "; press Enter to release it\n";
  std::cin.get();
}
