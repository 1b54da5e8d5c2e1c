/** A deployment whose runs are recorded, and a model and tools that count what they are asked. */

import { vi } from 'vitest'

import type { ControlReplay, ControlVerdict, RunCalls } from '../../../src/api/index.ts'
import { eventually } from '../../support/eventually.ts'
import { openModel } from '../../support/model-server.ts'
import type { ModelServer } from '../../support/model-server.ts'
import { startServer } from '../../support/server-process.ts'
import type { ServerProcess } from '../../support/server-process.ts'
import { deployedProject } from '../deploy/deployed-project.ts'
import { DeployTarget } from '../deploy/deploy-target.ts'
import { agentsCode, graphNames } from './agents.ts'
import type { GraphName } from './agents.ts'

/** Value of a secret that no replay may see. */
export const secret = 'canary-5e0b7f41aa93'

const pieces = ['Sunny', ' and', ' warm']

/** Processes load the engine several times, which takes minutes on a busy machine. */
const replayMs = 300_000

/** Place of a run. */
export interface RanRun {
  readonly threadId: string
  readonly runId: string
}

/** A shop whose graphs are recorded. */
export interface ReplayedShop {
  readonly server: ServerProcess
  readonly shop: DeployTarget
  readonly model: ModelServer
  /** Runs a graph to its end, on a thread of its own or with an answer on another one. */
  run(graph: GraphName, on?: RanRun): Promise<RanRun>
  /** Runs a graph without a thread that stays. */
  stateless(graph: GraphName): Promise<RanRun>
  /** The same, for which nobody waits: its thread is there for a while. */
  background(graph: GraphName): Promise<RanRun>
  /** Runs a graph whose server is killed while its second stream has begun. It goes on then. */
  killed(graph: GraphName): Promise<RanRun>
  /** Starts a replay. */
  begin(revision: string, options?: object): Promise<string>
  /** Waits for the end of a replay. */
  ended(id: string): Promise<ControlReplay>
  verdicts(id: string): Promise<readonly ControlVerdict[]>
  close(): Promise<void>
}

/** Starts a server with recorded graphs: r1 is active, and r2 is checked. */
export async function replayedShop(): Promise<ReplayedShop> {
  const [project, server, model] = await Promise.all([
    deployedProject({
      'langgraph.json': JSON.stringify({
        graphs: Object.fromEntries(graphNames.map((name) => [name, `./agent.ts:${name}`])),
        heddle: { record: 'all' },
      }),
    }),
    startServer({ args: ['--workers', '1'] }),
    openModel(pieces),
  ])
  const shop = new DeployTarget(server.url, 'shop')
  await shop.create({ limits: { memory_mb: 512, workers: 1 } })
  await shop.own('PUT', '/secrets/MODEL_KEY', { value: secret })
  await shop.deploy(await project.built(agentsCode(false)), { watch_s: 0, prepare_s: 600 })
  const { name } = await shop.upload(await project.built(agentsCode(true)))
  const checked = await shop.own('POST', `/revisions/${name}/check`)
  if (checked.status !== 200) throw new Error(JSON.stringify(checked.body))
  const recorded = async ({ threadId, runId }: RanRun) => {
    await eventually(async () => {
      const answer = await fetch(`${server.url}/d/shop/threads/${threadId}/runs/${runId}/calls`)
      const { is_recorded: isRecorded } = await answer.json() as RunCalls
      if (!isRecorded) throw new Error('It is not recorded yet.')
    })
    return { threadId, runId }
  }
  return {
    server,
    shop,
    model,
    run: async (graph, on) => {
      const { threads, runs } = shop.client
      const threadId = on?.threadId ?? (await threads.create()).thread_id
      await runs.wait(threadId, graph, on ? { command: { resume: 'yes' } } : {
        input: { url: model.url, asked: graph },
      }).catch(() => {})
      const [{ run_id: runId = '' } = {}] = await runs.list(threadId)
      return await recorded({ threadId, runId })
    },
    stateless: async (graph) => {
      const answer = await fetch(`${server.url}/d/shop/runs/wait`, { method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ assistant_id: graph, input: { url: model.url, asked: graph } }) })
      await answer.text()
      const runId = /[\da-f-]{36}$/.exec(answer.headers.get('content-location') ?? '')![0]
      return { threadId: runId, runId }
    },
    background: async (graph) => {
      const { run_id: runId } = await shop.client.runs.create(null, graph, {
        input: { url: model.url, asked: graph },
      })
      return await recorded({ threadId: runId, runId })
    },
    killed: async (graph) => {
      const { threads, runs } = shop.client
      const { thread_id: threadId } = await threads.create()
      const isStreaming = Promise.withResolvers<void>()
      let streams = 0
      model.does({ pieces, between: async (index) => {
        if (index > 1 || ++streams < 2) return
        isStreaming.resolve()
        await new Promise<never>(() => {})
      } })
      const { run_id: runId } = await runs.create(threadId, graph, {
        input: { url: model.url, asked: graph },
        // What it has done is in the log before it goes on.
        durability: 'sync',
      })
      await isStreaming.promise
      await server.kill('SIGKILL')
      model.does({ pieces })
      await server.restart()
      await vi.waitFor(async () => {
        const { status } = await shop.client.threads.get(threadId)
        if (status !== 'idle') throw new Error(`The thread is ${status}.`)
      }, { timeout: replayMs, interval: 50 })
      return await recorded({ threadId, runId })
    },
    begin: async (revision, options = {}) => {
      const { status, body } = await shop.own('POST', '/replays', { revision, ...options })
      if (status !== 202) throw new Error(JSON.stringify(body))
      return (body as unknown as ControlReplay).replay.id
    },
    ended: (id) =>
      vi.waitFor(async () => {
        const { body } = await shop.own('GET', `/replays/${id}`)
        const seen = body as unknown as ControlReplay
        if (seen.replay.phase === 'running') throw new Error(`${seen.done} are done`)
        return seen
      }, { timeout: replayMs, interval: 50 }),
    verdicts: async (id) =>
      (await shop.own('GET', `/replays/${id}/runs`)).body['runs'] as readonly ControlVerdict[],
    close: async () => {
      await server.close()
      await project.remove()
      model.close()
    },
  }
}
