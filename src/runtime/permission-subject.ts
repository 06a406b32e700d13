/** What permission rules look at. */
export type PermissionSubject =
  | { readonly kind: "read" | "edit"; readonly paths: readonly string[] }
  /** `unsandboxed`: the model wants it to run outside the sandbox. */
  | { readonly kind: "bash"; readonly command: string; readonly cwd: string; readonly unsandboxed?: boolean }
  | { readonly kind: "fetch"; readonly url: string }
  /** Something that changes nothing outside the session: a plan. */
  | { readonly kind: "internal" }
  | { readonly kind: "other"; readonly name: string };
