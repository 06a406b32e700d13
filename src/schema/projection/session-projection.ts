/**
 * The state of a session after its events: facts, open turn, steps, items, requests, queue. The only fold of them there is: the scribe writes against it,
 * recovery is it, the grammar checks against it, clients read it. It judges nothing, keeps nothing that is finished, and needs no platform.
 * `apply` everything from the first event, or from the event after a snapshot: the result is the same.
 */

import type { OpenTurn, RequestState, SessionFacts, SessionSnapshot } from "../snapshot.ts";
import { SNAPSHOT_VERSION } from "../snapshot-version.ts";
import type { ProjectedEvent } from "./event.ts";
import { factsAfter, NO_FACTS } from "./facts.ts";
import { ItemProjection } from "./item-projection.ts";
import { type Queue, queueAfter } from "./queue.ts";

export class SessionProjection {
  readonly items: ItemProjection;
  readonly #requests = new Map<string, RequestState>();
  readonly #steps = new Map<string, string>();
  /** Ids only, and only of what an agent took back after it was finished: without them a transcript could not be read in pages. */
  readonly #withdrawn = new Set<string>();
  #sequence = 0;
  #time: string | null = null;
  #facts: SessionFacts = NO_FACTS;
  #turn: OpenTurn | null = null;
  #queue: Queue = [];

  constructor(snapshot?: SessionSnapshot) {
    this.items = new ItemProjection("open", snapshot?.items);
    if (!snapshot) return;
    this.#sequence = snapshot.sequence;
    this.#time = snapshot.time;
    this.#facts = snapshot.facts;
    this.#turn = snapshot.turn;
    this.#queue = snapshot.queue;
    for (const id of snapshot.withdrawn) this.#withdrawn.add(id);
    for (const { step_id, turn_id } of snapshot.steps) this.#steps.set(step_id, turn_id);
    for (const request of snapshot.requests) this.#requests.set(requestId(request), request);
  }

  /** Of the last event that was applied; 0 before the first. */
  get sequence(): number {
    return this.#sequence;
  }

  get time(): string | null {
    return this.#time;
  }

  get facts(): SessionFacts {
    return this.#facts;
  }

  get turn(): OpenTurn | null {
    return this.#turn;
  }

  get queue(): Queue {
    return this.#queue;
  }

  /** Open steps and their turns. */
  get steps(): ReadonlyMap<string, string> {
    return this.#steps;
  }

  /** Open permissions and questions by id, the oldest first. */
  get requests(): ReadonlyMap<string, RequestState> {
    return this.#requests;
  }

  /** Ids of items that were finished and taken back later. */
  get withdrawn(): ReadonlySet<string> {
    return this.#withdrawn;
  }

  get ended(): boolean {
    return this.#facts.ended !== null;
  }

  /** True when something would have to be closed if the session ended now. */
  get open(): boolean {
    return (
      this.#turn !== null || this.items.size > 0 || this.#requests.size > 0 || this.#steps.size > 0 || this.#queue.length > 0
    );
  }

  apply(event: ProjectedEvent): void {
    this.#sequence = event.sequence;
    this.#time = event.time;
    if (event.type === "item.delta") {
      this.items.apply(event);
      return;
    }
    this.#facts = factsAfter(this.#facts, event);
    this.#queue = queueAfter(this.#queue, event);
    switch (event.type) {
      case "turn.started":
        this.#turn = { ...event.data, started_at: event.time };
        return;
      case "turn.ended":
        this.#turn = null;
        return;
      case "step.started":
        this.#steps.set(event.data.step_id, event.data.turn_id);
        return;
      case "step.ended":
        this.#steps.delete(event.data.step_id);
        return;
      case "permission.requested":
        this.#requests.set(event.data.permission_id, { kind: "permission", requested_at: event.time, data: event.data });
        return;
      case "permission.resolved":
        this.#requests.delete(event.data.permission_id);
        return;
      case "question.requested":
        this.#requests.set(event.data.question_id, { kind: "question", requested_at: event.time, data: event.data });
        return;
      case "question.resolved":
        this.#requests.delete(event.data.question_id);
        return;
      case "item.removed":
        if (!this.items.has(event.data.item_id)) this.#withdrawn.add(event.data.item_id);
        this.items.apply(event);
        return;
      default:
        this.items.apply(event);
    }
  }

  /** A writer said a delta, and has grown the item itself: the cheapest way to apply the most frequent event. */
  grown(sequence: number, time: string): void {
    this.#sequence = sequence;
    this.#time = time;
  }

  /** For a reader that skipped item events up to a point at which it knows that nothing was open: everything open is forgotten. */
  forgetOpen(sequence: number): void {
    this.#sequence = sequence;
    this.#turn = null;
    this.#queue = [];
    this.#steps.clear();
    this.#requests.clear();
    this.items.clear();
  }

  toJSON(): SessionSnapshot {
    return {
      version: SNAPSHOT_VERSION,
      sequence: this.#sequence,
      time: this.#time,
      facts: this.#facts,
      turn: this.#turn,
      steps: Array.from(this.#steps, ([step_id, turn_id]) => ({ step_id, turn_id })),
      items: this.items.toJSON(),
      withdrawn: [...this.#withdrawn],
      requests: [...this.#requests.values()],
      queue: [...this.#queue],
    };
  }
}

const requestId = (request: RequestState): string =>
  request.kind === "permission" ? request.data.permission_id : request.data.question_id;
