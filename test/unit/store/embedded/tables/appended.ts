/** Starts the process that appends, and checks what it has left. */

import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'

import { bodyText } from '../../../../contract/rows.ts'
import type { OpenStore } from '../../../../contract/store-place.ts'

const script = fileURLToPath(new URL('../writer/appending-process.ts', import.meta.url))

export function startAppending(directory: string, branchIds: readonly string[]): ChildProcess {
  return spawn(process.execPath, [script, directory, ...branchIds], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

/** Expects every row up to the newest to be complete, and the thread's row to match the newest. */
export async function expectWhole(store: OpenStore, id: string,
  acknowledged: number): Promise<void> {
  const branch = { id, ancestors: [] }
  const rows = await store.log.read(branch, { from: 1, through: Number.MAX_SAFE_INTEGER })
  expect(rows.length).toBeGreaterThanOrEqual(acknowledged)
  for (const [index, { seq, body }] of rows.entries()) {
    expect(seq).toBe(index + 1)
    expect(bodyText(body)).toBe(`${id} ${seq} ${'.'.repeat(seq * 37 % 5_000)}`)
  }
  const newest = rows.length
  expect(await store.log.findCheckpoint(branch, `${id} ${newest}`)).toMatchObject({ seq: newest })
  expect(await store.threads.get('local', id)).toMatchObject({ seq: newest, updatedAtMs: newest })
}
