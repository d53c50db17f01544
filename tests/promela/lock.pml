/*
 * One lock, its queue and its leases, as docs/design.md describes them: lease, kill, renew, acquire, release with
 * hand-over, forced release and notice, lost replies, transfer and adopt. docs/correctness.md, "The model", says what
 * is checked and what is left out. scripts/check-model runs the model.
 *
 * A transaction is one atomic step, because every statement locks what it decides from: see
 * docs/design.md, "Rules for every statement". A request and its reply are separate steps, so anything can happen
 * between them.
 *
 * A run ends: time has TICKS ticks, each client makes ACQUIRES requests, and the number of faults is limited. A macro
 * that is named after a fault (RENEW_REVIVES, ...) plants that fault.
 */
#ifndef CLIENTS
#define CLIENTS 2
#endif
#ifndef ACQUIRES /* requests of each client; each has an id of its own */
#define ACQUIRES 2
#endif
#ifndef LEASES /* of each client: one that was lost is followed by another */
#define LEASES 2
#endif
#ifndef TICKS
#define TICKS 4
#endif
#ifndef LOST_REPLIES
#define LOST_REPLIES 1
#endif
#ifndef CRASHES
#define CRASHES 1
#endif
#ifndef FORCES
#define FORCES 1
#endif
#ifndef GAINS /* ticks that only the database's clock makes */
#define GAINS 1
#endif
#ifndef RENEWALS
#define RENEWALS 2
#endif
#ifndef GIVE_UPS
#define GIVE_UPS 1
#endif
#ifndef TRANSFERS
#define TRANSFERS 0
#endif

#ifndef TTL
#define TTL 3
#endif
#ifdef NO_MARGIN
#define MARGIN 0
#else
#define MARGIN 1
#endif

/* Ids begin at 1; 0 is no id. A transferred hold stands on the last lease until it is adopted. */
#define HOLD(c, n) (1 + (c) * ACQUIRES + (n))
#define HOLD_IDS (1 + CLIENTS * ACQUIRES)
#define LEASE(c, n) (1 + (c) * LEASES + (n))
#define OFFER (1 + CLIENTS * LEASES)
#define LEASE_IDS (2 + CLIENTS * LEASES)

/* The rules by number: a failed assertion is printed with its rule's number. */
#define I1_EXCLUSION 1         /* a grant meets no other hold on a living lease */
#define I1_ONE_VALID_HOLDER 2  /* no two clients believe that they hold the lock, unless one was released by force */
#define I2_TOKENS_RISE 3
#define I3_DEAD_ONCE 4         /* no lease that died is alive again */
#define I5_HOLDER_FIRST 5      /* when a lease is killed, its client's deadline has passed */
#define I6_NO_ORPHAN 6         /* no hold and no place is left that no client follows */
#define I6_SERVED 7            /* each waiter is granted, or goes, unless it waits for a lease to expire */
#define I6_LIVING_WAITER 8     /* a hand-over goes to a waiter that lives */
#define I7_SAME_ANSWER 9       /* a request that is sent again gets the token that it was granted */
#define I7_FOUND_AGAIN 10      /* a request that is sent again does not wait for itself */
#define LOSS_IS_NOTICED 11     /* a client's valid hold stands in the lock's row, unless a notice is on its way */
#define RULE(number, holds) assert((holds) || !number)

/* Requests and replies. */
mtype = { acquire, release, transfer, adopt, granted, queued, absent, done };

/* The states of a request, as its client knows them. */
mtype = { unused, asking, waiting, held, over, lost, crashed, transferred };

/* ---- The database ---- */

bool alive[LEASE_IDS];  /* the lease's row exists */
byte left[LEASE_IDS];   /* ticks until it expires, by the database's clock */
bool noticed[LEASE_IDS]; /* the lease's notice was raised; FORCES is 0 or 1 */

byte row_hold;  /* the lock's row */
byte row_lease;
byte row_token;
chan queue = [CLIENTS * ACQUIRES] of { byte, byte }; /* hold, lease; in ticket order */

/* ---- The history, which no program sees, for the rules ---- */

