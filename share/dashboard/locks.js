// The table of all locks. The browser keeps all of them and draws one page.
import {get} from './api.js';
import {badge, duration, el, hrefOf, shown, shownPlain, who} from './dom.js';

const rowsAPage = 100;
// What they count has no holders, or may have none.
const withoutHolders = ['latch', 'barrier', 'unknown'];

export function stateOf(lock) {
  const live = lock.holders.filter((one) => one.state !== 'rests');
  if (live.some((one) => one.state === 'expired')) return ['bad', 'expired holder'];
  if (lock.request) return ['busy', 'release requested'];
  if (lock.waiters > 0) return ['busy', 'contended'];
  if (live.length) return ['good', 'held'];
  if (lock.holders.length) return ['idle', 'resting'];
  if (lock.in_use === 0) return ['idle', 'free'];
  return withoutHolders.includes(lock.kind) ? ['good', 'in use'] : ['bad', 'held by the dead'];
}

const columns = [
  {title: 'Name', of: (one) => one.name},
  {title: 'Kind', of: (one) => one.kind},
  {title: 'State', of: (one) => one.state[1]},
  {title: 'In use', of: (one) => one.in_use / (one.capacity || 1)},
  {title: 'Waiters', of: (one) => one.waiters},
  {title: 'Holder', of: (one) => one.text},
  {title: 'Lease ends in', of: (one) => one.holders[0]?.expires_in_ms ?? Infinity},
];

const filters = {
  '': () => true,
  held: (one) => one.in_use > 0,
  contended: (one) => one.waiters > 0,
  trouble: (one) => one.state[0] === 'bad',
  free: (one) => one.in_use === 0,
};

export class LocksPage {
  title = 'Locks';
  #all = [];
  #isCut = false;
  #isLoaded = false;
  #sort = 0;
  #down = false;
  #page = 0;

  constructor() {
    this.filter = el('input', {type: 'search', id: 'filter', autocomplete: 'off', spellcheck: 'false', oninput: () => this.#draw(0)});
    this.choice = el('select', {id: 'choice', onchange: () => this.#draw(0)},
      el('option', {value: ''}, 'all'), el('option', {value: 'held'}, 'held'),
      el('option', {value: 'contended'}, 'with waiters'), el('option', {value: 'trouble'}, 'in trouble'),
      el('option', {value: 'free'}, 'free'));
    this.count = el('p', {class: 'count', 'aria-live': 'polite'});
    this.heads = columns.map((one, i) => el('th', {scope: 'col', 'aria-sort': i ? 'none' : 'ascending'},
      el('button', {type: 'button', class: 'sort', onclick: () => this.#sortBy(i)}, one.title)));
    this.body = el('tbody');
    this.previous = el('button', {type: 'button', onclick: () => this.#draw(this.#page - 1)}, 'Previous');
    this.next = el('button', {type: 'button', onclick: () => this.#draw(this.#page + 1)}, 'Next');
    this.where = el('span');
    this.node = el('section', {'aria-labelledby': 'title'},
      el('h1', {id: 'title'}, 'Locks'),
      el('form', {class: 'filters', role: 'search', onsubmit: (event) => event.preventDefault()},
        el('label', {for: 'filter'}, 'Name or holder'), this.filter,
        el('label', {for: 'choice'}, 'Show'), this.choice),
      this.count,
      el('div', {class: 'wide'}, el('table', {class: 'locks'}, el('caption', {class: 'unseen'}, 'Locks'),
        el('thead', null, el('tr', null, this.heads)), this.body)),
      el('nav', {class: 'pager', 'aria-label': 'Pages of the table'}, this.previous, this.where, this.next));
    this.count.textContent = 'Reading the locks…';
    this.previous.disabled = this.next.disabled = true;
  }

  async refresh(signal) {
    const all = [];
    for (let after = '', isLast = false; !isLast;) {
      const page = await get(`/api/locks?limit=1000&after=${encodeURIComponent(after)}`, signal);
      all.push(...page.locks);
      isLast = page.is_last || !page.locks.length;
      this.#isCut = page.is_cut && !isLast && all.length >= 20000;
      if (this.#isCut) break;
      after = page.locks.at(-1)?.name;
    }
    for (const one of all) {
      one.state = stateOf(one);
      const holder = one.holders.find((each) => each.state !== 'rests');
      one.text = holder ? who(holder) + (one.holder_count > 1 ? ` and ${one.holder_count - 1} more` : '') : '';
      one.wanted = `${one.name}\n${one.text}`.toLowerCase();
    }
    this.#all = all;
    this.#isLoaded = true;
    this.#draw(this.#page);
  }

  #sortBy(column) {
    this.#down = this.#sort === column && !this.#down;
    this.#sort = column;
    this.heads.forEach((one, i) => one.setAttribute('aria-sort',
      i !== column ? 'none' : this.#down ? 'descending' : 'ascending'));
    this.#draw(0);
  }

  #chosen() {
    const text = this.filter.value.toLowerCase();
    const fits = filters[this.choice.value];
    const found = this.#all.filter((one) => fits(one) && one.wanted.includes(text));
    if (this.#sort === 0) return this.#down ? found.reverse() : found;
    const {of} = columns[this.#sort];
    const sign = this.#down ? -1 : 1;
    return found.sort((a, b) => (of(a) < of(b) ? -sign : of(a) > of(b) ? sign : 0));
  }

  #row(one) {
    const holder = one.holders.find((each) => each.state !== 'rests');
    const cells = [
      el('a', {href: hrefOf(one.name)}, shown(one.name)), one.kind, badge(...one.state),
      `${one.in_use} of ${one.capacity}`, String(one.waiters), shown(one.text), holder ? duration(holder.expires_in_ms) : ''];
    return el('tr', {'data-name': one.name}, cells.map((cell, i) => i === 0
      ? el('th', {scope: 'row'}, cell) : el('td', {'data-label': columns[i].title, class: i === 3 || i === 4 || i === 6 ? 'number' : null}, cell)));
  }

  #draw(page) {
    if (!this.#isLoaded) return;
    const found = this.#chosen();
    const pages = Math.max(1, Math.ceil(found.length / rowsAPage));
    this.#page = Math.min(Math.max(page, 0), pages - 1);
    const focused = this.body.contains(document.activeElement) ? document.activeElement.closest('tr').dataset.name : null;
    this.body.replaceChildren(...found.slice(this.#page * rowsAPage, (this.#page + 1) * rowsAPage).map((one) => this.#row(one)));
    if (focused !== null) {
      [...this.body.rows].find((one) => one.dataset.name === focused)?.querySelector('a').focus({preventScroll: true});
    }
    const some = found.length === this.#all.length ? '' : `${found.length} of `;
    const count = `${some}${this.#all.length} locks${this.#isCut ? '; there are more than this page shows' : ''}`;
    if (this.count.textContent !== count) this.count.textContent = count;
    this.where.textContent = `Page ${this.#page + 1} of ${pages}`;
    this.previous.disabled = this.#page === 0;
    this.next.disabled = this.#page === pages - 1;
  }
}
