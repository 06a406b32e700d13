// A tool that will not do what it was asked: the model reads the message and the code.
export class ToolRefusal extends Error {
  override readonly name = "ToolRefusal";
  readonly code: "wider_mode" | "invalid_arguments" | "unknown_tool";
  constructor(code: ToolRefusal["code"], message: string) {
    super(message);
    this.code = code;
  }
}
