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
let session = null;     // begins with the attempt to sign in, and ends with the token
let visit = null;       // {page, signal, end(), …}: ends when another page is shown
let version = null;
let staleSince = null;
let refreshed = 0;
// Why data are stale: there is no news of the database, or the page's own reading fails.
const troubles = {news: '', reading: ''};
const noLonger = 'The token is not, or is no longer, one of this server’s.';

// Each of the two ends its own trouble alone. Otherwise every event would call data live that could not be read.
function setTrouble(source, text) {
  troubles[source] = text;
  const reason = troubles.news || troubles.reading;
  if (staleSince && !reason) announce('The data are live again.');
  staleSince = reason ? staleSince ?? new Date() : null;
  status.hidden = false;
  status.classList.toggle('stale', Boolean(reason));
  const line = reason ? `▲ Stale since ${staleSince.toLocaleTimeString()}: ${reason}. Trying again by itself.` : '● Live';
  if (status.textContent !== line) status.textContent = line;
  main.classList.toggle('stale', Boolean(reason));
  visit?.page.setStale?.(Boolean(reason));
  if (text) visit?.page.away?.(reason);
}

function describe(state) {
  return `the database cannot be used (${state.error.message})`;
}

// One reading after the other, with a pause that is longer than the reading, unless that failed after a long time.
async function refresh() {
  const here = visit;
  if (!here) return;
  here.isWanted = true;
  if (here.isBusy) return;
  here.isBusy = true;
  while (here.isWanted && !here.signal.aborted) {
    here.isWanted = false;
    const began = Date.now();
    let problem = null;
    try {
      await here.page.refresh(here.signal);
    } catch (failed) {
      problem = failed;
    }
    if (here.signal.aborted) return;
    if (problem?.status === 401) return login(noLonger);
    if (problem || troubles.reading) setTrouble('reading', problem?.message ?? '');
    refreshed = Date.now();
    const pause = Math.min(5 * (refreshed - began), problem ? 5000 : Infinity);
    await new Promise((resolve) => setTimeout(resolve, Math.max(500, pause)));
  }
  here.isBusy = false;
}

function onState(state) {
  if (!state.reachable) {
    version = null;
    return setTrouble('news', describe(state));
  }
  const isBack = Boolean(troubles.news);
  setTrouble('news', '');
  // The rest of a lease changes without a new version.
  if (state.version !== version || isBack || Date.now() - refreshed > 5000) refresh();
  version = state.version;
}

function onAway(problem, pause) {
  if (problem.status === 401) return login(noLonger);
  if (problem.status === 403) return setTrouble('news', problem.message);
  setTrouble('news', `${problem.message}; next attempt in ${duration(pause)}`);
}

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
  page.setStale?.(Boolean(staleSince));
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
  session = visit = caller = version = staleSince = null;
  troubles.news = troubles.reading = '';
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
  session?.abort();  // the form may have been sent twice
  session = new AbortController();
  const {signal} = session;
  try {
    caller = await get('/api/whoami', signal);
  } catch (problem) {
    if (signal.aborted) return;
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
  follow({onState, onAway, signal});
  navigate();
}

document.getElementById('logout').addEventListener('click', () => login(''));
addEventListener('hashchange', navigate);
begin();
