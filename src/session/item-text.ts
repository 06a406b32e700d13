/** The text of open items as deltas: where a delta goes, and which deltas make the text that is reported equal to a whole one. */
import type { ContentPart } from "../schema/content.ts";
import type { DeltaNature, DeltaPartType } from "../schema/event-data.ts";
import { extendsContent, streamOf } from "../schema/projection/parts.ts";
import type { EventWriter, Origin } from "./event-writer.ts";
import { BY_DAEMON_AS, startsEmpty, streamedPart } from "./item-questions.ts";
import type { OpenItem } from "./open-items.ts";

export class ItemText {
  readonly #writer: EventWriter;

  constructor(writer: EventWriter) {
    this.#writer = writer;
  }

  say(
    entry: OpenItem,
    index: number,
    type: DeltaPartType,
    delta: string,
    origin: Origin,
    { stream, visibility }: DeltaNature = {},
  ): void {
    const known = entry.streamed;
    const same =
      known?.index === index && known.type === type && known.nature.stream === stream && known.nature.visibility === visibility;
    const part = same
      ? known
      : streamedPart(entry.growing, index, type, { ...(stream ? { stream } : {}), ...(visibility ? { visibility } : {}) });
    entry.streamed = part;
    this.#writer.emitDelta(part, delta, origin);
  }

  /** Reports as deltas what was held back. */
  release(entry: OpenItem, origin: Origin, { completing = false } = {}): void {
    const { held } = entry;
    entry.held = null;
    if (!held) return;
    if (this.catchUp(entry, held, origin, { completing })) return;
    this.#writer.emit("item.updated", { item: { ...entry.growing.item, content: held } }, BY_DAEMON_AS(origin));
  }

  /**
   * Says as deltas what `content` has beyond what was said. True when that made the item equal to it, as far as deltas can say it when it is `completing`;
   * false when the two contradict each other, or differ in more than text: then the caller replaces the item.
   */
  catchUp(entry: OpenItem, content: ContentPart[], origin: Origin, { completing = false } = {}): boolean {
    const { item } = entry.growing;
    const streams = item.kind === "message" || item.kind === "tool_result";
    if (!streams || !extendsContent(item.content, content)) return false;
    if (!completing && !content.slice(item.content.length).every(startsEmpty)) return false;
    const synthetic: Origin = BY_DAEMON_AS(origin);
    content.forEach((part, index) => {
      const [type, text] = streamOf(part);
      const said = item.content[index];
      const before = said ? streamOf(said)[1] : "";
      if (type !== undefined && text.length > before.length) this.say(entry, index, type, text.slice(before.length), synthetic);
    });
    return true;
  }
}
