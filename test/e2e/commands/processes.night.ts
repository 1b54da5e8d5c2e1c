/** A backup by a process beside a server, and what would go on in what is restored of it. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { systemEnv } from '../../../cluster/index.ts'
import { catalogClient, catalogKind, ruleRecords } from '../../../src/platform/index.ts'
import { operatorActors, placeOfStore } from '../../../src/server/operator/operator-actors.ts'
import { openEmbeddedStore } from '../../../src/store/embedded/index.ts'
import { heddle, heddleProcess } from '../../support/command.ts'
import { useGates } from '../../support/gate.ts'
import type { Gate } from '../../support/gate.ts'
import { startHeld } from '../../support/held-run.ts'
import { openReceiver } from '../../support/receiver.ts'
import { ruleWire } from '../../support/rules.ts'
import { say } from '../../support/run-events.ts'
import { oneWorker, startServer } from '../../support/server-process.ts'
import type { ServerProcess } from '../../support/server-process.ts'
import { clientOf } from '../../support/server.ts'

const root = mkdtempSync(join(tmpdir(), 'heddle-processes-'))
afterAll(() => rmSync(root, { recursive: true }))

describe('beside a server', () => {
  const newGate = useGates()
  const [data, backup] = [join(root, 'data'), join(root, 'a.db')]
  const here = ['--data', data, '--json']
  let server: ServerProcess
  beforeAll(async () => {
    server = await startServer({ project: 'conformance', dataDir: data,
      args: [...oneWorker, '--egress-allow', '127.0.0.1'] })
  })
  afterAll(() => server.close())

  it('a backup is made from which nothing goes on by itself, unless --go-on says so', async () => {
    const receiver = await openReceiver()
    const unfinished = await leaveUnfinished(server, newGate(), receiver.url)
    const made = await heddleProcess('backup', backup, ...here)
    expect([made.status, made.stderr]).toEqual([0, ''])
    await Promise.all([server.kill('SIGKILL'), receiver.close()])
    const back = await heddleProcess('restore', backup, '--data', join(root, 'b'), '--json')
    expect([back.status, back.stderr]).toEqual([0, ''])
    const { stopped } = JSON.parse(back.stdout) as { stopped: object }
    expect(stopped).toEqual({ runs: 3, webhooks: 1, crons: 1, rules: 1, experiments: 0 })
    expect(await awakeIn(join(root, 'b'), unfinished)).toEqual({
      runs: Array(3).fill('interrupted'),
      threads: 0,
      sleeping: 0,
      crons: 0,
      rules: 0,
    })
    expect((await heddle('restore', backup, '--data', join(root, 'c'), '--go-on')).status).toBe(0)
    expect(await awakeIn(join(root, 'c'), unfinished)).toEqual({
      runs: ['running', 'pending', 'pending'],
      threads: 1,
      sleeping: 1,
      crons: 1,
      rules: 1,
    })
  })
})

/** A thread and its run. */
type RunPlace = readonly [threadId: string, runId: string]

/** Leaves a run that waits, one behind it, one that is delayed, a webhook, a cron and a rule. */
async function leaveUnfinished(server: ServerProcess, gate: Gate,
  webhook: string): Promise<readonly RunPlace[]> {
  const { threads, runs, crons } = clientOf(server.url)
  const { thread_id: id } = await threads.create()
  const held = await startHeld(clientOf(server.url), id, gate, { payload: { webhook } })
  const second = await runs.create(id, 'echo', { input: say('second') })
  const { thread_id: later } = await threads.create()
  const delayed = await runs.create(later, 'echo', { input: say('later'), afterSeconds: 3_600 })
  await crons.create('echo',
    { schedule: '0 0 1 1 *', input: say('tick'), enabled: true } as Parameters<
      typeof crons.create
    >[1])
  const rules = ruleWire(server)
  await rules.rule({ display_name: 'all', sampling_rate: 1, webhooks: [{ url: webhook }],
    session_id: await rules.project('shop') })
  return [[id, held.runId], [id, second.run_id], [later, delayed.run_id]]
}

/** The states of runs in a data directory, and how much of it a server would go on with. */
async function awakeIn(directory: string, places: readonly RunPlace[]) {
  const env = systemEnv({ level: 'silent' })
  const store = await openEmbeddedStore({ directory, env })
  const { activations, router } = operatorActors(await placeOfStore(store, env), env,
    () => [catalogKind({ log: store.log, env })])
  const first = { atMs: 0, no: 0 }
  const runs = await Promise.all(
    places.map(([thread, run]) => store.runs.get('local', thread, run)),
  )
  const found = { runs: runs.map((run) => run?.status), threads: (await store.unfinished()).length,
    sleeping: (await store.due(first, 9)).length,
    crons: (await store.dueCrons(first, 9, Date.now())).length,
    rules: (await ruleRecords(catalogClient(router), env).awake.page()).length }
  await activations.close(AbortSignal.abort())
  await store.close()
  return found
}
