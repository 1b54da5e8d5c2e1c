/** Answers to interrupts: checked when their turn comes, and refused without a trace. */

import { describe, expect, it } from 'vitest'

import { printOf } from '../../../../src/thread/index.ts'
import type { StartRun } from '../../../../src/thread/index.ts'
import { aRun, settled, ThreadHouse } from '../../../support/thread-house.ts'

const [first, second] = ['a'.repeat(32), 'b'.repeat(32)] as const

/** The execution's graph asks, and its run ends. */
async function ask(house: ThreadHouse, id: string, value = '?'): Promise<void> {
  const { only } = house.host
  const json = JSON.stringify([{ id, value }])
  await only.listener.steps({ events: [], steps: [{ $case: 'writes', value: {
    ns: '',
    checkpointId: only.headId!,
    taskId: `task of ${id}`,
    writes: [{ index: -3, channel: '__interrupt__',
      value: { json, form: 0, serialized: undefined } }],
  } }] })
  house.host.end(only, { waiting: true, interrupts: `{"task":${json}}` })
  await settled()
}

/** A thread that waits for an answer to the first question. */
async function asking(): Promise<ThreadHouse> {
  const house = new ThreadHouse()
  await house.startRun('x')
  await house.host.step(house.host.only, 'one')
  await ask(house, first)
  return house
}

const answer = (id: string, more: Partial<StartRun> = {}) =>
  ({ strictResume: true, kwargs: { input: null, command: { resume: { [id]: 'yes' } } },
    ...more }) as const

const threadOf = async ({ client }: ThreadHouse) => (await client.get('t', 'x')).row
const refused = { status: 'error',
  errorJson: expect.stringContaining('"reason":"not_pending"') as string }

describe('a strict answer', () => {
  it('resumes the interrupt that waits', async () => {
    const house = await asking()
    await house.startRun('x', answer(first))
    await settled()
    expect(house.host.only.execution.request).toMatchObject({ kind: 'run',
      command: JSON.stringify({ resume: { [first]: 'yes' } }) })
  })

  it('to another interrupt is refused, and the thread stays as it was', async () => {
    const house = await asking()
    const before = await threadOf(house)
    const run = house.run(answer(second))
    const { result } = await house.client.startAndWait('t', 'x', { ...run, awaited: true })
    expect(JSON.parse(await result())).toEqual({
      __error__: { error: 'UnknownInterruptError', message: expect.any(String),
        reason: 'not_pending', interrupt_ids: [second], pending_ids: [first] },
    })
    const { status, interruptsJson, errorJson, head } = before
    expect(await threadOf(house)).toMatchObject({ status, interruptsJson, errorJson, head })
    expect(house.host.executions).toHaveLength(1)
    await house.startRun('x', answer(first))
    await settled()
    expect(house.host.executions).toHaveLength(2)
  })

  it('that waits behind the same one is refused when its turn comes', async () => {
    const house = await asking()
    await house.startRun('x', answer(first))
    const late = house.run(answer(first))
    await house.client.startRun('t', 'x', late)
    await settled()
    await house.host.step(house.host.only, 'two')
    await ask(house, second)
    expect(await house.client.getRun('t', 'x', late.runId)).toMatchObject(refused)
    const row = await threadOf(house)
    expect(row).toMatchObject({ status: 'interrupted' })
    expect(row.interruptsJson).toContain(second)
    expect(house.host.executions).toHaveLength(2)
  })

  it('lets the run behind it begin when it is refused', async () => {
    const house = await asking()
    await Promise.all([house.startRun('x', answer(second)), house.startRun('x')])
    await settled()
    expect(house.host.only.execution.request).toMatchObject({ command: null })
  })

  it('is checked again if the server died before it was', async () => {
    const house = await asking()
    const late = house.run(answer(second))
    await house.client.startRun('t', 'x', late)
    house.restart()
    await house.client.get('t', 'x')
    await settled()
    expect(await house.client.getRun('t', 'x', late.runId)).toMatchObject(refused)
    expect(house.host.executions).toHaveLength(0)
  })

  it('is used once more by an attempt that follows', async () => {
    const house = await asking()
    await house.startRun('x', answer(first))
    await settled()
    await house.host.step(house.host.only, 'two')
    house.restart()
    await house.client.get('t', 'x')
    await settled()
    expect(house.host.executions).toHaveLength(1)
  })

  it('fits the interrupt at which a cancelled run left the thread', async () => {
    const house = await asking()
    const run = house.run(answer(first))
    await house.client.startRun('t', 'x', run)
    await settled()
    await house.client.cancelRun('t', 'x', run.runId, { action: 'interrupt' })
    expect((await threadOf(house)).status).toBe('interrupted')
    await house.startRun('x', { ...answer(first), resumeOnly: true })
    await settled()
    expect(house.host.only.execution.runId).not.toBe(run.runId)
  })
})

