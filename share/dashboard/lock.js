// One lock: what it is, who has it, who waits, what happened, and what an operator can do.
import {ApiError, get, lockPath, post} from './api.js';
import {badge, duration, el, shown, shownPlain, table, who} from './dom.js';
import {stateOf} from './locks.js';
import {ask} from './dialog.js';

const kinds = {latch: true, barrier: true};

function definition(rows) {
  return el('dl', {class: 'facts'}, rows.map(([name, value]) => el('div', null, el('dt', null, name), el('dd', null, value))));
}

// The one exclusive holder, if it has one.
function soleHolder(lock) {
  const [first] = lock.holders;
  return lock.holder_count === 1 && first.mode === 'exclusive' && first.state !== 'rests' ? first : null;
}

export class LockPage {
  #name;
  #caller;
  #lock = null;
  #shape = '';
  #hasHistory = false;

  constructor(name, caller) {
    this.#name = name;
    this.#caller = caller;
    this.title = shownPlain(name, 60);
    this.message = el('p', {role: 'status', class: 'message', hidden: true});
    this.actions = el('fieldset', {class: 'actions'});
    this.content = el('div', null, el('p', null, 'Reading the lock…'));
    this.past = el('section', {'aria-labelledby': 'history'}, el('h2', {id: 'history'}, 'History'), el('p', null, 'Reading…'));
    this.node = el('article', {'aria-labelledby': 'title'},
      el('p', null, el('a', {href: '#/locks'}, 'All locks')),
      el('h1', {id: 'title', class: 'name'}, shown(name)), this.message, this.actions, this.content, this.past);
  }

  setStale(isStale) {
    this.actions.disabled = isStale;
  }

  async refresh(signal) {
    let lock;
    try {
      lock = await get(lockPath(this.#name), signal);
    } catch (problem) {
      if (!(problem instanceof ApiError) || problem.status !== 404) throw problem;
      this.actions.replaceChildren();
      this.#shape = '';
      this.content.replaceChildren(el('p', null, 'There is no lock with this name. It appears when somebody acquires it.'));
      return this.#drawHistory([]);
    }
    this.#lock = lock;
    this.#drawActions(lock);
    this.content.replaceChildren(this.#facts(lock), this.#holders(lock), this.#queue(lock));
    this.#drawHistory((await get(`${lockPath(this.#name)}/history?limit=100`, signal)).lines);
  }

  #facts(lock) {
    return definition([
      ['State', badge(...stateOf(lock))], ['Kind', lock.kind], ['In use', `${lock.in_use} of ${lock.capacity}`],
      ['Waiters', String(lock.waiters)], ['Token', String(lock.token)], ['Order', lock.fair ? 'fair: first come, first served' : 'barging allowed'],
      ...(lock.request ? [['Release requested', [shown(lock.request.reason), ` (for another ${duration(lock.request.remaining_ms)})`]]] : [])]);
  }

  #holders(lock) {
    const more = lock.holder_count - lock.holders.length;
    return el('section', {'aria-labelledby': 'holders'}, el('h2', {id: 'holders'}, 'Holders'),
      lock.holders.length === 0 ? el('p', null, 'Nobody holds it.') : table('Holders',
        ['Process', 'Mode', 'Held for', 'Lease ends in', 'Token', 'Data', 'Hold'],
        lock.holders.map((one) => [
          one.state === 'rests' ? 'nobody: the lock rests' : [shown(who(one)), one.state === 'expired' ? [' ', badge('bad', 'expired')] : null],
          `${one.mode}, ${one.weight} of ${lock.capacity}`, duration(one.held_ms), duration(one.expires_in_ms),
          String(one.token), shown(one.data), el('code', null, one.hold_id)])),
      more > 0 ? el('p', null, `And ${more} more.`) : null);
  }

  #queue(lock) {
    const more = lock.waiters - lock.queue.length;
    return el('section', {'aria-labelledby': 'queue'}, el('h2', {id: 'queue'}, 'Queue'),
      lock.queue.length === 0 ? el('p', null, 'Nobody waits.') : table('Queue, the next one first',
        ['Place', 'Process', 'Mode', 'Lease ends in'],
        lock.queue.map((one, i) => [String(i + 1), shown(who(one)), `${one.mode}, ${one.weight}`,
          one.alive ? duration(one.expires_in_ms) : badge('bad', 'gone; will be skipped')])),
      more > 0 ? el('p', null, `And ${more} more.`) : null);
  }

