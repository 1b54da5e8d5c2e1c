/** What callers of roll-outs are answered. */

import { expect, it } from 'vitest'

import type { Prepared } from '../../../../src/deployment/index.ts'
import { HeddleError } from '../../../../src/errors.ts'
import { ready, ScriptedCluster } from '../../../support/rollout-members.ts'
import { aRevision } from '../../../support/rollout-records.ts'

const options = { by: 'me' }

it('answers when all have confirmed, while it is watched', async () => {
  const cluster = new ScriptedCluster()
  const answer = cluster.rollouts.activate('shop', 'r2', options)
  await cluster.pass()
  for (const member of cluster.live) await cluster.answer(`prepare ${member} r2/0`, ready)
  await cluster.pass(250)
  await cluster.answer('learn a')
  await cluster.answer('learn b')
  await cluster.answer('learn c')
  await cluster.pass(50)
  expect(await answer).toMatchObject({ pointerMs: 250, deployment: { active: 'r2' },
    rollout: { phase: 'watching', members: [{}, {}, { id: 'c', state: 'confirmed', ms: 250 }] } })
})

it('answers after 2 s if one does not confirm', async () => {
  const cluster = new ScriptedCluster()
  const answer = cluster.rollouts.activate('shop', 'r2', { ...options, watchMs: 0 })
  await cluster.pass()
  for (const member of cluster.live) await cluster.answer(`prepare ${member} r2/0`, ready)
  await cluster.answer('learn a')
  await cluster.answer('learn b')
  await cluster.pass(2_500)
  expect(await answer).toMatchObject({ pointerMs: 2_000,
    rollout: { result: 'done', members: [{}, {}, { id: 'c', state: 'silent' }] } })
})

it('says why a member refused, and which graphs', async () => {
  const cluster = new ScriptedCluster()
  const answer = cluster.rollouts.check('shop', 'r2', options).catch((error: unknown) => error)
  const refused: Prepared = { kind: 'refused', reason: 'agent.ts does not compile.',
    failures: [{ graph_id: 'agent', message: 'Unexpected token', at: 'agent.ts:3' }] }
  await cluster.pass()
  await cluster.answer('prepare a r2/0', refused)
  await cluster.pass(250)
  expect(await answer).toMatchObject({ code: 'graph_failed', message: 'agent.ts does not compile.',
    details: { graphs: refused.kind === 'refused' && refused.failures } })
  await expect(cluster.rollouts.activate('shop', 'r2', options)).rejects.toMatchObject({
    code: 'not_ready',
    message: 'r2 was refused: agent.ts does not compile.',
  })
})

it('says which member did not answer', async () => {
  const cluster = new ScriptedCluster()
  const answer = cluster.rollouts.activate('shop', 'r2', options).catch((error: unknown) => error)
  await cluster.pass(92_000)
  expect(await answer).toMatchObject({ code: 'not_ready', httpStatus: 409,
    message: 'Member a did not load r2 within 90 s.' })
  expect(cluster.records.deployment.active).toBe('r1')
})

it('does not wait if it should not, and refuses a second one meanwhile', async () => {
  const cluster = new ScriptedCluster()
  expect(await cluster.rollouts.activate('shop', 'r2', { ...options, wait: false }))
    .toMatchObject({ rollout: { phase: 'preparing', by: 'me' }, pointerMs: 0 })
  await expect(cluster.rollouts.check('shop', 'r2', options)).rejects.toMatchObject({
    code: 'stale',
  })
  await expect(cluster.rollouts.rollback('shop', { ...options, to: 'r1' })).rejects
    .toMatchObject({ code: 'stale' })
})

it('lets one of two callers begin', async () => {
  const cluster = new ScriptedCluster()
  const begin = () => cluster.rollouts.activate('shop', 'r2', { ...options, wait: false })
  const results = await Promise.allSettled([begin(), begin(), begin()])
  expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected'])
  expect(results.find(({ status }) => status === 'rejected')).toMatchObject({
    reason: { code: 'stale' },
  })
})

it('begins again if something else of the record changed meanwhile', async () => {
  const cluster = new ScriptedCluster()
  const { change } = cluster.records
  let others = 3
  cluster.records.change = async (before, ...changes) => {
    if (others-- > 0) await change(cluster.records.deployment, { paused: true })
    return await change(before, ...changes)
  }
  expect(await cluster.rollouts.activate('shop', 'r2', { ...options, wait: false }))
    .toMatchObject({ deployment: { paused: true, rollout: { revision: 'r2' } } })
})

