/** Reading checkpoints from the log: random runs, rollbacks and copies against a plain model. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import type { Branch, CheckpointPlace } from '../../../proto/gen/storage/v1/row.ts'
import type { ChannelChange, Value } from '../../../proto/gen/storage/v1/value.ts'
import { CheckpointReader, encodeRow, lateWritesOf } from '../../../src/checkpoint/index.ts'
import type { LogHead, RecordOf } from '../../../src/checkpoint/index.ts'
import { ReadAllowance } from '../../../src/limits/read-quota.ts'
import { expectAlways } from '../../support/expect-always.ts'
import { MemoryLog } from '../../support/memory-log.ts'

/** For a read that may keep whatever it needs. */
const plenty = () => new ReadAllowance(Number.MAX_SAFE_INTEGER)

const value = (json: string): Value => ({ json, form: 0 })

/** What a reader must find of one checkpoint. */
interface Kept {
  readonly id: string
  readonly parent: string
  readonly list: readonly string[]
  readonly scalar: string | undefined
  readonly run: string
  writes: { readonly task: string; readonly run: string }[]
}

/** Writes a log as a thread does, and keeps a model of it. */
class Author {
  readonly log = new MemoryLog()
  branch: Branch = { id: 'b0', ancestors: [] }
  history: Kept[] = []
  head: CheckpointPlace | null = null
  movedBack = false
  #seq = 0
  #count = 0
  /** Whether writes on the head were noted as late since the head last moved. */
  #late = false

  reader(): CheckpointReader {
    const now: LogHead = { branch: this.branch, seq: this.#seq, stepSeq: this.#seq, head: this.head,
      movedBack: this.movedBack }
    return new CheckpointReader(this.log, () => now)
  }

  get seq(): number {
    return this.#seq
  }

  at(id: string | undefined): Kept | undefined {
    return this.history.find((kept) => kept.id === id)
  }

  async row(records: RecordOf[], places: CheckpointPlace[] = []): Promise<void> {
    this.#seq++
    await this.log.append([{ tenant: 't', branch: this.branch, epoch: 1, seq: this.#seq,
      prevEpoch: 1, body: encodeRow(records), places }], [])
  }

  /** One superstep on the head: the list changes by a splice, the scalar is set or left. */
  async step(change: { at: number; remove: number; insert: string[]; scalar?: string }, run: string,
    full: boolean): Promise<void> {
    const parent = this.at(this.head?.id)
    const before = parent?.list ?? []
    const at = Math.min(change.at, before.length)
    const remove = Math.min(change.remove, before.length - at)
    const list = before.toSpliced(at, remove, ...change.insert)
    const scalar = change.scalar ?? parent?.scalar
    const id = `c${String(++this.#count).padStart(6, '0')}`
    const alone = full || !parent || this.movedBack
    const changes: ChannelChange[] = alone
      ? [{ channel: 'list', change: { $case: 'list', value: { elements: list.map(value) } } },
        ...scalar === undefined ? [] : [set(scalar)]]
      : [{ channel: 'list',
        change: { $case: 'splice', value: { at, remove, insert: change.insert.map(value) } } },
        ...change.scalar === undefined ? [] : [set(change.scalar)]]
    const seq = this.#seq + 1
    const place = { id, seq, base: alone ? seq : this.head!.base }
    await this.row([{ $case: 'checkpoint',
      value: { ns: '', id, parentId: parent?.id ?? '', full: alone, changes, skeletonJson: '{}',
        metadataJson: `{"run":"${run}"}`, runId: run, atMs: 1 } }], [place])
    this.head = place
    this.movedBack = false
    this.history.push({ id, parent: parent?.id ?? '', list, scalar, run, writes: [] })
  }

  async start(runId: string): Promise<void> {
    await this.row([{ $case: 'runStarted',
      value: { runId, atMs: 1, attempt: 1, baseCheckpointId: this.head?.id ?? '', ownerDeaths: 0,
        suspect: false } }])
  }