  #drawHistory(lines) {
    const head = el('h2', {id: 'history'}, 'History');
    if (!lines.length) {
      return this.past.replaceChildren(head, el('p', null, 'Nothing is recorded for this name. ',
        el('code', null, 'rowlock history --record PATTERN'), ' begins to record.'));
    }
    this.past.replaceChildren(head, el('ol', {class: 'timeline'}, lines.map((one) => el('li', null,
      el('time', {datetime: one.at}, one.at.replace('T', ' ').replace('Z', ' UTC')), ' ', el('strong', null, one.event), ' ',
      one.host ? shown(who(one)) : null, one.detail ? [' — ', shown(one.detail)] : null,
      one.token ? el('span', {class: 'faint'}, ` token ${one.token}`) : null))));
  }

  // Drawn again only if other actions are possible, so that a button keeps the focus.
  #drawActions(lock) {
    const may = this.#caller.roles.includes('operate');
    const shape = `${may} ${lock.kind} ${lock.holders.length > 0 || lock.in_use > 0}`;
    if (shape === this.#shape) return;
    this.#shape = shape;
    if (!may) return this.actions.replaceChildren();
    if (!this.#caller.may_write) {
      return this.actions.replaceChildren(el('p', {class: 'faint'}, 'This server only reads the database, so no action is possible here.'));
    }
    const isHeld = lock.in_use > 0 && !kinds[lock.kind];
    this.actions.replaceChildren(
      el('button', {type: 'button', disabled: !isHeld, onclick: () => this.#askForRelease()}, 'Ask for its release…'),
      el('button', {type: 'button', class: 'danger', disabled: !isHeld, onclick: () => this.#force()}, 'Release by force…'),
      ...(lock.kind === 'semaphore' ? [el('button', {type: 'button', onclick: () => this.#resize()}, 'Change the capacity…')] : []));
  }

  #askForRelease() {
    ask({title: 'Ask for the release', name: this.#name,
      text: 'The holders see your reason, and may decline. The request waits for them.',
      number: {label: 'Wait for, in seconds', value: 10, least: 1, most: 60},
      confirm: 'Ask', act: ({reason, number, signal}) => this.#post('release-request', {reason, within_ms: number * 1000}, signal)});
  }

  // Another process may have the lock when the operator has confirmed, and must not lose it.
  #force() {
    const only = soleHolder(this.#lock);
    ask({title: 'Release by force', name: this.#name, isDangerous: true,
      text: only ? [shown(who(only)), ' loses the lock at once, even if it is at work. Its program learns of it, but what it has begun may go on: others then work beside it.']
        : 'All holders lose the lock at once, also those that are at work. Their programs learn of it, but what they have begun may go on: others then work beside them.',
      check: only ? 'I know that the holder may still be at work.' : 'I know that the holders may still be at work.',
      confirm: 'Release by force', act: ({reason, signal}) => this.#post('force', {reason, hold_id: only?.hold_id}, signal)});
  }

  #resize() {
    ask({title: 'Change the capacity', name: this.#name,
      text: 'This changes the stored capacity for everybody. Programs that expect the old one get an error. No permit is taken away.',
      number: {label: 'Capacity', value: this.#lock.capacity, least: 1, most: 1000000000},
      check: 'I have changed the programs that name the old capacity.',
      confirm: 'Change it', act: ({reason, number, signal}) => this.#post('resize', {reason, capacity: number}, signal)});
  }

  #say(text) {
    this.message.hidden = false;
    this.message.textContent = text;
  }

  async #post(verb, body, signal) {
    if (this.actions.disabled) throw new Error('what this page shows is stale; wait until it is live again');
    let result;
    try {
      ({result} = await post(`${lockPath(this.#name)}/${verb}`, body, signal));
    } catch (problem) {
      if (signal.aborted) this.#say('You stopped waiting. If the action had begun, it may still be done; otherwise it is not done.');
      throw problem;
    }
    this.#say({
      released: 'All holders have released it.', kept: 'The holders were asked, and still have it.',
      unheld: body.hold_id ? 'The holder that you saw no longer has it, so nothing was released.' : 'Nobody held it.',
      forced: 'It was released by force.', resized: `The capacity is ${body.capacity} now.`,
    }[result] ?? result);
    this.onchange?.();
  }
}