it('knows its own roll-out if the change failed after it was made', async () => {
  const cluster = new ScriptedCluster()
  const { change, get } = cluster.records
  cluster.records.change = async (...changes) => {
    await change(...changes)
    throw new HeddleError('unavailable', undefined, { ambiguous: true })
  }
  const answer = cluster.rollouts.activate('shop', 'r2', { ...options, watchMs: 0 })
  await cluster.pass()
  cluster.records.change = change
  cluster.records.get = () => Promise.reject(new HeddleError('unavailable'))
  await cluster.pass(1_000)
  cluster.records.get = get
  await cluster.pass(500)
  await cluster.roll()
  await cluster.pass(250)
  expect(await answer).toMatchObject({ rollout: { revision: 'r2', result: 'done' } })
})

it('rolls back to the previous revision, to one by name, or ends a share', async () => {
  const revisionOf = async (before: ConstructorParameters<typeof ScriptedCluster>[0],
    to?: string) => {
    const cluster = new ScriptedCluster(before)
    const { rollout } = await cluster.rollouts.rollback('shop', { ...options, wait: false,
      ...to !== undefined && { to } })
    return [rollout.kind, rollout.revision, rollout.from]
  }
  expect(await revisionOf({ active: 'r2', previous: 'r1' })).toEqual(['rollback', 'r1', 'r2'])
  expect(await revisionOf({ active: 'r1' }, 'r2')).toEqual(['rollback', 'r2', 'r1'])
  expect(await revisionOf({ active: 'r2', previous: 'r1', next: { revision: 'r3', percent: 5 } }))
    .toEqual(['rollback', 'r2', 'r2'])
  await expect(revisionOf({ previous: null })).rejects.toMatchObject({ code: 'not_ready' })
})

it('restarts the active revision with new secrets, if there is one', async () => {
  const cluster = new ScriptedCluster({ active: 'r2', envVersion: 3 })
  const answer = cluster.rollouts.loadSecrets('shop', { ...options, change: [] })
  await cluster.pass()
  await cluster.roll(4)
  await cluster.pass(250)
  expect(await answer).toMatchObject({ deployment: { active: 'r2', envVersion: 4 },
    rollout: { kind: 'secrets', result: 'done' } })
  const idle = new ScriptedCluster({ active: null })
  await expect(idle.rollouts.loadSecrets('shop', { ...options, change: [] })).rejects
    .toMatchObject({ code: 'not_ready' })
})

const one = { name: 'A', version: 1, updatedAtMs: 0, place: 'P_1' }
const two = { name: 'B', version: 1, updatedAtMs: 0, place: 'P_2' }
const loaded = { active: 'r2', envVersion: 3, loadedSecrets: { envVersion: 3, entries: [one] } }

it('changes nothing if a member cannot load the secrets', async () => {
  const cluster = new ScriptedCluster({ ...loaded, keptSecrets: [two] })
  const change = [{ ...one, version: 2, place: 'P_3' }]
  const answer = cluster.rollouts.loadSecrets('shop', { ...options, change })
    .catch((error: unknown) => HeddleError.from(error).code)
  await cluster.pass()
  expect(cluster.secrets).toEqual([[change[0], two]])
  await cluster.answer('prepare a r2/4', ready)
  await cluster.answer('prepare b r2/4', { kind: 'refused', reason: 'no', failures: [] })
  await cluster.pass(250)
  expect(await answer).toBe('graph_failed')
  expect(cluster.records.deployment).toMatchObject({ ...loaded, keptSecrets: [two], rollout: null,
    lastRollout: { kind: 'secrets', result: 'refused' } })
})

it('loads kept secrets with the next revision, as one version', async () => {
  const cluster = new ScriptedCluster({ ...loaded, active: 'r1', keptSecrets: [two] })
  const answer = cluster.rollouts.activate('shop', 'r2', { ...options, watchMs: 0 })
  await cluster.pass()
  // What is kept while it goes on is for the one after it.
  const later = { ...one, version: 2, place: null }
  await cluster.records.change(cluster.records.deployment, { keptSecrets: [two, later] })
  await cluster.roll(4)
  await cluster.pass(250)
  await answer
  expect(cluster.records.deployment).toMatchObject({ active: 'r2', envVersion: 4,
    loadedSecrets: { envVersion: 4, entries: [one, two] }, keptSecrets: [later] })
})

