/** For tests of races: an agent inside the test's own process, whose starts and stops happen when the test says so. It counts what is alive. */
import type { Agent, Connection, Launch, Prompt } from "../agents/contract.ts";
import { mockAgent } from "../agents/mock/agent.ts";
import { createMockTranslator, MOCK_SESSION } from "../agents/mock/translate/translator.ts";
import type { MockEvent } from "../agents/mock/translate/wire.ts";

/** A step that waits until the test lets it pass. */
class Gate {
  #open = true;
  #waiting: (() => void)[] = [];
  #arrivals: (() => void)[] = [];

  shut(): void {
    this.#open = false;
  }

  open(): void {
    this.#open = true;
    for (const pass of this.#waiting.splice(0)) pass();
  }

  /** Resolves when somebody waits before the gate. */
  arrival(): Promise<void> {
    return this.#waiting.length > 0 ? Promise.resolve() : new Promise((resolve) => this.#arrivals.push(resolve));
  }

  async pass(): Promise<void> {
    if (this.#open) return;
    for (const arrived of this.#arrivals.splice(0)) arrived();
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }
}

export class TestAgent {
  readonly starting = new Gate();
  readonly closing = new Gate();
  readonly steering = new Gate();
  /** Connections that were started and not yet closed, now and at most. */
  alive = 0;
  most = 0;
  starts = 0;
  paused: boolean[] = [];
  prompts: string[] = [];
  interrupts: "confirmed" | "ignored" = "confirmed";
  /** Called when the agent gets a message, before it does anything. */
  onPrompt: () => void = () => {};
  /** Says something as the agent that was started last. */
  emit: (event: MockEvent) => void = () => {};
  launch: Launch | null = null;

  readonly agent: Agent = { ...mockAgent, id: "test", name: "Test agent", connect: (launch) => this.#connect(launch) };

  async #connect(launch: Launch): Promise<Connection> {
    this.launch = launch;
    this.starts++;
    this.alive++;
    this.most = Math.max(this.most, this.alive);
    const channel = launch.host.openChannel(createMockTranslator());
    channel.attach(MOCK_SESSION, launch.port);
    const emit = (event: MockEvent): void => void channel.record("out", JSON.stringify(event), event);
    this.emit = emit;
    await this.starting.pass();
    emit({ type: "hello", session: "native-1", resumed: launch.resume !== null, remembered: 0 });
    return {
      prompt: async (prompt: Prompt) => {
        this.onPrompt();
        this.prompts.push(prompt.text);
        emit({ type: "turn", id: `turn-${this.prompts.length}`, by: "client" });
        if (!prompt.text.startsWith("hang")) emit({ type: "done", reason: "end_turn" });
      },
      steer: async (prompt) => {
        this.prompts.push(`steer ${prompt.text}`);
        await this.steering.pass();
      },
      interrupt: async () => {
        if (this.interrupts === "confirmed") emit({ type: "done", reason: "interrupted" });
      },
      configure: async () => "done",
      replyPermission: async () => void this.prompts.push("answered"),
      replyQuestion: async () => void this.prompts.push("answered"),
      setPaused: (paused) => void this.paused.push(paused),
      close: async () => {
        await this.closing.pass();
        this.alive--;
      },
    };
  }
}
