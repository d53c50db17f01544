// Who waits for whom, as a picture and in words.
import {get} from './api.js';
import {badge, duration, el, hrefOf, shown, shownPlain, svg, who} from './dom.js';

const most = {locks: 40, waiters: 8, holders: 4};
const box = {width: 210, height: 46, gapX: 90, gapY: 18};

function short(one) {
  return `${one.host}:${one.pid} ${one.application}`;
}

// The nodes are locks and processes; an edge leads from who waits to what it waits for.
function graphOf(data) {
  const nodes = new Map();
  const edges = [];
  const stuck = new Set(data.cycles.flat().map((one) => one.waiter.hold_id));
  const stuckLeases = new Set(data.cycles.flat().map((one) => one.waiter.lease_id));
  const stuckLocks = new Set(data.cycles.flat().map((one) => one.waits_for));
  const add = (key, node) => nodes.get(key) ?? nodes.set(key, {key, level: 0, ...node}).get(key);
  for (const lock of data.locks.slice(0, most.locks)) {
    const target = add(`lock ${lock.name}`, {text: lock.name, detail: `${lock.in_use} of ${lock.capacity} in use`, isLock: true, isStuck: stuckLocks.has(lock.name)});
    for (const one of lock.queue.slice(0, most.waiters)) {
      const from = add(`process ${one.lease_id}`, {text: short(one), detail: one.user, isStuck: stuckLeases.has(one.lease_id)});
      edges.push({from, to: target, isStuck: stuck.has(one.hold_id), text: 'waits for'});
    }
    const left = lock.waiters - Math.min(lock.queue.length, most.waiters);
    if (left > 0) edges.push({from: add(`more ${lock.name}`, {text: `${left} more waiters`, detail: ''}), to: target, text: 'wait for'});
    for (const one of lock.holders.filter((each) => each.state !== 'rests').slice(0, most.holders)) {
      const to = add(`process ${one.lease_id}`, {text: short(one), detail: one.user, isStuck: stuckLeases.has(one.lease_id)});
      edges.push({from: target, to, isStuck: target.isStuck && to.isStuck, text: 'is held by'});
    }
  }
  return {nodes: [...nodes.values()], edges};
}

// Puts what it waits for to the right of each node. An edge that closes a circle leads back.
function raise(node, edgesOf, path) {
  node.isPlaced = true;
  path.add(node);
  for (const {to} of edgesOf.get(node) ?? []) {
    if (path.has(to) || (to.isPlaced && to.level > node.level)) continue;
    to.level = node.level + 1;
    raise(to, edgesOf, path);
  }
  path.delete(node);
}

// The nodes that edges connect with this one stand together.
function gather(node, neighbours, group) {
  if (group.has(node)) return group;
  group.add(node);
  for (const one of neighbours.get(node) ?? []) gather(one, neighbours, group);
  return group;
}

function place({nodes, edges}) {
  const edgesOf = Map.groupBy ? Map.groupBy(edges, (one) => one.from) : new Map(nodes.map((one) => [one, edges.filter((each) => each.from === one)]));
  const neighbours = new Map(nodes.map((one) => [one, []]));
  for (const {from, to} of edges) {
    neighbours.get(from).push(to);
    neighbours.get(to).push(from);
  }
  const isWaitedFor = new Set(edges.map((one) => one.to));
  for (const one of nodes.filter((each) => !isWaitedFor.has(each))) raise(one, edgesOf, new Set());
  for (const one of nodes) if (!one.isPlaced) raise(one, edgesOf, new Set());
  const done = new Set();
  let top = 12;
  for (const first of [...nodes].sort((a, b) => Boolean(b.isStuck) - Boolean(a.isStuck))) {
    if (done.has(first)) continue;
    const rows = new Map();
    for (const one of gather(first, neighbours, new Set())) {
      done.add(one);
      const row = rows.get(one.level) ?? 0;
      rows.set(one.level, row + 1);
      one.x = 12 + one.level * (box.width + box.gapX);
      one.y = top + row * (box.height + box.gapY);
    }
    top += Math.max(...rows.values()) * (box.height + box.gapY) + box.gapY;
  }
  const right = Math.max(...nodes.map((one) => one.x));
  return {width: right + box.width + 60, height: top};
}

