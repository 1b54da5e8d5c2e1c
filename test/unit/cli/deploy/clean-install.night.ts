/** A clean build says what the real npm said when it fails. */

import { afterEach, expect, it, vi } from 'vitest'

import { withCleanInstall } from '../../../../src/cli/deploy/clean-install.ts'
import { platformHere } from '../../../../src/revision/index.ts'
import { smallProject } from '../control/small-project.ts'

afterEach(() => void vi.unstubAllEnvs())

it.each(['notice', 'silent'])('A clean build says what npm said, at the level %s.',
  async (level) => {
    vi.stubEnv('npm_config_loglevel', level)
    const folder = await smallProject({ 'package-lock.json': '{"lockfileVersion": 0}' })
    await expect(withCleanInstall({ config: folder, platform: platformHere(), build: async () => {
      throw new Error('never')
    } })).rejects.toThrow(/^npm ci could not install the packages:\n.*npm /)
  })
