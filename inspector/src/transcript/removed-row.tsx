/** An item that the agent took back: its reason, and on demand what it said. */
import { useEffect, useState } from "react";
import type { Item } from "../../../src/schema/item.ts";
import { daemon } from "../state/daemon.ts";
import type { Entry } from "../state/transcript-fold.ts";
import { Icon } from "../ui/icons.tsx";
import { useToggle, useView } from "./context.ts";
import { Part } from "./parts.tsx";

export function Removed({ entry }: { entry: Extract<Entry, { kind: "removed" }> }) {
  const [open, toggle] = useToggle(`removed ${entry.item_id}`, false);
  const item = useRemovedItem(entry, open);
  return (
    <div className="removed">
      <button type="button" className="fold" aria-expanded={open} onClick={toggle}>
        <Icon name="trash" size={13} />
        <span>Removed: {entry.reason}</span>
        <Icon name="chevron" size={12} />
      </button>
      {open && (
        <div className="removed-body">
          {item?.content.map((part, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: parts keep their place.
            <Part key={index} part={part} streaming={false} id={`${entry.item_id} ${index}`} />
          )) ?? "Its content was not loaded."}
        </div>
      )}
    </div>
  );
}

/** What was taken back before the page was opened is in no page of items: it is asked for as it was just before. */
function useRemovedItem({ item, item_id, sequence }: Extract<Entry, { kind: "removed" }>, wanted: boolean): Item | undefined {
  const { id } = useView();
  const [found, setFound] = useState<Item>();
  useEffect(() => {
    if (item || !wanted) return;
    const gone = new AbortController();
    const query = { at: sequence - 1, order: "desc", limit: 200, signal: gone.signal } as const;
    daemon
      .session(id)
      .items(query)
      .then(
        ({ items }) => setFound(items.find((each) => each.item_id === item_id)),
        () => {},
      );
    return () => gone.abort();
  }, [id, item, item_id, sequence, wanted]);
  return item ?? found;
}
