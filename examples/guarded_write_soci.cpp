// Withdraws money from an account, but only while the account's lock is held; through SOCI.
//
//   guarded_write_soci mysql://app:secret@db/shop "host=db dbname=shop user=app password=secret"
//                                                                       (after `rowlock migrate up`)
#include <rowlock/guard/soci.hpp>
#include <rowlock/rowlock.hpp>

#include <soci/mysql/soci-mysql.h>

#include <cstdio>

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s URL SOCI_CONNECTION\n", argv[0]);
    return 64;
  }
  try {
    // Your own connection. rowlock has its own and never touches this one.
    soci::session sql{soci::mysql, argv[2]};
    sql << "CREATE TEMPORARY TABLE account (id INT PRIMARY KEY, balance INT NOT NULL)";
    sql << "INSERT INTO account VALUES (1, 100)";

    rowlock::client db = rowlock::connect(argv[1]);
    rowlock::mutex account_one{db, "account/1"};
    rowlock::hold hold = account_one.acquire();

    // If the guard succeeds, the lock is held, even if this process was stopped for a long time before; and nobody else
    // is granted the lock before the transaction ends. The transaction begins after the acquire, so it reads what the
    // previous holder has written.
    soci::transaction transaction{sql};
    rowlock::guard(sql, hold);
    int balance = 0;
    sql << "SELECT balance FROM account WHERE id = 1", soci::into(balance);
    const int less = balance - 10;
    sql << "UPDATE account SET balance = :balance WHERE id = 1", soci::use(less);
    transaction.commit();
    std::printf("balance %d, written under token %lld\n", less, static_cast<long long>(hold.token().value()));
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
