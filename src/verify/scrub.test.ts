import { homedir } from "node:os";
import { describe, expect, it } from "vitest";
import { machineTraces, scrubTrace } from "./scrub.ts";

const facts = {
  root: "/tmp/dragoman-verify-Ab12Cd",
  home: "/tmp/dragoman-verify-Ab12Cd/home",
  directory: "/tmp/dragoman-verify-Ab12Cd/work/1-x/repo",
  modelPort: 40123,
  host: "build-box-7",
};
const scrub = (data: unknown): unknown => {
  const line = scrubTrace(
    `${JSON.stringify({ native_seq: 1, t_ms: 3, dir: "out", type: "x", disposition: "mapped", data })}\n`,
    facts,
  );
  return JSON.parse(line);
};

describe("a recording that names no machine", () => {
  it("keeps only time, direction and data", () => expect(scrub({ a: 1 })).toEqual({ t_ms: 3, dir: "out", data: { a: 1 } }));

  it("rewrites folders, in values and in keys, and with dashes for slashes", () => {
    expect(
      scrub({
        [`${facts.directory}/a.txt`]: `cat ${facts.directory}/a.txt ${facts.home}/.x ${facts.root}/data`,
        slug: "-tmp-dragoman-verify-Ab12Cd-work-1-x-repo",
        url: `/event?directory=${encodeURIComponent(facts.directory)}`,
        cache: `${homedir()}/.cache/thing`,
      }),
    ).toMatchObject({
      data: {
        "/workspace/a.txt": "cat /workspace/a.txt /home/user/.x /lab/data",
        slug: "-workspace",
        url: "/event?directory=%2Fworkspace",
        cache: "/home/user/.cache/thing",
      },
    });
  });

  it("gives the model server one port and others the next, and leaves a scenario's own ports", () => {
    expect(
      scrub(["http://127.0.0.1:40123/v1", "http://127.0.0.1:51234", "http://localhost:51234/x", "http://127.0.0.1:9/nothing"]),
    ).toMatchObject({
      data: ["http://127.0.0.1:8787/v1", "http://127.0.0.1:4096", "http://localhost:4096/x", "http://127.0.0.1:9/nothing"],
    });
  });

  it("numbers processes, each with one number", () => {
    expect(scrub([{ pid: 991 }, { processId: "992" }, { pid: 991 }, { id: 991 }])).toMatchObject({
      data: [{ pid: 4242 }, { processId: "4243" }, { pid: 4242 }, { id: 991 }],
    });
  });

  it("takes the host's name out, and Codex's own name of its first agent stays", () => {
    expect(scrub(["on build-box-7 now", "/root"])).toMatchObject({ data: ["on host now", "/root"] });
  });

  it("finds what is left, as a path cut in two", () => {
    const cut = scrubTrace(`${JSON.stringify({ t_ms: 0, dir: "out", data: ["/tmp/dragoman-ver", "ify-Ab12Cd/work"] })}\n`, facts);
    expect(machineTraces(cut, facts)).toEqual(["Ab12Cd"]);
    expect(machineTraces(scrubTrace(`{"t_ms":0,"dir":"out","data":"${facts.root}"}\n`, facts), facts)).toEqual([]);
  });
});
