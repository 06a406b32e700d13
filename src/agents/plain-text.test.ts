/** Text that looks like a command, and commands that were chosen. */
import { describe, expect, it } from "vitest";
import { choosesCommand } from "../client/chosen-command.ts";
import { readCommand } from "../session/prompt.ts";
import { isInside } from "./inside-directory.ts";
import { asText, withoutMark } from "./plain-text.ts";

const prompt = (text: string) => ({ message_id: "m", text, attachments: [] });

describe("text", () => {
  it("[M7] that begins with a slash is marked as text, and shown as it was written", () => {
    for (const text of ["/compact", " /compact", "\n/init now"]) {
      expect(asText(prompt(text))).toBe(`\u200b${text}`);
      expect(withoutMark(asText(prompt(text)))).toBe(text);
    }
    for (const text of ["!touch x", "# note", "a /compact", ""]) expect(asText(prompt(text))).toBe(text);
  });

  it("[M7] of a chosen command is sent as it is", () => {
    expect(asText({ ...prompt("/compact"), command: { name: "compact", arguments: "" } })).toBe("/compact");
  });
});

describe("a chosen command", () => {
  it("has a name and arguments", () => {
    expect(readCommand("/compact keep the numbers\nand names")).toEqual({
      name: "compact",
      arguments: "keep the numbers\nand names",
    });
    expect(readCommand("$skill x")).toEqual({ name: "$skill", arguments: "x" });
    expect([readCommand("compact"), readCommand("/"), readCommand("//x"), readCommand("!ls")]).toEqual([null, null, null, null]);
  });

  it("is one the agent listed", () => {
    const commands = [{ name: "compact" }, { name: "/review" }, { name: "$skill" }];
    expect(["/compact", "/review it", "$skill x"].every((text) => choosesCommand(text, commands))).toBe(true);
    expect(["compact", "/etc/hosts", "/comp", "review", "!ls"].some((text) => choosesCommand(text, commands))).toBe(false);
  });
});

describe("a path", () => {
  it("is inside by where it leads, not by its name", () => {
    expect([isInside("/tmp", "/tmp/a/b"), isInside("/tmp", "a"), isInside("/tmp", "/tmp")]).toEqual([true, true, true]);
    expect([isInside("/tmp", "/tmp/../etc"), isInside("/tmp", "/tmpx"), isInside("/tmp", "../x")]).toEqual([false, false, false]);
  });
});
