import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PieceRedactor } from "./piece-redactor.ts";
import { Redactor } from "./redactor.ts";
import { namedSecrets, secretVariables } from "./secret-values.ts";

const word = (alphabet: string, length: number) =>
  fc.array(fc.constantFrom(...alphabet), { minLength: length, maxLength: length }).map((letters) => letters.join(""));
const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const WORD = `${LETTERS}_-`;

/** One of each kind. The secret is what must not come out; the text is what it stands in. */
const secrets: Record<string, fc.Arbitrary<{ text: string; secret: string }>> = {
  anthropic_key: word(WORD, 40).map((rest) => plain(`sk-ant-api03-${rest}`)),
  openai_key: word(LETTERS, 40).map((rest) => plain(`sk-proj-1${rest}`)),
  stripe_key: word(LETTERS, 24).map((rest) => plain(`sk_live_${rest}`)),
  github_token: word(LETTERS, 36).map((rest) => plain(`ghp_${rest}`)),
  github_pat: word(LETTERS, 60).map((rest) => plain(`github_pat_${rest}`)),
  gitlab_token: word(WORD, 20).map((rest) => plain(`glpat-${rest}`)),
  slack_token: word(LETTERS, 24).map((rest) => plain(`xoxb-123-${rest}`)),
  aws_key: word("ABCDEFGHIJ0123456789", 16).map((rest) => plain(`AKIA${rest}`)),
  google_key: word(WORD, 35).map((rest) => plain(`AIza${rest}`)),
  npm_token: word(LETTERS, 36).map((rest) => plain(`npm_${rest}`)),
  pypi_token: word(WORD, 60).map((rest) => plain(`pypi-AgEI${rest}`)),
  sendgrid_key: fc.tuple(word(WORD, 22), word(WORD, 43)).map(([a, b]) => plain(`SG.${a}.${b}`)),
  docker_token: word(WORD, 27).map((rest) => plain(`dckr_pat_${rest}`)),
  digitalocean_token: word("0123456789abcdef", 64).map((rest) => plain(`dop_v1_${rest}`)),
  jwt: fc.tuple(word(WORD, 20), word(WORD, 30), word(WORD, 40)).map(([a, b, c]) => plain(`eyJ${a}.eyJ${b}.${c}`)),
  private_key: word(`${LETTERS}+/`, 64).map((line) => ({
    secret: line,
    text: `-----BEGIN RSA PRIVATE KEY-----\n${line}\n${line}=\n-----END RSA PRIVATE KEY-----`,
  })),
  authorization: word(LETTERS, 24).map((secret) => ({ secret, text: `Authorization: Bearer ${secret}` })),
  bearer: word(LETTERS, 24).map((secret) => ({ secret, text: `Bearer ${secret}` })),
  password: word(LETTERS, 12).map((secret) => ({ secret, text: `postgres://user:${secret}@db` })),
};
function plain(secret: string) {
  return { secret, text: secret };
}

const prose = fc.constantFrom(
  "",
  "the key is ",
  "export KEY=",
  "a\n",
  '{"key":"',
  "it's ",
  "see: ",
  "(",
  "yes, ghosts and skis ",
);
const after = fc.constantFrom("", " and more", "\n", '"}', ".\n\nThe end");
const samples = fc
  .oneof(...Object.values(secrets))
  .chain(({ text, secret }) => fc.tuple(prose, after).map(([before, rest]) => ({ text: `${before}${text}${rest}`, secret })));
const redactor = new Redactor();

