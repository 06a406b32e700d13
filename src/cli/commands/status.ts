// `status`, `metrics`, `openapi`: the daemon about itself.
import { type Command, EXIT, flag } from "../command.ts";

export const status: Command = {
  name: "status",
  usage: "status",
  about: "show whether the daemon runs and can write its log",
  help: "  Exit code: 0 ready, 1 it lives but cannot write, 4 no daemon.",
  async run({ values, daemon, json, print }) {
    const dragoman = await daemon();
    const { version } = await dragoman.health();
    await dragoman.ready();
    if (flag(values, "json")) json({ url: dragoman.url, version, status: "ready" });
    else print(`dragoman ${version} at ${dragoman.url} is ready`);
    return EXIT.ok;
  },
};

export const metrics: Command = {
  name: "metrics",
  usage: "metrics",
  about: "print the daemon's Prometheus metrics",
  async run({ values, daemon, json, terminal }) {
    const text = await (await daemon()).metrics();
    if (flag(values, "json")) json(Object.fromEntries(samples(text)));
    else terminal.stdout.write(text);
    return EXIT.ok;
  },
};

const samples = (text: string): [string, number][] =>
  text
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ") + 1))]);

export const openapi: Command = {
  name: "openapi",
  usage: "openapi",
  about: "print the description of the API, OpenAPI 3.1",
  async run({ daemon, json }) {
    json(await (await daemon()).openApi());
    return EXIT.ok;
  },
};
