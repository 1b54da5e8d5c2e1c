/** A backup has all that was acknowledged before it began, and does not disturb who writes. */

import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync,
  writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

import { beginBackup, beginRestore,
  openEmbeddedStore } from '../../../../../src/store/embedded/index.ts'
import { openSpanStore } from '../../../../../src/store/embedded/platform/open.ts'
import { embeddedPlace } from '../../../../contract/embedded-place.ts'
import { aBranch, aRow, aThread, textBody } from '../../../../contract/rows.ts'
import { virtualEnv } from '../../../../support/env.ts'
import { isNight } from '../../../../support/repeats.ts'
import { expectWhole, startAppending } from '../tables/appended.ts'

const env = virtualEnv()
const backUp = (place: { readonly directory: string; readonly target: string }) =>
  beginBackup({ ...place, program: 'heddle', atMs: 0, report: () => {} }).publish()
const restoring = (place: { readonly backup: string; readonly directory: string }) =>
  beginRestore({ ...place, manifest: 'required', report: () => {} })

describe('a backup', () => {
  let place: ReturnType<typeof embeddedPlace>
  let directory: string
  let made = 0
  beforeEach(() => {
    place = embeddedPlace()
    directory = join(place.directory, 'data')
  })
  afterEach(() => place.remove())

  const target = () => join(place.directory, `backup-${++made}.db`)

  /** Opens it as a data directory, as docs/operate/data-directory.md says. */
  async function restored(backup: string) {
    const folder = join(place.directory, `restored-${++made}`)
    mkdirSync(folder)
    copyFileSync(backup, join(folder, 'heddle.db'))
    return openEmbeddedStore({ directory: folder, env })
  }

  it.each([...isNight ? [[1, 'alone, into the write-ahead file']] as const : [],
    [8, 'together'] as const])(
      'is complete while %i writers append, %s',
      async (writers) => {
        const ids = Array.from({ length: writers }, () => randomUUID())
        const child = startAppending(directory, ids)
        const acknowledged = new Map<string, number>()
        const lines = createInterface({ input: child.stdout! })
        lines.on('line', (line) => {
          const [id = '', seq] = line.split(' ')
          acknowledged.set(id, Number(seq))
        })
        for (let round = 0; round < (isNight ? 3 : 1); round++) {
          for (let received = 0; received < 40; received++) await once(lines, 'line')
          const before = new Map(acknowledged)
          const file = target()
          backUp({ directory, target: file })
          const store = await restored(file)
          for (const id of ids) await expectWhole(store, id, before.get(id) ?? 0)
          await store.close()
        }
        child.kill('SIGKILL')
        await once(child, 'exit')
        const file = target()
        backUp({ directory, target: file })
        const [copy, original] = [await restored(file), await openEmbeddedStore({ directory, env })]
        for (const id of ids) {
          const whole = await original.log.tail({ id, ancestors: [] })
          expect(await copy.log.tail({ id, ancestors: [] })).toEqual(whole)
        }
        await copy.close()
        await original.close()
      },
    )

  it('of an unused directory is one sound file with a manifest, for its owner only', async () => {
    const store = await openEmbeddedStore({ directory, env })
    const row = aThread()
    await store.log.append([], [{ table: 'thread', row }])
    await store.close()
    const content = readFileSync(join(directory, 'heddle.db'))
    const file = target()
    const [{ bytes } = { bytes: 0 }] = backUp({ directory, target: file })
    expect(readFileSync(join(directory, 'heddle.db')).equals(content)).toBe(true)
    expect(bytes).toBe(statSync(file).size)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(readdirSync(place.directory).filter((name) => name.startsWith('backup')))
      .toEqual(['', '.manifest'].map((end) => `${file.slice(place.directory.length + 1)}${end}`))
    const database = new DatabaseSync(file)
    expect(database.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' })
    database.close()
    const copy = await restored(file)
    expect(await copy.threads.get('local', row.threadId)).toEqual(row)
    await copy.close()
  })

  it('that is being restored is no directory that a server begins anew', async () => {
    await (await openEmbeddedStore({ directory, env })).close()
    const file = target()
    backUp({ directory, target: file })
    const folder = join(place.directory, 'being restored')
    const { discard } = restoring({ backup: file, directory: folder })
    await expect(openEmbeddedStore({ directory: folder, env })).rejects
      .toThrow(/missing, though its write-ahead file is there/)
    discard()
    rmSync(join(folder, 'heddle.lock'))
    const { publish } = restoring({ backup: file, directory: folder })
    publish()
    expect(readdirSync(folder)).toEqual(['heddle.db'])
    await (await openEmbeddedStore({ directory: folder, env })).close()
  })

  it('has the documents in a file beside it', async () => {
    await (await openEmbeddedStore({ directory, env })).close()
    const owner = randomUUID()
    const at = { tenant: 't', kind: 'commit', owner } as const
    const open = (folder: string) =>
      openSpanStore({ directory: folder, diskBytes: 2 ** 40 }, 'write')
    const documents = await open(directory)
    const file = target()
    await documents.putDocuments(at, [{ key: 'k', body: textBody('kept') }])
    backUp({ directory, target: file })
    await documents.close()
    const folder = join(place.directory, 'with documents')
    mkdirSync(folder)
    copyFileSync(`${file}.documents`, join(folder, 'documents.db'))
    const read = await open(folder)
    const [found] = await read.getDocuments(at, ['k'])
    await read.close()
    expect(Buffer.from(found!.body).toString()).toBe(Buffer.from(textBody('kept')).toString())
    expect(statSync(`${file}.documents`).mode & 0o777).toBe(0o600)
    writeFileSync(`${file}-b.documents`, 'mine')
    expect(() => backUp({ directory, target: `${file}-b` })).toThrow(/documents exists already/)
  })

  it('has nothing of what was deleted', async () => {
    const secret = 'a secret that was deleted'.repeat(300)
    const store = await openEmbeddedStore({ directory, env })
    const epoch = await store.claimEpoch()
    const branch = aBranch()
    const row = aThread({ branch, epoch })
    await store.log.append([aRow({ branch, epoch, seq: 1, body: textBody(secret) })], [{
      table: 'thread',
      row,
    }])
    await store.log.purge({ table: 'thread', tenant: 'local', id: row.threadId, branch, epoch })
    await store.close()
    const file = target()
    backUp({ directory, target: file })
    expect(readFileSync(file).includes(secret)).toBe(false)
  })

  it('is not restored where nothing can be written, or where the disk is full', async () => {
    await (await openEmbeddedStore({ directory, env })).close()
    const backup = target()
    backUp({ directory, target: backup })
    const noFolder = join(place.directory, 'file', 'data')
    writeFileSync(join(place.directory, 'file'), '')
    expect(() => restoring({ backup, directory: noFolder })).toThrow(
      `${noFolder} cannot be written`,
    )
    const full = join(place.directory, 'full')
    expect(() =>
      beginRestore({ backup, directory: full, manifest: 'required', report: ({ work, file }) => {
        if (work === 'Checking' && file.startsWith(full)) {
          throw Object.assign(new Error('write'), { code: 'EDQUOT' })
        }
      } })
    ).toThrow(`The disk of ${full} is full.`)
  })

  it('overwrites nothing, and leaves nothing behind if it cannot be made', async () => {
    await (await openEmbeddedStore({ directory, env })).close()
    const file = target()
    writeFileSync(file, 'mine')
    expect(() => backUp({ directory, target: file })).toThrow(/exists already/)
    expect(readFileSync(file, 'utf8')).toBe('mine')
    expect(() => backUp({ directory: join(place.directory, 'none'), target: target() }))
      .toThrow(/There is no .*heddle\.db/)
    expect(() => backUp({ directory, target: join(place.directory, 'none', 'a.db') }))
      .toThrow(/cannot be written to/)
    mkdirSync(join(place.directory, 'bad'))
    writeFileSync(join(place.directory, 'bad', 'heddle.db'), 'x'.repeat(10_000))
    const names = readdirSync(place.directory)
    expect(() => backUp({ directory: join(place.directory, 'bad'), target: target() }))
      .toThrow(/is damaged/)
    expect(readdirSync(place.directory)).toEqual(names)
  })
})
