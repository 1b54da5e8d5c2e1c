/** The workers of a project that changes before they have loaded it, or has an unknown engine. */

import { expect, it } from 'vitest'

import { hostProject, TestHost } from '../project/host-project.ts'

it('A host serves the last of several changes, and none of the others is a failure', async () => {
  const test = await TestHost.start(1)
  const projects = await Promise.all(
    ['one', 'two', 'three'].map((name) => hostProject(`export const ${name} = where`)),
  )
  const opened = projects.map((project) => test.host.reload(project))
  expect(await Promise.all(opened)).toEqual(['superseded', 'superseded', 'serving'])
  expect(['one', 'two', 'three'].map((name) => test.host.describe(name) !== undefined))
    .toEqual([false, false, true])
  expect(await test.run('three', {}).end).toMatchObject({ status: 'success' })
})

it('A host says once that it does not know the engine of a project, and serves it', async () => {
  const test = await TestHost.start(2, await hostProject(`
    import { Pregel } from '@langchain/langgraph/pregel'
    const { stream } = Pregel.prototype
    Pregel.prototype.stream = function (...given) { return stream.apply(this, given) }`))
  const warnings = test.env.lines.filter(({ level }) => level === 'warn')
  expect(warnings).toMatchObject([{ details: { without: ['bare-stream'] } }])
  expect(await test.run('where', {}).end).toMatchObject({ status: 'success' })
})
