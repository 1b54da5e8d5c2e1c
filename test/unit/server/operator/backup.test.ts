/** Every backup that is called good can be restored, whatever was under way when it was made. */

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'

import { systemEnv } from '../../../../cluster/index.ts'
import { UnfinishedRun } from '../../../../proto/gen/storage/v1/row.ts'
import { encodeRow } from '../../../../src/checkpoint/index.ts'
import type { RecordOf } from '../../../../src/checkpoint/index.ts'
import { backUpStore } from '../../../../src/server/operator/backup.ts'
import { resolveSettings } from '../../../../src/settings/index.ts'
import { openEmbeddedStore } from '../../../../src/store/embedded/index.ts'
import { embeddedPlace } from '../../../contract/embedded-place.ts'
import { aBranch, aCron, aRow, aThread } from '../../../contract/rows.ts'

const env = systemEnv({ level: 'silent' })
const settingsOf = (dataDirectory: string) => ({
  ...resolveSettings({ folder: place.directory, starter: '', environment: {}, options: {} }),
  dataDirectory,
})

let place: ReturnType<typeof embeddedPlace>
beforeEach(() => {
  place = embeddedPlace()
})
afterEach(() => place.remove())

const folder = (name: string) => join(place.directory, name)

/** Leaves rows as a server has them on disk for a moment. */
async function storeWith(write: (store: Awaited<ReturnType<typeof openEmbeddedStore>>) => Promise<
  unknown
>) {
  const store = await openEmbeddedStore({ directory: folder('data'), env })
  await write(store)
  await store.close()
}

it('A backup restores although deletes and ends of stateless runs were under way', async () => {
  await storeWith(async ({ log }) => {
    const add = async (hidden: boolean, deleted: boolean, ...records: RecordOf[]) => {
      const branch = aBranch()
      const rows = records.map((record, i) =>
        aRow({ branch, seq: i + 1, body: encodeRow([record]) })
      )
      const row = aThread({ branch, hidden, deleted, seq: deleted ? records.length : 1 })
      await log.append(rows, [{ table: 'thread', row }])
    }
    const created: RecordOf = { $case: 'threadCreated',
      value: { threadId: '', atMs: 1_000, metadataJson: '{}', hidden: true, copiedFrom: '',
        headCheckpointId: '', status: 'idle', interruptsJson: '{}' } }
    const gone: RecordOf = { $case: 'threadDeleted', value: { atMs: 2_000 } }
    // Both rows say it; only the log does; the run has ended, and the thread will go.
    await add(true, true, created, gone)
    await add(true, false, created, gone)
    await add(true, false, created)
    const branch = aBranch()
    const cron = aCron({ branch, enabled: true, nextMs: 1, wakeMs: 1 })
    const deleted = encodeRow([{ $case: 'cronDeleted', value: { atMs: 2_000 } }])
    await log.append([aRow({ branch, seq: 1 }), aRow({ branch, seq: 2, body: deleted })], [{
      table: 'cron',
      row: cron,
    }])
  })
  // It restores what it wrote, by the code of the command "restore".
  await backUpStore(settingsOf(folder('data')), folder('a.db'), { env, traces: true,
    report: () => {} })
  expect(readdirSync(place.directory).toSorted()).toEqual(['a.db', 'a.db.manifest', 'data'])
})

it('A backup that cannot be restored is none: the command says why, and keeps none', async () => {
  const run = { ...UnfinishedRun.decode(new Uint8Array()), runId: 'r', createdSeq: 7 }
  await storeWith(({ log }) =>
    // The log of its run is not there, as after damage.
    log.append([], [{ table: 'thread', row: aThread({ status: 'busy', unfinished: [run] }) }])
  )
  await expect(
    backUpStore(settingsOf(folder('data')), folder('a.db'), { env, traces: true,
      report: () => {} }),
  )
    .rejects.toThrow(/cannot be restored, .*: Thread .* cannot be stopped/)
  expect(readdirSync(place.directory)).toEqual(['data'])
})
