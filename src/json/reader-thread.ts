/** The thread that reads long JSON, so that the main thread need not. Started by long-json.ts. */

import { parentPort } from 'node:worker_threads'

import { assert, HeddleError } from '../errors.ts'
import { contains } from './containment.ts'
import { parsed } from './parsed.ts'
import { pick } from './pick.ts'
import type { FromReader, Job, ReadJob, ToReader } from './reader-mail.ts'
import { requireModest } from './scan.ts'
import { split } from './split.ts'
import type { Split } from './split.ts'

assert(parentPort, 'the reader runs in a worker thread')
const port = parentPort

port.on('message', ({ id, job }: ToReader) => port.postMessage(answerTo(id, job)))

function answerTo(id: number, job: Job): FromReader {
  try {
    return { id, value: done(job) }
  } catch (caught) {
    const { code, message, details } = HeddleError.from(caught)
    return { id, error: { code, message: message, details } }
  }
}

function done(job: Job): unknown {
  switch (job.kind) {
    case 'read':
      return read(job)
    case 'contains':
      return contains(JSON.parse(job.text), job.part)
    case 'pick':
      return pick(JSON.parse(job.text), job.paths)
  }
}

function read({ what, bytes, carried }: ReadJob): Split {
  requireModest(what, bytes)
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
  return split(what, parsed(what, text), carried)
}
