import { expect, it } from "vitest";
import { restrictedEnv, skillsEnv } from "./directory-files.ts";

it("one more root of skills keeps what the person's inline configuration says, also in a restricted session", () => {
  const own = JSON.stringify({ model: "x/y", skills: { paths: ["/mine"], urls: ["u"] } });
  const env = skillsEnv({ OPENCODE_CONFIG_CONTENT: own }, "/data/skills/root-1");
  const expected = { model: "x/y", skills: { paths: ["/mine", "/data/skills/root-1/skills"], urls: ["u"] } };
  expect(JSON.parse(env.OPENCODE_CONFIG_CONTENT ?? "")).toEqual(expected);
  expect(JSON.parse(restrictedEnv(env).OPENCODE_CONFIG_CONTENT ?? "")).toMatchObject(expected);
  for (const odd of ["no JSON", "[]", '{"skills":3}', '{"skills":{"paths":"x"}}'])
    expect(JSON.parse(skillsEnv({ OPENCODE_CONFIG_CONTENT: odd }, "/r").OPENCODE_CONFIG_CONTENT ?? "").skills.paths).toEqual([
      "/r/skills",
    ]);
});
