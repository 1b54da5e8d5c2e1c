/** What V8 is told: flags that this Node knows, in the server and in the tests. */

import { spawnSync } from 'node:child_process'

import { expect, it } from 'vitest'

import { v8Flags } from '../../src/v8-flags.ts'

it('consists of flags that V8 knows', () => {
  const { status, stderr } = spawnSync(process.execPath, [...v8Flags, '--eval', ''])
  expect(`${status} ${stderr}`).toBe('0 ')
})

it('is told to the processes of tests', () => {
  expect(process.execArgv).toEqual(expect.arrayContaining([...v8Flags]))
})