describe('a run that names the interrupt that it resumes', () => {
  const naming = (value: string): Partial<StartRun> => {
    const { plan } = aRun('')
    return { resumeOnly: true, kwargs: { input: null, command: { resume: 'yes' } },
      plan: { ...plan, answers: [printOf({ id: first, value })] } }
  }

  it('resumes it, and not the next one of the same node, which has the same id', async () => {
    const house = await asking()
    await house.startRun('x', naming('?'))
    expect(house.host.only.execution.request).toMatchObject({ command: '{"resume":"yes"}' })
    await ask(house, first, 'And now?')
    const late = house.run(naming('?'))
    await house.client.startRun('t', 'x', late)
    expect(await house.client.getRun('t', 'x', late.runId)).toMatchObject(refused)
    expect((await threadOf(house)).interruptsJson).toContain('And now?')
  })
})

it('Two resumes by ids, of which one waits for the other, resume both interrupts.', async () => {
  const house = new ThreadHouse()
  await house.startRun('x')
  await house.host.step(house.host.only, 'one')
  const asked = { one: [{ id: first, value: '?' }], two: [{ id: second, value: '?' }] }
  await house.host.interrupt(house.host.only, 'one', first)
  await house.host.interrupt(house.host.only, 'two', second)
  house.host.end(house.host.only, { waiting: true, interrupts: JSON.stringify(asked) })
  await settled()
  const resume = (id: string) => ({ kwargs: { input: null, command: { resume: { [id]: 'yes' } } } })
  await house.startRun('x', resume(first))
  await house.startRun('x', resume(second))
  house.host.end(house.host.only, { waiting: true, interrupts: JSON.stringify({ two: asked.two }) })
  await settled()
  expect(house.host.only.execution.request).toMatchObject({
    command: JSON.stringify({ resume: { [second]: 'yes' } }),
  })
})

describe('a run that may only resume', () => {
  const resume = { resumeOnly: true, kwargs: { input: null, command: { resume: 'yes' } } } as const

  it('is admitted where an interrupt waits', async () => {
    const house = await asking()
    await house.startRun('x', resume)
    expect(house.host.only.execution.request).toMatchObject({ command: '{"resume":"yes"}' })
  })

  it('is refused with the id of an interrupt that does not wait', async () => {
    const house = await asking()
    const { seq } = await threadOf(house)
    const { kwargs } = answer(second)
    await expect(house.startRun('x', { ...resume, kwargs })).rejects.toMatchObject({
      code: 'invalid',
      message: `No interrupt ${second} waits for an answer.`,
    })
    expect((await threadOf(house)).seq).toBe(seq)
  })

  it('is refused while another resume of the interrupt is due', async () => {
    const house = await asking()
    // No run starts while the state is edited.
    house.client.updateState('t', 'x', { checkpoint: null,
      update: { values: '{}', command: null, asNode: null } }).catch(() => {})
    await settled()
    await house.startRun('x', resume)
    await expect(house.startRun('x', resume)).rejects.toMatchObject({ code: 'invalid' })
    await house.startRun('x', { ...resume, strategy: 'rollback' })
    const runs = await house.client.listRuns({ tenant: 't', threadId: 'x', limit: 9, offset: 0 })
    expect(runs.map(({ status }) => status)).toEqual(['pending', 'success'])
  })

  it('is admitted while a run with a later start is pending', async () => {
    const house = await asking()
    await house.startRun('x', { afterMs: 60_000 })
    await house.startRun('x', resume)
    expect(house.host.only.execution.request).toMatchObject({ command: '{"resume":"yes"}' })
  })

  it('is refused, and nothing is written, where none waits', async () => {
    const house = await asking()
    const none = expect.objectContaining({ code: 'invalid' }) as Error
    const run = house.run(resume)
    await house.client.startRun('t', 'x', run)
    const { seq } = await threadOf(house)
    await expect(house.startRun('x', resume)).rejects.toEqual(none)
    expect((await threadOf(house)).seq).toBe(seq)
    expect(await house.client.startRun('t', 'x', { ...run, runId: run.runId }))
      .toMatchObject({ runId: run.runId })
    await house.host.step(house.host.only, 'two')
    house.host.end(house.host.only)
    await settled()
    await expect(house.startRun('x', resume)).rejects.toEqual(none)
    await expect(house.startRun('new', resume)).rejects.toEqual(none)
  })
})

