// A modal dialog with a title, on Base UI: focus is kept inside and given back, Escape closes.
import { Dialog as Base } from "@base-ui/react/dialog";
import { type ReactNode, useRef } from "react";
import { IconButton } from "./controls.tsx";

type DialogProps = { open: boolean; onClose(): void; title: string; wide?: boolean; children: ReactNode };

export function Dialog({ open, onClose, title, wide = false, children }: DialogProps) {
  const popup = useRef<HTMLDivElement>(null);
  return (
    <Base.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <Base.Portal>
        <Base.Backdrop className="backdrop" />
        <Base.Popup
          ref={popup}
          className={`dialog ${wide ? "wide" : ""}`}
          initialFocus={() => firstField(popup.current)}
          finalFocus={composer}
        >
          <div className="dialog-head">
            <Base.Title className="dialog-title">{title}</Base.Title>
            <Base.Close render={<IconButton icon="cross" label="Close" />} />
          </div>
          {children}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}

/** Who closes a dialog over a session goes on writing; elsewhere the focus goes back to where it was. */
const composer = (): HTMLElement | true => document.querySelector<HTMLElement>("#composer") ?? true;

/** Where one begins to type or choose; without a field, the dialog's own choice. */
const firstField = (popup: HTMLElement | null): HTMLElement | true =>
  popup?.querySelector<HTMLElement>(
    "input:checked, input:not([type=radio]), textarea, .dialog-body .button.primary, .dialog-foot .button",
  ) ?? true;
