// A link to a resource, as MCP and ACP both have it: a tool's result or a message names something that can be read elsewhere.
import type { DraftPart } from "../../schema/draft.ts";
import { int, type JsonRecord, str } from "../json.ts";

/** Undefined: it says not where the resource is. */
export function resourceLink(block: JsonRecord): DraftPart | undefined {
  const uri = str(block.uri);
  if (uri === undefined) return undefined;
  const mime = str(block.mimeType);
  const name = str(block.title) || str(block.name);
  const bytes = int(block.size);
  return {
    type: "resource",
    uri,
    ...(name ? { name } : {}),
    ...(bytes === undefined || bytes < 0 ? {} : { bytes }),
    ...(mime === undefined ? {} : { mime }),
  };
}
