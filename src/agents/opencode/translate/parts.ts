// Parts that come whole: files, patches, snapshots, mentions of agents, subtasks, and those of a type that is not known.
import type { DraftPart } from "../../../schema/draft.ts";
import { arr, type JsonRecord, str } from "../../json.ts";
import { filePart } from "./file-changes.ts";

export function partContent(native: JsonRecord, directory: string | null): DraftPart[] {
  switch (native.type) {
    case "file":
      return [filePart(native)];
    case "patch":
      return arr(native.files).flatMap((file): DraftPart[] => {
        const path = str(file);
        return path === undefined ? [] : [{ type: "file_ref", path, action: "patch" }];
      });
    case "snapshot":
      // A state of the whole working tree, by its id in OpenCode's own store.
      return [
        { type: "file_ref", path: directory ?? ".", action: "read" },
        { type: "status", label: "snapshot", detail: str(native.snapshot) ?? null },
      ];
    case "agent":
      return [{ type: "status", label: "agent", detail: str(native.name) ?? null }];
    case "subtask": {
      const label = ["subtask", str(native.agent)].filter(Boolean).join(": ");
      return [
        { type: "text", text: str(native.prompt) ?? "" },
        { type: "status", label, detail: str(native.description) ?? null },
      ];
    }
    default:
      return [{ type: "json", json: native }];
  }
}