bool died[LEASE_IDS];
bool granted_now[HOLD_IDS]; /* granted, and neither released, forced nor moved */
byte stands_on[HOLD_IDS];   /* the lease that it was granted on */
byte token_of[HOLD_IDS];
bool was_forced[HOLD_IDS];
byte highest_token;

/* ---- The connections: one statement at a time ---- */

mtype request[CLIENTS];
byte request_hold[CLIENTS];
byte request_lease[CLIENTS];
mtype reply[CLIENTS];
byte reply_token[CLIENTS];
/* A request whose connection broke. The server may still execute it. */
mtype ghost[CLIENTS];
byte ghost_hold[CLIENTS];
byte ghost_lease[CLIENTS];
byte renewal[CLIENTS]; /* the lease keeper's connection: which lease to renew */
mtype renewed[CLIENTS];
bool renewed_notice[CLIENTS];

/* ---- The clients ---- */

byte own_lease[CLIENTS];
byte valid_for[CLIENTS];      /* ticks until the local deadline */
byte sent_valid_for[CLIENTS]; /* the same, if the renewal under way is confirmed: the clock was read before it was sent */
bool known_notice[CLIENTS];
byte checks[CLIENTS]; /* how many checks of the holds have begun */
byte own_hold[CLIENTS];
mtype state[HOLD_IDS] = unused;
bool ended[CLIENTS];
byte offered; /* the hold that a transfer's text names */

/* Variables of the transactions, zero outside of them: a value that stayed would only make more states. */
byte i, next_hold, next_lease;
mtype answer;

byte ticks = TICKS;
byte lost_replies = LOST_REPLIES;
byte crashes = CRASHES;
byte forces = FORCES;
byte gains = GAINS;
byte transfers = TRANSFERS;
byte give_ups = GIVE_UPS;
byte renewals = RENEWALS;

#define IS_FREE (row_hold == 0 || !alive[row_lease])
#define BELIEVES(c) (own_hold[c] != 0 && state[own_hold[c]] == held && valid_for[c] > 0)
#define IS_IN_QUEUE(h) (queue ?? [eval(h), _])

/* ---- Transactions ---- */

inline end_grant(h) {
  granted_now[h] = false;
  stands_on[h] = 0
}

inline grant(h, l) {
  /* Every earlier holder must be gone: released, forced, moved, or dead. */
  for (i : 1 .. HOLD_IDS - 1) {
    RULE(I1_EXCLUSION, !(granted_now[i] && alive[stands_on[i]] && i != h))
    if
    :: granted_now[i] -> end_grant(i)
    :: else
    fi
  }
  i = 0;
  row_hold = h;
  row_lease = l;
  row_token++;
  RULE(I2_TOKENS_RISE, row_token > highest_token);
  highest_token = row_token;
  token_of[h] = row_token;
  was_forced[h] = false;
  granted_now[h] = true;
  stands_on[h] = l
}

/* Grants the free lock to the first living waiter, if there is one. The dead waiters ahead of it leave the queue. */
inline grant_next() {
  do
  :: nempty(queue) ->
    queue ? next_hold, next_lease;
    if
#ifdef HAND_OVER_TO_THE_DEAD
    :: true ->
#else
    :: alive[next_lease] ->
#endif
      RULE(I6_LIVING_WAITER, alive[next_lease]);
#ifdef TOKEN_KEPT
      row_token--;
#endif
      grant(next_hold, next_lease);
      break
    :: else
    fi
  :: empty(queue) -> break
  od;
  next_hold = 0;
  next_lease = 0
}

inline free_row() {
  if
  :: row_hold != 0 -> end_grant(row_hold)
  :: else
  fi;
  row_hold = 0;
  row_lease = 0
}