describe('an input that answers if the thread waits', () => {
  const said = { answersIfWaiting: true, kwargs: { input: { a: 1 } } } as const
  const requestOf = ({ host }: ThreadHouse) => host.only.execution.request

  it('is the answer to an interrupt', async () => {
    const house = await asking()
    await house.startRun('x', said)
    expect(requestOf(house)).toMatchObject({ input: 'null', command: '{"resume":{"a":1}}' })
  })

  it('stays an input behind a run, and when it interrupts a run past its interrupt', async () => {
    const house = await asking()
    await house.startRun('x', { kwargs: { input: null, command: { resume: 'yes' } } })
    await house.host.step(house.host.only, 'two')
    await house.startRun('x', said)
    await house.startRun('x', { ...said, strategy: 'interrupt' })
    expect(requestOf(house)).toMatchObject({ input: '{"a":1}', command: null })
  })

  it('resumes the thread when it interrupts a run whose resume value is unused', async () => {
    const house = await asking()
    await house.startRun('x', { kwargs: { input: null, command: { resume: 'yes' } } })
    await house.startRun('x', { ...said, strategy: 'interrupt' })
    expect(requestOf(house)).toMatchObject({ input: 'null', command: '{"resume":{"a":1}}' })
  })

  it('is the answer again when the run that had one is rolled back', async () => {
    const house = await asking()
    await house.startRun('x', { kwargs: { input: null, command: { resume: 'yes' } } })
    await house.host.step(house.host.only, 'two')
    await house.startRun('x', { ...said, strategy: 'rollback' })
    await settled()
    expect(requestOf(house)).toMatchObject({ input: 'null', command: '{"resume":{"a":1}}' })
  })
})

