/** A database whose files are removed or replaced is noticed before the next write. */

import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

import { systemEnv } from '../../../../../cluster/index.ts'
import { FileIdentity } from '../../../../../src/store/embedded/durable/file-identity.ts'
import type { Seen } from '../../../../../src/store/embedded/durable/file-identity.ts'
import { embeddedPlace } from '../../../../contract/embedded-place.ts'

const names = ['heddle.db', 'heddle.db-wal', 'heddle.db-ahead']
const lost = 'was removed or replaced'

const ways = [{ how: 'each time', options: {} }, { how: 'after a change',
  options: { clock: systemEnv() } }]

describe.each(ways)('files that are looked at $how', ({ options }) => {
  let place: ReturnType<typeof embeddedPlace>
  let path: string
  beforeEach(() => {
    place = embeddedPlace()
    path = join(place.directory, 'data', 'heddle.db')
    fill(dirname(path))
  })
  afterEach(() => place.remove())

  it.each(names)('are missed if %s is removed', (name) => {
    const files = new FileIdentity(path, options)
    files.check()
    rmSync(join(dirname(path), name))
    for (let n = 0; n < 3; n++) expect(() => files.check()).toThrow(lost)
  })

  it.each(names)('are missed if another file takes the place of %s', (name) => {
    const files = new FileIdentity(path, options)
    files.check()
    const other = join(place.directory, 'other')
    writeFileSync(other, name)
    renameSync(other, join(dirname(path), name))
    expect(() => files.check()).toThrow(lost)
  })

  it('are missed if their directory is moved away, also if another takes its place', () => {
    const files = new FileIdentity(path, options)
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

describe('the directory of the files', () => {
  const path = '/data/heddle.db'
  const paths = ['/data', ...names.map((name) => join('/data', name))]
  let seen: Map<string, Seen>
  let looks: string[]
  let nowMs: number
  /** How long it takes to look at something. */
  let lookMs: number
  beforeEach(() => {
    seen = new Map(paths.map((each, ino) => [each, { ino, ctimeMs: 100_000 }]))
    looks = []
    lookMs = 0
  })

  /** It has not changed for so long when the files are first checked. */
  const checked = (ageMs: number, slowMs = 0) => {
    nowMs = 100_000 + ageMs
    const look = (each: string) => {
      nowMs += lookMs
      looks.push(each)
      return seen.get(each)
    }
    const files = new FileIdentity(path, { clock: { nowMs: () => nowMs }, look })
    lookMs = slowMs
    files.check()
    looks = []
    return files
  }

  it('is looked at alone if it has not changed for some seconds', () => {
    const files = checked(3_000)
    for (let n = 0; n < 3; n++) files.check()
    expect(looks).toEqual(['/data', '/data', '/data'])
  })

  it.each([{ what: 'has a new time', directory: { ino: 0, ctimeMs: 103_000 } }, {
    what: 'is another one',
    directory: { ino: 9, ctimeMs: 100_000 },
  }])('is not looked at ' +
    'alone if it $what', ({ directory }) => {
    const files = checked(3_000)
    seen.set('/data', directory)
    files.check()
    expect(looks).toEqual(paths)
    seen.set('/data', { ...directory, ctimeMs: 104_000 }).delete(path)
    expect(() => files.check()).toThrow(lost)
  })

  it.each([{ when: 'just before', slowMs: 0 }, { when: 'just before a slow look', slowMs: 3_000 }])(
    'is not relied on if it changed $when',
    ({ slowMs }) => {
      const files = checked(1_000, slowMs)
      nowMs += 3_000
      seen.delete(path)
      expect(() => files.check()).toThrow(lost)
    },
  )
})
