// What Prometheus reads. Counts only; the text is made when it is asked for.
import type { Log, LogStats, StreamPage } from "../log/contract.ts";
import type { Distribution } from "../log/distribution.ts";
import type { SessionManager } from "../session/session-manager.ts";
import type { OpenStreams } from "./open-streams.ts";

type Sources = {
  log: Log;
  manager: SessionManager;
  streams: OpenStreams;
  version: string;
  setAsideLogs(): number;
  /** In a fleet: its own figures, by name. Those that end in `_total` are counters. */
  fleet?: (() => Readonly<Record<string, number>>) | undefined;
};

export class Metrics {
  readonly #sources: Sources;
  readonly #requests = new Map<string, number>();
  readonly #natives = new NativeCounts();
  readonly #startedAt = Date.now();

  constructor(sources: Sources) {
    this.#sources = sources;
  }

  /** `route` is the pattern, never the path: the number of series stays bounded. */
  countRequest(method: string, route: string, status: number): void {
    const key = labels({ method, route, status: String(status) });
    this.#requests.set(key, (this.#requests.get(key) ?? 0) + 1);
  }

  async text(): Promise<string> {
    const { log, manager, streams, version, setAsideLogs } = this.#sources;
    const sessions = manager.counts();
    const health = log.health();
    const memory = process.memoryUsage();
    return [
      family("dragoman_info", "gauge", "The daemon's version.", [[labels({ version }), 1]]),
      family("dragoman_uptime_seconds", "gauge", "Since the server started.", [["", (Date.now() - this.#startedAt) / 1000]]),
      family("dragoman_sessions", "gauge", "Sessions in memory, by whether an agent process may run for them.", [
        [labels({ state: "live" }), sessions.live],
        [labels({ state: "resting" }), sessions.loaded - sessions.live],
      ]),
      family("dragoman_unreadable", "gauge", "What was set aside because it cannot be read.", [
        [labels({ what: "session" }), manager.unreadable().length],
        [labels({ what: "queued_message" }), await manager.unreadableMessages()],
      ]),
      family("dragoman_subscribers", "gauge", "Open SSE streams and WebSockets.", [["", streams.size]]),
      family("dragoman_subscriber_buffered_bytes", "gauge", "Bytes that slow subscribers have not taken yet.", [
        ["", streams.buffered],
      ]),
      family("dragoman_events_total", "counter", "Events committed since start.", [["", log.stats().events]]),
      family("dragoman_native_messages_total", "counter", "Native messages of the sessions active since start.", [
        ...(await this.#natives.read(log, this.#startedAt)),
      ]),
      family("dragoman_log_healthy", "gauge", "1 while commits succeed.", [["", health.state === "ok" ? 1 : 0]]),
      family("dragoman_log_damaged_places", "gauge", "Places of the log found damaged since start.", [
        ["", health.damage.places],
      ]),
      family("dragoman_log_set_aside", "gauge", "Damaged logs kept aside in the data directory.", [["", setAsideLogs()]]),
      family("dragoman_log_pending_bytes", "gauge", "Bytes that wait for their commit.", [["", health.pending_bytes]]),
      ...serverCommits(log.stats().server),
      ...Object.entries(this.#sources.fleet?.() ?? {}).map(([name, value]) =>
        family(`dragoman_${name}`, name.endsWith("_total") ? "counter" : "gauge", "Of this node in its fleet.", [["", value]]),
      ),
      family("dragoman_http_requests_total", "counter", "Finished HTTP requests.", [...this.#requests]),
      family("process_resident_memory_bytes", "gauge", "Memory of the daemon, without its agents.", [["", memory.rss]]),
      family("nodejs_heap_size_used_bytes", "gauge", "JavaScript objects of the daemon, garbage included.", [
        ["", memory.heapUsed],
      ]),
      family(
        "nodejs_heap_size_total_bytes",
        "gauge",
        "Memory that the JavaScript heap of the daemon holds, free parts included.",
        [["", memory.heapTotal]],
      ),
      family("nodejs_external_memory_bytes", "gauge", "Memory of the daemon outside of its heap that JavaScript objects hold.", [
        ["", memory.external],
      ]),
    ].join("");
  }
}

/** Sums of the ledgers. Only sessions written to since the last look are read again; a removed session's counts stay. */
class NativeCounts {
  readonly #bySession = new Map<string, { seen: number; counts: Map<string, number> }>();

  async read(log: Log, since: number): Promise<Map<string, number>> {
    let before: string | undefined;
    scan: for (;;) {
      const page: StreamPage = await log.list("session", {
        order: "updated",
        limit: 200,
        ...(before === undefined ? {} : { before }),
      });
      for (const { id, updated_at, last_native } of page.streams) {
        if (updated_at < since) break scan;
        if (this.#bySession.get(id)?.seen !== last_native) await this.#load(log, id, last_native);
      }
      if (page.next === null) break;
      before = page.next;
    }
    const sums = new Map<string, number>();
    for (const { counts } of this.#bySession.values())
      for (const [key, count] of counts) sums.set(key, (sums.get(key) ?? 0) + count);
    return sums;
  }

  async #load(log: Log, id: string, seen: number): Promise<void> {
    const counts = new Map<string, number>();
    for (const { disposition, count } of (await (await log.stream("session", id))?.coverage()) ?? []) {
      const key = labels({ disposition });
      counts.set(key, (counts.get(key) ?? 0) + count);
    }
    this.#bySession.set(id, { seen, counts });
  }
}

const family = (name: string, type: string, help: string, samples: Iterable<readonly [string, number]>): string => {
  let text = `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
  for (const [label, value] of samples) text += `${name}${label} ${value}\n`;
  return text;
};

/** Where the log is a server's. */
function serverCommits(server: LogStats["server"]): string[] {
  if (!server) return [];
  return [
    histogram(
      "dragoman_commit_seconds",
      "How long a commit took, from when it was sent until its answer was sure.",
      server.commit_seconds,
    ),
    histogram("dragoman_commit_rows", "Chunks of events and of native messages in one commit.", server.commit_rows),
    family("dragoman_ambiguous_total", "counter", "Commits whose answer was lost: the log was asked what became of them.", [
      ["", server.ambiguous],
    ]),
  ];
}

function histogram(name: string, help: string, { bounds, counts, sum }: Distribution): string {
  let [text, count] = [`# HELP ${name} ${help}\n# TYPE ${name} histogram\n`, 0];
  counts.forEach((here, index) => {
    count += here;
    text += `${name}_bucket${labels({ le: String(bounds[index] ?? "+Inf") })} ${count}\n`;
  });
  return `${text}${name}_sum ${sum}\n${name}_count ${count}\n`;
}

const labels = (pairs: Record<string, string>): string =>
  `{${Object.entries(pairs)
    .map(([name, value]) => `${name}="${value.replace(/\\/g, "\\\\").replace(/"/g, '\\"').replace(/\n/g, "\\n")}"`)
    .join(",")}}`;
