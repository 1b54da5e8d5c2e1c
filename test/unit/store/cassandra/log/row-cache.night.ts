/** The rows of the log in memory stay within their bound under many large threads. */

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

import { expect, it } from 'vitest'

import { RowCache } from '../../../../../src/store/cassandra/log/row-cache.ts'

const [threads, rows, rowBytes] = [10_000, 4, 250_000]
const limitBytes = 128 * 1024 * 1024

it('10 000 threads of a megabyte leave no more in memory than the bound', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  const before = process.memoryUsage()
  const cache = new RowCache(limitBytes)
  for (let thread = 0; thread < threads; thread++) {
    const writer = { settledSeq: 0 }
    cache.begin(`t${thread}`, writer, undefined)
    for (let seq = 1; seq <= rows; seq++) {
      writer.settledSeq = seq
      cache.settled(`t${thread}`, writer, { tenant: 't',
        branch: { id: `t${thread}`, ancestors: [] }, epoch: 1, seq, prevEpoch: 1, places: [],
        body: new Uint8Array(rowBytes) })
    }
  }
  // What was collected is freed by another thread, a moment later.
  const grown = () => {
    collect()
    const after = process.memoryUsage()
    return after.arrayBuffers + after.heapUsed - before.arrayBuffers - before.heapUsed
  }
  await expect.poll(grown).toBeLessThan(limitBytes * 1.1)
  console.log(`${threads} threads of ${rows * rowBytes / 1e6} MB: ` +
    `${(cache.stats.bytes / 1e6).toFixed(0)} MB are counted, ` +
    `${(grown() / 1e6).toFixed(0)} MB taken`)
  expect(cache.stats.bytes).toBeLessThanOrEqual(limitBytes)
  // The newest are known.
  expect(cache.rows(`t${threads - 1}`, { epoch: 1, bucket: 0, from: 1, through: rows }))
    .toHaveLength(rows)
})
