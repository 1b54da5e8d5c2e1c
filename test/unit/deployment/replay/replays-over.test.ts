/** Replays from their start to their verdicts, and what may come between. */

import { serialize } from 'node:v8'

import { describe, expect, it, onTestFinished } from 'vitest'

import type { MemberReplays, ReplayRequest } from '../../../../src/deployment/index.ts'
import { verdictPlace } from '../../../../src/deployment/records/record-places.ts'
import { removeReplay } from '../../../../src/deployment/records/replay-removal.ts'
import { HeddleError } from '../../../../src/errors.ts'
import { decodeBlock } from '../../../../src/graph/index.ts'
import { eventually } from '../../../support/eventually.ts'
import { endWith, ReplayWorld, stopAtCall } from './replay-world.ts'
import type { Does } from './replay-world.ts'

const request: ReplayRequest = { revision: 'r2', sample: 10, graphId: null, sinceMs: null,
  controls: true, limitMs: 60_000 }

async function scene(does?: Does, runs: ReplayWorld['runs'] = new Map([['a', {}]])) {
  const world = new ReplayWorld()
  for (const [id, run] of runs) world.runs.set(id, run)
  if (does) world.does = does
  const replays = world.member()
  onTestFinished(() => replays.close())
  const deployment = await world.deployment()
  const replayed = async (more: Partial<ReplayRequest> = {}, by: MemberReplays = replays) => {
    const { id } = await by.start(deployment, { ...request, ...more }, 'test')
    const view = await world.ended(by, deployment, { id })
    return { ...view, verdicts: await by.verdicts(deployment, id) }
  }
  return { world, replays, deployment, replayed }
}

