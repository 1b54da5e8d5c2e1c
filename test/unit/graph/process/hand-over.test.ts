/** Orderly ends of graph processes: what follows the outcome of a run arrives before. */

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

import { expect, it, onTestFinished } from 'vitest'

import type { TraceBody } from '../../../../src/graph/engine/step-traces.ts'
import { startProcess } from './process-host.ts'

const success = { status: 'success' }
const [apartId, runId] = ['1', '2'].map((digit) => `0197aaaa-0000-7000-8000-00000000000${digit}`)

async function answering(): Promise<string> {
  const server = createServer((_request, response) => void response.end('fine'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

it('writes the recordings of runs before their process, or their own one, ends', async () => {
  const url = await answering()
  const test = await startProcess({ record: 'all', tracedRatio: 1 })
  const bodies: TraceBody[] = []
  test.host.useTraces(async (body) => void bodies.push(body))
  const recorded = () => bodies.flatMap((body) => body.form === 'recording' ? [body.runId] : [])
  // A process of its own ends as soon as its run has ended.
  const apart = test.run('hold', { url }, { apart: true, runId: apartId! })
  expect(await apart.end).toMatchObject(success)
  await expect.poll(() => test.host.stats().underWay).toBe(0)
  const run = test.run('hold', { url }, { runId: runId! })
  expect(await run.end).toMatchObject(success)
  await test.host.close()
  expect(recorded().toSorted()).toEqual([apartId, runId])
  // Steps are written as well.
  expect(bodies.some(({ form }) => form !== 'recording')).toBe(true)
  expect(test.env.lines.filter(({ level }) => level === 'warn')).toEqual([])
})
