/** What the write-ahead file acknowledges has been flushed to the disk before. */

import fs, { mkdtempSync, rmSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest'

import { createWriteAhead,
  WriteAheadFile } from '../../../../../src/store/embedded/durable/write-ahead-file.ts'
import { packWrites } from '../../../../../src/store/embedded/requests/wire-batch.ts'
import { virtualEnv } from '../../../../support/env.ts'

const calls: string[] = []
let failsToFlush = false

// The functions of `node:fs` themselves are replaced: other tests share its modules.
beforeEach(() => {
  const { writevSync, fdatasyncSync } = fs
  failsToFlush = false
  vi.spyOn(fs, 'writevSync').mockImplementation((...given) => {
    calls.push('write')
    return writevSync(...given)
  })
  vi.spyOn(fs, 'fdatasyncSync').mockImplementation((file) => {
    calls.push('flush')
    if (failsToFlush) throw Object.assign(new Error('the disk failed'), { code: 'EIO' })
    fdatasyncSync(file)
  })
  syncBuiltinESMExports()
})

afterEach(() => {
  vi.restoreAllMocks()
  syncBuiltinESMExports()
})

function openFile(): WriteAheadFile {
  const folder = mkdtempSync(join(tmpdir(), 'heddle-ahead-'))
  const database = join(folder, 'heddle.db')
  createWriteAhead(database)
  const file = new WriteAheadFile(database, virtualEnv(), { salt: 1 })
  onTestFinished(() => {
    file.close()
    rmSync(folder, { recursive: true })
  })
  calls.length = 0
  return file
}

it('flushes each record to the disk before it is acknowledged', () => {
  const file = openFile()
  const batch = packWrites([{ kind: 'cover', shard: 1 }])
  expect(file.append(batch, 1)).toBe(true)
  expect(calls).toEqual(['write', 'flush'])
  expect(file.append(batch, 2)).toBe(true)
  expect(calls).toEqual(['write', 'flush', 'write', 'flush'])
})

it('acknowledges nothing that could not be flushed', () => {
  const file = openFile()
  failsToFlush = true
  expect(file.append(packWrites([{ kind: 'cover', shard: 1 }]), 1)).toBe(false)
})
