/** A data directory that cannot be used is reported before anything of the project is loaded. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect, it, onTestFinished, vi } from 'vitest'

import { openServer } from '../../../src/server/server.ts'
import { resolveSettings } from '../../../src/settings/index.ts'
import { virtualEnv } from '../../support/env.ts'

it('refuses a data directory that cannot be written before it loads the project', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'heddle-data-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'langgraph.json'), '{"graphs": {"agent": "./agent.ts:graph"}}')
  writeFileSync(join(folder, 'agent.ts'), '')
  const loading = vi.spyOn(process, 'chdir').mockImplementation(() => {})
  onTestFinished(() => loading.mockRestore())
  const data = join(folder, 'agent.ts', 'data')
  const settings = resolveSettings({ folder, environment: {}, options: { config: folder, data },
    starter: folder })
  await expect(openServer(settings, virtualEnv(), () => {})).rejects.toThrow(
    `The data directory ${data} cannot be written (ENOTDIR): allow this user to write there, or ` +
      'choose another one with --data (or HEDDLE_DATA_DIR).',
  )
  expect(loading).not.toHaveBeenCalled()
})
