// Who said an item. Apart from the schema of items, so that pages can use it without a library.
import type { Item, ItemRole } from "./item.ts";

/** U2: a message of role `user` that has a parent is the task an agent gave to its sub-agent; no person wrote it. */
export const speakerOf = ({ role, parent_id }: Pick<Item, "role" | "parent_id">): ItemRole | "task" =>
  role === "user" && parent_id !== null ? "task" : role;