/* An acquire. The fast statement decides from the lock's row alone; the slow one skips the dead. */
inline do_acquire(h, l) {
  if
#ifndef ASKED_AGAIN_IS_NEW
  :: row_hold == h -> answer = granted
  :: row_hold != h && IS_IN_QUEUE(h) -> answer = queued
  :: row_hold != h && !IS_IN_QUEUE(h) ->
#else
  :: true ->
#endif
    RULE(I7_FOUND_AGAIN, !(row_hold == h && alive[row_lease]));
    if
    :: IS_FREE ->
      free_row();
      grant_next()
    :: else
    fi;
    if
    :: row_hold == 0 ->
      grant(h, l);
      answer = granted
    :: else ->
      queue ! h, l;
      answer = queued
    fi
  fi
}

/* A release, or the withdrawal of a request. */
inline do_release(h) {
  if
  :: row_hold == h ->
    free_row();
    grant_next();
    answer = done
  :: row_hold != h && IS_IN_QUEUE(h) ->
    queue ?? eval(h), next_lease;
    next_lease = 0;
    answer = done
  :: else -> answer = absent
  fi
}

/* Moves the hold to the lease of the offer. */
inline do_transfer(h) {
  if
  :: row_hold == h && !died[OFFER] ->
    alive[OFFER] = true;
    left[OFFER] = TTL;
    row_lease = OFFER;
    stands_on[h] = OFFER;
    answer = done
  :: else -> answer = absent
  fi
}

/* Adopts the offered hold, under a new id. The token stays. */
inline do_adopt(h, l) {
  if
  :: row_hold == h && row_lease != OFFER -> answer = granted
  :: row_hold == offered && row_lease == OFFER && alive[OFFER] ->
    alive[OFFER] = false;
    died[OFFER] = true;
    left[OFFER] = 0;
    end_grant(offered);
    row_hold = h;
    row_lease = l;
    granted_now[h] = true;
    stands_on[h] = l;
    token_of[h] = row_token;
    answer = granted
  :: else -> answer = absent
  fi
}

inline execute(what, h, l) {
  if
  :: what == acquire -> do_acquire(h, l)
  :: what == release -> do_release(h)
  :: what == transfer -> do_transfer(h)
  :: what == adopt -> do_adopt(h, l)
  fi
}

inline kill(l) {
  alive[l] = false;
  died[l] = true;
  noticed[l] = false;
  for (i : 0 .. CLIENTS - 1) {
    RULE(I5_HOLDER_FIRST, own_lease[i] != l || valid_for[i] == 0 || ended[i])
  }
  i = 0
}

inline sweep() {
  if
  :: IS_FREE ->
    free_row();
    grant_next()
  :: else
  fi
}

/* The clients whose connection has something to execute. */
#if CLIENTS > 2
#define PICK(slots) if :: slots[0] != 0 -> c = 0 :: slots[1] != 0 -> c = 1 :: slots[2] != 0 -> c = 2 fi
#else
#define PICK(slots) if :: slots[0] != 0 -> c = 0 :: slots[1] != 0 -> c = 1 fi
#endif

/* Executes the requests of the connections, in any order. */
active proctype database() {
  byte c;
#ifdef STALE_READ
  bool was_free;
#endif
end:
  do
  :: atomic {
      PICK(request);
#ifdef STALE_READ
      /* The statement reads the leases, waits for the row, and then trusts what it has read. */
      was_free = row_hold != 0 && IS_FREE
    }
    atomic {
      if
      :: was_free && request[c] == acquire && row_hold != request_hold[c] -> row_hold = 0; row_lease = 0
      :: else
      fi;
      was_free = false;
      if
      :: request[c] == 0 -> goto end
      :: else
      fi;
#endif
      d_step {
        execute(request[c], request_hold[c], request_lease[c]);
        reply[c] = answer;
        reply_token[c] = (answer == granted -> row_token : 0);
        request[c] = 0;
        request_hold[c] = 0;
        request_lease[c] = 0;
        answer = 0;
        c = 0
      }
    }
  :: atomic {
      PICK(ghost);
      d_step {
        execute(ghost[c], ghost_hold[c], ghost_lease[c]);
        ghost[c] = 0;
        ghost_hold[c] = 0;
        ghost_lease[c] = 0;
        answer = 0;
        c = 0
      }
    }
  :: atomic {
      PICK(renewal);
      d_step {
        if
#ifdef RENEW_REVIVES
        :: true ->
          alive[renewal[c]] = true;
#else
        :: alive[renewal[c]] && left[renewal[c]] > 0 ->
#endif
          left[renewal[c]] = TTL;
          renewed[c] = done;
          renewed_notice[c] = noticed[renewal[c]]
#ifndef RENEW_REVIVES
        :: else -> renewed[c] = absent
#endif
        fi;
        renewal[c] = 0;
        c = 0
      }
    }
  od
}

