/** Operations on recordings of runs of the deployment, and on its replays. */

import { send } from './operation.ts'
import type { Operation, Scene } from './operation.ts'
import type { Client, Reply, Request, Session } from './session.ts'

/** The client that starts and cancels replays. Another one changes the deployment meanwhile. */
const replayClient = 1
/** Runs of a replay at most, and seconds for one run. */
const [sample, runS] = [8, 10]

type Caller = { readonly session: Session; readonly client: Pick<Client, 'number' | 'signal'> }

/** Sends a request about replays of the deployment. */
function sendReplay(operation: string, { session, client }: Caller,
  { path, ...request }: Pick<Request, 'method' | 'path' | 'body'>): Promise<Reply> {
  return session.call(client.number, { operation,
    path: `/control/v1/deployments/${session.deployment?.name}/replays${path}`, ...request },
    client.signal)
}

const startReplay: Operation = {
  name: 'replay.start',
  weight: 3,
  async execute(scene) {
    const { session, client: { number, chance } } = scene
    if (number !== replayClient) return
    const revision = chance.pick(session.deployment!.revisions)
    const { status, response } = await sendReplay('replay.start', scene, { method: 'POST', path: '',
      body: { revision, sample, run_s: runS, control: chance.flip(0.7) } })
    if (status !== 202) return
    session.replays.push((response as { replay: { id: string } }).replay.id)
  },
}

/** An operation on the newest replay. Does nothing if there is none. */
function onReplay(name: string, weight: number,
  execute: (scene: Scene, id: string) => Promise<unknown>): Operation {
  return {
    name,
    weight,
    async execute(scene) {
      const id = scene.session.replays.at(-1)
      if (id !== undefined) await execute(scene, id)
    },
  }
}

/** Reads a replay, and the verdicts on its runs. Resolves with its phase. */
export async function readReplay(caller: Caller, id: string): Promise<string | undefined> {
  const { response } = await sendReplay('replay.get', caller, { method: 'GET', path: `/${id}` })
  await sendReplay('replay.runs', caller, { method: 'GET', path: `/${id}/runs` })
  return (response as { replay?: { phase: string } } | undefined)?.replay?.phase
}

const cancelReplay = onReplay('replay.cancel', 1, async (scene, id) => {
  if (scene.client.number !== replayClient) return
  await sendReplay('replay.cancel', scene, { method: 'POST', path: `/${id}/cancel` })
  await readReplay(scene, id)
})

interface RunCalls {
  readonly calls?: readonly { readonly no: number }[]
}

/** Reads the recording of a run, and one of its calls. */
const readCalls: Operation = {
  name: 'run.calls',
  weight: 3,
  async execute(scene) {
    const { session, thread: { id, runs, base }, client: { chance } } = scene
    if (runs.length === 0 || base !== `/d/${session.deployment?.name}`) return
    const path = `/threads/${id}/runs/${chance.pick(runs)}/calls`
    const { status, response } = await send('run.calls', scene, { method: 'GET', path })
    const { calls = [] } = status === 200 ? response as RunCalls : {}
    if (calls.length === 0) return
    await send('run.call', scene, { method: 'GET', path: `${path}/${chance.pick(calls).no}` })
  },
}

export const replayOperations: readonly Operation[] = [startReplay, cancelReplay, readCalls,
  onReplay('replay.get', 1, readReplay)]
