/** A deployment of two revisions, whose threads may wait at a node that only one of them has. */

import type { ExecutionOutcome, GraphDescription } from '../../src/graph/index.ts'
import type { StartRun } from '../../src/thread/index.ts'
import { aGraph, FakeDeployments, shop } from './fake-deployments.ts'
import { ScriptedHost } from './scripted-host.ts'
import { settled, ThreadHouse } from './thread-house.ts'

/** A host whose one graph has these nodes. */
export class RevisionHost extends ScriptedHost {
  readonly #graphs: readonly GraphDescription[]

  constructor(...nodes: readonly string[]) {
    super()
    this.#graphs = [aGraph('agent', ...nodes)]
  }

  override graphs = () => this.#graphs
  override describe = (graphId: string) => this.#graphs.find((each) => each.graphId === graphId)
}

/** Two revisions, of which the second has another node instead of `ask`. */
export function twoRevisions() {
  const deployed = new FakeDeployments()
  const [r1, r2] = [new RevisionHost('ask', 'end'), new RevisionHost('confirm', 'end')]
  deployed.hosts.set('r1', r1).set('r2', r2)
  const house = new ThreadHouse({}, undefined, deployed)
  const start = (run: Partial<StartRun> = {}, threadId = 'x') =>
    house.client.startRun(shop, threadId, house.run(run))
  const newest = async () =>
    (await house.client.listRuns({ tenant: shop, threadId: 'x', limit: 1, offset: 0 }))[0]!
  const row = async () => (await house.client.get(shop, 'x')).row
  return { deployed, house, r1, r2, start, newest, row }
}

/** Resumes the thread. */
export const answer = { kwargs: { input: null, command: { resume: 'yes' } } } as const
/** The end of a run that waits at `ask`. */
export const asking: Partial<ExecutionOutcome> = { waiting: true, waitsAt: ['ask'],
  interrupts: '{"task":[{"id":"a","value":"?"}]}' }

/** A thread that waits for an answer at `ask` of r1. */
export async function waiting() {
  const shopOf = twoRevisions()
  const { r1, start } = shopOf
  await start()
  await r1.step(r1.only, 'one')
  r1.end(r1.only, asking)
  await settled()
  return shopOf
}
