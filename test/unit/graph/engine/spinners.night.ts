/** Several graphs that never return: how long they keep the others waiting, in real time. */

import { expect, it, onTestFinished } from 'vitest'

import { systemEnv } from '../../../../cluster/index.ts'
import { startGraphHost } from '../../../../src/graph/index.ts'
import { useGates } from '../../../support/gate.ts'
import { ModelLog } from '../../../support/model-log.ts'
import { executionOf, hostProject } from '../project/host-project.ts'

const gate = useGates()

it('Four of them on two workers delay a run twice by five seconds and a new worker.', async () => {
  const env = systemEnv({ level: 'silent' })
  const host = await startGraphHost({ env, workers: 2, project: await hostProject() })
  onTestFinished(() => host.close())
  let ids = 0
  /** Resolves when the run has ended, after as many workers as that takes. */
  const run = async (graphId: string, input: object, name: string): Promise<unknown> => {
    const end = Promise.withResolvers<unknown>()
    const log = new ModelLog()
    host.execute(executionOf({ id: ++ids, graphId, input, threadId: name, runId: name }), log, {
      steps: async (batch) => {
        log.append(batch.steps)
      },
      ended: end.resolve,
      lost: end.resolve,
    })
    const ended = await end.promise
    return ended === 'displaced' ? run(graphId, input, name) : ended
  }
  await expect.poll(() => host.stats().ready).toBe(2)
  const held = gate()
  for (const name of ['a', 'b', 'c', 'd']) void run('spin', { url: held.url }, name)
  await held.arrived(4)
  const beganMs = env.monotonicMs()
  held.open()
  expect(await run('where', {}, 'innocent')).toMatchObject({ status: 'success' })
  const loadMs = 5_000
  expect(env.monotonicMs() - beganMs).toBeLessThan(2 * (5_000 + loadMs))
})
