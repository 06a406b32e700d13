/** One short sentence about what was just done, where nothing else on the page shows it: seen for a moment, and read out. */
import { Store, useStore } from "../state/store.ts";
import { copyText } from "./browser.ts";
import { Icon } from "./icons.tsx";

const SHOWN_MS = 2_500;

type Said = { text: string; bad: boolean };

const said = new Store<Said | null>(null);
let timer: ReturnType<typeof setTimeout> | undefined;

export function note(text: string, bad = false): void {
  said.set({ text, bad });
  clearTimeout(timer);
  timer = setTimeout(() => said.set(null), SHOWN_MS);
}

/** From a menu, which closes and shows nothing itself. */
export const copyAndSay = (text: string, what: string): void =>
  void copyText(text).then(
    () => note(`${what} copied`),
    () => note("The browser did not allow copying.", true),
  );

/** The place is always there: what appears together with its words is not read out. */
export function Notes() {
  const now = useStore(said);
  return (
    <div className="notes" role="status">
      {now && (
        <p className={`note ${now.bad ? "bad" : ""}`}>
          <Icon name={now.bad ? "alert" : "check"} size={14} /> {now.text}
        </p>
      )}
    </div>
  );
}
