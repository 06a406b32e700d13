/** Files that go with a message: chosen, pasted or dropped. */
import { type ClipboardEvent, useRef, useState } from "react";
import { problemText } from "../state/daemon.ts";
import { IconButton } from "../ui/controls.tsx";
import { type Attached, attach } from "./attachments.ts";

export function useAttached(onFault: (fault: string) => void) {
  const [files, setFiles] = useState<Attached[]>([]);
  const add = async (list: Iterable<File>): Promise<void> => {
    try {
      const added = await Promise.all([...list].map(attach));
      setFiles((known) => [...known, ...added]);
    } catch (error) {
      onFault(problemText(error));
    }
  };
  const onPaste = ({ clipboardData }: ClipboardEvent): void => {
    if (clipboardData.files.length > 0) void add(clipboardData.files);
  };
  return { files, setFiles, add, onPaste };
}

export function AttachButton({ onAdd }: { onAdd(list: Iterable<File>): Promise<void> }) {
  const picker = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={picker}
        type="file"
        multiple
        hidden
        onChange={(event) => {
          void onAdd([...(event.target.files ?? [])]);
          event.target.value = "";
        }}
      />
      <IconButton icon="clip" label="Attach files" onClick={() => picker.current?.click()} />
    </>
  );
}
