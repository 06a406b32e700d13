/** Files that go with the next message. */
import { IconButton } from "../ui/controls.tsx";
import { bytes } from "../ui/format.ts";
import { Icon } from "../ui/icons.tsx";
import type { Attached } from "./attachments.ts";

export function AttachmentList({ files, onChange }: { files: readonly Attached[]; onChange(files: Attached[]): void }) {
  if (files.length === 0) return null;
  return (
    <ul className="attachments">
      {files.map((file) => (
        <li key={file.id}>
          {file.mime.startsWith("image/") ? (
            <img src={`data:${file.mime};base64,${file.data}`} alt="" />
          ) : (
            <Icon name="file" size={14} />
          )}
          <span>{file.name}</span>
          <span className="dim">{bytes(file.size)}</span>
          <IconButton
            icon="cross"
            className="small"
            label={`Remove ${file.name}`}
            onClick={() => onChange(files.filter((each) => each !== file))}
          />
        </li>
      ))}
    </ul>
  );
}
