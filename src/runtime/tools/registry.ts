/** The tools of a session by name, and how they are reported to the model. */
import { Compile, type Validator } from "typebox/compile";
import { isObject, type JsonObject, parseJson } from "../../openresponses/json.ts";
import type { ModelCall } from "../input-items.ts";
import type { AnyTool } from "./tool.ts";

/** Arguments that fit the schema, or a sentence for the model. */
export type ReadArguments =
  | { readonly ok: true; readonly tool: AnyTool; readonly args: JsonObject }
  | { readonly ok: false; readonly message: string };

export class ToolRegistry {
  readonly #base: readonly AnyTool[];
  #tools: ReadonlyMap<string, AnyTool>;

  constructor(tools: readonly AnyTool[]) {
    this.#base = tools;
    this.#tools = byName(tools);
  }

  /** Tools that come and go, such as those of MCP servers. They replace the last ones, and never a tool of the session itself. */
  setMore(tools: readonly AnyTool[]): void {
    this.#tools = byName([...this.#base, ...tools.filter(({ name }) => !this.#base.some((own) => own.name === name))]);
  }

  get(name: string): AnyTool | undefined {
    return this.#tools.get(name);
  }

  /** The `tools` of a request. Free-text tools only where the endpoint has them. */
  definitions(customTools: boolean): JsonObject[] {
    return [...this.#tools.values()].map((tool) =>
      customTools && tool.grammar !== undefined
        ? {
            type: "custom",
            name: tool.name,
            description: tool.description,
            format: { type: "grammar", syntax: "lark", definition: tool.grammar },
          }
        : {
            type: "function",
            name: tool.name,
            description: tool.description,
            parameters: JSON.parse(JSON.stringify(tool.schema ?? tool.parameters)),
            strict: false,
          },
    );
  }

  read(call: ModelCall): ReadArguments {
    const tool = this.#tools.get(call.name);
    if (tool === undefined) {
      return {
        ok: false,
        message: `There is no tool ${JSON.stringify(call.name)}. Use one of: ${[...this.#tools.keys()].join(", ")}.`,
      };
    }
    const raw = call.custom ? { patch: call.input } : parseArguments(call.input);
    if (raw === undefined) return { ok: false, message: "The arguments are not valid JSON. Send one JSON object." };
    const args = tool.repair === undefined ? raw : tool.repair(raw);
    const fault = this.#fault(tool, args);
    if (fault !== null) return { ok: false, message: `The arguments of ${tool.name} are wrong: ${fault}` };
    return { ok: true, tool, args: args as JsonObject };
  }

  #fault(tool: AnyTool, args: unknown): string | null {
    if (!isObject(args)) return "send one JSON object.";
    const validator = validatorOf(tool);
    if (validator.Check(args)) return null;
    const faults = validator.Errors(args).slice(0, 5);
    return `${faults.map((fault) => `${fault.instancePath || "the object"} ${fault.message}`).join("; ")}.`;
  }
}

/** Compiled once for all sessions that have the tool. */
const validators = new WeakMap<AnyTool, Validator>();

function validatorOf(tool: AnyTool): Validator {
  const known = validators.get(tool);
  if (known !== undefined) return known;
  const made = Compile(tool.parameters);
  validators.set(tool, made);
  return made;
}

const byName = (tools: readonly AnyTool[]): ReadonlyMap<string, AnyTool> => new Map(tools.map((tool) => [tool.name, tool]));

/** Models write no arguments at all where there are none to give, and JSON in a JSON string. */
function parseArguments(text: string): unknown {
  if (text.trim() === "") return {};
  const value = parseJson(text);
  return typeof value === "string" ? (parseJson(value) ?? value) : value;
}
