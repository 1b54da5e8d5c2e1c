/** A clean build says what the real npm said when it fails. */

import { expect, it } from 'vitest'

import { withCleanInstall } from '../../../../src/cli/deploy/clean-install.ts'
import { platformHere } from '../../../../src/revision/index.ts'
import { smallProject } from '../control/small-project.ts'

it('A clean build says what npm said when it fails.', async () => {
  const folder = await smallProject({ 'package-lock.json': '{"lockfileVersion": 0}' })
  await expect(withCleanInstall({ config: folder, platform: platformHere(), build: async () => {
    throw new Error('never')
  } })).rejects.toThrow(/^npm ci could not install the packages:\n.*npm /)
})
