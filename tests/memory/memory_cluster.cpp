#include "memory/memory_cluster.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <tuple>

namespace rowlock::store {

namespace {

template <class Map>
bool is_same(const Map& a, const Map& b, const typename Map::key_type& key) {
  const auto in_a = a.find(key);
  const auto in_b = b.find(key);
  if (in_a == a.end() || in_b == b.end()) return in_a == a.end() && in_b == b.end();
  return in_a->second == in_b->second;
}

template <class Map>
void add_changed(const Map& seen, const Map& made, std::set<typename Map::key_type>& keys) {
  for (const auto& [key, row] : seen) {
    if (!is_same(seen, made, key)) keys.insert(key);
  }
  for (const auto& [key, row] : made) {
    if (!seen.contains(key)) keys.insert(key);
  }
}

template <class Map>
void copy_row(const Map& from, Map& to, const typename Map::key_type& key) {
  const auto found = from.find(key);
  if (found == from.end()) {
    to.erase(key);
  } else {
    to.insert_or_assign(key, found->second);
  }
}

template <class Tables>
auto meta_of(Tables& tables) {
  return std::tie(tables.epoch, tables.skew, tables.token_floor, tables.recorded_identity,
                  tables.recordings_version);
}

}  // namespace

void memory_node::fall_behind(const memory_tables& latest, std::uint64_t commits) {
  if (!is_behind()) commit(latest, commits);
}

void memory_node::apply(const moment& sent) {
  if (sent.commits > commits_) commit(*sent.tables, sent.commits);
}

void memory_node::commit(const memory_tables& latest, std::uint64_t commits) {
  applied_ = latest;
  commits_ = commits;
}

bool certify(const memory_tables& seen, const memory_tables& made, memory_tables& latest) {
  std::set<lease_id> leases;
  add_changed(seen.leases, made.leases, leases);
  std::set<std::string> names;
  add_changed(seen.locks, made.locks, names);
  add_changed(seen.permits, made.permits, names);
  add_changed(seen.queues, made.queues, names);
  add_changed(seen.history, made.history, names);
  const bool writes_meta = meta_of(seen) != meta_of(made);

  const bool is_current =
      std::ranges::all_of(leases, [&](const auto& id) { return is_same(seen.leases, latest.leases, id); }) &&
      std::ranges::all_of(names,
                          [&](const auto& name) {
                            return is_same(seen.locks, latest.locks, name) &&
                                   is_same(seen.permits, latest.permits, name) &&
                                   is_same(seen.queues, latest.queues, name) &&
                                   is_same(seen.collections, latest.collections, name);
                          }) &&
      (!writes_meta || meta_of(seen) == meta_of(latest));
  if (!is_current) return false;

  for (const auto& id : leases) copy_row(made.leases, latest.leases, id);
  for (const auto& name : names) {
    copy_row(made.locks, latest.locks, name);
    copy_row(made.permits, latest.permits, name);
    copy_row(made.queues, latest.queues, name);
    copy_row(made.history, latest.history, name);
    copy_row(made.collections, latest.collections, name);
  }
  if (writes_meta) {
    meta_of(latest) = meta_of(made);
    latest.recordings = made.recordings;
  }
  return true;
}

}  // namespace rowlock::store
