/** The same ACP agent behind dragoman, the bare pipe and a peer: speed, loss, latency, a client that stops reading, and one that comes late. */
import { agents } from "./agents.mjs";
import { percentile, read, rss } from "./client.mjs";
import { newSession, send, settled, sse } from "./servers.mjs";
import { END } from "./streams.mjs";
import { row } from "./table.mjs";

/** How each is asked for the same. `count`: what each of its events holds once. `open` gives the stream from now on, `history` from the
 * beginning; `rest` waits for the end of the turn, where `prompt` does not. */
function subjects({ daemon, pipe, peer }) {
  const native = '"agent_message_chunk"';
  let serial = 0;
  return {
    dragoman: {
      pid: daemon.pid,
      ends: END,
      count: '"source":"agent","type":"item.delta"',
      start: () => newSession(daemon, agents.acp.id),
      open: async (id) => sse(daemon, id, await settled(daemon, id)),
      history: (id) => sse(daemon, id),
      prompt: (id, text) => send(daemon, id, text),
      rest: (id) => settled(daemon, id),
      end: (id) => daemon.call("DELETE", `/v1/sessions/${id}`),
    },
    pipe: {
      pid: pipe.pid,
      ends: agents.acp.ends,
      count: native,
      async start() {
        const id = `peer-${++serial}`;
        await pipe.start(id, agents.acp);
        return id;
      },
      open: pipe.events,
      history: null,
      prompt: (id, text) => pipe.send(id, agents.acp.prompt(text)),
      end: pipe.end,
    },
    peer: {
      pid: peer.pid,
      ends: agents.acp.ends,
      count: native,
      start: () => peer.session(),
      open: peer.events,
      history: peer.events,
      prompt: peer.prompt,
      end: peer.end,
      lossy: true,
    },
  };
}

/** One turn with one client. */
async function turn(subject, text, options = {}) {
  const session = await subject.start();
  const before = rss(subject.pid);
  const stream = await subject.open(session);
  const begin = () => subject.prompt(session, text);
  const counted = await read(subject.pid, [stream], subject.ends, begin, {
    count: subject.count,
    lossy: subject.lossy,
    ...options,
  });
  const grown = rss(subject.pid) - before;
  await subject.end(session);
  return { ...counted, grown };
}

/** By subject, one after the other. */
async function forEach(all, measure) {
  const measured = {};
  for (const [name, subject] of Object.entries(all)) measured[name] = await measure(subject);
  return (pick) =>
    Object.fromEntries(Object.entries(measured).map(([name, value]) => [name, value === null ? null : pick(value)]));
}

export async function peerRows(under, scale) {
  const all = subjects(under);
  const events = Math.round(200_000 * scale);
  await forEach(all, (subject) => turn(subject, `flood ${Math.round(events / 10)}`));

  const speed = await forEach(all, (subject) => turn(subject, `flood ${events}`));
  row(
    "ACP, full speed: events/s that reach the client",
    speed(({ counted, seconds }) => counted / seconds),
  );
  row(
    `ACP, full speed: lost of ${events.toLocaleString("en")}`,
    speed(({ counted }) => events - counted),
  );
  row(
    "ACP, full speed: processor time an event sent, µs",
    speed(({ all: ms }) => (ms / events) * 1000),
  );

  const seconds = scale < 1 ? 2 : 5;
  for (const rate of [1000, 5000]) {
    const sent = rate * seconds;
    const paced = await forEach(all, (subject) => turn(subject, `rate ${sent} ${rate}`, { clock: true }));
    const name = `ACP, ${rate.toLocaleString("en")} events/s`;
    row(
      `${name}: latency p50, ms`,
      paced(({ late }) => percentile(late, 0.5)),
    );
    row(
      `${name}: latency p99, ms`,
      paced(({ late }) => percentile(late, 0.99)),
    );
    row(
      `${name}: lost of ${sent.toLocaleString("en")}`,
      paced(({ counted }) => sent - counted),
    );
  }

  const sent = 60_000;
  const stop = { after: 500, ms: 4000 };
  const stopped = await forEach(all, (subject) => turn(subject, `rate ${sent} 12000`, { stop, patience: 6000 }));
  const name = `client that stops reading for 4 s at 12,000 events/s`;
  row(
    `${name}: lost of ${sent.toLocaleString("en")}`,
    stopped(({ counted }) => sent - counted),
  );
  row(
    `${name}: memory grown, MB`,
    stopped(({ grown }) => grown),
  );

  const late = await forEach(all, async (subject) => {
    if (subject.history === null) return { counted: 0 };
    const session = await subject.start();
    await subject.prompt(session, `flood ${events}`);
    await subject.rest?.(session);
    const stream = subject.history(session);
    const options = { count: subject.count, lossy: subject.lossy };
    // dragoman's stream begins with the turn that started the agent, which said one text: the end of the second is the end of the flood.
    const before = subject.lossy ? 0 : 1;
    const { counted } = await read(subject.pid, [stream], subject.ends, async () => {}, { ...options, times: before + 1 });
    await subject.end(session);
    return { counted: counted - before };
  });
  row(
    `client that comes late: lost of ${events.toLocaleString("en")}`,
    late(({ counted }) => events - counted),
  );
}
