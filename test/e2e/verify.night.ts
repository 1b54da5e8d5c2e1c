/** `npm run verify` against the current server, with a new seed in each nightly run. */

import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '../..')
const seed = Number(process.env['HEDDLE_SEED'] ?? Date.now() % 1_000_000)

it(`Random operations and kills break no rule for 5 minutes (HEDDLE_SEED=${seed}).`, async () => {
  const history = await mkdtemp(join(tmpdir(), 'heddle-verify-'))
  // It rejects with the output if the exit code is not 0. The histories are kept then.
  const { stdout } = await promisify(execFile)(process.execPath, ['verify/main.ts', '--minutes',
    '5', '--seed', String(seed), '--history', history], { cwd: root })
  expect(stdout).toContain('none broken')
  await rm(history, { recursive: true })
})
