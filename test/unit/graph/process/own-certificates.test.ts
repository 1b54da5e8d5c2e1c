/** Certificates of a deployment, which Node opens before any permission applies. */

import { mkdir, realpath, symlink } from 'node:fs/promises'
import { join } from 'node:path'

import { expect, it } from 'vitest'

import { ownCertificates } from '../../../../src/graph/process/own-certificates.ts'
import { writeProject } from '../project/project-files.ts'

it('are a file of the revision, also by a path from the folder of the project', async () => {
  const folder = await realpath(await writeProject({ 'app/agent.ts': '', 'ca.pem': 'x' }))
  const root = join(folder, 'app')
  const file = join(folder, 'ca.pem')
  expect(ownCertificates('../ca.pem', { root, folder })).toBe(file)
  expect(ownCertificates(file, { root, folder })).toBe(file)
})

it('are no file outside of the revision, no link to it and no folder', async () => {
  const folder = await writeProject({ 'agent.ts': '' })
  await symlink('/etc/passwd', join(folder, 'link.pem'))
  await mkdir(join(folder, 'folder'))
  for (const named of ['/etc/passwd', '../../../../../etc/passwd', 'link.pem', 'folder', 'none', '',
    '/proc/self/environ', '/dev/zero']) {
    expect(ownCertificates(named, { root: folder, folder })).toBeUndefined()
  }
})
