/** `dragoman migrate`: the log from the data directory into a Postgres, or back. */
import { type Command, EXIT, flag, text, UsageError } from "../command.ts";

export const migrate: Command = {
  name: "migrate",
  usage: "migrate --from <place> --to <place>",
  about: "copy the log from a data directory into a Postgres, or back",
  help: `  A place is a data directory or postgres://user@host:5432/name; - stands for DRAGOMAN_LOG, so that no password is in the process list.
  No daemon may use either of them. The target must be empty. The original is not changed: remove it when you are content.
  It may be interrupted at any moment and run again: it goes on where it was. At the end every stream is compared, event by event.`,
  options: {
    from: { type: "string", value: "<place>", about: "where the log is" },
    to: { type: "string", value: "<place>", about: "where it is to be" },
  },
  async run({ values, terminal, print, say, json }) {
    const place = (name: "from" | "to"): string => {
      const given = text(values, name);
      const found = given === "-" ? terminal.env.DRAGOMAN_LOG : given;
      if (!found) throw new UsageError(given === "-" ? "DRAGOMAN_LOG is not set" : `--${name} is missing`);
      return found;
    };
    const [from, to] = [place("from"), place("to")];
    if (from === to) throw new UsageError("--from and --to are the same place");
    const { migrateLog } = await import("../../daemon/migrate-log.ts");
    let shown = 0;
    const copied = await migrateLog({
      from,
      to,
      onStream: (done, all) => {
        if (Date.now() - shown < 1_000 || flag(values, "json")) return;
        shown = Date.now();
        say(`${done} of ${all} streams`);
      },
    });
    if (flag(values, "json")) json(copied);
    else
      print(
        `Copied ${copied.streams} streams with ${copied.events} events and ${copied.native_messages} native messages, ${copied.documents} documents, ${copied.artifacts} artifacts. All streams are the same.`,
      );
    return EXIT.ok;
  },
};
