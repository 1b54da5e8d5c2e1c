/** A backup comes back into an empty directory, and nothing in it goes on by itself. */

import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, expect, it } from 'vitest'

import { heddleProcess } from '../../support/command.ts'
import { useGates } from '../../support/gate.ts'
import { startHeld } from '../../support/held-run.ts'
import { openReceiver } from '../../support/receiver.ts'
import { ruleWire } from '../../support/rules.ts'
import { say } from '../../support/run-events.ts'
import { oneWorker, startServer } from '../../support/server-process.ts'
import type { ServerProcess } from '../../support/server-process.ts'
import { clientOf } from '../../support/server.ts'

const root = mkdtempSync(join(tmpdir(), 'heddle-restore-'))
afterAll(() => rmSync(root, { recursive: true }))

const newGate = useGates()

let server: ServerProcess | undefined
afterEach(() => server?.close())

const start = async (data: string) => {
  server = await startServer({ project: 'conformance', dataDir: join(root, data),
    args: [...oneWorker, '--egress-allow', '127.0.0.1'] })
  return server
}

it('A restore starts nothing, unless --go-on says so.', async () => {
  const [gate, receiver] = [newGate(), await openReceiver()]
  try {
    const first = await start('data')
    const client = clientOf(first.url)
    const { thread_id: id } = await client.threads.create()
    const held = await startHeld(client, id, gate, { payload: { webhook: receiver.url } })
    const second = await client.runs.create(id, 'echo', { input: say('second') })
    const { thread_id: later } = await client.threads.create()
    const delayed = await client.runs.create(later, 'echo', { input: say('later'),
      afterSeconds: 3_600 })
    const cron = await client.crons.create('echo',
      { schedule: '* * * * *', input: say('tick'), enabled: true } as Parameters<
        typeof client.crons.create
      >[1])
    const rules = ruleWire(first)
    const rule = await rules.rule({ display_name: 'all', sampling_rate: 1, webhooks: [{
      url: receiver.url,
    }], session_id: await rules.project('shop') })
    const made = await heddleProcess('backup', join(root, 'a.db'), '--data', join(root, 'data'),
      '--json')
    expect(made.status).toBe(0)
    expect(JSON.parse(made.stdout)).toMatchObject({ file: join(root, 'a.db'),
      bytes: expect.any(Number) })
    await first.close()
    const [sent, arrivals] = [receiver.received.length, gate.count()]

    const back = await heddleProcess('restore', join(root, 'a.db'), '--data', join(root, 'b'),
      '--json')
    expect([back.status, back.stderr]).toEqual([0, ''])
    const { stopped } = JSON.parse(back.stdout) as { stopped: Record<string, number> }
    expect(stopped).toMatchObject({ webhooks: 1, crons: 1, rules: 1 })
    expect(stopped['runs']).toBeGreaterThanOrEqual(3)
    expect(readdirSync(join(root, 'b')).filter((name) => name.startsWith('restoring'))).toEqual([])

    const restored = await start('b')
    const after = clientOf(restored.url)
    for (const [thread, run] of [[id, held.runId], [id, second.run_id], [later, delayed.run_id]]) {
      expect(await after.runs.get(thread!, run!)).toMatchObject({ status: 'interrupted' })
    }
    const [found] = await after.crons.search({ limit: 5 })
    expect(found).toMatchObject({ cron_id: cron.cron_id, enabled: false })
    expect((await ruleWire(restored).send('GET', `/runs/rules?id=${rule}`)).body)
      .toMatchObject([{ is_enabled: false }])
    // A new run works, and is the only one that is executed.
    await after.runs.wait(later, 'echo', { input: say('new') })
    expect([receiver.received.length, gate.count()]).toEqual([sent, arrivals])
    await restored.close()

    expect(
      (await heddleProcess('restore', join(root, 'a.db'), '--data', join(root, 'c'), '--go-on'))
        .stdout,
    ).toContain('goes on with what was unfinished')
    const arrived = gate.arrived(gate.count() + 1)
    const continued = await start('c')
    await arrived
    await continued.close()
  } finally {
    await receiver.close()
  }
})
