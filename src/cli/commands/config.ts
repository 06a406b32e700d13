// `dragoman config show`: what is in force, and where it comes from.
import { type Command, EXIT, text } from "../command.ts";

export const configShow: Command = {
  name: "config show",
  usage: "config show",
  about: "print the configuration in force",
  async run({ values, terminal, print }) {
    const { defaultConfigFile, defaultDataDir, defaults, readConfig } = await import("../../daemon/config.ts");
    const file = defaultConfigFile(terminal.env);
    const config = readConfig(file);
    const shown = {
      file,
      data_dir: text(values, "data-dir") ?? defaultDataDir(terminal.env),
      ...config,
      limits: { ...defaults.limits, ...config.limits },
      times: { ...defaults.times, ...config.times },
    };
    print(
      JSON.stringify(
        shown,
        (key, value) =>
          key === "env" && typeof value === "object"
            ? Object.fromEntries(Object.keys(value).map((name) => [name, "***"]))
            : value,
        2,
      ),
    );
    return EXIT.ok;
  },
};
