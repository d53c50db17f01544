// Makes elements and texts. Whatever comes from the database enters the page as text, never as markup.

const svgSpace = 'http://www.w3.org/2000/svg';

function filled(node, properties, children) {
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? '' : value);
  }
  node.append(...children.flat(Infinity).filter((one) => one !== null && one !== undefined && one !== false));
  return node;
}

export function el(tag, properties, ...children) {
  return filled(document.createElement(tag), properties, children);
}

export function svg(tag, properties, ...children) {
  return filled(document.createElementNS(svgSpace, tag), properties, children);
}

// Characters that hide or reorder text are shown by their numbers, so no name looks like another one.
const hidden = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u115F\u1160\u3164]/u;
const plain = (text) => text.replace(new RegExp(hidden, 'gu'), (one) =>
  `⟨U+${one.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`);

// A text of the database that stays apart from its surroundings, whatever its writing direction.
export function shown(text) {
  return el('bdi', null, plain(String(text)));
}

export function shownPlain(text, most = 1000) {
  const whole = [...plain(String(text))];
  return whole.length > most ? whole.slice(0, most - 1).join('') + '…' : whole.join('');
}

export function duration(ms) {
  if (ms < 0) return `-${duration(-ms)}`;
  const units = [['d', 86400e3], ['h', 3600e3], ['m', 60e3], ['s', 1e3]];
  for (const [unit, size] of units) {
    if (ms >= size) return `${+(ms / size).toFixed(ms < 10 * size && unit !== 's' ? 1 : 0)} ${unit}`;
  }
  return `${Math.round(ms)} ms`;
}

export function who(one) {
  const command = one.command && one.command !== one.application ? `: ${one.command}` : '';
  return `${one.user ? `${one.user}@` : ''}${one.host}:${one.pid} ${one.application}${command}`;
}

export function table(caption, headings, rows) {
  return el('div', {class: 'wide'}, el('table', null,
    el('caption', {class: 'unseen'}, caption),
    el('thead', null, el('tr', null, headings.map((one) => el('th', {scope: 'col'}, one)))),
    el('tbody', null, rows.map((row) => el('tr', null,
      row.map((cell, i) => el('td', {'data-label': headings[i]}, cell)))))));
}

export function badge(kind, text) {
  const marks = {good: '●', busy: '◆', bad: '▲', idle: '○'};
  return el('span', {class: `badge ${kind}`}, el('span', {'aria-hidden': 'true'}, marks[kind]), ` ${text}`);
}

export function hrefOf(name) {
  return `#/locks/${encodeURIComponent(name)}`;
}

let announced = '';
export function announce(text) {
  if (text === announced) return;
  announced = text;
  document.getElementById('announcement').textContent = text;
}
