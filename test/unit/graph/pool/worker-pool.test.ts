/** The workers of a project that changes, or has an unknown engine. */

import { setTimeout } from 'node:timers/promises'

import { expect, it } from 'vitest'

import { useGates } from '../../../support/gate.ts'
import { hostProject, TestHost } from '../project/host-project.ts'

const gate = useGates()

it('A host says once that it does not know the engine of a project, and serves it', async () => {
  const test = await TestHost.start(2, await hostProject(`
    import { Pregel } from '@langchain/langgraph/pregel'
    const { stream } = Pregel.prototype
    Pregel.prototype.stream = function (...given) { return stream.apply(this, given) }`))
  const warnings = test.env.lines.filter(({ level }) => level === 'warn')
  expect(warnings).toMatchObject([{
    details: { without: ['bare-stream'], version: '1.4.18', nearestKnown: '1.4.18' },
  }])
  expect(await test.run('where', {}).end).toMatchObject({ status: 'success' })
})

it('A host serves the last of several changes; runs of the old project have 30 s to end.',
  async () => {
    const test = await TestHost.start(1)
    const [soon, never] = [gate(), gate()]
    const [ended, left] = [soon, never].map(({ url }) => test.run('hold', { url }))
    await Promise.all([soon.arrived(), never.arrived()])
    const projects = await Promise.all(
      ['one', 'two', 'three'].map((name) => hostProject(`export const ${name} = where`)),
    )
    const opened = projects.map((project) => test.host.reload(project))
    expect(await Promise.all(opened)).toEqual(['superseded', 'superseded', 'serving'])
    expect(['one', 'two', 'three'].map((name) => test.host.describe(name) !== undefined))
      .toEqual([false, false, true])
    expect(await test.run('three', {}).end).toMatchObject({ status: 'success' })
    soon.open()
    expect(await ended!.end).toMatchObject({ status: 'success' })
    // A worker that is silent for longer counts as stuck: each has time to answer in between.
    for (let passed = 0; passed < 31_000; passed += 3_500) {
      test.stall(3_500)
      await test.host.drawable('where', false)
      await setTimeout(60)
    }
    expect(await Promise.race([left!.end, setTimeout(10_000, 'goes on')])).toBe('displaced')
    never.open()
  })
