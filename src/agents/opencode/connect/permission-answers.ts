/**
 * In which order answers to requests for permission reach OpenCode. 1.18: a rejection rejects every other request of its native session that is open. A
 * person who rejects one call has not rejected the others, so a rejection waits here until they are answered too: the agent goes on only then in any case.
 */

type Send = () => Promise<void>;

export class PermissionAnswers {
  /** Requests without an answer, and the native sessions that asked: a sub-agent is one of its own. */
  readonly #open = new Map<string, string>();
  readonly #held: { session: string; send: Send }[] = [];
  /** The last answer that was sent, when it has arrived. */
  #sent: Promise<void> = Promise.resolve();

  asked(id: string, session: string): void {
    this.#open.set(id, session);
  }

  /** Somebody answered it; without an id: nobody waits for an answer in this session any more. */
  settled(session: string, id: string | null): void {
    if (id !== null) this.#open.delete(id);
    else {
      for (const [open, asker] of this.#open) if (asker === session) this.#open.delete(open);
      for (const held of this.#held.filter((one) => one.session === session)) this.#held.splice(this.#held.indexOf(held), 1);
    }
    void this.#release(session);
  }

  /** Resolves when the answer has arrived, or is kept until the others of its session are given. */
  async give(id: string, session: string, reply: { rejects: boolean; send: Send }): Promise<void> {
    this.#open.delete(id);
    if (reply.rejects && this.#waits(session)) {
      this.#held.push({ session, send: reply.send });
      return;
    }
    const sent = this.#inOrder(reply.send);
    void this.#release(session);
    await sent;
  }

  #waits(session: string): boolean {
    return [...this.#open.values()].includes(session);
  }

  async #release(session: string): Promise<void> {
    if (this.#waits(session)) return;
    const due = this.#held.filter((held) => held.session === session);
    for (const held of due) this.#held.splice(this.#held.indexOf(held), 1);
    // A request that is gone needs no answer.
    for (const { send } of due) await this.#inOrder(send).catch(() => {});
  }

  /** What was allowed before a rejection must have arrived by then. */
  #inOrder(send: Send): Promise<void> {
    const sent = this.#sent.then(send);
    this.#sent = sent.catch(() => {});
    return sent;
  }
}