function edgeOf({from, to, isStuck, text}) {
  const right = to.x > from.x;
  const x1 = from.x + (right ? box.width : 0);
  const x2 = to.x + (right ? 0 : box.width);
  const y1 = from.y + box.height / 2 + (right ? -5 : 9);
  const y2 = to.y + box.height / 2 + (right ? -5 : 9);
  const bend = right ? 45 : -45;
  const path = from.x === to.x
    ? `M${from.x + box.width} ${y1} C${from.x + box.width + 50} ${y1} ${to.x + box.width + 50} ${y2} ${to.x + box.width} ${y2}`
    : `M${x1} ${y1} C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
  return svg('path', {d: path, class: isStuck ? 'edge stuck' : 'edge', 'marker-end': `url(#${isStuck ? 'stuck-arrow' : 'arrow'})`},
    svg('title', null, `${shownPlain(from.text)} ${text} ${shownPlain(to.text)}`));
}

function nodeOf(one) {
  const marked = one.isStuck ? `▲ ${one.isLock ? '' : 'deadlock '}` : '';
  const parts = [
    svg('title', null, shownPlain(one.text)),
    svg('rect', {x: one.x, y: one.y, width: box.width, height: box.height, rx: one.isLock ? 4 : 22}),
    svg('text', {x: one.x + 14, y: one.y + 19, class: 'strong'}, shownPlain(one.text, 26)),
    svg('text', {x: one.x + 14, y: one.y + 36}, shownPlain(marked + (one.detail ?? ''), 30))];
  const kind = `node ${one.isLock ? 'lock' : 'process'}${one.isStuck ? ' stuck' : ''}`;
  return one.isLock ? svg('a', {href: hrefOf(one.text), class: kind}, parts) : svg('g', {class: kind}, parts);
}

function picture(data) {
  const graph = graphOf(data);
  const size = place(graph);
  const arrow = (id, kind) => svg('marker', {id, viewBox: '0 0 10 10', refX: 9, refY: 5, markerWidth: 11, markerHeight: 11, markerUnits: 'userSpaceOnUse', orient: 'auto', class: kind},
    svg('path', {d: 'M0 0L10 5L0 10z'}));
  return svg('svg', {class: 'graph', width: size.width, height: size.height, viewBox: `0 0 ${size.width} ${size.height}`,
    role: 'group', 'aria-label': 'Who waits for whom; the same is below in words'},
    svg('defs', null, arrow('arrow', 'head'), arrow('stuck-arrow', 'head stuck')), graph.edges.map(edgeOf), graph.nodes.map(nodeOf));
}

export class GraphPage {
  title = 'Wait graph';
  #last = '';

  constructor() {
    this.content = el('div', null, el('p', null, 'Reading the queues…'));
    this.node = el('section', {'aria-labelledby': 'title'}, el('h1', {id: 'title'}, 'Wait graph'), this.content);
  }

  async refresh(signal) {
    const data = await get('/api/graph', signal);
    const same = JSON.stringify(data, (key, value) => (/_ms$|_at$|_since$/.test(key) ? undefined : value));
    if (same === this.#last) return;
    this.#last = same;
    if (!data.locks.length) return this.content.replaceChildren(el('p', {class: 'empty'}, badge('good', 'Nobody waits for a lock.')));
    const shownLocks = Math.min(data.locks.length, most.locks);
    const left = data.left_out + data.locks.length - shownLocks;
    this.content.replaceChildren(
      this.#deadlocks(data.cycles),
      el('p', {class: 'legend'}, 'Rounded: processes. Square: locks. An arrow leads from who waits to what it waits for. Dashed and marked ▲: a deadlock.'),
      left > 0 ? el('p', null, `The picture shows the ${shownLocks} locks with the most waiters, and leaves out ${left}.`) : '',
      el('div', {class: 'wide picture', tabindex: 0, role: 'region', 'aria-label': 'The picture'}, picture(data)),
      el('h2', null, 'In words'),
      el('ul', {class: 'words'}, data.locks.slice(0, most.locks).map((lock) => el('li', null,
        el('a', {href: hrefOf(lock.name)}, shown(lock.name)), ' is held by ',
        lock.holders.length ? shown(lock.holders.slice(0, most.holders).map(who).join(', ')) : 'nobody', '; ',
        `${lock.waiters} wait: `, shown(lock.queue.slice(0, most.waiters).map(who).join(', '))))));
  }

  #deadlocks(cycles) {
    if (!cycles.length) return el('p', null, badge('good', 'No deadlock.'));
    return el('div', {class: 'problem', role: 'alert'},
      el('p', null, badge('bad', cycles.length === 1 ? 'One deadlock: these wait for each other for ever.' : `${cycles.length} deadlocks.`)),
      cycles.map((circle) => el('ol', null, circle.map((one) => el('li', null,
        shown(short(one.waiter)), ' waits for ', el('a', {href: hrefOf(one.waits_for)}, shown(one.waits_for)))))));
  }
}
