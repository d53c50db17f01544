// Speaks to the server that this page comes from. The token stays in this tab.

export class ApiError extends Error {
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

const key = 'rowlock-token';

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
  return (await send(path, {headers: headers(), signal})).json();
}

export async function post(path, body) {
  return (await send(path, {
    method: 'POST', headers: headers({'Content-Type': 'application/json'}), body: JSON.stringify(body)})).json();
}

export function lockPath(name) {
  return `/api/locks/${encodeURIComponent(name)}`;
}

// Calls onState for each event until the signal is aborted. After a failure it tries again, with growing pauses:
// onAway gets the reason and the pause. An EventSource could not send the token.
export async function follow({onState, onAway, signal}) {
  let pause = 500;
  while (!signal.aborted) {
    let reason = new ApiError(0, 'ended', 'the server has ended the stream');
    try {
      const answer = await send('/api/events', {headers: headers(), signal});
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      let text = '';
      for (;;) {
        const {done, value} = await reader.read();
        if (done) break;
        text += value;
        const events = text.split('\n\n');
        text = events.pop();
        for (const one of events) {
          const data = one.split('\n').find((line) => line.startsWith('data: '));
          if (!data) continue;
          pause = 500;
          onState(JSON.parse(data.slice(6)));
        }
      }
    } catch (problem) {
      if (signal.aborted) return;
      reason = problem instanceof ApiError ? problem : new ApiError(0, 'unreachable', 'the server does not answer');
    }
    if (signal.aborted) return;
    pause = Math.min(pause * 2, 30000) * (0.8 + 0.4 * Math.random());
    onAway(reason, pause);
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}