it('forgets a kept change that another has replaced', async () => {
  const removal = { ...one, version: 2, place: null }
  const cluster = new ScriptedCluster({ ...loaded, keptSecrets: [removal] })
  const newest = { ...one, version: 1, place: 'P_3' }
  const answer = cluster.rollouts.loadSecrets('shop', { ...options, change: [newest] })
  await cluster.pass()
  await cluster.roll(4)
  await cluster.pass(250)
  await answer
  expect(cluster.records.deployment).toMatchObject({ keptSecrets: [],
    loadedSecrets: { entries: [newest] } })
})

it('goes back without the secrets that the bad revision brought', async () => {
  const cluster = new ScriptedCluster({ ...loaded, active: 'r1', keptSecrets: [two] })
  void cluster.rollouts.activate('shop', 'r2', options)
  await cluster.pass()
  await cluster.roll(4)
  const tally = (failed: number) => ({ ended: 20, failed, deaths: failed })
  for (const member of cluster.live) await cluster.answer(`tally ${member} r1`, tally(0))
  for (const member of cluster.live) await cluster.answer(`tally ${member} r2`, tally(0))
  await cluster.pass(1_000)
  await cluster.answer('tally a r2', { ended: 40, failed: 20, deaths: 3 })
  await cluster.pass(500)
  expect(cluster.records.deployment).toMatchObject({ active: 'r1', envVersion: 5,
    loadedSecrets: { envVersion: 5, entries: [one] }, keptSecrets: [two],
    lastRollout: { result: 'rolled_back' } })
})

it('leaves kept secrets to the next deploy when it rolls back or gives a share', async () => {
  for (const kind of ['rollback', 'share'] as const) {
    const cluster = new ScriptedCluster({ ...loaded, active: 'r1', previous: 'r2',
      keptSecrets: [two] })
    const { rollout } = kind === 'share'
      ? await cluster.rollouts.activate('shop', 'r2', { ...options, percent: 5, wait: false })
      : await cluster.rollouts.rollback('shop', { ...options, wait: false })
    await cluster.pass()
    expect(cluster.secrets).toEqual([undefined])
    expect(rollout).toMatchObject({ envVersion: 3, secrets: [one] })
  }
  const shared = new ScriptedCluster({ ...loaded, next: { revision: 'r1', percent: 5 } })
  await expect(shared.rollouts.loadSecrets('shop', { ...options, change: [two] })).rejects
    .toMatchObject({ code: 'stale' })
})

it('refuses a revision whose chunks are missing, or that does not exist', async () => {
  const cluster = new ScriptedCluster()
  cluster.records.missing = async () => ['00']
  await expect(cluster.rollouts.check('shop', 'r2', options)).rejects
    .toMatchObject({ code: 'not_ready', message: '1 chunks of r2 are missing: upload them first.' })
  await expect(cluster.rollouts.check('shop', 'r9', options)).rejects
    .toMatchObject({ code: 'not_found' })
})

it('does not wait for ever if nobody drives', async () => {
  const cluster = new ScriptedCluster()
  cluster.owns = false
  const answer = cluster.rollouts.activate('shop', 'r2', { ...options, prepareMs: 10_000 })
    .catch((error: unknown) => HeddleError.from(error).code)
  await cluster.pass(73_000)
  expect(await answer).toBe('not_ready')
})

it('says so if its outcome was replaced', async () => {
  const cluster = new ScriptedCluster()
  cluster.records.revisionsByName.set('r3', aRevision('r3'))
  const answer = cluster.rollouts.activate('shop', 'r2', options).catch((error: unknown) => error)
  await cluster.pass()
  cluster.driver.close()
  const { id } = cluster.records.deployment.rollout!
  await cluster.records.change(cluster.records.deployment, { rollout: null, lastRollout: {
    ...cluster.records.deployment.rollout!,
    id: `${id}-later`,
    result: 'done',
    reason: null,
    failures: [],
    endedAtMs: 1,
  } })
  await cluster.pass(250)
  expect(await answer).toMatchObject({ code: 'stale' })
})
