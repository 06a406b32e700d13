// What one update means, before it is addressed to a session.
import type { Draft } from "../../../schema/draft.ts";
import type { Repeat } from "../../contract.ts";

export type Meaning =
  | { kind: "mapped"; drafts: Draft[]; repeat?: Repeat }
  | { kind: "noted"; name: string; detail: unknown; drafts: Draft[] }
  | { kind: "unparsed"; error: string; drafts: Draft[] };

export const means = (drafts: Draft[] = []): Meaning => ({ kind: "mapped", drafts });
export const notes = (name: string, detail: unknown, drafts: Draft[] = []): Meaning => ({ kind: "noted", name, detail, drafts });
export const unknown = (error: string, drafts: Draft[] = []): Meaning => ({ kind: "unparsed", error, drafts });
