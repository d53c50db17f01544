// Withdraws money from an account, but only while the account's lock is held.
//
//   guarded_write_pqxx postgresql://app@db/shop        (after `rowlock migrate up`)
#include <rowlock/guard/pqxx.hpp>
#include <rowlock/rowlock.hpp>

#include <cstdio>
#include <string>

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s URL\n", argv[0]);
    return 64;
  }
  try {
    // Your own connection. rowlock has its own and never touches this one.
    pqxx::connection connection{argv[1]};
    {
      pqxx::work setup{connection};
      setup.exec("CREATE TEMPORARY TABLE account (id integer PRIMARY KEY, balance integer NOT NULL)");
      setup.exec("INSERT INTO account VALUES (1, 100)");
      setup.commit();
    }

    rowlock::client db = rowlock::connect(argv[1]);
    rowlock::mutex account_one{db, "account/1"};
    rowlock::hold hold = account_one.acquire();

    // If the guard succeeds, the lock is held, even if this process was stopped for a long time before; and nobody else
    // is granted the lock before the transaction ends.
    pqxx::work transaction{connection};
    rowlock::guard(transaction, hold);
    int balance = transaction.exec("SELECT balance FROM account WHERE id = 1")[0][0].as<int>();
    transaction.exec("UPDATE account SET balance = " + std::to_string(balance - 10) + " WHERE id = 1");
    transaction.commit();
    std::printf("balance %d, written under token %lld\n", balance - 10,
                static_cast<long long>(hold.token().value()));
    return 0;
  } catch (const rowlock::error& error) {
    // hold_lost: the transaction was rolled back by its destructor, and nothing was written.
    std::fprintf(stderr, "%s: %s\n", rowlock::to_string(error.kind()), error.what());
    return error.code() == rowlock::errc::hold_lost ? 76 : 70;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 70;
  }
}
