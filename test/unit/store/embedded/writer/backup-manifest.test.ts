/** A backup that differs from its manifest is refused before anything is restored. */

import { randomUUID } from 'node:crypto'
import { copyFileSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync,
  truncateSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { backupEndings, beginBackup, beginRestore, manifestEnding, openEmbeddedStore,
  verifyBackup } from '../../../../../src/store/embedded/index.ts'
import type { ManifestUse } from '../../../../../src/store/embedded/index.ts'
import { openSpanStore } from '../../../../../src/store/embedded/platform/open.ts'
import { embeddedPlace } from '../../../../contract/embedded-place.ts'
import { aThread, textBody } from '../../../../contract/rows.ts'
import { virtualEnv } from '../../../../support/env.ts'

const env = virtualEnv()
const report = () => {}
const endings = [...backupEndings, manifestEnding]
const place = embeddedPlace()
const data = join(place.directory, 'data')
/** Two backups of one directory; a thread was added between them. */
const [first, second] = ['first', 'second'].map((name) => join(place.directory, name)) as [string,
  string]
let made = 0

beforeAll(async () => {
  for (const target of [first, second]) {
    const store = await openEmbeddedStore({ directory: data, env })
    await store.log.append([], [{ table: 'thread', row: aThread() }])
    await store.close()
    const spans = await openSpanStore({ directory: data, diskBytes: 2 ** 40 }, 'write')
    const owner = { tenant: 't', kind: 'commit', owner: randomUUID() } as const
    await spans.putDocuments(owner, [{ key: 'k', body: textBody(target.repeat(1_000)) }])
    await spans.close()
    const traces = new DatabaseSync(join(data, 'traces.db'))
    traces.exec('CREATE TABLE IF NOT EXISTS span (id INTEGER); INSERT INTO span VALUES (1)')
    traces.close()
    backUp(target)
  }
})
afterAll(() => place.remove())

function backUp(target: string, traces = true) {
  const options = { directory: data, target, traces, program: 'heddle 0.1.0+2988e945', atMs: 1_000 }
  return beginBackup({ ...options, report }).publish()
}

/** A copy of the first backup that may be damaged. */
function copied(): string {
  const backup = join(place.directory, `copy-${++made}`)
  for (const end of endings) copyFileSync(`${first}${end}`, `${backup}${end}`)
  return backup
}

/** Message of the refusal of both commands, of which neither writes anything. */
function refusalOf(backup: string, manifest: ManifestUse = 'expected'): string {
  const before = readdirSync(place.directory)
  const directory = join(place.directory, 'restored')
  const messages = [() => verifyBackup(backup, report),
    () => beginRestore({ backup, directory, manifest, report })].map((work) => {
      try {
        work()
        return ''
      } catch (error) {
        return (error as Error).message
      }
    })
  expect(readdirSync(place.directory)).toEqual(before)
  expect(messages[0]).toBe(messages[1])
  return messages[1]!.replaceAll(`${place.directory}/`, '')
}

/** Changes 64 bytes of a file, at a share of its length. */
function changeBytes(file: string, share: number) {
  const bytes = readFileSync(file)
  const from = Math.min(Math.floor(bytes.length * share), bytes.length - 64)
  for (let at = from; at < from + 64; at++) bytes[at]! ^= 0xff
  writeFileSync(file, bytes)
}

describe('a backup', () => {
  it('lists its files with sizes, hashes and rows, its moment and its program', () => {
    const { files, ...rest } = verifyBackup(second, report)
    expect(rest).toEqual({ format: 1, program: 'heddle 0.1.0+2988e945', atMs: 1_000, traces: true })
    expect(files.map(({ ending, bytes }) => [ending, bytes])).toEqual(
      backupEndings.map((ending) => [ending, statSync(`${second}${ending}`).size]),
    )
    expect(files.map(({ rows }) => rows)).toMatchObject([{ thread: 2, run: 0 }, { document: 2 }, {
      span: 2,
    }])
    expect(files.every(({ sha256 }) => /^[0-9a-f]{64}$/.test(sha256))).toBe(true)
    expect(statSync(`${second}${manifestEnding}`).mode & 0o777).toBe(0o600)
  })

  it.each(endings.flatMap((end) => [0.3, 0.6, 0.9].map((share) => [share, end] as const)))(
    'is refused if 64 bytes differ at %d of its file "%s"',
    (share, end) => {
      const backup = copied()
      changeBytes(`${backup}${end}`, share)
      expect(refusalOf(backup)).toMatch(`${basename(backup)}${end} is damaged`)
    },
  )

  it.each(endings)('is refused if its file "%s" is cut off', (end) => {
    const backup = copied()
    truncateSync(`${backup}${end}`, Math.floor(statSync(`${backup}${end}`).size / 2))
    expect(refusalOf(backup)).toMatch(`${basename(backup)}${end} is damaged`)
  })

  it.each(backupEndings.slice(1))('is refused if its file "%s" is missing', (end) => {
    const backup = copied()
    rmSync(`${backup}${end}`)
    expect(refusalOf(backup)).toBe(`${basename(backup)}${end} is missing: put all files of the ` +
      'backup together.')
  })

  it.each(endings)('is refused if its file "%s" is of another backup', (end) => {
    const backup = copied()
    copyFileSync(`${second}${end}`, `${backup}${end}`)
    const file = end === manifestEnding ? '.documents' : end
    expect(refusalOf(backup))
      .toMatch(`${basename(backup)}${file} is damaged or belongs to another backup: it has`)
  })

  it('is refused if it has a file that its manifest does not list', () => {
    const backup = join(place.directory, 'lean')
    backUp(backup, false)
    expect(existsSync(`${backup}.traces`)).toBe(false)
    copyFileSync(`${first}.traces`, `${backup}.traces`)
    expect(refusalOf(backup)).toBe('lean.traces is not part of this backup: move it away.')
  })

  it('is refused if its manifest is of a newer program', () => {
    const backup = copied()
    writeFileSync(`${backup}${manifestEnding}`, '{"format":2,"program":"heddle 9.0.0"}')
    expect(refusalOf(backup)).toContain('was written by a newer program (heddle 9.0.0): use that')
  })

  it('restores under another name', () => {
    const backup = join(place.directory, 'renamed')
    const copy = copied()
    for (const end of endings) renameSync(`${copy}${end}`, `${backup}${end}`)
    const directory = join(place.directory, `back-${++made}`)
    const { isChecked, publish } = beginRestore({ backup, directory, manifest: 'expected', report })
    publish()
    expect([isChecked, readdirSync(directory).toSorted()])
      .toEqual([true, ['documents.db', 'heddle.db', 'traces.db']])
  })

  it('reports how far the reading of a file is', () => {
    const done: number[] = []
    verifyBackup(first, (progress) => {
      if (progress.file === first) done.push(progress.done / progress.bytes)
    })
    expect([done[0], done.at(-1)]).toEqual([0, 1])
  })
})

describe('a manifest that is lost', () => {
  const lost = () => {
    const backup = copied()
    rmSync(`${backup}${manifestEnding}`)
    return backup
  }
  const restore = (backup: string, manifest: ManifestUse) => {
    const directory = join(place.directory, `back-${++made}`)
    const { isChecked, publish } = beginRestore({ backup, directory, manifest, report })
    publish()
    return { isChecked, directory }
  }

  it('is noticed by its backup', () => {
    expect(() => restore(lost(), 'expected')).toThrow(/manifest is missing, and .* made with it/)
  })

  it('is not needed to restore what is there, nor by later backups of that', async () => {
    const { isChecked, directory } = restore(lost(), 'ignored')
    expect(isChecked).toBe(false)
    // As an earlier version makes a backup, without a manifest.
    const earlier = join(place.directory, 'earlier')
    copyFileSync(join(directory, 'heddle.db'), earlier)
    expect(restore(earlier, 'expected').isChecked).toBe(false)
    expect(() => restore(earlier, 'required')).toThrow(/There is no .*earlier\.manifest to check/)
  })
})

it('A backup that cannot be completed leaves nothing behind.', () => {
  // A name may have 255 bytes, which only the draft of the manifest exceeds.
  const long = 'x'.repeat(256 - `${manifestEnding}-${process.pid}`.length)
  const before = readdirSync(place.directory)
  expect(() => backUp(join(place.directory, long), false)).toThrow(/cannot be written to/)
  expect(() =>
    beginBackup({ directory: data, target: join(place.directory, 'full'), program: '', atMs: 0,
      report: ({ work, file }) => {
        if (work === 'Copying' && file.endsWith('traces.db')) {
          throw Object.assign(new Error('write'), { code: 'ENOSPC' })
        }
      } })
  ).toThrow(/^The disk of .*full is full\./)
  expect(readdirSync(place.directory)).toEqual(before)
})
