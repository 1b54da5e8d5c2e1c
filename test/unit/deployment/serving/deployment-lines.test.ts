/** The lines of deployments: the last ones, of runs and of processes, without secrets. */

import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect, it, onTestFinished } from 'vitest'

import { DeploymentLines } from '../../../../src/deployment/serving/deployment-lines.ts'
import { LineFiles, lineFileLimits } from '../../../../src/deployment/serving/line-files.ts'
import { HeddleError } from '../../../../src/errors.ts'
import { ServingWorld } from './serving-world.ts'

const line = { atMs: 0, level: 'info' as const, revision: 'r1', thread_id: null, run_id: null }

it('keeps the last 5 000 lines within 4 MiB', () => {
  const lines = new DeploymentLines('m1')
  for (let number = 1; number <= 12_000; number++) lines.add({ ...line, text: `line ${number}` })
  const kept = lines.read({ limit: 10_000 })
  expect(kept.length).toBeGreaterThanOrEqual(4_500)
  expect(kept.length).toBeLessThanOrEqual(5_000)
  expect(kept.at(-1)).toMatchObject({ seq: 12_000, text: 'line 12000', member: 'm1' })
  for (let number = 0; number < 1_000; number++) lines.add({ ...line, text: 'x'.repeat(9_000) })
  expect(lines.read({ limit: 10_000 }).length).toBeLessThan(300)
})

it('finds lines by number, time, revision, level and text', () => {
  const lines = new DeploymentLines('m1')
  lines.add({ ...line, text: 'a' })
  lines.add({ ...line, text: 'b', level: 'warn', atMs: 10 })
  lines.add({ ...line, text: 'c', level: 'error', atMs: 20, revision: 'r2' })
  const texts = (query: object) =>
    lines.read({ limit: 9, ...query }).map(({ text }) => text).join('')
  expect(texts({})).toBe('abc')
  expect(texts({ limit: 2 })).toBe('bc')
  expect(texts({ limit: 0 })).toBe('')
  expect(texts({ after: 0, limit: 2 })).toBe('ab')
  expect(texts({ after: 2 })).toBe('c')
  expect(texts({ sinceMs: 10 })).toBe('bc')
  expect(texts({ untilMs: 10 })).toBe('ab')
  expect(texts({ sinceMs: 5, untilMs: 10 })).toBe('b')
  expect(texts({ q: 'C' })).toBe('c')
  expect(texts({ q: '.*' })).toBe('')
  expect(texts({ level: 'warn' })).toBe('bc')
  expect(texts({ revision: 'r2' })).toBe('c')
})

it('has what runs and processes write, each line once, without values of secrets', async () => {
  const world = new ServingWorld()
  world.deploy('shop')
  world.secrets.set('id-shop', { PLAIN_NAME: 'open-sesame', SHORT: 'short' })
  const serving = await world.open()
  const run = world.run(serving)
  const process = await world.executing(run)
  process.options.printed?.('at import: open-sesame, short', 'info')
  process.print(run.execution, 'in open-sesame')
  const texts = async () => (await serving.lines('shop', { limit: 9 })).map(({ text }) => text)
  expect(await texts()).toEqual(['at import: [secret], short', 'in [secret]'])
  process.die()
  expect(await texts()).toHaveLength(3)
  expect(await serving.lines('shop', { limit: 9, after: 1 })).toMatchObject([
    { member: 'm1', seq: 2, atMs: 5, level: 'warn', revision: 'r1', text: 'in [secret]',
      thread_id: 't1', run_id: 'run1' },
    { level: 'error', text: 'The graph process has ended: it was killed', run_id: null },
  ])
  // Lines of a run outlive its process.
  expect(run.host.logs({ tenant: 'acme@shop', threadId: 't1', runId: 'run1' }, { limit: 9 }).lines)
    .toMatchObject([{ text: 'in [secret]', seq: 1, attempt: 1 }])
  expect(await serving.lines('other', { limit: 9 })).toEqual([])
})

it('hides values of secrets in what its process gives to the log of the server', async () => {
  const world = new ServingWorld()
  world.deploy('shop')
  world.secrets.set('id-shop', { PLAIN_NAME: 'open-sesame' })
  const serving = await world.open()
  const { options: { env } } = await world.executing(world.run(serving))
  const thrown = new Error('open-sesame is no key')
  env.log.error('With open-sesame.', { reason: 'open-sesame', error: thrown, pid: 1 })
  env.log.child({ of: 'open-sesame' }).warn('It failed.')
  const said = JSON.stringify(world.env.lines)
  expect(said).toContain('Error: [secret] is no key')
  expect(said).not.toContain('open-sesame')
})

it('keeps the last of each revision over a restart, within bounds, while it is there', async () => {
  const world = new ServingWorld()
  const { id } = world.deploy('shop')
  const revisionsDirectory = mkdtempSync(join(tmpdir(), 'heddle-lines-'))
  onTestFinished(() => rmSync(revisionsDirectory, { recursive: true, force: true }))
  const before = await world.open({ revisionsDirectory })
  world.starting = () => Promise.reject(new HeddleError('graph_failed', 'No such token'))
  await before.prepare({ deployment: 'shop', revision: 'r1', envVersion: 0 })
  await before.close()
  const after = await world.open({ revisionsDirectory, member: 'm2' })
  world.env.advance(1_000)
  const lines = await after.lines('shop', { limit: 9 })
  expect(lines).toMatchObject([{ member: 'm2', seq: 0, revision: 'r1', level: 'error',
    text: 'The revision cannot be loaded: No such token' }])
  // What was seen does not come again, and what is new comes once.
  expect(await after.lines('shop', { limit: 9, after: 0 })).toEqual([])
  await after.prepare({ deployment: 'shop', revision: 'r1', envVersion: 0 })
  expect(await after.lines('shop', { limit: 9, after: 0 })).toMatchObject([{ seq: 1 }])
  expect(await after.lines('shop', { limit: 9 })).toHaveLength(2)
  await after.close()
  const files = new LineFiles(join(revisionsDirectory, 'lines'), world.env)
  for (let at = 1; at <= 30; at++)
    files.add(id, [{ ...line, atMs: at, revision: `r${at}`, text: 'x' }])
  files.add(id, [{ ...line, revision: '../../r1', text: 'x' }])
  for (let at = 0; at < 1_000; at++)
    files.add(id, [{ ...line, atMs: at, revision: 'r30', text: 'y'.repeat(1_000) }])
  await files.settled()
  const folder = join(revisionsDirectory, 'lines', id)
  expect(readdirSync(folder)).toHaveLength(lineFileLimits.revisions)
  expect(statSync(join(folder, 'r30.jsonl')).size).toBeLessThanOrEqual(lineFileLimits.bytes)
  expect(statSync(join(folder, 'r30.jsonl')).mode & 0o777).toBe(0o600)
  const later = new LineFiles(join(revisionsDirectory, 'lines'), world.env)
  expect((await later.read(id)).at(-1)).toMatchObject({ atMs: 999, revision: 'r30' })
  await later.keep(new Set())
  expect(await later.read(id)).toEqual([])
})
