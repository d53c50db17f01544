// Which page is shown, who looks at it, and whether what it shows is up to date.
import {follow, get, setToken, token} from './api.js';
import {announce, duration, el, shown} from './dom.js';
import {closeDialog} from './dialog.js';
import {GraphPage} from './graph.js';
import {HealthPage} from './health.js';
import {LockPage} from './lock.js';
import {LocksPage} from './locks.js';

const main = document.getElementById('main');
const status = document.getElementById('status');
const pages = document.getElementById('pages');

let caller = null;
let session = null;     // ends with the token
let visit = null;       // {page, signal, end(), …}: ends when another page is shown
let version = null;
let lastNews = 0;
let patience = 6000;
let away = null;        // why data are stale: {text, since}
let refreshed = 0;
const noLonger = 'The token is not, or is no longer, one of this server’s.';

function setAway(text) {
  if (text && !away) away = {since: new Date(), text};
  else if (text) away.text = text;
  else away = null;
  status.hidden = false;
  status.classList.toggle('stale', Boolean(away));
  const time = (away?.since ?? new Date()).toLocaleTimeString();
  const line = away ? `▲ Stale since ${time}: ${away.text}. Trying again by itself.` : '● Live';
  if (status.textContent !== line) status.textContent = line;
  main.classList.toggle('stale', Boolean(away));
  if (away) visit?.page.away?.(away.text);
}

function describe(state) {
  return `the database cannot be used (${state.error.message})`;
}

// One reading after the other, with a pause that is longer than the reading.
async function refresh() {
  const here = visit;
  if (!here) return;
  here.isWanted = true;
  if (here.isBusy) return;
  here.isBusy = true;
  while (here.isWanted && !here.signal.aborted) {
    here.isWanted = false;
    const began = Date.now();
    try {
      await here.page.refresh(here.signal);
    } catch (problem) {
      if (here.signal.aborted) return;
      if (problem.status === 401) return login(noLonger);
      setAway(problem.message);
    }
    refreshed = Date.now();
    await new Promise((resolve) => setTimeout(resolve, Math.max(500, 5 * (refreshed - began))));
  }
  here.isBusy = false;
}

function onState(state) {
  lastNews = Date.now();
  patience = state.next_ms + 6000;
  if (!state.reachable) {
    version = null;
    return setAway(describe(state));
  }
  const isBack = away !== null;
  setAway(null);
  if (isBack) announce('The data are live again.');
  // The rest of a lease changes without a new version.
  if (state.version !== version || isBack || Date.now() - refreshed > 5000) refresh();
  version = state.version;
}

function onAway(problem, pause) {
  if (problem.status === 401) return login(noLonger);
  if (problem.status === 403) return setAway(problem.message);
  setAway(`${problem.message}; next attempt in ${duration(pause)}`);
}

setInterval(() => {
  if (session && lastNews && !away && Date.now() - lastNews > patience) setAway('there is no news from the server');
}, 1000);

function pageOf(hash) {
  const parts = hash.replace(/^#\/?/, '').split('/');
  if (parts[0] === 'graph') return new GraphPage();
  if (parts[0] === 'health') return new HealthPage();
  if (parts[0] === 'locks' && parts[1]) {
    try {
      return new LockPage(decodeURIComponent(parts[1]), caller);
    } catch {
      // A link that is not well encoded leads to the list.
    }
  }
  return new LocksPage();
}

function navigate() {
  if (location.hash === '#main') return main.focus();
  if (!caller) return;
  visit?.end();
  closeDialog();
  const page = pageOf(location.hash);
  page.onchange = refresh;
  const ending = new AbortController();
  visit = {page, signal: ending.signal, end: () => ending.abort(), isWanted: false, isBusy: false};
  for (const link of pages.querySelectorAll('a')) {
    const isHere = (location.hash || '#/locks').startsWith(link.getAttribute('href'));
    if (isHere) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  document.title = `${page.title} – rowlock`;
  const isFirst = !main.childElementCount || main.querySelector('.login');
  main.replaceChildren(page.node);
  if (!isFirst) main.focus({preventScroll: true});
  scrollTo(0, 0);
  refresh();
}

function end() {
  session?.abort();
  visit?.end();
  session = visit = caller = version = away = null;
  lastNews = 0;
  pages.hidden = document.getElementById('caller').hidden = status.hidden = true;
  main.classList.remove('stale');
  closeDialog();
}

function login(problem) {
  end();
  setToken('');
  const field = el('input', {type: 'password', id: 'token', required: true, autocomplete: 'off', spellcheck: 'false',
    'aria-describedby': problem ? 'login-problem' : null, 'aria-invalid': problem ? 'true' : null});
  const enter = (event) => {
    event.preventDefault();
    setToken(field.value.trim());
    begin();
  };
  main.replaceChildren(el('form', {class: 'login', onsubmit: enter, 'aria-labelledby': 'title'},
    el('h1', {id: 'title'}, 'Sign in'),
    el('p', null, 'This server needs a token. ', el('code', null, 'rowlock serve --new-token NAME read'), ' makes one.'),
    problem ? el('p', {class: 'problem', role: 'alert', id: 'login-problem'}, problem) : null,
    el('label', {for: 'token'}, 'Token'), field,
    el('p', {class: 'faint'}, 'It stays in this tab, and is forgotten when the tab is closed.'),
    el('p', {class: 'actions'}, el('button', {class: 'primary'}, 'Sign in'))));
  document.title = 'Sign in – rowlock';
  field.focus();
}

async function begin() {
  const wasTried = Boolean(token());
  if (/[^\x21-\x7E]/.test(token())) return login('That is no token: it has characters that no token has.');
  try {
    caller = await get('/api/whoami');
  } catch (problem) {
    if (problem.status === 401) return login(wasTried ? 'The token is not one of this server’s. It may be mistyped, or no longer valid.' : '');
    if (problem.status === 403) return login('This token may not read: it lacks the role read.');
    main.replaceChildren(el('p', {role: 'alert', class: 'problem'}, `The server cannot be used now: ${problem.message}. Trying again by itself.`));
    return setTimeout(begin, 3000);
  }
  pages.hidden = false;
  const line = document.getElementById('caller');
  line.hidden = false;
  document.getElementById('caller-name').replaceChildren(shown(caller.name), ` (${caller.roles.join(', ')})`);
  document.getElementById('logout').hidden = !token();
  status.hidden = false;
  status.textContent = 'Connecting…';
  session = new AbortController();
  follow({onState, onAway, signal: session.signal});
  navigate();
}

document.getElementById('logout').addEventListener('click', () => login(''));
addEventListener('hashchange', navigate);
begin();
