/**
 * Problems of the daemon in the words of the command line. The daemon speaks to programs: of routes, headers and fields of JSON. A person here types commands
 * and options. Not here: which exit code an error has (run-cli.ts).
 */
import type { DragomanError } from "../client/error.ts";

/** What to type for what a route does. */
const COMMANDS: Readonly<Record<string, string>> = {
  "GET /v1/auth": "dragoman token ls",
  "GET /v1/auth/tokens": "dragoman token ls",
  "GET /v1/sessions": "dragoman ls -a",
  "DELETE /v1/sessions/{id}": "dragoman rm",
  "GET /v1/sessions/{id}/pending": "dragoman pending",
  "GET /v1/sessions/{id}/checkpoints": "dragoman checkpoint ls <session>",
  "GET /v1/sessions/{id}/fs/list": "dragoman files ls <session>",
  "GET /v1/sessions/{id}/queue": "dragoman queue <session>",
  "GET /v1/agents": "dragoman agents",
  "GET /v1/agents/{agent}": "dragoman agents <agent>",
  "POST /v1/agents/{agent}/install": "dragoman agents install <agent>",
  "GET /v1/nodes": "dragoman nodes ls",
  "GET /v1/tasks": "dragoman task ls",
  "POST /v1/tasks": "dragoman task run",
  "POST /v1/tasks/{task}/cancel": "dragoman task stop <task>",
};

/** In a sentence a route has ids in the place of names. */
const ROUTES: readonly [RegExp, string][] = Object.entries(COMMANDS).map(([route, command]) => [
  new RegExp(`^${route.replace(/\{\w+\}/g, "[^/]+")}$`),
  command,
]);

/** Whole sentences that only a program can act on. */
const SENTENCES: readonly [RegExp, string][] = [
  [
    /Send `Authorization: Bearer <token>`; the token lies in the data directory\./,
    "Give a valid one with --token-file or DRAGOMAN_TOKEN.",
  ],
  [/Last-Event-ID must be an `id:` of this stream\./, "--after needs a cursor that `dragoman events` printed."],
  [/See \/openapi\.json for [^.]*\./, "Is the daemon older than this command line? See `dragoman status`."],
  [
    /Start one with `dragoman start`, or give connect\(\) its url and token\./,
    "Start it with `dragoman start`, or name another one with --url.",
  ],
  [/Give it: with DRAGOMAN_TOKEN, with --token-file, or to connect\(\)\./, "Give it with DRAGOMAN_TOKEN or --token-file."],
  [/use \/v1\/events\/sse for all sessions in one stream/, "follow all sessions with one `dragoman events`"],
  [/See `errors`: each entry names the field\./, ""],
];

export const commandsInstead = (text: string): string =>
  SENTENCES.reduce((said, [sentence, instead]) => said.replace(sentence, instead), text)
    .replace(/\b(?:GET|POST|PUT|PATCH|DELETE) \/v1\/[^\s`,;]*[^\s`,;.]/g, (route) => {
      const command = ROUTES.find(([pattern]) => pattern.test(route))?.[1];
      return command === undefined ? route : `\`${command}\``;
    })
    .replace(/(`dragoman [^`]+`) or \1/g, "$1")
    .trim();

export function problemWords(error: DragomanError): string {
  const errors = error.problem?.errors ?? [];
  if (error.code === "invalid_request" && errors.length > 0)
    return `${errors.map(({ path, message }) => `${fieldWords(path)} ${reasonWords(message)}`).join("; ")}.`;
  return commandsInstead(error.message);
}

/** `querystring/limit` is `--limit` here, `body/message` the message. */
function fieldWords(path: string): string {
  const [place, ...names] = path.split("/").filter((name) => name !== "");
  const name = names.join(" ").replaceAll("_", "-");
  if (name === "") return "The call";
  if (place === "querystring") return `--${name}`;
  return place === "params" ? `The name of the ${name === "id" ? "session" : name}` : `The ${name.replaceAll("-", " ")}`;
}

const reasonWords = (message: string): string =>
  message
    .replace(/^must NOT have/, "must not have")
    .replace(">=", "at least")
    .replace("<=", "at most")
    .replace(/be (at least|at most)/, "be $1")
    .replace("schema is false", "is not known")
    .replace(/\.$/, "");
