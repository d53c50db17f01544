// A lock of `rowlock serve`, for Node 18 and later: await withLock("billing/nightly", async (hold) => work(hold.token))
import { randomUUID } from "node:crypto";

export async function withLock(name, work, { ttl = 30_000, wait = 60_000 } = {}) {
  const url = `${process.env.ROWLOCK_SERVE}/v1/locks/${encodeURIComponent(name)}/holds/${randomUUID()}`;
  const ask = async (method, verb = "", body = {}) => {
    const headers = { authorization: `Bearer ${process.env.ROWLOCK_BEARER}`, "content-type": "application/json" };
    const answer = await fetch(url + verb, { method, headers, body: JSON.stringify(body) });
    if (!answer.ok) throw Object.assign(new Error(await answer.text()), { status: answer.status }); // 423: busy
    return answer.json();
  };
  const hold = await ask("PUT", "", { ttl_ms: ttl, wait_ms: wait });
  const lost = new AbortController(); // pass its signal on to what the work awaits
  let until = Date.now() + ttl;
  const renew = async () => {
    const sent = Date.now();
    try {
      await ask("POST", "/renew");
      until = sent + ttl;
    } catch (reason) {
      if (reason.status === 410 || Date.now() > until) lost.abort(reason); // after another failure it tries again
    }
  };
  const timer = setInterval(renew, ttl / 10);
  try {
    return await work(hold, lost.signal);
  } finally {
    clearInterval(timer);
    await ask("DELETE");
  }
}

if (process.argv[2]) await withLock(process.argv[2], (hold) => console.log("token", hold.token));
