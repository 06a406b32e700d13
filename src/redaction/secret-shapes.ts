/**
 * Shapes of secrets that are known well enough to be recognised in any text, also inside of JSON. Not here: what is done about them (redactor.ts), and
 * secrets that are known by their value.
 */

export type SecretShape = {
  /** Stands in the place of the secret: `[redacted:github_token]`. */
  kind: string;
  /** What the secret looks like; bounded, because agents choose the text it is looked for in. A first group, when there is one, is kept: words that only lead up to it. */
  pattern: string;
  flags?: "i";
  /** How it begins, letter by letter: what a text that comes in pieces is held back for. */
  begins: readonly string[];
};

/** Not in the middle of a word. In JSON a line feed is written `\n`, so a letter after a backslash is no part of a word. */
export const START = String.raw`(?:(?<![A-Za-z0-9_-])|(?<=\\[nrtbf])|(?<=\\u[0-9a-fA-F]{4}))`;
const WORD = "[A-Za-z0-9_-]";

export const secretShapes: readonly SecretShape[] = [
  { kind: "anthropic_key", pattern: `${START}sk-ant-${WORD}{16,}`, begins: ["sk-ant-"] },
  // At least one digit: `sk-` also begins names of classes and packages.
  { kind: "openai_key", pattern: `${START}sk-(?=${WORD}*[0-9])${WORD}{20,}`, begins: ["sk-"] },
  {
    kind: "stripe_key",
    pattern: `${START}[sr]k_(?:live|test)_[A-Za-z0-9]{16,}`,
    begins: ["sk_live_", "sk_test_", "rk_live_", "rk_test_"],
  },
  { kind: "github_token", pattern: `${START}gh[pousr]_[A-Za-z0-9]{20,}`, begins: ["ghp_", "gho_", "ghu_", "ghs_", "ghr_"] },
  { kind: "github_token", pattern: `${START}github_pat_[A-Za-z0-9_]{20,}`, begins: ["github_pat_"] },
  { kind: "gitlab_token", pattern: `${START}glpat-${WORD}{20,}`, begins: ["glpat-"] },
  {
    kind: "slack_token",
    pattern: `${START}xox[abeoprs]-[A-Za-z0-9-]{10,}`,
    begins: ["xoxa-", "xoxb-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-"],
  },
  { kind: "aws_key", pattern: `${START}(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])`, begins: ["AKIA", "ASIA"] },
  { kind: "google_key", pattern: `${START}AIza${WORD}{35}`, begins: ["AIza"] },
  { kind: "google_token", pattern: `${START}ya29\\.${WORD}{20,}`, begins: ["ya29."] },
  { kind: "npm_token", pattern: `${START}npm_[A-Za-z0-9]{36}`, begins: ["npm_"] },
  { kind: "huggingface_token", pattern: `${START}hf_[A-Za-z0-9]{30,}`, begins: ["hf_"] },
  { kind: "pypi_token", pattern: `${START}pypi-AgEI${WORD}{40,}`, begins: ["pypi-AgEI"] },
  { kind: "sendgrid_key", pattern: `${START}SG\\.${WORD}{20,24}\\.${WORD}{40,}`, begins: ["SG."] },
  { kind: "docker_token", pattern: `${START}dckr_pat_${WORD}{20,}`, begins: ["dckr_pat_"] },
  { kind: "digitalocean_token", pattern: `${START}do[opr]_v1_[a-f0-9]{40,}`, begins: ["dop_v1_", "doo_v1_", "dor_v1_"] },
  { kind: "jwt", pattern: `${START}eyJ${WORD}{10,}\\.eyJ${WORD}{10,}\\.${WORD}{10,}`, begins: ["eyJ"] },
  {
    kind: "private_key",
    // Line feeds may be written as \n, in JSON within JSON as \\n.
    pattern: String.raw`-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY-----(?:(?!-----)[A-Za-z0-9+/=\s\\:,.-])*-----END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY-----`,
    begins: ["-----BEGIN "],
  },
  {
    kind: "authorization",
    pattern: `${START}${String.raw`(authorization\\{0,9}["']?\s{0,9}[:=]\s{0,9}\\{0,9}["']?(?:bearer|basic|token)\s{1,9})[A-Za-z0-9._~+/=-]{8,}`}`,
    flags: "i",
    begins: ["authorization", "Authorization", "AUTHORIZATION"],
  },
  { kind: "authorization", pattern: `${START}${String.raw`(Bearer\s{1,9})[A-Za-z0-9._~+/=-]{20,}`}`, begins: ["Bearer "] },
  // Not the user, only the password.
  {
    kind: "password",
    pattern: String.raw`(\b[a-z][a-z0-9+.-]{0,30}://[^\s:@/"'\\]{0,100}:)[^\s@/"'\\]{3,200}(?=@)`,
    flags: "i",
    begins: ["://"],
  },
];
