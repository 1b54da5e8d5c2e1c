/** A simulated cluster that serves the operations of the verification, by its command. */

import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

import { expect, it } from 'vitest'

const command = fileURLToPath(new URL('../../../verify/main.ts', import.meta.url))

it('breaks no rule of the verification', () => {
  const args = [command, '--target', 'in-process', '--seed', '5', '--operations', '100']
  const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  expect(status, stdout).toBe(0)
  expect(stdout).toMatch(/^Seed 5: 100 operations, \d+ calls, .* broken in 0 worlds/m)
}, 120_000)