/* Releases the lock by force, at any moment. */
active proctype operator() {
end:
  do
  :: d_step {
      forces > 0 && row_hold != 0 && alive[row_lease] ->
      forces--;
      noticed[row_lease] = true;
      was_forced[row_hold] = true;
      row_token++;
      highest_token = row_token;
      free_row();
      grant_next()
    }
  od
}

/* ---- Time ---- */

inline count_down(counter) {
  if
  :: counter > 0 -> counter--
  :: else
  fi
}

inline tick_database() {
  for (i : 1 .. LEASE_IDS - 1) {
    count_down(left[i])
  }
  i = 0
}

active proctype time() {
end:
  do
  :: d_step {
      ticks > 0 ->
      ticks--;
      tick_database();
      for (i : 0 .. CLIENTS - 1) {
        count_down(valid_for[i]);
        count_down(sent_valid_for[i])
      }
      i = 0
    }
  :: d_step {
      ticks > 0 && gains > 0 ->
      gains--;
      tick_database()
    }
  od
}

/* ---- A client's threads ---- */

inline send(what) {
  request[c] = what;
  request_hold[c] = h;
  request_lease[c] = own_lease[c]
}

/* Waits for the reply. got == 0: the reply was lost, and the outcome is unknown. The client goes on when the ghost has
 * ended. */
inline receive() {
  if
  :: atomic {
      reply[c] != 0 ->
      got = reply[c];
      got_token = reply_token[c];
      reply[c] = 0;
      reply_token[c] = 0
    }
  :: atomic {
      lost_replies > 0 ->
      lost_replies--;
      ghost[c] = request[c];
      ghost_hold[c] = request_hold[c];
      ghost_lease[c] = request_lease[c];
      request[c] = 0;
      request_hold[c] = 0;
      request_lease[c] = 0;
      reply[c] = 0;
      reply_token[c] = 0;
      got = 0;
      got_token = 0
    }
#ifndef GHOST_LEFT
    /* The client ends the backend and sees it gone. The backend may have executed the request before. */
    atomic {
      ghost[c] = 0;
      ghost_hold[c] = 0;
      ghost_lease[c] = 0
    }
#endif
  fi
}

/* Nobody will ask about this request again. */
inline forget() {
  if
  :: state[h] == over -> was_forced[h] = false; token_of[h] = 0
  :: else
  fi;
  own_hold[c] = 0;
  h = 0;
  how = 0;
  got = 0;
  got_token = 0;
  checks_before = 0
}

