/** A terminal on the page. Its emulator is a chunk of its own, loaded when the first terminal is shown. */
import { useEffect, useRef, useState } from "react";
import { shownTheme } from "../state/preferences.ts";
import { useStore } from "../state/store.ts";
import { Notice } from "../ui/controls.tsx";
import type { TerminalTransport } from "./terminal-transport.ts";
import type { TerminalView } from "./terminal-view.ts";
import "../styles/terminal.css";

export type TerminalProps = {
  /** Closed when the component goes away, or gets another one. */
  transport: TerminalTransport;
  /** What runs in it, for screen readers. */
  label: string;
  readOnly?: boolean;
  /** The keyboard is its own from the start: somebody just asked for it. */
  takesFocus?: boolean;
  /** Output is read aloud. */
  screenReader?: boolean;
};

/** The emulator measures a letter once, when it is made: with another typeface all its columns would be off. Without ours it takes the system's. */
function monoLoaded(): Promise<unknown> {
  const family = getComputedStyle(document.documentElement).getPropertyValue("--mono");
  return document.fonts.load(`13px ${family}`).catch(() => []);
}

export function Terminal({ transport, label, readOnly = false, takesFocus = false, screenReader = false }: TerminalProps) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<TerminalView | null>(null);
  const [ended, setEnded] = useState<string | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  const theme = useStore(shownTheme);
  useEffect(() => {
    let gone = false;
    setEnded(null);
    void Promise.all([import("./terminal-view.ts"), monoLoaded()]).then(
      ([module]) => {
        if (gone || !host.current) return;
        const options = { transport, theme: shownTheme.get(), readOnly, screenReader, onEnded: setEnded };
        view.current = new module.TerminalView(host.current, options);
        if (takesFocus) view.current.focus();
      },
      (error: unknown) => setFault(error instanceof Error ? error.message : String(error)),
    );
    return () => {
      gone = true;
      view.current?.dispose();
      view.current = null;
    };
  }, [transport, readOnly, takesFocus, screenReader]);
  useEffect(() => () => transport.close(), [transport]);
  useEffect(() => view.current?.setTheme(theme), [theme]);
  if (fault !== null) return <Notice kind="warning">The terminal cannot be shown: {fault}</Notice>;
  return (
    <section className="terminal" aria-label={label}>
      <div className="terminal-host" ref={host} tabIndex={-1} title="Shift+Escape leaves the terminal" />
      {ended !== null && (
        <p className="terminal-ended" role="status">
          {ended}
        </p>
      )}
    </section>
  );
}
