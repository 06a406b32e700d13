// The channel between one agent process and the sessions on it: records every native message in the ledger of the sessions it concerns and hands them
// what it means. It keeps what arrives before its session is known, and loses nothing.
import { createHash } from "node:crypto";
import type {
  Channel,
  Disposition,
  ExitInfo,
  NativeDirection,
  NativeMessage,
  Repeat,
  Repeated,
  SessionPort,
  Translation,
  Translator,
} from "../agents/contract.ts";

import { silenceOf } from "../agents/silence.ts";
import type { UnparsedMessage } from "./scribe.ts";

/** One native message as it was on the wire. */
export type NativeRecord = {
  dir: NativeDirection;
  raw: Buffer | string;
  /** Of the whole message, if `raw` is not. */
  rawHash?: string;
  /** Of a process that is gone. */
  exit?: ExitInfo;
};

/** A session's intake. Whatever is given here is written to the ledger and to the log in the same tick. */
export interface Intake {
  /** Before the first message of a process. `freshKeys`: its item keys are its own. */
  attached(freshKeys: boolean): void;
  ingest(record: NativeRecord, translations: Translation[]): void;
}

/** Kept for sessions nobody has claimed: bounded in messages and in bytes, oldest first out, so that a process gone wild cannot fill the memory. */
const UNCLAIMED_LIMIT = 20_000;
const UNCLAIMED_BYTES = 1024 * 1024;

/** `at`: how many came before it. */
type Parcel = { record: NativeRecord; translations: Translation[]; at: number };

export class NativeChannel implements Channel {
  readonly #translator: Translator;
  readonly #intakeOf: (port: SessionPort) => Intake;
  readonly #freshKeys: boolean;
  readonly #attached = new Map<string, Intake>();
  readonly #unclaimed = new Map<string, Parcel[]>();
  /** For the whole process, before any session is attached. */
  readonly #early: Parcel[] = [];
  #earlyBytes = 0;
  /** What the last message promised of the next ones; gone with any other message. */
  #repeated: Repeated | null = null;
  #held = 0;
  #delivered = 0;
  #heldBytes = 0;

  constructor(translator: Translator, intakeOf: (port: SessionPort) => Intake) {
    this.#freshKeys = translator.keys !== "session";
    this.#translator = translator;
    this.#intakeOf = intakeOf;
  }

  record(dir: NativeDirection, raw: Buffer | string, data: unknown): Repeated | undefined {
    const translations = translateSafely(this.#translator, { dir, data });
    this.#deliver({ dir, raw }, translations);
    const [only] = translations;
    return only?.repeat !== undefined && translations.length === 1 ? this.#repeats(dir, only, only.repeat) : undefined;
  }

  /** One translation for all that repeat it: only the text of its draft changes. */
  #repeats(dir: NativeDirection, translation: Translation, repeat: Repeat): Repeated | undefined {
    const { session, bind, drafts } = translation;
    const [said] = drafts;
    const intake = session === null || bind ? undefined : this.#attached.get(session);
    if (said?.do !== "item.delta" || drafts.length > 1 || !intake) return undefined;
    const draft = { ...said };
    const translations: Translation[] = [{ ...translation, drafts: [draft] }];
    const repeated: Repeated = {
      path: repeat.path,
      ignored: repeat.ignored ?? [],
      take: (raw, text) => {
        if (this.#repeated !== repeated || !repeat.say(text)) return false;
        draft.delta = text;
        intake.ingest({ dir, raw }, translations);
        return true;
      },
    };
    this.#repeated = repeated;
    return repeated;
  }

  exited(exit: ExitInfo, data: unknown = { code: exit.code, signal: exit.signal }): void {
    this.#deliver({ dir: "exit", raw: JSON.stringify(data), exit }, translateSafely(this.#translator, { dir: "exit", data }));
  }

  unparsed(dir: NativeDirection, raw: Buffer, error: string, rawHash?: string): void {
    const translation: Translation = { session: null, type: "garbage", disposition: "unparsed", drafts: [], error };
    this.#deliver({ dir, raw, ...(rawHash === undefined ? {} : { rawHash }) }, [translation]);
  }

