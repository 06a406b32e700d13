// What the inspector knows, when answers and events come in an unlucky order. Without a browser: its state is modules of its own.
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { Session } from "../../src/schema/session.ts";
import { startTestServer, type TestServer } from "../../src/server/test-server.ts";
import { openPage, type PageState } from "./page.ts";

type State = typeof import("../../inspector/src/state/sessions.ts");

const LIST = /^GET \/v1\/sessions\?/;

let server: TestServer;
let page: PageState;
let state: State;
let sending: Promise<typeof import("../../inspector/src/state/send-message.ts")>;
let transcripts: Promise<typeof import("../../inspector/src/state/transcript.ts")>;
const stop = new AbortController();

beforeAll(async () => {
  server = await startTestServer();
  page = openPage(server);
  state = await import("../../inspector/src/state/sessions.ts");
  transcripts = import("../../inspector/src/state/transcript.ts");
  sending = import("../../inspector/src/state/send-message.ts");
  await Promise.all([transcripts, sending]);
  void state.sessions.run(stop.signal);
  await vi.waitUntil(() => state.link.get().state === "live", { timeout: 120_000 });
});

afterAll(async () => {
  stop.abort();
  await server.close();
});

const send = (id: string, message: string): Promise<unknown> => server.call("POST", `/v1/sessions/${id}/messages`, { message });

describe("the list of sessions", () => {
  it("keeps a session that began while the list was read", async () => {
    const { sessions } = state;
    const held = page.hold(LIST);
    const reading = sessions.reload();
    const { release } = await held;
    const { session_id } = await server.createSession();
    await expect.poll(() => sessions.get(session_id)).toBeDefined();
    release();
    await reading;
    expect(sessions.get(session_id)).toBeDefined();
  });

  it("forgets a session that was removed while the page was not connected", async () => {
    const { sessions } = state;
    const { session_id } = await server.createSession();
    await expect.poll(() => sessions.get(session_id)).toBeDefined();
    await server.call("DELETE", `/v1/sessions/${session_id}`);
    await sessions.reload();
    expect(sessions.get(session_id)).toBeUndefined();
  });

  it("is read though one of the sessions that wait is removed meanwhile", async () => {
    const { sessions } = state;
    const [gone, stays] = [await server.createSession(), await server.createSession()];
    for (const { session_id } of [gone, stays]) await send(session_id, "ask touch a.txt");
    const waiting = (): string[] => sessions.requests().map(({ session_id }) => session_id);
    await expect.poll(waiting).toEqual(expect.arrayContaining([gone.session_id, stays.session_id]));
    const held = page.hold(LIST);
    const reading = sessions.reload();
    const { release } = await held;
    await server.call("DELETE", `/v1/sessions/${gone.session_id}`);
    release();
    await reading;
    expect(sessions.get(gone.session_id)).toBeUndefined();
    expect(waiting()).toEqual([stays.session_id]);
  });

  it("is asked for again when the daemon could not give it though its events come", async () => {
    vi.resetModules();
    const fresh = (await import("../../inspector/src/state/sessions.ts")) as State;
    const held = page.hold(LIST);
    void fresh.sessions.run(stop.signal);
    const problem = { code: "not_ready", detail: "Not now.", status: 503, title: "", type: "" };
    (await held).answer(new Response(JSON.stringify(problem), { status: 503 }));
    await expect.poll(() => fresh.listFault.get()).toBe("Not now. (not_ready)");
    await expect.poll(() => fresh.link.get().state).toBe("live");
    expect(fresh.listFault.get()).toBeNull();
  });
});

describe("an open session", () => {
  it("leaves the list when it is found that it was removed elsewhere", async () => {
    const { sessions } = state;
    const { Transcript } = await transcripts;
    const { session_id } = await server.createSession();
    await server.call("POST", `/v1/sessions/${session_id}/terminate`, {});
    await expect.poll(() => sessions.get(session_id)?.status).toBe("ended");
    await server.call("DELETE", `/v1/sessions/${session_id}`);
    const transcript = new Transcript(session_id);
    transcript.open();
    await expect.poll(() => transcript.loading.state).toBe("failed");
    expect(sessions.get(session_id)).toBeUndefined();
    transcript.close();
  });
});

