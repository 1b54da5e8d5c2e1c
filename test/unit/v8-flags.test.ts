/** The V8 flags of the server: this Node knows them, and tests run with them as well. */

import { spawnSync } from 'node:child_process'

import { expect, it } from 'vitest'

import { v8Flags } from '../../src/v8-flags.ts'

it('V8 knows all flags.', () => {
  const { status, stderr } = spawnSync(process.execPath, [...v8Flags, '--eval', ''])
  expect(`${status} ${stderr}`).toBe('0 ')
})

it('The processes of tests have the flags.', () => {
  expect(process.execArgv).toEqual(expect.arrayContaining([...v8Flags]))
})
