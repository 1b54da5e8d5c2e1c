/** The effects of one execution: what is in the log before they are done, and what is refused. */

import { describe, expect, it, vi } from 'vitest'

import { EffectRunner, startsWithinMs } from '../../../../src/graph/effects/effect-runner.ts'
import { effectRulesOf } from '../../../../src/graph/effect-rule.ts'
import { EffectNotes } from '../../../../src/graph/state/effect-notes.ts'

const site = { checkpointNs: '', checkpointId: 'c', taskId: 't' }

/** The runner of an execution whose log confirms by hand, with a clock that is set by hand. */
function execution() {
  const kinds: string[] = []
  const acks: PromiseWithResolvers<void>[] = []
  const timers: (() => void)[] = []
  const clock = { nowMs: 0 }
  const abort = new AbortController()
  const runner = new EffectRunner({
    thread: { tenant: 'a', threadId: 'b' },
    runId: 'r',
    rules: effectRulesOf([{ name: 'charge', once: 'key' }, { name: 'draft', keep: 'answer' }]),
    sink: {
      step: (step) => {
        kinds.push(step.$case === 'writes' ? step.value.effect!.note!.$case : step.$case)
      },
      acknowledged: () => {
        acks.push(Promise.withResolvers())
        return acks.at(-1)!.promise
      },
    },
    signal: abort.signal,
    answer: { scope: 'none', isUsed: false },
    questions: { takeAnswer: () => undefined, dropAnswer: () => {}, ask: () => {} },
    ignoresKey: () => {},
    nowMs: () => clock.nowMs,
    monotonicMs: () => clock.nowMs,
    after: (_ms, work) => {
      timers.push(work)
      return () => void timers.splice(timers.indexOf(work), 1)
    },
  })
  const base = () =>
    runner.put('', 'c', { effects: new EffectNotes(), thrown: [], answered: () => 0 })
  const work = vi.fn(() => 'done')
  const perform = (name = 'charge', input: unknown = {}, does: () => unknown = work) =>
    runner.perform(site, { name, input, work: does })
  return { runner, base, perform, work, kinds, acks, timers, clock, abort }
}

const turn = () => new Promise(setImmediate)

describe('An effect', () => {
  it('is done when its base is on its way, and its intent in the log.', async () => {
    const { base, perform, work, kinds, acks, timers } = execution()
    const done = perform()
    await turn()
    expect(kinds).toEqual([])
    base()
    await turn()
    expect(kinds).toEqual(['intended'])
    expect(work).not.toHaveBeenCalled()
    acks[0]!.resolve()
    expect(await done).toBe('done')
    expect(kinds).toEqual(['intended', 'settled'])
    expect(timers).toEqual([])
  })

  it('is not done if the log refuses its intent, as that of another execution.', async () => {
    const { base, perform, work, acks } = execution()
    base()
    const done = perform()
    await turn()
    acks[0]!.reject(new Error('the execution is over'))
    await expect(done).rejects.toThrow('the execution is over')
    expect(work).not.toHaveBeenCalled()
  })

  it('waits in a second attempt for the intent of the first, whose answer both get.', async () => {
    const { runner, base, acks, kinds, work } = execution()
    base()
    const answers = [Promise.withResolvers<string>(), Promise.withResolvers<string>()]
    let calls = 0
    const attempt = () =>
      runner.perform({ ...site }, { name: 'charge', input: {}, work: () => {
        work()
        return answers[calls++]!.promise
      } })
    const attempts = [attempt(), attempt()]
    await turn()
    expect(kinds).toEqual(['intended'])
    expect(work).not.toHaveBeenCalled()
    for (const ack of acks) ack.resolve()
    await turn()
    answers[1]!.resolve('one')
    answers[0]!.resolve('other')
    const [first, second] = await Promise.all(attempts)
    expect(first).toBe(second)
  })

  it('needs a new intent after its worker stood still.', async () => {
    const { base, perform, work, kinds, acks, clock } = execution()
    base()
    const done = perform()
    await turn()
    clock.nowMs += startsWithinMs
    acks[0]!.resolve()
    await turn()
    expect(work).not.toHaveBeenCalled()
    expect(kinds).toEqual(['intended', 'intended'])
    clock.nowMs += startsWithinMs - 1
    acks[1]!.resolve()
    expect(await done).toBe('done')
  })

  it('is given up if the log is always too slow.', async () => {
    const { base, perform, work, acks, clock } = execution()
    base()
    const done = perform().catch((error: Error) => error.message)
    for (let at = 0; at < 5; at++) {
      await turn()
      clock.nowMs += startsWithinMs
      acks[at]!.resolve()
    }
    expect(await done).toContain('was not done')
    expect(work).not.toHaveBeenCalled()
  })

  it.each(['retired', 'cancelled'])('is not done by an execution that was %s.', async (how) => {
    const { base, perform, work, acks, runner, abort } = execution()
    base()
    const done = perform()
    await turn()
    if (how === 'retired') runner.retire()
    else abort.abort()
    acks[0]!.resolve()
    await expect(done).rejects.toThrow()
    expect(work).not.toHaveBeenCalled()
  })

  it('fails if the checkpoint of its task is never stored.', async () => {
    const { perform, timers } = execution()
    const done = perform()
    await turn()
    timers[0]!()
    await expect(done).rejects.toThrow('whose graph stores its checkpoints')
  })

  it('fails with an input or a result that is no JSON, or too large.', async () => {
    const { base, perform, kinds } = execution()
    base()
    const circle: Record<string, unknown> = {}
    circle['self'] = circle
    await expect(perform('draft', circle)).rejects.toThrow('must be JSON')
    await expect(perform('draft', 'x'.repeat(1024 * 1024))).rejects.toThrow('larger than 1 MiB')
    expect(kinds).toEqual([])
    await expect(perform('draft', 1, () => 10n)).rejects.toThrow('must be JSON')
    expect(kinds).toEqual(['settled'])
    expect(await perform('draft', 2, () => 'x'.repeat(300_000))).toHaveLength(300_000)
  })
})

describe('An answer that is kept', () => {
  it('waits for nothing in the log.', async () => {
    const { base, perform, kinds } = execution()
    base()
    expect(await perform('draft')).toBe('done')
    expect(kinds).toEqual(['settled'])
  })
})
