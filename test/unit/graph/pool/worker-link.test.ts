/** A worker's end in the main thread gets whatever user code posts. */

import { PassThrough } from 'node:stream'

import { expect, it, vi } from 'vitest'

import type { CarrierEvents } from '../../../../src/graph/pool/carrier.ts'
import { WorkerLink } from '../../../../src/graph/pool/worker-link.ts'
import type { WorkerMail } from '../../../../src/graph/pool/worker-mail.ts'
import { virtualEnv } from '../../../support/env.ts'

const carried = vi.hoisted(() => ({ events: undefined as CarrierEvents | undefined }))

vi.mock('../../../../src/graph/pool/carrier.ts', () => ({
  workerThread: (_start: unknown, events: CarrierEvents) => {
    carried.events = events
    return { stdout: new PassThrough(), stderr: new PassThrough(), enteredJob: 0, entries: 0,
      post: () => {}, terminate: async () => {} }
  },
}))

it('What is no list of messages is ignored, and what cannot be handled is logged.', () => {
  const env = virtualEnv()
  const received: WorkerMail[] = []
  const project = { root: '/', graphs: [], embedding: null, env: {}, sources: new Map(),
    resolutions: new Map() }
  const start = { name: 'w', generation: 1, project, heapMb: 64, variables: {} }
  const link = new WorkerLink(env, start, {
    mail: (_, mail) => {
      received.push(mail)
      if (mail.type === 'broken') throw new Error('not handled')
    },
    ended: () => {},
  })
  const { mails } = carried.events!
  for (const posted of ['x', 5, null, undefined, {}, ['x'], [[]], new Map()]) mails(posted)
  mails([{ type: 'broken', job: 1 }, { type: 'pong' }])
  expect(received.map(({ type }) => type)).toEqual(['broken', 'pong'])
  expect(link.state).toBe('starting')
  // A graph may post without end, so the log has one line.
  expect(env.lines.filter(({ level }) => level === 'error')).toHaveLength(1)
})
