/** A process that appends until it is killed, and prints what was acknowledged or refused. */

import { systemEnv } from '../../../../../cluster/index.ts'
import { openEmbeddedStore } from '../../../../../src/store/embedded/index.ts'
import { aRow, aThread, textBody } from '../../../../contract/rows.ts'

const [directory = '', ...branchIds] = process.argv.slice(2)
const store = await openEmbeddedStore({ directory, env: systemEnv({ level: 'silent' }) })
const epoch = await store.claimEpoch()

/** Appends rows of different sizes, each together with an update of the thread's row. */
async function appendForever(id: string): Promise<never> {
  const branch = { id, ancestors: [] }
  let { epoch: prevEpoch, seq } = await store.log.tail(branch) ?? { epoch: 0, seq: 0 }
  for (;;) {
    seq += 1
    const body = textBody(`${id} ${seq} ${'.'.repeat(seq * 37 % 5_000)}`)
    const appended = store.log.append([
      aRow({ branch, epoch, seq, prevEpoch, body,
        places: [{ id: `${id} ${seq}`, seq, base: seq }] }),
    ], [{ table: 'thread',
      row: aThread({ threadId: id, branch, epoch, seq, status: seq % 2 === 0 ? 'idle' : 'busy',
        updatedAtMs: seq }) }])
    await appended.catch(() => {
      process.stdout.write('refused\n')
      return new Promise(() => {})
    })
    process.stdout.write(`${id} ${seq}\n`)
    prevEpoch = epoch
  }
}

await Promise.all(branchIds.map(appendForever))
