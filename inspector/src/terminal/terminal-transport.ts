/** What a terminal on the page is connected to. The code that opens a terminal makes it; the component knows nothing of tasks, sessions or HTTP. */

export type TerminalSize = { rows: number; cols: number };

export type TerminalMessage =
  /** The screen as it is now, as escape sequences for an empty terminal: the first message, and again after a gap. */
  | ({ type: "screen"; serialized: string } & TerminalSize)
  /** What the program wrote next. */
  | { type: "output"; text: string }
  /** The terminal has another size. */
  | ({ type: "size" } & TerminalSize)
  /** Nothing more will come. */
  | { type: "ended"; reason: string };

export interface TerminalTransport {
  /**
   * Hands over all messages in order, from the screen on. The listener's promise resolves when the message is drawn: one who waits for it never fills the page's
   * memory. Returns a function that ends the listening; it may be called again after that, and begins with the screen
   * again.
   */
  onData(listener: (message: TerminalMessage) => Promise<void>): () => void;
  /** What the person typed or pasted, or what the terminal answers a program's question with. */
  write(data: string): void;
  /** The size this page would like. Others see the change as a `size` message. */
  resize(size: TerminalSize): void;
  /** The person is done with this terminal. The program may live on. */
  close(): void;
}
