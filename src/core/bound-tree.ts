/** The worst case of a query together with the sub-agents that it starts. */
import { bound } from './bound.ts';
import type { LoopConfig } from './config.ts';

/** The most that a query and everything under it can cause; infinite where an agent has no limit of turns. */
export interface TreeBound {
  /** Requests for answers. */
  readonly modelCalls: number;
  /** Requests for summaries. */
  readonly summaryCalls: number;
  /** Queries in all: the first one, and every sub-agent. */
  readonly queries: number;
}

const nothing: TreeBound = { modelCalls: 0, summaryCalls: 0, queries: 0 };

/**
 * The sum over the tree: each query of a level above `maxAgentDepth` starts at most `maxSubAgents`, each of them the
 * costliest of `agents`. Without `maxTurns` the figures of the first query are for one turn, which may start them all.
 * Default of `agents`: one with the limits of `config`.
 */
export function boundWithSubAgents(
  config: LoopConfig,
  agents: readonly LoopConfig[] = [{ ...config, querySource: 'agent:general-purpose', tokenBudget: null }],
): TreeBound {
  let worst = nothing;
  for (let depth = config.maxAgentDepth; depth >= 1; depth -= 1) {
    const under = depth === config.maxAgentDepth ? nothing : worst;
    worst = agents.map((agent) => withChildren(unlimited(agent), agent, under)).reduce(larger, nothing);
  }
  return withChildren(own(config), config, worst);
}

function own(config: LoopConfig): TreeBound {
  const { modelCalls, summaryCalls } = bound(config);
  return { modelCalls, summaryCalls, queries: 1 };
}

/** A sub-agent runs to its end: what holds for one turn is no bound for it. */
function unlimited(agent: LoopConfig): TreeBound {
  if (agent.maxTurns !== null) return own(agent);
  return { modelCalls: Number.POSITIVE_INFINITY, summaryCalls: Number.POSITIVE_INFINITY, queries: 1 };
}

function withChildren(self: TreeBound, { maxSubAgents }: LoopConfig, child: TreeBound): TreeBound {
  const plus = (of: number, each: number): number => (maxSubAgents === 0 || each === 0 ? of : of + maxSubAgents * each);
  return {
    modelCalls: plus(self.modelCalls, child.modelCalls),
    summaryCalls: plus(self.summaryCalls, child.summaryCalls),
    queries: plus(self.queries, child.queries),
  };
}

function larger(one: TreeBound, other: TreeBound): TreeBound {
  return {
    modelCalls: Math.max(one.modelCalls, other.modelCalls),
    summaryCalls: Math.max(one.summaryCalls, other.summaryCalls),
    queries: Math.max(one.queries, other.queries),
  };
}
