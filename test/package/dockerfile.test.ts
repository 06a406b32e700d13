// The Dockerfile: valid, and by the rules that matter. What it starts is started here, with the same words and variables, without Docker.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { validate } from "dockerfile-utils";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { CLI, removeDir, temporaryDir } from "../daemon-process.ts";

type Compose = {
  services: Record<
    "dragoman",
    { build: string; ports: string[]; volumes: string[]; environment: string[]; stop_grace_period: string }
  >;
  volumes: Record<string, unknown>;
};

const text = readFileSync(fileURLToPath(new URL("../../Dockerfile", import.meta.url)), "utf8");
const instructions = text
  .replace(/^#.*$/gm, "")
  .replace(/\\\n/g, " ")
  .split("\n")
  .filter((line) => line.trim() !== "")
  .map((line) => ({ name: line.split(/\s+/)[0] ?? "", rest: line.replace(/^\S+\s+/, "") }));
const all = (name: string): string[] => instructions.flatMap((each) => (each.name === name ? [each.rest] : []));
const stages = text.split(/^FROM /m).slice(1);
const last = stages.at(-1) ?? "";

describe("Dockerfile", () => {
  it("is valid", () => {
    expect(validate(text).map(({ message, range }) => `${range.start.line + 1}: ${message}`)).toEqual([]);
  });

  it("has several stages, on pinned bases, from no named registry", () => {
    expect(stages.length).toBeGreaterThan(1);
    for (const from of all("FROM")) {
      const image = from.split(" ")[0] ?? "";
      expect(image).toMatch(/^[a-z]+:\d+\.\d+\.\d+-[a-z-]+$/);
    }
  });

  it("runs as a user without rights, and ends as one", () => {
    expect(last).toMatch(/^USER node$/m);
    expect(last.slice(last.indexOf("USER node"))).not.toMatch(/^(RUN|COPY|USER root)/m);
  });

  it("copies and never adds, watches its health, keeps its data in a volume", () => {
    expect(all("ADD")).toEqual([]);
    expect(all("HEALTHCHECK")).toHaveLength(1);
    expect(all("VOLUME")).toEqual(['["/data"]']);
    expect(text).not.toMatch(/curl|wget|sudo|apt-get|:latest|@latest/);
  });

  it("starts programs by lists of words, so that signals reach the daemon", () => {
    for (const name of ["ENTRYPOINT", "CMD"]) for (const words of all(name)) expect(Array.isArray(JSON.parse(words))).toBe(true);
  });

  it("holds no secret", () => {
    expect(all("ENV").join(" ")).not.toMatch(/TOKEN|SECRET|KEY/);
    expect(all("ARG")).toEqual([]);
  });
});

describe("compose.yaml", () => {
  const compose = parse(readFileSync(fileURLToPath(new URL("../../compose.yaml", import.meta.url)), "utf8")) as Compose;
  const service = compose.services.dragoman;

  it("builds this Dockerfile, and fits it", () => {
    expect(Object.keys(compose.services)).toEqual(["dragoman"]);
    expect(service.build).toBe(".");
    const [port] = all("EXPOSE");
    expect(service.ports.map((each) => each.split(":").at(-1))).toEqual([port]);
    const [data] = JSON.parse(all("VOLUME")[0] ?? "[]") as string[];
    const targets = service.volumes.map((each) => each.split(":").at(-1));
    expect(targets).toEqual([data, all("WORKDIR").at(-1)]);
    expect(Object.keys(compose.volumes)).toEqual([service.volumes[0]?.split(":")[0]]);
  });

  it("is reached from this machine only, needs a token, and gives no rights", () => {
    for (const each of service.ports) expect(each).toMatch(/^127\.0\.0\.1:/);
    expect(service.environment[0]).toMatch(/^DRAGOMAN_TOKEN=\$\{DRAGOMAN_TOKEN:\?/);
    expect(service).toMatchObject({ cap_drop: ["ALL"], security_opt: ["no-new-privileges:true"] });
    expect(service).not.toHaveProperty("privileged");
  });

  it("holds no secret: keys are names, or come from outside", () => {
    for (const each of service.environment) expect(each).toMatch(/^[A-Z_]+(=\$\{[A-Z_]+:\?[^}]+\})?$/);
  });

  it("waits until the daemon has stopped its agents", () => {
    expect(Number.parseInt(service.stop_grace_period, 10)).toBeGreaterThan(20);
  });
});

describe("what the container starts", () => {
  let home: string;
  beforeAll(() => {
    home = temporaryDir("docker");
  });
  afterAll(() => removeDir(home));

  const variables = Object.fromEntries(
    all("ENV")
      .join(" ")
      .split(/\s+/)
      .map((pair) => pair.split("=") as [string, string]),
  );
  const start = (env: NodeJS.ProcessEnv) =>
    spawn(process.execPath, [CLI, ...(JSON.parse(all("CMD").at(-1) ?? "[]") as string[]), "--json"], {
      env: { PATH: process.env.PATH, HOME: home, ...variables, DRAGOMAN_DATA_DIR: home, DRAGOMAN_PORT: "0", ...env },
      cwd: home,
    });

  for (const token of [undefined, ""])
    it(`refuses to start with ${token === undefined ? "no" : "an empty"} DRAGOMAN_TOKEN`, async () => {
      const child = start(token === undefined ? {} : { DRAGOMAN_TOKEN: token });
      let err = "";
      child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
        err += chunk;
      });
      expect(await new Promise((resolve) => child.once("close", resolve))).toBe(1);
      expect(err).toContain("token_required");
    });

  it("starts with one, and its health answers", async () => {
    const child = start({ DRAGOMAN_TOKEN: "0123456789abcdef0123456789abcdef" });
    const gone = new Promise((resolve) => child.once("exit", resolve));
    const ready = await new Promise<string>((resolve) => child.stdout.setEncoding("utf8").once("data", resolve));
    const { port } = new URL((JSON.parse(ready) as { url: string }).url);
    expect((await fetch(`http://127.0.0.1:${port}/v1/health`)).status).toBe(200);
    child.kill("SIGTERM");
    expect(await gone).toBe(0);
  });
});
