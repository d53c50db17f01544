#include "bench/scenario.hpp"

namespace rowlock::bench {

const std::vector<scenario>& scenarios() {
  static const std::vector<scenario> known = {
      {"uncontended", "acquire and release by one thread", "two durable updates of a row", uncontended},
      {"parallel", "many threads of one process, each with a name of its own",
       "the same at the best of 4, 16 and 64 connections", parallel},
      {"later", "64 threads of one process, each with a name of its own, that do not wait for their releases",
       "the same with threads that wait", later},
      {"tasks", "1,000 and 10,000 coroutines of one process, each with a name of its own",
       "two durable updates of a row at the best of 4, 16 and 64 connections", tasks},
      {"hot", "16 threads of one process, and 4 processes with 4 threads each, with one mutex",
       "two updates of one row, the same for all, each durable, by as many connections", hot},
      {"names", "16 threads of one process with random ones of 1,000,000 names",
       "the same with random ones of 1,000 names", names},
      {"churn",
       "16 threads of one process, each with a name of its own, while a transaction keeps an old snapshot",
       "the same without that transaction", churn},
      {"readers", "1 and 16 threads of one process with one shared_mutex, each twentieth call to write",
       "for a reader an INSERT and a DELETE of a row, for a writer two updates, "
       "each durable, at 1 connection and at the best of 4, 16 and 64; nobody is kept out",
       readers},
      {"semaphore", "1 and 16 threads of one process with one semaphore, a permit each",
       "an INSERT and a DELETE of a row, each durable, by as many connections; nobody counts", semaphore},
      {"permits", "16 threads of one process with one semaphore, of which another client holds 4,000 permits",
       "the same without those permits", permits},
      {"clients", "2, 4, 8 and 16 clients, a thread each, with one semaphore that never runs out",
       "two updates of one row, the same for all, each durable, by as many connections", clients},
      {"unfair", "8 threads, half of them on each of two clients, with one unfair mutex",
       "the same with a fair one", unfair},
      {"all", "2, 8 and 32 names acquired and released together",
       "two durable transactions with so many updates each", all},
      {"quorum",
       "one thread with a quorum_mutex on three sets of tables in this database (three files of SQLite's), "
       "made and dropped",
       "three durable updates at once, by three connections, to acquire, and three to release", quorum},
      {"handover", "processes pass one name around", "one durable commit", handover},
      {"handover-local", "threads of one process pass one name around", "one durable commit", handover_local},
      {"waiters", "what 1,000 waiting acquires cost", "the same with one", waiters},
      {"held", "rows that a renewal writes with 10,000 locks held", "the same with one", held},
      {"reconcile", "milliseconds to read what a client holds among 1,000,000 names, page by page",
       "as many statements that read one row", reconcile},
      {"lost", "milliseconds until 50,000 holders have been told that their lease is lost",
       "the same with one holder", lost},
      {"beside",
       "milliseconds of a release beside 200 threads that read, "
       "and until the next client has a lock for which 1,000 waiters of the holder's client give up",
       "the same without them", beside},
      {"http", "1, 64 and 256 clients of `rowlock serve`, each with a name of its own",
       "the library with as many threads", http},
      {"http-waits",
       "milliseconds until the next of 10,000 requests that wait at `rowlock serve` is answered",
       "the library with as many asynchronous acquires", http_waits},
      {"http-metrics", "milliseconds of a scrape of `rowlock serve` beside 10,000 locks", "GET /healthz",
       http_metrics},
      {"idle", "processor time of a client that only holds something, beside 299 others (of a server: 19)",
       "the same with one client", idle},
  };
  return known;
}

}  // namespace rowlock::bench
