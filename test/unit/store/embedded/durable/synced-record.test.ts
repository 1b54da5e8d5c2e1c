/** What the write-ahead file acknowledges has been flushed to the disk before. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'

import { createWriteAhead,
  WriteAheadFile } from '../../../../../src/store/embedded/durable/write-ahead-file.ts'
import { packWrites } from '../../../../../src/store/embedded/requests/wire-batch.ts'
import { virtualEnv } from '../../../../support/env.ts'

const { calls, failing } = vi.hoisted(() => ({ calls: [] as string[], failing: { flush: false } }))

vi.mock('node:fs', async (original) => {
  const real = await original<typeof import('node:fs')>()
  return {
    ...real,
    writevSync: (...given: Parameters<typeof real.writevSync>) => {
      calls.push('write')
      return real.writevSync(...given)
    },
    fdatasyncSync: (file: number) => {
      calls.push('flush')
      if (failing.flush) throw Object.assign(new Error('the disk failed'), { code: 'EIO' })
      real.fdatasyncSync(file)
    },
  }
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
  failing.flush = true
  onTestFinished(() => {
    failing.flush = false
  })
  expect(file.append(packWrites([{ kind: 'cover', shard: 1 }]), 1)).toBe(false)
})
