// What the rows of an open transcript share.
import { createContext, useContext, useRef } from "react";
import type { Item } from "../../../src/schema/item.ts";
import { sessions } from "../state/sessions.ts";
import { Store, useSignal, useStore } from "../state/store.ts";
import { Transcript } from "../state/transcript.ts";
import type { Toggles } from "./rows.ts";

/** A transcript with what was opened and closed in it by hand. */
export class TranscriptView extends Transcript {
  readonly toggles = new Store<Toggles>(new Map());
  /** The turn whose changes are looked at; null: those of the whole session. Another object each time it is asked for. */
  readonly reviewed = new Store<{ turn: string } | null>(null);

  /** Of the session: paths are shown relative to it. */
  get directory(): string {
    return sessions.get(this.id)?.directory ?? "";
  }

  toggle(key: string, open: boolean): void {
    this.toggles.update((map) => new Map(map).set(key, open));
  }
}

export const ViewContext = createContext<TranscriptView | null>(null);

export function useView(): TranscriptView {
  const view = useContext(ViewContext);
  if (!view) throw new Error("a transcript row outside of a transcript");
  return view;
}

export function useItem(id: string): Item | undefined {
  const view = useView();
  return useSignal(view.changed, () => view.item(id));
}

export function useToggle(key: string, otherwise: boolean): [boolean, () => void] {
  const view = useView();
  const open = useStore(view.toggles).get(key) ?? otherwise;
  return [open, () => view.toggle(key, !open)];
}

/** The same array as long as the items are the same. */
export function useItems(ids: string[]): Item[] {
  const view = useView();
  const last = useRef<Item[]>([]);
  return useSignal(view.changed, () => {
    const items = ids.map(view.item).filter((item) => item !== undefined);
    if (items.length !== last.current.length || items.some((item, index) => item !== last.current[index])) last.current = items;
    return last.current;
  });
}
