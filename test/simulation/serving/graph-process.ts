/** The process in which a simulated member executes graphs: mails arrive later, in their order. */

import { effectRulesOf } from '../../../src/graph/effect-rule.ts'
import { AsyncLocalStorageProviderSingleton } from '@langchain/core/singletons'

import { followTasks } from '../../../src/graph/calls/task-scopes.ts'
import type { NodeBase } from '../../../src/graph/calls/task-scopes.ts'
import { createAgent } from '../../../verify/agent/agent.ts'
import type { AgentWorld } from '../../../verify/agent/agent.ts'
import { EngineHost } from '../../support/engine-host.ts'
import type { Process } from '../process.ts'

/** The effects of the agent, as its project has them. */
const rules = effectRulesOf([{ name: 'charge', once: 'key' }, { name: 'mail', once: 'ask' }])

/** Turns of the event loop in which the engine takes what a mail lets it do. */
const engineTurns = 4

let unfollow: (() => void) | undefined

/** A host whose graphs take time, and stand still while their member does. */
export function graphsOf(process: Process, world: AgentWorld): EngineHost {
  const mails: (() => void)[] = []
  const carry = (deliver: () => void) => {
    mails.push(deliver)
    process.after(0.1, () => {
      process.world.letTurn(engineTurns)
      mails.shift()?.()
    })
  }
  const graph = createAgent(world)
  // The effects of a node find its task by this.
  unfollow?.()
  unfollow = followTasks(AsyncLocalStorageProviderSingleton,
    Object.getPrototypeOf(graph.nodes.act) as NodeBase)
  return new EngineHost(graph, { env: process.env, carry, rules, graphId: 'verify' })
}
