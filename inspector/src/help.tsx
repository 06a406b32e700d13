// The list of keys.
import { shortcuts } from "./shortcuts.ts";
import { Dialog } from "./ui/dialog.tsx";

export const Help = ({ open, onClose }: { open: boolean; onClose(): void }) => (
  <Dialog open={open} onClose={onClose} title="Keyboard shortcuts">
    <dl className="dialog-body keys">
      {shortcuts.map(({ keys, does }) => (
        <div key={does}>
          <dt>
            {keys.map((key) => (
              <kbd key={key}>{key}</kbd>
            ))}
          </dt>
          <dd>{does}</dd>
        </div>
      ))}
    </dl>
  </Dialog>
);
