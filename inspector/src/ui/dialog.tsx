// A modal dialog with a title, on Base UI: focus is kept inside and given back, Escape closes.
import { Dialog as Base } from "@base-ui/react/dialog";
import type { ReactNode } from "react";
import { IconButton } from "./controls.tsx";

type DialogProps = { open: boolean; onClose(): void; title: string; wide?: boolean; children: ReactNode };

export const Dialog = ({ open, onClose, title, wide = false, children }: DialogProps) => (
  <Base.Root open={open} onOpenChange={(next) => !next && onClose()}>
    <Base.Portal>
      <Base.Backdrop className="backdrop" />
      <Base.Popup className={`dialog ${wide ? "wide" : ""}`}>
        <div className="dialog-head">
          <Base.Title className="dialog-title">{title}</Base.Title>
          <Base.Close render={<IconButton icon="cross" label="Close" />} />
        </div>
        {children}
      </Base.Popup>
    </Base.Portal>
  </Base.Root>
);
