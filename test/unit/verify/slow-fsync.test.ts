/** The library that delays `fsync` of a server. */

import { execFileSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect, it, onTestFinished } from 'vitest'

import { buildSlowFsync } from '../../../verify/targets/slow-fsync.ts'

/** Prints the milliseconds that `fsync` and `fdatasync` of a file take together. */
const program = `
  const { closeSync, fdatasyncSync, fsyncSync, openSync } = require('node:fs')
  const file = openSync(process.argv[1], 'w')
  const startMs = performance.now()
  fsyncSync(file)
  fdatasyncSync(file)
  console.log(performance.now() - startMs)
  closeSync(file)`

it('A server with the library waits in each call while the fault lasts.', async ({ skip }) => {
  const folder = await mkdtemp(join(tmpdir(), 'heddle-fsync-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const slow = await buildSlowFsync(folder)
  if (slow === undefined) return skip('There is no C compiler.')
  const measure = () =>
    Number(execFileSync(process.execPath, ['-e', program, join(folder, 'file')], {
      env: { ...process.env, ...slow.env },
      encoding: 'utf8',
    }))
  await slow.during(async () => {
    expect(measure()).toBeGreaterThan(600)
  })
})
