// `dragoman model-server`: a model without a model, for people who test a client of their own.
import { type Command, flag, text, UsageError } from "../command.ts";

const DEFAULT_PORT = 8484;

export const modelServer: Command = {
  name: "model-server",
  usage: "model-server [options]",
  about: "run a scripted model: an endpoint that needs no account and always answers the same",
  help: `  Speaks Responses (HTTP, server-sent events, WebSocket, /responses/compact), Chat Completions, Messages and Gemini on loopback.
  A prompt names the scenario it plays: "Hello [[scenario:thinking]]". With --chaos the model plays at random within the rules: the same seed and the same
  conversation give the same answer. With --json, prints one line {"url","port"} when it is ready.
  With --like it answers as another server does: openai, lmstudio, ollama, llamacpp or vllm, with what that server leaves out and adds.
  Example: dragoman model-server --chaos 7`,
  options: {
    host: { type: "string", value: "<address>", default: "127.0.0.1", about: "address to bind" },
    port: { type: "string", value: "<port>", about: `port (default ${DEFAULT_PORT}; 0 takes a free one)` },
    scenarios: { type: "string", value: "<file>", about: "scenarios of your own: one, or a list, as JSON" },
    default: { type: "string", value: "<name>", about: "the scenario of prompts that name none" },
    like: { type: "string", value: "<server>", about: "deviate from the specification as this server does" },
    chaos: { type: "string", value: "<seed>", about: "answer prompts that name no scenario at random" },
  },
  completes: ["files"],
  async run({ values, terminal }) {
    const port = Number(text(values, "port") ?? DEFAULT_PORT);
    if (!Number.isInteger(port) || port < 0 || port > 65_535)
      throw new UsageError(`--port needs a number from 0 to 65535, not ${text(values, "port")}`);
    const { modelServerCommand, ScenarioFileError } = await import("../../verify/model-server-command.ts");
    const [file, fallback] = [text(values, "scenarios"), text(values, "default")];
    const [chaos, like] = [text(values, "chaos"), text(values, "like")];
    try {
      return await modelServerCommand(
        {
          host: text(values, "host") ?? "127.0.0.1",
          port,
          json: flag(values, "json"),
          signal: terminal.signal,
          ...(file ? { file } : {}),
          ...(fallback ? { default: fallback } : {}),
          ...(chaos ? { chaos } : {}),
          ...(like ? { like } : {}),
        },
        terminal,
      );
    } catch (error) {
      if (error instanceof ScenarioFileError) throw new UsageError(error.message);
      throw error;
    }
  },
};
