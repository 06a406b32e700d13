// Our side of the control protocol: requests with their answers, and an error for every request of the CLI that nobody serves,
// because the CLI waits for ever.
import { randomUUID } from "node:crypto";
import { AgentError } from "../../contract.ts";
import { isRecord, type JsonRecord, rec, str } from "../../json.ts";

/** Answered by a person, through the session. */
const SERVED = new Set(["can_use_tool", "elicitation"]);

type Waiting = { subtype: string; resolve(answer: JsonRecord): void; reject(error: Error): void };

export class ControlClient {
  readonly #send: (frame: JsonRecord) => void;
  readonly #waiting = new Map<string, Waiting>();
  #gone: Error | null = null;

  constructor(send: (frame: JsonRecord) => void) {
    this.#send = send;
  }

  /** Resolves with the answer's payload; rejects when the CLI refuses or is gone. */
  request(subtype: string, fields: JsonRecord = {}): Promise<JsonRecord> {
    if (this.#gone) return Promise.reject(this.#gone);
    const id = randomUUID();
    const answer = new Promise<JsonRecord>((resolve, reject) => this.#waiting.set(id, { subtype, resolve, reject }));
    this.#send({ type: "control_request", request_id: id, request: { subtype, ...fields } });
    return answer;
  }

  respond(requestId: string, response: JsonRecord): void {
    this.#send({ type: "control_response", response: { subtype: "success", request_id: requestId, response } });
  }

  /** Every message of the CLI passes here after it was recorded. */
  take(frame: unknown): void {
    if (!isRecord(frame)) return;
    if (frame.type === "control_response") this.#answered(rec(frame.response));
    if (frame.type === "control_request") this.#asked(str(frame.request_id) ?? "", str(rec(frame.request).subtype) ?? "");
  }

  /** The CLI is gone: nothing will be answered any more. */
  close(error: Error): void {
    this.#gone = error;
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }

  #answered(response: JsonRecord): void {
    const id = str(response.request_id) ?? "";
    const waiting = this.#waiting.get(id);
    if (!waiting) return;
    this.#waiting.delete(id);
    if (response.subtype === "error")
      waiting.reject(
        new AgentError("agent_refused", `Claude Code refused ${waiting.subtype}: ${str(response.error) ?? "no reason given"}`),
      );
    else waiting.resolve(rec(response.response));
  }

  #asked(id: string, subtype: string): void {
    if (SERVED.has(subtype)) return;
    const error = `This host does not serve ${subtype || "such"} requests.`;
    this.#send({ type: "control_response", response: { subtype: "error", request_id: id, error } });
  }
}