describe('a replay', () => {
  it('executes each run on its own revision first, and is kept as an experiment', async () => {
    const { world, replayed } = await scene(undefined, new Map([['a', {}], ['b', {}]]))
    const { replay, counts, verdicts } = await replayed()
    expect(world.executed).toEqual(['r1 a', 'r2 a', 'r1 b', 'r2 b'])
    expect([replay.phase, counts.same, verdicts.map(({ runId }) => runId)])
      .toEqual(['done', 2, ['a', 'b']])
    expect([world.kept, replay.experiment, world.open]).toEqual([[replay.id], replay.id, 0])
  })

  it('leaves the control out if it is asked to', async () => {
    const { world, replayed } = await scene()
    expect((await replayed({ controls: false })).counts.same).toBe(1)
    expect(world.executed).toEqual(['r2 a'])
  })

  it.each([
    ['waits', true, 'same', null],
    ['goes on', false, 'diverged', 'It waits for nobody any more.'],
  ])('compares without a control with a run that waited: it %s',
    async (_, waits, verdict, reason) => {
      const { world, replayed } = await scene((_r, _e, listener) =>
        endWith(listener, { a: 1 }, {}, waits)
      )
      world.next = ['ask']
      const { verdicts } = await replayed({ controls: false })
      expect(verdicts).toMatchObject([{ verdict, reason }])
    })

  it('counts values that no checkpoint contains as recorded', async () => {
    const { replayed } = await scene(
      (_r, _e, listener) => endWith(listener, { a: 1, city: 'Oslo' }),
      new Map([['a', { untracked: '{"city":"Oslo"}' }]]),
    )
    expect((await replayed()).verdicts).toMatchObject([{ verdict: 'same' }])
  })

  it('says why a run is not replayable', async () => {
    const { replayed } = await scene(undefined,
      new Map<string, {}>([['cut', { isCut: true }], ['gone', { isGone: true }], ['parts', {
        starts: 2,
      }], ['off', { isRecorded: false }]]))
    const { replay, verdicts } = await replayed()
    expect(verdicts.map(({ runId, verdict, reason }) => [runId, verdict, reason])).toEqual([
      ['cut', 'not_replayable', expect.stringContaining('cut')],
      ['gone', 'not_replayable', 'Its thread was removed.'],
      ['parts', 'not_replayable', expect.stringContaining('several parts')],
    ])
    expect([replay.passed, replay.chosen?.length]).toEqual([1, 3])
  })

  it('says that a revision cannot be loaded: the recorded one, or the one to try', async () => {
    const { world, replayed } = await scene()
    world.refused = 'r1'
    expect((await replayed()).verdicts[0]).toMatchObject({ verdict: 'not_replayable',
      reason: 'r1 cannot be loaded: It is broken.' })
    world.refused = 'r2'
    expect((await replayed()).verdicts[0]).toMatchObject({ verdict: 'failed',
      reason: 'r2 cannot be loaded: It is broken.' })
  })

  it('tries a run once more whose process has died, and no more', async () => {
    let deaths = 0
    const { world, replayed } = await scene((revision, _, listener) => {
      if (revision === 'r2' && deaths++ === 0) listener.lost('crashed')
      else endWith(listener, { a: 1 })
    })
    expect((await replayed()).counts.same).toBe(1)
    expect(world.started).toEqual(['r1', 'r2', 'r2'])
    world.does = (revision, _, listener) =>
      revision === 'r2' ? listener.lost('crashed') : endWith(listener, { a: 1 })
    expect((await replayed()).verdicts[0]).toMatchObject({ verdict: 'failed',
      reason: 'Its process ended.' })
  })

  it('ends the process of a run that takes too long', async () => {
    const { world, replayed } = await scene((revision, _, listener) => {
      if (revision === 'r1') endWith(listener, { a: 1 })
    })
    expect((await replayed({ limitMs: 20 })).verdicts[0]).toMatchObject({ verdict: 'failed',
      reason: 'It takes longer than a replay may.' })
    expect(world.open).toBe(0)
  })

  it('asks a model to stream if the recorded run did so for a follower of its thread', async () => {
    const { world, replayed } = await scene((_, { request: asked }, listener) => {
      if (asked.kind === 'run' && asked.threadEvents) endWith(listener, { a: 1 })
      else stopAtCall(listener)
    })
    expect((await replayed()).counts.same).toBe(1)
    expect(world.executed).toEqual(['r1 a', 'r1 a', 'r2 a'])
    world.does = (_revision, _execution, listener) => stopAtCall(listener)
    expect((await replayed()).counts.unstable).toBe(1)
  })

  it('begins with the last part of a run that went on after its process had ended', async () => {
    const given: string[] = []
    const { world, replayed } = await scene((_, { replay }, listener) => {
      void Promise.all(replay!.blocks.map(decodeBlock)).then((blocks) => {
        given.push(blocks.map(({ startedAtMs }) => startedAtMs).join())
        endWith(listener, { a: 1 })
      })
    }, new Map<string, {}>([['a', { starts: 3, recorded: [1, 3], headId: 'c2' }], ['b', {
      starts: 3,
      recorded: [1, 2],
    }], ['c', { starts: 2, recorded: [2] }], ['d', { recorded: [1, 1.5] }]]))
    world.head = serialize([{ id: 'c2', metadata: '{"step":4}' }]).toString('base64')
    const { verdicts } = await replayed({ controls: false })
    expect(verdicts.map(({ verdict, firstStep }) => [verdict, firstStep])).toEqual([
      ['same', 5],
      ['not_replayable', undefined],
      ['same', 1],
      ['not_replayable', undefined],
    ])
    expect([given, verdicts[1]?.reason]).toEqual([['3', '2'],
      expect.stringContaining('nothing is recorded of the last one')])
  })

  it('says tokens and cost of a run before and after, also where it is stopped', async () => {
    const tokens = { model: 'small', input: 10, output: 5, cacheRead: 0, cacheCreation: 0 }
    const { world, replayed } = await scene((revision, { runId }, listener) => {
      const report = { recordedTokens: [tokens], tokens: [tokens] }
      if (revision === 'r2' && runId === 'b') stopAtCall(listener, { ...report, tokens: [] })
      else endWith(listener, { a: 1 }, report)
    }, new Map([['a', {}], ['b', {}]]))
    world.prices = [{ id: 'p', name: 'small', match_pattern: '^small$', match_path: ['model'],
      prompt_cost: 1, completion_cost: 2, prompt_cost_details: null, completion_cost_details: null,
      provider: null, start_time: null }]
    const { usage, verdicts } = await replayed()
    const whole = { tokens: 15, cost: 20 }
    expect(verdicts.map((each) => each.usage)).toEqual([
      { recorded: whole, replayed: whole, isAtLeast: false },
      { recorded: whole, replayed: { tokens: 0, cost: 0 }, isAtLeast: true },
    ])
    expect(usage).toEqual({ recorded: { tokens: 30, cost: 40 }, replayed: whole, isAtLeast: true })
  })

  it('has stateless runs, whose recordings are all that is left of them', async () => {
    const { world, replayed } = await scene(undefined, new Map([['a', {}]]))
    const [well, cut, parted] = [1, 2, 3].map((no) => `0197aaaa-0000-7000-8000-00000000000${no}`)
    world.stateless.set(well!, {})
    world.stateless.set(cut!, { isCut: true })
    world.stateless.set(parted!, { parts: 2 })
    const { counts, verdicts } = await replayed()
    expect(
      verdicts.map(({ runId, threadId, verdict, reason }) => [runId, threadId, verdict, reason]),
    ).toEqual([
      [well, well, 'same', null],
      [cut, cut, 'not_replayable', expect.stringContaining('its input')],
      [parted, parted, 'not_replayable', expect.stringContaining('several parts')],
      ['a', 't-a', 'same', null],
    ])
    expect([counts.same, verdicts[1]!.graphId]).toEqual([2, 'agent'])
    expect(world.executed).toEqual(['r1 a', 'r2 a', `r1 ${well}`, `r2 ${well}`])
  })

  it('compares a stateless run with its recorded result and its recorded error', async () => {
    const { world, replayed } = await scene(undefined, new Map())
    world.stateless.set('0197aaaa-0000-7000-8000-000000000001', { values: '{"a":2}' })
    expect((await replayed()).verdicts[0]).toMatchObject({ verdict: 'unstable',
      reason: expect.stringContaining('state') as string })
    world.stateless.clear()
    world.stateless.set('0197aaaa-0000-7000-8000-000000000002', { status: 'error', values: null,
      error: { error: 'Error', message: 'no' } })
    expect((await replayed({ controls: false })).verdicts[0]).toMatchObject({ verdict: 'fixed' })
  })

  it('is taken in turns of graph, status and revision', async () => {
    const { world, replayed } = await scene(undefined,
      new Map<string, {}>([['a', {}], ['b', {}], ['c', { status: 'error' }], ['d', {
        revision: 'r3',
      }]]))
    await replayed({ sample: 3, controls: false })
    expect(world.executed).toEqual(['r2 a', 'r2 c', 'r2 d'])
  })
})

