// Writes the JSON Schema files that ship in the package: one for all events, one for a session, one for the API's bodies. Run by the build.
import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Event } from "./event.ts";
import { Item } from "./item.ts";
import * as bodies from "./session.ts";

const folder = fileURLToPath(new URL("./json/", import.meta.url));
mkdirSync(folder, { recursive: true });

const write = (name: string, schema: object): void =>
  writeFileSync(
    `${folder}${name}.json`,
    `${JSON.stringify({ $schema: "https://json-schema.org/draft/2020-12/schema", ...schema }, null, 2)}\n`,
  );

write("event", Event);
write("item", Item);
for (const [name, schema] of Object.entries(bodies)) {
  if (typeof schema === "object") write(name.replace(/(?<=[a-z])(?=[A-Z])/g, "-").toLowerCase(), schema);
}
