/** A graph of a simulated world: each step asks a model, with all that it sees. */

import type { CheckpointSource, Execution, ExecutionOutcome, Step, StepEvent,
  StoredTuple } from '../../../src/graph/execution.ts'

/** Input of a run. */
export interface Order {
  readonly text: string
  readonly steps: number
  /** True if it fails when its last step has written, and before that step has ended. */
  readonly fails: boolean
  /** True if its requests are others each time. */
  readonly isFlaky: boolean
}

/** Code of a revision: the step whose prompt it changes; 0 for none. */
export interface Code {
  readonly changedStep: number
}

/** What the graph reaches. */
export interface Outside {
  /** Asks the model in a step. Never resolves for a call that is held. */
  ask(step: number, request: string): Promise<string>
  put(steps: readonly Step[], events: readonly StepEvent[]): Promise<void>
  newId(): string
}

/** Task of each step: there is one node. */
const taskId = 'task'
const node = 'ask'

/** The node of the graph in a step. */
export function siteOf(step: number) {
  return { step, nodes: [node], path: ['__pregel_pull', node], attempt: 1 }
}

const success: ExecutionOutcome = { status: 'success', waiting: false, interrupts: '{}',
  error: null }

/** Executes a run from the checkpoint that it begins at. */
export async function execute(code: Code,
  { headId, request }: Pick<Execution, 'headId' | 'request'>,
  source: Pick<CheckpointSource, 'tuple'>, outside: Outside): Promise<ExecutionOutcome> {
  const order = JSON.parse('input' in request ? request.input : '{}') as Order
  const base = headId === null ? undefined : await source.tuple('', headId)
  const log = logIn(base)
  let head = headId
  if (head === null) {
    head = outside.newId()
    await outside.put([checkpoint(head, '', [])], [])
  }
  for (let step = 1; step <= order.steps; step++) {
    // As the engine, it does not repeat what has written.
    const written = step === 1 ? writtenIn(base) : undefined
    const nonce = order.isFlaky ? outside.newId() : ''
    const prompt = code.changedStep === step ? 'Be brief.' : 'Be kind.'
    const said = written ??
      await outside.ask(step, JSON.stringify({ prompt, order: order.text, log, nonce }))
    if (written === undefined) await outside.put([writes(head, said)], [])
    if (order.fails && step === order.steps) {
      return { ...success, status: 'error', error: { error: 'Error', message: 'It failed.' } }
    }
    log.unshift(said)
    const next = outside.newId()
    await outside.put([checkpoint(next, head, log)], [
      event('updates', { [node]: { log: said } }),
      event('values', { log }),
    ])
    head = next
  }
  return success
}

function logIn(tuple: StoredTuple | undefined): string[] {
  const content = tuple?.channels.find(({ channel }) => channel === 'log')?.content
  return content && 'list' in content
    ? content.list.map(({ json }) => JSON.parse(json) as string)
    : []
}

function writtenIn(tuple: StoredTuple | undefined): string | undefined {
  const [write] = tuple?.writes.flatMap(({ writes: all }) => all) ?? []
  return write?.value && JSON.parse(write.value.json) as string
}

function writes(checkpointId: string, said: string): Step {
  return { $case: 'writes',
    value: { ns: '', checkpointId, taskId,
      writes: [{ index: 0, channel: 'log', value: { json: JSON.stringify(said), form: 0 } }] } }
}

function checkpoint(id: string, parentId: string, log: readonly string[]): Step {
  const elements = log.map((said) => ({ json: JSON.stringify(said), form: 0 as const }))
  return { $case: 'checkpoint',
    value: { ns: '', id, parentId, full: true, skeletonJson: '{}', metadataJson: '{}', runId: '',
      atMs: 0, changes: [{ channel: 'log', change: { $case: 'list', value: { elements } } }] } }
}

function event(name: string, value: object): StepEvent {
  return { name, json: JSON.stringify(value), valuesOf: '', durable: true }
}