it('Of each run that may be chosen one block is read.', async () => {
  const { world, replayed } = await scene()
  await replayed()
  expect(world.limits[0]).toBe(1)
})

describe('a run that goes wrong', () => {
  it('is not replayable with a reason, and its process is ended', async () => {
    const { world, replayed } = await scene((_, { runId }, listener) => {
      if (runId === 'b') endWith(listener, { a: 1 })
      else listener.ended({ status: 'success', waiting: false, interrupts: '{}', error: null,
          replay: 'no JSON' })
    }, new Map([['a', {}], ['b', {}]]))
    const { replay, verdicts } = await replayed()
    expect([replay.phase, ...verdicts.map(({ verdict }) => verdict)])
      .toEqual(['done', 'not_replayable', 'same'])
    expect(verdicts[0]?.reason).toContain('cannot be read')
    expect([world.started, world.open]).toEqual([['r1', 'r1', 'r2'], 0])
  })

  it('is not replayable if its ending cannot be judged', async () => {
    const { replayed } = await scene((_, __, listener) => {
      void listener.steps({ steps: [],
        events: [{ name: 'values', json: 'no JSON', valuesOf: '', durable: false }] })
      endWith(listener, { a: 1 }, { missing: [] })
      listener.ended({ status: 'success', waiting: false, interrupts: 'no JSON', error: null })
    }, new Map<string, {}>([['a', { errorJson: 'no JSON' }]]))
    expect(await replayed()).toMatchObject({ replay: { phase: 'done' },
      verdicts: [{ verdict: 'not_replayable', reason: 'It cannot be compared.' }] })
  })
})

