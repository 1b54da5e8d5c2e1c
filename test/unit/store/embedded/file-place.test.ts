/** A database whose files are removed or replaced is noticed before the next write. */

import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

import { systemEnv } from '../../../../cluster/index.ts'
import { FilePlace } from '../../../../src/store/embedded/file-place.ts'
import type { Seen } from '../../../../src/store/embedded/file-place.ts'
import { embeddedPlace } from '../../../contract/embedded-place.ts'

const names = ['heddle.db', 'heddle.db-wal', 'heddle.db-ahead']
const lost = 'was removed or replaced'

describe.each([{}, { clock: systemEnv() }])('files on a disk, with $clock', (options) => {
  let place: ReturnType<typeof embeddedPlace>
  let path: string
  beforeEach(() => {
    place = embeddedPlace()
    path = join(place.directory, 'data', 'heddle.db')
    fill(dirname(path))
  })
  afterEach(() => place.remove())

  it.each(names)('are missed if %s is removed', (name) => {
    const files = new FilePlace(path, options)
    files.check()
    rmSync(join(dirname(path), name))
    for (let n = 0; n < 3; n++) expect(() => files.check()).toThrow(lost)
  })

  it.each(names)('are missed if another file takes the place of %s', (name) => {
    const files = new FilePlace(path, options)
    files.check()
    const other = join(place.directory, 'other')
    writeFileSync(other, name)
    renameSync(other, join(dirname(path), name))
    expect(() => files.check()).toThrow(lost)
  })

  it('are missed if their directory is moved away, also if another takes its place', () => {
    const files = new FilePlace(path, options)
    files.check()
    renameSync(dirname(path), join(place.directory, 'moved'))
    expect(() => files.check()).toThrow(lost)
    fill(dirname(path))
    expect(() => files.check()).toThrow(lost)
  })
})

function fill(directory: string): void {
  mkdirSync(directory)
  for (const name of names) writeFileSync(join(directory, name), name)
}

describe('a directory that has not changed for so long', () => {
  const path = '/data/heddle.db'
  let seen: Record<string, Seen>
  let looks: string[]
  let nowMs: number
  beforeEach(() => {
    const inodes = ['/data', ...names.map((name) => join('/data', name))]
    seen = Object.fromEntries(inodes.map((each, ino) => [each, { ino, ctimeMs: 100_000 }]))
    looks = []
  })

  const place = ({ ageMs }: { ageMs: number }) => {
    nowMs = 100_000 + ageMs
    const look = (each: string) => {
      looks.push(each)
      return seen[each]
    }
    const files = new FilePlace(path, { clock: { nowMs: () => nowMs }, look })
    files.check()
    looks = []
    return files
  }

  it('is looked at alone', () => {
    const files = place({ ageMs: 3_000 })
    for (let n = 0; n < 3; n++) files.check()
    expect(looks).toEqual(['/data', '/data', '/data'])
  })

  it.each([{ what: 'has a new time', directory: { ino: 0, ctimeMs: 103_000 } },
    { what: 'is another', directory: { ino: 9, ctimeMs: 100_000 } }])('and then $what: its files ' +
    'are looked at', ({ directory }) => {
    const files = place({ ageMs: 3_000 })
    seen['/data'] = directory
    files.check()
    expect(looks).toEqual(['/data', ...names.map((name) => join('/data', name))])
    seen['/data'] = { ...directory, ctimeMs: 104_000 }
    delete seen[path]
    expect(() => files.check()).toThrow(lost)
  })

  it('but only so briefly that a change may not show is not relied on', () => {
    const files = place({ ageMs: 1_000 })
    nowMs += 3_000
    delete seen[path]
    expect(() => files.check()).toThrow(lost)
  })
})