describe("known secrets in a text", () => {
  it("are found in plain text, in JSON, and in JSON within JSON", () => {
    fc.assert(
      fc.property(samples, ({ text, secret }) => {
        const once = JSON.stringify({ message: text });
        const twice = JSON.stringify({ arguments: once });
        for (const each of [text, once, twice]) expect(redactor.text(each)).not.toContain(secret);
        expect(typeof JSON.parse(redactor.text(twice))).toBe("object");
      }),
    );
  });

  it("are replaced by their kind, and the rest stays", () => {
    expect(redactor.text(`use sk-ant-api03-${"a1".repeat(20)}, please`)).toBe("use [redacted:anthropic_key], please");
    expect(redactor.text("postgres://me:hunter22@db/x")).toBe("postgres://me:[redacted:password]@db/x");
    expect(redactor.text('{"Authorization":"Bearer abcdefgh12345678"}')).toBe(
      '{"Authorization":"Bearer [redacted:authorization]"}',
    );
    expect(redactor.text(redactor.text(`ghp_${"x".repeat(36)}`))).toBe("[redacted:github_token]");
  });

  it("leaves what only looks a little like one", () => {
    for (const text of [
      "task-management-system-for-2024-and-later",
      "sk-learn, sk-loading-indicator-of-the-page",
      "http://localhost:8080/path?x=1@2",
      "https://example.org/a:b@c",
      "the Bearer of this letter",
      "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
      "npm_config_registry, hf_hub",
      "eyJustAWord",
    ])
      expect(redactor.text(text)).toBe(text);
  });

  it("finds a value with quotes and backslashes in JSON within JSON", () => {
    const value = 'it"s\\a "secret"';
    const arguments_ = JSON.stringify({ password: value });
    const text = new Redactor({ values: [value] }).text(JSON.stringify({ arguments: arguments_ }));
    expect(JSON.parse(JSON.parse(text).arguments)).toEqual({ password: "[redacted:secret]" });
  });

  it("knows the password in an address that a variable holds", () => {
    const variables = {
      DATABASE_URL: "postgres://me:p%40ssw0rd-1@db/x",
      HOME: "/home/me",
      PAGE: "https://example.org/a?page=12345678",
    };
    for (const values of [secretVariables(variables), namedSecrets(variables)])
      expect(values).toEqual(["p%40ssw0rd-1", "p@ssw0rd-1"]);
  });

  it("knows values without a shape, tokens of the daemon and shapes of the user's own", () => {
    const own = new Redactor({
      values: ['s3cr"et-value', "short"],
      patterns: ["INT-[0-9]{6}"],
      isToken: (candidate) => candidate === "t".repeat(43),
    });
    expect(
      own.text(JSON.stringify({ env: 's3cr"et-value', a: "short", b: "INT-123456", c: "t".repeat(43), d: "u".repeat(43) })),
    ).toBe(
      JSON.stringify({
        env: "[redacted:secret]",
        a: "short",
        b: "[redacted:pattern]",
        c: "[redacted:dragoman_token]",
        d: "u".repeat(43),
      }),
    );
  });
});

describe("known secrets in a text that comes in pieces", () => {
  const pieces = (text: string, cuts: number[]): string[] => {
    const at = [...new Set(cuts.map((cut) => cut % (text.length + 1)))].sort((a, b) => a - b);
    return [...at, text.length].map((to, index) => text.slice(index === 0 ? 0 : at[index - 1], to));
  };

  it("are found wherever the text is cut, and nothing else is lost", () => {
    fc.assert(
      fc.property(samples, fc.array(fc.nat(), { maxLength: 12 }), ({ text, secret }, cuts) => {
        const stream = new PieceRedactor(redactor);
        const out = pieces(text, cuts).map((piece) => stream.add(piece));
        const soFar = out.join("");
        expect(soFar).not.toContain(secret);
        // Not even a good part of it.
        for (let at = 0; at + 12 <= secret.length; at++) expect(soFar.includes(secret.slice(at, at + 12)), soFar).toBe(false);
        expect(soFar + stream.end()).toBe(redactor.text(text));
      }),
      { numRuns: 500 },
    );
  });

  it("passes ordinary text on whatever the cut", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 20 }), { maxLength: 10 }), (texts) => {
        const stream = new PieceRedactor(redactor);
        expect(texts.map((text) => stream.add(text)).join("") + stream.end()).toBe(redactor.text(texts.join("")));
      }),
    );
  });

  it("lets at most the beginning of a value out that has no shape", () => {
    const value = "correct-horse-battery-staple-9";
    const stream = new PieceRedactor(new Redactor({ values: [value] }));
    const out = [...`say ${value} now`].map((letter) => stream.add(letter)).join("") + stream.end();
    expect(out).toMatch(/^say .{0,19}\[redacted:secret\] now$/);
  });

  it("takes time in proportion to the text, whatever an agent writes", () => {
    const size = 200_000;
    const fill = (part: string): string => part.repeat(Math.ceil(size / part.length));
    for (const part of [
      "a",
      "a.",
      "-----BEGIN ",
      "-----BEGIN PRIVATE KEY-----",
      "sk-.",
      "eyJaaaaaaaaaaaa.",
      "Bearer ",
      "Bearer  !",
      "http://a:",
      " ",
      "\\n",
      "authorization:",
    ]) {
      const stream = new PieceRedactor(new Redactor({ isToken: () => false }));
      const text = fill(part);
      const out = stream.add(text) + stream.add(`${text}!`) + stream.end();
      expect(out.length).toBeGreaterThan(0);
    }
  });

  it("gives up holding back what goes on for ever", () => {
    const stream = new PieceRedactor(redactor);
    const out =
      stream.add(`-----BEGIN PRIVATE KEY-----${"a\n".repeat(20_000)}`) +
      stream.add("sk-") +
      stream.add("x".repeat(5_000)) +
      stream.add("y");
    expect(out.length).toBeGreaterThan(30_000);
  });
});