proctype client(byte c) {
  byte h, made, leases, got_token, checks_before;
  mtype got, how;

  /* The clients are alike, so the order in which they begin may be fixed. */
  (c == 0 || own_lease[c - 1] != 0);

next:
  if
  :: made == ACQUIRES -> goto finished
  :: atomic { made < ACQUIRES && own_lease[c] != 0 && valid_for[c] > 0 -> goto begin }
  :: atomic {
      made < ACQUIRES && (own_lease[c] == 0 || valid_for[c] == 0) ->
      if
      :: leases == LEASES -> goto finished
      :: leases < LEASES ->
        own_lease[c] = 0;
        known_notice[c] = false;
        valid_for[c] = TTL - MARGIN /* the clock is read before the lease is asked for */
      fi
    }
    atomic {
      own_lease[c] = LEASE(c, leases);
      leases++;
      alive[own_lease[c]] = true;
      left[own_lease[c]] = TTL;
      goto begin
    }
  fi;

begin:
  atomic {
    h = HOLD(c, made);
    made++;
    state[h] = asking;
    if
    :: how = acquire
    :: offered != 0 -> how = adopt;
#ifdef ADOPT_KEEPS_ID
      h = offered
#endif
    fi;
    goto ask
  }

ask:
  atomic {
    checks_before = checks[c];
    send(how);
    if
    :: true
    :: crashes > 0 -> crashes--; goto crash
    fi
  }
  receive();
  if
  :: got == 0 -> goto ask
  :: got == 0 -> goto withdraw
  :: got == granted -> goto deliver
  :: got == absent -> goto give_over
  :: atomic { got == queued -> got = 0; state[h] = waiting }
  fi;

wait:
  /* The answer to a poll. Polls make up for lost wake-ups, so the model has no wake-ups. */
  if
  :: atomic { row_hold == h -> checks_before = checks[c]; got_token = row_token; goto deliver }
  :: atomic { row_hold != h && !IS_IN_QUEUE(h) -> goto ask } /* its place, or its grant, was taken away */
#ifndef NO_POLL
  :: d_step { row_hold != 0 && row_hold != h && alive[row_lease] && left[row_lease] == 0 -> kill(row_lease) }
    goto wait
  :: d_step { IS_FREE && row_hold != h && IS_IN_QUEUE(h) -> sweep() }
    goto wait
#endif
  :: valid_for[c] == 0 -> goto lose
  :: atomic { give_ups > 0 -> give_ups--; goto withdraw }
  :: atomic { crashes > 0 -> crashes--; goto crash }
  fi;

deliver:
  true;
  atomic {
    got = 0;
    RULE(I7_SAME_ANSWER, got_token == token_of[h]);
    if
    :: valid_for[c] == 0 -> goto withdraw
#ifndef REGISTERED_LATE
    :: valid_for[c] > 0 && checks[c] != checks_before -> state[h] = waiting; goto wait /* it looks again */
    :: valid_for[c] > 0 && checks[c] == checks_before ->
#else
    :: valid_for[c] > 0 ->
#endif
      state[h] = held;
      own_hold[c] = h
    fi
  }

  if
  :: state[h] == lost || valid_for[c] == 0 -> goto lose
  :: state[h] == held -> goto withdraw
  :: atomic { crashes > 0 -> crashes--; goto crash }
  :: atomic { state[h] == held && transfers > 0 -> transfers--; state[h] = transferred; send(transfer) }
    receive();
    if
    :: atomic { got == done -> offered = h; forget(); goto next }
    :: got == absent -> goto give_over
    :: got == 0 -> goto withdraw
    fi
  fi;

lose:
  atomic { state[h] = lost; forget(); goto next }

withdraw:
  atomic { state[h] = over; send(release) }
  receive();
  if
  :: got == 0 -> goto withdraw
  :: got != 0 -> goto give_over
  fi;

give_over:
  atomic { state[h] = over; forget(); goto next }

crash:
  atomic {
    state[h] = crashed;
    forget();
    valid_for[c] = 0;
    reply[c] = 0;
    reply_token[c] = 0
  }

finished:
  atomic { /* close() ends the lease */
    ended[c] = true;
    if
    :: own_lease[c] != 0 && state[HOLD(c, made - 1)] != crashed ->
      valid_for[c] = 0;
      alive[own_lease[c]] = false;
      died[own_lease[c]] = true;
      left[own_lease[c]] = 0;
      noticed[own_lease[c]] = false
    :: else
    fi;
    known_notice[c] = false;
    checks[c] = 0;
    made = 0;
    leases = 0
  }
}

