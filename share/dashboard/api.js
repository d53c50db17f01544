// Speaks to the server that this page comes from. The token stays in this tab.

export class ApiError extends Error {
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

const key = 'rowlock-token';
const readingLimit = 30000;

export function token() {
  return sessionStorage.getItem(key) ?? '';
}

export function setToken(text) {
  if (text) sessionStorage.setItem(key, text);
  else sessionStorage.removeItem(key);
}

function headers(more) {
  return token() ? {...more, Authorization: `Bearer ${token()}`} : {...more};
}

// Ends with the signal, or when it is aborted itself. Older browsers have no AbortSignal.any.
function endingWith(signal) {
  const ending = new AbortController();
  if (signal?.aborted) ending.abort();
  signal?.addEventListener('abort', () => ending.abort(), {signal: ending.signal});
  return ending;
}

async function send(path, options) {
  let answer;
  try {
    answer = await fetch(path, {...options, credentials: 'omit', cache: 'no-store'});
  } catch (problem) {
    if (problem.name === 'AbortError') throw problem;
    throw new ApiError(0, 'unreachable', 'the server does not answer');
  }
  if (answer.ok) return answer;
  let told = {};
  try {
    told = (await answer.json()).error ?? {};
  } catch {
    // A proxy's page, for example.
  }
  throw new ApiError(answer.status, told.code ?? 'http', told.message ?? `the server answered with ${answer.status}`);
}

export async function get(path, signal) {
  const ending = endingWith(signal);
  const timer = setTimeout(() => ending.abort(), readingLimit);
  try {
    const answer = await send(path, {headers: headers(), signal: ending.signal});
    return await answer.json();
  } catch (problem) {
    if (!ending.signal.aborted || signal?.aborted) throw problem;
    throw new ApiError(0, 'unreachable', `the server has not answered within ${readingLimit / 1000} s`);
  } finally {
    clearTimeout(timer);
    ending.abort();
  }
}

export async function post(path, body, signal) {
  return (await send(path, {
    method: 'POST', headers: headers({'Content-Type': 'application/json'}), body: JSON.stringify(body), signal})).json();
}

export function lockPath(name) {
  return `/api/locks/${encodeURIComponent(name)}`;
}

// Calls onState for each event, until the stream ends.
async function readEvents(answer, onState) {
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (;;) {
    const {done, value} = await reader.read();
    if (done) return;
    text += value;
    const events = text.split('\n\n');
    text = events.pop();
    for (const one of events) {
      const data = one.split('\n').find((line) => line.startsWith('data: '));
      if (data) onState(JSON.parse(data.slice(6)));
    }
  }
}

// Calls onState for each event until the signal is aborted. After a failure it tries again, with growing pauses:
// onAway gets the reason and the pause. An EventSource could not send the token.
export async function follow({onState, onAway, signal}) {
  let pause = 500;
  let slack = 6000;
  let next = 0;
  while (!signal.aborted) {
    let reason = new ApiError(0, 'ended', 'the server has ended the stream');
    const attempt = endingWith(signal);
    let watchdog;
    // A connection that was lost in silence, while a laptop slept for example, never ends by itself. The next reading
    // may take longer than the last one, of which next is a multiple.
    const watch = () => {
      clearTimeout(watchdog);
      watchdog = setTimeout(() => attempt.abort(), 1.5 * next + slack);
    };
    try {
      watch();
      await readEvents(await send('/api/events', {headers: headers(), signal: attempt.signal}), (state) => {
        pause = 500;
        slack = 6000;
        next = state.next_ms;
        watch();
        onState(state);
      });
    } catch (problem) {
      reason = problem instanceof ApiError ? problem : new ApiError(0, 'unreachable', 'the server does not answer');
      if (attempt.signal.aborted) {
        reason = new ApiError(0, 'silent', 'there is no news from the server');
        // A slow database must not be asked again and again without ever being waited for.
        slack = Math.min(slack * 2, 60000);
      }
    } finally {
      clearTimeout(watchdog);
      attempt.abort();  // ends the stream, also if what was read could not be used
    }
    if (signal.aborted) return;
    pause = Math.min(pause * 2, 30000) * (0.8 + 0.4 * Math.random());
    onAway(reason, pause);
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}