describe("a message", () => {
  const MESSAGE = /^POST .*\/messages$/;
  const queuedIn = async (id: string): Promise<unknown[]> => {
    const { events } = await server.json<{ events: { data: { text: string } }[] }>(
      "GET",
      `/v1/sessions/${id}/events?types=message.queued`,
    );
    return events.map(({ data }) => data.text);
  };

  it("whose answer was lost comes back to its session, and is not sent twice when it is sent again", async () => {
    const { sendMessage, returnedTo, takeReturned } = await sending;
    const { session_id } = await server.createSession();
    const written = { text: "say once", files: [], when: "queue", command: false } as const;
    const held = page.hold(MESSAGE);
    const sent = sendMessage(session_id, written, true);
    (await held).lose();
    await sent;
    expect(returnedTo(session_id)).toMatchObject({ text: "say once", files: [] });
    takeReturned(session_id);
    await sendMessage(session_id, { ...written }, true);
    expect(returnedTo(session_id)).toBeUndefined();
    expect(await queuedIn(session_id)).toEqual(["say once"]);
    // Said again on purpose it is another message.
    await sendMessage(session_id, { ...written }, true);
    expect(await queuedIn(session_id)).toEqual(["say once", "say once"]);
  });

  it("that was refused comes back with its files, also when another was sent meanwhile and refused too", async () => {
    const { sendMessage, returnedTo } = await sending;
    const file = { id: "1", name: "a.txt", mime: "text/plain", size: 1, data: "YQ==" };
    await sendMessage("sess_nobody", { text: "one", files: [file] }, true);
    await sendMessage("sess_nobody", { text: "two", files: [] }, true);
    expect(returnedTo("sess_nobody")).toMatchObject({ text: "one\n\ntwo", files: [file] });
  });
});

describe("another daemon", () => {
  it("that does not answer when the page opens is followed when it comes", async () => {
    const { OtherDaemon } = await import("../../inspector/src/state/other-daemons.ts");
    const token = "the-token-of-another-daemon-0123456789";
    const before = await startTestServer({ token });
    const { url, port } = before;
    await before.close();
    const held = { token: before.token, expires_at: "2100-01-01T00:00:00.000Z" };
    localStorage.setItem(`dragoman.token ${url}`, JSON.stringify(held));
    const other = new OtherDaemon(url);
    void other.follow();
    await expect.poll(() => other.state.get().state).toBe("failed");
    const server = await startTestServer({ token }, { host: "127.0.0.1", port });
    const { session_id } = await server.createSession();
    await expect.poll(() => other.state.get().state).toBe("live");
    await expect.poll(() => other.sessions.get().map((each) => each.session_id)).toEqual([session_id]);
    other.signOut();
    await server.close();
  });
});

describe("a kept token", () => {
  /** How long the page waits before it renews, after each renewal. */
  async function waits(expires_at: string, renewed_to: string): Promise<number[]> {
    const { KeptToken } = await import("../../inspector/src/state/kept-token.ts");
    const { Dragoman } = await import("../../src/client/dragoman.ts");
    const key = `token of ${expires_at}`;
    localStorage.setItem(key, JSON.stringify({ token: "secret", expires_at }));
    const [delays, due]: [number[], (() => void)[]] = [[], []];
    const renewing = vi.spyOn(Dragoman.prototype, "renew").mockResolvedValue({ expires_at: renewed_to });
    const timing = vi.spyOn(globalThis, "setTimeout").mockImplementation(((callback: () => void, ms: number) => {
      delays.push(ms);
      due.push(callback);
      return 0;
    }) as unknown as typeof setTimeout);
    new KeptToken(server.url, key).schedule();
    due.shift()?.();
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
    timing.mockRestore();
    renewing.mockRestore();
    return delays;
  }

  it("is not renewed without a pause when it lives for months, or the clock of this machine is wrong", async () => {
    const far = "2100-01-01T00:00:00.000Z";
    for (const wait of await waits(far, far)) expect(wait).toBeLessThan(2 ** 31);
    const past = "2020-01-01T00:00:00.000Z";
    expect(await waits(past, past)).toEqual([500, 60_000]);
  });
});

describe("the list of events", () => {
  it("does not ask again by itself for what could not be read: a list that was closed would ask for ever", async () => {
    const { EventLog } = await import("../../inspector/src/debug/event-log.ts");
    const { session_id } = await server.createSession();
    await send(session_id, "flood 3000");
    await expect
      .poll(async () => (await server.json<Session>("GET", `/v1/sessions/${session_id}`)).last_sequence)
      .toBeGreaterThan(3000);
    const EVENTS = new RegExp(`^GET /v1/sessions/${session_id}/events\\?`);
    const asked = (): number => page.asked.filter((request) => EVENTS.test(request)).length;
    // The newest 500 events hold hardly one of the daemon's own, so that the list goes on by itself.
    const log = new EventLog(session_id, { types: [], source: "daemon" }, 3000);
    const first = page.hold(EVENTS);
    log.open();
    const second = first.then(({ release }) => {
      const next = page.hold(EVENTS);
      release();
      return next;
    });
    (await second).lose();
    await state.sessions.reload();
    expect(asked()).toBe(2);
    log.close();
  });
});
