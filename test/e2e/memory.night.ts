/** The process does not grow with the runs that it has served. */

import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { say } from '../support/run-events.ts'
import { useServer } from '../support/server.ts'

const server = useServer({ project: 'conformance' })
const megabyte = 1_000_000

/** Resident megabytes of the server's process, from Linux. */
function residentMb(): number {
  const status = readFileSync(`/proc/${server.process.pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)![1]) / 1_024
}

async function runs(count: number): Promise<void> {
  const input = say('x'.repeat(megabyte))
  for (let n = 0; n < count; n += 1) {
    const stream = server.client.runs.stream(null, 'echo', { input, streamResumable: true })
    for await (const _ of stream);
  }
}

it.runIf(process.platform === 'linux')(
  'Runs without a thread leave no memory behind, however large',
  async () => {
    await runs(60)
    const grown: number[] = []
    // V8 frees late, and once more than it needed before. What is kept grows in every round.
    while (grown.length < 3 && !(grown.at(-1)! < 200)) {
      const before = residentMb()
      await runs(120)
      grown.push(residentMb() - before)
    }
    // Each has at least four megabytes in its stream: kept, they would be half a gigabyte.
    expect(Math.min(...grown)).toBeLessThan(200)
  },
  300_000,
)