describe('a resume with a later start', () => {
  const later = (resume: unknown) =>
    ({ afterMs: 60_000, kwargs: { input: null, command: { resume } } }) as const
  const delayed = async (house: ThreadHouse, resume: unknown) => {
    const run = house.run(later(resume))
    await house.client.startRun('t', 'x', run)
    return async () => {
      house.env.advance(60_000)
      await settled()
      return await house.client.getRun('t', 'x', run.runId)
    }
  }

  it('resumes its interrupt if that is still open', async () => {
    const house = await asking()
    const due = await delayed(house, 'later')
    expect(await due()).toMatchObject({ status: 'running' })
    expect(house.host.only.execution.request).toMatchObject({ command: '{"resume":"later"}' })
  })

  it('resumes its interrupt after a resume that failed', async () => {
    const house = await asking()
    const due = await delayed(house, 'later')
    await house.startRun('x', answer(first))
    await settled()
    house.host.end(house.host.only, { status: 'error', error: { error: 'E', message: 'm' } })
    await settled()
    expect(await due()).toMatchObject({ status: 'running' })
  })

  it.each([['value', 'later'], ['map', { [first]: 'later' }]])(
    'is refused with a %s after another run resumed its interrupt',
    async (_, resume) => {
      const house = await asking()
      const due = await delayed(house, resume)
      await house.startRun('x', answer(first))
      await settled()
      await house.host.step(house.host.only, 'two')
      await ask(house, second)
      expect(await due()).toMatchObject(refused)
      expect(await threadOf(house)).toMatchObject({ status: 'interrupted', errorJson: '' })
      expect((await threadOf(house)).interruptsJson).toContain(second)
      expect(house.host.executions).toHaveLength(2)
    },
  )

  it('is refused for the second question of a node, which has the id of the first', async () => {
    const house = await asking()
    const due = await delayed(house, 'later')
    await house.startRun('x', answer(first))
    await settled()
    await ask(house, first, 'And now?')
    expect(await due()).toMatchObject(refused)
  })

  it('is refused after a run with new input closed its interrupt', async () => {
    const house = await asking()
    const due = await delayed(house, 'later')
    await house.startRun('x')
    await house.host.step(house.host.only, 'two')
    house.host.end(house.host.only)
    await settled()
    expect(await due()).toMatchObject(refused)
  })
})

describe('a resume that was sent while another run or an edit was in progress', () => {
  const resume = { kwargs: { input: null, command: { resume: 'yes' } } } as const
  /** The answer is in progress. Returns another one behind it, as a client repeats its request. */
  async function behind(house: ThreadHouse, before: () => Promise<unknown>, more = {}) {
    await house.startRun('x', resume)
    await before()
    const late = house.run({ ...resume, ...more })
    await house.client.startRun('t', 'x', late)
    return () => house.client.getRun('t', 'x', late.runId)
  }

  it.each([
    ['a value', {}, second],
    ['a map', { kwargs: { input: null, command: { resume: { [first]: 'yes' } } } }, first],
    ['a strict map', answer(first), first],
  ])('is refused with %s at the next question', async (_, more, next) => {
    const house = await asking()
    const late = await behind(house, settled, more)
    await house.host.step(house.host.only, 'two')
    await ask(house, next, 'And now?')
    expect(await late()).toMatchObject(refused)
    expect(await threadOf(house)).toMatchObject({ status: 'interrupted', errorJson: '' })
    expect((await threadOf(house)).interruptsJson).toContain('And now?')
  })

  it('is refused also if the run before it had closed the interrupt already', async () => {
    const house = await asking()
    const late = await behind(house, () => house.host.step(house.host.only, 'two'))
    await ask(house, second)
    expect(await late()).toMatchObject(refused)
  })

  it('resumes its interrupt if that is open again', async () => {
    const house = await asking()
    const late = await behind(house, settled)
    const { runId } = house.host.only.execution
    await house.client.cancelRun('t', 'x', runId, { action: 'rollback' })
    expect(await late()).toMatchObject({ status: 'running' })
  })

  it('resumes what a run asks that began without a question', async () => {
    const house = new ThreadHouse()
    await house.startRun('x')
    await house.host.step(house.host.only, 'one')
    await house.startRun('x', resume)
    await ask(house, first)
    expect(house.host.only.execution.request).toMatchObject({ command: '{"resume":"yes"}' })
  })

  it.each<[string, Partial<StartRun>]>([
    ['a resume', resume],
    ['an input that answers', { answersIfWaiting: true, kwargs: { input: 'yes' } }],
    ['a run that may only resume', { ...resume, resumeOnly: true }],
  ])('is refused, as %s, after an edit closed its interrupt', async (_, how) => {
    const house = await asking()
    const updated = house.client.updateState('t', 'x', { checkpoint: null,
      update: { values: '{}', command: null, asNode: null } })
    await settled()
    const late = house.run(how)
    await house.client.startRun('t', 'x', late)
    await house.host.step(house.host.only, 'edit')
    house.host.end(house.host.only, { waiting: true })
    await updated
    await settled()
    expect(await house.client.getRun('t', 'x', late.runId)).toMatchObject(refused)
  })
})
