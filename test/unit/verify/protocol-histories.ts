/** Histories that break rules about protocol v2, and parts of correct ones. */

import type { Call } from '../../../verify/history/history.ts'
import { History } from './made-history.ts'

const created = () => new History().create()

/** A run with the id and the token `a`, which protocol v2 starts. */
export function startCommand(fields: Partial<Call> = {}): Partial<Call> {
  return { path: '/threads/t/commands', runId: 'a',
    body: { params: { input: { task: { token: 'a', action: 'plain' } } } },
    response: { type: 'success', result: { run_id: 'a' } }, ...fields }
}

/** An event of the root of run `a`. */
export function lifecycle(seq: number, event: string, reason?: string) {
  return { id: `synth:a:${seq}`, seq, method: 'lifecycle', event, reason }
}

export const values = (seq: number) => ({ id: String(seq), seq, method: 'values' })

/** A reading of the events of the thread. */
export function readEvents(events: readonly object[], body: object = {}): Partial<Call> {
  return { body, response: { events, log: ['a:in'] } }
}

const started = () => created().call('v2.start', startCommand())

export const brokenProtocols: Readonly<Record<string, History>> = {
  'thread events are in order': created()
    .call('v2.events', readEvents([values(2), values(1)])),
  'thread events have no gap': created()
    .call('v2.events', readEvents([values(1), values(2), values(3)]))
    .call('v2.events', readEvents([values(3)], { since: 1 })),
  'runs end in their events': started()
    .call('v2.events', readEvents([lifecycle(1, 'completed')])).view('a', 'error'),
  'trees have the status of the run': started().view('a', 'success')
    .call('v2.tree', { body: { params: { run_id: 'a' } },
      response: { result: { tree: { status: 'failed' } } } }),
  'inputs of commands are used once': started().view('a', 'success').state(),
  'events and state agree': created().call('v2.socket', {
    ...startCommand(),
    response: { type: 'success', events: [lifecycle(1, 'completed')], log: [] },
  }),
}
