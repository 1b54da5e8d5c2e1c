/** A burst of honest runs: nobody waits for more than a few of them, and no worker is lost. */

import { expect, it } from 'vitest'

import { burstOf, waitFor, workersLost } from '../support/burst.ts'
import { useServer } from '../support/server.ts'

const server = useServer({ project: 'computing', args: ['--workers', '2'] })

it('One run beside 60 in the background waits for a few of their nodes', async () => {
  const sender = { url: server.url }
  // Both workers learn how long nodes take, and what a run costs is compiled.
  await Promise.all([waitFor(sender, 40), waitFor(sender, 40)])
  const seen = await burstOf(Array.from({ length: 60 }, () => [40]), [sender], sender)
  expect(seen).toMatchObject({ ended: 60, begun: 60, nodes: 60 })
  // Two workers are at two nodes when it comes. The others are what a busy machine is late with:
  // in the order of their coming, all 60 would end before it.
  expect(seen.endedBeside).toBeLessThan(40)
  expect(await workersLost(server.url)).toBe(0)
})