describe('a replay under way', () => {
  it('writes nothing when it was removed meanwhile', async () => {
    const listeners: Parameters<Does>[2][] = []
    const { world, replays, deployment } = await scene((_, __, each) => void listeners.push(each))
    const { id } = await replays.start(deployment, { ...request, controls: false }, 'test')
    await eventually(() => expect(listeners.length).toBe(1))
    await removeReplay(world, id)
    endWith(listeners[0]!, { a: 1 })
    await eventually(() => expect(world.open).toBe(0))
    expect(
      await world.documents.listDocuments(verdictPlace(id), { after: '', before: '~', limit: 9 }),
    ).toEqual([])
  })

  it('leaves no experiment if it is cancelled while the experiment is kept', async () => {
    const { world, replays, deployment, replayed } = await scene()
    const keptBefore: string[] = []
    world.beforeKept = async (id) => {
      keptBefore.push(...world.kept)
      await replays.cancel(deployment, id)
    }
    const { replay } = await replayed()
    await eventually(() => expect(world.kept).toEqual([]))
    expect([replay.phase, keptBefore]).toEqual(['cancelled', [replay.id]])
  })

  it('is one at a time, and ends when it is cancelled', async () => {
    const { world, replays, deployment } = await scene(() => {})
    const { id } = await replays.start(deployment, request, 'test')
    await eventually(() => expect(world.executed).toEqual(['r1 a']))
    await expect(replays.start(deployment, request, 'test')).rejects.toMatchObject({ code: 'busy' })
    expect(await replays.cancel(deployment, id)).toMatchObject({ phase: 'cancelled' })
    await eventually(() => expect(world.open).toBe(0))
    expect((await replays.get(deployment, id)).replay.phase).toBe('cancelled')
    expect(await replays.cancel(deployment, id)).toMatchObject({ phase: 'cancelled' })
  })

  it('is one at a time for members that begin at the same moment', async () => {
    const { world, replays, deployment } = await scene(() => {})
    const other = world.member('m2')
    world.members.add('m2')
    onTestFinished(() => other.close())
    const begun = await Promise.allSettled(
      [replays, other, replays, other].map((each) => each.start(deployment, request, 'test')),
    )
    expect(begun.filter(({ status }) => status === 'fulfilled').length).toBe(1)
    expect(
      begun.filter(({ status }) => status === 'rejected').map((each) =>
        'reason' in each && (each.reason as { code: string }).code
      ),
    ).toEqual(['busy', 'busy', 'busy'])
  })

  it('is not gone on with when another one was begun after its member had died', async () => {
    const { world, replays, deployment } = await scene(() => {})
    const { id } = await replays.start(deployment, request, 'test')
    await replays.close()
    const next = world.member()
    onTestFinished(() => next.close())
    const { id: newer } = await next.start(deployment, request, 'test')
    expect((await next.get(deployment, id)).replay).toMatchObject({ phase: 'failed',
      reason: 'Its member ended, and another replay was begun.' })
    expect((await next.get(deployment, newer)).replay.phase).toBe('running')
  })

  it('is gone on with by who is asked when its member has died', async () => {
    const { world, replays, deployment } = await scene((_, { runId }, listener) => {
      if (runId === 'a') endWith(listener, { a: 1 })
    }, new Map([['a', {}], ['b', {}]]))
    const { id } = await replays.start(deployment, request, 'test')
    await eventually(() => expect(world.executed).toEqual(['r1 a', 'r2 a', 'r1 b']))
    await replays.close()
    world.does = (_revision, _execution, listener) => endWith(listener, { a: 1 })
    const next = world.member()
    onTestFinished(() => next.close())
    const { counts, replay } = await world.ended(next, deployment, { id })
    expect([replay.phase, counts.same]).toEqual(['done', 2])
    expect(world.executed.slice(3)).toEqual(['r1 b', 'r2 b'])
  })

  it('goes on by itself after a fault of a store that passes', async () => {
    const { world, replays, deployment } = await scene(undefined, new Map([['a', {}], ['b', {}]]))
    const put = world.documents.putDocuments.bind(world.documents)
    let puts = 0
    world.documents.putDocuments = async (...rows) => {
      if (++puts === 2) throw new HeddleError('unavailable')
      await put(...rows)
    }
    const { id } = await replays.start(deployment, request, 'test')
    const { replay, counts } = await world.ended(replays, deployment, { id })
    expect([replay.phase, counts.same]).toEqual(['done', 2])
    expect(world.executed).toEqual(['r1 a', 'r2 a', 'r1 b', 'r2 b', 'r1 b', 'r2 b'])
  })

  it('is gone on with by who asks when its end could not be written', async () => {
    const { world, replays, deployment } = await scene()
    const change = world.catalogs.change.bind(world.catalogs)
    let refused = 0
    world.catalogs.change = async (catalog, id, { bodyJson, ...rest }) => {
      if (bodyJson?.includes('"phase"') && refused++ < 2) throw new HeddleError('not_ready')
      return await change(catalog, id, { ...rest, ...bodyJson !== undefined && { bodyJson } })
    }
    const { id } = await replays.start(deployment, request, 'test')
    await eventually(() => expect(refused).toBe(2))
    const { replay, counts } = await world.ended(replays, deployment, { id })
    expect([replay.phase, counts.same]).toEqual(['done', 1])
    expect(world.executed).toEqual(['r1 a', 'r2 a'])
  })

  it('is left to a member that lives', async () => {
    const { world, replays, deployment } = await scene(() => {})
    const { id } = await replays.start(deployment, request, 'test')
    const other = world.member('m2')
    onTestFinished(() => other.close())
    expect((await other.get(deployment, id)).replay.runner).toMatch(/^m1\//)
    world.members.delete('m1')
    expect((await other.get(deployment, id)).replay.runner).toMatch(/^m2\//)
  })
})

it('Of another deployment nothing is found, and the oldest replays are removed.', async () => {
  const { replays, deployment, replayed } = await scene()
  const { replay: first } = await replayed()
  const other = { ...deployment, id: '0a1b2c3d-0000-4000-8000-00000000000f' }
  await expect(replays.get(other, first.id)).rejects.toMatchObject({ code: 'not_found' })
  await expect(replays.cancel(other, first.id)).rejects.toMatchObject({ code: 'not_found' })
  for (let more = 0; more < 20; more++) await replayed()
  const all = await replays.list(deployment)
  expect([all.length, all.some(({ id }) => id === first.id)]).toEqual([20, false])
  await expect(replays.verdicts(deployment, first.id)).rejects.toMatchObject({ code: 'not_found' })
})
