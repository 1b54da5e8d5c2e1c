/** The workers of a project that changes again before they have loaded it. */

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