  async end(runId: string, status: string): Promise<void> {
    await this.row([{ $case: 'runEnded',
      value: { runId, atMs: 1, status, errorJson: '', interruptsJson: '', waiting: false,
        finalCheckpointId: '', owesWebhook: false, ownerDeaths: 0, suspect: false, attempt: 0 } }])
  }

  /** Writes on the head. If a newer checkpoint is in the log, the first gets a place of its own. */
  async write(task: string, run: string): Promise<void> {
    if (!this.head) return
    const { id } = this.head
    this.at(id)!.writes.push({ task, run })
    const [seq, isLate] = [this.#seq + 1, this.movedBack && !this.#late]
    this.#late = this.movedBack
    await this.row([{ $case: 'writes',
      value: { ns: '', checkpointId: id, taskId: task, writes: [] } }],
      isLate ? [{ id: lateWritesOf(id), seq, base: seq }] : [])
  }

  async rollback(run: string, base: CheckpointPlace | null): Promise<void> {
    const dropped = this.history.filter((kept) => kept.run === run)
    this.history = this.history.filter((kept) => kept.run !== run)
    for (const kept of this.history) kept.writes = kept.writes.filter((write) => write.run !== run)
    await this.row([{ $case: 'headMoved',
      value: { checkpointId: base?.id ?? '', seq: base?.seq ?? 0, base: base?.base ?? 0,
        droppedRunIds: [run], atMs: 1 } }],
      dropped.map(({ id }) => ({ id, seq: 0, base: this.#seq + 1 })))
    this.head = base
    this.movedBack = true
    this.#late = false
  }

  fork(): void {
    const ancestors = [...this.branch.ancestors, { id: this.branch.id, through: this.#seq }]
    this.branch = { id: `b${this.#seq}_${this.#count}`, ancestors }
  }
}

function set(text: string): ChannelChange {
  return { channel: 'scalar', change: { $case: 'set', value: value(text) } }
}

function stateOf({ list, scalar }: Kept): string {
  const members = [`"list":[${list.join(',')}]`]
  if (scalar !== undefined) members.push(`"scalar":${scalar}`)
  return `{${members.join(',')}}`
}

function tasksOf({ writes }: Kept): string[] {
  return writes.map(({ task }) => task)
}

const stepArbitrary = fc.record({
  at: fc.nat(6),
  remove: fc.nat(2),
  insert: fc.array(fc.nat(99).map(String), { maxLength: 3 }),
  scalar: fc.option(fc.nat(9).map(String), { nil: undefined }),
})

const actArbitrary = fc.oneof(
  { weight: 4,
    arbitrary: fc.record({ kind: fc.constant('run' as const),
      steps: fc.array(stepArbitrary, { maxLength: 4 }), full: fc.boolean(), rollback: fc.boolean(),
      writes: fc.boolean(), answers: fc.boolean(),
      before: fc.constantFrom('nothing', 'a hand-over', 'a crash', 'a cancel') }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('copy' as const) }) },
)

type Act = typeof actArbitrary extends fc.Arbitrary<infer Made> ? Made : never

async function author(acts: readonly Act[]): Promise<Author> {
  const made = new Author()
  for (const [i, act] of acts.entries()) {
    if (act.kind === 'copy') {
      made.fork()
      await made.row([{ $case: 'opened', value: { epoch: 1 } }])
      continue
    }
    const [run, base] = [`r${i}`, made.head]
    await made.start(run)
    if (act.answers) await made.write(`question of ${run}`, run)
    if (act.before === 'a cancel') await made.end(`queued behind ${run}`, 'interrupted')
    if (act.before === 'a hand-over') await made.end(run, 'pending')
    if (act.before === 'a crash' || act.before === 'a hand-over') await made.start(run)
    if (act.answers) await made.write(`answer of ${run}`, run)
    for (const change of act.steps) {
      await made.step(change, run, act.full)
      if (act.writes) await made.write(`task of ${run}`, run)
    }
    if (act.rollback) await made.rollback(run, base)
    else await made.end(run, 'success')
  }
  return made
}

const scripts = fc.array(actArbitrary, { minLength: 1, maxLength: 12 })

describe('a checkpoint that is read', () => {
  it('has the state that it was written with, whatever came after', async () => {
    await expectAlways(fc.asyncProperty(scripts, async (acts) => {
      const made = await author(acts)
      const reader = made.reader()
      for (const kept of made.history) {
        const read = await reader.checkpoint('', kept.id)
        expect(read?.view.json(['list', 'scalar'])).toBe(stateOf(kept))
        expect(read?.checkpoint.parentId).toBe(kept.parent)
        expect(read?.writes.map(({ taskId }) => taskId)).toEqual(tasksOf(kept))
        const frugal = await reader.within(plenty(), (each) => each.checkpoint('', kept.id))
        expect(frugal?.view.json(['list', 'scalar'])).toBe(stateOf(kept))
        expect(frugal?.writes).toEqual(read?.writes)
      }
    }), { share: 4 })
  })

  it('is the head if none is named', async () => {
    await expectAlways(fc.asyncProperty(scripts, async (acts) => {
      const made = await author(acts)
      const read = await made.reader().checkpoint('', null)
      expect(read?.checkpoint.id).toBe(made.head?.id)
    }), { share: 4 })
  })

  it('is not found after a rollback dropped it', async () => {
    const made = await author([])
    await made.step({ at: 0, remove: 0, insert: ['1'] }, 'kept', false)
    const base = made.head
    await made.step({ at: 1, remove: 0, insert: ['2'] }, 'dropped', false)
    const droppedId = made.head!.id
    await made.rollback('dropped', base)
    expect(await made.reader().checkpoint('', droppedId)).toBeUndefined()
    expect(await made.reader().has('', droppedId)).toBe(false)
  })

  it('is known to exist by reading its own row alone, and in its own namespace', async () => {
    const made = await author([])
    for (const item of ['1', '2', '3']) {
      await made.step({ at: 0, remove: 0, insert: [item] }, 'r', false)
    }
    const [, second] = made.history
    made.log.rowsRead = 0
    expect(await made.reader().has('', second!.id)).toBe(true)
    expect(made.log.rowsRead).toBe(1)
    expect(await made.reader().has('sub:1', second!.id)).toBe(false)
    expect(await made.reader().has('', 'none')).toBe(false)
  })
})

describe('a page of history', () => {
  it('has every checkpoint of the history, newest first, with its state', async () => {
    await expectAlways(fc.asyncProperty(scripts, fc.nat(8), async (acts, limit) => {
      const made = await author(acts)
      const query = { ns: '', checkpointId: null, before: null, filter: null, limit: limit + 1 }
      const page = await made.reader().within(plenty(), (reader) => reader.page(query))
      const wanted = made.history.toReversed().slice(0, limit + 1)
      expect(page.map(({ checkpoint }) => checkpoint.id)).toEqual(wanted.map(({ id }) => id))
      expect(page.map(({ view }) => view.json(['list', 'scalar']))).toEqual(wanted.map(stateOf))
      expect(page.map(({ writes }) => writes.map(({ taskId }) => taskId)))
        .toEqual(wanted.map(tasksOf))
    }), { share: 4 })
  })

  it('begins behind the given checkpoint', async () => {
    await expectAlways(fc.asyncProperty(scripts, fc.nat(), async (acts, pick) => {
      const made = await author(acts)
      if (made.history.length === 0) return
      const at = pick % made.history.length
      const query = { ns: '', checkpointId: null, filter: null, limit: null,
        before: made.history[at]!.id }
      const page = await made.reader().page(query)
      expect(page.map(({ checkpoint }) => checkpoint.id))
        .toEqual(made.history.slice(0, at).toReversed().map(({ id }) => id))
    }), { share: 4 })
  })

  it('begins behind the place of an id that was never put', async () => {
    const made = await author([])
    for (const run of ['a', 'b', 'c']) await made.step({ at: 0, remove: 0, insert: [] }, run, false)
    const ids = made.history.map(({ id }) => id)
    const query = { ns: '', checkpointId: null, filter: null, limit: null, before: `${ids[1]!}-` }
    const page = await made.reader().page(query)
    expect(page.map(({ checkpoint }) => checkpoint.id)).toEqual([ids[1], ids[0]])
  })

  it('has only checkpoints whose metadata matches the filter', async () => {
    const made = await author([])
    for (const run of ['a', 'b', 'a']) {
      await made.step({ at: 0, remove: 0, insert: [] }, run, false)
    }
    const query = { ns: '', checkpointId: null, before: null, limit: null, filter: { run: 'a' } }
    const page = await made.reader().page(query)
    expect(page.map(({ checkpoint }) => checkpoint.runId)).toEqual(['a', 'a'])
  })

  it('reads no more rows at the end of a long thread than of a short one', async () => {
    const rowsRead = async (steps: number) => {
      const made = await author([])
      for (let i = 0; i < steps; i++) {
        await made.step({ at: i, remove: 0, insert: ['1'] }, 'r', i % 16 === 0)
      }
      made.log.rowsRead = 0
      const query = { ns: '', checkpointId: null, before: null, limit: 10, filter: null }
      await made.reader().page(query)
      return made.log.rowsRead
    }
    expect(await rowsRead(2_000)).toBeLessThanOrEqual(await rowsRead(200) + 16)
  })
})

describe('a read with an allowance', () => {
  const long = (digit: string) => digit.repeat(1_000)
  const change = (scalar: string) => ({ at: 0, remove: 0, insert: [], scalar })

  /** A scalar that is set again and again, with as long a text. */
  async function rewritten(): Promise<Author> {
    const made = await author([])
    for (const digit of '123456789') await made.step(change(long(digit)), 'r', digit === '1')
    return made
  }

  it('keeps of a state only what is left of it', async () => {
    const made = await rewritten()
    const allowance = new ReadAllowance(2_500)
    const view = await made.reader().within(allowance, (reader) => reader.view('', made.head!.id))
    expect(view?.json('scalar')).toBe(long('9'))
    expect(allowance.kept).toBe(1_008)
  })

  it('keeps as much as a fork needs', async () => {
    const made = await rewritten()
    const [, second] = made.history
    const fork = { id: 'fork', seq: made.seq + 1, base: 1 }
    await made.row([{ $case: 'checkpoint',
      value: { ns: '', id: 'fork', parentId: second!.id, full: false, changes: [],
        skeletonJson: '{}', metadataJson: '{}', runId: 'f', atMs: 1 } }], [fork])
    made.head = fork
    const view = await made.reader().within(plenty(), (reader) => reader.view('', 'fork'))
    expect(view?.json('scalar')).toBe(long('2'))
  })

  it('is refused before it reads a row that is larger', async () => {
    const made = await rewritten()
    const read = made.reader().within(new ReadAllowance(500),
      (reader) => reader.checkpoint('', made.head!.id))
    await expect(read).rejects.toMatchObject({ code: 'too_large' })
    expect(made.log.rowsRead).toBe(0)
  })

  it('keeps nothing of what a page passes by', async () => {
    const made = await rewritten()
    const query = { ns: '', checkpointId: null, before: null, limit: 9,
      filter: { run: 'somebody else' } }
    const allowance = new ReadAllowance(2_500)
    expect(await made.reader().within(allowance, (reader) => reader.page(query))).toEqual([])
    expect(allowance.kept).toBe(0)
    const page = made.reader().within(new ReadAllowance(2_500),
      (reader) => reader.page({ ...query, filter: null }))
    await expect(page).rejects.toMatchObject({ code: 'too_large' })
  })
})

it('Each step counts as at least one row in the size of what a state is read from.', async () => {
  const author = new Author()
  const add = (...insert: string[]) => ({ at: 0, remove: 0, insert })
  for (const word of ['1', '2', '3']) await author.step(add(word), 'r', word === '1')
  const small = await author.reader().tuple('', null)
  expect(small).toMatchObject({ deltaBytes: 2 * 256, fullBytes: 9 })
  await author.step(add('4'.repeat(1_000)), 'r', false)
  const large = await author.reader().tuple('', null)
  expect(large).toMatchObject({ deltaBytes: 2 * 256 + 1_008, fullBytes: 9 })
})
