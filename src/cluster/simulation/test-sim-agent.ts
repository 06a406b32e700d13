/** The agent of the simulation: gets messages, says a few words over a while, ends its turn. It tells the history what it was given and where it was started. */
import type { Agent, Connection, Launch } from "../../agents/contract.ts";
import { mockAgent } from "../../agents/mock/agent.ts";
import { createMockTranslator, MOCK_SESSION } from "../../agents/mock/translate/translator.ts";
import type { MockEvent } from "../../agents/mock/translate/wire.ts";

export type AgentWatch = { started(directory: string): void; prompted(text: string): void };

export function simAgent(random: () => number, watch: AgentWatch): Agent {
  return { ...mockAgent, directoryFiles: async () => [], connect: async (launch) => connect(launch, random, watch) };
}

function connect(launch: Launch, random: () => number, watch: AgentWatch): Connection {
  watch.started(launch.config.directory);
  const channel = launch.host.openChannel(createMockTranslator());
  channel.attach(MOCK_SESSION, launch.port);
  const emit = (event: MockEvent): void => void channel.record("out", JSON.stringify(event), event);
  let [turns, closed] = [0, false];
  emit({ type: "hello", session: `native ${launch.config.directory}`, resumed: launch.resume !== null, remembered: 0 });
  const say = (turn: number, left: number): void => {
    if (closed || turn !== turns) return;
    if (left === 0) return emit({ type: "done", reason: "end_turn" });
    emit({ type: "text", m: `m${turn}`, d: `word ${Math.floor(random() * 1e6)} ` });
    setTimeout(() => say(turn, left - 1), random() * 250);
  };
  return {
    prompt: async ({ text }) => {
      watch.prompted(text);
      emit({ type: "turn", id: `turn-${++turns}`, by: "client" });
      const turn = turns;
      setTimeout(() => say(turn, 1 + Math.floor(random() * 5)), random() * 100);
    },
    steer: async () => "idle",
    interrupt: async () => {
      turns++;
      emit({ type: "done", reason: "interrupted" });
    },
    configure: async () => "done",
    replyPermission: async () => undefined,
    replyQuestion: async () => undefined,
    setPaused: () => undefined,
    close: async () => {
      closed = true;
    },
  };
}
