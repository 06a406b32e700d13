// Small constructors for translations, so that every translator says the same thing in the same words.
import type { Draft } from "../schema/draft.ts";
import type { Translation } from "./contract.ts";

/** Why an answer is removed that the agent gives up to ask the model again (U17). */
export const ASKED_AGAIN = "the answer failed and is asked for again";

/** The agent asks the model again by itself: a state, not an error. */
export const retrying = (detail: string | undefined, attempt?: number, more: { retry_at?: string } = {}): Draft => ({
  do: "status",
  status: {
    status: "retrying",
    ...(detail === undefined ? {} : { detail }),
    ...(attempt === undefined || !Number.isInteger(attempt) ? {} : { attempt }),
    ...more,
  },
});

export const mapped = (session: string | null, type: string, drafts: Draft[] = []): Translation => ({
  session,
  type,
  disposition: "mapped",
  drafts,
});

/** Understood, but without universal meaning: shown as `agent.notice`. */
export const noted = (
  session: string | null,
  type: string,
  name: string,
  detail?: unknown,
  drafts: Draft[] = [],
): Translation => ({
  session,
  type,
  disposition: "noted",
  drafts: [...drafts, { do: "event", type: "agent.notice", data: detail === undefined ? { name } : { name, detail } }],
});

export const heartbeat = (session: string | null, type: string): Translation => ({
  session,
  type,
  disposition: "heartbeat",
  drafts: [],
});

/** Not understood. The session says `agent.unparsed`; the bytes stay in the ledger. Drafts are for what was understood all the same. */
export const unparsed = (session: string | null, type: string, error: string, drafts: Draft[] = []): Translation => ({
  session,
  type,
  disposition: "unparsed",
  drafts,
  error,
});
