/** Refuses a run that would continue at a node which the project does not have any more. */

import { requireNext } from '../../graph/index.ts'
import type { ThreadContext } from '../context/thread-context.ts'
import { forkOf } from '../model/run-request.ts'
import type { StartRun } from '../model/thread-client.ts'

/** Throws `missing_node`. For a thread without unfinished runs: later the worker finds out. */
export async function requireWaitingNodes({ ports: { host }, threadLog }: ThreadContext,
  run: StartRun): Promise<void> {
  const { row: { head, interruptsJson }, resting } = threadLog.state
  const isWaiting = resting === 'interrupted' || interruptsJson !== '{}'
  const id = forkOf(run)?.checkpointId ?? head?.id
  if (!isWaiting || id === undefined || !continues(run)) return
  const { nodes = [], channels } = host.describe(run.graphId) ?? {}
  // The nodes of a graph that is made for each use are not known here.
  if (channels === undefined) return
  await threadLog.loadHead()
  const view = threadLog.recentView(id) ?? await threadLog.settled.view('', id)
  if (!view) return
  requireNext({ names: view.names(), valueOf: (name) => JSON.parse(view.json(name)) }, nodes)
}

interface Continuing {
  readonly input?: unknown
  readonly command?: { readonly resume?: unknown; readonly goto?: unknown;
    readonly update?: unknown } | null
}

/** Neither new input nor a jump: the tasks that wait are executed. */
function continues({ kwargs }: StartRun): boolean {
  const { input, command } = kwargs as Continuing
  return command == null ? input == null : command.resume != null
}
