/** Live streams through the daemon and through the bare pipe, with the same agent and the same clients: speed, processor time, latency. */

import { agents } from "./agents.mjs";
import { percentile, read } from "./client.mjs";
import { newSession, send, settled, sse } from "./servers.mjs";
import { row, show } from "./table.mjs";

export const END = '"type":"turn.ended"';
let serial = 0;
const unique = () => `p${++serial}`;
const repeat = (count, make) => Array.from({ length: count }, make);

/** Sessions that are ready, with where each stream begins; removed afterwards. */
async function withSessions(daemon, agent, count, work) {
  const ids = [];
  for (let i = 0; i < count; i++) ids.push(await newSession(daemon, agent.id));
  const streams = () => Promise.all(ids.map(async (id) => sse(daemon, id, await settled(daemon, id))));
  const sendAll = (text) => Promise.all(ids.map((id) => send(daemon, id, text)));
  const result = await work(streams, sendAll);
  for (const id of ids) await daemon.call("DELETE", `/v1/sessions/${id}`);
  return result;
}

/** The same behind the bare pipe: a process each, or one for all, which then is one stream. */
async function withPipes(pipe, agent, count, shared, work) {
  const ids = repeat(shared ? 1 : count, unique);
  for (const id of ids) await pipe.start(id, agent);
  const sendAll = (text) => Promise.all(repeat(count, (_, i) => pipe.send(ids[shared ? 0 : i], agent.prompt(text))));
  const result = await work(ids.map(pipe.events), sendAll, shared ? count : 1);
  for (const id of ids) await pipe.end(id);
  return result;
}

/** One session of the agent, so many subscribers. */
export async function throughput({ daemon, pipe }, agent, text, events, subscribers = 1) {
  const mine = await withSessions(daemon, agent, 1, async (streams, sendAll) => {
    const [stream] = await streams();
    return read(
      daemon.pid,
      repeat(subscribers, () => stream),
      END,
      () => sendAll(text),
    );
  });
  const bare = await withPipes(pipe, agent, 1, false, ([stream], sendAll) =>
    read(
      pipe.pid,
      repeat(subscribers, () => stream),
      agent.ends,
      () => sendAll(text),
    ),
  );
  const each = (name) => ({ dragoman: (mine[name] / events) * 1000, pipe: (bare[name] / events) * 1000 });
  return { rate: { dragoman: events / mine.seconds, pipe: events / bare.seconds }, own: each("own"), all: each("all") };
}

/** Many sessions, one subscriber each: speed, then latency. `shared`: one process of the agent serves all. */
async function many({ daemon, pipe }, agent, sessions, events, { shared = false } = {}) {
  const flood = `flood ${events}`;
  const clock = "clock 50 20";
  const mine = await withSessions(daemon, agent, sessions, async (streams, sendAll) => ({
    speed: await read(daemon.pid, await streams(), END, () => sendAll(flood)),
    clock: await read(daemon.pid, await streams(), END, () => sendAll(clock), { clock: true }),
  }));
  const bare = await withPipes(pipe, agent, sessions, shared, async (streams, sendAll, times) => ({
    speed: await read(pipe.pid, streams, agent.ends, () => sendAll(flood), { times }),
    clock: await read(pipe.pid, streams, agent.ends, () => sendAll(clock), { times, clock: true }),
  }));
  const all = sessions * events;
  const late = (p) => ({ dragoman: percentile(mine.clock.late, p), pipe: percentile(bare.clock.late, p) });
  return { rate: { dragoman: all / mine.speed.seconds, pipe: all / bare.speed.seconds }, p50: late(0.5), p99: late(0.99) };
}

export async function mockRows(under, scale) {
  const { mock } = agents;
  const events = Math.round(400_000 * scale);
  // Not counted: until the code is compiled, both are slower.
  await throughput(under, mock, `flood ${Math.round(events / 4)}`, Math.round(events / 4));
  const measured = {};
  for (const subscribers of [1, 100, 1000]) {
    const count = subscribers === 1 ? events : Math.round(events / (subscribers === 100 ? 4 : 80));
    measured[subscribers] = await throughput(under, mock, `flood ${count}`, count, subscribers);
    const note = subscribers === 1 ? "agent stdout → SSE client, durable" : "";
    row(`events/s, 1 session, ${show(subscribers).replace(".00", "")} subscriber(s)`, measured[subscribers].rate, note);
  }
  const { 1: one, 100: hundred } = measured;
  row("processor time an event, 1 subscriber, µs", one.all);
  row("processor time an event, 100 subscribers, µs", hundred.all);
  const times = (name) => ({ dragoman: hundred[name].dragoman / one[name].dragoman, pipe: hundred[name].pipe / one[name].pipe });
  row("the same as a multiple of one subscriber", times("all"));
  row("own time without the kernel's, as a multiple of one subscriber", times("own"));

  const single = await many(under, mock, 1, Math.round(1000 * scale));
  row("latency, 1 session, p50, ms", single.p50);
  row("latency, 1 session, p99, ms", single.p99);
  const sessions = Math.round(100 * Math.max(scale, 0.2));
  const crowd = await many(under, mock, sessions, Math.round(2000 * scale));
  row(`events/s, ${sessions} sessions, one subscriber each`, crowd.rate);
  row(`latency, ${sessions} sessions, p50, ms`, crowd.p50);
  row(`latency, ${sessions} sessions, p99, ms`, crowd.p99);
}

/** Each kind of agent by its own protocol, as scripted programs (bench/agents). */
export async function agentRows(under, scale) {
  const events = Math.round(200_000 * scale);
  const kinds = [
    ["ACP", agents.acp, ""],
    ["ACP, non-ASCII text", agents.acp, " unicode"],
    ["Codex app-server", agents.codex, ""],
    ["OpenCode, HTTP and SSE", agents.opencode, ""],
  ];
  for (const [name, agent, kind] of kinds) {
    await throughput(under, agent, `flood ${Math.round(events / 10)}${kind}`, Math.round(events / 10));
    const { rate } = await throughput(under, agent, `flood ${events}${kind}`, events);
    row(`events/s, ${name}`, rate);
  }
  const sessions = 20;
  const shared = await many(under, agents.codex, sessions, Math.round(events / sessions), { shared: true });
  row(`events/s, Codex app-server, one process, ${sessions} sessions`, shared.rate, "the bare pipe: one stream of all");
  row(`latency, Codex app-server, ${sessions} sessions, p99, ms`, shared.p99);
}
