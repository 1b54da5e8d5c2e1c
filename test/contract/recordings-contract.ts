/** What every store of spans promises of recordings that have a label. */

import { describe, expect, it } from 'vitest'

import { RecordingWriter } from '../../src/platform/ingest/recording-writer.ts'
import { labelledRecordings, recordedBlocks } from '../../src/platform/query/recorded-blocks.ts'
import { newTenant, useSpans } from './span-port-contract.ts'
import type { OpenSpans } from './span-port-contract.ts'

/** Describes the recordings in a store. */
export function describeRecordings(name: string, open: () => Promise<OpenSpans>): void {
  describe(`recordings with a label in the ${name} store`, () => {
    const spans = useSpans(open)

    it('are listed by their tenant, the newest first, until they are removed', async () => {
      const [tenant, stranger] = [newTenant(), newTenant()]
      const nowMs = Date.now()
      let nowUs = nowMs * 1_000
      const writer = new RecordingWriter(spans.writer, () => nowUs++)
      const put = (runId: string, no: number, more: object = {}) =>
        writer.put({ tenant, runId, startedAtMs: nowMs, no, body: Buffer.from(`${runId} ${no}`),
          timeToLiveS: 86_400, ...more })
      const listed = async (more: object = {}) =>
        (await labelledRecordings(spans.reader, { tenant, fromMs: 0, limit: 9, ...more }))
          .map(({ label, startedAtMs }) => [label, startedAtMs - nowMs])
      await put('a', 0)
      await put('a', 1, { label: 'run a' })
      await put('b', 0, { label: 'run b', startedAtMs: nowMs + 5 })
      await put('c', 0)
      expect(await listed()).toEqual([['run b', 5], ['run a', 0]])
      expect(await listed({ fromMs: nowMs + 1 })).toEqual([['run b', 5]])
      expect(await listed({ limit: 1 })).toEqual([['run b', 5]])
      expect(await listed({ tenant: stranger })).toEqual([])
      expect((await recordedBlocks(spans.reader, { tenant, runId: 'a' })).length).toBe(2)
      await writer.remove({ tenant, runs: ['b'] })
      await put('b', 1, { label: 'run b', startedAtMs: nowMs + 5 })
      expect(await listed()).toEqual([['run a', 0]])
    })
  })
}