  attach(nativeSession: string, port: SessionPort): void {
    this.#repeated = null;
    const intake = this.#intakeOf(port);
    if (![...this.#attached.values()].includes(intake)) intake.attached(this.#freshKeys);
    this.#attached.set(nativeSession, intake);
    this.#earlyBytes = 0;
    for (const parcel of this.#early.splice(0)) this.#hand(intake, parcel);
    this.#claim(nativeSession, intake);
  }

  detach(nativeSession: string): void {
    this.#repeated = null;
    this.#attached.delete(nativeSession);
    this.#takeHeld(nativeSession);
  }

  #deliver(record: NativeRecord, translations: Translation[]): void {
    this.#repeated = null;
    const [only] = translations;
    // Nearly every message means one thing for one session that is known.
    if (translations.length === 1 && only && only.session !== null && !only.bind) {
      const intake = this.#attached.get(only.session);
      if (intake) return intake.ingest(record, translations);
    }
    for (const { session, bind } of translations) if (bind && session !== null) this.#bind(bind.from, session);
    for (const [session, group] of bySession(translations)) {
      const parcel: Parcel = { record, translations: group, at: this.#delivered++ };
      if (session === null) this.#broadcast(parcel);
      else {
        const intake = this.#attached.get(session);
        if (intake) this.#hand(intake, parcel);
        else this.#hold(session, parcel);
      }
    }
  }

  #broadcast(parcel: Parcel): void {
    const intakes = new Set(this.#attached.values());
    if (intakes.size === 0) {
      this.#early.push(parcel);
      this.#earlyBytes += sizeOf(parcel);
      while (this.#early.length > UNCLAIMED_LIMIT || (this.#earlyBytes > UNCLAIMED_BYTES && this.#early.length > 1)) {
        const oldest = this.#early.shift();
        this.#earlyBytes -= oldest === undefined ? 0 : sizeOf(oldest);
      }
      return;
    }
    for (const intake of intakes) this.#hand(intake, parcel);
  }

  #hold(session: string, parcel: Parcel): void {
    const parcels = this.#unclaimed.get(session) ?? [];
    parcels.push(parcel);
    this.#unclaimed.set(session, parcels);
    this.#held++;
    this.#heldBytes += sizeOf(parcel);
    while (this.#held > UNCLAIMED_LIMIT || this.#heldBytes > UNCLAIMED_BYTES) {
      const oldest = this.#unclaimed.keys().next();
      if (oldest.done) return;
      this.#takeHeld(oldest.value);
      this.#translator.forget?.(oldest.value);
    }
  }

  #takeHeld(session: string): Parcel[] {
    const parcels = this.#unclaimed.get(session) ?? [];
    this.#unclaimed.delete(session);
    this.#held -= parcels.length;
    for (const parcel of parcels) this.#heldBytes -= sizeOf(parcel);
    return parcels;
  }

  #bind(from: string, to: string): void {
    const intake = this.#attached.get(to);
    if (intake) return this.#claim(from, intake);
    const parcels = this.#unclaimed.get(from);
    if (!parcels || from === to) return;
    this.#unclaimed.delete(from);
    // A session may speak before the answer that names it: what asked for it still came first.
    const merged = [...(this.#unclaimed.get(to) ?? []), ...parcels].sort((one, other) => one.at - other.at);
    this.#unclaimed.set(to, merged);
  }

  #claim(session: string, intake: Intake): void {
    for (const parcel of this.#takeHeld(session)) this.#hand(intake, parcel);
  }

  #hand(intake: Intake, { record, translations }: Parcel): void {
    intake.ingest(record, translations);
  }
}

/** About what it holds in memory: the message, and the drafts and objects that were made of it. */
const sizeOf = ({ record }: Parcel): number => 512 + record.raw.length;

/** A translator must accept anything; if one throws all the same, the message is unparsed and the session goes on. */
export function translateSafely(translator: Translator, message: NativeMessage): Translation[] {
  try {
    const translations = translator.translate(message);
    // Nearly every message has something to say.
    if (translations.every(({ drafts, disposition }) => drafts.length > 0 || disposition !== "mapped") && translations.length > 0)
      return translations;
    return translations.length > 0
      ? translations.map((translation) => explained(translation, translator, message.dir))
      : [{ session: null, type: "silent", disposition: "unparsed", drafts: [], error: "the translator said nothing" }];
  } catch (error) {
    return [
      {
        session: null,
        type: "fault",
        disposition: "unparsed",
        drafts: [],
        error: `the translator failed: ${error instanceof Error ? error.message : String(error)}`,
      },
    ];
  }
}

/** U16: one that makes nothing says why, as far as anybody knows. */
function explained(translation: Translation, { silence }: Translator, dir: NativeDirection): Translation {
  if (translation.disposition !== "mapped" || translation.drafts.length > 0) return translation;
  const silent = silenceOf(silence ?? [], translation.type, dir);
  return silent === undefined ? translation : { ...translation, silent };
}

function bySession(translations: Translation[]): Map<string | null, Translation[]> {
  const groups = new Map<string | null, Translation[]>();
  for (const translation of translations) {
    const group = groups.get(translation.session);
    if (group) group.push(translation);
    else groups.set(translation.session, [translation]);
  }
  return groups;
}

const RANK: Record<Disposition, number> = { heartbeat: 0, mapped: 1, noted: 2, unparsed: 3 };

/** The one disposition a message has in the ledger: the most informative of its translations. */
export function dispositionOf(translations: Translation[]): { type: string; disposition: Disposition } {
  let worst = translations[0];
  if (worst !== undefined && translations.length === 1) return worst;
  for (const translation of translations)
    if (worst && RANK[translation.disposition] > RANK[worst.disposition]) worst = translation;
  return { type: worst?.type ?? "unknown", disposition: worst?.disposition ?? "unparsed" };
}

/** What an `agent.unparsed` says of the message, or null when it was understood. */
export function unparsedOf(
  { disposition }: Translation,
  location: string,
  { raw, rawHash }: NativeRecord,
): UnparsedMessage | null {
  return disposition === "unparsed" ? { location, raw_hash: rawHash ?? sha256(raw) } : null;
}

export const sha256 = (bytes: Buffer | string): string => createHash("sha256").update(bytes).digest("hex");
