/** Work on a thread, and commands that come before, during and after its write. */

import type { OwnCommand, ThreadCommand } from '../../../../src/thread/model/command.ts'
import type { Scripted } from '../../../support/scripted-host.ts'
import { aMessage, aRun, settled, ThreadHouse } from '../../../support/thread-house.ts'

/** The times at which a command comes: relative to the write of the work. */
export const moments = ['before', 'during', 'after'] as const
export type Moment = typeof moments[number]

/** All commands that a thread takes. */
export type CommandType = (ThreadCommand | OwnCommand)['type']

interface Work {
  /** The run that the commands name. */
  readonly runId: string
  readonly scripted: Scripted
  write(): Promise<void>
  end(): Promise<void>
}

const { plan } = aRun('')
const answer = { kwargs: { input: null, command: { resume: 'yes' } } } as const
const message = aMessage('a')
const update = { checkpoint: null,
  update: { values: '{"log":["two"]}', command: null, asNode: null } } as const

/** An execution that writes `text` and ends. Late reports of it are rejected. */
function work(house: ThreadHouse, runId: string, text: string, outcome = {}): Work {
  const scripted = house.host.only
  return { runId, scripted, write: async () => {
    // No thread may be left that takes the steps.
    void house.host.step(scripted, text).catch(() => {})
    await settled()
  }, end: async () => {
    house.host.end(scripted, outcome)
    await settled()
  } }
}

async function executedRun(house: ThreadHouse): Promise<string> {
  await settled()
  return house.host.only.execution.runId
}

/** The thread has the state `zero`, and waits at an interrupt with it if it `asks`. */
async function newThread(asks: boolean): Promise<{ house: ThreadHouse; baseId: string }> {
  const house = new ThreadHouse()
  await house.startRun('x')
  const baseId = await executedRun(house)
  await house.host.step(house.host.only, 'zero')
  if (asks) await house.host.interrupt(house.host.only, 'task', 'i')
  house.host.end(house.host.only,
    asks ? { waiting: true, interrupts: '{"task":[{"id":"i","value":"?"}]}' } : {})
  await settled()
  return { house, baseId }
}

async function injection(asks: boolean) {
  const { house } = await newThread(asks)
  await house.startRun('x', asks ? answer : {})
  const runId = await executedRun(house)
  await house.host.step(house.host.only, 'one')
  await house.startRun('x', message)
  house.host.end(house.host.only, { status: 'drained' })
  await settled()
  return { house, work: work(house, runId, 'm', { waiting: true }) }
}

async function run(asks: boolean) {
  const { house } = await newThread(asks)
  await house.startRun('x', asks ? answer : {})
  return { house, work: work(house, await executedRun(house), 'one') }
}

async function edit(asks: boolean) {
  const { house, baseId } = await newThread(asks)
  house.client.updateState('t', 'x', update).catch(() => {})
  await settled()
  return { house, work: work(house, baseId, 'edit') }
}

async function copy() {
  const { house, work: resume } = await run(true)
  let copyId = ''
  // The copy takes one turn: a command behind it waits.
  const write = async () => {
    void house.client.copy('t', 'x').then(({ row }) => (copyId = row.threadId), () => {})
    await Promise.resolve()
  }
  return { house, work: { ...resume, write, end: settled }, shows: () => copyId }
}

/** The kinds of work on a thread. */
export const works = {
  'a run': () => run(false),
  'a resume': () => run(true),
  'an injection': () => injection(false),
  'an injection into a resume': () => injection(true),
  'an edit': () => edit(false),
  'an edit of a waiting thread': () => edit(true),
  'a copy of a busy thread': copy,
} as const
export type WorkName = keyof typeof works

type Send = (house: ThreadHouse, work: Work) => unknown

const cancel = (how: object): Send => ({ client }, { runId }) =>
  client.cancelRun('t', 'x', runId, how as { action: 'interrupt' })
const start = (more: object): Send => (house) => house.startRun('x', more)
const page = { tenant: 't', threadId: 'x', limit: 9, offset: 0 }