/* Renews the lease, at most once between two ticks, and checks the hold when the notice has changed. */
proctype keeper(byte c) {
  byte l, checked;
  mtype got;
  bool notice, is_missing;
end:
  do
  :: atomic {
      renewals > 0 && !ended[c] && own_lease[c] != 0 && valid_for[c] > 0 && valid_for[c] < TTL - MARGIN ->
      renewals--;
      l = own_lease[c];
      sent_valid_for[c] = TTL - MARGIN;
      renewal[c] = l
    }
    if
    :: atomic {
        renewed[c] != 0 ->
        got = renewed[c];
        notice = renewed_notice[c];
        renewed[c] = 0;
        renewed_notice[c] = false;
        if
        :: own_lease[c] != l || valid_for[c] == 0 -> got = 0
        :: own_lease[c] == l && valid_for[c] > 0 && got == absent -> valid_for[c] = 0
        :: own_lease[c] == l && valid_for[c] > 0 && got == done ->
#ifdef DEADLINE_AT_REPLY
          sent_valid_for[c] = TTL - MARGIN;
#endif
          if
          :: sent_valid_for[c] > valid_for[c] -> valid_for[c] = sent_valid_for[c]
          :: else
          fi
        fi;
        sent_valid_for[c] = 0
      }
    :: atomic {
        lost_replies > 0 ->
        lost_replies--;
        sent_valid_for[c] = 0;
        renewal[c] = 0;
        renewed[c] = 0;
        renewed_notice[c] = false;
        got = 0
      }
    fi;
    if
    :: atomic {
        got == done && notice != known_notice[c] ->
        checks[c]++;
        checked = (own_hold[c] != 0 && state[own_hold[c]] == held -> own_hold[c] : 0);
#ifdef NOTICE_STORED_FIRST
        known_notice[c] = notice
#endif
      }
      if
      :: is_missing = checked != 0 && row_hold != checked;
        d_step {
          if
          :: is_missing && state[checked] == held -> state[checked] = lost
          :: else
          fi;
          if
          :: own_lease[c] == l -> known_notice[c] = notice
          :: else
          fi;
          checked = 0;
          is_missing = false
        }
      :: atomic { lost_replies > 0 -> lost_replies--; checked = 0 } /* the next renewal shows the change again */
      fi
    :: got != done || notice == known_notice[c]
    fi;
    l = 0; got = 0; notice = false
  od
}

/* ---- What must hold at every moment, and when nothing more can happen ---- */

#define IS_NOTICED(c) (!BELIEVES(c) || known_notice[c] != noticed[own_lease[c]] || row_hold == own_hold[c])
#define BELIEVES_RIGHTLY(c) (BELIEVES(c) && !was_forced[own_hold[c]])
#define IS_GONE(h) (state[h] == lost || state[h] == crashed || state[h] == transferred)
/* The holder is gone, and time stopped before its lease could be killed. */
#define WAITS_FOR_A_LEASE (alive[row_lease] && left[row_lease] > 0 && row_hold != 0 && IS_GONE(row_hold))
#define IS_SERVED(c) (ended[c] || WAITS_FOR_A_LEASE)

active proctype judge() {
  byte c, h;
end:
  if
  :: atomic { BELIEVES_RIGHTLY(0) && BELIEVES_RIGHTLY(1) -> RULE(I1_ONE_VALID_HOLDER, false) }
  :: atomic { !IS_NOTICED(0) || !IS_NOTICED(1) -> RULE(LOSS_IS_NOTICED, false) }
#if CLIENTS > 2
  :: atomic { BELIEVES_RIGHTLY(2) && (BELIEVES_RIGHTLY(0) || BELIEVES_RIGHTLY(1)) -> RULE(I1_ONE_VALID_HOLDER, false) }
  :: atomic { !IS_NOTICED(2) -> RULE(LOSS_IS_NOTICED, false) }
#endif
  :: timeout ->
    d_step {
      for (c : 0 .. CLIENTS - 1) {
        RULE(I6_SERVED, IS_SERVED(c))
      }
      RULE(I6_NO_ORPHAN, row_hold == 0 || IS_GONE(row_hold));
      for (i : 1 .. HOLD_IDS - 1) {
        RULE(I6_NO_ORPHAN, !IS_IN_QUEUE(i) || IS_GONE(i) || state[i] == waiting)
      }
      for (i : 1 .. LEASE_IDS - 1) {
        RULE(I3_DEAD_ONCE, !(died[i] && alive[i]))
      }
    }
  fi
}

init {
  atomic {
    byte n;
    for (n : 0 .. CLIENTS - 1) {
      run client(n);
      run keeper(n)
    }
  }
}
