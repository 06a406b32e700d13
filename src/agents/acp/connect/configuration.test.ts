/** Modes of an agent that are permission modes by another name. */
import { describe, expect, it } from "vitest";
import type { SessionConfig } from "../../contract.ts";
import { quirksOf } from "../translate/quirks.ts";
import { Configuration } from "./configuration.ts";
import type { LiveSettings } from "./live-settings.ts";

async function opened(config: Partial<SessionConfig>) {
  const modes: string[] = [];
  const quirks = quirksOf("gemini");
  const settings: Partial<LiveSettings> = {
    setMode: async (mode: string) => void modes.push(mode),
    modeFor: (_, wanted) => Object.entries(quirks.permissionModes ?? {}).find(([, mode]) => mode === wanted)?.[0],
    setPlanning: async () => false,
  };
  const configuration = new Configuration(settings as LiveSettings, {
    name: "Gemini",
    config: {
      model: null,
      variant: null,
      agent_mode: null,
      trusted: true,
      permission_mode: "default",
      ...config,
    } as SessionConfig,
    quirks,
    meta: () => ({}),
    say: () => {},
  });
  await configuration.apply();
  return { configuration, modes };
}

describe("[M1] a mode that is chosen by the agent's own name", () => {
  it("does not widen the permission mode, not at the start and not live", async () => {
    const { configuration, modes } = await opened({ agent_mode: "yolo" });
    expect(modes).toEqual(["default"]);
    for (const agent_mode of ["yolo", "autoEdit"])
      await expect(configuration.change({ agent_mode }, true)).rejects.toMatchObject({
        code: "unsupported",
        message: expect.stringContaining("Set permission_mode instead"),
      });
    expect(modes).toEqual(["default"]);
  });

  it("narrows, and is taken with the permission mode that it is", async () => {
    const { configuration, modes } = await opened({ permission_mode: "accept_edits" });
    await configuration.change({ agent_mode: "plan" }, true);
    await configuration.change({ agent_mode: "yolo", permission_mode: "bypass" }, true);
    expect(modes).toEqual(["autoEdit", "plan", "yolo", "yolo"]);
  });

  it("is the one that a refused change goes back to", async () => {
    const { configuration, modes } = await opened({ agent_mode: "plan", permission_mode: "plan" });
    expect(modes).toEqual(["plan"]);
    await expect(configuration.change({ agent_mode: "default" }, true)).rejects.toMatchObject({ code: "unsupported" });
    expect(modes).toEqual(["plan"]);
  });
});
