/** Writes on a checkpoint that is no longer the newest: every reader sees all of them. */

import fc from 'fast-check'
import { expect, it } from 'vitest'

import { ByteBudget } from '../../../../cluster/index.ts'
import type { RecordOf } from '../../../../src/checkpoint/index.ts'
import { ThreadLog } from '../../../../src/thread/log/thread-log.ts'
import { virtualEnv } from '../../../support/env.ts'
import { expectAlways } from '../../../support/expect-always.ts'
import { MemoryLog } from '../../../support/memory-log.ts'
import { memoryTables } from '../../../support/memory-tables.ts'

const checkpoint = (id: string, runId: string): Extract<RecordOf, { $case: 'checkpoint' }> => ({
  $case: 'checkpoint',
  value: { ns: '', id, parentId: '', full: true, changes: [], skeletonJson: '{}',
    metadataJson: '{}', runId, atMs: 0 },
})

const writes = (checkpointId: string, taskId: string): Extract<RecordOf, { $case: 'writes' }> => ({
  $case: 'writes',
  value: { ns: '', checkpointId, taskId, writes: [] },
})

interface Run {
  readonly tasks: number
  /** When it puts a checkpoint of its own: before or after its writes, or never. */
  readonly puts: 'first' | 'last' | 'never'
  readonly isTakenBack: boolean
}

/** A thread of plain runs, and what was written on each of its checkpoints. */
class Forked {
  readonly written = new Map<string, string[]>()
  readonly #log = new MemoryLog()
  readonly #env = virtualEnv()
  #threadLog!: ThreadLog
  #epoch = 0
  #count = 0

  /** As after a crash. */
  async load(): Promise<void> {
    this.#threadLog = await ThreadLog.load({
      ports: { log: this.#log, threads: memoryTables(this.#log).threads,
        views: new ByteBudget(1e6) },
      tenant: 't',
      threadId: 'x',
      epoch: ++this.#epoch,
      after: this.#env.after,
      onLost: () => {},
    })
  }

  /** A run that writes on a checkpoint. */
  async run(pick: number, { tasks, puts, isTakenBack }: Run): Promise<void> {
    const ids = [...this.written.keys()]
    const [runId, on] = [`run ${++this.#count}`, ids[pick % ids.length]]
    const { head } = this.#threadLog.state.row
    await this.#threadLog.write([{ $case: 'runStarted',
      value: { runId, atMs: 0, attempt: 1, baseCheckpointId: head?.id ?? '', ownerDeaths: 0,
        suspect: false } }])
    const steps = on === undefined
      ? []
      : Array.from({ length: tasks }, (_, task) => writes(on, `task ${task} of ${runId}`))
    if (puts === 'first') await this.#threadLog.write([checkpoint(runId, runId)])
    for (const step of steps) {
      await this.#threadLog.ready([step])
      await this.#threadLog.write([step])
      if (!isTakenBack) this.written.get(on!)!.push(step.value.taskId)
    }
    if (puts === 'last') await this.#threadLog.write([checkpoint(runId, runId)])
    if (puts !== 'never' && !isTakenBack) this.written.set(runId, [])
    if (isTakenBack) {
      const { seq: base } = this.#threadLog.position
      void this.#threadLog.write([{ $case: 'headMoved',
        value: { checkpointId: head!.id, seq: head!.seq, base: head!.base, droppedRunIds: [runId],
          atMs: 0 } }], 'now', [{ id: runId, seq: 0, base }])
    } else {
      void this.#threadLog.write([{ $case: 'runEnded',
        value: { runId, atMs: 0, status: 'success', errorJson: '', interruptsJson: '',
          waiting: false, finalCheckpointId: '', owesWebhook: false, ownerDeaths: 0, suspect: false,
          attempt: 0 } }])
    }
    this.#threadLog.forgetExecution()
    await this.#threadLog.durable
  }

  async put(steps: readonly Step[]): Promise<void> {
    await this.#threadLog.ready(steps)
    await this.#threadLog.write(steps)
  }

  async rest(): Promise<void> {
    this.#threadLog.forgetExecution()
    await this.#threadLog.durable
  }

  async writesBelow(id: string): Promise<string[]> {
    const found = await this.#threadLog.settled.checkpoint('sub', id)
    return found!.writes.map(({ taskId }) => taskId)
  }

  async read(): Promise<ReadonlyMap<string, string[]>> {
    const read = new Map<string, string[]>()
    for (const id of this.written.keys()) {
      const found = await this.#threadLog.settled.checkpoint('', id)
      read.set(id, found!.writes.map(({ taskId }) => taskId))
    }
    return read
  }

  async pages(): Promise<ReadonlyMap<string, string[]>> {
    const read = new Map<string, string[]>()
    for (let before: string | null = null;;) {
      const query = { ns: '', checkpointId: null, before, limit: 2, filter: null }
      const page = await this.#threadLog.settled.page(query)
      for (const { checkpoint: { id }, writes: found } of page) {
        read.set(id, found.map(({ taskId }) => taskId))
      }
      if (page.length === 0) return read
      before = page.at(-1)!.checkpoint.id
    }
  }
}

const act = fc.record({ pick: fc.nat(), tasks: fc.integer({ min: 0, max: 2 }),
  puts: fc.constantFrom('first', 'last', 'never'), isTakenBack: fc.boolean(),
  crashed: fc.boolean() })

it('Late writes are all read, whichever forks of whichever checkpoints wrote them.', async () => {
  await expectAlways(fc.asyncProperty(fc.array(act, { maxLength: 12 }), async (acts) => {
    const made = new Forked()
    await made.load()
    await made.run(0, { tasks: 0, puts: 'last', isTakenBack: false })
    for (const { pick, crashed, ...run } of acts) {
      if (crashed) await made.load()
      await made.run(pick, run)
    }
    expect(await made.read()).toEqual(made.written)
    expect(await made.pages()).toEqual(made.written)
  }), { share: 5 })
})

type Step = ReturnType<typeof checkpoint> | ReturnType<typeof writes>

const below = <Of extends Step>(step: Of): Of => ({ ...step, value: { ...step.value, ns: 'sub' } })
const fork = (id: string): Step => {
  const { $case, value } = below(checkpoint(id, 'a run'))
  return { $case, value: { ...value, parentId: 'old', full: false } }
}
const late = (taskId: string) => below(writes('old', taskId))

it.each<[how: string, runs: readonly (readonly Step[][])[], read: readonly string[]]>([
  ['before a fork of it', [[[late('a')], [fork('b')]]], ['a']],
  ['in one row with a fork of it', [[[late('a'), fork('b')]]], ['a']],
  ['by two runs, each before a fork', [[[late('a')], [fork('b')]], [[late('c')], [fork('d')]]], [
    'a',
    'c',
  ]],
  ['by two runs, each in one row with a fork', [[[late('a'), fork('b')]], [[late('c'), fork('d')]]],
    ['a', 'c']],
  ['before and after a fork, in one row', [[[late('a'), fork('b'), late('c')]]], ['a']],
])('Late writes of a subgraph are read if they came %s.', async (_how, runs, read) => {
  const made = new Forked()
  await made.load()
  const first = [[checkpoint('root', 'a run')], [below(checkpoint('old', 'a run')), late('first'),
    fork('newer')], [checkpoint('over', 'a run')]]
  for (const run of [first, ...runs]) {
    for (const batch of run) await made.put(batch)
    await made.rest()
  }
  expect(await made.writesBelow('old')).toEqual(['first', ...read])
})
