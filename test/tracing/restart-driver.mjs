/**
 * Traces for some seconds, whatever happens to the server, then reads back what must be there.
 *
 * Usage: node restart-driver.mjs <base URL> <name of the project>
 */

import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'

import { Client } from 'langsmith'
import { traceable } from 'langsmith/traceable'

import { check, collect } from './report.mjs'

const [apiUrl, project] = process.argv.slice(2)
const client = new Client({ apiUrl, apiKey: 'a key' })
const options = { client, project_name: project, tracingEnabled: true }

const step = traceable(async (value) => value + 1, { ...options, name: 'step' })
const work = traceable(async (value) => {
  await pause(20)
  return step(value)
}, { ...options, name: 'work' })

await check('all that was traced is there, once', async () => {
  const count = 200
  const traced = []
  for (let index = 0; index < count; index += 1) {
    traced.push(work(index))
    await pause(20)
  }
  await Promise.all(traced)
  await client.awaitPendingTraceBatches()
  const runs = await collect(client.listRuns({ projectName: project }))
  const numbers = Array.from({ length: count }, (_, index) => index)
  for (const name of ['work', 'step']) {
    const found = runs.filter((run) => run.name === name)
    assert.deepEqual(found.map((run) => run.outputs?.outputs - 1).sort((a, b) => a - b), numbers)
    assert.ok(found.every((run) => run.status === 'success'))
  }
})