/** The variants of each command: how it is sent. A text is the reason why there are none. */
export const commands: Readonly<Record<CommandType, Readonly<Record<string, Send>> | string>> = {
  cancel: {
    'cancel: interrupt': cancel({ action: 'interrupt' }),
    'cancel: rollback': cancel({ action: 'rollback' }),
    'cancel: only running': cancel({ action: 'interrupt', only: 'running' }),
    'cancel: of an assistant': cancel({ action: 'interrupt', ofAssistant: 'a' }),
  },
  start: {
    'start: interrupt': start({ strategy: 'interrupt' }),
    'start: rollback': start({ strategy: 'rollback' }),
    'start: enqueue': start({}),
    'start: reject': start({ strategy: 'reject' }),
  },
  delete_run: { delete_run: ({ client }, { runId }) => client.deleteRun('t', 'x', runId) },
  delete: { delete: ({ client }) => client.delete('t', 'x') },
  time_limit: { time_limit: ({ env }) => env.advance(plan.timeoutMs) },
  lost: {
    'lost: displaced': ({ host }, { scripted }) => host.lose(scripted, 'displaced'),
    'lost: crashed': ({ host }, { scripted }) => host.lose(scripted, 'crashed'),
  },
  rest: { rest: async (house, { scripted }) => {
    const closed = house.activations.close(AbortSignal.timeout(1_000))
    await settled()
    if (house.host.paused.has(scripted.execution.id))
      house.host.end(scripted, { status: 'drained' })
    await closed
    house.restart()
  } },
  keep_latest: { keep_latest: ({ client }) => client.prune('t', 'x', 'keep_latest') },
  edit: { edit: ({ client }) => void client.updateState('t', 'x', update).catch(() => {}) },
  create: {
    create: ({ client }) =>
      client.create('t', { threadId: 'x', metadata: {}, ifExists: 'do_nothing', supersteps: [],
        isNewId: false }),
  },
  patch: { patch: ({ client }) => client.patch('t', 'x', { a: 1 }) },
  patch_state: { patch_state: ({ client }) => client.patchState('t', 'x', { a: 1 }) },
  copy: { copy: ({ client }) => client.copy('t', 'x') },
  get: { get: ({ client }) => client.get('t', 'x') },
  get_run: { get_run: ({ client }, { runId }) => client.getRun('t', 'x', runId) },
  list_runs: { list_runs: ({ client }) => client.listRuns(page) },
  join: { join: ({ client }, { runId }) => void client.joinRun('t', 'x', runId).catch(() => {}) },
  adopt: 'begins a thread, which has no work yet',
  state: 'reads, as get does',
  history: 'reads, as get does',
  storage: 'reads, as get does',
  push: 'changes only whom to notify of a task',
  steps: 'reports the work itself',
  ended: 'reports the work itself',
  refused: 'reports a run that executes nothing',
  wake: 'starts what is due, as each command does',
  owed: 'sends webhooks, and leaves the thread alone',
  settled: 'notes a webhook that was sent',
  expire: 'deletes, as delete does',
  due: 'deletes, as delete does, or prunes, as keep_latest does',
}

/**
 * The thread in the end: its status, `?` for interrupts, its state, and the first letters of the
 * statuses of its runs, newest first.
 */
export async function cell(workName: WorkName, send: Send, moment: Moment): Promise<string> {
  const { house, work: begun, shows = () => 'x' } = await beginWork(workName)
  if (moment !== 'before') await begun.write()
  if (moment === 'after') await begun.end()
  const sent = Promise.resolve(send(house, begun)).catch(() => {})
  await settled()
  // The execution may report although it was stopped.
  if (moment === 'before') await begun.write()
  if (moment !== 'after') await begun.end()
  await sent
  for (let i = 0; i < 5; i++) {
    await house.client.get('t', 'x').catch(() => {})
    await settled()
    for (const scripted of house.host.running.values()) house.host.end(scripted)
    await settled()
  }
  return await shown(house, shows())
}

const beginWork = (
  name: WorkName,
): Promise<{ house: ThreadHouse; work: Work; shows?: () => string }> => works[name]()

async function shown({ client }: ThreadHouse, threadId: string): Promise<string> {
  const found = await client.get('t', threadId).catch(() => {})
  if (!found) return 'gone'
  const runs = await client.listRuns({ ...page, threadId })
  const { status, interruptsJson } = found.row
  const { log } = JSON.parse(String(found.values)) as { readonly log: readonly string[] }
  const asks = interruptsJson === '{}' ? '' : '?'
  const letters = runs.map((each) => each.status[0]).join('')
  return `${status}${asks} ${log.join('+')} ${letters}`.trimEnd()
}
