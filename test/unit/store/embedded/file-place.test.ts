/** A database whose files are removed or replaced is noticed before the next write. */

import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

import { systemEnv } from '../../../../cluster/index.ts'
import { FilePlace } from '../../../../src/store/embedded/file-place.ts'
import { embeddedPlace } from '../../../contract/embedded-place.ts'

const names = ['heddle.db', 'heddle.db-wal', 'heddle.db-ahead']

const now = systemEnv()
/** To which a directory that was just made is old: it is looked at alone. */
const later = { nowMs: () => now.nowMs() + 60_000 }

const clocks = [
  { title: 'each time', clock: undefined }, { title: 'after a change', clock: now },
  { title: 'only if the directory changed', clock: later },
]

describe.each(clocks)('files that are looked at $title', ({ clock }) => {
  let place: ReturnType<typeof embeddedPlace>
  let path: string
  beforeEach(() => {
    place = embeddedPlace()
    path = join(place.directory, 'data', 'heddle.db')
    fill(dirname(path))
  })
  afterEach(() => place.remove())

  it.each(names)('are missed if %s is removed, also after other changes', (name) => {
    const files = new FilePlace(path, clock)
    for (let n = 0; n < 3; n++) files.check()
    writeFileSync(join(dirname(path), 'other'), '')
    for (let n = 0; n < 3; n++) files.check()
    rmSync(join(dirname(path), name))
    for (let n = 0; n < 3; n++) expect(() => files.check()).toThrow('was removed or replaced')
  })

  it.each(names)('are missed if another file takes the place of %s', (name) => {
    const files = new FilePlace(path, clock)
    files.check()
    const other = join(place.directory, 'other')
    writeFileSync(other, name)
    renameSync(other, join(dirname(path), name))
    expect(() => files.check()).toThrow('was removed or replaced')
  })

  it('are missed if their directory is moved away, also if another takes its place', () => {
    const files = new FilePlace(path, clock)
    files.check()
    renameSync(dirname(path), join(place.directory, 'moved'))
    expect(() => files.check()).toThrow('was removed or replaced')
    fill(dirname(path))
    expect(() => files.check()).toThrow('was removed or replaced')
  })
})

function fill(directory: string): void {
  mkdirSync(directory)
  for (const name of names) writeFileSync(join(directory, name), name)
}
