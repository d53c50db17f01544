// A program for one store: "rowlock, token N", or what is wrong with the URL.
#include <rowlock/rowlock.hpp>

#include <cstdio>

int main(int argc, char** argv) {
  if (argc != 2) return 64;
  try {
    rowlock::migrator{argv[1]}.up();
    rowlock::client db = rowlock::connect(argv[1]);
    rowlock::mutex mutex{db, "small"};
    std::printf("rowlock, token %lld\n", static_cast<long long>(mutex.acquire().token().value()));
    return 0;
  } catch (const rowlock::error& error) {
    std::printf("%s\n", error.what());
    return 1;
  }
}
