/** Recorded calls for tests. */

import { noBody } from '../../../../src/graph/recording/recording.ts'
import type { RecordedCall, RecordedSite } from '../../../../src/graph/recording/recording.ts'

/** The place of a node in a superstep. */
export function siteAt(step: number, node: string): RecordedSite {
  return { step, nodes: [node], path: ['__pregel_pull', node], attempt: 1 }
}

/** A call that was answered with its own body. */
export function recordedCall(no: number, body: string,
  more: Partial<RecordedCall> = {}): RecordedCall {
  const sent = { bytes: body.length, chunks: [Buffer.from(body)], isCut: false }
  return { no, site: siteAt(1, 'ask'), ordinal: no, client: 'fetch', method: 'POST',
    url: 'https://api.example.org/v1', atMs: 0, headMs: 1, endMs: 2, request: sent,
    head: { status: 200, headers: [] }, answer: noBody, end: 'done', failure: null, ...more }
}
