/** A worker that is left to what it does. */

import { expect, it } from 'vitest'

import { useGates } from '../../../support/gate.ts'
import { TestHost } from '../project/host-project.ts'

const gate = useGates()

/** Longer than it takes to give a silent worker up and to start the next one. */
const restMs = 15_000

it('A worker that spins is left to its only execution, and another takes its place.', async () => {
  const test = await TestHost.start(1)
  const spun = gate()
  const spinner = test.run('spin', { url: spun.url })
  await spun.arrived()
  spun.open()
  test.stall(5000)
  expect(await test.run('where', {}).end).toMatchObject({ status: 'success' })
  await test.pass(restMs)
  expect(spinner.emitted.every(({ kind }) => kind === 'steps')).toBe(true)
})
