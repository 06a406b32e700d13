/**
 * Sessions that agents start for a part of their work. A child is a session like any other: people see it, answer it and can end it. Not here: what the parent makes
 * of it.
 */
import { AgentError, type ChildSession, type ChildSessions } from "../agents/contract.ts";
import { type Actor, BY_THE_DAEMON } from "../schema/actor.ts";
import type { UniversalEvent } from "../schema/event.ts";
import { ProblemError } from "../schema/problem-codes.ts";
import type { Session } from "../session/session.ts";
import type { SessionManager } from "../session/session-manager.ts";

/** Longer chains cannot be made; a damaged row must not make this endless. */
const MAX_DEPTH = 16;

export function childSessions(manager: SessionManager, agents: () => string[]): ChildSessions {
  const isChild = async (id: string, parent: string): Promise<boolean> => (await manager.rowOf(id))?.parent_session_id === parent;
  return {
    agents,
    async depth(session_id) {
      let depth = 0;
      let at = (await manager.rowOf(session_id))?.parent_session_id;
      for (; at !== undefined && depth < MAX_DEPTH; depth++) at = (await manager.rowOf(at))?.parent_session_id;
      return depth;
    },
    async create({ session_id, parent_session_id, agent, directory, trusted, model, permission_mode, env, title }) {
      const actor: Actor = { token_id: null, role: null, surface: "agent", session_id: parent_session_id };
      const request = {
        ...{ session_id, agent, directory, permission_mode, env, title },
        ...(model === null ? {} : { model }),
        trust: trusted ? ("trusted" as const) : ("restricted" as const),
      };
      try {
        await manager.create(request, actor, parent_session_id);
      } catch (error) {
        throw error instanceof ProblemError ? new AgentError("agent_refused", error.message, { cause: error }) : error;
      }
      return held(manager, await manager.get(session_id));
    },
    async find(session_id, parent_session_id) {
      if (!(await isChild(session_id, parent_session_id))) return null;
      return held(manager, await manager.get(session_id));
    },
  };
}

function held(manager: SessionManager, { session_id, agentId, stream }: Session): ChildSession {
  const session = (): Promise<Session> => manager.get(session_id);
  return {
    session_id,
    agent: agentId,
    async state() {
      const { projection, queued, stream } = await session();
      if (projection.ended) return "ended";
      if (projection.turn !== null || queued > 0) return "busy";
      const { events } = await stream.read({ after: 0, limit: 1, types: ["turn.started"] });
      return events.length === 0 ? "new" : "idle";
    },
    async send(text) {
      await (await session()).send(text, [], "queue");
    },
    async resume() {
      await (await session()).resume();
    },
    async history(types) {
      const found: UniversalEvent[] = [];
      for (let after = 0, more = true; more; ) {
        const page = await stream.read({ after, types });
        found.push(...page.events.map((json) => JSON.parse(json) as UniversalEvent));
        more = page.has_more;
        after = page.next;
      }
      return found;
    },
    follow(onEvent) {
      const subscription = stream.subscribe({
        after: stream.lastCommitted,
        onBatch: ({ events }) => {
          for (const json of events) onEvent(JSON.parse(json) as UniversalEvent);
        },
      });
      return () => setImmediate(() => subscription.close());
    },
    async replyPermission(id, { reply, message }) {
      await (await session()).replyPermission(id, { reply, ...(message === null ? {} : { message }) }, BY_THE_DAEMON);
    },
    async replyQuestion(id, answers) {
      await (await session()).replyQuestion(id, answers, BY_THE_DAEMON);
    },
    async end() {
      const one = await session();
      if (!one.projection.ended) await one.terminate(BY_THE_DAEMON);
    },
  };
}
