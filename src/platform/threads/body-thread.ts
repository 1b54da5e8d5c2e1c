/**
 * Reads long bodies, one at a time, for the thread that writes. It may be ended in the middle of
 * one. Started by ingest-handlers.ts.
 */

import { parentPort } from 'node:worker_threads'
import type { Transferable } from 'node:worker_threads'

import { assert, HeddleError } from '../../errors.ts'
import { examplesIn } from '../evaluate/datasets/example-body.ts'
import type { SentExample } from '../evaluate/datasets/example-body.ts'
import { examplesInParts } from '../evaluate/datasets/example-multipart.ts'
import { experimentIn } from '../evaluate/datasets/experiments/experiment-upload.ts'
import { examplesInUpload } from '../evaluate/datasets/sent/upload.ts'
import { packBody } from '../ingest/body/packed-body.ts'
import { readBody } from '../ingest/body/read-body.ts'
import type { BodyMail } from '../calls/long-bodies.ts'
import type { ExamplesJob } from '../evaluate/datasets/example-calls.ts'
import type { ExperimentJob } from '../evaluate/datasets/experiments/experiment-writes.ts'
import type { OperationsJob } from '../ingest/ingest-request.ts'

assert(parentPort, 'long bodies are read in a worker thread')
const port = parentPort

/** Job of this thread: a long body of one of three kinds. */
export type BodyJob = OperationsJob | ExamplesJob | ExperimentJob

/** Examples that are handed over at a time. */
const examplesOf = 500

let open: Iterator<Reply, void, void> | undefined

/** A part of an answer, with what is moved instead of copied. */
interface Reply {
  readonly part: unknown
  readonly moved?: readonly Transferable[]
}

/** With a job, begins it; without one, goes on with the job before. */
port.on('message', (job: BodyJob | null) => {
  try {
    if (job !== null) open = done(job)
    const next = open!.next()
    if (next.done) return port.postMessage({ done: true } satisfies BodyMail)
    const { part, moved = [] } = next.value
    port.postMessage({ part } satisfies BodyMail, moved)
  } catch (caught) {
    const { code, message, details } = HeddleError.from(caught)
    port.postMessage({ error: { code, message, details } } satisfies BodyMail)
  }
})

function* done(job: BodyJob): Generator<Reply, void, void> {
  const body = Buffer.from(job.body.buffer, job.body.byteOffset, job.body.byteLength)
  switch (job.kind) {
    case 'operations': {
      const packed = packBody(body, readBody(job.form, body))
      yield { part: packed, moved: movable([packed.bytes, body]) }
      return
    }
    case 'examples':
      yield* inParts(examplesIn(body))
      return
    case 'exampleParts':
      yield* inParts(examplesInParts(body, job.contentType).map(detached))
      return
    case 'experiment': {
      const { form, rows } = experimentIn(body)
      yield { part: form }
      if (!job.formOnly) yield* inParts(rows)
      return
    }
    case 'upload': {
      const { form, examples } = examplesInUpload(body, job.contentType)
      yield { part: form }
      if (!job.formOnly) yield* inParts(examples)
    }
  }
}

function* inParts<Example>(examples: readonly Example[]): Generator<Reply, void, void> {
  for (let at = 0; at < examples.length; at += examplesOf) {
    yield { part: examples.slice(at, at + examplesOf) }
  }
}

/** The example with attachments of its own: as parts of the body, all of that would be copied. */
function detached(example: SentExample): SentExample {
  const { files } = example.said
  if (files === undefined) return example
  return { ...example,
    said: { ...example.said,
      files: files.map((file) => ({ ...file, data: Uint8Array.from(file.data) })) } }
}

/** Buffers that are used nowhere else, so that they may be moved. */
function movable(all: readonly Uint8Array[]): readonly ArrayBuffer[] {
  return [...new Set(all.filter((each) => each.byteLength === each.buffer.byteLength)
    .map((each) => each.buffer as ArrayBuffer))]
}
