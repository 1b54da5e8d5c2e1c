/** The spans of the embedded store, and those in memory, keep what all stores of spans promise. */

import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect, it } from 'vitest'

import { noFields } from '../../src/platform/index.ts'
import { openSpanStore } from '../../src/store/embedded/platform/open.ts'
import { memorySpans } from '../support/memory-spans.ts'
import { describeDocumentPort } from './document-port-contract.ts'
import { describeExampleVersions } from './example-versions-contract.ts'
import { describeRecordings } from './recordings-contract.ts'
import { describeSpanRemoval } from './span-removal-contract.ts'
import { describeSpanPlaces } from './span-places-contract.ts'
import { describeSpanPort } from './span-port-contract.ts'
import type { OpenSpans } from './span-port-contract.ts'

async function embedded(): Promise<OpenSpans> {
  const directory = mkdtempSync(join(tmpdir(), 'heddle-spans-'))
  const options = { directory, diskBytes: 2 ** 40 }
  const writer = await openSpanStore(options, 'write')
  const reader = await openSpanStore(options, 'read')
  return { writer, reader, remove: async () => {
    await Promise.all([writer.close(), reader.close()])
    await rm(directory, { recursive: true, force: true })
  } }
}

async function inMemory(): Promise<OpenSpans> {
  const store = memorySpans()
  return { writer: store, reader: store, remove: () => store.close() }
}

for (const [name, open] of [['embedded', embedded], ['memory', inMemory]] as const) {
  describeSpanPort(name, open)
  describeSpanRemoval(name, open)
  describeSpanPlaces(name, open)
  describeRecordings(name, open)
  describeDocumentPort(name, open)
  describeExampleVersions(name, open)
}

it('Feedback on one span in one request writes its marks once.', { timeout: 5_000 }, async () => {
  const { writer, reader, remove } = await embedded()
  const idOf = (number: number) => `018f0000-0000-7000-8000-${String(number).padStart(12, '0')}`
  const place = { tenant: 't', project: idOf(0), startUs: 1, traceStartUs: 1, id: idOf(1),
    trace: idOf(1) }
  try {
    await writer.write({ tenant: 't', blocks: [], files: [], timeToLiveS: new Map(), spans: [{
      place,
      kind: 'post',
      arrivedUs: 1,
      fields: noFields,
      terms: [],
      indexed: 0,
      block: null,
    }] })
    // With a write for each it takes a quarter of a minute.
    await writer.putFeedback(Array.from({ length: 4_000 }, (_, index) => ({ place, row: {
      tenant: 't',
      id: idOf(index),
      key: 'k',
      score: index,
      value: null,
      span: place.id,
      trace: place.trace,
      project: place.project,
      createdUs: index,
      modifiedUs: index,
      bodyJson: '{}',
    } })))
    const [head] = await reader.heads([place])
    expect(head!.feedback).toHaveLength(1_000)
  } finally {
    await remove()
  }
})
