/** The form in which recorded calls are written. */

import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'

import { describe, expect, it } from 'vitest'

import { decodeBlock, encodeBlock, executionsIn,
  noBody } from '../../../../src/graph/recording/recording.ts'
import type { RecordedBlock, RecordedCall } from '../../../../src/graph/recording/recording.ts'

const call: RecordedCall = { no: 0,
  site: { step: 1, nodes: ['desk', 'ask'], path: ['push', 0], attempt: 1 }, ordinal: 0,
  client: 'fetch', method: 'POST', url: 'https://shop.test/a?b=1', atMs: 1_000, headMs: 12.5,
  endMs: 20, request: body('{"a":1}'),
  head: { status: 200, headers: [['content-type', 'text/plain']] },
  answer: body('one\n', 'zwei ä\n', '\u0000'), end: 'done', failure: null }

const block: RecordedBlock = { runId: 'r', threadId: 't', graphId: 'desk', attempt: 1,
  startedAtMs: 900, no: 0, isLast: true, isCut: false, node: 'v24.0.0', calls: [call] }

describe('a block of a recording', () => {
  it('is read as it was written, chunk by chunk', async () => {
    const failed: RecordedCall = { ...call, no: 1, site: null, head: null, headMs: null,
      request: { bytes: 5_000_000, chunks: [], isCut: true }, answer: noBody, end: 'refused',
      failure: { code: 'ECONNREFUSED', message: 'no "one"\nthere' } }
    const written = { ...block, calls: [call, failed] }
    expect(plain(await decodeBlock(await encodeBlock(written)))).toEqual(plain(written))
  })

  it('is refused where a part of it is missing', async () => {
    const packed = await encodeBlock(block)
    await expect(decodeBlock(packed.subarray(0, packed.length - 4))).rejects.toThrow()
    const short = zstdDecompressSync(packed).subarray(0, -2)
    await expect(decodeBlock(zstdCompressSync(short))).rejects.toThrow('ends too early')
  })

  it('is refused in a version that is not known', async () => {
    const later = zstdCompressSync('{"version":2,"calls":0}\n')
    await expect(decodeBlock(later)).rejects.toThrow('version')
  })
})

describe('executions', () => {
  const part = (no: number, isLast: boolean, calls: readonly RecordedCall[] = []) => ({ ...block,
    no, isLast, calls })

  it('have the calls of all their blocks in order', () => {
    const [one] = executionsIn([part(1, true, [{ ...call, no: 0 }]),
      part(0, false, [{ ...call, no: 1 }])])
    expect(one).toMatchObject({ isCut: false, startedAtMs: 900, runId: 'r' })
    expect(one!.calls.map(({ no }) => no)).toEqual([0, 1])
  })

  it('are cut where a block is missing, or says so', () => {
    expect(executionsIn([part(0, false)])[0]!.isCut).toBe(true)
    expect(executionsIn([part(1, true)])[0]!.isCut).toBe(true)
    expect(executionsIn([{ ...block, isCut: true }])[0]!.isCut).toBe(true)
  })

  it('are apart, the earlier one first', () => {
    const found = executionsIn([{ ...block, startedAtMs: 950, attempt: 2 }, block])
    expect(found.map(({ attempt }) => attempt)).toEqual([1, 2])
  })
})

function body(...texts: readonly string[]) {
  const chunks = texts.map((text) => new Uint8Array(Buffer.from(text)))
  return { bytes: chunks.reduce((sum, { length }) => sum + length, 0), chunks, isCut: false }
}

/** With chunks as texts, so that kinds of arrays do not matter. */
function plain({ calls, ...rest }: RecordedBlock): object {
  const shown = (chunks: readonly Uint8Array[]) =>
    chunks.map((chunk) => Buffer.from(chunk).toString())
  return { ...rest,
    calls: calls.map(({ request, answer, ...each }) => ({ ...each,
      request: { ...request, chunks: shown(request.chunks) },
      answer: { ...answer, chunks: shown(answer.chunks) } })
    ) }
}
